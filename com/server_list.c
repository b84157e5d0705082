/* SPDX-License-Identifier: MIT */
/* Both sides of the statuses of a list. */
#include "com/server_list.h"

#include "com/convert.h"
#include "com/server_call.h"
#include "engine/os/clock.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"

enum { STATUSES_AT_ONCE = 64 };
#define STATUS_AGE_MS 100 /* more than a script needs for so many, less than it takes to do something about one */

/* ---- the server's side ---- */

static HRESULT add_status(struct object *set, struct texts *out)
{
    struct value v;
    if (FAILED(object_get(set, &set->class->properties[IDataCollectorSet_Status], &v))) {
        error_clear(); /* who asks that set is told */
        return texts_add(out, "");
    }
    return texts_give(out, text_format("%u", (unsigned)v.u32));
}

HRESULT server_list_answer(struct object *collection, const DISPPARAMS *params, VARIANT *result)
{
    struct texts texts = {0};
    if (params->cArgs != 1 || !result)
        return DISP_E_MEMBERNOTFOUND; /* that of another version */
    if (V_VT(&params->rgvarg[0]) != VT_I4 || V_I4(&params->rgvarg[0]) < 0)
        return DISP_E_TYPEMISMATCH;
    size_t first = (size_t)V_I4(&params->rgvarg[0]), count = collection_count(collection);
    HRESULT hr = S_OK;
    for (size_t i = first; SUCCEEDED(hr) && i < count && i - first < STATUSES_AT_ONCE; i++) {
        struct object *set;
        hr = collection_item(collection, i, &set);
        if (FAILED(hr))
            break;
        hr = add_status(set, &texts);
        object_release(set);
    }
    VariantInit(result);
    if (SUCCEEDED(hr))
        hr = array_from_texts(&texts, &V_ARRAY(result));
    if (SUCCEEDED(hr))
        V_VT(result) = VT_ARRAY | VT_BSTR;
    texts_free(&texts);
    return hr;
}

/* ---- the client's ---- */

struct server_list {
    LONG references;
    IDispatch *there;
    struct host_lock lock; /* of all below */
    uint32_t next;         /* the index behind the latest one whose status was asked for */
    uint32_t first, count; /* of what is known; what is before `next` has served */
    uint32_t statuses[STATUSES_AT_ONCE];
    bool known[STATUSES_AT_ONCE];
    uint64_t asked; /* clock_monotonic_ms */
    LONG verbs;     /* as `outdated` was then */
};

static volatile LONG outdated;

void server_lists_outdated(void)
{
    InterlockedIncrement(&outdated);
}

struct server_list *server_list_create(IDispatch *there)
{
    struct server_list *list = memory_zero(1, sizeof *list);
    if (!list)
        return NULL;
    list->references = 1;
    list->there = there;
    IDispatch_AddRef(there);
    return list;
}

struct server_list *server_list_reference(struct server_list *list)
{
    InterlockedIncrement(&list->references);
    return list;
}

void server_list_release(struct server_list *list)
{
    if (!list || InterlockedDecrement(&list->references))
        return;
    IDispatch_Release(list->there);
    memory_free(list);
}

IDispatch *server_list_item(struct server_list *list, uint32_t index)
{
    VARIANT at = {.vt = VT_I4}, item;
    V_I4(&at) = (LONG)index;
    HRESULT hr =
        server_invoke(list->there, &data_collector_set_collection_class, L"Item", DISPATCH_PROPERTYGET, &at, 1, &item);
    if (SUCCEEDED(hr) && V_VT(&item) == VT_DISPATCH)
        return V_DISPATCH(&item);
    if (SUCCEEDED(hr))
        VariantClear(&item);
    error_clear();
    return NULL;
}

/* Under the lock. */
static bool take(struct server_list *list, uint32_t index, uint32_t *status)
{
    uint32_t at = index - list->first;
    if (index < list->first || at >= list->count || !list->known[at] ||
        list->verbs != InterlockedCompareExchange(&outdated, 0, 0) ||
        clock_passed_ms(list->asked, clock_monotonic_ms()) > STATUS_AGE_MS)
        return false;
    list->known[at] = false;
    *status = list->statuses[at];
    return true;
}

/* Those from the index on. False: the server has none to give. */
static bool ask(struct server_list *list, uint32_t index, struct texts *out)
{
    VARIANT first = {.vt = VT_I4}, answer;
    V_I4(&first) = (LONG)index;
    bool given = server_invoke_own(list->there, OWN_STATUSES, &first, 1, &answer) == S_OK &&
                 V_VT(&answer) == (VT_ARRAY | VT_BSTR) &&
                 SUCCEEDED(texts_from_array(V_ARRAY(&answer), "the server's texts", out));
    VariantClear(&answer);
    if (!given)
        error_clear();
    return given;
}

bool server_list_status(struct server_list *list, uint32_t index, uint32_t *status)
{
    struct texts texts;
    host_lock_enter(&list->lock);
    bool in_order = index == list->next, found = in_order && take(list, index, status);
    list->next = index + 1;
    host_lock_leave(&list->lock);
    if (found || !in_order)
        return found;
    uint64_t asked = clock_monotonic_ms();
    LONG verbs = InterlockedCompareExchange(&outdated, 0, 0);
    if (!ask(list, index, &texts))
        return false;
    host_lock_enter(&list->lock);
    list->asked = asked;
    list->verbs = verbs;
    list->first = index;
    list->count = texts.count < STATUSES_AT_ONCE ? (uint32_t)texts.count : STATUSES_AT_ONCE;
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t number;
        list->known[i] = text_to_u64(texts.items[i], &number) && number <= UINT32_MAX;
        list->statuses[i] = list->known[i] ? (uint32_t)number : 0;
    }
    found = take(list, index, status);
    host_lock_leave(&list->lock);
    texts_free(&texts);
    return found;
}
