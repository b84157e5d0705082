/* SPDX-License-Identifier: MIT */
/* The verbs that clients call on sets: checks each call before the verb's implementation runs (MS-PLA 3.2.4.1.52 to 57,
   3.2.4.16.8). */
#include "engine/pla/sets.h"

#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/pdh_types.h"
#include "engine/pla/definition.h"
#include "engine/pla/model.h"
#include "engine/pla/sets/trace_set.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"

#include <stdio.h>
#include <string.h>

/* Applies the namespace to the set. Call it under the set's lock, or before another thread can use the set. */
static void follow_namespace(struct data_collector_set *set)
{
    const struct category *c = category_of(set->space ? set->space : set->category);
    set->one_collector = c && c->one_trace;
}

HRESULT sets_create(const char *category, struct object **out)
{
    return sets_create_with(&sets_local_verbs, category, out);
}

HRESULT sets_create_with(const struct set_verbs *verbs, const char *category, struct object **out)
{
    HRESULT hr = set_create(out);
    if (FAILED(hr))
        return hr;
    set_of(*out)->verbs = verbs;
    set_of(*out)->category = category;
    follow_namespace(set_of(*out));
    return S_OK;
}

static struct data_collector_set_collection *collection_of(struct object *o)
{
    return (struct data_collector_set_collection *)o;
}

HRESULT sets_collection_create(const char *category, struct object **out)
{
    return sets_collection_create_with(&sets_local_verbs, category, out);
}

HRESULT sets_collection_create_with(const struct set_verbs *verbs, const char *category, struct object **out)
{
    HRESULT hr = object_create(&data_collector_set_collection_class, NULL, out);
    if (FAILED(hr))
        return hr;
    collection_of(*out)->verbs = verbs;
    collection_of(*out)->category = category;
    return S_OK;
}

/* Checks a server's name. The classes of MS-PLA have a fixed namespace; these classes return the server's name but do
   not use it (MS-PLA 3.2.4.1.53, 3.2.4.1.54), because a client may know its computer by any name. For the other
   classes, the verbs check whether they can use the server. */
static HRESULT check_server(const struct set_verbs *verbs, const char *category, const char *server)
{
    if (server && text_utf16_length(server) >= 1024)
        return error_set(E_INVALIDARG, "server: the name has %u characters (fewer than 1024 are allowed)",
                         (unsigned)text_utf16_length(server));
    return category ? S_OK : verbs->check_server(server);
}

static HRESULT check_server_of(struct object *set, const char *server)
{
    return check_server(set_of(set)->verbs, set_of(set)->category, server);
}

HRESULT sets_is_own_machine(const char *server, bool *out)
{
    return os_is_own_name(server, out);
}

/* Splits the name and checks it against the namespace of the set's class and against the set's binding. */
static HRESULT set_resolve_name(struct object *set, const char *full, const char **space, char **name)
{
    HRESULT hr = store_split_name(full, space, name);
    if (FAILED(hr))
        return hr;
    object_lock(set);
    const char *bound_space = set_of(set)->space, *category = set_of(set)->category;
    object_unlock(set);
    if (category && !strchr(full, '\\'))
        *space = category;
    if (category && strcmp(category, *space) != 0)
        hr = error_set(E_NOINTERFACE, "'%s' is in the namespace %s, but the object's class is for %s", full, *space,
                       category);
    else if (bound_space && strcmp(bound_space, *space) != 0)
        hr = error_set(E_NOINTERFACE, "'%s' is in the namespace %s, but the object is bound to %s", full, *space,
                       bound_space);
    if (FAILED(hr)) {
        memory_free(*name);
        *name = NULL;
    }
    return hr;
}

void sets_bind(struct object *o, const char *space, char **name, char **server)
{
    struct data_collector_set *set = set_of(o);
    object_lock(o);
    char *old_name = set->Name, *old_server = set->Server;
    set->space = space;
    set->Name = *name;
    set->Server = *server;
    set->serial_put = set->latest_put = false;
    follow_namespace(set);
    object_unlock(o);
    *name = old_name;
    *server = old_server;
}

HRESULT sets_bind_damaged(struct object *o, const char *space, const char *name, const char *server, HRESULT why)
{
    struct error_kept kept = error_keep(why);
    char *own_name = text_copy(name), *own_server = text_copy(server);
    object_lock(o);
    bool free = !set_of(o)->space;
    object_unlock(o);
    if (free && own_name && own_server)
        sets_bind(o, space, &own_name, &own_server);
    memory_free(own_name);
    memory_free(own_server);
    return error_restore(&kept);
}

