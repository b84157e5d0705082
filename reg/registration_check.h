/* SPDX-License-Identifier: MIT */
/* Whether what is registered is as the table says. Reads alone. */
#ifndef OPENPLA_REGISTRATION_CHECK_H
#define OPENPLA_REGISTRATION_CHECK_H

#include "reg/registration.h"

/* The program that serves the classes: *server is its path as it is registered, UTF-8, from memory_alloc. S_FALSE, and
 *server NULL: the classes are not registered. */
HRESULT registration_find_server(enum registration_mode mode, char **server);

/* Which of our classes are registered here: beside Windows' own where they are and no server of ours has Windows'
   place, else those in its place. */
enum registration_mode registration_mode_here(void);

/* Whether the AppID of this mode names the service. */
HRESULT registration_is_by_service(enum registration_mode mode, bool *out);

/* A row of the table that is not so in the registry. */
struct registration_fault {
    const char *key, *name;    /* name "": the default value */
    const char *is, *expected; /* texts; NULL: absent */
    bool narrow;               /* of 32-bit programs */
};
/* Calls `each` for them, until one call fails. `service`: the classes are served by the service. Rows of 32-bit
   programs are asked where openpla.dll for them is in the folder. */
HRESULT registration_compare(enum registration_mode mode, const char *folder, bool service,
                             HRESULT (*each)(void *user, const struct registration_fault *fault), void *user);

#endif
