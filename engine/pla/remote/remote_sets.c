/* SPDX-License-Identifier: MIT */
/* The verbs of sets of another computer. Each verb calls the server object that is bound to the same name. The set
   keeps that server object. If the server object no longer exists, for example after a restart of the server, the set
   gets a new one. */
#include "engine/pla/remote_sets.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/definition.h"
#include "engine/pla/remote/remote_server.h"
#include "engine/pla/set_credentials.h"
#include "engine/pla/sets.h"

#include <string.h>

/* The data that a set stores about the other computer. The set's lock protects the fields. */
struct remote_binding {
    struct remote_server *server; /* NULL: the set is not bound to another computer */
    struct orpc_object *object;   /* bound to the set's name; NULL: not created yet, or no longer existing */
    char *user, *password;        /* from SetCredentials since the last Query or Commit; NULL: none */
    char *folder;                 /* sets_folder_key at the time of binding */
};

/* ---- the binding ---- */

static struct remote_binding *remote_of(struct object *o)
{
    return set_of(o)->remote;
}

/* Creates the set's binding unless it exists. */
static HRESULT remote_begin(struct object *o)
{
    object_lock(o);
    if (!set_of(o)->remote)
        set_of(o)->remote = memory_zero(1, sizeof(struct remote_binding));
    const bool has_memory = set_of(o)->remote != NULL;
    object_unlock(o);
    return has_memory ? S_OK : E_OUTOFMEMORY;
}

bool remote_sets_is_bound(struct object *o)
{
    object_lock(o);
    const bool is_bound = remote_of(o) && remote_of(o)->server;
    object_unlock(o);
    return is_bound;
}

static void remote_free(struct remote_binding *r)
{
    if (!r)
        return;
    orpc_object_release(r->object);
    remote_server_close(r->server);
    memory_free(r->user);
    memory_free_secret(r->password);
    memory_free(r->folder);
    memory_free(r);
}

void remote_sets_forget(struct object *o)
{
    object_lock(o);
    struct remote_binding *r = remote_of(o);
    set_of(o)->remote = NULL;
    object_unlock(o);
    remote_free(r);
}

/* Replaces the kept credentials. Takes ownership of the strings; NULL: none. */
static void keep_credentials(struct object *o, char *user, char *password)
{
    object_lock(o);
    char *old_user = remote_of(o)->user, *old_password = remote_of(o)->password;
    remote_of(o)->user = user;
    remote_of(o)->password = password;
    object_unlock(o);
    memory_free(old_user);
    memory_free_secret(old_password);
}

/* Replaces the set's server object `before` with `object`, and takes ownership of the reference to `object`. `object`
   NULL: `before` no longer exists. If another thread has already replaced `before`, the other thread's object is kept,
   unless `any` is set. */
static void keep_object(struct object *o, struct orpc_object *object, bool any, const struct orpc_object *before)
{
    object_lock(o);
    struct orpc_object *old = object;
    if (any || remote_of(o)->object == before) {
        old = remote_of(o)->object;
        remote_of(o)->object = object;
    }
    object_unlock(o);
    orpc_object_release(old);
}

/* Binds the set to the server and the object, and takes ownership of the references. Stores sets_folder_key, so that
   later changes of the folder properties are noticed. */
static void remote_bind(struct object *o, struct remote_server *server, struct orpc_object *object)
{
    char *folder = sets_folder_key(o);
    object_lock(o);
    struct remote_binding *r = remote_of(o);
    const struct remote_binding old = *r;
    *r = (struct remote_binding){.server = server, .object = object, .folder = folder};
    object_unlock(o);
    orpc_object_release(old.object);
    remote_server_close(old.server);
    memory_free(old.user);
    memory_free_secret(old.password);
    memory_free(old.folder);
}

/* ---- the server object ---- */

