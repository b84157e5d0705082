/* SPDX-License-Identifier: MIT */
/* Both sides of a commit between processes. */
#include "com/facade/whole_commit.h"

#include "com/facade/server_call.h"
#include "com/objects/convert.h"
#include "com/server/caller.h"
#include "engine/base/memory.h"
#include "engine/pla/credentials.h"
#include "engine/pla/sets.h"

#include <string.h>

enum { XML_ARGUMENT, NAME_ARGUMENT, USER_ARGUMENT, MASKED_ARGUMENT, MODE_ARGUMENT, ARGUMENTS };
enum issue_text { ISSUE_VALUE, ISSUE_KEY, ISSUE_DESCRIPTION, ISSUE_TEXTS };

/* ---- the server's side ---- */

static HRESULT add_issue_texts(struct texts *out, const struct value_map_item *item)
{
    HRESULT hr = texts_give(out, text_format("%u", (unsigned)item->Value.integer));
    if (SUCCEEDED(hr))
        hr = texts_add(out, item->Key);
    if (SUCCEEDED(hr))
        hr = texts_add(out, item->Description);
    return hr;
}

/* The map is nobody else's. */
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

/* As the three methods would one after the other. */
static HRESULT commit(struct object *set, const struct whole_commit *what, struct object *issues)
{
    const struct caller caller = com_caller();
    char *password = NULL;
    HRESULT hr = set_from_xml(set, what->xml, strlen(what->xml), NULL);
    if (SUCCEEDED(hr) && what->masked) {
        hr = credentials_given(set, what->masked, &password);
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
    HRESULT hr = params->cArgs == ARGUMENTS && result ? S_OK : DISP_E_MEMBERNOTFOUND; /* that of another version */
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
        hr = commit(set,
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
        if (v && V_VT(v) == VT_BSTR) /* a copy that was made for this call: clients of ours alone call it */
            bstr_wipe(V_BSTR(v));
    }
    object_release(issues);
    return hr;
}

/* ---- the client's ---- */

/* What the server finds it finds here as well as there. */
static HRESULT add_issue(struct object *issues, uint32_t what, const char *key, const char *text)
{
    bool known;
    HRESULT hr = issues_has(issues, (HRESULT)what, key, &known);
    return SUCCEEDED(hr) && !known ? issues_add(issues, (HRESULT)what, key, text) : hr;
}

static HRESULT add_issues(const VARIANT *answer, struct object *issues)
{
    struct texts texts;
    HRESULT hr = V_VT(answer) == (VT_ARRAY | VT_BSTR) ? texts_from_array(V_ARRAY(answer), "the server's texts", &texts)
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
            error_clear(); /* it is committed: what cannot be read of the answer now does not undo that */
        VariantClear(&answer);
    }
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (V_VT(&arguments[i]) == VT_BSTR)
            bstr_wipe(V_BSTR(&arguments[i]));
        VariantClear(&arguments[i]);
    }
    return hr;
}
