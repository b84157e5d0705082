/* SPDX-License-Identifier: MIT */
/* The objects SMB Client Shares and Redirector: files of other computers, which programs under Wine reach through the
   host's kernel. Both are there where its client is loaded, whatever it has mounted. */
#include "engine/pdh/objects/cifs_text.h"
#include "engine/pdh/objects/providers.h"

#define OBJECT smb_client_shares
#define ROWS   "engine/pdh/objects/smb_client_shares_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT redirector
#define ROWS   "engine/pdh/objects/redirector_counters.def"
#include "engine/pdh/core/counter_rows.inc"

/* The columns of both objects begin as the figures do. */
_Static_assert(SHARE_BYTES_WRITTEN == (int)CIFS_BYTES_WRITTEN && ALL_UNDER_WAY == (int)CIFS_UNDER_WAY,
               "columns and figures have one order");

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
    /* Where nothing is mounted, nothing was read. */
    for (int i = 0; !mounted && i < CIFS_SHARE_FIGURES; i++)
        cells[i] = 0;
    return S_OK;
}

const struct provider pdh_redirector = {
    .name = "Redirector",
    .index = 262,
    .help = "What programs of this computer do with files of others, by SMB.",
    TABLE_PROVIDER(redirector, ALL_OF, struct table_state, gather_all, NULL,
                   "/proc/fs/cifs/Stats: summed over the shares SMBs, Reads, Writes, Bytes read, Bytes written; "
                   "CIFS Session, reconnects of sessions, Operations (MIDs)")};
const struct provider pdh_smb_client_shares = {
    .name = "SMB Client Shares",
    .help = "Folders of other computers that this one has mounted by SMB, as SERVER_SHARE.",
    .has_instances = true,
    TABLE_PROVIDER(smb_client_shares, ALL_OF, struct table_state, gather_shares, NULL,
                   "/proc/fs/cifs/Stats, of each share SMBs, Reads, Writes, Bytes read and Bytes written")};
