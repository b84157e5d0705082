/* SPDX-License-Identifier: MIT */
/* Reads the pages of a ring buffer, and finds the fields of its events by their names in the format files. */
#include "engine/etw/kernel/ftrace_ring.h"

#include "engine/base/error.h"
#include "engine/logs/little_endian.h"

#include <string.h>

/* The low five bits of an event's first word; the remaining bits are the time since the previous event. */
enum {
    LENGTH_FOLLOWS = 0,
    LONGEST_IN_WORD = 28, /* 1 to 28: the number of words of data */
    PADDING = 29,
    TIME_EXTEND = 30,
    TIME_STAMP = 31
};
#define COMMIT_BYTES   0x3FFFFFFFu
#define COMMIT_MISSED  0x80000000u
#define COMMIT_COUNTED 0x40000000u
#define STAMP_BITS     59

static uint64_t word(const uint8_t *at, uint32_t size)
{
    return size == 8 ? get_u64(at) : get_u32(at);
}

bool ring_page_begin(struct ring_page *p, const struct ring_layout *layout, const uint8_t *page)
{
    const uint64_t commit = word(page + layout->commit_offset, layout->commit_size);
    const uint32_t used = (uint32_t)commit & COMMIT_BYTES, room = layout->page_size - layout->data_offset;
    if (used > room)
        return false;
    *p = (struct ring_page){.at = page + layout->data_offset, .time = get_u64(page)};
    p->end = p->at + used;
    if ((commit & COMMIT_MISSED) == 0)
        return true;
    /* The count of missed events is stored after the data; a full page has no room for it. */
    const bool counted = (commit & COMMIT_COUNTED) != 0 && room - used >= layout->commit_size;
    const uint64_t missed = counted ? word(p->end, layout->commit_size) : 0;
    p->missed = counted && missed <= INT64_MAX ? (int64_t)missed : RING_UNCOUNTED;
    return true;
}

static HRESULT broken(struct ring_page *p)
{
    p->at = p->end;
    return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
}

/* Handles a record that is not an event: a time record, or padding in place of a discarded event. Returns false if the
   record exceeds the page. */
static bool skip_non_event(struct ring_page *p, uint32_t kind, uint32_t delta)
{
    const uint32_t left = (uint32_t)(p->end - p->at);
    if (left < 8)
        return false;
    const uint32_t second = get_u32(p->at + 4);
    if (kind == PADDING) {
        if (second < 4 || second > left - 4) /* the length includes itself */
            return false;
        /* In padding, Linux stores a delta of 0 as 1, because 0 marks the end of a page. */
        p->time += delta > 1 ? delta : 0;
        p->at += 4 + second;
        return true;
    }
    const uint64_t time = ((uint64_t)second << 27) + delta, low = (UINT64_C(1) << STAMP_BITS) - 1;
    p->time = kind == TIME_EXTEND ? p->time + time : (time & low) | (p->time & ~low);
    p->at += 8;
    return true;
}

HRESULT ring_page_next(struct ring_page *p, struct ring_event *e)
{
    while (p->end - p->at >= 4) {
        const uint32_t head = get_u32(p->at), kind = head & 31, delta = head >> 5;
        uint32_t left = (uint32_t)(p->end - p->at) - 4, size = kind * 4;
        const uint8_t *data = p->at + 4;
        if (kind == PADDING && delta == 0)
            break;
        if (kind > LONGEST_IN_WORD) {
            if (!skip_non_event(p, kind, delta))
                return broken(p);
            continue;
        }
        if (kind == LENGTH_FOLLOWS) {
            if (left < 4 || get_u32(data) < 4 || get_u32(data) > left)
                return broken(p);
            size = (get_u32(data) - 4 + 3) & ~3u; /* the length includes itself */
            data += 4;
            left -= 4;
        }
        if (size > left)
            return broken(p);
        p->time += delta;
        p->at = data + size;
        *e = (struct ring_event){p->time, data, size};
        return S_OK;
    }
    p->at = p->end;
    return S_FALSE;
}

/* The form of a line in a format file: "\tfield:TYPE NAME[N];\toffset:O;\tsize:S;\tsigned:G;". */

static const char *line_end(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end : line + strlen(line);
}

/* Parses the number after `what` in the line. Returns false if no 16-bit number follows `what`. */
static bool line_number(const char *line, const char *end, const char *what, uint16_t *out)
{
    const size_t length = strlen(what);
    uint32_t value = 0;
    for (; (size_t)(end - line) > length; line++) {
        if (memcmp(line, what, length) != 0)
            continue;
        const char *p = line + length;
        for (; p < end && *p >= '0' && *p <= '9' && value <= UINT16_MAX; p++)
            value = value * 10 + (uint32_t)(*p - '0');
        *out = (uint16_t)value;
        return p > line + length && value <= UINT16_MAX;
    }
    return false;
}

