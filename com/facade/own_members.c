/* SPDX-License-Identifier: MIT */
/* Implements own_members.h for clients and for the server. */
#include "com/facade/own_members.h"

#include "com/facade/server_call.h"
#include "com/objects/convert.h"
#include "com/server/call_entry.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/set_credentials.h"
#include "engine/pla/sets.h"

#include <string.h>

enum {
    FIRST_STATUSES = 64, /* few at the first call, because most lists are short or are not read to their end */
    STATUSES_AT_ONCE = 1024,
    NAMES_AT_ONCE = 1024,     /* the answer is at most about one megabyte */
    DEFINITIONS_AT_ONCE = 64, /* the answer is at most some tens of megabytes */
};
/* A script that reads all statuses uses each status within this time. A person cannot react to a status so fast. */
#define STATUS_AGE_MS 100

/* ---- lists: the server's side ---- */

static HRESULT add_statuses(struct object *const *sets, size_t count, struct texts *out)
{
    struct set_status *statuses = memory_zero(count + 1, sizeof *statuses);
    HRESULT hr = statuses ? sets_read_statuses(sets, count, statuses) : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = texts_add_owned(out,
                             statuses[i].is_known ? text_format("%u", (unsigned)statuses[i].status) : text_copy(""));
    memory_free(statuses);
    return hr;
}

static HRESULT add_names(struct object *const *sets, size_t count, struct texts *out)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct value v;
        hr = object_get_field(sets[i], &sets[i]->class->properties[IDataCollectorSet_Name], &v);
        if (SUCCEEDED(hr))
            hr = texts_add_owned(out, v.text);
    }
    return hr;
}

/* Reads no live properties, because the client reads those itself. */
static HRESULT add_definition(struct object *set, struct texts *out)
{
    struct value account;
    char *xml = NULL;
    HRESULT hr = object_complete(set);
    if (SUCCEEDED(hr))
        hr = object_get_field(set, &set->class->properties[IDataCollectorSet_UserAccount], &account);
    if (SUCCEEDED(hr))
        hr = texts_add_owned(out, account.text);
    if (SUCCEEDED(hr))
        hr = set_to_commit_xml(set, false, &xml, NULL);
    return SUCCEEDED(hr) ? texts_add_owned(out, xml) : hr;
}

static HRESULT add_definitions(struct object *const *sets, size_t count, struct texts *out)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = add_definition(sets[i], out);
    return hr;
}

/* Returns references to the sets from `begin` on, at most `most`. */
static HRESULT list_part(struct object *collection, size_t begin, size_t most, struct object ***sets, size_t *count)
{
    HRESULT hr = S_OK;
    const size_t all = collection_count(collection), end = begin < all && all - begin > most ? begin + most : all;
    *count = 0;
    *sets = memory_zero(most + 1, sizeof **sets);
    if (!*sets)
        return E_OUTOFMEMORY;
    for (size_t i = begin; SUCCEEDED(hr) && i < end; i++) {
        hr = collection_item(collection, i, &(*sets)[*count]);
        *count += SUCCEEDED(hr);
    }
    return hr;
}

HRESULT server_list_answer(struct object *collection, DISPID member, const DISPPARAMS *params, VARIANT *result)
{
    static const struct {
        HRESULT (*add)(struct object *const *sets, size_t count, struct texts *out);
        LONG most;
    } members[] = {
        {add_statuses, STATUSES_AT_ONCE},
        {add_names, NAMES_AT_ONCE},
        {add_definitions, DEFINITIONS_AT_ONCE},
    };
    struct texts texts = {0};
    struct object **sets;
    size_t count;
    if (params->cArgs != 2 || !result)
        return DISP_E_MEMBERNOTFOUND; /* the client has another version of OpenPLA */
    const VARIANT *first = &params->rgvarg[1], *asked = &params->rgvarg[0];
    if (V_VT(first) != VT_I4 || V_I4(first) < 0 || V_VT(asked) != VT_I4 || V_I4(asked) < 0)
        return DISP_E_TYPEMISMATCH;
    LONG most = members[member - OWN_STATUSES].most;
    if (V_I4(asked) < most)
        most = V_I4(asked);
    HRESULT hr = list_part(collection, (size_t)V_I4(first), (size_t)most, &sets, &count);
    if (SUCCEEDED(hr))
        hr = members[member - OWN_STATUSES].add(sets, count, &texts);
    objects_release(sets, count);
    VariantInit(result);
    if (SUCCEEDED(hr))
        hr = array_from_texts(&texts, &V_ARRAY(result));
    if (SUCCEEDED(hr))
        V_VT(result) = VT_ARRAY | VT_BSTR;
    texts_free(&texts);
    return hr;
}

