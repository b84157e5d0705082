/* SPDX-License-Identifier: MIT */
/* Runs in a client's process. Forwards the verbs of a set to the server's object that is bound to the same name. The
   server itself checks the caller's access. */
#include "com/facade/facade.h"

#include "com/facade/own_members.h"
#include "com/facade/server_call.h"
#include "com/objects/convert.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/definition.h"
#include "engine/pla/remote_sets.h"
#include "engine/pla/set_credentials.h"
#include "engine/pla/sets.h"

#include <string.h>

static const struct set_verbs facade_verbs;

HRESULT facade_set_create(const char *category, struct object **out)
{
    struct peer *peer = memory_zero(1, sizeof *peer);
    HRESULT hr = peer ? sets_create_with(&facade_verbs, category, out) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(peer);
        return hr;
    }
    set_of(*out)->peer = peer;
    return S_OK;
}

HRESULT facade_collection_create(const char *category, struct object **out)
{
    return sets_collection_create_with(&facade_verbs, category, out);
}

static void facade_destroyed(struct object *o)
{
    remote_sets_verbs.destroyed(o);
    peer_destroy(peer_of(o));
}

/* ---- verbs ---- */

static HRESULT facade_check_server(const char *server)
{
    (void)server;
    return S_OK;
}

/* Whether OpenPLA's own DCOM client must be used for this server. Wine's COM supports only this computer. */
static HRESULT is_remote_server(const char *server, bool *out)
{
    bool own;
    HRESULT hr = sets_is_own_machine(server, &own);
    *out = SUCCEEDED(hr) && !own && os_is_wine();
    return hr;
}

/* Stores the credentials and takes ownership of them. NULL: none. */
static void keep_credentials(struct object *o, char *user, char *password)
{
    struct peer *peer = peer_of(o);
    object_lock(o);
    char *old_user = peer->user, *old_password = peer->password;
    peer->user = user;
    peer->password = password;
    object_unlock(o);
    memory_free(old_user);
    memory_free_secret(old_password);
}

static HRESULT facade_set_credentials(struct object *o, const struct caller *caller, const char *user,
                                      const char *password)
{
    char *own_user = text_copy(user), *own_password = text_copy(password);
    /* Stores the credentials in the peer and through remote_sets_verbs. Only the next commit determines whether the set
       is on this computer or on another one. */
    HRESULT hr =
        own_user && own_password ? remote_sets_verbs.set_credentials(o, caller, user, password) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        keep_credentials(o, own_user, own_password);
        return S_OK;
    }
    memory_free(own_user);
    memory_free_secret(own_password);
    return hr;
}

/* Copies user and password, from memory_alloc; NULL: none were set. */
static HRESULT copy_credentials(struct object *o, char **user, char **password)
{
    struct peer *peer = peer_of(o);
    object_lock(o);
    bool put = peer->user != NULL;
    *user = put ? text_copy(peer->user) : NULL;
    *password = put ? text_copy(peer->password) : NULL;
    object_unlock(o);
    return put && (!*user || !*password) ? E_OUTOFMEMORY : S_OK;
}

/* If this object is bound to a live set, and the commit modifies that set, adds SETS_CREATE_NEW. A live set that is not
   running exists only in the objects that are bound to it, so the server's new object must be allowed to create the
   set. */
static uint32_t mode_for(struct object *o, const char *space, const char *name, uint32_t mode)
{
    if (category_of(space)->source != DEFINITION_LIVE)
        return mode;
    object_lock(o);
    bool known = set_of(o)->space && text_equal_nocase(set_of(o)->Name, name);
    object_unlock(o);
    return known && (mode & SETS_MODIFY) ? mode | SETS_CREATE_NEW : mode;
}

/* Stores `folder`, a result of sets_folder_key, and takes ownership of it. NULL: this process computes the name of the
   next folder itself (read_next_folder). */
static void keep_folder(struct object *o, char *folder)
{
    object_lock(o);
    char *old = peer_of(o)->folder;
    peer_of(o)->folder = folder;
    object_unlock(o);
    memory_free(old);
}

