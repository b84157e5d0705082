/* SPDX-License-Identifier: MIT */
/* The 310 members of tests/com/idl_members.inc with their parsed parameters. */
#ifndef OPENPLA_WIRE_MEMBERS_H
#define OPENPLA_WIRE_MEMBERS_H

#include "mspla.h"

#include <stdbool.h>
#include <windows.h>
#include <ole2.h>

enum wire_type {
    WIRE_ULONG, /* also LONG */
    WIRE_ULONG64,
    WIRE_VARIANT_BOOL,
    WIRE_ENUM,
    WIRE_GUID,
    WIRE_BSTR,
    WIRE_VARIANT,
    WIRE_BSTR_ARRAY,
    WIRE_BYTE_ARRAY,
    WIRE_INTERFACE,
};

struct parameter {
    bool in; /* false: an out parameter; no member has in-out parameters */
    enum wire_type type;
    char interface_name[64]; /* name as in WIRE_INTERFACE */
};

enum { MAX_PARAMETERS = 4 };

struct member {
    const char *interface_name;
    const IID *iid;
    unsigned opnum;
    const char *name;
    unsigned count;
    struct parameter parameters[MAX_PARAMETERS];
};

enum { MEMBERS = 310 };
extern struct member members[MEMBERS];

/* Fills `members`. Returns false if a signature has an unknown type. */
bool members_read(void);
/* Returns the identifier of one of our interfaces, of IDispatch or of IUnknown. */
const IID *interface_id(const char *name);
/* Returns the interface's last opnum plus one. */
unsigned interface_slots(const char *name);

#endif