/* ---- lists: the client's side ---- */

struct server_list {
    LONG references;
    IDispatch *there;
    struct lock lock;      /* protects all members below */
    uint32_t next;         /* index of the set after the last one whose status was read */
    uint32_t first, count; /* range of the known statuses; those before `next` have been used */
    uint32_t statuses[STATUSES_AT_ONCE];
    bool known[STATUSES_AT_ONCE];
    uint64_t asked; /* clock_monotonic_ms when the statuses were read */
    LONG verbs;     /* value of `outdated` when the statuses were read */
    uint32_t next_definition;
    uint32_t first_definition; /* index of the first known definition; used definitions are NULL */
    struct texts definitions;  /* account and XML of each set */
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

/* The caller must hold the lock. */
static bool next_string(struct server_list *list, uint32_t index, uint32_t *status)
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

/* Calls the member for up to `most` sets, beginning at `index`. S_FALSE: the server is not an OpenPLA server. */
static HRESULT list_ask(struct server_list *list, DISPID member, uint32_t index, LONG most, struct texts *out)
{
    VARIANT arguments[] = {{.vt = VT_I4}, {.vt = VT_I4}}, answer;
    V_I4(&arguments[0]) = (LONG)index;
    V_I4(&arguments[1]) = most;
    *out = (struct texts){0};
    HRESULT hr = server_invoke_own(list->there, member, arguments, 2, &answer);
    if (hr == S_OK)
        hr = V_VT(&answer) == (VT_ARRAY | VT_BSTR) ? texts_from_array(V_ARRAY(&answer), "the server's strings", out)
                                                   : DISP_E_TYPEMISMATCH;
    VariantClear(&answer);
    return hr;
}

HRESULT server_list_names(struct server_list *list, uint32_t index, struct texts *names)
{
    return list_ask(list, OWN_NAMES, index, NAMES_AT_ONCE, names);
}

/* The caller must hold the lock. */
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
    lock_enter(&list->lock);
    bool in_order = index == list->next_definition, found = take_definition(list, index, account, xml);
    list->next_definition = index + 1;
    lock_leave(&list->lock);
    if (found)
        return true;
    HRESULT hr = list_ask(list, OWN_DEFINITIONS, index, in_order ? DEFINITIONS_AT_ONCE : 1, &texts);
    if (hr != S_OK) {
        error_clear();
        return false;
    }
    lock_enter(&list->lock);
    old = list->definitions;
    list->definitions = texts;
    list->first_definition = index;
    found = take_definition(list, index, account, xml);
    lock_leave(&list->lock);
    texts_free(&old);
    return found;
}

bool server_list_status(struct server_list *list, uint32_t index, uint32_t *status)
{
    struct texts texts;
    lock_enter(&list->lock);
    bool in_order = index == list->next, found = in_order && next_string(list, index, status);
    list->next = index + 1;
    lock_leave(&list->lock);
    if (found || !in_order)
        return found;
    uint64_t asked = clock_monotonic_ms();
    LONG verbs = InterlockedCompareExchange(&outdated, 0, 0);
    if (list_ask(list, OWN_STATUSES, index, index ? STATUSES_AT_ONCE : FIRST_STATUSES, &texts) != S_OK) {
        error_clear();
        return false;
    }
    lock_enter(&list->lock);
    list->asked = asked;
    list->verbs = verbs;
    list->first = index;
    list->count = texts.count < STATUSES_AT_ONCE ? (uint32_t)texts.count : STATUSES_AT_ONCE;
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t number;
        list->known[i] = text_to_u64(texts.items[i], &number) && number <= UINT32_MAX;
        list->statuses[i] = list->known[i] ? (uint32_t)number : 0;
    }
    found = next_string(list, index, status);
    lock_leave(&list->lock);
    texts_free(&texts);
    return found;
}

enum { XML_ARGUMENT, NAME_ARGUMENT, USER_ARGUMENT, MASKED_ARGUMENT, MODE_ARGUMENT, ARGUMENTS };
enum issue_text { ISSUE_VALUE, ISSUE_KEY, ISSUE_DESCRIPTION, ISSUE_TEXTS };