static HRESULT commit_here(struct object *o, const char *space, const char *name, const char *server, uint32_t mode,
                           struct object *issues)
{
    char *own_name = text_copy(name), *own_server = text_copy(server), *folder = sets_folder_key(o), *xml = NULL,
         *whole = NULL, *masked = NULL, *machine = NULL, *user = NULL, *password = NULL;
    IDispatch *set = NULL;
    bool sources = false;
    HRESULT hr = own_name && own_server && folder ? copy_credentials(o, &user, &password) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = set_credentials_pack(o, password, &sources, &masked);
    if (SUCCEEDED(hr))
        hr = set_to_commit_xml(o, false, &xml, NULL);
    if (SUCCEEDED(hr) && sources)
        hr = set_to_commit_xml(o, true, &whole, NULL);
    if (SUCCEEDED(hr))
        hr = peer_machine(server, &machine);
    /* Uses a new object of the server, because the previous one may still have values that were removed from this
       object. */
    if (SUCCEEDED(hr))
        hr = server_create(peer_class_of(space, false), machine, &set);
    if (SUCCEEDED(hr))
        hr = whole_commit_ask(set,
                              &(struct whole_commit){.xml = xml,
                                                     .name = name,
                                                     .user = user,
                                                     .password = password,
                                                     .masked = masked,
                                                     .whole_xml = whole,
                                                     .mode = mode_for(o, space, name, mode)},
                              issues);
    if (SUCCEEDED(hr) && sets_commit_binds(mode)) {
        sets_bind(o, space, &own_name, &own_server);
        sets_forget_latest(o);
        /* The server now has the credentials, and this object no longer returns them. */
        keep_credentials(o, NULL, NULL);
        set_credentials_hide(o);
        peer_keep(o, set, true, NULL);
        keep_folder(o, folder);
        folder = NULL;
    } else if (set) {
        IDispatch_Release(set);
    }
    memory_free_secret(password);
    memory_free(user);
    memory_free(machine);
    memory_free(folder);
    memory_free(masked);
    memory_free_secret(whole);
    memory_free(xml);
    memory_free(own_server);
    memory_free(own_name);
    return hr;
}

static HRESULT facade_commit(struct object *o, const struct caller *caller, const char *space, const char *name,
                             const char *server, uint32_t mode, struct object *issues)
{
    bool is_remote;
    HRESULT hr = is_remote_server(server, &is_remote);
    if (FAILED(hr))
        return hr;
    if (is_remote) {
        hr = remote_sets_verbs.commit(o, caller, space, name, server, mode, issues);
        if (SUCCEEDED(hr) && sets_commit_binds(mode))
            keep_credentials(o, NULL, NULL);
        return hr;
    }
    hr = commit_here(o, space, name, server, mode, issues);
    if (SUCCEEDED(hr) && sets_commit_binds(mode))
        remote_sets_forget(o);
    return hr;
}

/* Fills the object with the server's values. */
static HRESULT facade_fill(struct object *o, const char *xml, const char *account, const char *space, const char *name,
                           const char *server)
{
    HRESULT hr = sets_fill(o, xml, strlen(xml), account, space, name, server);
    if (FAILED(hr))
        return hr;
    keep_credentials(o, NULL, NULL);
    keep_folder(o, sets_folder_key(o));
    return hr;
}

/* Fills the object with the values of `set`, the server's object with the same name, and keeps a reference to `set`. */
static HRESULT fill_and_keep(struct object *o, IDispatch *set, const char *xml, const char *account, const char *space,
                             const char *name, const char *server)
{
    HRESULT hr = facade_fill(o, xml, account, space, name, server);
    if (SUCCEEDED(hr)) {
        IDispatch_AddRef(set);
        peer_keep(o, set, true, NULL);
    }
    return hr;
}

