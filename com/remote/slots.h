/* SPDX-License-Identifier: MIT */
/* The methods of the 18 interfaces as remote clients call them: a table generated from pla.idl, and the bodies of
   requests and answers. The code is portable, so that sanitizers and fuzzers can test it. */
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
    uint8_t type;     /* for an object: an index of the table, or one of the constants above */
    uint16_t element; /* for an array: the ndr_vartype of its elements */
};
struct remote_method {
    const char *name;
    uint8_t count;
    struct remote_parameter parameters[REMOTE_PARAMETERS_MOST];
};
struct remote_type {
    GUID iid;
    const char *name;
    uint16_t first, count; /* index of its first method, and number of its methods, including inherited ones */
};

size_t remote_type_count(void);
const struct remote_type *remote_type_at(size_t index);
const struct remote_type *remote_type_find(const GUID *iid); /* NULL: `iid` is not one of the 18 */
/* Returns the method with the opnum. NULL: the type has no such method. Opnums below REMOTE_FIRST_OPNUM are
   IDispatch's. */
const struct remote_method *remote_method_of(const struct remote_type *type, uint16_t opnum);
/* Returns the IID of an object parameter. */
const GUID *remote_object_iid(const struct remote_parameter *p);

/* The value of one parameter of a call. The parameter's kind determines which member of this struct is set. */
struct remote_value {
    uint64_t number;
    GUID guid;
    struct ndr_bstr string;
    struct ndr_variant variant;
    struct ndr_array *array;
    struct objref *object;
};
/* Reads the [in] parameters of a request, after ORPCTHIS. A failure is stored in the reader's `fault`. */
void remote_read_request(const struct remote_method *method, struct ndr_reader *in, struct ndr_arena *arena,
                         unsigned *array_form, struct remote_value *values);
/* Writes the [out] parameters and the result, after ORPCTHAT. */
void remote_write_answer(const struct remote_method *method, struct ndr_writer *out, unsigned array_form,
                         const struct remote_value *values, HRESULT hr);

#endif
