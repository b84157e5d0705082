/* SPDX-License-Identifier: MIT */
#include "engine/etw/decode/event_inserts.h"

#include "engine/base/xml_text.h"
#include "engine/etw/decode/manifest/message_text.h"

#include <string.h>

void event_inserts_clear(struct event_inserts *inserts)
{
    inserts->texts.length = 0;
    inserts->last = 0;
    memset(inserts->there, 0, sizeof inserts->there);
}

void event_inserts_free(struct event_inserts *inserts)
{
    text_buffer_free(&inserts->texts);
}

void event_inserts_add(struct event_inserts *inserts, size_t property, const char *text)
{
    if (property >= EVENT_INSERTS_MOST || inserts->texts.failed)
        return;
    if (inserts->last == property + 1) {
        inserts->texts.length--; /* the NUL */
        text_buffer_add(&inserts->texts, ", ");
    } else {
        inserts->starts[property] = inserts->texts.length;
        inserts->there[property] = true;
        inserts->last = property + 1;
    }
    text_buffer_add(&inserts->texts, text);
    text_buffer_add_n(&inserts->texts, "", 1);
}

static const char *insert_of(const struct event_inserts *inserts, size_t property)
{
    return property < EVENT_INSERTS_MOST && inserts->there[property] && !inserts->texts.failed
               ? inserts->texts.text + inserts->starts[property]
               : NULL;
}

void event_inserts_add_message(const struct event_inserts *inserts, const struct event_schema *schema,
                               struct text_buffer *out)
{
    const char *texts[EVENT_INSERTS_MOST];
    if (!schema->event_message)
        return;
    for (size_t i = 0; i < EVENT_INSERTS_MOST; i++)
        texts[i] = insert_of(inserts, i);
    message_text_add(out, schema->event_message, texts, EVENT_INSERTS_MOST, NULL, NULL);
    out->failed = out->failed || inserts->texts.failed;
}

void event_inserts_add_user_data(const struct event_inserts *inserts, const struct event_schema *schema,
                                 struct text_buffer *out)
{
    const char *from = schema->user_data;
    for (const char *at = from; (at = strchr(at, '%')) != NULL;) {
        size_t number = 0, digits = 1;
        for (; digits <= 5 && at[digits] >= '0' && at[digits] <= '9'; digits++)
            number = 10 * number + (size_t)(at[digits] - '0');
        const char *text = number ? insert_of(inserts, number - 1) : NULL;
        if (text || (number && number <= schema->top_level)) { /* of a value that is not there nothing */
            text_buffer_add_n(out, from, (size_t)(at - from));
            xml_add_escaped(out, text ? text : "", true);
            from = at + digits;
        }
        at += digits;
    }
    text_buffer_add(out, from);
    out->failed = out->failed || inserts->texts.failed;
}
