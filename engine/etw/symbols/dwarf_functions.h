/* SPDX-License-Identifier: MIT */
/* Reads the functions in the DWARF debug information of an ELF file with the host OS's libdw (elfutils). */
#ifndef OPENPLA_DWARF_FUNCTIONS_H
#define OPENPLA_DWARF_FUNCTIONS_H

#include "engine/etw/symbols/symbol_table.h"

/* Adds the functions. Their offsets are relative to `base`, the address of the file's first page. libdw does not change
   `bytes`. Returns S_FALSE if the file has no DWARF, or if libdw is not installed (it never is on Windows). Returns
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if libdw rejects the file, and E_OUTOFMEMORY if memory runs out. */
HRESULT dwarf_read_functions(const uint8_t *bytes, size_t size, uint64_t base, struct symbol_table *out);

#endif
