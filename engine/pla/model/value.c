/* SPDX-License-Identifier: MIT */
/* Values of properties, and the enumerations of their valid values. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/model/property.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define ITEM(Enumerator, Value) {#Enumerator, Value},
#define ENUMERATION(Name, ...)                                                                                         \
    static const struct enumeration_item items_##Name[] = {__VA_ARGS__};                                               \
    const struct enumeration enumeration_##Name = {#Name, sizeof items_##Name / sizeof items_##Name[0], items_##Name};
#include "engine/pla/enumerations.def"
#undef ENUMERATION
#undef ITEM

bool enumeration_has(const struct enumeration *e, uint32_t value)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->items[i].value == value)
            return true;
    return false;
}

uint32_t enumeration_mask(const struct enumeration *e)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < e->count; i++)
        mask |= e->items[i].value;
    return mask;
}

HRESULT variant_copy(struct variant *to, const struct variant *from)
{
    struct variant v = *from;
    if (v.type == VARIANT_TEXT) {
        v.text = text_copy(from->text);
        if (!v.text)
            return E_OUTOFMEMORY;
    } else {
        v.text = NULL;
    }
    *to = v;
    return S_OK;
}

void variant_free(struct variant *v)
{
    if (v->type == VARIANT_TEXT)
        memory_free(v->text);
    memset(v, 0, sizeof *v);
}

HRESULT bytes_copy(struct bytes *to, const struct bytes *from)
{
    uint8_t *items = from->count ? memory_copy(from->items, from->count) : NULL;
    if (from->count && !items)
        return E_OUTOFMEMORY;
    to->items = items;
    to->count = from->count;
    return S_OK;
}

static bool is_bare_number(const char *text)
{
    const size_t length = strlen(text);
    return length && strchr("+-0123456789", text[0]) && isxdigit((unsigned char)text[length - 1]);
}

HRESULT variant_to_i64(const struct variant *v, int64_t *out)
{
    switch (v->type) {
    case VARIANT_I1:
    case VARIANT_I2:
    case VARIANT_I4:
    case VARIANT_I8:
    case VARIANT_INT:
    case VARIANT_UI1:
    case VARIANT_UI2:
    case VARIANT_UI4:
    case VARIANT_UI8:
    case VARIANT_UINT:
    case VARIANT_BOOL_:
        *out = v->integer;
        return S_OK;
    case VARIANT_R4:
    case VARIANT_R8:
        if (!(v->real >= -9223372036854775808.0 && v->real < 18446744073709551616.0))
            return error_set(DISP_E_OVERFLOW, "%g is not a 64-bit integer", v->real);
        if (v->real != trunc(v->real))
            return error_set(DISP_E_TYPEMISMATCH, "%g is not an integer", v->real);
        *out = v->real < 0 ? (int64_t)v->real : (int64_t)(uint64_t)v->real; /* 2^63 and above become unsigned */
        return S_OK;
    case VARIANT_TEXT:
        /* text_to_integer accepts leading and trailing whitespace, for files that people edit. Here the whitespace is
           part of the string. */
        return is_bare_number(v->text) && text_to_integer(v->text, out)
                   ? S_OK
                   : error_set(DISP_E_TYPEMISMATCH, "'%s' is not an integer", v->text);
    default:
        return error_set(DISP_E_TYPEMISMATCH, "a value of VARIANT type %d is not an integer", (int)v->type);
    }
}

size_t value_size(enum property_kind kind)
{
    static const size_t sizes[] = {
#define SIZE(kind, member) [PROPERTY_##kind] = sizeof((struct value){0}.member)
        SIZE(BOOL, boolean),    SIZE(I32, i32),      SIZE(U32, u32),      SIZE(U64, u64),       SIZE(ENUM, u32),
        SIZE(FLAGS, u32),       SIZE(TEXT, text),    SIZE(TEXTS, texts),  SIZE(BYTES, bytes),   SIZE(GUID, guid),
        SIZE(VARIANT, variant), SIZE(DATE, variant), SIZE(TIME, variant), SIZE(OBJECT, object),
#undef SIZE
    };
    return sizes[kind];
}

HRESULT value_copy(struct value *to, const struct value *from)
{
    *to = (struct value){.kind = from->kind};
    switch (from->kind) {
    case PROPERTY_TEXT:
        to->text = text_copy(from->text);
        return to->text ? S_OK : E_OUTOFMEMORY;
    case PROPERTY_TEXTS:
        return texts_copy(&to->texts, &from->texts);
    case PROPERTY_BYTES:
        return bytes_copy(&to->bytes, &from->bytes);
    case PROPERTY_VARIANT:
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        return variant_copy(&to->variant, &from->variant);
    case PROPERTY_OBJECT:
        to->object = object_reference(from->object);
        return S_OK;
    default:
        *to = *from;
        return S_OK;
    }
}

static bool variant_equal(const struct variant *a, const struct variant *b)
{
    switch (a->type) {
    case VARIANT_R4:
    case VARIANT_R8:
    case VARIANT_DATE:
        return b->type == a->type && b->real == a->real;
    case VARIANT_TEXT:
        return b->type == a->type && !strcmp(b->text, a->text);
    default:
        return b->type == a->type && b->integer == a->integer;
    }
}

bool value_equal(const struct value *a, const struct value *b)
{
    switch (a->kind) {
    case PROPERTY_BOOL:
        return a->boolean == b->boolean;
    case PROPERTY_I32:
    case PROPERTY_U32:
    case PROPERTY_ENUM:
    case PROPERTY_FLAGS:
        return a->u32 == b->u32;
    case PROPERTY_U64:
        return a->u64 == b->u64;
    case PROPERTY_TEXT:
        return !strcmp(a->text, b->text);
    case PROPERTY_TEXTS:
        return texts_equal(&a->texts, &b->texts);
    case PROPERTY_BYTES:
        return a->bytes.count == b->bytes.count &&
               (!a->bytes.count || !memcmp(a->bytes.items, b->bytes.items, a->bytes.count));
    case PROPERTY_GUID:
        return guid_equal(&a->guid, &b->guid);
    case PROPERTY_VARIANT:
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        return variant_equal(&a->variant, &b->variant);
    case PROPERTY_OBJECT:
        return a->object == b->object;
    }
    return false;
}

#define BLOCK 16 /* approximate overhead of one allocation in bytes */

static size_t text_bytes(const char *text)
{
    return text ? strlen(text) + 1 + BLOCK : 0;
}

size_t value_bytes(const struct value *v)
{
    size_t bytes = 0;
    switch (v->kind) {
    case PROPERTY_TEXT:
        return text_bytes(v->text);
    case PROPERTY_TEXTS:
        for (size_t i = 0; i < v->texts.count; i++)
            bytes += text_bytes(v->texts.items[i]) + sizeof v->texts.items[0];
        return bytes;
    case PROPERTY_BYTES:
        return v->bytes.count;
    case PROPERTY_VARIANT:
        return v->variant.type == VARIANT_TEXT ? text_bytes(v->variant.text) : 0;
    default:
        return 0;
    }
}

void value_free(struct value *v)
{
    switch (v->kind) {
    case PROPERTY_TEXT:
        memory_free(v->text);
        break;
    case PROPERTY_TEXTS:
        texts_free(&v->texts);
        break;
    case PROPERTY_BYTES:
        memory_free(v->bytes.items);
        break;
    case PROPERTY_VARIANT:
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        variant_free(&v->variant);
        break;
    case PROPERTY_OBJECT:
        object_release(v->object);
        break;
    default:
        break;
    }
    memset(v, 0, sizeof *v);
}