/* ---- commits: the server's side ---- */

static HRESULT add_issue_texts(struct texts *out, const struct value_map_item *item)
{
    HRESULT hr = texts_add_owned(out, text_format("%u", (unsigned)item->Value.integer));
    if (SUCCEEDED(hr))
        hr = texts_add(out, item->Key);
    if (SUCCEEDED(hr))
        hr = texts_add(out, item->Description);
    return hr;
}

/* Converts the map to the answer's array of strings. No other thread may use the map. */
static HRESULT give_issues(struct object *issues, VARIANT *out)
{
    struct object **items;
    size_t count;
    struct texts texts = {0};
    HRESULT hr = collection_snapshot(issues, &items, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = add_issue_texts(&texts, (const struct value_map_item *)items[i]);
    if (SUCCEEDED(hr))
        hr = array_from_texts(&texts, &V_ARRAY(out));
    if (SUCCEEDED(hr))
        V_VT(out) = VT_ARRAY | VT_BSTR;
    texts_free(&texts);
    objects_release(items, count);
    return hr;
}

/* Performs SetXml, SetCredentials and Commit in succession. */
static HRESULT set_commit_own(struct object *set, const struct whole_commit *what, struct object *issues)
{
    const struct caller caller = com_caller();
    char *password = NULL;
    HRESULT hr = object_complete(set);
    if (SUCCEEDED(hr))
        hr = set_from_xml(set, what->xml, strlen(what->xml), NULL);
    if (SUCCEEDED(hr) && what->masked) {
        hr = set_credentials_unpack(set, what->masked, &password);
        hr = hr == E_INVALIDARG ? DISP_E_TYPEMISMATCH : hr;
    }
    if (SUCCEEDED(hr) && what->user)
        hr = password ? sets_set_credentials(set, &caller, what->user, password) : DISP_E_TYPEMISMATCH;
    memory_free_secret(password);
    return SUCCEEDED(hr) ? set_commit(set, &caller, what->name, "", what->mode, issues) : hr;
}

HRESULT whole_commit_answer(struct object *set, const DISPPARAMS *params, VARIANT *result)
{
    static const char *const names[ARGUMENTS] = {
        [XML_ARGUMENT] = "xml", [NAME_ARGUMENT] = "name", [USER_ARGUMENT] = "user", [MASKED_ARGUMENT] = "masked"};
    struct object *issues = NULL;
    char *texts[MODE_ARGUMENT] = {0};
    /* DISP_E_MEMBERNOTFOUND: the client has another version of OpenPLA. */
    HRESULT hr = params->cArgs == ARGUMENTS && result ? S_OK : DISP_E_MEMBERNOTFOUND;
    for (size_t i = 0; SUCCEEDED(hr) && i < ARGUMENTS; i++) {
        const VARIANT *v = &params->rgvarg[ARGUMENTS - 1 - i];
        bool text = i != MODE_ARGUMENT;
        if (V_VT(v) == (text ? VT_BSTR : VT_I4))
            hr = text ? text_from_bstr(V_BSTR(v), names[i], &texts[i]) : S_OK;
        else if (V_VT(v) != VT_EMPTY || (i != USER_ARGUMENT && i != MASKED_ARGUMENT))
            hr = DISP_E_TYPEMISMATCH;
    }
    if (SUCCEEDED(hr) && texts[USER_ARGUMENT] && !texts[MASKED_ARGUMENT])
        hr = DISP_E_TYPEMISMATCH;
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_commit_own(set,
                            &(struct whole_commit){.xml = texts[XML_ARGUMENT],
                                                   .name = texts[NAME_ARGUMENT],
                                                   .user = texts[USER_ARGUMENT],
                                                   .masked = texts[MASKED_ARGUMENT],
                                                   .mode = (uint32_t)V_I4(&params->rgvarg[0])},
                            issues);
    if (SUCCEEDED(hr)) {
        VariantInit(result);
        if (FAILED(give_issues(issues, result)))
            error_clear();
    }
    for (size_t i = 0; i < MODE_ARGUMENT; i++) {
        const VARIANT *v = i < params->cArgs ? &params->rgvarg[params->cArgs - 1 - i] : NULL;
        memory_free_secret(texts[i]);
        if (v && V_VT(v) == VT_BSTR) /* overwrite COM's copy of the argument, which can contain a secret */
            bstr_wipe(V_BSTR(v));
    }
    object_release(issues);
    return hr;
}

/* ---- commits: the client's side ---- */

/* Skips findings that this process has reported already. */
static HRESULT add_issue(struct object *issues, uint32_t what, const char *key, const char *text)
{
    bool known;
    HRESULT hr = issues_has(issues, (HRESULT)what, key, &known);
    return SUCCEEDED(hr) && !known ? issues_add(issues, (HRESULT)what, key, text) : hr;
}

static HRESULT add_issues(const VARIANT *answer, struct object *issues)
{
    struct texts texts;
    HRESULT hr = V_VT(answer) == (VT_ARRAY | VT_BSTR)
                     ? texts_from_array(V_ARRAY(answer), "the server's strings", &texts)
                     : DISP_E_TYPEMISMATCH;
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i + ISSUE_TEXTS <= texts.count; i += ISSUE_TEXTS) {
        char *const *issue = &texts.items[i];
        uint64_t what;
        hr = text_to_u64(issue[ISSUE_VALUE], &what) && what <= UINT32_MAX
                 ? add_issue(issues, (uint32_t)what, issue[ISSUE_KEY], issue[ISSUE_DESCRIPTION])
                 : DISP_E_TYPEMISMATCH;
    }
    texts_free(&texts);
    return hr;
}