static HRESULT fill_from(struct object *o, IDispatch *set, const char *space, const char *name, const char *server)
{
    char *xml = NULL, *account = NULL;
    HRESULT hr = server_get_text(set, &data_collector_set_class, L"Xml", &xml);
    if (SUCCEEDED(hr))
        hr = server_get_text(set, &data_collector_set_class, L"UserAccount", &account);
    if (SUCCEEDED(hr))
        hr = fill_and_keep(o, set, xml, account, space, name, server);
    memory_free(account);
    memory_free(xml);
    return hr;
}

static HRESULT query_here(struct object *o, const char *space, const char *name, const char *server)
{
    IDispatch *set = NULL;
    char *machine, *xml = NULL, *account = NULL;
    HRESULT hr = peer_machine(server, &machine);
    if (SUCCEEDED(hr))
        hr = server_create(peer_class_of(space, false), machine, &set);
    if (SUCCEEDED(hr)) {
        hr = whole_query_ask(set, name, &account, &xml);
        if (SUCCEEDED(hr))
            hr = fill_and_keep(o, set, xml, account, space, name, server);
        else if (definition_is_damaged(hr)) /* the object is bound to the name; Delete needs nothing else */
            hr = sets_bind_damaged(o, space, name, server, hr);
        IDispatch_Release(set);
    }
    memory_free(account);
    memory_free(xml);
    memory_free(machine);
    return hr;
}

static HRESULT facade_query(struct object *o, const struct caller *caller, const char *space, const char *name,
                            const char *server)
{
    bool is_remote;
    HRESULT hr = is_remote_server(server, &is_remote);
    if (SUCCEEDED(hr) && is_remote)
        return remote_sets_verbs.query(o, caller, space, name, server);
    if (SUCCEEDED(hr))
        hr = query_here(o, space, name, server);
    if (SUCCEEDED(hr))
        remote_sets_forget(o);
    return hr;
}

static HRESULT facade_delete(struct object *o, const struct caller *caller, const char *space, const char *name)
{
    if (remote_sets_is_bound(o))
        return remote_sets_verbs.delete(o, caller, space, name);
    HRESULT hr = peer_verb(o, space, name, L"Delete", DISPATCH_METHOD, NULL, 0, NULL);
    server_lists_outdated();
    return hr;
}

static HRESULT start_or_stop(struct object *o, const char *space, const char *name, const WCHAR *member,
                             bool synchronous)
{
    VARIANT argument = {.vt = VT_BOOL};
    V_BOOL(&argument) = synchronous ? VARIANT_TRUE : VARIANT_FALSE;
    HRESULT hr = peer_verb(o, space, name, member, DISPATCH_METHOD, &argument, 1, NULL);
    server_lists_outdated();
    return hr;
}

static HRESULT get_number(struct object *o, const char *space, const char *name, const WCHAR *property, uint32_t *out)
{
    VARIANT v;
    HRESULT hr = peer_verb(o, space, name, property, DISPATCH_PROPERTYGET, NULL, 0, &v);
    return server_take_number(hr, &v, out);
}

static HRESULT get_text(struct object *o, const char *space, const char *name, const WCHAR *property, char **out)
{
    VARIANT v;
    HRESULT hr = peer_verb(o, space, name, property, DISPATCH_PROPERTYGET, NULL, 0, &v);
    return server_take_text(hr, &v, out);
}

static struct trace_data_collector *trace_collector(struct object *set)
{
    struct items *collectors = &((struct collection *)set_of(set)->DataCollectors)->items;
    return collectors->count == 1 && collectors->list[0]->class == &trace_data_collector_class
               ? (struct trace_data_collector *)collectors->list[0]
               : NULL;
}

/* Reads the session ID, the only value that a start returns (MS-PLA 3.2.4.9, note 26). Failures are ignored, because
   the ETW session runs even if its ID cannot be read. */
