/* SPDX-License-Identifier: MIT */
/* The objects SMB Client Shares and Redirector: remote files, which programs under Wine access through the kernel of
   the host OS. Both objects exist if the kernel's SMB client is loaded, even without mounts. */
#include "engine/base/kernel_file.h"
#include "engine/pdh/core/table.h"
#include "engine/pdh/objects/parsers.h"

/* ---- parser of /proc/fs/cifs/Stats ---- */

/* The file has lines about the client, then for each share a line "1) \\server\share" and further lines. The further
   lines differ between SMB 1 ("Reads:  10 Bytes: 4000") and later versions ("Reads: 10 total 0 failed", "Bytes read:
   4000"). */

static const struct {
    const char *before, *behind; /* `before`: how the line begins, up to the number; `behind`: the string after the
                                    number and a space; "" matches anything */
    enum cifs_figure figure;
} places[] = {{"SMBs:", "", CIFS_REQUESTS},         {"Bytes read:", "", CIFS_BYTES_READ},
              {"Reads:", "", CIFS_READS},           {"Writes:", "", CIFS_WRITES},
              {"CIFS Session:", "", CIFS_SESSIONS}, {"Operations (MIDs):", "", CIFS_UNDER_WAY},
              {"", "session", CIFS_RECONNECTS}};

/* Numbers that follow another number in the same line. */
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

static const char *parse_number(const char *p, const char *end, int64_t *out)
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
        const char *rest =
            starts(p, end, places[i].before) ? parse_number(p + strlen(places[i].before), end, &value) : NULL;
        if (rest && starts(kernel_skip(rest, end), end, places[i].behind))
            part->figures[places[i].figure] = value;
    }
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        if (!starts(p, end, seconds[i].line))
            continue;
        for (const char *q = p + strlen(seconds[i].line); q < end; q = kernel_skip(kernel_word_end(q, end), end))
            if (starts(q, end, seconds[i].before) && parse_number(q + strlen(seconds[i].before), end, &value))
                part->figures[seconds[i].figure] = value;
    }
}

/* Finds a share's name in a line "1) \\server\share"; NULL if it is a different line. */
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
        /* a share's name may contain spaces; a tab separates it from the rest of the line */
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

/* ---- the objects ---- */

/* SMB Client Shares. The columns are the numbers of a share from parsers.h. */
#define SMB_CLIENT_SHARES_ROWS                                                                                         \
    COLUMN(SHARE_REQUESTS, "requests")                                                                                 \
    COLUMN(SHARE_READS, "reads")                                                                                       \
    COLUMN(SHARE_WRITES, "writes")                                                                                     \
    COLUMN(SHARE_BYTES_READ, "bytes_read")                                                                             \
    COLUMN(SHARE_BYTES_WRITTEN, "bytes_written")                                                                       \
    COUNTER("Read Bytes/sec", PERF_COUNTER_BULK_COUNT, 0, -4, SUM, "bytes_read",                                       \
            "Bytes of files read from this share.")                                                                    \
    COUNTER("Read Requests/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, "reads", "Read requests to this share.")             \
    COUNTER("Write Bytes/sec", PERF_COUNTER_BULK_COUNT, 0, -4, SUM, "bytes_written",                                   \
            "Bytes of files written to this share.")                                                                   \
    COUNTER("Write Requests/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, "writes", "Write requests to this share.")          \
    COUNTER("Data Bytes/sec", PERF_COUNTER_BULK_COUNT, 0, -4, SUM, "bytes_read + bytes_written",                       \
            "Bytes of files read from and written to this share.")                                                     \
    COUNTER("Data Requests/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, "reads + writes",                                    \
            "Read and write requests to this share.")                                                                  \
    COUNTER("Metadata Requests/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, "requests - reads - writes",                     \
            "Requests to this share that neither read nor write, such as open, close, list and lock.")                 \
    COUNTER("Avg. Bytes/Read", PERF_AVERAGE_BULK, 0, -2, SUM OVER(SHARE_READ_BASE), "bytes_read",                      \
            "Average number of bytes per read request.")                                                               \
    COUNTER("Avg. Bytes/Write", PERF_AVERAGE_BULK, 0, -2, SUM OVER(SHARE_WRITE_BASE), "bytes_written",                 \
            "Average number of bytes per write request.")                                                              \
    COUNTER("Avg. Data Bytes/Request", PERF_AVERAGE_BULK, 0, -2, SUM OVER(SHARE_DATA_BASE),                            \
            "bytes_read + bytes_written", "Average number of bytes per read or write request.")                        \
    BASE(SHARE_READ_BASE, PERF_AVERAGE_BASE, SUM, "reads")                                                             \
    BASE(SHARE_WRITE_BASE, PERF_AVERAGE_BASE, SUM, "writes")                                                           \
    BASE(SHARE_DATA_BASE, PERF_AVERAGE_BASE, SUM, "reads + writes")

