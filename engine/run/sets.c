/* SPDX-License-Identifier: MIT */
/* Sets as clients handle them: the way between the model, the store and the run. MS-PLA 3.2.4.1.53 to 57, 3.2.4.16.8.
 */
#include "engine/run/sets.h"

#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/os/pdh_types.h"
#include "engine/pdh/path.h"
#include "engine/run/category.h"
#include "engine/run/definition.h"
#include "engine/run/run.h"
#include "engine/store/store.h"

#include <stdio.h>
#include <string.h>

enum { /* CommitMode, MS-PLA 2.2.2.3 */
       COMMIT_CREATE_NEW = 0x0001,
       COMMIT_MODIFY = 0x0002,
       COMMIT_CREATE_OR_MODIFY = 0x0003,
       COMMIT_UPDATE_RUNNING = 0x0010,
       COMMIT_FLUSH_TRACE = 0x0020,
       COMMIT_VALIDATE_ONLY = 0x1000
};

static struct data_collector_set *set_of(struct object *o)
{
    return (struct data_collector_set *)o;
}

static HRESULT read_live(const char *space, const char *name, struct set_live *out)
{
    const struct category *c = category_of(space);
    struct run_state state;
    struct run_record record;
    memset(out, 0, sizeof *out);
    out->status = c->status;
    if (!c->runs)
        return S_OK;
    HRESULT hr = run_query(space, name, &state);
    if (SUCCEEDED(hr))
        hr = store_load_run(space, name, &record);
    if (FAILED(hr))
        return hr;
    out->status = state.status;
    if (record.known) {
        out->serial_number = record.serial_number;
        out->latest_location = record.latest_location;
        out->latest_files = record.latest_files;
        record.latest_location = NULL;
        memset(&record.latest_files, 0, sizeof record.latest_files);
    }
    run_record_free(&record);
    return S_OK;
}

/* Under the lock, or before anybody else has the set. */
static void follow_namespace(struct data_collector_set *set)
{
    const struct category *c = category_of(set->space ? set->space : set->category);
    set->one_collector = c && c->one_trace;
}

HRESULT sets_create(const char *category, struct object **out)
{
    HRESULT hr = set_create(out);
    if (FAILED(hr))
        return hr;
    set_of(*out)->read_live = read_live;
    set_of(*out)->category = category;
    follow_namespace(set_of(*out));
    return S_OK;
}

HRESULT sets_collection_create(const char *category, struct object **out)
{
    HRESULT hr = object_create(&data_collector_set_collection_class, NULL, out);
    if (SUCCEEDED(hr))
        ((struct data_collector_set_collection *)*out)->category = category;
    return hr;
}

/* Only the own machine: there is no second hop to another (DECISIONS 17). */
static HRESULT check_server(const char *server)
{
    if (!server || !server[0] || !strcmp(server, "."))
        return S_OK;
    if (text_utf16_length(server) >= 1024)
        return error_set(E_INVALIDARG, "server: the name has %u characters, not fewer than 1024",
                         (unsigned)text_utf16_length(server));
    const char *bare = server + strspn(server, "\\");
    char *own = host_computer_name();
    if (!own)
        return E_OUTOFMEMORY;
    size_t n = strcspn(bare, ".");
    bool is_own = text_equal_nocase(bare, "localhost") || !strcmp(bare, "127.0.0.1") || !strcmp(bare, "::1") ||
                  text_equal_nocase(bare, own);
    if (!is_own && strlen(own) == n) { /* a full domain name of this machine */
        char *first = text_copy_n(bare, n);
        is_own = first && text_equal_nocase(first, own);
        memory_free(first);
    }
    memory_free(own);
    return is_own ? S_OK
                  : error_set(HRESULT_FROM_WIN32(53 /* ERROR_BAD_NETPATH */),
                              "server: '%s' is not this machine; connect to that machine's own server", server);
}