static void take_session_id(struct object *o, const char *space, const char *name)
{
    struct object *there = NULL;
    char *xml = NULL;
    uint64_t id = 0;
    HRESULT hr = get_text(o, space, name, L"Xml", &xml);
    if (SUCCEEDED(hr))
        hr = set_create(&there);
    if (SUCCEEDED(hr))
        hr = set_from_own_xml(there, xml, strlen(xml));
    if (SUCCEEDED(hr) && trace_collector(there))
        id = trace_collector(there)->SessionId;
    object_lock(o);
    if (id != 0 && trace_collector(o))
        trace_collector(o)->SessionId = id;
    object_unlock(o);
    object_release(there);
    memory_free(xml);
    error_clear();
}

/* Passes the credentials to the server's object before a start. Only System sets need this, because they are never
   committed: all other sets pass their credentials with the commit. */
static HRESULT give_credentials(struct object *o, const char *space, const char *name)
{
    char *user = NULL, *password = NULL;
    VARIANT arguments[2] = {{.vt = VT_BSTR}, {.vt = VT_BSTR}};
    HRESULT hr = category_of(space)->source == DEFINITION_SHIPPED ? copy_credentials(o, &user, &password) : S_OK;
    if (SUCCEEDED(hr) && user) {
        hr = bstr_from_text(user, &V_BSTR(&arguments[0]));
        if (SUCCEEDED(hr))
            hr = bstr_from_text(password, &V_BSTR(&arguments[1]));
        if (SUCCEEDED(hr))
            hr = peer_verb(o, space, name, L"SetCredentials", DISPATCH_METHOD, arguments, 2, NULL);
        bstr_wipe(V_BSTR(&arguments[1]));
        VariantClear(&arguments[0]);
        VariantClear(&arguments[1]);
    }
    memory_free_secret(password);
    memory_free(user);
    return hr;
}

static HRESULT facade_start(struct object *o, const struct caller *caller, const char *space, const char *name,
                            bool synchronous)
{
    if (remote_sets_is_bound(o))
        return remote_sets_verbs.start(o, caller, space, name, synchronous);
    HRESULT hr = give_credentials(o, space, name);
    if (SUCCEEDED(hr))
        hr = start_or_stop(o, space, name, L"Start", synchronous);
    if (SUCCEEDED(hr) && category_of(space)->source == DEFINITION_LIVE)
        take_session_id(o, space, name);
    return hr;
}

static HRESULT facade_stop(struct object *o, const struct caller *caller, const char *space, const char *name,
                           bool synchronous)
{
    if (remote_sets_is_bound(o))
        return remote_sets_verbs.stop(o, caller, space, name, synchronous);
    return start_or_stop(o, space, name, L"Stop", synchronous);
}

static HRESULT facade_manage(struct object *o, const struct caller *caller, const char *space, const char *name,
                             uint32_t steps, const char *folder, struct object *errors)
{
    if (remote_sets_is_bound(o))
        return remote_sets_verbs.manage(o, caller, space, name, steps, folder, errors);
    VARIANT manager, map, arguments[2] = {{.vt = VT_I4}, {.vt = VT_BSTR}};
    V_I4(&arguments[0]) = (LONG)steps;
    HRESULT hr = bstr_from_text(folder, &V_BSTR(&arguments[1]));
    if (SUCCEEDED(hr))
        hr = peer_verb(o, space, name, L"DataManager", DISPATCH_PROPERTYGET, NULL, 0, &manager);
    if (SUCCEEDED(hr)) {
        hr = V_VT(&manager) == VT_DISPATCH && V_DISPATCH(&manager) ? S_OK : DISP_E_TYPEMISMATCH;
        if (SUCCEEDED(hr))
            hr = server_invoke(V_DISPATCH(&manager), &data_manager_class, L"Run", DISPATCH_METHOD, arguments, 2, &map);
        if (SUCCEEDED(hr)) {
            hr = whole_commit_take_map(&map, errors);
            VariantClear(&map);
        }
        VariantClear(&manager);
    }
    VariantClear(&arguments[1]);
    return hr;
}

/* Reads the files of the latest run from the server's XML. One call to the server is enough, regardless of the number
   of collectors. */
