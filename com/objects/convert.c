/* SPDX-License-Identifier: MIT */
/* Converts values between the model's types and COM's, by the kind of the property. */
#include "com/objects/convert.h"

#include "com/objects/foreign_object.h"
#include "com/server/call_entry.h"
#include "engine/base/memory.h"

#include <string.h>

/* In 64-bit and 32-bit programs the value starts at offset 8, and the narrower members are the first bytes of llVal. */
_Static_assert(sizeof(VARIANT) == BY_POINTER(24, 16), "VARIANT has another size");
_Static_assert(offsetof(VARIANT, llVal) == 8 && offsetof(VARIANT, boolVal) == 8 && offsetof(VARIANT, date) == 8,
               "a VARIANT's value has moved");

void bstr_wipe(BSTR text)
{
    memory_wipe(text, SysStringByteLen(text));
}

HRESULT bstr_from_text(const char *text, BSTR *out)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(text, &wide, &units);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    *out = SysAllocStringLen(wide, (UINT)units);
    memory_free(wide);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Converts a BSTR to UTF-8. Drops trailing NULs, because Wine's VBScript appends one when it expands variables such as
   %COMPUTERNAME%. */
static HRESULT text_from_wide(BSTR in, const char *argument, bool replace, char **out)
{
    UINT units = SysStringLen(in);
    while (units && !in[units - 1])
        units--;
    HRESULT hr = text_from_utf16(in ? in : L"", units, replace, out);
    return hr == E_INVALIDARG ? error_prefix(hr, "%s", argument) : hr;
}

HRESULT text_from_bstr(BSTR in, const char *argument, char **out)
{
    return text_from_wide(in, argument, false, out);
}

HRESULT array_open(SAFEARRAY *in, VARTYPE type, LONG *count, void **items)
{
    VARTYPE own = VT_EMPTY;
    LONG low, high;
    if (SafeArrayGetDim(in) != 1 || FAILED(SafeArrayGetVartype(in, &own)) || own != type)
        return DISP_E_TYPEMISMATCH;
    HRESULT hr = SafeArrayGetLBound(in, 1, &low);
    if (SUCCEEDED(hr))
        hr = SafeArrayGetUBound(in, 1, &high);
    if (SUCCEEDED(hr))
        hr = SafeArrayAccessData(in, items);
    if (SUCCEEDED(hr))
        *count = high - low + 1;
    return hr;
}

HRESULT texts_from_array(SAFEARRAY *in, const char *argument, struct texts *out)
{
    LONG count;
    BSTR *items;
    memset(out, 0, sizeof *out);
    if (!in)
        return S_OK;
    HRESULT hr = array_open(in, VT_BSTR, &count, (void **)&items);
    if (hr == DISP_E_TYPEMISMATCH)
        return error_set(E_INVALIDARG, "%s: not an array of strings", argument);
    if (FAILED(hr))
        return hr;
    for (LONG i = 0; SUCCEEDED(hr) && i < count; i++) {
        char *text;
        hr = text_from_bstr(items[i], argument, &text);
        if (SUCCEEDED(hr))
            hr = texts_add_owned(out, text);
    }
    SafeArrayUnaccessData(in);
    if (FAILED(hr))
        texts_free(out);
    return hr;
}

/* Creates an array whose items are accessible until SafeArrayUnaccessData. */
static HRESULT array_create(VARTYPE type, size_t count, SAFEARRAY **out, void **items)
{
    *out = SafeArrayCreateVector(type, 0, (ULONG)count);
    if (*out && SUCCEEDED(SafeArrayAccessData(*out, items)))
        return S_OK;
    SafeArrayDestroy(*out);
    *out = NULL;
    return E_OUTOFMEMORY;
}

HRESULT array_from_texts(const struct texts *in, SAFEARRAY **out)
{
    BSTR *items;
    HRESULT hr = array_create(VT_BSTR, in->count, out, (void **)&items);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < in->count; i++)
        hr = bstr_from_text(in->items[i], &items[i]);
    SafeArrayUnaccessData(*out);
    if (FAILED(hr)) {
        SafeArrayDestroy(*out);
        *out = NULL;
    }
    return hr;
}

/* Converts an array of bytes; NULL counts as empty. */
static HRESULT bytes_from_array(SAFEARRAY *in, const char *argument, struct bytes *out)
{
    LONG count;
    void *data;
    memset(out, 0, sizeof *out);
    if (!in)
        return S_OK;
    HRESULT hr = array_open(in, VT_UI1, &count, &data);
    if (hr == DISP_E_TYPEMISMATCH)
        hr = array_open(in, VT_I1, &count, &data);
    if (hr == DISP_E_TYPEMISMATCH)
        return error_set(E_INVALIDARG, "%s: not an array of bytes", argument);
    if (FAILED(hr))
        return hr;
    struct bytes given = {.count = (size_t)count, .items = data};
    hr = bytes_copy(out, &given);
    SafeArrayUnaccessData(in);
    return hr;
}

