/* SPDX-License-Identifier: MIT */
/* The table of DCOM servers in use, the classes of the namespaces, and calls with arguments and results. */
#include "engine/pla/remote/remote_server.h"

#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/os.h"
#include "engine/rpc/remote_account.h"

#include <string.h>

#define TYPE_MISMATCH  ((HRESULT)0x80020005) /* DISP_E_TYPEMISMATCH */
#define VARIANT_TRUE16 0xFFFFu

struct remote_server {
    struct remote_server *next;
    size_t users; /* `users` and `next` are protected by table_lock */
    char *name;
    uint8_t account[2 * AUTH_NAME_BYTES + AUTH_HASH_BYTES]; /* user, domain, hash; each account has a separate entry */
    struct orpc_peer *peer;
};

static struct lock table_lock = LOCK_INIT;
static struct remote_server *table;

/* ---- servers ---- */

static void server_free(struct remote_server *s)
{
    orpc_peer_release(s->peer);
    memory_free(s->name);
    memory_wipe(s->account, sizeof s->account);
    memory_free(s);
}

static HRESULT server_create(const char *name, const struct remote_account *account, struct remote_server **out)
{
    struct remote_server *s = memory_zero(1, sizeof *s);
    char *host = NULL, *port = NULL;
    HRESULT hr = s ? host_split(name, &host, &port) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        const struct auth_credentials credentials = remote_account_credentials(account);
        s->name = text_copy(name);
        hr = s->name ? orpc_peer_open(&(struct orpc_target){.host = host,
                                                            .port = port,
                                                            .credentials = account->user ? &credentials : NULL},
                                      &s->peer)
                     : E_OUTOFMEMORY;
    }
    memory_free(host);
    memory_free(port);
    if (FAILED(hr) && s) {
        server_free(s);
        s = NULL;
    }
    *out = s;
    return hr;
}

HRESULT remote_server_open(const char *name, struct remote_server **out)
{
    struct remote_account account;
    uint8_t key[sizeof(*out)->account] = {0};
    struct remote_server *s;
    *out = NULL;
    name += strspn(name, "\\");
    HRESULT hr = remote_account_find(name, &account);
    if (FAILED(hr))
        return hr;
    if (hr == S_OK) {
        text_fit((char *)key, AUTH_NAME_BYTES, account.user);
        text_fit((char *)key + AUTH_NAME_BYTES, AUTH_NAME_BYTES, account.domain);
        memcpy(key + 2 * AUTH_NAME_BYTES, account.hash, AUTH_HASH_BYTES);
    }
    lock_enter(&table_lock);
    for (s = table; s && !(text_equal_nocase(s->name, name) && !memcmp(s->account, key, sizeof key));)
        s = s->next;
    hr = s ? S_OK : server_create(name, &account, &s);
    if (SUCCEEDED(hr) && s->users++ == 0) {
        memcpy(s->account, key, sizeof key);
        s->next = table;
        table = s;
    }
    lock_leave(&table_lock);
    remote_account_free(&account);
    memory_wipe(key, sizeof key);
    *out = s;
    return hr;
}

struct remote_server *remote_server_reference(struct remote_server *s)
{
    lock_enter(&table_lock);
    s->users++;
    lock_leave(&table_lock);
    return s;
}

void remote_server_close(struct remote_server *s)
{
    if (!s)
        return;
    lock_enter(&table_lock);
    const bool is_last = --s->users == 0;
    struct remote_server **at = &table;
    while (is_last && *at != s)
        at = &(*at)->next;
    if (is_last)
        *at = s->next;
    lock_leave(&table_lock);
    if (is_last)
        server_free(s);
}

/* All identifiers of MS-PLA have the form {Data1-098B-11D8-9414-505054503030} (MS-PLA 1.9). */
static GUID identifier(uint32_t first)
{
    return (GUID){first, 0x098B, 0x11D8, {0x94, 0x14, 0x50, 0x50, 0x54, 0x50, 0x30, 0x30}};
}

/* The first 32 bits of the class identifiers of each namespace (MS-PLA 2.1 and 3.2.4). */
static const struct {
    const char *space;
    uint32_t set, collection;
} classes[] = {
    {"Service", 0x03837531, 0x03837532},     {"System", 0x03837546, 0x03837547}, {"Session", 0x0383751C, 0x03837530},
    {"Autosession", 0x03837538, 0x03837539}, {"Legacy", 0x03837526, 0x03837527},
};

HRESULT remote_server_create(struct remote_server *s, const char *space, bool is_collection, struct orpc_object **out)
{
    size_t i = 0;
    while (strcmp(classes[i].space, space) != 0)
        i++; /* every namespace has a row */
    const GUID id = identifier(is_collection ? classes[i].collection : classes[i].set);
    return orpc_activate(s->peer, &id, &dispatch_iid, out);
}

HRESULT remote_server_activate(struct remote_server *s, uint32_t class, uint32_t interface, struct orpc_object **out)
{
    const GUID clsid = identifier(class), iid = identifier(interface);
    return orpc_activate(s->peer, &clsid, &iid, out);
}

bool remote_is_interface(const GUID *iid, uint32_t interface)
{
    const GUID expected = identifier(interface);
    return guid_equal(iid, &expected);
}

bool remote_object_is_gone(HRESULT hr)
{
    return hr == (HRESULT)RPC_FAULT_DISCONNECTED;
}

/* ---- calls ---- */

