/* SPDX-License-Identifier: MIT */
/* Parser of /proc/fs/cifs/Stats: lines about the client, then for each share a line "1) \\server\share" and its own,
   which differ between SMB 1 ("Reads:  10 Bytes: 4000") and later ("Reads: 10 total 0 failed", "Bytes read: 4000"). */
#include "engine/pdh/objects/cifs_text.h"

#include "engine/base/kernel_number.h"

static const struct {
    const char *before, *behind; /* of the number: at a line's beginning, and with a blank after it; "" for any */
    enum cifs_figure figure;
} places[] = {{"SMBs:", "", CIFS_REQUESTS},         {"Bytes read:", "", CIFS_BYTES_READ},
              {"Reads:", "", CIFS_READS},           {"Writes:", "", CIFS_WRITES},
              {"CIFS Session:", "", CIFS_SESSIONS}, {"Operations (MIDs):", "", CIFS_UNDER_WAY},
              {"", "session", CIFS_RECONNECTS}};

/* What stands later in a line, behind another figure. */
static const struct {
    const char *line, *before;
    enum cifs_figure figure;
} seconds[] = {{"Bytes read:", "Bytes written:", CIFS_BYTES_WRITTEN},
               {"Reads:", "Bytes:", CIFS_BYTES_READ},
               {"Writes:", "Bytes:", CIFS_BYTES_WRITTEN}};

static bool starts(const char *p, const char *end, const char *word)
{
    return kernel_starts(p, end, word, strlen(word));
}

static const char *number(const char *p, const char *end, int64_t *out)
{
    uint64_t value;
    p = kernel_number(p, end, &value);
    if (p)
        *out = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    return p;
}

static void set_figures(struct cifs_part *part, const char *p, const char *end)
{
    int64_t value;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *rest = starts(p, end, places[i].before) ? number(p + strlen(places[i].before), end, &value) : NULL;
        if (rest && starts(kernel_skip(rest, end), end, places[i].behind))
            part->figures[places[i].figure] = value;
    }
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        if (!starts(p, end, seconds[i].line))
            continue;
        for (const char *q = p + strlen(seconds[i].line); q < end; q = kernel_skip(kernel_word_end(q, end), end))
            if (starts(q, end, seconds[i].before) && number(q + strlen(seconds[i].before), end, &value))
                part->figures[seconds[i].figure] = value;
    }
}

/* Where the name of a share begins in a line "1) \\server\share"; NULL: it is no such line. */
static const char *share_in(const char *p, const char *end)
{
    uint64_t ignored;
    p = kernel_number(p, end, &ignored);
    if (!p || p == end || *p != ')')
        return NULL;
    p = kernel_skip(p + 1, end);
    return p < end ? p : NULL;
}

bool cifs_next(const char **at, const char *end, struct cifs_part *part)
{
    const char *p = *at;
    if (p >= end)
        return false;
    *part = (struct cifs_part){0};
    for (size_t i = 0; i < CIFS_FIGURES; i++)
        part->figures[i] = INT64_MIN;
    const char *line = kernel_line_end(p, end), *name = share_in(p, line);
    if (name) {
        part->name = name;
        /* A share may have a blank in its name; what else is in the line stands behind a tab. */
        const char *tab = text_find(name, line, '\t');
        part->length = (size_t)((tab ? tab : line) - name);
        while (part->length && name[part->length - 1] == ' ')
            part->length--;
        p = line < end ? line + 1 : end;
    }
    while (p < end) {
        line = kernel_line_end(p, end);
        if (share_in(p, line))
            break;
        set_figures(part, p, line);
        p = line < end ? line + 1 : end;
    }
    *at = p;
    return true;
}
