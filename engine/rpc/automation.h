/* SPDX-License-Identifier: MIT */
/* Decodes the types of OLE Automation and object references (MS-OAUT 2.2, MS-DCOM 2.2) into plain structures, and
   encodes them. Decoded strings and numbers point into the reader's bytes; everything else is in an arena. */
#ifndef OPENPLA_RPC_AUTOMATION_H
#define OPENPLA_RPC_AUTOMATION_H

#include "engine/rpc/ndr.h"

/* The VARTYPEs that are sent (MS-OAUT 2.2.7). */
enum ndr_vartype {
    NDR_EMPTY = 0,
    NDR_NULL = 1,
    NDR_I2 = 2,
    NDR_I4 = 3,
    NDR_R4 = 4,
    NDR_R8 = 5,
    NDR_CY = 6,
    NDR_DATE = 7,
    NDR_BSTR = 8,
    NDR_DISPATCH = 9,
    NDR_ERROR = 10,
    NDR_BOOL = 11,
    NDR_VARIANT = 12,
    NDR_UNKNOWN = 13,
    NDR_DECIMAL = 14,
    NDR_I1 = 16,
    NDR_UI1 = 17,
    NDR_UI2 = 18,
    NDR_UI4 = 19,
    NDR_I8 = 20,
    NDR_UI8 = 21,
    NDR_INT = 22,
    NDR_UINT = 23,
    NDR_ARRAY = 0x2000,
    NDR_BYREF = 0x4000
};

/* ---- object references: MS-DCOM 2.2.18 ---- */

#define OBJREF_SIGNATURE 0x574F454Du /* "MEOW" */
enum { OBJREF_STANDARD = 1, OBJREF_CUSTOM = 4 };

struct std_objref {
    uint32_t flags, references;
    uint64_t oxid, oid;
    GUID ipid;
};
/* A DUALSTRINGARRAY: the addresses of an object exporter (MS-DCOM 2.2.19). */
#define BINDING_BYTES 256 /* UTF-8 of an address, with its NUL */
enum { BINDING_TCP = 7, BINDINGS_MOST = 8 };
struct dual_strings {
    size_t count; /* TCP bindings: "host" or "host[port]"; others are skipped when read */
    char addresses[BINDINGS_MOST][BINDING_BYTES];
};
struct objref {
    uint32_t kind;
    GUID iid;
    struct std_objref standard;
    struct dual_strings bindings; /* filled in for a standard reference */
    GUID clsid;                   /* this member and the next two are filled in for a custom reference */
    const uint8_t *custom;
    size_t custom_size;
};

struct std_objref std_objref_read(struct ndr_reader *r);
void std_objref_write(struct ndr_writer *w, const struct std_objref *o);
/* `has_conformance`: the array is a member after a pointer, so its count of 2-byte units precedes it. */
void dual_strings_read(struct ndr_reader *r, bool has_conformance, struct dual_strings *out);
/* Writes NTLM as the only security binding. */
void dual_strings_write(struct ndr_writer *w, bool has_conformance, const struct dual_strings *d);
/* Reads one OBJREF, which extends to the end of the reader's bytes. Fails with RPC_FAULT_WRONG_OBJREF if it is neither
   standard nor custom. */
void objref_read(struct ndr_reader *r, struct objref *out);
void objref_write(struct ndr_writer *w, const struct objref *o);

/* These functions read and write a pointer to an MInterfacePointer (MS-DCOM 2.2.14). The wire format is the referent,
   the count twice, and the OBJREF. If the pointer is null, *out is NULL. */
void ndr_read_object(struct ndr_reader *r, struct ndr_arena *arena, struct objref **out);
void ndr_write_object(struct ndr_writer *w, const struct objref *o);
/* Like ndr_read_object and ndr_write_object, without the referent. */
void ndr_read_object_pointee(struct ndr_reader *r, struct ndr_arena *arena, struct objref **out);
void ndr_write_object_pointee(struct ndr_writer *w, const struct objref *o);

/* ---- strings, arrays, variants ---- */

struct ndr_bstr {
    const uint8_t *bytes; /* usually UTF-16 in little endian */
    uint32_t size;        /* in bytes */
    bool is_null;
};
void ndr_read_bstr(struct ndr_reader *r, struct ndr_bstr *out);
void ndr_write_bstr(struct ndr_writer *w, const struct ndr_bstr *s);
void ndr_read_bstr_pointee(struct ndr_reader *r, struct ndr_bstr *out);
void ndr_write_bstr_pointee(struct ndr_writer *w, const struct ndr_bstr *s);

#define NDR_DIMENSIONS 8
struct ndr_array {
    uint16_t vt; /* type of an element: a number, NDR_BSTR or NDR_VARIANT */
    uint16_t features, dimensions;
    struct {
        uint32_t count;
        int32_t low;
    } bounds[NDR_DIMENSIONS]; /* from left to right */
    uint32_t count;
    bool has_data;
    const uint8_t *numbers; /* little endian, ndr_number_size(vt) bytes each */
    struct ndr_bstr *strings;
    struct ndr_variant *variants;
};

/* `vt` selects the member. With NDR_BYREF, the member is the value that the pointer refers to; NDR_VARIANT | NDR_BYREF
   sets `variant`. */
struct ndr_variant {
    uint16_t vt;
    uint64_t number;     /* the bits of any number of up to 8 bytes */
    uint8_t decimal[16]; /* NDR_DECIMAL */
    struct ndr_bstr string;
    struct objref *object; /* NULL: a null pointer */
    struct ndr_array *array;
    struct ndr_variant *variant;
};

/* Returns the number's size, 1, 2, 4 or 8; 0: `vt` is not a number. */
size_t ndr_number_size(uint16_t vt);
/* A client that uses the SDK's LPSAFEARRAY sends two pointers before the array. A client whose IDL repeats MS-OAUT's
   definition literally sends one pointer. ndr_read_array accepts both forms. It sets *form (`form` may be NULL) to the
   number of pointers if this number is certain, and leaves *form unchanged for a null array. For ndr_write_array, a
   server uses the form of the latest array from this client, or two pointers if the client has not sent an array. */
void ndr_read_array(struct ndr_reader *r, struct ndr_arena *arena, unsigned *form, struct ndr_array **out);
void ndr_write_array(struct ndr_writer *w, unsigned form, const struct ndr_array *a);
void ndr_read_variant(struct ndr_reader *r, struct ndr_arena *arena, struct ndr_variant *out);
void ndr_write_variant(struct ndr_writer *w, const struct ndr_variant *v);
void ndr_read_variant_pointee(struct ndr_reader *r, struct ndr_arena *arena, struct ndr_variant *out);
void ndr_write_variant_pointee(struct ndr_writer *w, const struct ndr_variant *v);

#endif