HRESULT sets_files_of_xml(const char *xml, struct texts *out)
{
    struct object *set = NULL, **collectors;
    size_t count;
    HRESULT hr = set_create_from_xml(xml, strlen(xml), &set);
    if (SUCCEEDED(hr))
        hr = collection_snapshot(set_of(set)->DataCollectors, &collectors, &count);
    if (SUCCEEDED(hr)) {
        for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
            hr = texts_add(out, collector_of(collectors[i])->LatestOutputLocation);
        objects_release(collectors, count);
    }
    object_release(set);
    return hr;
}

char *sets_folder_key(struct object *o)
{
    const struct data_collector_set *set = set_of(o);
    object_lock(o);
    char *key = text_format("%s|%s|%u|%s", set->RootPath, set->Subdirectory, (unsigned)set->SubdirectoryFormat,
                            set->SubdirectoryFormatPattern);
    object_unlock(o);
    return key;
}

/* ---- Commit ---- */

/* If counter_path_check rejects a path, reports the path as an issue. The path is not an error, because a start skips
   it. Published templates contain such paths, and Windows accepts them (DECISIONS 34). Whether a counter exists is
   checked only at a start (DECISIONS 16). */
static HRESULT bad_counter_path(const char *text, const char *property, const char *key, struct object *issues)
{
    HRESULT hr = error_set(PDH_CSTATUS_BAD_COUNTERNAME, "%s: '%s' is not a counter path (\\Object(Instance)\\Counter)",
                           property, text);
    struct error_kept why = error_keep(hr);
    return issues_add(issues, hr, key, why.text);
}

