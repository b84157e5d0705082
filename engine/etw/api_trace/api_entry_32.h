/* SPDX-License-Identifier: MIT */
/* Machine code that loads openapitrace.dll in a 32-bit process, at the entry point or in a new thread. */
#ifndef OPENPLA_API_ENTRY_32_H
#define OPENPLA_API_ENTRY_32_H

#include "engine/base/wintypes.h"

#include <stddef.h>
#include <stdint.h>

enum { API_ENTRY_32_ROOM = 4096, API_ENTRY_32_KEPT = 16, API_ENTRY_32_PATH_MOST = 1024 };

/* The data that follow the code. */
struct api_entry_32 {
    uint32_t entry; /* address of the program's entry point */
    uint32_t done;  /* the code sets it to 1 after it has loaded the DLL and restored the entry point */
    uint8_t kept[API_ENTRY_32_KEPT];
    uint16_t path_bytes, path_room; /* these two and `path` form a UNICODE_STRING */
    uint32_t path;
    uint32_t module;
    WCHAR text[API_ENTRY_32_PATH_MOST];
};

/* Offsets from the beginning of the code. */
struct api_entry_32_places {
    uint32_t thread; /* start function of a thread that loads the DLL; returns 0 if loading fails */
    uint32_t done;
};

/* Writes the code and its data, to be copied to the address `at`. `entry` is the address of the entry point, `kept`
   contains the original bytes there, and `path` is the path of the DLL. Returns the number of bytes, or 0 if the path
   is too long. */
size_t api_entry_32_write(uint32_t at, uint32_t entry, const uint8_t kept[API_ENTRY_32_KEPT], const WCHAR *path,
                          uint8_t out[API_ENTRY_32_ROOM], struct api_entry_32_places *places);

#endif
