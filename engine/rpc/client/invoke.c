/* SPDX-License-Identifier: MIT */
/* Calls members by name: requests the member's ID with GetIDsOfNames before the first call of the member, and then
   calls Invoke. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/rpc/client/object.h"

#include <string.h>

enum { LCID_NEUTRAL = 0, DISPID_PUT = -3 };
#define RESULT_EXCEPTION ((HRESULT)0x80020009) /* DISP_E_EXCEPTION */

static bool find_known_id(struct orpc_object *o, const char *member, int32_t *id)
{
    bool is_known = false;
    lock_enter(&o->lock);
    for (size_t i = 0; !is_known && i < o->id_count; i++)
        if (!strcmp(o->ids[i].name, member)) {
            *id = o->ids[i].id;
            is_known = true;
        }
    lock_leave(&o->lock);
    return is_known;
}

/* Remembers a member's id. If memory runs out, the id is requested again the next time. */
static void keep_id(struct orpc_object *o, const char *member, int32_t id)
{
    char *name = text_copy(member);
    lock_enter(&o->lock);
    if (name && memory_grow((void **)&o->ids, &o->id_capacity, o->id_count + 1, sizeof *o->ids)) {
        o->ids[o->id_count].name = name;
        o->ids[o->id_count++].id = id;
        name = NULL;
    }
    lock_leave(&o->lock);
    memory_free(name);
}

static HRESULT request_id(struct orpc_object *o, const char *member, int32_t *id)
{
    struct ndr_writer request = {0};
    struct orpc_answer answer = {0};
    struct dispatch_names names = {.count = 1, .lcid = LCID_NEUTRAL};
    WCHAR *wide = NULL;
    size_t units;
    HRESULT hr = text_to_utf16(member, &wide, &units);
    if (SUCCEEDED(hr))
        hr = orpc_request_begin(&request);
    if (SUCCEEDED(hr)) {
        names.names[0] = (struct ndr_bstr){.bytes = (const uint8_t *)wide, .size = (uint32_t)(units * 2)};
        dispatch_write_names(&request, &names);
        hr = object_call(o, DISPATCH_NAMES, &request, PEER_REPEAT, &answer);
    }
    if (SUCCEEDED(hr)) {
        hr = dispatch_read_ids(&answer.reader, id, 1);
        if (answer.reader.fault)
            hr = answer_malformed(answer.reader.fault);
        else if (FAILED(hr))
            hr = error_set(hr, "'%s': the object has no member of that name", member);
    }
    orpc_answer_free(&answer);
    ndr_writer_free(&request);
    memory_free(wide);
    if (SUCCEEDED(hr))
        keep_id(o, member, *id);
    return hr;
}

static HRESULT exception_result(const struct dispatch_result *d)
{
    const HRESULT hr = FAILED(d->scode) ? d->scode : d->code ? HRESULT_FROM_WIN32(d->code) : E_FAIL;
    WCHAR *units = memory_copy(d->description.bytes ? d->description.bytes : (const uint8_t *)"",
                               d->description.size); /* aligned */
    char *text = NULL;
    if (units && d->description.size > 1 && !d->description.is_null)
        text_from_utf16(units, d->description.size / 2, true, &text);
    memory_free(units);
    if (text && *text)
        error_set(hr, "%s", text);
    memory_free(text);
    return hr;
}

/* Releases a returned object that the caller does not use. Otherwise it would stay on the server until the server runs
   it down. */
static void release_result(struct orpc_object *o, const struct ndr_variant *value)
{
    struct orpc_object *object;
    if ((value->vt == NDR_DISPATCH || value->vt == NDR_UNKNOWN) && value->object &&
        SUCCEEDED(orpc_object_adopt(o, value->object, &object)))
        orpc_object_release(object);
    error_clear();
}

HRESULT orpc_invoke(struct orpc_object *o, const char *member, uint32_t flags, const struct ndr_variant *arguments,
                    size_t count, struct orpc_answer *answer, struct ndr_variant *value)
{
    struct ndr_writer request = {0};
    int32_t id;
    *answer = (struct orpc_answer){0};
    if (value)
        *value = (struct ndr_variant){0};
    if (count > DISPATCH_ARGUMENTS_MOST)
        return E_INVALIDARG;
    struct dispatch_invoke *invoke = memory_zero(1, sizeof *invoke);
    struct dispatch_result *result = memory_zero(1, sizeof *result);
    HRESULT hr = invoke && result ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !find_known_id(o, member, &id))
        hr = request_id(o, member, &id);
    if (SUCCEEDED(hr))
        hr = orpc_request_begin(&request);
    if (SUCCEEDED(hr)) {
        invoke->id = id;
        invoke->flags = flags & ~(uint32_t)ORPC_REPEATABLE;
        invoke->count = count;
        for (size_t i = 0; i < count; i++)
            invoke->arguments[i] = arguments[count - 1 - i];
        if (flags & ORPC_PUT) {
            invoke->named_count = 1;
            invoke->named[0] = DISPID_PUT;
        }
        dispatch_write_invoke(&request, invoke);
        const bool repeatable = flags == ORPC_GET || (flags & ORPC_REPEATABLE);
        hr = object_call(o, DISPATCH_INVOKE, &request, repeatable ? PEER_REPEAT : PEER_ONCE, answer);
    }
    if (SUCCEEDED(hr)) {
        hr = dispatch_read_result(&answer->reader, &answer->arena, result);
        if (answer->reader.fault)
            hr = answer_malformed(answer->reader.fault);
        else if (hr == RESULT_EXCEPTION)
            hr = exception_result(result);
        else if (SUCCEEDED(hr) && value)
            *value = result->value;
        else if (SUCCEEDED(hr))
            release_result(o, &result->value);
    }
    ndr_writer_free(&request);
    memory_free(result);
    memory_free(invoke);
    return hr;
}
