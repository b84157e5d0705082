/* SPDX-License-Identifier: MIT */
/* Compares the registration with the table. Only reads. */
#ifndef OPENPLA_REGISTRATION_CHECK_H
#define OPENPLA_REGISTRATION_CHECK_H

#include "reg/registration.h"

/* Finds the program that serves the classes: *server is its registered path, UTF-8, from memory_alloc. If the classes
   are not registered, returns S_FALSE, and *server is NULL. */
HRESULT registration_find_server(enum registration_mode mode, char **server);

/* Returns the registered mode: REGISTRATION_BESIDE if its classes are registered and no server of ours has replaced
   Windows' classes, otherwise REGISTRATION_DROPIN. */
enum registration_mode registration_mode_here(void);

/* Whether the AppID of this mode names the service. */
HRESULT registration_is_by_service(enum registration_mode mode, bool *out);

/* A row of the table that differs in the registry. */
struct registration_fault {
    const char *key, *name;    /* name "": the default value */
    const char *is, *expected; /* texts; NULL: absent */
    bool narrow;               /* a row for 32-bit programs */
};
/* Calls `each` for each differing row until one call fails. `service`: the service serves the classes. Rows of 32-bit
   programs are checked if openpla.dll for them is in the folder. */
HRESULT registration_compare(enum registration_mode mode, const char *folder, bool service,
                             HRESULT (*each)(void *user, const struct registration_fault *fault), void *user);

#endif
