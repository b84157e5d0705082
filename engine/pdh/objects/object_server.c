/* SPDX-License-Identifier: MIT */
/* The objects Server, SMB Server Shares and SMB Server Sessions: the clients of Samba's server on this host OS, from
   Samba's databases. The objects exist while the server runs, for users who may read the databases. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/core/table.h"
#include "engine/pdh/objects/parsers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parser of Samba's databases ---- */

/* The format: a header, a table of offsets, then used and free records one after another. If processes share locks in
   the file, the file begins with the area for locks, followed by a copy of the header. */

enum { HEAD_SIZE = 168, HEAD_VERSION = 32, HEAD_PLACES = 36, HEAD_FLAGS = 60, HEAD_LOCKS = 64, FLAG_LOCKS = 1 };
enum { RECORD_HEAD = 24, RECORD_SIZE = 4, RECORD_KEY = 8, RECORD_DATA = 12, RECORD_STATE = 20 };
#define VERSION_6      0x2601196Du
#define STATE_USED     0x26011999u
#define STATE_FREE     0xD9FEE666u
#define STATE_DEAD     0xFEE1DEADu
#define STATE_UNUSED   0u          /* space that is reserved for recovery and has no content now */
#define STATE_RECOVERY 0xF53BC0E7u /* the content that is restored after a crash during the current transaction */

bool samba_file_begin(struct samba_file *f, const void *bytes, size_t size)
{
    static const char magic[] = "TDB file\n";
    *f = (struct samba_file){.bytes = bytes, .size = size};
    if (size < HEAD_SIZE || memcmp(bytes, magic, sizeof magic) != 0 || get_u32(f->bytes + HEAD_VERSION) != VERSION_6)
        return false;
    const uint64_t before = get_u32(f->bytes + HEAD_FLAGS) & FLAG_LOCKS ? get_u32(f->bytes + HEAD_LOCKS) : 0;
    const uint64_t first = before + HEAD_SIZE + ((uint64_t)get_u32(f->bytes + HEAD_PLACES) + 1) * 4;
    if (first > size)
        return false;
    f->at = (size_t)first;
    return true;
}

/* Reads an id, which is big-endian in keys. */
static uint32_t id_of(const uint8_t *key)
{
    return (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
}

bool samba_file_next(struct samba_file *f, struct samba_record *out)
{
    while (f->size - f->at >= RECORD_HEAD) {
        const uint8_t *head = f->bytes + f->at;
        const size_t rest = f->size - f->at - RECORD_HEAD;
        const uint32_t size = get_u32(head + RECORD_SIZE), state = get_u32(head + RECORD_STATE);
        const uint32_t key = get_u32(head + RECORD_KEY), data = get_u32(head + RECORD_DATA);
        const bool known = state == STATE_USED || state == STATE_FREE || state == STATE_DEAD || state == STATE_UNUSED ||
                           state == STATE_RECOVERY;
        if (!known || !size || size > rest || (state == STATE_USED && (key > size || data > size - key)))
            break;
        f->at += RECORD_HEAD + size;
        if (state == STATE_USED && key == sizeof out->id && data) {
            *out = (struct samba_record){id_of(head + RECORD_HEAD), head + RECORD_HEAD + key, data};
            return true;
        }
    }
    f->corrupt = f->at != f->size;
    return false;
}

bool samba_connection_read(const struct samba_record *record, struct samba_connection *out)
{
    enum { VERSION = 0, ID = 20, NAME_UNITS = 64, NAME_FIRST = 68, NAME_COUNT = 72, NAME = 76 };
    const uint8_t *data = record->data;
    if (record->size < NAME || get_u32(data + VERSION) != 0 || get_u32(data + ID) != record->id)
        return false;
    const size_t count = get_u32(data + NAME_COUNT);
    if (get_u32(data + NAME_UNITS) != count || get_u32(data + NAME_FIRST) != 0 || !count ||
        count > record->size - NAME ||
        text_find((const char *)data + NAME, (const char *)data + NAME + count, 0) !=
            (const char *)data + NAME + count - 1)
        return false;
    /* Between the name and the session are two bytes about encryption and signing. The session is aligned to 4
       bytes. */
    const size_t session = (NAME + count + 2 + 3) & ~(size_t)3;
    if (record->size < session + 4)
        return false;
    *out = (struct samba_connection){(const char *)data + NAME, count - 1, get_u32(data + session)};
    return true;
}

/* ---- the objects ---- */

/* Server. */
#define SERVER_ROWS                                                                                                    \
    COLUMN(SERVER_SESSIONS, "sessions")                                                                                \
    COLUMN(SERVER_FILES, "files")                                                                                      \
    COUNTER("Server Sessions", PERF_COUNTER_RAWCOUNT, 314, 0, SUM, "sessions",                                         \
            "Sessions of other computers with Samba's server.")                                                        \
    COUNTER("Files Open", PERF_COUNTER_RAWCOUNT, 362, 0, SUM, "files",                                                 \
            "Files and folders that clients of Samba's server have open.")

/* SMB Server Shares and SMB Server Sessions. */
#define SMB_SERVER_ROWS                                                                                                \
    COLUMN(CONNECTIONS, "connections")                                                                                 \
    COUNTER("Tree Connect Count", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, "connections",                                     \
            "Current connections of clients to a share.")

#define OBJECT server
#define ROWS   SERVER_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT smb_server
#define ROWS   SMB_SERVER_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define BIT(column) (1ull << (column))

/* The connections of a share or of a session. */
struct part {
    const char *share; /* points into the last database that was read; `length` is 0 if the connections belong to a
                          session */
    size_t length;
    uint32_t session;
    uint32_t connections;
};

enum database { OF_SESSIONS, OF_CONNECTIONS, OF_FILES };
static const char *const databases[] = {[OF_SESSIONS] = "/run/samba/smbXsrv_session_global.tdb",
                                        [OF_CONNECTIONS] = "/run/samba/smbXsrv_tcon_global.tdb",
                                        [OF_FILES] = "/run/samba/smbXsrv_open_global.tdb"};

/* The databases are not kept open, because a restarted server may recreate them. */
struct samba_state {
    struct table_state table;
    char *text; /* content of the last database that was read */
    struct part *parts;
    size_t part_count, part_capacity;
};

static void close_state(void *state)
{
    struct samba_state *s = state;
    memory_free(s->text);
    memory_free(s->parts);
}

/* Checks that the server's process exists, because after a crash the databases remain with all their entries. */
static HRESULT find_server(const char *root)
{
    char path[512], *text;
    uint64_t id;
    bool found = false;
    snprintf(path, sizeof path, "%s/run/samba/smbd.pid", root);
    HRESULT hr = kernel_file_text(path, &text, NULL);
    if (SUCCEEDED(hr) && text_to_u64(text, &id)) {
        memory_free(text);
        snprintf(path, sizeof path, "%s/proc/%llu/comm", root, (unsigned long long)id);
        hr = kernel_file_text(path, &text, NULL);
        found = SUCCEEDED(hr) && !strcmp(text, "smbd\n");
    }
    memory_free(text);
    if (found || hr == E_OUTOFMEMORY)
        return hr;
    return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                     "Samba's server is not running: no process smbd has the id in '/run/samba/smbd.pid'");
}

