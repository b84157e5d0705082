/* SPDX-License-Identifier: MIT */
/* Reads the functions of a PDB file in the format that compilers have written since 2002 (MSF 7.00). Written from
   LLVM's description of the format. The file is untrusted. */
#ifndef OPENPLA_PDB_FILE_H
#define OPENPLA_PDB_FILE_H

#include "engine/etw/symbols/symbol_table.h"

/* Reads exactly `size` bytes at an offset. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if there are fewer. */
struct pdb_source {
    HRESULT (*read)(void *context, uint64_t offset, void *bytes, size_t size);
    void *context;
    uint64_t size;
};
struct pdb_identity {
    GUID signature;
    uint32_t age;      /* age in the DBI stream; an image that refers to the PDB contains this age */
    uint32_t file_age; /* age in the PDB stream */
};
/* Reads the identity. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with an error text if the file is not a PDB file
   or is corrupt. Other errors: E_OUTOFMEMORY. */
HRESULT pdb_read_identity(const struct pdb_source *source, struct pdb_identity *out);
/* Adds all functions to the table; after a failure, the table has those that could be read. */
HRESULT pdb_read_symbols(const struct pdb_source *source, struct symbol_table *out);

#endif
