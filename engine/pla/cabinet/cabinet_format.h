/* SPDX-License-Identifier: MIT */
/* The private header of cabinets (MS-CAB): the layout of a cabinet with all numbers little endian, names of its
   entries, the reader, the packer, and the compression MSZIP. */
#ifndef OPENPLA_CABINET_FORMAT_H
#define OPENPLA_CABINET_FORMAT_H

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/pla/cabinet.h"

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/* ---- layout ---- */

#define CABINET_SIGNATURE 0x4643534Du /* "MSCF" */

/* Parts without their names and reserved bytes, and where their fields are in them. */
enum {
    CABINET_HEADER_BYTES = 36,
    HEADER_SIZE = 8,      /* u32, of the cabinet */
    HEADER_FILES_AT = 16, /* u32 */
    HEADER_VERSION = 24,  /* u8 minor, u8 major: 1.3 */
    HEADER_FOLDERS = 26,  /* u16 */
    HEADER_FILES = 28,    /* u16 */
    HEADER_FLAGS = 30,    /* u16 */
    CABINET_FOLDER_BYTES = 8,
    FOLDER_DATA_AT = 0, /* u32 */
    FOLDER_BLOCKS = 4,  /* u16 */
    FOLDER_PACKING = 6, /* u16 */
    CABINET_FILE_BYTES = 16,
    FILE_SIZE = 0,        /* u32, bytes */
    FILE_OFFSET = 4,      /* u32, in what the folder unpacks to */
    FILE_FOLDER = 8,      /* u16 */
    FILE_DATE = 10,       /* u16, as DOS has it */
    FILE_TIME = 12,       /* u16 */
    FILE_ATTRIBUTES = 14, /* u16 */
    CABINET_BLOCK_BYTES = 8,
    BLOCK_CHECKSUM = 0, /* u32; 0: none */
    BLOCK_PACKED = 4,   /* u16, bytes that follow */
    BLOCK_UNPACKED = 6, /* u16 */
};
enum {
    CABINET_HAS_PREVIOUS = 1,
    CABINET_HAS_NEXT = 2,
    CABINET_HAS_RESERVE = 4,
    CABINET_RESERVE_BYTES = 4, /* u16 of the header, u8 of each folder, u8 of each block */
    CABINET_PACKING_MASK = 0x0F,
    CABINET_STORED = 0,
    CABINET_MSZIP = 1,
    CABINET_NAME_IS_UTF8 = 0x80, /* beside Windows' attributes */
    CABINET_NAME_BYTES = 255,
    CABINET_BLOCK_MAX = 32768,                   /* bytes of one block, unpacked */
    CABINET_PACKED_MAX = CABINET_BLOCK_MAX + 12, /* MSZIP's */
    CABINET_BLOCKS_MAX = 65535,                  /* of one folder */
    CABINET_DEPTH_MAX = 32                       /* folders in a name */
};

/* Of the bytes of a block, then of its two lengths: MS-CAB's CSUMCompute. */
uint32_t cabinet_checksum(const uint8_t *bytes, size_t size, uint32_t seed);

/* A local FILETIME as DOS' date and time, in steps of 2 s, and back. Before 1980 and after 2107 the nearest that there
   is; what is no time is 0. */
void cabinet_dos_time(int64_t local, uint16_t *date, uint16_t *time);
int64_t cabinet_time_of_dos(uint16_t date, uint16_t time);

/* ---- names of entries: checked before anything is created by them ---- */

/* Why these names, UTF-8 with either separator, are no place below a folder on every host: static text, NULL where
   nothing is wrong. */
const char *cabinet_name_fault(const char *name);
/* The name with '/' for every separator, from memory_alloc. */
char *cabinet_name_copy(const char *name);
/* Of a name that was refused, what can be shown: what is not plain ASCII becomes \\xNN. From memory_alloc. */
char *cabinet_name_shown(const char *name);