static HRESULT array_from_bytes(const struct bytes *in, SAFEARRAY **out)
{
    void *data;
    HRESULT hr = array_create(VT_UI1, in->count, out, &data);
    if (FAILED(hr))
        return hr;
    if (in->count)
        memcpy(data, in->items, in->count);
    SafeArrayUnaccessData(*out);
    return S_OK;
}

static HRESULT not_kept(const char *argument, VARTYPE type)
{
    return error_set(DISP_E_BADVARTYPE,
                     "%s: a VARIANT of type 0x%X cannot be stored (expected a scalar, a string or a date)", argument,
                     type);
}

/* Whether copying the VARIANT would call the client. Records are copied through their record description (IRecordInfo),
   which is an object of the client. An array can contain records. */
static bool is_copied_by_calls(const VARIANT *v)
{
    if (V_VT(v) == (VT_VARIANT | VT_BYREF) && V_VARIANTREF(v))
        v = V_VARIANTREF(v);
    return (V_VT(v) & VT_ARRAY) || (V_VT(v) & ~VT_BYREF) == VT_RECORD;
}

HRESULT variant_from_com(const VARIANT *in, const char *argument, struct variant *out)
{
    VARIANT direct;
    memset(out, 0, sizeof *out);
    if (is_copied_by_calls(in))
        return not_kept(argument, V_VT(in));
    VariantInit(&direct);
    HRESULT hr = VariantCopyInd(&direct, (VARIANT *)in);
    if (FAILED(hr))
        return error_set(hr, "%s: cannot read a VARIANT of type 0x%X", argument, V_VT(in));
    out->type = (enum variant_type)V_VT(&direct);
    switch (V_VT(&direct)) {
    case VT_EMPTY:
    case VT_NULL:
        break;
    case VT_I1:
    case VT_I2:
    case VT_I4:
    case VT_INT:
    case VT_UI1:
    case VT_UI2:
    case VT_UI4:
    case VT_UINT:
        hr = variant_change(&direct, &direct, VT_I8);
        out->integer = V_I8(&direct);
        break;
    case VT_ERROR:
        out->integer = V_ERROR(&direct);
        break;
    case VT_I8:
    case VT_CY:
    case VT_UI8:
        out->integer = V_I8(&direct);
        break;
    case VT_BOOL:
        out->integer = V_BOOL(&direct);
        break;
    case VT_R4:
        out->real = V_R4(&direct);
        break;
    case VT_R8:
    case VT_DATE:
        out->real = V_R8(&direct);
        break;
    case VT_BSTR:
        hr = text_from_bstr(V_BSTR(&direct), argument, &out->text);
        break;
    default:
        hr = not_kept(argument, V_VT(&direct));
        break;
    }
    if (FAILED(hr))
        out->type = VARIANT_EMPTY;
    VariantClear(&direct);
    return hr;
}

HRESULT variant_to_com(const struct variant *in, VARIANT *out)
{
    VariantInit(out);
    switch (in->type) {
    case VARIANT_EMPTY:
    case VARIANT_NULL:
        break;
    case VARIANT_R4:
        V_R4(out) = (float)in->real;
        break;
    case VARIANT_R8:
    case VARIANT_DATE:
        V_R8(out) = in->real;
        break;
    case VARIANT_TEXT: {
        HRESULT hr = bstr_from_text(in->text, &V_BSTR(out));
        if (FAILED(hr))
            return hr;
        break;
    }
    default:
        V_I8(out) = in->integer; /* the narrower members read the low part of V_I8 (little-endian) */
        break;
    }
    V_VT(out) = (VARTYPE)in->type;
    return S_OK;
}

static HRESULT to_com(struct value *v, void *out)
{
    switch (v->kind) {
    case PROPERTY_BOOL:
        *(VARIANT_BOOL *)out = v->boolean ? VARIANT_TRUE : VARIANT_FALSE;
        return S_OK;
    case PROPERTY_TEXT:
        return bstr_from_text(v->text, out);
    case PROPERTY_TEXTS:
        return array_from_texts(&v->texts, out);
    case PROPERTY_BYTES:
        return array_from_bytes(&v->bytes, out);
    case PROPERTY_VARIANT:
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        return variant_to_com(&v->variant, out);
    case PROPERTY_OBJECT:
        return wrapper_get(v->object, out);
    default: /* numbers and GUIDs have the same bytes in COM's form and in the model's */
        memcpy(out, &v->guid, value_size(v->kind));
        return S_OK;
    }
}

static HRESULT from_com(const struct property *p, const void *in, struct value *v)
{
    memset(v, 0, sizeof *v);
    v->kind = p->kind;
    switch (p->kind) {
    case PROPERTY_BOOL:
        v->boolean = *(const VARIANT_BOOL *)in != VARIANT_FALSE;
        return S_OK;
    case PROPERTY_TEXT:
        return text_from_wide(*(const BSTR *)in, p->name, p->lenient, &v->text);
    case PROPERTY_TEXTS:
        return texts_from_array(*(SAFEARRAY *const *)in, p->name, &v->texts);
    case PROPERTY_BYTES:
        return bytes_from_array(*(SAFEARRAY *const *)in, p->name, &v->bytes);
    case PROPERTY_VARIANT:
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        return variant_from_com(in, p->name, &v->variant);
    case PROPERTY_OBJECT:
        return E_UNEXPECTED;
    default: /* numbers and GUIDs have the same bytes in COM's form and in the model's */
        memcpy(&v->guid, in, value_size(p->kind));
        return S_OK;
    }
}

