/* SPDX-License-Identifier: MIT */
/* Sample values, and the independent NDR encoder. */
#include "tests/wire/values.h"

#include "engine/base/os.h"

#include <string.h>

static const GUID sample_guid = {0x9e814aad, 0x3204, 0x11d2, {0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39}};

static SAFEARRAY *make_array(VARTYPE type, unsigned set)
{
    static const OLECHAR *const texts[] = {L"\\Processor(_Total)\\% Processor Time", L"", L"B\xe9"};
    if (set == VALUES_LEAST)
        return NULL;
    SAFEARRAYBOUND bound = {set ? 0 : 3, 0};
    SAFEARRAY *array = SafeArrayCreate(type, 1, &bound);
    for (LONG i = 0; array && !set && i < 3; i++) {
        BSTR text = SysAllocString(texts[i]);
        BYTE byte = (BYTE)(0x41 + i);
        SafeArrayPutElement(array, &i, type == VT_BSTR ? (void *)text : (void *)&byte);
        SysFreeString(text);
    }
    return array;
}

void value_make(enum wire_type type, unsigned set, IUnknown *object, union value *out)
{
    static const OLECHAR odd[] = L"a\0\xd83d\xde00z";
    memset(out, 0, sizeof *out);
    switch (type) {
    case WIRE_ULONG:
        out->number = set == 0 ? 0x01020304 : set == VALUES_LEAST ? 0 : 0xffffffff;
        break;
    case WIRE_ULONG64:
        out->long_number = set == 0 ? 0x0102030405060708 : set == VALUES_LEAST ? 0 : ~(ULONG64)0;
        break;
    case WIRE_VARIANT_BOOL:
        out->truth = set == 0 ? VARIANT_TRUE : set == VALUES_LEAST ? VARIANT_FALSE : 1;
        break;
    case WIRE_ENUM: /* 0x7fff is the largest value of 2 bytes */
        out->enumeration = set == 0 ? 0x1203 : set == VALUES_LEAST ? 0 : 0x7fff;
        break;
    case WIRE_GUID:
        if (set != VALUES_LEAST)
            out->guid = sample_guid;
        break;
    case WIRE_BSTR:
        out->text = set == 0              ? SysAllocString(L"Service\\S\xe9t")
                    : set == VALUES_LEAST ? NULL
                                          : SysAllocStringLen(odd, 5);
        break;
    case WIRE_VARIANT:
        if (set == 0) {
            V_VT(&out->variant) = VT_DATE;
            V_DATE(&out->variant) = 45000.25;
        } else if (set != VALUES_LEAST) {
            V_VT(&out->variant) = VT_UI4;
            V_UI4(&out->variant) = 0xfffffffe;
        }
        break;
    case WIRE_BSTR_ARRAY:
        out->array = make_array(VT_BSTR, set);
        break;
    case WIRE_BYTE_ARRAY:
        out->array = make_array(VT_UI1, set);
        break;
    case WIRE_INTERFACE:
        out->object = set == VALUES_LEAST ? NULL : object;
        if (out->object)
            IUnknown_AddRef(out->object);
        break;
    }
}

void value_free(enum wire_type type, union value *value)
{
    if (type == WIRE_BSTR)
        SysFreeString(value->text);
    else if (type == WIRE_VARIANT)
        VariantClear(&value->variant);
    else if ((type == WIRE_BSTR_ARRAY || type == WIRE_BYTE_ARRAY) && value->array)
        SafeArrayDestroy(value->array);
    else if (type == WIRE_INTERFACE && value->object)
        IUnknown_Release(value->object);
    memset(value, 0, sizeof *value);
}

static bool text_equal(BSTR a, BSTR b)
{
    return !a == !b && SysStringByteLen(a) == SysStringByteLen(b) && (!a || !memcmp(a, b, SysStringByteLen(a)));
}

static bool array_equal(SAFEARRAY *a, SAFEARRAY *b, VARTYPE type)
{
    if (!a || !b)
        return a == b;
    ULONG count = a->rgsabound[0].cElements;
    if (a->cDims != 1 || b->cDims != 1 || b->rgsabound[0].cElements != count ||
        a->rgsabound[0].lLbound != b->rgsabound[0].lLbound)
        return false;
    for (ULONG i = 0; type == VT_BSTR && i < count; i++) {
        BSTR x = ((BSTR *)a->pvData)[i], y = ((BSTR *)b->pvData)[i];
        /* In an array, a NULL BSTR and an empty one are equal for every reader. */
        if (SysStringByteLen(x) != SysStringByteLen(y) || (x && y && memcmp(x, y, SysStringByteLen(x)) != 0))
            return false;
    }
    return type == VT_BSTR || !memcmp(a->pvData, b->pvData, count);
}

