/* SPDX-License-Identifier: MIT */
/* Writes the databases of a Samba server below an artificial root, in the formats of Samba 4.17 and 4.22. */
#ifndef OPENPLA_SAMBA_ROOT_H
#define OPENPLA_SAMBA_ROOT_H

#include "engine/logs/little_endian.h"
#include "tests/unit/kernel_root.h"

enum { SAMBA_PLACES = 7, SAMBA_LOCKS = 512, SAMBA_FIRST = SAMBA_LOCKS + 168 + (SAMBA_PLACES + 1) * 4 };
#define SAMBA_USED 0x26011999u
#define SAMBA_FREE 0xD9FEE666u

struct samba_bytes {
    uint8_t bytes[8192];
    size_t size;
};

static inline void samba_begin(struct samba_bytes *b)
{
    *b = (struct samba_bytes){.size = SAMBA_FIRST};
    memcpy(b->bytes, "TDB file\n", 9);
    put_u32(b->bytes + 32, 0x2601196D);
    put_u32(b->bytes + 36, SAMBA_PLACES);
    put_u32(b->bytes + 60, 1);
    put_u32(b->bytes + 64, SAMBA_LOCKS);
}

/* Adds a record with unused space after its data, as Samba's records have. */
static inline uint8_t *samba_add(struct samba_bytes *b, uint32_t state, uint32_t id, const void *data, size_t size)
{
    uint8_t *head = b->bytes + b->size;
    assert_true(b->size + 24 + 4 + size + 8 <= sizeof b->bytes);
    put_u32(head + 4, (uint32_t)size + 4 + 8);
    put_u32(head + 8, 4);
    put_u32(head + 12, (uint32_t)size);
    put_u32(head + 20, state);
    for (int i = 0; i < 4; i++)
        head[24 + i] = (uint8_t)(id >> (24 - 8 * i));
    memcpy(head + 28, data, size);
    b->size += 24 + 4 + size + 8;
    return head;
}

/* Fills `data` with the record of a client's connection to a share. Returns the record's size. */
static inline size_t samba_connection(uint8_t *data, uint32_t id, const char *share, uint32_t session)
{
    const size_t count = strlen(share) + 1, behind = (76 + count + 2 + 3) & ~(size_t)3;
    memset(data, 0, behind + 5);
    put_u32(data + 4, 2);
    put_u32(data + 12, 0x20000);
    put_u32(data + 20, id);
    put_u32(data + 24, id);
    put_u32(data + 64, (uint32_t)count);
    put_u32(data + 72, (uint32_t)count);
    memcpy(data + 76, share, count);
    put_u32(data + behind, session);
    data[behind + 4] = 4;
    return behind + 5;
}

static inline void samba_store(const struct kernel_root *r, const char *name, const struct samba_bytes *b)
{
    char *path = text_format("/run/samba/smbXsrv_%s_global.tdb", name);
    kernel_root_write_bytes(r, path, b->bytes, b->size);
    memory_free(path);
}

/* Writes the databases of a server with these numbers of sessions and open files. All sessions are connected to "two
   words", and all except the first also to "data". The server's process id is 9. */
static inline void samba_write(const struct kernel_root *r, uint32_t sessions, uint32_t files)
{
    struct samba_bytes b;
    uint8_t data[256] = {0};
    kernel_root_write(r, "/run/samba/smbd.pid", "9\n");
    kernel_root_write(r, "/proc/9/comm", "smbd\n");
    samba_begin(&b);
    for (uint32_t i = 0; i < sessions; i++)
        samba_add(&b, SAMBA_USED, 0xF0000001 + i, data, 90);
    samba_store(r, "session", &b);
    samba_begin(&b);
    samba_add(&b, SAMBA_FREE, 0, data, 50);
    for (uint32_t i = 0; i < files; i++)
        samba_add(&b, SAMBA_USED, 0x7000 + i, data, 248);
    samba_store(r, "open", &b);
    samba_begin(&b);
    for (uint32_t i = 0; i < sessions; i++) {
        const uint32_t id = 0x80000000 + i, session = 0xF0000001 + i;
        samba_add(&b, SAMBA_USED, id, data, samba_connection(data, id, "two words", session));
        if (i)
            samba_add(&b, SAMBA_USED, id + 256, data, samba_connection(data, id + 256, "data", session));
        samba_add(&b, SAMBA_FREE, 0, data, 60);
    }
    samba_store(r, "tcon", &b);
}

#endif
