/* SPDX-License-Identifier: MIT */
/* GUID properties through IDispatch: ITypeInfo::Invoke has no way for them, so scripts get and put strings in braces.
 */
#include "com/objects/convert.h"
#include "com/objects/foreign_call.h"
#include "com/objects/skin.h"
#include "engine/base/memory.h"

/* The row of a GUID property that the member names; NULL if it is none. */
static const struct property *guid_row(const struct skin *s, ITypeInfo *info, DISPID id)
{
    const struct class *class = s->class->model;
    const struct property *found = NULL;
    for (size_t i = 0; !found && i < class->property_count; i++)
        if (class->properties[i].kind == PROPERTY_GUID)
            found = &class->properties[i];
    if (!found) /* no class has two */
        return NULL;
    char *name = dispatch_member_name(info, id);
    bool same = name && text_equal_nocase(name, found->name);
    memory_free(name);
    return same ? found : NULL;
}

static HRESULT put_guid(struct skin *s, const struct property *p, const VARIANT *in)
{
    VARIANT v;
    GUID guid;
    char *text = NULL;
    VariantInit(&v);
    HRESULT hr = variant_change(&v, in, VT_BSTR);
    if (SUCCEEDED(hr)) {
        hr = text_from_bstr(V_BSTR(&v), p->name, &text);
        if (SUCCEEDED(hr) && !text_to_guid(text, &guid))
            hr = error_set(E_INVALIDARG, "%s: '%.100s' is no GUID", p->name, text);
        hr = com_result(s, hr);
    }
    if (SUCCEEDED(hr))
        hr = property_put(s, (size_t)(p - s->class->model->properties), &guid);
    memory_free(text);
    VariantClear(&v);
    return hr;
}

static HRESULT get_guid(struct skin *s, const struct property *p, VARIANT *out)
{
    GUID guid;
    char text[39];
    HRESULT hr = property_get(s, (size_t)(p - s->class->model->properties), &guid);
    if (FAILED(hr) || !out)
        return hr;
    text_from_guid(&guid, text);
    VariantInit(out);
    hr = bstr_from_text(text, &V_BSTR(out));
    if (SUCCEEDED(hr))
        V_VT(out) = VT_BSTR;
    return hr;
}

HRESULT guid_member_invoke(struct skin *s, ITypeInfo *info, DISPID id, WORD flags, DISPPARAMS *params, VARIANT *result)
{
    const struct property *p = guid_row(s, info, id);
    if (!p)
        return S_FALSE;
    if (flags & DISPATCH_PROPERTYPUT)
        return params->cArgs == 1 ? put_guid(s, p, &params->rgvarg[0]) : DISP_E_BADPARAMCOUNT;
    return params->cArgs ? DISP_E_BADPARAMCOUNT : get_guid(s, p, result);
}
