/* SPDX-License-Identifier: MIT */
#include "tests/rpc/set_server.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/rpc/dispatch.h"
#include "engine/rpc/orpc.h"
#include "engine/rpc/port.h"
#include "tests/rpc/made_up_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { A_SET, A_LIST, A_MAP, AN_ITEM, A_MANAGER };
struct served {
    _Atomic unsigned references;
    enum kind kind;
    char space[16], name[64];
    char *xml;
    char account[64], password[64];
    size_t places[SET_SERVER_MOST], count; /* sets in the list */
};

struct served_set served_sets[SET_SERVER_MOST];
bool set_server_filters = true;
HRESULT set_server_query_fails;
static struct orpc_server *server;
static struct lock lock = LOCK_INIT; /* serializes the calls: the sets are plain memory */

#define NOT_FOUND      ((HRESULT)0x80300002) /* PLA_E_DCS_NOT_FOUND */
#define ALREADY_EXISTS ((HRESULT)0x803000B7) /* PLA_E_DCS_ALREADY_EXISTS */
#define NO_MEMBER      ((HRESULT)0x80020003)
#define EXCEPTION      ((HRESULT)0x80020009)
#define IGNORED        0x00300100u /* PLA_S_PROPERTY_IGNORED */

struct served_set *set_server_find(const char *name)
{
    for (size_t i = 0; i < SET_SERVER_MOST; i++)
        if (*served_sets[i].name && text_equal_nocase(served_sets[i].name, name))
            return &served_sets[i];
    return NULL;
}

static void forget(struct served_set *s)
{
    memory_free(s->xml);
    *s = (struct served_set){.xml = NULL};
}

void set_server_forget_sets(void)
{
    for (size_t i = 0; i < SET_SERVER_MOST; i++)
        forget(&served_sets[i]);
}

void set_server_drop_objects(void)
{
    orpc_server_run_down(server, clock_monotonic_ms() + 3600000);
}

size_t set_server_objects(void)
{
    return orpc_server_objects(server);
}

/* ---- objects ---- */

static HRESULT served_create(enum kind kind, const char *space, struct served **out)
{
    *out = memory_zero(1, sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    (*out)->references = 1;
    (*out)->kind = kind;
    text_fit((*out)->space, sizeof(*out)->space, space);
    return S_OK;
}

static bool serves(void *user, const GUID *iid)
{
    (void)user;
    return guid_equal(iid, &dispatch_iid);
}

static HRESULT activate(void *user, const struct orpc_call *call, const GUID *clsid, bool is_factory, void **object)
{
    static const struct {
        uint32_t id;
        enum kind kind;
        const char *space;
    } classes[] = {{0x03837531, A_SET, "Service"},     {0x03837532, A_LIST, "Service"},
                   {0x03837546, A_SET, "System"},      {0x03837547, A_LIST, "System"},
                   {0x0383751C, A_SET, "Session"},     {0x03837530, A_LIST, "Session"},
                   {0x03837538, A_SET, "Autosession"}, {0x03837539, A_LIST, "Autosession"},
                   {0x03837526, A_SET, "Legacy"},      {0x03837527, A_LIST, "Legacy"}};
    (void)user, (void)call, (void)is_factory;
    *object = NULL;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].id == clsid->Data1)
            return served_create(classes[i].kind, classes[i].space, (struct served **)object);
    return ORPC_CLASS_NOT_REGISTERED;
}

static HRESULT query_interface(void *user, void *object, const GUID *iid, void **pointer)
{
    struct served *s = object;
    *pointer = NULL;
    if (!serves(user, iid) && !guid_equal(iid, &orpc_iid_unknown))
        return E_NOINTERFACE;
    s->references++;
    *pointer = s;
    return S_OK;
}

static void release(void *user, void *pointer)
{
    struct served *s = pointer;
    (void)user;
    if (--s->references)
        return;
    memory_free(s->xml);
    memory_free(s);
}

/* ---- members ---- */

struct invoked {
    struct orpc_call *call;
    struct served *o;
    const struct dispatch_invoke *d;
    char *texts[4]; /* string arguments in call order; NULL if the argument has another type */
    struct dispatch_result *result;
    WCHAR *returned;
    struct objref object;
};