/* Namespace and name, held against what the set's class fixes and what the set is bound to. */
static HRESULT resolve(struct object *set, const char *full, const char **space, char **name)
{
    HRESULT hr = store_split_name(full, space, name);
    if (FAILED(hr))
        return hr;
    object_lock(set);
    const char *bound = set_of(set)->space, *category = set_of(set)->category;
    object_unlock(set);
    if (category && !strchr(full, '\\'))
        *space = category;
    if (category && strcmp(category, *space) != 0)
        hr = error_set(E_NOINTERFACE, "'%s' is in the namespace %s, the object's class is for %s", full, *space,
                       category);
    else if (bound && strcmp(bound, *space) != 0)
        hr = error_set(E_NOINTERFACE, "'%s' is in the namespace %s, the object is bound to %s", full, *space, bound);
    if (FAILED(hr)) {
        memory_free(*name);
        *name = NULL;
    }
    return hr;
}

static void bind(struct object *o, const char *space, char **name, char **server)
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

/* ---- Commit ---- */

/* At least \x\y: what is not even that was never meant as a path. */
static bool looks_like_path(const char *text)
{
    const char *last = strrchr(text, '\\');
    return text[0] == '\\' && last > text + 1 && last[1];
}

/* One path. Text that was never meant as a path fails Commit; a path that no counter can have, as real templates hold
   some, is an issue, and the start leaves it out. Whether a counter exists is known at the start (DECISIONS 16). */