/* Checks the counter path of a threshold. Fails with E_OUTOFMEMORY only. */
static HRESULT is_bad_threshold(const char *text, bool *bad)
{
    struct alert_threshold threshold;
    HRESULT hr = alert_threshold_parse(text, &threshold);
    *bad = SUCCEEDED(hr) && counter_path_check(threshold.path);
    memory_free(threshold.path);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Returns copies of the invalid paths only, because nearly all paths are valid. */
static HRESULT find_bad_paths(struct object *collector, bool alert, struct texts *bad)
{
    const struct texts *paths = alert ? &((struct alert_collector *)collector)->AlertThresholds
                                      : &((struct performance_counter_collector *)collector)->PerformanceCounters;
    HRESULT hr = S_OK;
    object_lock(collector);
    for (size_t i = 0; SUCCEEDED(hr) && i < paths->count; i++) {
        bool is_bad = !alert && counter_path_check(paths->items[i]);
        if (alert)
            hr = is_bad_threshold(paths->items[i], &is_bad);
        if (SUCCEEDED(hr) && is_bad)
            hr = texts_add(bad, paths->items[i]);
    }
    object_unlock(collector);
    return hr;
}

static HRESULT check_counter_paths(struct object *set, struct object *issues)
{
    struct object **list;
    size_t count;
    unsigned ordinals[2] = {0, 0};
    HRESULT hr = collection_snapshot(set_of(set)->DataCollectors, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct texts bad = {0};
        char key[96];
        const bool alert = list[i]->class == &alert_collector_class;
        const char *property = alert ? "AlertThresholds" : "PerformanceCounters";
        if (!alert && list[i]->class != &performance_counter_collector_class)
            continue;
        snprintf(key, sizeof key, "%s[%u]/%s", list[i]->class->name, ++ordinals[alert], property);
        hr = find_bad_paths(list[i], alert, &bad);
        for (size_t k = 0; SUCCEEDED(hr) && k < bad.count; k++)
            hr = bad_counter_path(bad.items[k], property, key, issues);
        texts_free(&bad);
    }
    objects_release(list, count);
    return hr;
}

/* From now on, the LatestOutputLocations of the collectors count as not set by a client. The client's values are now in
   the run record, or a new run has replaced them. */
void sets_forget_latest(struct object *o)
{
    struct items *collectors = &((struct collection *)set_of(o)->DataCollectors)->items;
    object_lock(o);
    for (size_t i = 0; i < collectors->count; i++)
        collector_of(collectors->list[i])->LatestWasPut = false;
    object_unlock(o);
}

/* Checks what Commit would store; fails, or adds issues. */
static HRESULT check_what_is_put(struct object *o, const struct category *c, const char *name, uint32_t mode,
                                 struct object *issues)
{
    const bool stored = c->source == DEFINITION_STORED || c->source == DEFINITION_REGISTRY;
    HRESULT hr = category_check_collectors(c, o);
    if (SUCCEEDED(hr))
        hr = check_counter_paths(o, issues);
    if (SUCCEEDED(hr) && c->one_trace)
        hr = trace_set_validate(o, name, issues);
    if (SUCCEEDED(hr))
        hr = category_validate(c, o, mode & SETS_UPDATE_RUNNING, issues);
    if (SUCCEEDED(hr) && (stored || c->one_trace))
        hr = set_check_output(o);
    if (SUCCEEDED(hr) && stored)
        hr = set_check_limits(o);
    if (SUCCEEDED(hr) && stored)
        hr = settings_validate(o, issues);
    return hr;
}

bool sets_commit_binds(uint32_t mode)
{
    return !(mode & SETS_VALIDATE_ONLY) && mode != SETS_FLUSH_TRACE;
}

HRESULT set_commit(struct object *o, const struct caller *caller, const char *name, const char *server, uint32_t mode,
                   struct object *issues)
{
    const char *space;
    char *bare;
    HRESULT hr = check_server_of(o, server);
    if (FAILED(hr))
        return hr;
    mode &= enumeration_mask(&enumeration_CommitMode); /* undefined flags are ignored (MS-PLA 2.2) */
    hr = set_resolve_name(o, name, &space, &bare);
    if (FAILED(hr))
        return hr;
    const struct category *c = category_of(space);
    hr = category_refuses(&c->commit, "Commit");
    if (SUCCEEDED(hr))
        hr = store_check_new_name(bare);
    if (SUCCEEDED(hr) && mode != SETS_FLUSH_TRACE) /* that mode stores nothing */
        hr = check_what_is_put(o, c, bare, mode, issues);
    if (SUCCEEDED(hr))
        hr = set_of(o)->verbs->commit(o, caller, space, bare, server, mode, issues);
    TRACE_STEP(sets, "commit %s\\%s, mode %u: 0x%08X", space, bare, (unsigned)mode, (unsigned)hr);
    memory_free(bare);
    return hr;
}

/* ---- Query, Delete, Start, Stop ---- */

/* Creates an object from the definition. It shares the set's lock. */
static HRESULT read_fresh(struct object *o, const char *xml, size_t size, const char *account, const char *space,
                          const char *name, struct object **out)
{
    const struct category *c = category_of(space);
    HRESULT hr = object_create(&data_collector_set_class, o, out);
    if (FAILED(hr))
        return hr;
    hr = c && c->one_trace ? set_from_own_xml(*out, xml, size) : set_from_xml(*out, xml, size, NULL);
    if (SUCCEEDED(hr) && account)
        hr = object_put_text(*out, &(*out)->class->properties[IDataCollectorSet_UserAccount], account);
    if (SUCCEEDED(hr))
        return hr;
    object_release(*out);
    *out = NULL;
    return hr == OPENPLA_E_MALFORMED_XML ? error_prefix(hr, "the stored set '%s'", name) : hr;
}

HRESULT sets_fill(struct object *o, const char *xml, size_t size, const char *account, const char *space,
                  const char *name, const char *server)
{
    char *own_name = text_copy(name), *own_server = text_copy(server);
    struct object *fresh = NULL;
    HRESULT hr = own_name && own_server ? read_fresh(o, xml, size, account, space, name, &fresh) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        object_take(o, fresh, true);
        set_forget_credentials(o); /* UserAccount is the account of the stored set */
        sets_bind(o, space, &own_name, &own_server);
        sets_forget_latest(o);
    }
    object_release(fresh);
    memory_free(own_name);
    memory_free(own_server);
    return hr;
}

HRESULT sets_bind_listed(struct object *o, const char *space, const char *name, const char *server)
{
    char *own_name = text_copy(name), *own_server = text_copy(server);
    HRESULT hr = own_name && own_server ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        sets_bind(o, space, &own_name, &own_server);
        set_of(o)->listed = true;
    }
    memory_free(own_name);
    memory_free(own_server);
    return hr;
}