bool value_equal(enum wire_type type, const union value *a, const union value *b)
{
    switch (type) {
    case WIRE_ULONG:
        return a->number == b->number;
    case WIRE_ULONG64:
        return a->long_number == b->long_number;
    case WIRE_VARIANT_BOOL:
        return a->truth == b->truth;
    case WIRE_ENUM:
        return a->enumeration == b->enumeration;
    case WIRE_GUID:
        return IsEqualGUID(&a->guid, &b->guid);
    case WIRE_BSTR:
        return text_equal(a->text, b->text);
    case WIRE_VARIANT:
        return V_VT(&a->variant) == V_VT(&b->variant) && (V_VT(&a->variant) == VT_EMPTY || V_VT(&a->variant) == VT_UI4
                                                              ? V_UI4(&a->variant) == V_UI4(&b->variant)
                                                              : V_UI8(&a->variant) == V_UI8(&b->variant));
    case WIRE_BSTR_ARRAY:
        return array_equal(a->array, b->array, VT_BSTR);
    case WIRE_BYTE_ARRAY:
        return array_equal(a->array, b->array, VT_UI1);
    case WIRE_INTERFACE:
        return !a->object == !b->object;
    }
    return false;
}

ULONG_PTR value_argument(enum wire_type type, union value *value)
{
    switch (type) {
    case WIRE_ULONG:
        return value->number;
    case WIRE_VARIANT_BOOL:
        return (USHORT)value->truth;
    case WIRE_ENUM:
        return (ULONG)value->enumeration;
    case WIRE_GUID:
    case WIRE_VARIANT:
        return (ULONG_PTR)value;
    default:
        return (ULONG_PTR)value->long_number;
    }
}

/* A deep copy. */
static void copy(enum wire_type type, const union value *from, union value *to)
{
    *to = *from;
    if (type == WIRE_BSTR && from->text)
        to->text = SysAllocStringByteLen((LPCSTR)from->text, SysStringByteLen(from->text));
    else if (type == WIRE_VARIANT) {
        VariantInit(&to->variant);
        VARIANT source = from->variant;
        VariantCopy(&to->variant, &source);
    } else if ((type == WIRE_BSTR_ARRAY || type == WIRE_BYTE_ARRAY) && from->array)
        SafeArrayCopy(from->array, &to->array);
    else if (type == WIRE_INTERFACE && from->object)
        IUnknown_AddRef(from->object);
}

void *argument_place(ULONG_PTR argument)
{
    union {
        ULONG_PTR number;
        void *place;
    } either = {argument};
    return either.place;
}

void value_take(enum wire_type type, ULONG_PTR argument, union value *out)
{
    union value at = {0};
    switch (type) {
    case WIRE_ULONG:
        at.number = (ULONG)argument;
        break;
    case WIRE_VARIANT_BOOL:
        at.truth = (VARIANT_BOOL)argument;
        break;
    case WIRE_ENUM:
        at.enumeration = (int)argument;
        break;
    case WIRE_GUID:
        at.guid = *(GUID *)argument_place(argument);
        break;
    case WIRE_VARIANT:
        at.variant = *(VARIANT *)argument_place(argument);
        break;
    default:
        at.long_number = argument;
    }
    copy(type, &at, out);
}

void value_return(enum wire_type type, const union value *value, void *place)
{
    static const size_t sizes[] = {4, 8, 2, 4, 16, 8, sizeof(VARIANT), 8, 8, 8};
    union value own;
    copy(type, value, &own);
    memcpy(place, &own, sizes[type]);
}

static void align(struct wire *wire, size_t boundary)
{
    while (wire->size % boundary)
        wire->bytes[wire->size++] = 0;
}

static void put_bytes(struct wire *wire, const void *bytes, size_t size)
{
    if (bytes) /* a NULL string has no bytes */
        memcpy(wire->bytes + wire->size, bytes, size);
    wire->size += size;
}

void wire_put_number(struct wire *wire, size_t size, ULONG64 number)
{
    align(wire, size);
    for (size_t i = 0; i < size; i++)
        wire->bytes[wire->size++] = (BYTE)(number >> 8 * i);
}

/* The pointer of a user-marshalled type is the string "User". The data follow, aligned to 4 bytes for all three types;
   Wine aligns each to 8. */
static void put_user_pointer(struct wire *wire)
{
    align(wire, 4);
    put_bytes(wire, "User", 4);
    align(wire, os_is_wine() ? 8 : 4);
}

