/* SPDX-License-Identifier: MIT */
/* Finds the names of functions in the images of a trace, from symbol files in folders that the user names. Nothing is
   downloaded, and no path from a trace is opened. */
#ifndef OPENPLA_SYMBOLS_H
#define OPENPLA_SYMBOLS_H

#include "engine/etw/code_places.h"

struct symbols;
/* `paths`: folders, or lists of folders separated by ';', as in _NT_SYMBOL_PATH. In a list, `srv*FOLDER*URL` and
   `cache*FOLDER` stand for their folders, and URLs are ignored. A folder either contains PDB files and images directly,
   or is a symbol store with one or two levels. Returns E_INVALIDARG, with an error text, if a folder does not exist. */
HRESULT symbols_open(const struct texts *paths, struct symbols **out);
/* Finds the function that contains the offset in the module. Reads the module's symbols when they are first needed.
   Returns false if the function is unknown. *name is valid until symbols_close. */
bool symbols_find(struct symbols *s, const struct code_module *m, uint64_t offset, const char **name, uint64_t *from);

struct symbols_count {
    size_t asked, found;   /* number of modules looked up, and number of these modules that have symbols */
    struct texts warnings; /* files that could not be used, and modules without symbols */
};
const struct symbols_count *symbols_count(const struct symbols *s); /* the result is borrowed */
void symbols_close(struct symbols *s);                              /* NULL is allowed */

#endif
