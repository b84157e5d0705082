/* SPDX-License-Identifier: MIT */
/* The table of registration.def with everything filled in, on every host: what registration writes, and what the forms
   of the registration and the installer are made of. */
#ifndef OPENPLA_REGISTRATION_TABLE_H
#define OPENPLA_REGISTRATION_TABLE_H

#include "engine/base/text.h"

/* In Windows' place: its class identifiers, ProgIDs, AppID and library. Beside: classes of our own, OpenPLA.name. */
enum registration_mode { REGISTRATION_DROPIN, REGISTRATION_BESIDE };

/* The folder below the server's where openpla.dll and openpdh.dll for 32-bit programs are, if they are. */
#define OPENPLA_FOLDER_32        "x86"

/* All identifiers but the first group: those of MS-PLA 1.9, and ours beside them. An AppID is {03837503 and the tail.
 */
#define REGISTRATION_TAIL_DROPIN "-098B-11D8-9414-505054503030}"
#define REGISTRATION_TAIL_BESIDE "-7D7F-4CE7-B081-7C53C3F9BDF1}"
#define REGISTRATION_BESIDE_GUID(first)                                                                                \
    {                                                                                                                  \
        (first), 0x7d7f, 0x4ce7,                                                                                       \
        {                                                                                                              \
            0xb0, 0x81, 0x7c, 0x53, 0xc3, 0xf9, 0xbd, 0xf1                                                             \
        }                                                                                                              \
    }

enum registration_kind {
    REGISTRATION_STRING,
    REGISTRATION_NUMBER,
    REGISTRATION_BYTES,
    REGISTRATION_KEY_ONLY,
    REGISTRATION_NO_VALUE
};

struct registration_entry {
    char *root, *key, *name; /* key is the whole path below HKLM, root its shared start; name NULL: default value */
    enum registration_kind kind;
    char *data;   /* the text, decimal digits, pairs of hexadecimal ones; NULL for the last two kinds */
    bool service; /* only when registered with the service */
    bool narrow;  /* only when there is openpla.dll for 32-bit programs */
};
struct registration_entries {
    struct registration_entry *items;
    size_t count, capacity;
};

/* The rows of this mode for this folder (no separator at its end), of both kinds of registration and of 32-bit
   programs. E_INVALIDARG: an unknown placeholder. */
HRESULT registration_table(enum registration_mode mode, const char *folder, struct registration_entries *out);
void registration_entries_free(struct registration_entries *entries);

/* A class or interface of the tables: {guid}, {name}, {title}, {methods}. */
struct registration_subject {
    const char *digits, *name, *title;
    unsigned int methods;
    bool facade; /* a class that is registered in process too */
};
extern const struct registration_subject registration_classes[], registration_interfaces[];
extern const size_t registration_class_count, registration_interface_count;

/* The identifier of a class in this mode, in braces; of an interface that of MS-PLA. NULL when memory is out. */
char *registration_guid(enum registration_mode mode, const struct registration_subject *subject);

#endif
