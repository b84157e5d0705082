/* SPDX-License-Identifier: MIT */
/* Registration of openpla.dll and openplasrv.exe: the table of registration.def and the service, all or nothing.
   Every failure has an error text (engine/base/error.h). Needs the rights of an administrator. */
#ifndef OPENPLA_REGISTRATION_H
#define OPENPLA_REGISTRATION_H

#include "reg/registration_table.h"
#include "reg/registry_changes.h"

struct registration {
    const char *folder; /* UTF-8, without a trailing separator: the folder of openpla.dll and openplasrv.exe */
    bool service;       /* the service OpenPLA serves the classes; else a process that COM starts for a client */
    bool replace; /* replace another module's classes. Its values are saved below HKLM\Software\OpenPLA\Replaced and
                     restored by registration_remove */
    enum registration_mode mode;
    bool rows_only; /* an installer creates and deletes the service; removing only stops it */
    bool start;     /* with the service: start it too, and fail if it does not start */
};

/* Writes the table, then creates or updates the service (or removes it without `service`). On failure, registry and
   service are restored (except for the password of a service's account, see service.h). Writing twice has no further
   effect. With the service, E_ACCESSDENIED for a folder that others can write (program_folder.h). ERROR_ALREADY_EXISTS
   if the classes belong to another module and `replace` is not set. */
HRESULT registration_write(const struct registration *what);
/* Stops and deletes the service, and removes the table's values that equal those of registration_write(what): other
   values and keys stay. Continues after a failure and returns the first one. S_FALSE: no module or another one is
   registered in this mode, and nothing was done. If the other mode is registered from this folder too, the service and
   the rows it needs stay. */
HRESULT registration_remove(const struct registration *what);

/* A value of the table with all placeholders filled in. */
struct registration_row {
    char *root, *key, *name; /* key is the whole path below HKLM, root its shared start; name NULL: default value */
    bool key_only;           /* the key without a value */
    bool service;            /* only when registered with the service */
    bool narrow;             /* only if openpla.dll for 32-bit programs is installed */
    struct registered_value value; /* if neither `exists` nor key_only is set, the value must be absent */
};
struct registration_rows {
    struct registration_row *items;
    size_t count, capacity;
};
/* Returns the rows of registration_table as registry values. */
HRESULT registration_expand(enum registration_mode mode, const char *folder, struct registration_rows *out);
void registration_rows_free(struct registration_rows *rows);

#endif