/* What two entries cannot both be: S_OK: none are. S_FALSE: *first and *second, indices into names, are the same name
   without case, or the second is a folder in the way of the first. E_OUTOFMEMORY. */
HRESULT cabinet_names_clash(const char *const *names, size_t count, size_t *first, size_t *second);

/* ---- a checked cabinet: what is in it, and all its bytes in the order in which they stand ---- */

struct cabinet_folder {
    uint32_t data_at;
    uint16_t blocks, packing;
    size_t first, files; /* entries, which stand in the order of their bytes */
};
struct cabinet_place {
    uint32_t offset; /* in its folder's bytes */
    size_t folder;
};
struct cabinet {
    struct file *file;
    bool owned;
    char *name;
    struct cabinet_entry *entries;
    struct cabinet_place *places; /* of the entries */
    size_t count;
    struct cabinet_folder *folders;
    size_t folder_count;
    size_t block_reserve; /* bytes between a block's head and its bytes */
    uint64_t bytes;       /* of all entries */
};

/* What is wrong with the cabinet: PLA_E_CABAPI_FAILURE and its name. */
HRESULT cabinet_fault(const struct cabinet *c, const char *what);

/* Told of each entry: begin, its bytes piece by piece, end. A failure ends the walk and is returned. */
struct cabinet_visitor {
    HRESULT (*begin)(void *user, size_t entry);
    HRESULT (*bytes)(void *user, size_t entry, const uint8_t *data, size_t size);
    HRESULT (*end)(void *user, size_t entry);
    void *user;
};
/* Unpacks all of it, checksums checked. An entry that was begun and not ended is left to the visitor's user. */
HRESULT cabinet_visit(struct cabinet *c, const struct cabinet_visitor *visitor, const struct cabinet_watch *watch);

/* Of a cabinet that nobody says anything about. */
extern const struct cabinet_limits cabinet_limits_usual;

/* Asks the watch: ERROR_CANCELLED's HRESULT. */
HRESULT cabinet_go_on(const struct cabinet_watch *watch, uint64_t done, uint64_t whole);

/* ---- packing: what both packers share ---- */

struct packing {
    const struct cabinet_source *source;
    struct file *out;
    const struct cabinet_watch *watch;
    uint64_t whole, done; /* bytes of the members */
};

/* What stands of a member in its CFFILE row. */
struct packed_row {
    uint16_t date, time, attributes;
};
struct packed_row packing_row(const struct cabinet_member *member);
/* `size` bytes of the member, which was opened as `in`; PLA_E_CABAPI_FAILURE when there are fewer. Counts them, and
   asks the watch. */
HRESULT packing_read(struct packing *p, size_t member, struct file *in, uint64_t at, void *data, size_t size);
/* Whether a new folder begins with the member, where `taken` bytes are in the one before. */
bool packing_begins_folder(const struct cabinet_member *member, uint64_t taken);
HRESULT packing_too_large(void);

/* By the host's packer: all members, whose names and sizes have been judged. */
HRESULT packing_write(struct packing *p);

/* ---- MSZIP by zlib, which uses our memory ---- */

/* Before deflateInit or inflateInit: zlib's memory is engine/base/memory.h's from then on. */
void mszip_memory(z_stream *z);

/* All zeros before mszip_unpack, which makes it ready once; mszip_end after it, of all zeros too. */
struct mszip {
    z_stream z;
};
/* One block's whole stream (RFC 1951) at `in`, which gives exactly `wanted` bytes at `out`; the `history` bytes before
   `out`, at most 32,768, may be referred to. S_FALSE: it is malformed, or gives another number of bytes; then out has
   any bytes, but no more than `wanted` were written. What follows the stream is not looked at. */
HRESULT mszip_unpack(struct mszip *m, const uint8_t *in, size_t size, uint8_t *out, size_t wanted, size_t history);
void mszip_end(struct mszip *m);

#endif