static HRESULT argument_make(const struct remote_argument *a, struct ndr_variant *out, WCHAR **text)
{
    size_t units;
    *out = (struct ndr_variant){0};
    if (a->kind != REMOTE_TEXT) {
        out->vt = a->kind == REMOTE_NUMBER ? NDR_I4 : NDR_BOOL;
        out->number = a->kind == REMOTE_NUMBER ? (uint32_t)a->number : a->number ? VARIANT_TRUE16 : 0;
        return S_OK;
    }
    HRESULT hr = text_to_utf16(a->text, text, &units);
    if (SUCCEEDED(hr)) {
        out->vt = NDR_BSTR;
        out->string = (struct ndr_bstr){.bytes = (const uint8_t *)*text, .size = (uint32_t)(units * sizeof **text)};
    }
    return hr;
}

enum { ARGUMENTS_MOST = 4 };

HRESULT remote_object_invoke(struct orpc_object *o, const char *member, uint32_t flags,
                             const struct remote_argument *arguments, size_t count, struct orpc_answer *answer,
                             struct ndr_variant *value)
{
    struct ndr_variant made[ARGUMENTS_MOST];
    WCHAR *texts[ARGUMENTS_MOST] = {0};
    HRESULT hr = S_OK;
    *answer = (struct orpc_answer){0};
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = argument_make(&arguments[i], &made[i], &texts[i]);
    if (SUCCEEDED(hr))
        hr = orpc_invoke(o, member, flags, made, count, answer, value);
    for (size_t i = 0; i < count; i++) {
        if (texts[i])
            memory_wipe(texts[i], made[i].string.size);
        memory_free(texts[i]);
    }
    return hr;
}

static HRESULT call_method(struct orpc_object *o, const char *method, uint32_t flags,
                           const struct remote_argument *arguments, size_t count)
{
    struct orpc_answer answer;
    const HRESULT hr = remote_object_invoke(o, method, flags, arguments, count, &answer, NULL);
    orpc_answer_free(&answer);
    return hr;
}

HRESULT remote_object_call(struct orpc_object *o, const char *method, const struct remote_argument *arguments,
                           size_t count)
{
    return call_method(o, method, ORPC_METHOD, arguments, count);
}

HRESULT remote_object_call_again(struct orpc_object *o, const char *method, const struct remote_argument *arguments,
                                 size_t count)
{
    return call_method(o, method, ORPC_METHOD | ORPC_REPEATABLE, arguments, count);
}

static HRESULT wrong_type(const char *member)
{
    return error_set(TYPE_MISMATCH, "%s: the other computer returned a value of a different type", member);
}

HRESULT remote_value_text(const char *member, const struct ndr_variant *v, char **out)
{
    *out = NULL;
    if (v->vt != NDR_BSTR)
        return wrong_type(member);
    const size_t size = v->string.is_null ? 0 : v->string.size & ~1u;
    WCHAR *aligned = memory_copy(v->string.bytes ? v->string.bytes : (const uint8_t *)"", size);
    const HRESULT hr = aligned ? text_from_utf16(aligned, size / sizeof *aligned, true, out) : E_OUTOFMEMORY;
    memory_free(aligned);
    return hr;
}

HRESULT remote_object_get_text(struct orpc_object *o, const char *property, char **out)
{
    struct orpc_answer answer;
    struct ndr_variant v;
    *out = NULL;
    HRESULT hr = remote_object_invoke(o, property, ORPC_GET, NULL, 0, &answer, &v);
    if (SUCCEEDED(hr))
        hr = remote_value_text(property, &v, out);
    orpc_answer_free(&answer);
    return hr;
}

HRESULT remote_object_get_number(struct orpc_object *o, const char *property, uint32_t *out)
{
    struct orpc_answer answer;
    struct ndr_variant v;
    *out = 0;
    HRESULT hr = remote_object_invoke(o, property, ORPC_GET, NULL, 0, &answer, &v);
    const size_t size = SUCCEEDED(hr) ? ndr_number_size(v.vt) : 0;
    const bool is_real = SUCCEEDED(hr) && (v.vt == NDR_R4 || v.vt == NDR_R8 || v.vt == NDR_DATE || v.vt == NDR_CY);
    if (SUCCEEDED(hr) && (!size || is_real))
        hr = wrong_type(property);
    if (SUCCEEDED(hr))
        *out = (uint32_t)v.number;
    orpc_answer_free(&answer);
    return hr;
}

HRESULT remote_value_object(struct orpc_object *from, const struct ndr_variant *value, struct orpc_object **out)
{
    *out = NULL;
    if ((value->vt != NDR_DISPATCH && value->vt != NDR_UNKNOWN) || !value->object)
        return error_set(TYPE_MISMATCH, "the other computer returned no object");
    struct orpc_object *o;
    HRESULT hr = orpc_object_adopt(from, value->object, &o);
    if (FAILED(hr) || value->vt == NDR_DISPATCH) {
        *out = SUCCEEDED(hr) ? o : NULL;
        return hr;
    }
    hr = orpc_object_query(o, &dispatch_iid, out);
    orpc_object_release(o);
    return hr;
}

HRESULT remote_object_get(struct orpc_object *o, const char *property, int32_t index, struct orpc_object **out)
{
    struct orpc_answer answer;
    struct ndr_variant v;
    const struct remote_argument at = {.kind = REMOTE_NUMBER, .number = index};
    *out = NULL;
    HRESULT hr = remote_object_invoke(o, property, ORPC_GET, &at, index < 0 ? 0 : 1, &answer, &v);
    if (SUCCEEDED(hr))
        hr = remote_value_object(o, &v, out);
    orpc_answer_free(&answer);
    return hr;
}