/* Reads a database. The records of the database are valid until the next database is opened. */
static HRESULT open_database(struct samba_state *s, const char *root, enum database which, struct samba_file *f)
{
    char path[512];
    size_t size;
    memory_free(s->text);
    snprintf(path, sizeof path, "%s%s", root, databases[which]);
    HRESULT hr = kernel_file_text(path, &s->text, &size);
    if (SUCCEEDED(hr) && !samba_file_begin(f, s->text, size))
        hr = error_set(E_FAIL, "cannot read '%s': not a Samba database", databases[which]);
    return hr;
}

/* Fails if the file was inconsistent. Records may move while the file is read; this sample then has no values. */
static HRESULT end_database(const struct samba_file *f, enum database which)
{
    return f->corrupt ? error_set(E_FAIL, "cannot read '%s': corrupt record at byte %zu of %zu", databases[which],
                                  f->at, f->size)
                      : S_OK;
}

static HRESULT count_records(struct samba_state *s, const char *root, enum database which, int64_t *count)
{
    struct samba_file f;
    struct samba_record record;
    int64_t found = 0;
    HRESULT hr = open_database(s, root, which, &f);
    if (FAILED(hr))
        return hr;
    while (samba_file_next(&f, &record))
        found++;
    hr = end_database(&f, which);
    if (SUCCEEDED(hr))
        *count = found;
    return hr;
}

static HRESULT gather_server(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct samba_state *s = o->state;
    int64_t sessions = VALUE_ABSENT, files = VALUE_ABSENT;
    HRESULT hr = find_server(source_root(source));
    if (SUCCEEDED(hr))
        hr = count_records(s, source_root(source), OF_SESSIONS, &sessions);
    if (SUCCEEDED(hr) && (wanted & BIT(SERVER_FILES)))
        hr = count_records(s, source_root(source), OF_FILES, &files);
    int64_t *cells = SUCCEEDED(hr) ? table_add(&s->table, ROW_PLAIN, NULL, "", 0, 0) : NULL;
    if (FAILED(hr) || !cells)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    cells[SERVER_SESSIONS] = sessions;
    cells[SERVER_FILES] = files;
    return S_OK;
}

