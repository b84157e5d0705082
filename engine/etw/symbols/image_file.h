/* SPDX-License-Identifier: MIT */
/* Reads the data that a program file has about its functions: the exports, function table and symbol table of a PE
   image, and the symbol tables of an ELF file. The file is untrusted. */
#ifndef OPENPLA_IMAGE_FILE_H
#define OPENPLA_IMAGE_FILE_H

#include "engine/etw/symbols/symbol_table.h"

enum { BUILD_ID = 20 }; /* maximum size in bytes; linkers write 8 to 20 */

struct image_facts {
    uint32_t time, size; /* TimeDateStamp and SizeOfImage; 0 for an ELF file */
    bool has_symbols;    /* the next three members are known */
    GUID signature;
    uint32_t age;
    char symbols[260]; /* last part of the PDB's path */
    /* For ELF files: */
    bool is_elf, has_symbol_table;
    uint64_t base;                   /* address of the file's first page */
    char build_id[2 * BUILD_ID + 1]; /* hexadecimal digits; "": no build id */
};
/* Reads the facts about the file. Returns HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT) with an error text if the file is
   neither PE nor ELF. */
HRESULT image_read_facts(const uint8_t *bytes, size_t size, struct image_facts *out);
/* Adds the functions. Skips tables that are not completely in the file. Errors: E_OUTOFMEMORY. */
HRESULT image_read_symbols(const uint8_t *bytes, size_t size, struct symbol_table *out);

#endif
