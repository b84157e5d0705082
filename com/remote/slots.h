/* SPDX-License-Identifier: MIT */
/* The methods of the 18 interfaces as remote clients call them: a table made of pla.idl, and the bodies of their
   requests and answers. Portable, so the sanitizers and fuzzers see it. */
#ifndef OPENPLA_REMOTE_SLOTS_H
#define OPENPLA_REMOTE_SLOTS_H

#include "engine/rpc/automation.h"

enum remote_kind {
    REMOTE_SHORT = 1, /* VARIANT_BOOL, sign-extended */
    REMOTE_ENUMERATION,
    REMOTE_LONG,
    REMOTE_HYPER,
    REMOTE_GUID,
    REMOTE_BSTR,
    REMOTE_VARIANT,
    REMOTE_ARRAY,
    REMOTE_OBJECT
};
enum { REMOTE_FIRST_OPNUM = 7, REMOTE_PARAMETERS_MOST = 6 };
enum { REMOTE_DISPATCH = 253, REMOTE_UNKNOWN = 254, REMOTE_NO_INTERFACE = 255 };

struct remote_parameter {
    uint8_t kind;
    bool is_out;
    uint8_t type;     /* of an object: an index of the table, or one of the above */
    uint16_t element; /* of an array: its ndr_vartype */
};
struct remote_method {
    const char *name;
    uint8_t count;
    struct remote_parameter parameters[REMOTE_PARAMETERS_MOST];
};
struct remote_type {
    GUID iid;
    const char *name;
    uint16_t first, count; /* of its methods, inherited ones included */
};

size_t remote_type_count(void);
const struct remote_type *remote_type_at(size_t index);
const struct remote_type *remote_type_find(const GUID *iid); /* NULL: not one of the 18 */
/* NULL: it has no such method. Opnums below REMOTE_FIRST_OPNUM are IDispatch's. */
const struct remote_method *remote_method_of(const struct remote_type *type, uint16_t opnum);
/* The IID of an object parameter. */
const GUID *remote_object_iid(const struct remote_parameter *p);

/* A value of a call; its parameter says which member is set. */
struct remote_value {
    uint64_t number;
    GUID guid;
    struct ndr_bstr string;
    struct ndr_variant variant;
    struct ndr_array *array;
    struct objref *object;
};
/* The [in] parameters of a request, behind ORPCTHIS. A failure is the reader's fault. */
void remote_read_request(const struct remote_method *method, struct ndr_reader *in, struct ndr_arena *arena,
                         unsigned *array_form, struct remote_value *values);
/* The [out] parameters and the result, behind ORPCTHAT. */
void remote_write_answer(const struct remote_method *method, struct ndr_writer *out, unsigned array_form,
                         const struct remote_value *values, HRESULT hr);

#endif