static HRESULT add_part(struct samba_state *s, const struct part *part)
{
    if (!memory_grow((void **)&s->parts, &s->part_capacity, s->part_count + 1, sizeof *s->parts))
        return E_OUTOFMEMORY;
    s->parts[s->part_count++] = *part;
    return S_OK;
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    const size_t length = a->length < b->length ? a->length : b->length;
    const int order = length ? memcmp(a->share, b->share, length) : 0;
    if (order || a->length != b->length)
        return order ? order : (a->length > b->length) - (a->length < b->length);
    return (a->session > b->session) - (a->session < b->session);
}

/* Adds each connection to its share or to its session. */
static HRESULT add_connections(struct samba_state *s, const char *root, bool by_share)
{
    struct samba_file f;
    struct samba_record record;
    HRESULT hr = open_database(s, root, OF_CONNECTIONS, &f);
    while (SUCCEEDED(hr) && samba_file_next(&f, &record)) {
        struct samba_connection c;
        if (!samba_connection_read(&record, &c))
            return error_set(E_FAIL, "cannot read '%s': unknown format of a connection", databases[OF_CONNECTIONS]);
        hr = add_part(s, by_share ? &(struct part){.share = c.share, .length = c.length, .connections = 1}
                                  : &(struct part){.session = c.session, .connections = 1});
    }
    return SUCCEEDED(hr) ? end_database(&f, OF_CONNECTIONS) : hr;
}

/* Adds sessions without connections. */
static HRESULT add_sessions(struct samba_state *s, const char *root)
{
    struct samba_file f;
    struct samba_record record;
    HRESULT hr = open_database(s, root, OF_SESSIONS, &f);
    while (SUCCEEDED(hr) && samba_file_next(&f, &record))
        hr = add_part(s, &(struct part){.session = record.id});
    return SUCCEEDED(hr) ? end_database(&f, OF_SESSIONS) : hr;
}

static HRESULT add_rows(struct samba_state *s)
{
    if (s->part_count)
        qsort(s->parts, s->part_count, sizeof *s->parts, compare_parts);
    for (size_t i = 0, next; i < s->part_count; i = next) {
        const struct part *p = &s->parts[i];
        int64_t connections = 0;
        for (next = i; next < s->part_count && !compare_parts(&s->parts[next], p); next++)
            connections += s->parts[next].connections;
        char number[16];
        const int length = snprintf(number, sizeof number, "%u", (unsigned)p->session);
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, p->length ? p->share : number,
                                   p->length ? p->length : (size_t)length, 0);
        if (!cells)
            return E_OUTOFMEMORY;
        cells[CONNECTIONS] = connections;
    }
    if (s->part_count)
        return table_add_total(&s->table, false, 0);
    /* Without connections the total is 0. Alerts need this value, because they do not notice missing values. */
    int64_t *none = table_add(&s->table, ROW_PLAIN, NULL, "_Total", 6, 0);
    if (!none)
        return E_OUTOFMEMORY;
    none[CONNECTIONS] = 0;
    return S_OK;
}

static HRESULT gather_parts(struct counter_object *o, struct source *source, bool by_share)
{
    struct samba_state *s = o->state;
    s->part_count = 0;
    HRESULT hr = find_server(source_root(source));
    if (SUCCEEDED(hr))
        hr = add_connections(s, source_root(source), by_share);
    if (SUCCEEDED(hr) && !by_share)
        hr = add_sessions(s, source_root(source));
    return SUCCEEDED(hr) ? add_rows(s) : hr;
}

static HRESULT gather_shares(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    return gather_parts(o, source, true);
}

static HRESULT gather_sessions(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    return gather_parts(o, source, false);
}

#define CONNECTIONS_OF "the records of /run/samba/smbXsrv_tcon_global.tdb, grouped by "
const struct counter_object_type pdh_server = {
    .name = "Server",
    .index = 330,
    .help = "The work of Samba's server on this computer for other computers.",
    TABLE_OBJECT(server, ALL_OF, struct samba_state, gather_server, close_state,
                 "the number of records of /run/samba/smbXsrv_session_global.tdb and smbXsrv_open_global.tdb")};
const struct counter_object_type pdh_smb_server_sessions = {
    .name = "SMB Server Sessions",
    .help =
        "Sessions of other computers with Samba's server on this computer, by the session number that smbstatus shows.",
    .has_instances = true,
    TABLE_OBJECT(smb_server, ALL_OF, struct samba_state, gather_sessions, close_state,
                 CONNECTIONS_OF
                 "session; the records of smbXsrv_session_global.tdb add the sessions that have no connection")};
const struct counter_object_type pdh_smb_server_shares = {
    .name = "SMB Server Shares",
    .help = "The shares of this computer's Samba server to which clients are connected.",
    .has_instances = true,
    TABLE_OBJECT(smb_server, ALL_OF, struct samba_state, gather_shares, close_state, CONNECTIONS_OF "share")};
