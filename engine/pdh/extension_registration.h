/* SPDX-License-Identifier: MIT */
/* The names and the help of extension DLLs' counters, as they are registered below HKEY_LOCAL_MACHINE: numbers of
   SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib (Last Counter, Last Help), and in
   SYSTEM\CurrentControlSet\Services\NAME\Performance what of them is the service's (First Counter, Last Counter, First
   Help, Last Help, Object List). The texts, which Windows keeps in Perflib\009, stand there too, as lists
   (REG_MULTI_SZ: number, text, number, text ...) "Counter 009" and "Help 009": Wine lets nobody write the other. */
#ifndef OPENPLA_EXTENSION_REGISTRATION_H
#define OPENPLA_EXTENSION_REGISTRATION_H

#include "engine/pdh/perflib/extension_ini.h"

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
