/* SPDX-License-Identifier: MIT */
/* Reads the signatures of tests/com/idl_members.inc. */
#include "tests/wire/members.h"

#include <stdio.h>
#include <string.h>

static const char *const signatures[] = {
#define IDL_INTERFACE(interface, base, id)
#define IDL_MEMBER(interface, opnum, kind, name, dispid, signature) signature,
#include "tests/com/idl_members.inc"
#undef IDL_INTERFACE
#undef IDL_MEMBER
};

struct member members[MEMBERS] = {
#define IDL_INTERFACE(interface, base, id)
#define IDL_MEMBER(interface, opnum, kind, name, dispid, signature)                                                    \
    {#interface, &IID_##interface, opnum, #kind " " #name, 0, {{0}}},
#include "tests/com/idl_members.inc"
#undef IDL_INTERFACE
#undef IDL_MEMBER
};

static bool read_type(const char *name, bool in, struct parameter *out)
{
    static const struct {
        const char *name;
        enum wire_type type;
    } types[] = {
        {"ULONG", WIRE_ULONG},
        {"LONG", WIRE_ULONG},
        {"ULONG64", WIRE_ULONG64},
        {"VARIANT_BOOL", WIRE_VARIANT_BOOL},
        {"GUID", WIRE_GUID},
        {"BSTR", WIRE_BSTR},
        {"VARIANT", WIRE_VARIANT},
        {"SAFEARRAY(BSTR)", WIRE_BSTR_ARRAY},
        {"SAFEARRAY(BYTE)", WIRE_BYTE_ARRAY},
    };
    char base[64];
    size_t length = strlen(name);
    if (!in && (!length || name[--length] != '*'))
        return false;
    snprintf(base, sizeof base, "%.*s", (int)length, name);
    out->in = in;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!strcmp(types[i].name, base)) {
            out->type = types[i].type;
            return true;
        }
    }
    char *star = strchr(base, '*');
    if (star) {
        *star = 0;
        snprintf(out->interface_name, sizeof out->interface_name, "%s", base);
        out->type = WIRE_INTERFACE;
        return interface_id(base) != NULL;
    }
#define IDL_ENUMERATOR(enumeration, name, value) #enumeration,
    static const char *const enumerations[] = {
#include "tests/com/idl_enumerators.inc"
    };
    for (size_t i = 0; i < sizeof enumerations / sizeof *enumerations; i++) {
        if (!strcmp(enumerations[i], base)) {
            out->type = WIRE_ENUM;
            return true;
        }
    }
    return false;
}

bool members_read(void)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s", signatures[i]);
        members[i].count = 0;
        if (!strcmp(text, "void"))
            continue;
        for (char *next, *at = text; at; at = next) {
            next = strchr(at, ',');
            if (next) {
                *next = 0;
                next += 2;
            }
            char *type = strrchr(at, ' ') + 1;
            if (members[i].count == MAX_PARAMETERS ||
                !read_type(type, !strncmp(at, "in ", 3), &members[i].parameters[members[i].count++])) {
                fprintf(stderr, "%s::%s: %s\n", members[i].interface_name, members[i].name, signatures[i]);
                return false;
            }
        }
    }
    return true;
}

const IID *interface_id(const char *name)
{
    if (!strcmp(name, "IDispatch"))
        return &IID_IDispatch;
    if (!strcmp(name, "IUnknown"))
        return &IID_IUnknown;
    for (size_t i = 0; i < MEMBERS; i++)
        if (!strcmp(members[i].interface_name, name))
            return members[i].iid;
    return NULL;
}

unsigned interface_slots(const char *name)
{
    unsigned slots = 0;
    for (size_t i = 0; i < MEMBERS; i++)
        if (!strcmp(members[i].interface_name, name))
            slots = members[i].opnum + 1;
    return slots;
}