static HRESULT add_item(IDispatch *item, void *issues)
{
    char *key = NULL, *text = NULL;
    uint32_t what;
    HRESULT hr = server_get_text(item, &value_map_item_class, L"Key", &key);
    if (SUCCEEDED(hr))
        hr = server_get_number(item, &value_map_item_class, L"Value", &what);
    if (SUCCEEDED(hr))
        hr = server_get_text(item, &value_map_item_class, L"Description", &text);
    if (SUCCEEDED(hr))
        hr = add_issue(issues, what, key, text);
    memory_free(key);
    memory_free(text);
    return hr;
}

HRESULT whole_commit_take_map(const VARIANT *map, struct object *issues)
{
    if (V_VT(map) != VT_DISPATCH || !V_DISPATCH(map))
        return S_OK;
    return server_each(V_DISPATCH(map), &value_map_class, add_item, issues);
}

static HRESULT commit_by_methods(IDispatch *set, const struct whole_commit *what, const VARIANT *arguments,
                                 struct object *issues)
{
    VARIANT of_commit[] = {arguments[NAME_ARGUMENT], {.vt = VT_BSTR}, arguments[MODE_ARGUMENT]}, map;
    VARIANT xml = {.vt = VT_BSTR}, credentials[] = {arguments[USER_ARGUMENT], {.vt = VT_BSTR}};
    HRESULT hr = bstr_from_text(what->whole_xml ? what->whole_xml : what->xml, &V_BSTR(&xml));
    if (SUCCEEDED(hr))
        hr = server_invoke(set, &data_collector_set_class, L"SetXml", DISPATCH_METHOD, &xml, 1, NULL);
    if (SUCCEEDED(hr) && what->user)
        hr = bstr_from_text(what->password, &V_BSTR(&credentials[1]));
    if (SUCCEEDED(hr) && what->user)
        hr = server_invoke(set, &data_collector_set_class, L"SetCredentials", DISPATCH_METHOD, credentials, 2, NULL);
    bstr_wipe(V_BSTR(&xml));
    bstr_wipe(V_BSTR(&credentials[1]));
    VariantClear(&xml);
    VariantClear(&credentials[1]);
    if (SUCCEEDED(hr))
        hr = server_invoke(set, &data_collector_set_class, L"Commit", DISPATCH_METHOD, of_commit, 3, &map);
    if (FAILED(hr))
        return hr;
    if (FAILED(whole_commit_take_map(&map, issues)))
        error_clear(); /* as below */
    VariantClear(&map);
    return S_OK;
}