/* Returns whether the field has this name. `field` is the text after "field:"; it ends at a ';'. Its name begins after
   the last space and ends before a '[', if there is one. */
static bool is_named(const char *field, const char *end, const char *name)
{
    const char *last = field, *p = field;
    for (; p < end && *p != ';'; p++)
        if (*p == ' ')
            last = p + 1;
    const size_t length = strlen(name);
    return (size_t)(p - last) >= length && memcmp(last, name, length) == 0 &&
           (last + length == p || last[length] == '[');
}

static const char *field_of(const char *line, const char *end)
{
    static const char mark[] = "field:";
    while (line < end && (*line == '\t' || *line == ' '))
        line++;
    return (size_t)(end - line) > sizeof mark - 1 && memcmp(line, mark, sizeof mark - 1) == 0 ? line + sizeof mark - 1
                                                                                              : NULL;
}

static struct ring_field read_field(const char *field, const char *end)
{
    static const char located[] = "__data_loc ";
    struct ring_field f = {0};
    uint16_t is_signed = 0;
    if (!line_number(field, end, "offset:", &f.offset) || !line_number(field, end, "size:", &f.size))
        return (struct ring_field){0};
    (void)line_number(field, end, "signed:", &is_signed);
    f.is_signed = is_signed != 0;
    f.is_located = (size_t)(end - field) > sizeof located - 1 && memcmp(field, located, sizeof located - 1) == 0;
    if (f.is_located && f.size != 4)
        return (struct ring_field){0};
    return f;
}

struct ring_field ring_format_field(const char *text, const char *name)
{
    for (const char *line = text; *line; line = *line_end(line) ? line_end(line) + 1 : line_end(line)) {
        const char *end = line_end(line), *field = field_of(line, end);
        if (field && is_named(field, end, name))
            return read_field(field, end);
    }
    return (struct ring_field){0};
}

uint32_t ring_format_id(const char *text)
{
    uint16_t id = RING_NO_EVENT;
    for (const char *line = text; *line; line = *line_end(line) ? line_end(line) + 1 : line_end(line))
        if (strncmp(line, "ID: ", 4) == 0 && line_number(line, line_end(line), "ID: ", &id))
            return id;
    return RING_NO_EVENT;
}

HRESULT ring_layout_read(const char *text, struct ring_layout *out)
{
    const struct ring_field time = ring_format_field(text, "timestamp"), commit = ring_format_field(text, "commit"),
                            data = ring_format_field(text, "data");
    const uint32_t page = (uint32_t)data.offset + data.size;
    const bool right = time.size == 8 && time.offset == 0 && (commit.size == 4 || commit.size == 8) &&
                       commit.offset >= 8 && (uint32_t)commit.offset + commit.size <= data.offset &&
                       page >= RING_SMALLEST_PAGE && page <= RING_LARGEST_PAGE;
    *out = (struct ring_layout){commit.offset, commit.size, data.offset, page};
    return right ? S_OK
                 : error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                             "cannot read the kernel's trace buffers: unknown format of events/header_page in tracefs");
}

static bool within(const struct ring_event *e, uint32_t offset, uint32_t size)
{
    return size != 0 && offset <= e->size && size <= e->size - offset;
}

int64_t ring_number(const struct ring_event *e, const struct ring_field *f)
{
    if (!within(e, f->offset, f->size))
        return 0;
    const uint8_t *at = e->data + f->offset;
    switch (f->size) {
    case 1:
        return f->is_signed ? (int8_t)*at : *at;
    case 2:
        return f->is_signed ? (int16_t)get_u16(at) : get_u16(at);
    case 4:
        return f->is_signed ? (int32_t)get_u32(at) : (int64_t)get_u32(at);
    case 8:
        return (int64_t)get_u64(at);
    default:
        return 0;
    }
}

const uint8_t *ring_bytes(const struct ring_event *e, const struct ring_field *f, uint32_t *size)
{
    uint32_t offset = f->offset, bytes = f->size;
    *size = 0;
    if (!within(e, offset, bytes))
        return NULL;
    if (f->is_located) {
        const uint32_t where = get_u32(e->data + offset);
        offset = where & 0xFFFF;
        bytes = where >> 16;
        if (!within(e, offset, bytes))
            return NULL;
    }
    *size = bytes;
    return e->data + offset;
}

void ring_text(const struct ring_event *e, const struct ring_field *f, char *out, size_t room)
{
    uint32_t size;
    const uint8_t *bytes = ring_bytes(e, f, &size);
    size_t length = 0;
    while (bytes && length < size && length + 1 < room && bytes[length] != 0)
        length++;
    if (length != 0)
        memcpy(out, bytes, length);
    out[length] = 0;
}
