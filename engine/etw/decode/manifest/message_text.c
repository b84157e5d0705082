/* SPDX-License-Identifier: MIT */
/* Messages with their inserts. */
#include "engine/etw/decode/manifest/message_text.h"

#include <string.h>

/* The number behind a percent sign, of at most two digits (an insert) or ten (a parameter). 0: there is none. */
static size_t read_number(const char *at, size_t most, uint32_t *number)
{
    uint64_t n = 0;
    size_t length = 0;
    for (; length < most && at[length] >= '0' && at[length] <= '9'; length++)
        n = 10 * n + (uint64_t)(at[length] - '0');
    *number = (uint32_t)n;
    return n <= UINT32_MAX ? length : 0;
}

/* %%n from behind the first percent sign on: how many bytes it takes, 0 when there is no such parameter. */
static size_t add_parameter(struct text_buffer *out, const char *at, const struct message_tables *parameters,
                            const char *languages)
{
    uint32_t id;
    size_t digits = parameters && *at == '%' ? read_number(at + 1, 10, &id) : 0;
    const char *text = digits ? message_tables_find(parameters, id, languages) : NULL;
    if (!text)
        return 0;
    text_buffer_add(out, text);
    return 1 + digits;
}

static void add_insert(struct text_buffer *out, const char *insert, const struct message_tables *parameters,
                       const char *languages)
{
    for (const char *percent; parameters && (percent = strstr(insert, "%%")) != NULL;) {
        text_buffer_add_n(out, insert, (size_t)(percent - insert));
        size_t taken = add_parameter(out, percent + 1, parameters, languages);
        if (!taken)
            text_buffer_add_n(out, percent, 2);
        insert = percent + (taken ? taken + 1 : 2);
    }
    text_buffer_add(out, insert);
}

/* The form behind an insert's number: 0 none, 3 !s! or !S!. SIZE_MAX: another one. */
static size_t form_length(const char *at)
{
    if (*at != '!')
        return 0;
    if ((at[1] == 's' || at[1] == 'S') && at[2] == '!')
        return 3;
    return strchr(at + 1, '!') ? SIZE_MAX : 0;
}

void message_text_add(struct text_buffer *out, const char *message, const char *const *inserts, size_t count,
                      const struct message_tables *parameters, const char *languages)
{
    static const char signs[] = "ntbr.! ";
    static const char *const stand_for[] = {"\r\n", "\t", " ", "\r", ".", "!", " "};
    for (const char *percent; (percent = strchr(message, '%')) != NULL;) {
        uint32_t number;
        const char *at = percent + 1;
        text_buffer_add_n(out, message, (size_t)(percent - message));
        size_t digits = read_number(at, 2, &number), form = digits ? form_length(at + digits) : 0;
        size_t parameter = add_parameter(out, at, parameters, languages);
        const char *sign = *at ? strchr(signs, *at) : NULL;
        message = at + 1;
        if (parameter) {
            message = at + parameter;
        } else if (*at == '0') {
            return;
        } else if (digits && number <= count && inserts[number - 1] && form != SIZE_MAX) {
            add_insert(out, inserts[number - 1], parameters, languages);
            message = at + digits + form;
        } else if (*at == '%') {
            text_buffer_add(out, "%");
        } else if (sign) {
            text_buffer_add(out, stand_for[sign - signs]);
        } else {
            text_buffer_add(out, "%");
            message = at;
        }
    }
    text_buffer_add(out, message);
}

size_t message_text_inserts(const char *message)
{
    size_t most = 0;
    for (const char *at = message; (at = strchr(at, '%')) != NULL;) {
        uint32_t number;
        size_t digits = read_number(++at, 2, &number);
        if (digits && number > most)
            most = number;
        at += digits ? digits : *at != 0;
    }
    return most;
}
