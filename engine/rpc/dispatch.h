/* SPDX-License-Identifier: MIT */
/* Reads and writes the bodies of the interfaces that late binding uses: IDispatch (MS-OAUT 3.1), IEnumVARIANT (MS-OAUT
   3.3) and IClassFactory. Requests begin after ORPCTHIS, answers begin after ORPCTHAT; all answers end with an
   HRESULT. */
#ifndef OPENPLA_RPC_DISPATCH_H
#define OPENPLA_RPC_DISPATCH_H

#include "engine/rpc/automation.h"

extern const GUID dispatch_iid, enum_variant_iid;

enum {
    DISPATCH_TYPE_INFO_COUNT = 3,
    DISPATCH_TYPE_INFO = 4,
    DISPATCH_NAMES = 5,
    DISPATCH_INVOKE = 6,
    ENUM_NEXT = 3,
    ENUM_SKIP = 4,
    ENUM_RESET = 5,
    ENUM_CLONE = 6,
    FACTORY_CREATE = 3,
    FACTORY_LOCK = 4,
    DISPATCH_NAMES_MOST = 64,
    DISPATCH_ARGUMENTS_MOST = 32,
    ENUM_NEXT_MOST = 1024
};

/* GetIDsOfNames: the first name is the member, the other names are its parameters. */
struct dispatch_names {
    size_t count;
    struct ndr_bstr names[DISPATCH_NAMES_MOST]; /* UTF-16 without NUL; never null */
    uint32_t lcid;
};
void dispatch_read_names(struct ndr_reader *r, struct dispatch_names *out);
void dispatch_write_names(struct ndr_writer *w, const struct dispatch_names *n);
void dispatch_write_ids(struct ndr_writer *w, const int32_t *ids, size_t count, HRESULT hr);
HRESULT dispatch_read_ids(struct ndr_reader *r, int32_t *ids, size_t count);

/* Invoke. The last argument comes first, as in DISPPARAMS. Arguments by reference have NDR_BYREF in their type. */
struct dispatch_invoke {
    int32_t id;
    uint32_t lcid, flags;
    size_t count, named_count;
    struct ndr_variant arguments[DISPATCH_ARGUMENTS_MOST];
    int32_t named[DISPATCH_ARGUMENTS_MOST];
    size_t reference_count;
    uint32_t references[DISPATCH_ARGUMENTS_MOST]; /* indexes of the arguments by reference; the answer contains their
                                                     new values */
};
void dispatch_read_invoke(struct ndr_reader *r, struct ndr_arena *arena, struct dispatch_invoke *out);
/* Sets `references` from the arguments' types. */
void dispatch_write_invoke(struct ndr_writer *w, struct dispatch_invoke *i);

struct dispatch_result {
    struct ndr_variant value;
    uint16_t code; /* wCode of EXCEPINFO; the next members are also from EXCEPINFO */
    struct ndr_bstr source, description, help_file;
    uint32_t help_context;
    HRESULT scode;
    uint32_t wrong_argument;
    size_t reference_count;
    struct ndr_variant references[DISPATCH_ARGUMENTS_MOST];
    HRESULT hr;
};
void dispatch_write_result(struct ndr_writer *w, const struct dispatch_result *d);
/* Returns d->hr. */
HRESULT dispatch_read_result(struct ndr_reader *r, struct ndr_arena *arena, struct dispatch_result *d);

/* IEnumVARIANT::Next. The first function returns the requested number of values, at most ENUM_NEXT_MOST; the second
   writes the answer. */
uint32_t enum_read_next(struct ndr_reader *r);
void enum_write_values(struct ndr_writer *w, uint32_t asked, const struct ndr_variant *values, uint32_t count,
                       HRESULT hr);
/* *values in the arena. S_FALSE: these are the last values. */
HRESULT enum_read_values(struct ndr_reader *r, struct ndr_arena *arena, struct ndr_variant **values, uint32_t *count);

#endif
