/* SPDX-License-Identifier: MIT */
/* The interfaces of idl/pla.idl and their members, as far as the reference describes them. */
#ifndef OPENPLA_IDL_H
#define OPENPLA_IDL_H

#include "engine/base/text.h"

enum idl_call { IDL_GET, IDL_PUT, IDL_METHOD };
struct idl_member {
    char *name, *help;
    char *parameters; /* as written, blanks collapsed */
    enum idl_call call;
    unsigned opnum;
    unsigned section; /* MS-PLA 3.2.4.<interface>.<this>: counts the members on the wire from one; 0 when reserved */
    bool reserved;    /* not used on the wire */
};
struct idl_interface {
    char *name, *base, *help, *id;
    unsigned section; /* MS-PLA 3.2.4.<this> */
    struct idl_member *members;
    size_t count, capacity;
};
struct idl {
    struct idl_interface *interfaces;
    size_t count, capacity;
};
/* E_INVALIDARG with what was expected and where; E_OUTOFMEMORY. Free *out in any case. */
HRESULT idl_read(const char *text, struct idl *out);
void idl_free(struct idl *idl);
const struct idl_member *idl_member(const struct idl_interface *i, const char *name, enum idl_call call);
/* The type of a property's value, from its getter: "BSTR", "IValueMap *". From memory_alloc. */
char *idl_value_type(const struct idl_member *getter);

#endif
