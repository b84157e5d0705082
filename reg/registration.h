/* SPDX-License-Identifier: MIT */
/* Registration of openpla.dll and openplasrv.exe: the table of registration.def and the service, all or nothing.
   Every failure has an error text (engine/base/error.h). Needs the rights of an administrator. */
#ifndef OPENPLA_REGISTRATION_H
#define OPENPLA_REGISTRATION_H

#include "reg/registration_table.h"
#include "reg/registry_changes.h"

struct registration {
    const char *folder; /* UTF-8, without a separator at its end: where openpla.dll and openplasrv.exe are */
    bool service;       /* the classes are served by the service OpenPLA; else by a process that a client starts */
    bool replace;       /* take the classes' place from another module. Its values are kept below
                           HKLM\Software\OpenPLA\Replaced and put back by registration_remove */
    enum registration_mode mode;
    bool rows_only; /* the service is made and deleted by somebody else, an installer; removing stops it */
    bool start;     /* with the service: that it starts is part of registering */
};

/* Writes the table, then makes or updates the service (or removes it when not `service`). On failure registry and
   service are as they were before (but for the password of a service's account, service.h). Writing twice changes
   nothing more. With the service E_ACCESSDENIED for a folder that others can write (program_folder.h).
   ERROR_ALREADY_EXISTS when the classes belong to another module and `replace` is not set. */
HRESULT registration_write(const struct registration *what);
/* Stops and deletes the service and removes what the table says, as far as it is as registration_write(what) writes
   it: other values and keys stay. Goes on after a failure and returns the first. S_FALSE: another module, or nobody,
   is registered in this mode, and nothing was done. Where the other mode is registered from this folder too, the
   service and the rows that it needs stay. */
HRESULT registration_remove(const struct registration *what);

/* One value of the table with everything filled in. */
struct registration_row {
    char *root, *key, *name; /* key is the whole path below HKLM, root its shared start; name NULL: default value */
    bool key_only;           /* the key without a value */
    bool service;            /* only when registered with the service */
    bool narrow;             /* only when there is openpla.dll for 32-bit programs */
    struct registered_value value; /* not `exists` and not key_only: must be absent */
};
struct registration_rows {
    struct registration_row *items;
    size_t count, capacity;
};
/* registration_table as values of the registry. */
HRESULT registration_expand(enum registration_mode mode, const char *folder, struct registration_rows *out);
void registration_rows_free(struct registration_rows *rows);

#endif
