/* SPDX-License-Identifier: MIT */
/* The code with which 32-bit processes load openapitrace.dll, at their entry point or in a thread. */
#ifndef OPENPLA_API_ENTRY_32_H
#define OPENPLA_API_ENTRY_32_H

#include "engine/base/wintypes.h"

#include <stddef.h>
#include <stdint.h>

enum { API_ENTRY_32_ROOM = 4096, API_ENTRY_32_JUMP = 5, API_ENTRY_32_KEPT = 16, API_ENTRY_32_PATH_MOST = 1024 };

/* What lies behind the code. */
struct api_entry_32 {
    uint32_t entry; /* address of the program's entry point */
    uint32_t done;  /* becomes 1 when the DLL is loaded and the entry point is as it was */
    uint8_t kept[API_ENTRY_32_KEPT];
    uint16_t path_bytes, path_room; /* UNICODE_STRING */
    uint32_t path;
    uint32_t module;
    WCHAR text[API_ENTRY_32_PATH_MOST];
};

/* Offsets from `at`. */
struct api_entry_32_places {
    uint32_t thread; /* a thread's function; its result is 0 if the DLL cannot be loaded */
    uint32_t done;
};

/* The code and its data, for the address `at`, with the path of the DLL. Returns the bytes; 0: the path is too long. */
size_t api_entry_32_write(uint32_t at, uint32_t entry, const uint8_t kept[API_ENTRY_32_KEPT], const WCHAR *path,
                          uint8_t out[API_ENTRY_32_ROOM], struct api_entry_32_places *places);
/* The jump to `at` that takes the place of the program's first bytes. */
void api_entry_32_jump(uint32_t at, uint32_t entry, uint8_t out[API_ENTRY_32_JUMP]);

#endif
