/* SPDX-License-Identifier: MIT */
/* The data in a program file about its own functions: the exports, function table and symbol table of a PE image, and
   the symbol tables of an ELF file. The file is untrusted. */
#ifndef OPENPLA_IMAGE_FILE_H
#define OPENPLA_IMAGE_FILE_H

#include "engine/etw/symbols/symbol_table.h"

enum { BUILD_ID = 20 }; /* bytes; linkers write 8 to 20 */

struct image_facts {
    uint32_t time, size; /* TimeDateStamp and SizeOfImage; 0 for an ELF file */
    bool has_symbols;    /* the next three members are known */
    GUID signature;
    uint32_t age;
    char symbols[260]; /* last part of the PDB's path */
    /* of an ELF file: */
    bool is_elf, has_symbol_table;
    uint64_t base;                   /* address of its first page */
    char build_id[2 * BUILD_ID + 1]; /* hexadecimal digits; "": none */
};
/* HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT) with a text: neither format. */
HRESULT image_read_facts(const uint8_t *bytes, size_t size, struct image_facts *out);
/* Adds the functions. Tables that are not in the file are skipped. E_OUTOFMEMORY. */
HRESULT image_read_symbols(const uint8_t *bytes, size_t size, struct symbol_table *out);

#endif
