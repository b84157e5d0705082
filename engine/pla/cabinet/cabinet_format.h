/* SPDX-License-Identifier: MIT */
/* Private header of cabinets (MS-CAB): the layout of a cabinet, names of entries, the reader, the packers, and MSZIP
   compression. All numbers in a cabinet are little-endian. */
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

/* Sizes of the structures, not counting names and reserved bytes, and offsets of their fields. */
enum {
    CABINET_HEADER_BYTES = 36,
    HEADER_SIZE = 8,      /* u32, size of the cabinet */
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
    FILE_OFFSET = 4,      /* u32, position in the folder's unpacked bytes */
    FILE_FOLDER = 8,      /* u16 */
    FILE_DATE = 10,       /* u16, DOS format */
    FILE_TIME = 12,       /* u16 */
    FILE_ATTRIBUTES = 14, /* u16 */
    CABINET_BLOCK_BYTES = 8,
    BLOCK_CHECKSUM = 0, /* u32; 0: none */
    BLOCK_PACKED = 4,   /* u16, bytes of packed data */
    BLOCK_UNPACKED = 6, /* u16 */
};
enum {
    CABINET_HAS_PREVIOUS = 1,
    CABINET_HAS_NEXT = 2,
    CABINET_HAS_RESERVE = 4,
    CABINET_RESERVE_BYTES = 4, /* sizes of the reserved areas: u16 of the header, u8 of a folder, u8 of a block */
    CABINET_PACKING_MASK = 0x0F,
    CABINET_STORED = 0,
    CABINET_MSZIP = 1,
    CABINET_NAME_IS_UTF8 = 0x80, /* attribute bit with this meaning only in cabinets */
    CABINET_NAME_BYTES = 255,
    CABINET_BLOCK_MAX = 32768,                   /* unpacked bytes per block */
    CABINET_PACKED_MAX = CABINET_BLOCK_MAX + 12, /* with MSZIP */
    CABINET_BLOCKS_MAX = 65535,                  /* blocks per folder */
    CABINET_DEPTH_MAX = 32                       /* nested folders in a name */
};

/* Computes a checksum like CSUMCompute in MS-CAB. For a block, call it first for the data, then for the two lengths. */
uint32_t cabinet_checksum(const uint8_t *bytes, size_t size, uint32_t seed);

/* Convert a local FILETIME to DOS date and time, which have steps of 2 s, and back. A time before 1980 or after 2107
   becomes the nearest valid time; an invalid DOS time becomes 0. */
void cabinet_dos_time(int64_t local, uint16_t *date, uint16_t *time);
int64_t cabinet_time_of_dos(uint16_t date, uint16_t time);

/* ---- names of entries: checked before they are used ---- */

/* Returns why the name (UTF-8, with / or \) is not safe, as a static string; NULL: the name is safe. A safe name stays
   below its folder on every host OS. */
const char *cabinet_name_fault(const char *name);
/* Returns a copy with '/' as separator, from memory_alloc. */
char *cabinet_name_copy(const char *name);
/* Returns a printable form of a rejected name: every byte that is not printable ASCII becomes \xNN. From
   memory_alloc. */
char *cabinet_name_shown(const char *name);

/* Searches for conflicts between names. S_OK: no conflict. S_FALSE: *first and *second are the indexes of two names in
   conflict. Either the two names are equal regardless of case, or the first name is a path that has the second name as
   one of its folders. E_OUTOFMEMORY. */
HRESULT cabinet_names_clash(const char *const *names, size_t count, size_t *first, size_t *second);

/* ---- a validated cabinet: its contents, and how to visit all its bytes in order ---- */

struct cabinet_folder {
    uint32_t data_at;
    uint16_t blocks, packing;
    size_t first, files; /* index of the first entry, number of entries; entries are sorted by position */
};
struct cabinet_place {
    uint32_t offset; /* position in the unpacked bytes of the folder */
    size_t folder;
};
struct cabinet {
    struct file *file;
    bool owned;
    char *name;
    struct cabinet_entry *entries;
    struct cabinet_place *places; /* one for each entry */
    size_t count;
    struct cabinet_folder *folders;
    size_t folder_count;
    size_t block_reserve; /* bytes between a block's header and its data */
    uint64_t bytes;       /* total size of all entries */
};

/* Returns PLA_E_CABAPI_FAILURE with an error text that contains the cabinet's name and the problem. */
HRESULT cabinet_fault(const struct cabinet *c, const char *what);

/* Receives the entries. For each entry, `begin` is called, then `bytes` for each piece of its data, then `end`. If one
   of these calls fails, cabinet_visit ends and returns that error. */
struct cabinet_visitor {
    HRESULT (*begin)(void *user, size_t entry);
    HRESULT (*bytes)(void *user, size_t entry, const uint8_t *data, size_t size);
    HRESULT (*end)(void *user, size_t entry);
    void *user;
};
/* Unpacks all entries and verifies the checksums. After a failure the caller must clean up an entry that was begun but
   not ended. */
HRESULT cabinet_visit(struct cabinet *c, const struct cabinet_visitor *visitor, const struct cabinet_watch *watch);

/* The default limits. */
extern const struct cabinet_limits cabinet_limits_usual;

/* Reports progress to the watch, which may be NULL. HRESULT_FROM_WIN32(ERROR_CANCELLED): the watch cancelled the
   operation. */
HRESULT cabinet_go_on(const struct cabinet_watch *watch, uint64_t done, uint64_t whole);

/* ---- packing: shared by both packers ---- */

struct packing {
    const struct cabinet_source *source;
    struct file *out;
    const struct cabinet_watch *watch;
    uint64_t whole, done; /* bytes of all members; bytes read so far */
};

/* Fields of a member's CFFILE structure. */
struct packed_row {
    uint16_t date, time, attributes;
};
struct packed_row packing_row(const struct cabinet_member *member);
/* Reads `size` bytes of the member from its open file `in`, counts them, and reports progress. PLA_E_CABAPI_FAILURE:
   the file is too short. */
HRESULT packing_read(struct packing *p, size_t member, struct file *in, uint64_t at, void *data, size_t size);
/* Returns whether the member starts a new folder of the cabinet, if the current folder already contains `taken`
   bytes. */
bool packing_begins_folder(const struct cabinet_member *member, uint64_t taken);
HRESULT packing_too_large(void);

/* Writes all members, whose names and sizes have been validated. Each host OS has its own implementation. */
HRESULT packing_write(struct packing *p);

/* ---- MSZIP with zlib and OpenPLA's memory functions ---- */

/* Call before deflateInit or inflateInit, so that zlib uses engine/base/memory.h. */
void mszip_memory(z_stream *z);

/* Zero-initialise. mszip_unpack initialises it on first use. mszip_end may also be called for a zeroed struct. */
struct mszip {
    z_stream z;
};
/* Unpacks one block's stream (RFC 1951) from `in` to exactly `wanted` bytes at `out`. The stream may refer to the
   `history` bytes before `out`, at most 32,768. S_FALSE: the stream is malformed or does not have `wanted` bytes; the
   output is then undefined, but never exceeds `wanted`. Ignores bytes after the stream. */
HRESULT mszip_unpack(struct mszip *m, const uint8_t *in, size_t size, uint8_t *out, size_t wanted, size_t history);
void mszip_end(struct mszip *m);

#endif
