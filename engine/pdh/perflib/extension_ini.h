/* SPDX-License-Identifier: MIT */
/* The files that an extension DLL's counters are installed by: an ini file with their names and help, and a header that
   says which number each symbol of it is (Microsoft's pages on creating a performance counter's .ini file). */
#ifndef OPENPLA_EXTENSION_INI_H
#define OPENPLA_EXTENSION_INI_H

#include "engine/base/text.h"

/* A name or a help of the number that the DLL counts from its First Counter or First Help on. */
struct extension_text {
    uint32_t offset; /* even */
    uint32_t line;   /* of the ini file */
    bool is_help;
    size_t language; /* which of `languages` */
    char *text;
};
struct extension_ini {
    char *service;                /* drivername */
    char *symbol_file;            /* as it is written */
    struct texts languages;       /* "009", three digits */
    struct texts objects;         /* symbols' numbers of [objects], as text, without doubles; may be empty */
    struct extension_text *items; /* by language, name before help, number */
    size_t count, capacity;
    uint32_t last; /* the highest offset */
};

enum { EXTENSION_MOST_BYTES = 4 << 20 /* of either file */, EXTENSION_MOST_OFFSET = 65534 };
#define EXTENSION_INVALID HRESULT_FROM_WIN32(ERROR_INVALID_DATA)

/* The header's name and the service alone, which stand in [info]. Both files are UTF-8, with their NUL.
   EXTENSION_INVALID with the line, the key and the value. *out is empty on failure. */
HRESULT extension_ini_begin(const char *ini, struct extension_ini *out);
/* The rest. `symbols` is the header. On failure *out is as it was. */
HRESULT extension_ini_read(const char *ini, const char *symbols, struct extension_ini *out);
void extension_ini_free(struct extension_ini *out);

#endif