static uint32_t number(const struct invoked *i, size_t argument)
{
    return argument < i->d->count ? (uint32_t)i->d->arguments[i->d->count - 1 - argument].number : 0;
}

static const char *text(const struct invoked *i, size_t argument)
{
    return argument < 4 && i->texts[argument] ? i->texts[argument] : "";
}

static HRESULT return_string(struct invoked *i, const char *value)
{
    size_t units;
    HRESULT hr = text_to_utf16(value, &i->returned, &units);
    if (SUCCEEDED(hr))
        i->result->value = (struct ndr_variant){
            .vt = NDR_BSTR, .string = {.bytes = (const uint8_t *)i->returned, .size = (uint32_t)(2 * units)}};
    return hr;
}

static HRESULT return_number(struct invoked *i, uint32_t value)
{
    i->result->value = (struct ndr_variant){.vt = NDR_I4, .number = value};
    return S_OK;
}

static HRESULT return_object(struct invoked *i, enum kind kind, const char *name)
{
    struct served *o;
    HRESULT hr = served_create(kind, i->o->space, &o);
    if (FAILED(hr))
        return hr;
    text_fit(o->name, sizeof o->name, name);
    hr = orpc_export(i->call, o, &dispatch_iid, &i->object);
    release(NULL, o);
    if (SUCCEEDED(hr))
        i->result->value = (struct ndr_variant){.vt = NDR_DISPATCH, .object = &i->object};
    return hr;
}

static HRESULT not_found(const char *name)
{
    return error_set(NOT_FOUND, "no set '%s' there", name);
}

static HRESULT do_query(struct invoked *i)
{
    text_fit(i->o->name, sizeof i->o->name, text(i, 0));
    if (FAILED(set_server_query_fails))
        return set_server_query_fails;
    return set_server_find(i->o->name) ? S_OK : not_found(text(i, 0));
}

static HRESULT do_set_xml(struct invoked *i)
{
    memory_free(i->o->xml);
    i->o->xml = text_copy(text(i, 0));
    return i->o->xml ? return_object(i, A_MAP, "") : E_OUTOFMEMORY;
}

static HRESULT do_set_credentials(struct invoked *i)
{
    text_fit(i->o->account, sizeof i->o->account, text(i, 0));
    text_fit(i->o->password, sizeof i->o->password, text(i, 1));
    return S_OK;
}

static HRESULT do_commit(struct invoked *i)
{
    struct served_set *s = set_server_find(text(i, 0));
    const uint32_t mode = number(i, 2);
    if (s && !(mode & 2))
        return error_set(ALREADY_EXISTS, "'%s' exists there", text(i, 0));
    if (!s && (mode & 3) == 2)
        return not_found(text(i, 0));
    for (size_t place = 0; !s && place < SET_SERVER_MOST; place++)
        s = *served_sets[place].name ? NULL : &served_sets[place];
    if (!s)
        return E_OUTOFMEMORY;
    char *xml = text_copy(i->o->xml ? i->o->xml : "");
    if (!xml)
        return E_OUTOFMEMORY;
    memory_free(s->xml);
    s->xml = xml;
    s->mode = mode;
    text_fit(s->name, sizeof s->name, text(i, 0));
    text_fit(s->space, sizeof s->space, i->o->space);
    text_fit(s->account, sizeof s->account, i->o->account);
    text_fit(s->password, sizeof s->password, i->o->password);
    text_fit(i->o->name, sizeof i->o->name, text(i, 0));
    return return_object(i, A_MAP, "");
}

static HRESULT do_list(struct invoked *i)
{
    static const char prefix[] = "openpla:";
    const char *pattern =
        set_server_filters && !strncmp(text(i, 1), prefix, strlen(prefix)) ? text(i, 1) + strlen(prefix) : "*";
    i->o->count = 0;
    for (size_t place = 0; place < SET_SERVER_MOST; place++)
        if (*served_sets[place].name && !strcmp(served_sets[place].space, i->o->space) &&
            text_matches(pattern, served_sets[place].name))
            i->o->places[i->o->count++] = place;
    return S_OK;
}

static HRESULT do_item(struct invoked *i)
{
    const uint32_t at = number(i, 0);
    if (i->o->kind == A_MAP)
        return return_object(i, AN_ITEM, "");
    return at < i->o->count ? return_object(i, A_SET, served_sets[i->o->places[at]].name) : E_INVALIDARG;
}

