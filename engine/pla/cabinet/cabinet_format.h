/* SPDX-License-Identifier: MIT */
/* Where what stands in a cabinet: MS-CAB, all numbers little endian. */
#ifndef OPENPLA_CABINET_FORMAT_H
#define OPENPLA_CABINET_FORMAT_H

#include <stddef.h>
#include <stdint.h>

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

#endif