HRESULT sets_read_listed(struct object *o, const char *xml, size_t size, const char *account, struct object **fresh)
{
    *fresh = NULL;
    object_lock(o);
    const char *space = set_of(o)->space;
    char *name = text_copy(set_of(o)->Name), *server = text_copy(set_of(o)->Server);
    object_unlock(o);
    HRESULT hr = name && server ? read_fresh(o, xml, size, account, space, name, fresh) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        sets_bind(*fresh, space, &name, &server);
        sets_forget_latest(*fresh);
    }
    memory_free(server);
    memory_free(name);
    return hr;
}

HRESULT set_query(struct object *o, const struct caller *caller, const char *name, const char *server)
{
    const char *space;
    char *bare;
    HRESULT hr = check_server_of(o, server);
    if (SUCCEEDED(hr))
        hr = set_resolve_name(o, name, &space, &bare);
    if (FAILED(hr))
        return hr;
    hr = set_of(o)->verbs->query(o, caller, space, bare, server);
    TRACE_STEP(sets, "query %s\\%s: 0x%08X", space, bare, (unsigned)hr);
    memory_free(bare);
    return hr;
}

/* Copies the set's binding; *name from memory_alloc. */
static HRESULT set_copy_binding(struct object *o, const char **space, char **name, HRESULT unbound, const char *method)
{
    HRESULT hr = S_OK;
    object_lock(o);
    *space = set_of(o)->space;
    *name = *space ? text_copy(set_of(o)->Name) : NULL;
    if (!*space)
        hr = error_set(unbound, "%s: the set was never committed or queried", method);
    else if (!*name)
        hr = E_OUTOFMEMORY;
    object_unlock(o);
    return hr;
}

HRESULT set_delete(struct object *o, const struct caller *caller)
{
    const char *space;
    char *name;
    HRESULT hr = set_copy_binding(o, &space, &name, PLA_E_DCS_NOT_FOUND, "Delete");
    if (FAILED(hr))
        return hr;
    const struct category *c = category_of(space);
    hr = category_refuses(&c->delete, "Delete");
    if (SUCCEEDED(hr) && c->source == DEFINITION_NONE)
        hr = error_set(PLA_E_DCS_NOT_FOUND, "Delete: '%s\\%.300s': %s", space, name, c->none);
    if (SUCCEEDED(hr))
        hr = set_of(o)->verbs->delete (o, caller, space, name);
    memory_free(name);
    return hr;
}

/* Checks whether the namespace of the set allows Start or Stop. An unbound set has the namespace of its class. */
static HRESULT set_check_category(struct object *o, bool start)
{
    object_lock(o);
    const struct category *c = category_of(set_of(o)->space ? set_of(o)->space : set_of(o)->category);
    object_unlock(o);
    return !c ? S_OK : start ? category_refuses(&c->start, "Start") : category_refuses(&c->stop, "Stop");
}

HRESULT set_start(struct object *o, const struct caller *caller, bool synchronous)
{
    const char *space;
    char *name;
    HRESULT hr = set_check_category(o, true);
    if (SUCCEEDED(hr))
        hr = set_copy_binding(o, &space, &name, E_INVALIDARG, "Start");
    if (FAILED(hr))
        return hr;
    hr = set_of(o)->verbs->start(o, caller, space, name, synchronous);
    if (SUCCEEDED(hr)) {
        /* The serial number and location of the run replace the values that a client set. */
        object_lock(o);
        set_of(o)->serial_put = set_of(o)->latest_put = false;
        object_unlock(o);
        sets_forget_latest(o);
    }
    TRACE_STEP(sets, "start %s\\%s: 0x%08X", space, name, (unsigned)hr);
    memory_free(name);
    return hr;
}

HRESULT set_stop(struct object *o, const struct caller *caller, bool synchronous)
{
    const char *space;
    char *name;
    HRESULT hr = set_check_category(o, false);
    if (SUCCEEDED(hr))
        hr = set_copy_binding(o, &space, &name, PLA_E_DCS_NOT_RUNNING, "Stop");
    if (FAILED(hr))
        return hr;
    hr = set_of(o)->verbs->stop(o, caller, space, name, synchronous);
    TRACE_STEP(sets, "stop %s\\%s: 0x%08X", space, name, (unsigned)hr);
    memory_free(name);
    return hr;
}

