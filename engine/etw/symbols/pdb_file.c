/* SPDX-License-Identifier: MIT */
/* Reads the functions of a PDB file. The functions are in two places. Each module has a stream with its functions and
   their sizes. One stream for the whole image has the public symbols, without sizes. Public PDB files contain only the
   public symbols. */
#include "engine/etw/symbols/pdb_file.h"

#include "engine/base/memory.h"
#include "engine/etw/symbols/msf_file.h"
#include "engine/logs/little_endian.h"

enum { STREAM_PDB = 1, STREAM_DBI = 3, NO_STREAM = 0xFFFF };
enum { DBI_HEAD = 64, MODULE_HEAD = 64, SECTION_BYTES = 40 };
enum { DEBUG_OMAP_FROM_SOURCE = 4, DEBUG_SECTIONS = 5, DEBUG_ORIGINAL_SECTIONS = 10, DEBUG_STREAMS };
enum { S_PUB32 = 0x110E, S_LPROC32 = 0x110F, S_GPROC32, S_THUNK32 = 0x1102, S_LPROC32_ID = 0x1146, S_GPROC32_ID };
enum { WINDOW = 1 << 17, LONGEST_RECORD = 0x10000 + 2, MOST_PART = 64 << 20, MOST_SECTIONS = 0x10000 };
#define CONTRIBUTIONS_V1 0xF12EBA2Du
#define CONTRIBUTIONS_V2 0xF13151E4u
#define EXECUTABLE       0x20000000u

struct pdb {
    struct msf_file msf;
    struct symbol_table *out;
    uint32_t records;                /* stream of public symbols */
    uint32_t modules, contributions; /* sizes of the first parts of the DBI stream */
    uint16_t debug[DEBUG_STREAMS];
    uint8_t *sections; /* section headers */
    uint32_t section_count;
    uint8_t *omap; /* rows of u32 from, u32 to, for images whose code was moved after linking */
    uint32_t omap_count;
};

/* ---- header ---- */

static HRESULT read_dbi(struct pdb *p)
{
    uint8_t head[DBI_HEAD];
    const uint32_t size = msf_size(&p->msf, STREAM_DBI);
    HRESULT hr = msf_read(&p->msf, STREAM_DBI, 0, head, sizeof head);
    if (FAILED(hr))
        return hr;
    p->records = get_u16(head + 20);
    uint64_t at = DBI_HEAD;
    /* Offsets of those header fields that contain the sizes of the parts before the list of streams, in the order of
       the parts. */
    static const uint8_t parts[] = {24, 28, 32, 36, 40, 52};
    for (size_t i = 0; i < sizeof parts; i++) {
        const uint32_t part = get_u32(head + parts[i]);
        if (part > size)
            return pdb_corrupt("a part of the DBI stream is too long");
        at += part;
    }
    p->modules = get_u32(head + 24);
    p->contributions = get_u32(head + 28);
    const uint32_t listed = get_u32(head + 48);
    memset(p->debug, 0xFF, sizeof p->debug);
    for (uint32_t i = 0; i < DEBUG_STREAMS && 2 * i + 2 <= listed; i++) {
        uint8_t number[2];
        hr = at + 2 * i <= size ? msf_read(&p->msf, STREAM_DBI, (uint32_t)at + 2 * i, number, 2)
                                : pdb_corrupt("the list of streams is outside the DBI stream");
        if (FAILED(hr))
            return hr;
        p->debug[i] = get_u16(number);
    }
    return S_OK;
}

/* Reads a whole stream. *out is from memory_alloc. If the stream does not exist or is empty, returns S_OK, and *out is
   NULL. */
static HRESULT load_stream(struct pdb *p, uint16_t stream, uint8_t **out, uint32_t *size)
{
    *out = NULL;
    *size = stream == NO_STREAM ? 0 : msf_size(&p->msf, stream);
    if (*size == 0)
        return S_OK;
    if (*size > MOST_PART)
        return pdb_corrupt("a table is too long");
    *out = memory_alloc(*size);
    return *out ? msf_read(&p->msf, stream, 0, *out, *size) : E_OUTOFMEMORY;
}

