/* SPDX-License-Identifier: MIT */
/* Functions that the DWARF debug information of an ELF file describes, read by the host OS' libdw (elfutils). */
#ifndef OPENPLA_DWARF_FUNCTIONS_H
#define OPENPLA_DWARF_FUNCTIONS_H

#include "engine/etw/symbols/symbol_table.h"

/* Adds the functions; their offsets count from `base`, the address of the file's first page. libdw does not change the
   bytes. S_FALSE: the file has no DWARF, or libdw is not installed (under Windows it never is). E_OUTOFMEMORY;
   ERROR_INVALID_DATA: libdw rejects the file. */
HRESULT dwarf_read_functions(const uint8_t *bytes, size_t size, uint64_t base, struct symbol_table *out);

#endif