static HRESULT query_object(struct remote_server *server, const char *space, const char *name, struct orpc_object **out)
{
    const struct remote_argument arguments[2] = {{.text = name}, {.text = ""}};
    HRESULT hr = remote_server_create(server, space, false, out);
    if (FAILED(hr))
        return hr;
    hr = remote_object_call_again(*out, "Query", arguments, 2);
    if (definition_is_damaged(hr)) /* the server object is bound; the caller gets it, so that Delete works */
        return hr;
    if (FAILED(hr)) {
        orpc_object_release(*out);
        *out = NULL;
    }
    return hr;
}

/* Returns a reference to the kept server object, or to a new one. */
static HRESULT remote_connect(struct object *o, const char *space, const char *name, struct orpc_object **out)
{
    object_lock(o);
    struct remote_binding *r = remote_of(o);
    struct remote_server *server = r && r->server ? remote_server_reference(r->server) : NULL;
    *out = r && r->object ? orpc_object_reference(r->object) : NULL;
    object_unlock(o);
    HRESULT hr = server ? S_OK : PLA_E_DCS_NOT_FOUND;
    if (server && !*out) {
        hr = query_object(server, space, name, out);
        hr = *out && definition_is_damaged(hr) ? S_OK : hr;
        if (SUCCEEDED(hr))
            keep_object(o, orpc_object_reference(*out), false, NULL);
    }
    remote_server_close(server);
    return hr;
}

/* Calls `what` with the set's server object, and again with a new server object if the first server object no longer
   exists. */
static HRESULT remote_with_object(struct object *o, const char *space, const char *name,
                                  HRESULT (*what)(struct orpc_object *object, void *user), void *user)
{
    HRESULT hr = E_FAIL;
    for (int attempt = 0; attempt < 2; attempt++) {
        struct orpc_object *object;
        hr = remote_connect(o, space, name, &object);
        if (FAILED(hr))
            return hr;
        hr = what(object, user);
        if (remote_object_is_gone(hr))
            keep_object(o, NULL, false, object);
        orpc_object_release(object);
        if (!remote_object_is_gone(hr))
            break;
    }
    return hr;
}

struct method {
    const char *name;
    const struct remote_argument *arguments;
    size_t count;
};

static HRESULT call_method(struct orpc_object *object, void *user)
{
    const struct method *m = user;
    return remote_object_call(object, m->name, m->arguments, m->count);
}

/* ---- verbs ---- */

static HRESULT remote_check_server(const char *server)
{
    (void)server;
    return S_OK;
}

static HRESULT remote_credentials(struct object *o, const struct caller *caller, const char *user, const char *password)
{
    (void)caller;
    char *own_user = text_copy(user), *own_password = text_copy(password);
    HRESULT hr = own_user && own_password ? remote_begin(o) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        keep_credentials(o, own_user, own_password);
        return S_OK;
    }
    memory_free(own_user);
    memory_free_secret(own_password);
    return hr;
}

/* Copies the kept credentials; from memory_alloc, NULL: no credentials were set. */
static HRESULT copy_credentials(struct object *o, char **user, char **password)
{
    object_lock(o);
    const bool has_any = remote_of(o)->user != NULL;
    *user = has_any ? text_copy(remote_of(o)->user) : NULL;
    *password = has_any ? text_copy(remote_of(o)->password) : NULL;
    object_unlock(o);
    return has_any && (!*user || !*password) ? E_OUTOFMEMORY : S_OK;
}

static HRESULT give_credentials(struct orpc_object *object, const char *user, const char *password)
{
    const struct remote_argument arguments[2] = {{.text = user}, {.text = password}};
    return user ? remote_object_call_again(object, "SetCredentials", arguments, 2) : S_OK;
}

static HRESULT take_issue(struct orpc_object *item, struct object *issues)
{
    char *key = NULL, *text = NULL;
    uint32_t what;
    bool is_known = false;
    HRESULT hr = remote_object_get_text(item, "Key", &key);
    if (SUCCEEDED(hr))
        hr = remote_object_get_number(item, "Value", &what);
    if (SUCCEEDED(hr))
        hr = remote_object_get_text(item, "Description", &text);
    if (SUCCEEDED(hr))
        hr = issues_has(issues, (HRESULT)what, key, &is_known);
    if (SUCCEEDED(hr) && !is_known)
        hr = issues_add(issues, (HRESULT)what, key, text);
    memory_free(key);
    memory_free(text);
    return hr;
}

