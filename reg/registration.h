/* SPDX-License-Identifier: MIT */
/* Registration of openpla.dll and openplasrv.exe: the table of registration.def and the service, all or nothing.
   Every failure has an error text (engine/os/error.h). Needs the rights of an administrator. */
#ifndef OPENPLA_REGISTRATION_H
#define OPENPLA_REGISTRATION_H

#include "reg/registry_changes.h"

/* The folder below the server's where openpla.dll and openpdh.dll for 32-bit programs are, if they are. */
#define OPENPLA_FOLDER_32 "x86"
#define OPENPLA_APPID     "{03837503-098B-11D8-9414-505054503030}"

struct registration {
    const char *folder; /* UTF-8, without a separator at its end: where openpla.dll and openplasrv.exe are */
    bool service;       /* the classes are served by the service OpenPLA; else by a process that a client starts */
    bool replace;       /* take the classes' place from another module. Its values are kept below
                           HKLM\Software\OpenPLA\Replaced and put back by registration_remove */
};

/* Writes the table, then makes or updates the service (or removes it when not `service`). On failure the registry is
   as it was before. Writing twice changes nothing more. With the service E_ACCESSDENIED for a folder that others can
   write (program_folder.h). ERROR_ALREADY_EXISTS when the classes belong to another module
   and `replace` is not set. */
HRESULT registration_write(const struct registration *what);
/* Stops and deletes the service and removes what the table says, as far as it is as registration_write(what) writes
   it: other values and keys stay. Goes on after a failure and returns the first. S_FALSE: another module, or nobody,
   is registered, and nothing was done. */
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
/* The table for this folder, the rows of both kinds of registration and of 32-bit programs. E_INVALIDARG: an unknown
 * placeholder. */
HRESULT registration_expand(const char *folder, struct registration_rows *out);
void registration_rows_free(struct registration_rows *rows);

#endif
