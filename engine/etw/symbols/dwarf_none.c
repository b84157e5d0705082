/* SPDX-License-Identifier: MIT */
/* Replaces dwarf_functions.c on Windows and Wine, which have no libdw. */
#include "engine/etw/symbols/dwarf_functions.h"

HRESULT dwarf_read_functions(const uint8_t *bytes, size_t size, uint64_t base, struct symbol_table *out)
{
    (void)bytes, (void)size, (void)base, (void)out;
    return S_FALSE;
}