/* Adds to `issues` the items of the server's value map that `issues` does not contain yet. */
static HRESULT take_issues(struct orpc_object *from, const struct ndr_variant *value, struct object *issues)
{
    struct orpc_object *map, *item;
    uint32_t count = 0;
    if (!value->object)
        return S_OK;
    HRESULT hr = remote_value_object(from, value, &map);
    if (FAILED(hr))
        return hr;
    hr = remote_object_get_number(map, "Count", &count);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count && i < INT32_MAX; i++) {
        hr = remote_object_get(map, "Item", (int32_t)i, &item);
        if (FAILED(hr))
            break;
        hr = take_issue(item, issues);
        orpc_object_release(item);
    }
    orpc_object_release(map);
    return hr;
}

static HRESULT commit_object(struct orpc_object *object, const char *xml, const char *name, uint32_t mode,
                             struct object *issues)
{
    const struct remote_argument text = {.text = xml};
    const struct remote_argument arguments[3] = {
        {.text = name}, {.text = ""}, {.kind = REMOTE_NUMBER, .number = (int32_t)mode}};
    struct orpc_answer answer;
    struct ndr_variant value;
    HRESULT hr = remote_object_call_again(object, "SetXml", &text, 1);
    if (FAILED(hr))
        return hr;
    hr = remote_object_invoke(object, "Commit", ORPC_METHOD, arguments, 3, &answer, &value);
    /* Failures of take_issues are ignored, because the set is committed even if the result cannot be read. */
    if (SUCCEEDED(hr) && FAILED(take_issues(object, &value, issues)))
        error_clear();
    orpc_answer_free(&answer);
    return hr;
}

/* Returns the mode for the server. A set of the namespace Session is not stored. If its session is not running, the set
   exists only in set objects. The new server object does not know a set that this object committed earlier, so a mode
   that allows changes must also allow creating the set. */
static uint32_t mode_for(struct object *o, const char *space, const char *name, uint32_t mode)
{
    if (category_of(space)->source != DEFINITION_LIVE || !remote_sets_is_bound(o))
        return mode;
    object_lock(o);
    const bool is_known = set_of(o)->space && text_equal_nocase(set_of(o)->Name, name);
    object_unlock(o);
    return is_known && (mode & SETS_MODIFY) ? mode | SETS_CREATE_NEW : mode;
}

static HRESULT remote_commit(struct object *o, const struct caller *caller, const char *space, const char *name,
                             const char *server, uint32_t mode, struct object *issues)
{
    (void)caller;
    char *own_name = text_copy(name), *own_server = text_copy(server), *xml = NULL, *user = NULL, *password = NULL;
    struct remote_server *there = NULL;
    struct orpc_object *object = NULL;
    HRESULT hr = own_name && own_server ? remote_begin(o) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = copy_credentials(o, &user, &password);
    if (SUCCEEDED(hr)) /* includes the passwords of data sources; the connection is encrypted */
        hr = set_to_commit_xml(o, true, &xml, NULL);
    if (SUCCEEDED(hr))
        hr = remote_server_open(server, &there);
    /* Use a new server object, because the previous one may have properties that the set no longer has. */
    if (SUCCEEDED(hr))
        hr = remote_server_create(there, space, false, &object);
    if (SUCCEEDED(hr))
        hr = give_credentials(object, user, password);
    if (SUCCEEDED(hr))
        hr = commit_object(object, xml, name, mode_for(o, space, name, mode), issues);
    if (SUCCEEDED(hr) && sets_commit_binds(mode)) {
        sets_bind(o, space, &own_name, &own_server);
        sets_forget_latest(o);
        set_credentials_hide(o);
        remote_bind(o, there, object);
    } else {
        orpc_object_release(object);
        remote_server_close(there);
    }
    memory_free_secret(password);
    memory_free(user);
    memory_free_secret(xml);
    memory_free(own_server);
    memory_free(own_name);
    return hr;
}