static HRESULT read_sections(struct pdb *p)
{
    uint32_t size;
    HRESULT hr = load_stream(p, p->debug[DEBUG_OMAP_FROM_SOURCE], &p->omap, &size);
    p->omap_count = size / 8;
    if (SUCCEEDED(hr))
        hr = load_stream(p, p->debug[p->omap_count != 0 ? DEBUG_ORIGINAL_SECTIONS : DEBUG_SECTIONS], &p->sections,
                         &size);
    p->section_count = size / SECTION_BYTES < MOST_SECTIONS ? size / SECTION_BYTES : MOST_SECTIONS;
    return SUCCEEDED(hr) && p->section_count == 0 ? pdb_corrupt("no table of sections") : hr;
}

/* ---- addresses ---- */

static const uint8_t *section_of(const struct pdb *p, uint16_t segment)
{
    return segment >= 1 && segment <= p->section_count ? p->sections + (segment - 1) * (size_t)SECTION_BYTES : NULL;
}

/* Converts segment and offset to an offset in the image. Returns false if the code was removed or the segment does not
   exist. */
static bool to_offset(const struct pdb *p, uint16_t segment, uint32_t offset, uint64_t *out)
{
    const uint8_t *section = section_of(p, segment);
    if (!section)
        return false;
    *out = (uint64_t)get_u32(section + 12) + offset;
    if (p->omap_count == 0)
        return true;
    uint32_t low = 0, high = p->omap_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (get_u32(p->omap + 8 * (size_t)middle) <= *out)
            low = middle + 1;
        else
            high = middle;
    }
    const uint8_t *row = low != 0 ? p->omap + 8 * (size_t)(low - 1) : NULL;
    if (!row || get_u32(row + 4) == 0)
        return false;
    *out = get_u32(row + 4) + (*out - get_u32(row));
    return true;
}

/* ---- records ---- */

static HRESULT take_function(struct pdb *p, uint16_t segment, uint32_t offset, uint32_t bytes, const uint8_t *name,
                             size_t room)
{
    uint64_t at;
    return to_offset(p, segment, offset, &at) ? symbol_table_add(p->out, at, bytes, (const char *)name, room) : S_OK;
}

static HRESULT take_record(struct pdb *p, uint16_t kind, const uint8_t *data, size_t size)
{
    enum { PUBLIC = 10, PROCEDURE = 35, THUNK = 21 };
    switch (kind) {
    case S_PUB32: {
        const uint8_t *section = size > PUBLIC ? section_of(p, get_u16(data + 8)) : NULL;
        if (!section || (get_u32(section + 36) & EXECUTABLE) == 0 ||
            (size >= PUBLIC + 6 && memcmp(data + PUBLIC, "__imp_", 6) == 0))
            return S_OK;
        return take_function(p, get_u16(data + 8), get_u32(data + 4), 0, data + PUBLIC, size - PUBLIC);
    }
    case S_LPROC32:
    case S_GPROC32:
    case S_LPROC32_ID:
    case S_GPROC32_ID:
        if (size <= PROCEDURE)
            return S_OK;
        return take_function(p, get_u16(data + 32), get_u32(data + 28), get_u32(data + 12), data + PROCEDURE,
                             size - PROCEDURE);
    case S_THUNK32:
        if (size <= THUNK)
            return S_OK;
        return take_function(p, get_u16(data + 16), get_u32(data + 12), get_u16(data + 18), data + THUNK, size - THUNK);
    default:
        return S_OK;
    }
}

/* Reads the records from `at` to `end` of the stream. A record consists of a u16 length, a u16 kind, and data. The
   length counts the bytes that follow it. */