HRESULT set_manage(struct object *o, const struct caller *caller, uint32_t steps, const char *folder,
                   struct object *errors)
{
    const char *space;
    char *name;
    if (steps & ~(uint32_t)DATA_MANAGER_STEPS)
        return error_set(E_INVALIDARG, "Run: invalid Steps 0x%X: expected a combination of 0x1, 0x2, 0x4, 0x8 and 0x10",
                         (unsigned)steps);
    HRESULT hr = set_copy_binding(o, &space, &name, PLA_E_DCS_NOT_FOUND, "Run");
    if (FAILED(hr))
        return hr;
    hr = category_of(space)->runs ? set_of(o)->verbs->manage(o, caller, space, name, steps, folder, errors)
                                  : error_set(E_NOTIMPL, "Run: '%s\\%.300s': a trace session has no runs", space, name);
    memory_free(name);
    return hr;
}

/* ---- values ---- */

HRESULT sets_get_value(struct object *o, const struct caller *caller, const char *key, char **value)
{
    const char *space;
    char *name;
    HRESULT hr = set_get_value(o, key, value);
    const struct setting *setting = hr == E_INVALIDARG && key ? setting_find(key) : NULL;
    if (!setting || !setting->of_run)
        return hr;
    hr = set_copy_binding(o, &space, &name, PLA_E_DCS_NOT_FOUND, "GetValue");
    if (FAILED(hr))
        return hr;
    hr = set_of(o)->verbs->get_run_value(o, caller, space, name, key, value);
    memory_free(name);
    return hr;
}

void set_forget_credentials(struct object *o)
{
    object_lock(o);
    char *password = set_of(o)->password;
    set_of(o)->password = NULL;
    set_of(o)->credentials_put = false;
    object_unlock(o);
    memory_free_secret(password);
}

HRESULT sets_set_credentials(struct object *o, const struct caller *caller, const char *user, const char *password)
{
    const struct property *p = &o->class->properties[IDataCollectorSet_UserAccount];
    const char *fault = *user       ? account_name_fault(user)
                        : *password ? "the name is empty, but a password is given"
                                    : NULL;
    if (fault)
        return error_set(E_INVALIDARG, "SetCredentials: user: '%.300s': %s", user, fault);
    HRESULT hr = set_of(o)->verbs->set_credentials(o, caller, user, password);
    if (SUCCEEDED(hr))
        hr = object_put_text(o, p, user[0] ? user : p->text);
    if (FAILED(hr))
        set_forget_credentials(o);
    return hr;
}

/* ---- listing ---- */

static bool names_space(const char *filter, size_t length, const char *space)
{
    char name[16] = {0};
    if (length >= sizeof name)
        return false;
    memcpy(name, filter, length);
    return text_equal_nocase(name, space);
}

HRESULT sets_find(struct object *collection, const struct caller *caller, const char *server, const char *filter)
{
    const struct set_verbs *verbs = collection_of(collection)->verbs;
    const char *category = collection_of(collection)->category;
    struct object *found;
    HRESULT hr = check_server(verbs, category, server);
    if (FAILED(hr))
        return hr;
    hr = object_create(&data_collector_set_collection_class, collection, &found);
    if (FAILED(hr))
        return hr;
    bool known = category != NULL;
    bool names_only = category && filter && !strncmp(filter, SETS_FILTER_NAME, strlen(SETS_FILTER_NAME));
    const char *mark = filter ? strchr(filter, '\\') : NULL;
    collection_of(found)->verbs = verbs;
    collection_of(found)->category = category;
    if (category)
        hr = verbs->list(found, caller, category, names_only ? filter + strlen(SETS_FILTER_NAME) : "*", server);
    for (const char *const *space = store_namespaces(); !category && SUCCEEDED(hr) && *space; space++) {
        if (mark && !names_space(filter, (size_t)(mark - filter), *space))
            continue;
        known = true;
        hr = verbs->list(found, caller, *space, mark ? mark + 1 : filter && filter[0] ? filter : "*", server);
        /* If the filter names no namespace, the client gets the other sets even if tracing does not work. */
        if (FAILED(hr) && hr != E_OUTOFMEMORY && !mark && category_of(*space)->one_trace) {
            error_clear();
            hr = S_OK;
        }
    }
    if (SUCCEEDED(hr) && !known)
        hr = error_set(E_INVALIDARG,
                       "filter: unknown namespace in '%s' (Service, System, Session, Autosession, Legacy)", filter);
    if (SUCCEEDED(hr))
        collection_exchange(collection, found);
    object_release(found);
    return hr;
}
