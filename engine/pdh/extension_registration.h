/* SPDX-License-Identifier: MIT */
/* Extension DLLs' counters: the files they are installed by, and what the registry holds of them. */
#ifndef OPENPLA_PDH_EXTENSION_REGISTRATION_H
#define OPENPLA_PDH_EXTENSION_REGISTRATION_H

#include "engine/base/text.h"

/* The files that an extension DLL's counters are installed by: an ini file with their names and help, and a header that
   says which number each symbol of it is (Microsoft's pages on creating a performance counter's .ini file). */

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

/* The names and the help of extension DLLs' counters, as they are registered below HKEY_LOCAL_MACHINE: numbers of
   SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib (Last Counter, Last Help), and in
   SYSTEM\CurrentControlSet\Services\NAME\Performance what of them is the service's (First Counter, Last Counter, First
   Help, Last Help, Object List). The texts, which Windows keeps in Perflib\009, stand there too, as lists
   (REG_MULTI_SZ: number, text, number, text ...) "Counter 009" and "Help 009": Wine lets nobody write the other. */
#define SERVICES_KEY       "SYSTEM\\CurrentControlSet\\Services"
#define COUNTERS_OF_SYSTEM 1846u /* the numbers up to here are Windows' own */

/* Gives the service's texts the next numbers: all is registered, or nothing. ERROR_FILE_NOT_FOUND's HRESULT: there is
   no key Performance of the service; ERROR_ALREADY_EXISTS's: it has numbers already. */
HRESULT extension_register(const struct extension_ini *ini);
/* Takes its numbers and texts away. ERROR_FILE_NOT_FOUND's HRESULT: there is no key Performance of the service;
   S_FALSE: it has no numbers. */
HRESULT extension_unregister(const char *service);
/* Loads its DLL from now on, or does not. ERROR_FILE_NOT_FOUND's HRESULT. */
HRESULT extension_enable(const char *service, bool enable);
/* Last Counter and Last Help become what the services' numbers say, where they had been lost or lowered. */
HRESULT extension_rebuild(void);

/* What is registered of a service. */
struct registered_extension {
    char *service;
    char *library, *open, *collect, *close;                      /* NULL: not there */
    uint32_t first_counter, last_counter, first_help, last_help; /* 0: not there */
    bool is_disabled;
};
struct registered_extensions {
    uint32_t last_counter, last_help; /* of Perflib */
    struct registered_extension *items;
    size_t count, capacity;
};
/* All services with a key Performance; `service` NULL, or that one alone: then ERROR_FILE_NOT_FOUND's HRESULT where it
   has none. *out is empty on failure. */
HRESULT registered_extensions_read(const char *service, struct registered_extensions *out);
void registered_extensions_free(struct registered_extensions *list);

#endif
