/* SPDX-License-Identifier: MIT */
/* The diagnostics of a run. */
#include "engine/pla/sets/diagnostics.h"

#include "engine/base/memory.h"

#include <inttypes.h>
#include <string.h>

#define NOTES_KEPT 200

static char *line_of(HRESULT reason, const char *text)
{
    return FAILED(reason) ? text_format("%s (0x%08X)", text, (unsigned)reason) : text_copy(text);
}

bool diagnostics_note(struct diagnostics *d, HRESULT reason, const char *text)
{
    char *note = line_of(reason, text);
    bool known = !note;
    for (size_t i = 0; !known && i < d->notes.count; i++)
        known = strcmp(d->notes.items[i], note) == 0;
    if (!note || (!known && (d->notes.count >= NOTES_KEPT || FAILED(texts_add(&d->notes, note)))))
        d->notes_cut++;
    memory_free(note);
    return !known;
}

bool diagnostics_lost(struct diagnostics *d, HRESULT hr)
{
    bool first = d->loss != hr;
    d->lost_failed++;
    d->loss = hr;
    if (first) {
        memory_free(d->loss_text);
        d->loss_text = text_copy(error_text(hr));
    }
    return first;
}

void diagnostics_end(struct diagnostics *d, HRESULT reason, const char *text)
{
    if (!d->end)
        d->end = line_of(reason, text);
}

char *diagnostics_text(const struct diagnostics *d)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "");
    for (size_t i = 0; i < d->notes.count; i++)
        text_buffer_format(&b, "%s\n", d->notes.items[i]);
    if (d->notes_cut)
        text_buffer_format(&b, "%" PRIu64 " more\n", d->notes_cut);
    if (d->lost_failed)
        text_buffer_format(&b, "%" PRIu64 " samples lost: %s (0x%08X)\n", d->lost_failed,
                           d->loss_text ? d->loss_text : "out of memory", (unsigned)d->loss);
    if (d->lost_late)
        text_buffer_format(&b, "%" PRIu64 " samples lost: their time passed while an earlier one was taken\n",
                           d->lost_late);
    if (d->end)
        text_buffer_format(&b, "%s\n", d->end);
    return text_buffer_take(&b);
}

void diagnostics_free(struct diagnostics *d)
{
    texts_free(&d->notes);
    memory_free(d->end);
    memory_free(d->loss_text);
    memset(d, 0, sizeof *d);
}
