/* SPDX-License-Identifier: MIT */
/* Both sides of what is asked of many sets of a list at once. */
#include "com/facade/server_list.h"

#include "com/facade/server_call.h"
#include "com/objects/convert.h"
#include "engine/base/clock.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"

enum {
    STATUSES_AT_ONCE = 64,
    NAMES_AT_ONCE = 1024,     /* a megabyte with the longest there may be */
    DEFINITIONS_AT_ONCE = 64, /* with the largest there may be, some tens of megabytes */
};
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

static HRESULT add_name(struct object *set, struct texts *out)
{
    struct value v;
    HRESULT hr = object_get_field(set, &set->class->properties[IDataCollectorSet_Name], &v);
    return SUCCEEDED(hr) ? texts_give(out, v.text) : hr;
}

/* Nothing of it is read live, the client asks for that. */
static HRESULT add_definition(struct object *set, struct texts *out)
{
    struct value account;
    char *xml = NULL;
    HRESULT hr = object_complete(set);
    if (SUCCEEDED(hr))
        hr = object_get_field(set, &set->class->properties[IDataCollectorSet_UserAccount], &account);
    if (SUCCEEDED(hr))
        hr = texts_give(out, account.text);
    if (SUCCEEDED(hr))
        hr = set_to_commit_xml(set, false, &xml, NULL);
    return SUCCEEDED(hr) ? texts_give(out, xml) : hr;
}

HRESULT server_list_answer(struct object *collection, DISPID member, const DISPPARAMS *params, VARIANT *result)
{
    static const struct {
        HRESULT (*add)(struct object *set, struct texts *out);
        LONG most;
    } members[] = {
        {add_status, STATUSES_AT_ONCE},
        {add_name, NAMES_AT_ONCE},
        {add_definition, DEFINITIONS_AT_ONCE},
    };
    struct texts texts = {0};
    if (params->cArgs != 2 || !result)
        return DISP_E_MEMBERNOTFOUND; /* that of another version */
    const VARIANT *first = &params->rgvarg[1], *asked = &params->rgvarg[0];
    if (V_VT(first) != VT_I4 || V_I4(first) < 0 || V_VT(asked) != VT_I4 || V_I4(asked) < 0)
        return DISP_E_TYPEMISMATCH;
    LONG most = members[member - OWN_STATUSES].most;
    if (V_I4(asked) < most)
        most = V_I4(asked);
    size_t begin = (size_t)V_I4(first), count = collection_count(collection);
    HRESULT hr = S_OK;
    for (size_t i = begin; SUCCEEDED(hr) && i < count && i - begin < (size_t)most; i++) {
        struct object *set;
        hr = collection_item(collection, i, &set);
        if (FAILED(hr))
            break;
        hr = members[member - OWN_STATUSES].add(set, &texts);
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
    uint32_t next_definition;
    uint32_t first_definition; /* of what is known; one that has served is NULL */
    struct texts definitions;  /* account and XML of each */
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
    texts_free(&list->definitions);
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

/* At most so many sets from the index on. S_FALSE: the server is none of ours. */
static HRESULT ask(struct server_list *list, DISPID member, uint32_t index, LONG most, struct texts *out)
{
    VARIANT arguments[] = {{.vt = VT_I4}, {.vt = VT_I4}}, answer;
    V_I4(&arguments[0]) = (LONG)index;
    V_I4(&arguments[1]) = most;
    *out = (struct texts){0};
    HRESULT hr = server_invoke_own(list->there, member, arguments, 2, &answer);
    if (hr == S_OK)
        hr = V_VT(&answer) == (VT_ARRAY | VT_BSTR) ? texts_from_array(V_ARRAY(&answer), "the server's texts", out)
                                                   : DISP_E_TYPEMISMATCH;
    VariantClear(&answer);
    return hr;
}

HRESULT server_list_names(struct server_list *list, uint32_t index, struct texts *names)
{
    return ask(list, OWN_NAMES, index, NAMES_AT_ONCE, names);
}

/* Under the lock. */
static bool take_definition(struct server_list *list, uint32_t index, char **account, char **xml)
{
    size_t at = (size_t)(index - list->first_definition) * 2;
    if (index < list->first_definition || at + 1 >= list->definitions.count || !list->definitions.items[at])
        return false;
    *account = list->definitions.items[at];
    *xml = list->definitions.items[at + 1];
    list->definitions.items[at] = list->definitions.items[at + 1] = NULL;
    return true;
}

bool server_list_definition(struct server_list *list, uint32_t index, char **account, char **xml)
{
    struct texts texts, old;
    host_lock_enter(&list->lock);
    bool in_order = index == list->next_definition, found = take_definition(list, index, account, xml);
    list->next_definition = index + 1;
    host_lock_leave(&list->lock);
    if (found)
        return true;
    HRESULT hr = ask(list, OWN_DEFINITIONS, index, in_order ? DEFINITIONS_AT_ONCE : 1, &texts);
    if (hr != S_OK) {
        error_clear();
        return false;
    }
    host_lock_enter(&list->lock);
    old = list->definitions;
    list->definitions = texts;
    list->first_definition = index;
    found = take_definition(list, index, account, xml);
    host_lock_leave(&list->lock);
    texts_free(&old);
    return found;
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
    if (ask(list, OWN_STATUSES, index, STATUSES_AT_ONCE, &texts) != S_OK) {
        error_clear();
        return false;
    }
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