static HRESULT read_files(struct object *o, const char *space, const char *name, struct texts *out)
{
    char *xml = NULL;
    HRESULT hr = get_text(o, space, name, L"Xml", &xml);
    if (SUCCEEDED(hr))
        hr = sets_files_of_xml(xml, out);
    memory_free(xml);
    return hr;
}

/* Reads the folder of the next run from the server, because its name depends on the server's variables and computer
   name. If properties were set since the last commit, the server does not know them. In this case *folder is not
   set. */
static HRESULT read_next_folder(struct object *o, const char *space, const char *name, char **folder)
{
    char *now = sets_folder_key(o);
    if (!now)
        return E_OUTOFMEMORY;
    object_lock(o);
    bool same = peer_of(o)->folder && !strcmp(peer_of(o)->folder, now);
    object_unlock(o);
    memory_free(now);
    if (!same)
        return S_OK;
    HRESULT hr = get_text(o, space, name, L"OutputLocation", folder);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY || server_is_gone(hr))
        return hr;
    error_clear(); /* the pattern is invalid; this process reports the error later, when it computes the name */
    return S_OK;
}

static HRESULT facade_read_live(struct object *o, const char *space, const char *name, unsigned parts,
                                struct set_live *out)
{
    if (remote_sets_is_bound(o))
        return remote_sets_verbs.read_live(o, space, name, parts, out);
    HRESULT hr = S_OK;
    memset(out, 0, sizeof *out);
    if (parts & SET_LIVE_STATUS && !peer_listed_status(o, &out->status))
        hr = get_number(o, space, name, L"Status", &out->status);
    if (SUCCEEDED(hr) && (parts & SET_LIVE_SERIAL_NUMBER))
        hr = get_number(o, space, name, L"SerialNumber", &out->serial_number);
    if (SUCCEEDED(hr) && (parts & SET_LIVE_LOCATION))
        hr = get_text(o, space, name, L"LatestOutputLocation", &out->latest_location);
    if (SUCCEEDED(hr) && (parts & SET_LIVE_FILES))
        hr = read_files(o, space, name, &out->latest_files);
    if (SUCCEEDED(hr) && (parts & SET_LIVE_NEXT_FOLDER))
        hr = read_next_folder(o, space, name, &out->next_folder);
    if (FAILED(hr))
        set_live_free(out);
    return hr;
}

static HRESULT facade_get_run_value(struct object *o, const struct caller *caller, const char *space, const char *name,
                                    const char *key, char **value)
{
    if (remote_sets_is_bound(o))
        return remote_sets_verbs.get_run_value(o, caller, space, name, key, value);
    VARIANT argument = {.vt = VT_BSTR}, v;
    HRESULT hr = bstr_from_text(key, &V_BSTR(&argument));
    if (FAILED(hr))
        return hr;
    hr = peer_verb(o, space, name, L"GetValue", DISPATCH_METHOD, &argument, 1, &v);
    SysFreeString(V_BSTR(&argument));
    return server_take_text(hr, &v, value);
}

/* ---- listing ---- */

struct listing {
    struct object *collection;
    IDispatch *there;         /* the server's collection */
    struct server_list *list; /* the server's list of its sets */
    const char *space, *pattern, *server;
};

/* Adds a set from the list of an OpenPLA server. */
static HRESULT add_listed(const struct listing *l, const char *name, uint32_t index)
{
    struct object *o;
    if (!text_matches(l->pattern, name))
        return S_OK;
    HRESULT hr = facade_set_create(NULL, &o);
    if (FAILED(hr))
        return hr;
    peer_keep_listed(o, l->list, index);
    hr = sets_bind_listed(o, l->space, name, l->server);
    if (SUCCEEDED(hr))
        hr = collection_add(l->collection, o);
    object_release(o);
    return hr;
}