static HRESULT do_get_value(struct invoked *i)
{
    return strcmp(text(i, 0), "OpenPLA.LastRunResult") != 0 ? E_INVALIDARG : return_string(i, "from there");
}

static HRESULT with_set(struct invoked *i, const char *member)
{
    struct served_set *s = set_server_find(i->o->name);
    if (!s && strcmp(member, "Delete") != 0)
        return not_found(i->o->name);
    if (!strcmp(member, "Xml"))
        return return_string(i, s->xml);
    if (!strcmp(member, "UserAccount"))
        return return_string(i, *s->account ? s->account : "SYSTEM");
    if (!strcmp(member, "Status"))
        return return_number(i, s->status);
    if (!strcmp(member, "SerialNumber"))
        return return_number(i, s->serial);
    if (!strcmp(member, "LatestOutputLocation"))
        return return_string(i, "C:\\there\\latest");
    if (!strcmp(member, "OutputLocation"))
        return return_string(i, "C:\\there\\next");
    if (!strcmp(member, "DataManager"))
        return return_object(i, A_MANAGER, i->o->name);
    if (!strcmp(member, "Delete")) {
        if (s)
            forget(s);
        return S_OK;
    }
    const bool starts = !strcmp(member, "Start");
    if (starts == (s->status == 1))
        return starts ? (HRESULT)0x803000AA : (HRESULT)0x80300104; /* PLA_E_DCS_IN_USE, PLA_E_DCS_NOT_RUNNING */
    s->status = starts;
    s->serial += starts;
    s->was_synchronous = number(i, 0) != 0;
    return S_OK;
}

static const char *const members[] = {"Query",
                                      "SetXml",
                                      "SetCredentials",
                                      "Commit",
                                      "GetDataCollectorSets",
                                      "Item",
                                      "GetValue",
                                      "Count",
                                      "Name",
                                      "Key",
                                      "Description",
                                      "Value",
                                      "Run",
                                      "Xml",
                                      "UserAccount",
                                      "Status",
                                      "SerialNumber",
                                      "LatestOutputLocation",
                                      "OutputLocation",
                                      "DataManager",
                                      "Delete",
                                      "Start",
                                      "Stop"};
enum { MEMBERS = sizeof members / sizeof *members };

static HRESULT invoke_member(struct invoked *i, const char *member)
{
    static HRESULT (*const methods[])(struct invoked *) = {do_query, do_set_xml, do_set_credentials, do_commit,
                                                           do_list,  do_item,    do_get_value};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        if (!strcmp(member, members[m]))
            return methods[m](i);
    if (!strcmp(member, "Count"))
        return return_number(i, i->o->kind == A_MAP ? 1 : (uint32_t)i->o->count);
    if (!strcmp(member, "Name"))
        return return_string(i, i->o->name);
    if (!strcmp(member, "Key"))
        return return_string(i, "Keywords");
    if (!strcmp(member, "Description"))
        return return_string(i, "not used there");
    if (!strcmp(member, "Value"))
        return return_number(i, IGNORED);
    if (!strcmp(member, "Run"))
        return number(i, 0) == 1 ? return_object(i, A_MAP, "") : E_INVALIDARG;
    return with_set(i, member);
}

static HRESULT arguments_read(struct invoked *i)
{
    HRESULT hr = S_OK;
    for (size_t a = 0; SUCCEEDED(hr) && a < i->d->count && a < 4; a++) {
        const struct ndr_variant *v = &i->d->arguments[i->d->count - 1 - a];
        if (v->vt != NDR_BSTR)
            continue;
        WCHAR *aligned = memory_copy(v->string.bytes ? v->string.bytes : (const uint8_t *)"", v->string.size);
        hr = aligned ? text_from_utf16(aligned, v->string.size / 2, true, &i->texts[a]) : E_OUTOFMEMORY;
        memory_free(aligned);
    }
    return hr;
}