/* Redirector. The first columns are sums over all shares. */
#define REDIRECTOR_ROWS                                                                                                \
    COLUMN(ALL_REQUESTS, "requests")                                                                                   \
    COLUMN(ALL_READS, "reads")                                                                                         \
    COLUMN(ALL_WRITES, "writes")                                                                                       \
    COLUMN(ALL_BYTES_READ, "bytes_read")                                                                               \
    COLUMN(ALL_BYTES_WRITTEN, "bytes_written")                                                                         \
    COLUMN(ALL_SESSIONS, "sessions")                                                                                   \
    COLUMN(ALL_RECONNECTS, "reconnects")                                                                               \
    COLUMN(ALL_UNDER_WAY, "under_way")                                                                                 \
    COUNTER("Read Bytes Network/sec", PERF_COUNTER_BULK_COUNT, 274, -4, SUM, "bytes_read",                             \
            "Bytes of files read from other computers.")                                                               \
    COUNTER("Write Bytes Network/sec", PERF_COUNTER_BULK_COUNT, 286, -4, SUM, "bytes_written",                         \
            "Bytes of files written to other computers.")                                                              \
    COUNTER("Packets Transmitted/sec", PERF_COUNTER_BULK_COUNT, 278, -1, SUM, "requests",                              \
            "Requests (SMBs) sent to other computers.")                                                                \
    COUNTER("Read Packets/sec", PERF_COUNTER_COUNTER, 292, 0, SUM, "reads", "Read requests sent to other computers.")  \
    COUNTER("Write Packets/sec", PERF_COUNTER_COUNTER, 302, 0, SUM, "writes",                                          \
            "Write requests sent to other computers.")                                                                 \
    COUNTER("Server Sessions", PERF_COUNTER_RAWCOUNT, 314, 0, SUM, "sessions", "Sessions with other computers.")       \
    COUNTER("Server Reconnects", PERF_COUNTER_RAWCOUNT, 316, 0, SUM, "reconnects",                                     \
            "Number of times that a session had to be reconnected, since the computer started.")                       \
    COUNTER("Current Commands", PERF_COUNTER_RAWCOUNT, 392, 0, SUM, "under_way",                                       \
            "Requests that currently wait for a reply from another computer.")

#define OBJECT smb_client_shares
#define ROWS   SMB_CLIENT_SHARES_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT redirector
#define ROWS   REDIRECTOR_ROWS
#include "engine/pdh/core/counter_rows.inc"

/* In both objects, the first columns have the order of enum cifs_figure. */
_Static_assert(SHARE_BYTES_WRITTEN == (int)CIFS_BYTES_WRITTEN && ALL_UNDER_WAY == (int)CIFS_UNDER_WAY,
               "the first columns have the order of enum cifs_figure");

static HRESULT gather_shares(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct table_state *t = o->state;
    const char *text;
    size_t size;
    struct cifs_part part;
    HRESULT hr = source_text(source, &o->hold, SOURCE_CIFS, &text, &size, &o->time);
    if (FAILED(hr))
        return hr;
    table_know_columns(t, (1ull << smb_client_shares_width) - 1);
    for (const char *at = text; cifs_next(&at, text + size, &part);) {
        if (!part.length)
            continue;
        for (int i = 0; i < 2 && part.length && *part.name == '\\'; i++, part.name++)
            part.length--;
        int64_t *cells = table_add(t, ROW_PLAIN, NULL, part.name, part.length, 0);
        if (!cells)
            return E_OUTOFMEMORY;
        for (int i = 0; i < smb_client_shares_width; i++)
            cells[i] = part.figures[i];
    }
    return table_add_total(t, false, 0);
}

static HRESULT gather_all(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    const char *text;
    size_t size;
    struct cifs_part part;
    HRESULT hr = source_text(source, &o->hold, SOURCE_CIFS, &text, &size, &o->time);
    if (FAILED(hr))
        return hr;
    int64_t *cells = table_add(o->state, ROW_PLAIN, NULL, "", 0, 0);
    if (!cells)
        return E_OUTOFMEMORY;
    bool mounted = false;
    for (const char *at = text; cifs_next(&at, text + size, &part);) {
        mounted |= part.length > 0;
        for (int i = 0; i < CIFS_FIGURES; i++) {
            if (part.figures[i] == INT64_MIN)
                continue;
            int64_t before = cells[i] == VALUE_ABSENT ? 0 : cells[i];
            cells[i] = before > INT64_MAX - part.figures[i] ? INT64_MAX : before + part.figures[i];
        }
    }
    /* without mounts, the file has no numbers of shares, so their sums are 0 */
    for (int i = 0; !mounted && i < CIFS_SHARE_FIGURES; i++)
        cells[i] = 0;
    return S_OK;
}

const struct counter_object_type pdh_redirector = {
    .name = "Redirector",
    .index = 262,
    .help = "File accesses of this computer's programs to other computers by SMB.",
    TABLE_OBJECT(
        redirector, ALL_OF, struct table_state, gather_all, NULL,
        "the values SMBs, Reads, Writes, \"Bytes read\" and \"Bytes written\" in /proc/fs/cifs/Stats, each summed over "
        "the shares; also the values \"CIFS Session\", the reconnects of sessions, and \"Operations (MIDs)\"")};
const struct counter_object_type pdh_smb_client_shares = {
    .name = "SMB Client Shares",
    .help = "Mounted SMB shares of other computers, each as SERVER_SHARE.",
    .has_instances = true,
    TABLE_OBJECT(
        smb_client_shares, ALL_OF, struct table_state, gather_shares, NULL,
        "the values SMBs, Reads, Writes, \"Bytes read\" and \"Bytes written\" of each share in /proc/fs/cifs/Stats")};
