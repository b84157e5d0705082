/* SPDX-License-Identifier: MIT */
/* The table of registration.def with all placeholders filled in, on every host OS: the source of the registration and
   of the forms for administrators and installers. */
#ifndef OPENPLA_REGISTRATION_TABLE_H
#define OPENPLA_REGISTRATION_TABLE_H

#include "engine/base/text.h"

/* Drop-in: Windows' class identifiers, ProgIDs, AppID and type library. Beside: separate classes, OpenPLA.<name>. */
enum registration_mode { REGISTRATION_DROPIN, REGISTRATION_BESIDE };

/* The subfolder of the server's folder with openpla.dll and openpdh.dll for 32-bit programs, if installed. */
#define OPENPLA_FOLDER_32        "x86"

/* The GUIDs without their first group: MS-PLA 1.9's for the drop-in mode, and OpenPLA's for the mode beside. The AppID
   is "{03837503" with the tail. */
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
    char *data;   /* text, decimal digits, or pairs of hexadecimal digits; NULL for the last two kinds */
    bool service; /* only when registered with the service */
    bool narrow;  /* only if openpla.dll for 32-bit programs is installed */
};
struct registration_entries {
    struct registration_entry *items;
    size_t count, capacity;
};

/* Returns the rows of this mode for this folder (without a trailing separator), including the rows for the service and
   for 32-bit programs. E_INVALIDARG: unknown placeholder. */
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

/* Returns the GUID, in braces, of a class in this mode, or of an interface (always MS-PLA's). NULL when out of
   memory. */
char *registration_guid(enum registration_mode mode, const struct registration_subject *subject);

#endif