static void answer_invoke(struct orpc_call *call, struct served *o, const struct dispatch_invoke *d,
                          struct ndr_writer *out)
{
    struct dispatch_result result = {
        .source = {.is_null = true}, .description = {.is_null = true}, .help_file = {.is_null = true}};
    struct invoked i = {.call = call, .o = o, .d = d, .result = &result};
    WCHAR *why = NULL;
    size_t units;
    error_clear();
    HRESULT hr = d->id < 0 || d->id >= MEMBERS ? NO_MEMBER : arguments_read(&i);
    if (SUCCEEDED(hr))
        hr = invoke_member(&i, members[d->id]);
    if (FAILED(hr)) {
        result.hr = hr == NO_MEMBER ? hr : EXCEPTION;
        result.scode = hr;
        if (SUCCEEDED(text_to_utf16(error_text(hr), &why, &units)))
            result.description = (struct ndr_bstr){.bytes = (const uint8_t *)why, .size = (uint32_t)(2 * units)};
    }
    dispatch_write_result(out, &result);
    memory_free(why);
    memory_free(i.returned);
    for (size_t a = 0; a < 4; a++)
        memory_free(i.texts[a]);
}

static void answer_names(const struct dispatch_names *n, struct ndr_writer *out)
{
    int32_t id = -1;
    char *name = NULL;
    WCHAR *aligned = memory_copy(n->names[0].bytes, n->names[0].size);
    if (!aligned || FAILED(text_from_utf16(aligned, n->names[0].size / 2, true, &name)))
        abort();
    for (int32_t m = 0; m < (int32_t)MEMBERS; m++)
        if (!strcmp(name, members[m]))
            id = m;
    dispatch_write_ids(out, &id, 1, id < 0 ? (HRESULT)0x80020006 : S_OK);
    memory_free(aligned);
    memory_free(name);
}

static uint32_t call_object(void *user, struct orpc_call *call, void *pointer, struct ndr_reader *in,
                            struct ndr_writer *out)
{
    struct ndr_arena arena = {0};
    struct dispatch_names *names = memory_zero(1, sizeof *names);
    struct dispatch_invoke *invoke = memory_zero(1, sizeof *invoke);
    uint32_t fault = RPC_FAULT_OPNUM;
    (void)user;
    if (!names || !invoke)
        abort();
    lock_enter(&lock);
    if (call->opnum == DISPATCH_NAMES) {
        dispatch_read_names(in, names);
        fault = in->fault;
        if (!fault)
            answer_names(names, out);
    } else if (call->opnum == DISPATCH_INVOKE) {
        dispatch_read_invoke(in, &arena, invoke);
        fault = in->fault;
        if (!fault)
            answer_invoke(call, pointer, invoke, out);
    }
    lock_leave(&lock);
    memory_free(invoke);
    memory_free(names);
    ndr_arena_free(&arena);
    return fault;
}

/* ---- port ---- */

static const struct orpc_handler handler = {
    .serves = serves, .activate = activate, .query = query_interface, .release = release, .call = call_object};

static uint16_t own_port;

static HRESULT session_open(void *user, const char *address, const char *own, void **session)
{
    struct dual_strings bindings = {.count = 1};
    (void)user, (void)address;
    snprintf(bindings.addresses[0], sizeof bindings.addresses[0], "%s[%u]", own, own_port);
    return orpc_session_open(server, &bindings, (struct orpc_session **)session);
}

static uint32_t session_call(void *user, void *session, const struct rpc_call *call, struct ndr_writer *stub)
{
    (void)user;
    return orpc_session_call(session, call, clock_monotonic_ms(), stub);
}

static void session_close(void *user, void *session)
{
    (void)user;
    orpc_session_close(session);
}

static bool port_serves(void *user, const GUID *iid, uint32_t version)
{
    return orpc_server_serves(*(struct orpc_server **)user, iid, version);
}

HRESULT set_server_begin(uint16_t *port)
{
    static const struct rpc_port_settings at = {
        .address = "127.0.0.1", .from = "*", .limits = {.delay_ms = 1, .failures = 1000}};
    const struct rpc_port_handler ends = {
        .user = &server, .open = session_open, .call = session_call, .close = session_close};
    HRESULT hr = orpc_server_open(&handler, NULL, &server);
    if (SUCCEEDED(hr))
        hr = rpc_port_open(&at, &made_up_accounts, port_serves, &ends, &own_port);
    *port = own_port;
    return hr;
}