/* Fills the set from the server object. Takes ownership of the references to `server` and `object`, even on failure. */
static HRESULT fill_from(struct object *o, struct remote_server *server, struct orpc_object *object, const char *space,
                         const char *name, const char *server_name)
{
    char *xml = NULL, *account = NULL;
    HRESULT hr = remote_begin(o);
    if (SUCCEEDED(hr))
        hr = remote_object_get_text(object, "Xml", &xml);
    if (SUCCEEDED(hr))
        hr = remote_object_get_text(object, "UserAccount", &account);
    if (SUCCEEDED(hr))
        hr = sets_fill(o, xml, strlen(xml), account, space, name, server_name);
    if (SUCCEEDED(hr)) {
        remote_bind(o, server, object);
    } else {
        orpc_object_release(object);
        remote_server_close(server);
    }
    memory_free(account);
    memory_free(xml);
    return hr;
}

static HRESULT remote_query(struct object *o, const struct caller *caller, const char *space, const char *name,
                            const char *server)
{
    (void)caller;
    struct remote_server *there;
    struct orpc_object *object = NULL;
    HRESULT hr = remote_server_open(server, &there);
    if (FAILED(hr))
        return hr;
    hr = query_object(there, space, name, &object);
    if (SUCCEEDED(hr))
        return fill_from(o, there, object, space, name, server);
    if (object && SUCCEEDED(remote_begin(o))) { /* the definition is corrupt; Delete only needs the name */
        hr = sets_bind_damaged(o, space, name, server, hr);
        remote_bind(o, there, object);
        return hr;
    }
    orpc_object_release(object);
    remote_server_close(there);
    return hr;
}

static HRESULT remote_delete(struct object *o, const struct caller *caller, const char *space, const char *name)
{
    struct method m = {.name = "Delete"};
    (void)caller;
    return remote_with_object(o, space, name, call_method, &m);
}

static HRESULT start_or_stop(struct object *o, const char *space, const char *name, const char *method,
                             bool synchronous)
{
    const struct remote_argument argument = {.kind = REMOTE_BOOLEAN, .number = synchronous};
    struct method m = {.name = method, .arguments = &argument, .count = 1};
    return remote_with_object(o, space, name, call_method, &m);
}

/* A set of the namespace System is never committed, so a start first passes the set's credentials to the server
   object. */
static HRESULT give_start_credentials(struct object *o, const char *space, const char *name)
{
    char *user = NULL, *password = NULL;
    HRESULT hr = category_of(space)->source == DEFINITION_SHIPPED ? copy_credentials(o, &user, &password) : S_OK;
    if (SUCCEEDED(hr) && user) {
        const struct remote_argument arguments[2] = {{.text = user}, {.text = password}};
        struct method m = {.name = "SetCredentials", .arguments = arguments, .count = 2};
        hr = remote_with_object(o, space, name, call_method, &m);
    }
    memory_free_secret(password);
    memory_free(user);
    return hr;
}

static HRESULT remote_start(struct object *o, const struct caller *caller, const char *space, const char *name,
                            bool synchronous)
{
    (void)caller;
    HRESULT hr = give_start_credentials(o, space, name);
    return SUCCEEDED(hr) ? start_or_stop(o, space, name, "Start", synchronous) : hr;
}

static HRESULT remote_stop(struct object *o, const struct caller *caller, const char *space, const char *name,
                           bool synchronous)
{
    (void)caller;
    return start_or_stop(o, space, name, "Stop", synchronous);
}

struct managing {
    uint32_t steps;
    const char *folder;
    struct object *errors;
};

