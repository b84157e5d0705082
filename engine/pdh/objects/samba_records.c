/* SPDX-License-Identifier: MIT */
/* Parser of Samba's databases: a head, a table of places, then records one behind the other, those in use and those
   that are free. Where processes share locks in the file, that area stands before all, and a copy of the head behind
   it. */
#include "engine/pdh/objects/samba_records.h"

#include "engine/base/text_find.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum { HEAD_SIZE = 168, HEAD_VERSION = 32, HEAD_PLACES = 36, HEAD_FLAGS = 60, HEAD_LOCKS = 64, FLAG_LOCKS = 1 };
enum { RECORD_HEAD = 24, RECORD_SIZE = 4, RECORD_KEY = 8, RECORD_DATA = 12, RECORD_STATE = 20 };
#define VERSION_6    0x2601196Du
#define STATE_USED   0x26011999u
#define STATE_FREE   0xD9FEE666u
#define STATE_DEAD   0xFEE1DEADu
#define STATE_UNUSED 0u          /* kept for what a crash would need */
#define STATE_MENDS  0xF53BC0E7u /* what a write that is under way would put back */

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

/* Ids are kept with their highest byte first in keys. */
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
                           state == STATE_MENDS;
        if (!known || !size || size > rest || (state == STATE_USED && (key > size || data > size - key)))
            break;
        f->at += RECORD_HEAD + size;
        if (state == STATE_USED && key == sizeof out->id && data) {
            *out = (struct samba_record){id_of(head + RECORD_HEAD), head + RECORD_HEAD + key, data};
            return true;
        }
    }
    f->damaged = f->at != f->size;
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
    /* Two bytes, of how it is encrypted and signed, stand between the name and the session, which begins at a multiple
       of 4. */
    const size_t session = (NAME + count + 2 + 3) & ~(size_t)3;
    if (record->size < session + 4)
        return false;
    *out = (struct samba_connection){(const char *)data + NAME, count - 1, get_u32(data + session)};
    return true;
}