HRESULT whole_commit_ask(IDispatch *set, const struct whole_commit *what, struct object *issues)
{
    const char *texts[MODE_ARGUMENT] = {[XML_ARGUMENT] = what->xml,
                                        [NAME_ARGUMENT] = what->name,
                                        [USER_ARGUMENT] = what->user,
                                        [MASKED_ARGUMENT] = what->masked};
    VARIANT arguments[ARGUMENTS] = {[MODE_ARGUMENT] = {.vt = VT_I4}}, answer;
    HRESULT hr = S_OK;
    V_I4(&arguments[MODE_ARGUMENT]) = (LONG)what->mode;
    for (size_t i = 0; SUCCEEDED(hr) && i < MODE_ARGUMENT; i++) {
        if (!texts[i])
            continue;
        hr = bstr_from_text(texts[i], &V_BSTR(&arguments[i]));
        V_VT(&arguments[i]) = VT_BSTR;
    }
    if (SUCCEEDED(hr)) {
        hr = server_invoke_own(set, OWN_WHOLE_COMMIT, arguments, ARGUMENTS, &answer);
        if (hr == S_FALSE)
            hr = commit_by_methods(set, what, arguments, issues);
        else if (SUCCEEDED(hr) && FAILED(add_issues(&answer, issues)))
            error_clear(); /* the set is committed; a result that cannot be read does not change that */
        VariantClear(&answer);
    }
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (V_VT(&arguments[i]) == VT_BSTR)
            bstr_wipe(V_BSTR(&arguments[i]));
        VariantClear(&arguments[i]);
    }
    return hr;
}

/* ---- queries ---- */

static HRESULT add_queried(struct object *set, struct texts *out)
{
    struct value account;
    char *xml = NULL;
    HRESULT hr = object_get(set, &set->class->properties[IDataCollectorSet_UserAccount], &account);
    if (SUCCEEDED(hr))
        hr = texts_add_owned(out, account.text);
    if (SUCCEEDED(hr))
        hr = object_to_xml(set, &xml, NULL);
    return SUCCEEDED(hr) ? texts_add_owned(out, xml) : hr;
}

HRESULT whole_query_answer(struct object *set, const DISPPARAMS *params, VARIANT *result)
{
    const struct caller caller = com_caller();
    struct texts texts = {0};
    char *name;
    if (params->cArgs != 1 || !result)
        return DISP_E_MEMBERNOTFOUND; /* the client has another version of OpenPLA */
    if (V_VT(&params->rgvarg[0]) != VT_BSTR)
        return DISP_E_TYPEMISMATCH;
    HRESULT hr = text_from_bstr(V_BSTR(&params->rgvarg[0]), "name", &name);
    if (FAILED(hr))
        return hr;
    hr = object_complete(set);
    if (SUCCEEDED(hr))
        hr = set_query(set, &caller, name, "");
    if (SUCCEEDED(hr))
        hr = add_queried(set, &texts);
    VariantInit(result);
    if (SUCCEEDED(hr))
        hr = array_from_texts(&texts, &V_ARRAY(result));
    if (SUCCEEDED(hr))
        V_VT(result) = VT_ARRAY | VT_BSTR;
    texts_free(&texts);
    memory_free(name);
    return hr;
}

static HRESULT query_by_methods(IDispatch *set, const char *name, char **account, char **xml)
{
    HRESULT hr = server_call(set, &data_collector_set_class, L"Query", (const char *[]){name, ""}, 2);
    if (SUCCEEDED(hr))
        hr = server_get_text(set, &data_collector_set_class, L"Xml", xml);
    if (SUCCEEDED(hr))
        hr = server_get_text(set, &data_collector_set_class, L"UserAccount", account);
    return hr;
}

HRESULT whole_query_ask(IDispatch *set, const char *name, char **account, char **xml)
{
    VARIANT argument = {.vt = VT_BSTR}, answer;
    struct texts texts = {0};
    *account = *xml = NULL;
    HRESULT hr = bstr_from_text(name, &V_BSTR(&argument));
    if (FAILED(hr))
        return hr;
    hr = server_invoke_own(set, OWN_WHOLE_QUERY, &argument, 1, &answer);
    SysFreeString(V_BSTR(&argument));
    if (hr == S_FALSE)
        hr = query_by_methods(set, name, account, xml);
    else if (SUCCEEDED(hr))
        hr = V_VT(&answer) == (VT_ARRAY | VT_BSTR) ? texts_from_array(V_ARRAY(&answer), "the server's strings", &texts)
                                                   : DISP_E_TYPEMISMATCH;
    VariantClear(&answer);
    if (SUCCEEDED(hr) && !*xml && texts.count != 2)
        hr = DISP_E_TYPEMISMATCH;
    if (SUCCEEDED(hr) && !*xml) {
        *account = texts.items[0];
        *xml = texts.items[1];
        texts.count = 0;
    }
    texts_free(&texts);
    if (FAILED(hr)) {
        memory_free(*account);
        memory_free(*xml);
        *account = *xml = NULL;
    }
    return hr;
}