static HRESULT run_data_manager(struct orpc_object *object, void *user)
{
    const struct managing *m = user;
    const struct remote_argument arguments[2] = {{.kind = REMOTE_NUMBER, .number = (int32_t)m->steps},
                                                 {.text = m->folder}};
    struct orpc_object *manager;
    struct orpc_answer answer;
    struct ndr_variant value;
    HRESULT hr = remote_object_get(object, "DataManager", -1, &manager);
    if (FAILED(hr))
        return hr;
    hr = remote_object_invoke(manager, "Run", ORPC_METHOD, arguments, 2, &answer, &value);
    if (SUCCEEDED(hr)) {
        hr = take_issues(manager, &value, m->errors);
        if (remote_object_is_gone(hr)) /* Run must not be repeated with a new object */
            hr = error_set(HRESULT_FROM_WIN32(ERROR_HANDLE_EOF), "Run: the server ended before it returned its errors");
    }
    orpc_answer_free(&answer);
    orpc_object_release(manager);
    return hr;
}

static HRESULT remote_manage(struct object *o, const struct caller *caller, const char *space, const char *name,
                             uint32_t steps, const char *folder, struct object *errors)
{
    struct managing m = {.steps = steps, .folder = folder, .errors = errors};
    (void)caller;
    return remote_with_object(o, space, name, run_data_manager, &m);
}

/* ---- live values ---- */

struct reading {
    unsigned parts;
    bool has_own_folder; /* uncommitted properties, which the server does not know, determine the next folder */
    struct set_live *out;
};

/* Reads the files of the latest run from the server's XML, with one call for any number of collectors. */
static HRESULT read_files(struct orpc_object *object, struct texts *out)
{
    char *xml = NULL;
    HRESULT hr = remote_object_get_text(object, "Xml", &xml);
    if (SUCCEEDED(hr))
        hr = sets_files_of_xml(xml, out);
    memory_free(xml);
    return hr;
}

static HRESULT read_next_folder(struct orpc_object *object, char **out)
{
    HRESULT hr = remote_object_get_text(object, "OutputLocation", out);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY || remote_object_is_gone(hr))
        return hr;
    error_clear(); /* invalid pattern: this process reports the error when it computes the name */
    return S_OK;
}

static HRESULT read_parts(struct orpc_object *object, void *user)
{
    const struct reading *r = user;
    struct set_live *out = r->out;
    HRESULT hr = S_OK;
    set_live_free(out);
    memset(out, 0, sizeof *out);
    if (r->parts & SET_LIVE_STATUS)
        hr = remote_object_get_number(object, "Status", &out->status);
    if (SUCCEEDED(hr) && (r->parts & SET_LIVE_SERIAL_NUMBER))
        hr = remote_object_get_number(object, "SerialNumber", &out->serial_number);
    if (SUCCEEDED(hr) && (r->parts & SET_LIVE_LOCATION))
        hr = remote_object_get_text(object, "LatestOutputLocation", &out->latest_location);
    if (SUCCEEDED(hr) && (r->parts & SET_LIVE_FILES))
        hr = read_files(object, &out->latest_files);
    if (SUCCEEDED(hr) && (r->parts & SET_LIVE_NEXT_FOLDER) && !r->has_own_folder)
        hr = read_next_folder(object, &out->next_folder);
    return hr;
}

static HRESULT remote_read_live(struct object *o, const char *space, const char *name, unsigned parts,
                                struct set_live *out)
{
    char *folder = sets_folder_key(o);
    struct reading r = {.parts = parts, .out = out};
    memset(out, 0, sizeof *out);
    if (!folder)
        return E_OUTOFMEMORY;
    object_lock(o);
    r.has_own_folder = !remote_of(o)->folder || strcmp(remote_of(o)->folder, folder) != 0;
    object_unlock(o);
    memory_free(folder);
    HRESULT hr = remote_with_object(o, space, name, read_parts, &r);
    if (FAILED(hr))
        set_live_free(out);
    return hr;
}

struct valued {
    const char *key;
    char **value;
};

static HRESULT get_value(struct orpc_object *object, void *user)
{
    const struct valued *v = user;
    const struct remote_argument key = {.text = v->key};
    struct orpc_answer answer;
    struct ndr_variant value;
    *v->value = NULL;
    HRESULT hr = remote_object_invoke(object, "GetValue", ORPC_METHOD | ORPC_REPEATABLE, &key, 1, &answer, &value);
    if (SUCCEEDED(hr))
        hr = remote_value_text("GetValue", &value, v->value);
    orpc_answer_free(&answer);
    return hr;
}

