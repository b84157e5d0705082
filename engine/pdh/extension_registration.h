/* SPDX-License-Identifier: MIT */
/* Installation files of performance extension DLLs, and the registration of their counters in the registry. */
#ifndef OPENPLA_PDH_EXTENSION_REGISTRATION_H
#define OPENPLA_PDH_EXTENSION_REGISTRATION_H

#include "engine/base/text.h"

/* The two installation files of an extension DLL: an ini file with names and help, and a header that defines the number
   of each symbol. Microsoft documents these two files under "Creating a performance counter's .ini file". */

/* A name or help string. The number of a name is `offset` plus the DLL's First Counter; the number of a help string is
   `offset` plus First Help. */
struct extension_text {
    uint32_t offset; /* always an even number */
    uint32_t line;   /* line in the ini file */
    bool is_help;
    size_t language; /* index in `languages` */
    char *text;
};
struct extension_ini {
    char *service;          /* the key `drivername` */
    char *symbol_file;      /* as written in the ini file */
    struct texts languages; /* three digits each, such as "009" */
    struct texts objects;   /* the numbers of the symbols in [objects] as strings, without duplicates; may be empty */
    struct extension_text *items; /* sorted by language, then names before help, then by number */
    size_t count, capacity;
    uint32_t last; /* the highest offset */
};

enum { EXTENSION_MOST_BYTES = 4 << 20 /* of each file */, EXTENSION_MOST_OFFSET = 65534 };
#define EXTENSION_INVALID HRESULT_FROM_WIN32(ERROR_INVALID_DATA)

/* Reads only section [info]: the header file's name and the service. `ini`, and `symbols` of extension_ini_read, are
   UTF-8 and end with a NUL. Fails with EXTENSION_INVALID and a message with line, key and value; *out is then empty. */
HRESULT extension_ini_begin(const char *ini, struct extension_ini *out);
/* Reads the other sections. `symbols` is the text of the header file. On failure *out is unchanged. */
HRESULT extension_ini_read(const char *ini, const char *symbols, struct extension_ini *out);
void extension_ini_free(struct extension_ini *out);

/* The registration below HKEY_LOCAL_MACHINE. SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib has the highest
   numbers (Last Counter, Last Help); SYSTEM\CurrentControlSet\Services\NAME\Performance has the numbers of a service
   (First Counter, Last Counter, First Help, Last Help, Object List). Windows keeps the strings in Perflib\009, which
   Wine does not allow programs to write. Therefore this engine stores the strings in two values of the service's key,
   "Counter 009" and "Help 009". These values have the type REG_MULTI_SZ and contain number, string, number, string
   ... */
#define SERVICES_KEY       "SYSTEM\\CurrentControlSet\\Services"
#define COUNTERS_OF_SYSTEM 1846u /* the highest number that Windows' own counters use */

/* Registers the service's strings under the next free numbers, all or none. Fails with
   HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if the service has no key Performance, and with
   HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if the service already has numbers. */
HRESULT extension_register(const struct extension_ini *ini);
/* Removes the service's numbers and strings. S_FALSE if the service has no numbers;
   HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if the service has no key Performance. */
HRESULT extension_unregister(const char *service);
/* Enables or disables loading of the service's DLL. Fails with HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if the service
   has no key Performance. */
HRESULT extension_enable(const char *service, bool enable);
/* Recomputes Last Counter and Last Help from the numbers of all services, in case they were lost or lowered. */
HRESULT extension_rebuild(void);

/* The registration of one service. */
struct registered_extension {
    char *service;
    char *library, *open, *collect, *close;                      /* NULL: not registered */
    uint32_t first_counter, last_counter, first_help, last_help; /* 0: not registered */
    bool is_disabled;
};
struct registered_extensions {
    uint32_t last_counter, last_help; /* the values of the key Perflib */
    struct registered_extension *items;
    size_t count, capacity;
};
/* Reads all services that have a key Performance, or only `service` if it is not NULL. Fails with
   HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if that service has no such key. *out is empty on failure. */
HRESULT registered_extensions_read(const char *service, struct registered_extensions *out);
void registered_extensions_free(struct registered_extensions *list);

#endif
