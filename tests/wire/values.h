/* SPDX-License-Identifier: MIT */
/* Sample values of every type on the wire, and an NDR encoder for them that is independent of rpcrt4 and oleaut32:
   transfer syntax 2.0, little-endian, written from C706 chapter 14 and MS-OAUT 2.2.23, 2.2.29 and 2.2.30. */
#ifndef OPENPLA_WIRE_VALUES_H
#define OPENPLA_WIRE_VALUES_H

#include "tests/wire/members.h"

union value {
    ULONG number;
    ULONG64 long_number;
    VARIANT_BOOL truth;
    int enumeration;
    GUID guid;
    BSTR text;
    VARIANT variant;
    SAFEARRAY *array;
    IUnknown *object;
};

/* Three sets of values: ordinary; least (0, NULL, empty); and unusual (largest numbers, a string of odd length with an
   embedded NUL and a surrogate pair). `object` is the interface pointer in sets 0 and 2, without a reference. */
enum { VALUE_SETS = 3, VALUES_LEAST = 1 };
void value_make(enum wire_type type, unsigned set, IUnknown *object, union value *out);
void value_free(enum wire_type type, union value *value);
bool value_equal(enum wire_type type, const union value *a, const union value *b);
/* The value as an argument of a call on x86-64: more than 8 bytes are passed by reference. */
ULONG_PTR value_argument(enum wire_type type, union value *value);
/* The address that an argument points to. */
void *argument_place(ULONG_PTR argument);
/* Copies an in argument from a call, or a value to an out parameter. The caller frees both copies. */
void value_take(enum wire_type type, ULONG_PTR argument, union value *out);
void value_return(enum wire_type type, const union value *value, void *place);

struct wire {
    BYTE bytes[2048];
    size_t size;
};

/* Returns false for a value that cannot be encoded independently; everything before it is written. Such values are a
   non-null interface pointer, whose OBJREF contains identities and which Wine writes in another form (without referent
   and max_count), and the strings in a BSTR array, which Wine writes without referents. */
bool wire_put(struct wire *wire, enum wire_type type, const union value *value);
void wire_put_number(struct wire *wire, size_t size, ULONG64 number);
/* Encodes all in (or out) parameters of a member, up to one for which wire_put returns false. An enum_size of 4 encodes
   enumerations as peers with v1_enum do. */
bool wire_put_parameters(struct wire *wire, const struct member *member, bool in, const union value *values,
                         size_t enum_size);

#endif