HRESULT property_get(void *interface_pointer, size_t row, void *out)
{
    struct object *o = model_of(interface_pointer);
    const struct property *p = &o->class->properties[row];
    struct value v;
    if (!out)
        return com_no_pointer(interface_pointer, p->name);
    HRESULT hr = object_complete_row(o, p);
    if (p->kind == PROPERTY_TEXT || p->kind == PROPERTY_TEXTS || p->kind == PROPERTY_BYTES ||
        p->kind == PROPERTY_OBJECT)
        *(void **)out = NULL;
    if (p->kind == PROPERTY_VARIANT || p->kind == PROPERTY_DATE || p->kind == PROPERTY_TIME)
        VariantInit(out);
    if (SUCCEEDED(hr))
        hr = object_get(o, p, &v);
    if (SUCCEEDED(hr)) {
        hr = to_com(&v, out);
        value_free(&v);
    }
    return SUCCEEDED(hr) ? hr : com_result(interface_pointer, hr);
}

/* False: property_get must read the value, or report why it cannot be read. */
static inline bool number_get(struct object *o, size_t row, uint32_t *value)
{
    const struct property *p = &o->class->properties[row];
    return (!o->class->complete || SUCCEEDED(o->class->complete(o, p))) && object_get_number(o, p, value);
}

HRESULT property_get_bool(void *interface_pointer, size_t row, void *out)
{
    uint32_t value;
    if (!out || !number_get(model_of(interface_pointer), row, &value))
        return property_get(interface_pointer, row, out);
    *(VARIANT_BOOL *)out = value ? VARIANT_TRUE : VARIANT_FALSE;
    return S_OK;
}

HRESULT property_get_number(void *interface_pointer, size_t row, void *out)
{
    uint32_t value;
    if (!out || !number_get(model_of(interface_pointer), row, &value))
        return property_get(interface_pointer, row, out);
    *(uint32_t *)out = value;
    return S_OK;
}

HRESULT property_put(void *interface_pointer, size_t row, const void *in)
{
    struct object *o = model_of(interface_pointer);
    const struct property *p = &o->class->properties[row];
    struct value v;
    HRESULT hr = from_com(p, in, &v);
    if (SUCCEEDED(hr))
        hr = object_complete(o);
    if (SUCCEEDED(hr))
        hr = object_give(o, p, &v);
    value_free(&v);
    return SUCCEEDED(hr) ? hr : com_result(interface_pointer, hr);
}

HRESULT call_with_texts(void *interface_pointer, texts_method method, BSTR first, const char *first_argument,
                        BSTR second, const char *second_argument)
{
    const struct caller caller = com_caller();
    char *first_text = NULL, *second_text = NULL;
    HRESULT hr = text_from_bstr(first, first_argument, &first_text);
    if (SUCCEEDED(hr))
        hr = text_from_bstr(second, second_argument, &second_text);
    if (SUCCEEDED(hr))
        hr = object_complete(model_of(interface_pointer));
    if (SUCCEEDED(hr))
        hr = method(model_of(interface_pointer), &caller, first_text, second_text);
    memory_free_secret(first_text);
    memory_free_secret(second_text); /* SetCredentials' password */
    return com_result(interface_pointer, hr);
}

HRESULT object_get_xml(void *interface_pointer, BSTR *out)
{
    char *xml;
    if (!out)
        return com_no_pointer(interface_pointer, "Xml");
    *out = NULL;
    HRESULT hr = object_complete(model_of(interface_pointer));
    if (SUCCEEDED(hr))
        hr = object_to_xml(model_of(interface_pointer), &xml, NULL);
    if (SUCCEEDED(hr)) {
        hr = bstr_from_text(xml, out);
        memory_free(xml);
    }
    return com_result(interface_pointer, hr);
}

HRESULT object_set_xml(void *interface_pointer, xml_method method, BSTR xml, const char *argument, IValueMap **issues)
{
    struct object *map = NULL;
    char *utf8 = NULL;
    if (!issues)
        return com_no_pointer(interface_pointer, "Validation");
    *issues = NULL;
    HRESULT hr = text_from_bstr(xml, argument, &utf8);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &map);
    if (SUCCEEDED(hr))
        hr = object_complete(model_of(interface_pointer));
    if (SUCCEEDED(hr))
        hr = method(model_of(interface_pointer), utf8, strlen(utf8), map);
    memory_free(utf8);
    return com_result(interface_pointer, wrapper_give(hr, map, (void **)issues));
}