static HRESULT read_records(struct pdb *p, uint32_t stream, uint32_t at, uint32_t end, uint8_t *window)
{
    HRESULT hr = S_OK;
    while (hr == S_OK && end - at >= 4) {
        const uint32_t size = end - at < WINDOW ? end - at : WINDOW;
        uint32_t done = 0;
        hr = msf_read(&p->msf, stream, at, window, size);
        while (hr == S_OK && size - done >= 4) {
            const uint32_t length = get_u16(window + done);
            if (length < 2)
                return pdb_corrupt("a record has no kind");
            if (length + 2 > size - done)
                break;
            hr = take_record(p, get_u16(window + done + 2), window + done + 4, length - 2);
            done += length + 2;
        }
        if (hr == S_OK && done == 0)
            return pdb_corrupt("a record is truncated");
        at += done;
    }
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT read_module(struct pdb *p, const uint8_t *head, uint8_t *window)
{
    const uint16_t stream = get_u16(head + 34);
    const uint32_t bytes = get_u32(head + 36);
    if (stream == NO_STREAM || bytes <= 4 || bytes > msf_size(&p->msf, stream))
        return S_OK;
    return read_records(p, stream, 4, bytes, window);
}

static HRESULT read_modules(struct pdb *p, uint8_t *window)
{
    if (p->modules > MOST_PART)
        return pdb_corrupt("the list of modules is too long");
    uint8_t *list = memory_alloc(p->modules + 1u);
    HRESULT hr = list ? msf_read(&p->msf, STREAM_DBI, DBI_HEAD, list, p->modules) : E_OUTOFMEMORY;
    for (uint32_t at = 0; SUCCEEDED(hr) && p->modules - at >= MODULE_HEAD;) {
        const uint8_t *head = list + at;
        hr = read_module(p, head, window);
        at += MODULE_HEAD;
        for (int names = 0; names < 2; names++) {
            const uint8_t *nul = memchr(list + at, 0, p->modules - at);
            at = nul ? (uint32_t)(nul - list) + 1 : p->modules;
        }
        at = p->modules - at < 3 ? p->modules : (at + 3) & ~3u;
    }
    memory_free(list);
    return hr;
}

static HRESULT read_contributions(struct pdb *p)
{
    if (p->contributions < 4)
        return S_OK;
    if (p->contributions > MOST_PART)
        return pdb_corrupt("the list of contributions is too long");
    uint8_t *list = memory_alloc(p->contributions);
    HRESULT hr = list ? msf_read(&p->msf, STREAM_DBI, DBI_HEAD + p->modules, list, p->contributions) : E_OUTOFMEMORY;
    const uint32_t version = SUCCEEDED(hr) ? get_u32(list) : 0;
    const uint32_t row = version == CONTRIBUTIONS_V1 ? 28 : version == CONTRIBUTIONS_V2 ? 32 : p->contributions;
    for (uint32_t at = 4; hr == S_OK && p->contributions - at >= row; at += row) {
        uint64_t offset;
        if ((get_u32(list + at + 12) & EXECUTABLE) != 0 &&
            to_offset(p, get_u16(list + at), get_u32(list + at + 4), &offset))
            hr = symbol_table_add_extent(p->out, offset, get_u32(list + at + 8));
    }
    memory_free(list);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- the file ---- */

static HRESULT read_identity(const struct msf_file *m, struct pdb_identity *out)
{
    uint8_t head[28], dbi[12];
    HRESULT hr = msf_read(m, STREAM_PDB, 0, head, sizeof head);
    if (SUCCEEDED(hr))
        hr = msf_read(m, STREAM_DBI, 0, dbi, sizeof dbi);
    if (FAILED(hr))
        return hr;
    out->file_age = get_u32(head + 8);
    out->age = get_u32(dbi + 8);
    memcpy(&out->signature, head + 12, sizeof out->signature);
    return S_OK;
}

HRESULT pdb_read_identity(const struct pdb_source *source, struct pdb_identity *out)
{
    struct msf_file m;
    HRESULT hr = msf_open(source, &m);
    if (SUCCEEDED(hr))
        hr = read_identity(&m, out);
    msf_close(&m);
    return hr;
}

HRESULT pdb_read_symbols(const struct pdb_source *source, struct symbol_table *out)
{
    struct pdb p = {.out = out};
    uint8_t *window = memory_alloc(WINDOW);
    _Static_assert(LONGEST_RECORD <= WINDOW, "a record fits into the window");
    HRESULT hr = window ? msf_open(source, &p.msf) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = read_dbi(&p);
    if (SUCCEEDED(hr))
        hr = read_sections(&p);
    if (SUCCEEDED(hr))
        hr = read_contributions(&p);
    if (SUCCEEDED(hr))
        hr = read_modules(&p, window);
    if (SUCCEEDED(hr) && p.records != NO_STREAM)
        hr = read_records(&p, p.records, 0, msf_size(&p.msf, p.records), window);
    memory_free(window);
    memory_free(p.sections);
    memory_free(p.omap);
    msf_close(&p.msf);
    return hr;
}