/* Adds the sets by their names. S_FALSE: the server is not an OpenPLA server. */
static HRESULT add_names(const struct listing *l)
{
    uint32_t count, index = 0;
    HRESULT hr = server_get_number(l->there, &data_collector_set_collection_class, L"Count", &count);
    while (hr == S_OK && index < count) {
        struct texts names = {0};
        hr = server_list_names(l->list, index, &names);
        if (hr == S_OK && (!names.count || names.count > count - index))
            hr = error_set(E_UNEXPECTED, "the server has %u sets but returned %u names", (unsigned)count,
                           (unsigned)(index + names.count));
        for (size_t i = 0; hr == S_OK && i < names.count; i++)
            hr = add_listed(l, names.items[i], index++);
        texts_free(&names);
    }
    return hr;
}

/* Adds a set from the collection of another server. */
static HRESULT add_set(IDispatch *item, void *user)
{
    const struct listing *l = user;
    struct object *o = NULL;
    char *name;
    HRESULT hr = server_get_text(item, &data_collector_set_class, L"Name", &name);
    if (FAILED(hr))
        return hr;
    if (text_matches(l->pattern, name)) {
        hr = facade_set_create(NULL, &o);
        if (SUCCEEDED(hr))
            hr = fill_from(o, item, l->space, name, l->server);
        if (SUCCEEDED(hr))
            hr = collection_add(l->collection, o);
        object_release(o);
    }
    memory_free(name);
    return hr;
}

static HRESULT facade_list(struct object *collection, const struct caller *caller, const char *space,
                           const char *pattern, const char *server)
{
    (void)caller;
    bool is_remote;
    const HRESULT known = is_remote_server(server, &is_remote);
    if (FAILED(known) || is_remote)
        return is_remote ? remote_sets_list(collection, space, pattern, server, facade_set_create) : known;
    struct listing l = {collection, NULL, NULL, space, pattern, server};
    char *machine = NULL;
    /* Limits an OpenPLA server's list to one set. Other servers ignore the filter and return all sets. */
    char *filter = text_format(SETS_FILTER_NAME "%s", pattern);
    HRESULT hr = filter ? peer_machine(server, &machine) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = server_create(peer_class_of(space, true), machine, &l.there);
    if (SUCCEEDED(hr))
        hr = server_call(l.there, &data_collector_set_collection_class, L"GetDataCollectorSets",
                         (const char *[]){"", filter}, 2);
    if (SUCCEEDED(hr) && !(l.list = server_list_create(l.there)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = add_names(&l);
    if (hr == S_FALSE)
        hr = server_each(l.there, &data_collector_set_collection_class, add_set, &l);
    server_list_release(l.list);
    if (l.there)
        IDispatch_Release(l.there);
    memory_free(filter);
    memory_free(machine);
    return hr;
}

/* Reads the values that a set had when its list was created. If the server has exited since then, reads the current
   values from a new server. */
static HRESULT facade_read_listed(struct object *o, const char *space, const char *name)
{
    char *xml = NULL, *account = NULL, *folder = NULL;
    struct object *fresh = NULL;
    HRESULT hr = S_OK;
    if (!peer_listed_definition(o, &account, &xml)) {
        hr = get_text(o, space, name, L"Xml", &xml);
        if (SUCCEEDED(hr))
            hr = get_text(o, space, name, L"UserAccount", &account);
    }
    if (SUCCEEDED(hr))
        hr = sets_read_listed(o, xml, strlen(xml), account, &fresh);
    if (SUCCEEDED(hr))
        folder = sets_folder_key(fresh);
    if (fresh && object_take_outstanding(o, fresh, &set_of(o)->listed))
        keep_folder(o, folder);
    else
        memory_free(folder);
    object_release(fresh);
    memory_free(account);
    memory_free(xml);
    return hr;
}

static const struct set_verbs facade_verbs = {
    .check_server = facade_check_server,
    .commit = facade_commit,
    .query = facade_query,
    .delete = facade_delete,
    .start = facade_start,
    .stop = facade_stop,
    .manage = facade_manage,
    .read_live = facade_read_live,
    .get_run_value = facade_get_run_value,
    .set_credentials = facade_set_credentials,
    .list = facade_list,
    .read_listed = facade_read_listed,
    .destroyed = facade_destroyed,
};