static HRESULT remote_get_run_value(struct object *o, const struct caller *caller, const char *space, const char *name,
                                    const char *key, char **value)
{
    struct valued v = {.key = key, .value = value};
    (void)caller;
    return remote_with_object(o, space, name, get_value, &v);
}

/* ---- lists ---- */

struct listing {
    struct object *collection;
    HRESULT (*create)(const char *category, struct object **out);
    struct remote_server *server;
    const char *space, *pattern, *server_name;
};

/* Adds a new set object for `item` to the list. Takes ownership of the reference `item`. */
static HRESULT list_add(const struct listing *l, struct orpc_object *item)
{
    struct object *o = NULL;
    char *name = NULL;
    HRESULT hr = remote_object_get_text(item, "Name", &name);
    if (FAILED(hr) || !text_matches(l->pattern, name)) {
        orpc_object_release(item);
        memory_free(name);
        return hr;
    }
    hr = l->create(NULL, &o);
    if (SUCCEEDED(hr)) {
        hr = fill_from(o, remote_server_reference(l->server), item, l->space, name, l->server_name);
        item = NULL;
    }
    if (SUCCEEDED(hr))
        hr = collection_add(l->collection, o);
    orpc_object_release(item);
    object_release(o);
    memory_free(name);
    return hr;
}

/* Lists the sets. OpenPLA's server restricts the list to the pattern. Other servers ignore this filter and return all
   sets. */
static HRESULT list_all(const struct listing *l, struct orpc_object *there)
{
    char *filter = text_format(SETS_FILTER_NAME "%s", l->pattern);
    const struct remote_argument arguments[2] = {{.text = ""}, {.text = filter}};
    struct orpc_object *item;
    uint32_t count = 0;
    HRESULT hr = filter ? remote_object_call_again(there, "GetDataCollectorSets", arguments, 2) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = remote_object_get_number(there, "Count", &count);
    for (uint32_t i = 0; SUCCEEDED(hr) && i < count && i < INT32_MAX; i++) {
        hr = remote_object_get(there, "Item", (int32_t)i, &item);
        if (SUCCEEDED(hr))
            hr = list_add(l, item);
    }
    memory_free(filter);
    return hr;
}

HRESULT remote_sets_list(struct object *collection, const char *space, const char *pattern, const char *server,
                         HRESULT (*create)(const char *category, struct object **out))
{
    struct listing l = {
        .collection = collection, .create = create, .space = space, .pattern = pattern, .server_name = server};
    struct orpc_object *there = NULL;
    HRESULT hr = remote_server_open(server, &l.server);
    if (SUCCEEDED(hr))
        hr = remote_server_create(l.server, space, true, &there);
    if (SUCCEEDED(hr))
        hr = list_all(&l, there);
    orpc_object_release(there);
    remote_server_close(l.server);
    return hr;
}

static HRESULT remote_list(struct object *collection, const struct caller *caller, const char *space,
                           const char *pattern, const char *server)
{
    (void)caller;
    return remote_sets_list(collection, space, pattern, server, remote_sets_create);
}

/* Frees the binding. No lock is needed, because no other thread uses the set. */
static void remote_destroyed(struct object *o)
{
    remote_free(remote_of(o));
}

const struct set_verbs remote_sets_verbs = {
    .check_server = remote_check_server,
    .commit = remote_commit,
    .query = remote_query,
    .delete = remote_delete,
    .start = remote_start,
    .stop = remote_stop,
    .manage = remote_manage,
    .read_live = remote_read_live,
    .get_run_value = remote_get_run_value,
    .set_credentials = remote_credentials,
    .list = remote_list,
    .destroyed = remote_destroyed,
};

HRESULT remote_sets_create(const char *category, struct object **out)
{
    return sets_create_with(&remote_sets_verbs, category, out);
}

HRESULT remote_sets_collection_create(const char *category, struct object **out)
{
    return sets_collection_create_with(&remote_sets_verbs, category, out);
}