/* FLAGGED_WORD_BLOB, MS-OAUT 2.2.23.1, preceded by the max_count of its array. */
static void put_text(struct wire *wire, BSTR text)
{
    ULONG bytes = SysStringByteLen(text), units = (bytes + 1) / 2;
    wire_put_number(wire, 4, units);
    wire_put_number(wire, 4, text ? bytes : 0xffffffff);
    wire_put_number(wire, 4, units);
    put_bytes(wire, text, bytes);
}

/* _wireVARIANT, MS-OAUT 2.2.29.2: size in units of 8 bytes, 0, type and three reserved words, the type again as the
   discriminant of the union, the value. */
static void put_variant(struct wire *wire, const VARIANT *variant)
{
    size_t start = wire->size;
    wire_put_number(wire, 4, 0);
    wire_put_number(wire, 4, 0);
    wire_put_number(wire, 2, V_VT(variant));
    for (int i = 0; i < 3; i++)
        wire_put_number(wire, 2, 0);
    wire_put_number(wire, 4, V_VT(variant));
    if (V_VT(variant) == VT_DATE)
        wire_put_number(wire, 8, V_UI8(variant));
    else if (V_VT(variant) == VT_UI4)
        wire_put_number(wire, 4, V_UI4(variant));
    wire->bytes[start] = (BYTE)((wire->size - start + 7) / 8);
}

/* _wireSAFEARRAY, MS-OAUT 2.2.30.10, with one dimension. Referents can have any value but 0; these are Wine's. Returns
   false for the strings of a BSTR array, whose referents Wine omits, so that the bytes cannot be compared; everything
   before them is written. */
static bool put_array(struct wire *wire, SAFEARRAY *array, VARTYPE type)
{
    if (!array) {
        wire_put_number(wire, 4, 0);
        return true;
    }
    ULONG count = array->rgsabound[0].cElements;
    wire_put_number(wire, 4, 1);
    wire_put_number(wire, 4, 1); /* max_count: dimensions */
    wire_put_number(wire, 2, 1);
    wire_put_number(wire, 2, array->fFeatures);
    wire_put_number(wire, 4, type == VT_BSTR ? 4 : 1);    /* size of an element; a pointer has 4 bytes on the wire */
    wire_put_number(wire, 4, (ULONG)type << 16);          /* the type in the upper word, locks in the lower */
    wire_put_number(wire, 4, type == VT_BSTR ? 8 : 0x10); /* SF_BSTR, SF_I1 */
    wire_put_number(wire, 4, count);
    wire_put_number(wire, 4, 2);
    wire_put_number(wire, 4, count);
    wire_put_number(wire, 4, 0);     /* lower bound */
    wire_put_number(wire, 4, count); /* max_count of the elements */
    if (type == VT_UI1)
        put_bytes(wire, array->pvData, count);
    return type == VT_UI1 || !count;
}

bool wire_put(struct wire *wire, enum wire_type type, const union value *value)
{
    switch (type) {
    case WIRE_ULONG:
        wire_put_number(wire, 4, value->number);
        return true;
    case WIRE_ULONG64:
        wire_put_number(wire, 8, value->long_number);
        return true;
    case WIRE_VARIANT_BOOL:
        wire_put_number(wire, 2, (USHORT)value->truth);
        return true;
    case WIRE_ENUM:
        wire_put_number(wire, 2, (ULONG)value->enumeration);
        return true;
    case WIRE_GUID:
        align(wire, 4);
        put_bytes(wire, &value->guid, sizeof value->guid);
        return true;
    case WIRE_BSTR:
        put_user_pointer(wire);
        put_text(wire, value->text);
        return true;
    case WIRE_VARIANT:
        put_user_pointer(wire);
        put_variant(wire, &value->variant);
        return true;
    case WIRE_BSTR_ARRAY:
        put_user_pointer(wire);
        return put_array(wire, value->array, VT_BSTR);
    case WIRE_BYTE_ARRAY:
        put_user_pointer(wire);
        return put_array(wire, value->array, VT_UI1);
    case WIRE_INTERFACE:
        if (!value->object)
            wire_put_number(wire, 4, 0);
        return !value->object;
    }
    return false;
}

bool wire_put_parameters(struct wire *wire, const struct member *member, bool in, const union value *values,
                         size_t enum_size)
{
    for (unsigned i = 0; i < member->count; i++) {
        const struct parameter *p = &member->parameters[i];
        if (p->in != in)
            continue;
        if (p->type == WIRE_ENUM && enum_size == 4)
            wire_put_number(wire, 4, (ULONG)values[i].enumeration);
        else if (!wire_put(wire, p->type, &values[i]))
            return false;
    }
    return true;
}