static HRESULT check_counter_path(const char *text, const char *key, struct object *issues)
{
    struct counter_path path;
    PDH_STATUS status = counter_path_parse(text, &path);
    counter_path_free(&path);
    if (!status)
        return S_OK;
    if (status == (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    HRESULT hr = error_set(PDH_CSTATUS_BAD_COUNTERNAME,
                           "PerformanceCounters: '%s' is no counter path (\\Object(Instance)\\Counter)", text);
    if (!looks_like_path(text))
        return hr;
    char *why = text_copy(error_text(hr));
    hr = why ? issues_add(issues, hr, key, why) : E_OUTOFMEMORY;
    memory_free(why);
    return hr;
}

static HRESULT check_counter_paths(struct object *set, struct object *issues)
{
    struct object **list;
    size_t count;
    unsigned ordinal = 0;
    HRESULT hr = collection_snapshot(set_of(set)->DataCollectors, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct value paths;
        char key[96];
        if (list[i]->class != &performance_counter_collector_class)
            continue;
        snprintf(key, sizeof key, "%s[%u]/PerformanceCounters", list[i]->class->name, ++ordinal);
        hr = object_get(list[i], &list[i]->class->properties[IPerformanceCounterDataCollector_PerformanceCounters],
                        &paths);
        for (size_t k = 0; SUCCEEDED(hr) && k < paths.texts.count; k++)
            hr = check_counter_path(paths.texts.items[k], key, issues);
        value_free(&paths);
    }
    objects_release(list, count);
    return hr;
}

static HRESULT store_mode_of(uint32_t mode, enum store_mode *out)
{
    uint32_t known = COMMIT_CREATE_OR_MODIFY | COMMIT_UPDATE_RUNNING | COMMIT_FLUSH_TRACE | COMMIT_VALIDATE_ONLY;
    if (mode & ~known)
        return error_set(E_INVALIDARG, "mode: 0x%X is no combination of CommitMode values", (unsigned)mode);
    switch (mode & COMMIT_CREATE_OR_MODIFY) {
    case COMMIT_CREATE_NEW:
        *out = STORE_CREATE;
        break;
    case COMMIT_MODIFY:
        *out = STORE_MODIFY;
        break;
    default: /* also mode 0, which Microsoft's own sample passes */
        *out = STORE_CREATE_OR_MODIFY;
        break;
    }
    return S_OK;
}

/* Tells the collectors that what was put as their LatestOutputLocation is in the run record now, or superseded. */
static void forget_latest(struct object *o)
{
    struct items *collectors = &((struct collection *)set_of(o)->DataCollectors)->items;
    object_lock(o);
    for (size_t i = 0; i < collectors->count; i++)
        collector_of(collectors->list[i])->LatestWasPut = false;
    object_unlock(o);
}

/* The LatestOutputLocations that were put, in their places of the record's list; S_FALSE: there are none. */
static HRESULT record_latest_files(struct object *o, struct run_record *record)
{
    struct items *collectors = &((struct collection *)set_of(o)->DataCollectors)->items;
    struct texts files = {0};
    bool any = false;
    HRESULT hr = S_OK;
    object_lock(o);
    for (size_t i = 0; SUCCEEDED(hr) && i < collectors->count; i++) {
        const struct data_collector *c = collector_of(collectors->list[i]);
        const char *kept = i < record->latest_files.count ? record->latest_files.items[i] : "";
        hr = texts_add(&files, c->LatestWasPut ? c->LatestOutputLocation : kept);
        any = any || c->LatestWasPut;
    }
    object_unlock(o);
    if (SUCCEEDED(hr) && any) {
        texts_free(&record->latest_files);
        record->latest_files = files;
        return S_OK;
    }
    texts_free(&files);
    return FAILED(hr) ? hr : S_FALSE;
}

/* The run record of a set whose SerialNumber or LatestOutputLocation was put: that stands for the next run
   (DECISIONS 13). */
static HRESULT save_put_state(struct object *o, const char *space, const char *name, bool serial, bool latest)
{
    struct run_record record;
    char *location = NULL;
    HRESULT hr = store_load_run(space, name, &record);
    if (FAILED(hr))
        return hr;
    hr = record_latest_files(o, &record);
    bool files = hr == S_OK;
    hr = FAILED(hr) ? hr : S_OK;
    if (FAILED(hr) || (!files && !serial && !latest))
        goto done;
    object_lock(o);
    if (serial || !record.known)
        record.serial_number = set_of(o)->SerialNumber;
    location = text_copy(latest || !record.known ? set_of(o)->LatestOutputLocation : record.latest_location);
    object_unlock(o);
    if (!location) {
        hr = E_OUTOFMEMORY;
        goto done;
    }
    memory_free(record.latest_location);
    record.latest_location = location;
    location = NULL;
    record.known = true;
    hr = store_save_run(space, name, &record);
done:
    memory_free(location);
    run_record_free(&record);
    return hr;
}

/* Whether the running set stands in the way, and for what is not stored whether there is one to modify. */
static HRESULT check_present(struct object *o, const struct category *c, const char *name, enum store_mode store_mode,
                             uint32_t mode)
{
    struct run_state state;
    if (c->source != DEFINITION_STORED) {
        object_lock(o);
        bool known = set_of(o)->space && text_equal_nocase(set_of(o)->Name, name);
        object_unlock(o);
        return store_mode == STORE_MODIFY && !known
                   ? error_set(PLA_E_DCS_NOT_FOUND, "\"%s\\%.300s\": %s", c->space, name, c->none)
                   : S_OK;
    }
    HRESULT hr = run_query(c->space, name, &state);
    /* To a new set the running one is a name that is taken, as store_save says. */
    if (SUCCEEDED(hr) && state.status != RUN_STOPPED && store_mode != STORE_CREATE && !(mode & COMMIT_UPDATE_RUNNING))
        hr = error_set(PLA_E_DCS_IN_USE, "Commit: the set '%s' is running; add plaUpdateRunningInstance (0x10)", name);
    return hr;
}

static HRESULT save(struct object *o, const struct category *c, const char *name, enum store_mode mode, bool serial_put,
                    bool latest_put)
{
    char *xml = NULL;
    size_t size = 0;
    if (c->source != DEFINITION_STORED)
        return S_OK;
    HRESULT hr = object_to_xml(o, &xml, &size);
    if (SUCCEEDED(hr))
        hr = store_save(c->space, name, mode, xml, size);
    if (SUCCEEDED(hr) && c->runs)
        hr = save_put_state(o, c->space, name, serial_put, latest_put);
    memory_free(xml);
    return hr;
}

static HRESULT bind_and_save(struct object *o, const struct category *c, const char *name, char **server,
                             enum store_mode mode)
{
    const char *old_space = set_of(o)->space;
    bool serial_put = set_of(o)->serial_put, latest_put = set_of(o)->latest_put;
    char *own_name = text_copy(name);
    if (!own_name)
        return E_OUTOFMEMORY;
    bind(o, c->space, &own_name, server);
    HRESULT hr = save(o, c, name, mode, serial_put, latest_put);
    if (SUCCEEDED(hr)) {
        forget_latest(o);
    } else {
        bind(o, old_space, &own_name, server);
        set_of(o)->serial_put = serial_put;
        set_of(o)->latest_put = latest_put;
    }
    memory_free(own_name);
    return hr;
}

HRESULT set_commit(struct object *o, const char *name, const char *server, uint32_t mode, struct object *issues)
{
    const char *space;
    char *bare, *kept_server;
    enum store_mode store_mode = STORE_CREATE_OR_MODIFY;
    HRESULT hr = check_server(server);
    if (SUCCEEDED(hr))
        hr = store_mode_of(mode, &store_mode);
    if (FAILED(hr))
        return hr;
    hr = resolve(o, name, &space, &bare);
    if (FAILED(hr))
        return hr;
    const struct category *c = category_of(space);
    kept_server = text_copy(server);
    if (!kept_server)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = category_refuses(&c->commit, "Commit");
    if (SUCCEEDED(hr))
        hr = category_check_collectors(c, o);
    if (SUCCEEDED(hr))
        hr = check_counter_paths(o, issues);
    if (SUCCEEDED(hr))
        hr = category_validate(c, mode & COMMIT_UPDATE_RUNNING, issues);
    if (SUCCEEDED(hr))
        hr = set_validate(o, issues);
    if (SUCCEEDED(hr) && !(mode & COMMIT_VALIDATE_ONLY)) {
        hr = check_present(o, c, bare, store_mode, mode);
        if (SUCCEEDED(hr))
            hr = bind_and_save(o, c, bare, &kept_server, store_mode);
    }
    memory_free(kept_server);
    memory_free(bare);
    return hr;
}

/* ---- Query, Delete, Start, Stop ---- */

/* Fills `o` with what the store has under the name; binds it. */
static HRESULT load(struct object *o, const char *space, const char *name, const char *server)
{
    char *xml = NULL, *own_name = text_copy(name), *own_server = text_copy(server);
    struct object *fresh = NULL, *issues = NULL;
    size_t size;
    HRESULT hr = own_name && own_server ? definition_load(space, name, &xml, &size) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = object_create(&data_collector_set_class, o, &fresh);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_from_xml(fresh, xml, size, issues);
    if (SUCCEEDED(hr)) {
        object_take(o, fresh, true);
        bind(o, space, &own_name, &own_server);
        forget_latest(o);
    } else if (hr == OPENPLA_E_MALFORMED_XML) {
        hr = error_prefix(hr, "the stored set '%s'", name);
    }
    object_release(issues);
    object_release(fresh);
    memory_free(xml);
    memory_free(own_name);
    memory_free(own_server);
    return hr;
}

HRESULT set_query(struct object *o, const char *name, const char *server)
{
    const char *space;
    char *bare;
    HRESULT hr = check_server(server);
    if (SUCCEEDED(hr))
        hr = resolve(o, name, &space, &bare);
    if (FAILED(hr))
        return hr;
    hr = load(o, space, bare, server);
    memory_free(bare);
    return hr;
}

/* What the set is bound to, copied; *name from memory_alloc. */
static HRESULT bound(struct object *o, const char **space, char **name, HRESULT unbound, const char *method)
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

HRESULT set_delete(struct object *o)
{
    const char *space;
    char *name;
    struct run_state state;
    HRESULT hr = bound(o, &space, &name, PLA_E_DCS_NOT_FOUND, "Delete");
    if (FAILED(hr))
        return hr;
    const struct category *c = category_of(space);
    hr = category_refuses(&c->delete, "Delete");
    if (SUCCEEDED(hr) && c->source == DEFINITION_NONE)
        hr = error_set(PLA_E_DCS_NOT_FOUND, "Delete: \"%s\\%.300s\": %s", space, name, c->none);
    if (SUCCEEDED(hr))
        hr = run_query(space, name, &state);
    if (SUCCEEDED(hr) && state.status != RUN_STOPPED)
        hr = error_set(PLA_E_DCS_IN_USE, "Delete: the set '%s' is running", name);
    if (SUCCEEDED(hr))
        hr = store_delete(space, name);
    memory_free(name);
    return hr;
}

/* What the set's namespace refuses; that of its class as long as it is bound to none. */
static HRESULT refused(struct object *o, bool start)
{
    object_lock(o);
    const struct category *c = category_of(set_of(o)->space ? set_of(o)->space : set_of(o)->category);
    object_unlock(o);
    return !c ? S_OK : start ? category_refuses(&c->start, "Start") : category_refuses(&c->stop, "Stop");
}

HRESULT set_start(struct object *o, bool synchronous)
{
    const char *space;
    char *name;
    HRESULT hr = refused(o, true);
    if (SUCCEEDED(hr))
        hr = bound(o, &space, &name, E_INVALIDARG, "Start");
    if (FAILED(hr))
        return hr;
    hr = run_start(space, name, synchronous);
    if (SUCCEEDED(hr)) {
        /* From now on the run's own count and location stand. */
        object_lock(o);
        set_of(o)->serial_put = set_of(o)->latest_put = false;
        object_unlock(o);
        forget_latest(o);
    }
    memory_free(name);
    return hr;
}

HRESULT set_stop(struct object *o, bool synchronous)
{
    const char *space;
    char *name;
    HRESULT hr = refused(o, false);
    if (SUCCEEDED(hr))
        hr = bound(o, &space, &name, PLA_E_DCS_NOT_RUNNING, "Stop");
    if (FAILED(hr))
        return hr;
    hr = run_stop(space, name, synchronous);
    memory_free(name);
    return hr;
}

/* ---- what the latest run left to be known ---- */

HRESULT sets_get_value(struct object *o, const char *key, char **value)
{
    const char *space;
    char *name;
    struct run_record record;
    HRESULT hr = set_get_value(o, key, value);
    bool message = hr == E_INVALIDARG && key && text_equal_nocase(key, SETS_LAST_RUN_MESSAGE);
    if (!message && (hr != E_INVALIDARG || !key || !text_equal_nocase(key, SETS_LAST_RUN_RESULT)))
        return hr;
    hr = bound(o, &space, &name, PLA_E_DCS_NOT_FOUND, "GetValue");
    if (FAILED(hr))
        return hr;
    hr = store_load_run(space, name, &record);
    memory_free(name);
    if (FAILED(hr))
        return hr;
    *value = message ? text_copy(record.last_message) : text_format("0x%08X", (unsigned)record.last_result);
    run_record_free(&record);
    return *value ? S_OK : E_OUTOFMEMORY;
}

/* ---- listing ---- */

static const char *category_of_collection(struct object *collection)
{
    return ((struct data_collector_set_collection *)collection)->category;
}

static HRESULT add_set(struct object *collection, const char *space, const char *name, const char *server)
{
    struct object *set;
    HRESULT hr = sets_create(category_of_collection(collection), &set);
    if (FAILED(hr))
        return hr;
    hr = load(set, space, name, server);
    /* A set that another process deleted meanwhile is simply not there. */
    hr = hr == PLA_E_DCS_NOT_FOUND ? S_OK : SUCCEEDED(hr) ? collection_add(collection, set) : hr;
    object_release(set);
    return hr;
}

static HRESULT add_space(struct object *collection, const char *space, const char *pattern, const char *server)
{
    struct texts names = {0};
    HRESULT hr = definition_list(space, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++)
        if (text_matches(pattern, names.items[i]))
            hr = add_set(collection, space, names.items[i], server);
    texts_free(&names);
    return hr;
}

static bool names_space(const char *filter, size_t length, const char *space)
{
    char name[16] = {0};
    if (length >= sizeof name)
        return false;
    memcpy(name, filter, length);
    return text_equal_nocase(name, space);
}

HRESULT sets_find(struct object *collection, const char *server, const char *filter)
{
    const char *category = category_of_collection(collection);
    struct object *found;
    HRESULT hr = category ? S_OK : check_server(server);
    if (FAILED(hr))
        return hr;
    hr = object_create(&data_collector_set_collection_class, collection, &found);
    if (FAILED(hr))
        return hr;
    ((struct data_collector_set_collection *)found)->category = category;
    const char *mark = filter ? strchr(filter, '\\') : NULL;
    bool known = category != NULL;
    if (category)
        hr = add_space(found, category, "*", server);
    for (const char *const *space = store_namespaces(); !category && SUCCEEDED(hr) && *space; space++) {
        if (mark && !names_space(filter, (size_t)(mark - filter), *space))
            continue;
        known = true;
        hr = add_space(found, *space, mark ? mark + 1 : filter && filter[0] ? filter : "*", server);
    }
    if (SUCCEEDED(hr) && !known)
        hr = error_set(E_INVALIDARG, "filter: '%s' names no namespace (Service, System, Session, Autosession, Legacy)",
                       filter);
    if (SUCCEEDED(hr))
        collection_exchange(collection, found);
    object_release(found);
    return hr;
}
