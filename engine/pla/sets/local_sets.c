/* SPDX-License-Identifier: MIT */
/* Implements the verbs of sets in this process: they use the store, and start sets in host processes (MS-PLA 3.2.4.1.53
   to 57, 3.2.4.16.8). */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/quotas.h"
#include "engine/pla/definition.h"
#include "engine/pla/model/validate.h"
#include "engine/pla/run.h"
#include "engine/pla/run/member.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/set_credentials.h"
#include "engine/pla/sets.h"
#include "engine/pla/sets/run_folders.h"
#include "engine/pla/sets/trace_set.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Accepts only this machine: the server does not connect to other machines for its clients (DECISIONS 17). */
static HRESULT only_own_machine(const char *server)
{
    bool is_own;
    HRESULT hr = sets_is_own_machine(server, &is_own);
    if (FAILED(hr) || is_own)
        return hr;
    return error_set(HRESULT_FROM_WIN32(53 /* ERROR_BAD_NETPATH */),
                     "server: '%s' is not this machine (connect to that machine's server instead)", server);
}

static HRESULT read_live(struct object *set, const char *space, const char *name, unsigned parts, struct set_live *out)
{
    (void)set;
    const struct category *c = category_of(space);
    struct run_state state = {0};
    struct run_record record = {0};
    memset(out, 0, sizeof *out);
    out->status = c->status;
    if (c->source == DEFINITION_LIVE)
        return session_set_read_live(name, out);
    if (!c->runs)
        return S_OK;
    HRESULT hr = parts & SET_LIVE_STATUS ? run_query(space, name, &state) : S_OK;
    /* Loading the record takes the store's lock. Reading a status must not wait for this lock. */
    if (SUCCEEDED(hr) && parts & ~SET_LIVE_STATUS)
        hr = store_load_run(space, name, &record);
    /* A corrupt record must not make the set unusable; Start and OpenPLA.LastRunMessage report it. */
    if (definition_is_damaged(hr))
        record = (struct run_record){0};
    else if (FAILED(hr))
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

/* ---- Commit ---- */

static enum store_mode store_mode_of(uint32_t mode)
{
    switch (mode & (SETS_CREATE_NEW | SETS_MODIFY)) {
    case SETS_CREATE_NEW:
        return STORE_CREATE;
    case SETS_MODIFY:
        return STORE_MODIFY;
    default: /* also for mode 0, which Microsoft's sample passes */
        return STORE_CREATE_OR_MODIFY;
    }
}

struct put_state {
    struct object *set;
    bool serial, latest;
};

/* Returns whether a client set the LatestOutputLocation of a collector. */
static bool latest_file_put(struct object *o)
{
    struct items *collectors = &((struct collection *)set_of(o)->DataCollectors)->items;
    bool any = false;
    object_lock(o);
    for (size_t i = 0; !any && i < collectors->count; i++)
        any = collector_of(collectors->list[i])->LatestWasPut;
    object_unlock(o);
    return any;
}

/* Copies to the record's list each LatestOutputLocation that a client has set. */
static HRESULT put_latest_files(struct object *o, struct run_record *record, bool *changed)
{
    struct items *collectors = &((struct collection *)set_of(o)->DataCollectors)->items;
    struct texts files = {0};
    HRESULT hr = S_OK;
    object_lock(o);
    for (size_t i = 0; SUCCEEDED(hr) && i < collectors->count; i++) {
        const struct data_collector *c = collector_of(collectors->list[i]);
        const char *kept = i < record->latest_files.count ? record->latest_files.items[i] : "";
        hr = texts_add(&files, c->LatestWasPut ? c->LatestOutputLocation : kept);
    }
    object_unlock(o);
    if (SUCCEEDED(hr) && !texts_equal(&files, &record->latest_files)) {
        struct texts old = record->latest_files;
        record->latest_files = files;
        files = old;
        *changed = true;
    }
    texts_free(&files);
    return hr;
}

/* Copies to the record the values that a client has set. S_FALSE: there is nothing to save, because the record already
   has these values, for example because the client committed XML that it had read from the set. */
static HRESULT put_state(struct run_record *record, const void *user)
{
    const struct put_state *put = user;
    struct data_collector_set *set = set_of(put->set);
    bool changed = !record->known;
    HRESULT hr = latest_file_put(put->set) ? put_latest_files(put->set, record, &changed) : S_OK;
    if (FAILED(hr))
        return hr;
    object_lock(put->set);
    if (!record->known || (put->serial && set->SerialNumber > record->serial_number)) {
        record->serial_number = set->SerialNumber;
        changed = true;
    }
    if (!record->known || (put->latest && strcmp(record->latest_location, set->LatestOutputLocation) != 0)) {
        hr = run_record_set_text(&record->latest_location, set->LatestOutputLocation);
        changed = true;
    }
    object_unlock(put->set);
    record->known = true;
    return FAILED(hr) || changed ? hr : S_FALSE;
}

static HRESULT in_use(const char *name)
{
    return error_set(PLA_E_DCS_IN_USE, "Commit: the set '%s' is running (add plaUpdateRunningInstance, 0x10)", name);
}

/* Returns whether a running set prevents the commit. With plaFlushTrace, the set continues to run unchanged, its traces
   are flushed, and the commit applies to the next run (MS-PLA 2.2.2.3 allows any combination of flags). */
static bool refuses_running(uint32_t mode)
{
    return !(mode & (SETS_UPDATE_RUNNING | SETS_FLUSH_TRACE));
}

/* Checks the mode for a session. A session exists if it is running or if the object was committed or queried under its
   name. */
static HRESULT check_session_present(struct object *o, const char *name, enum store_mode store_mode, uint32_t mode,
                                     const struct trace_session *running)
{
    object_lock(o);
    bool known = set_of(o)->space && text_equal_nocase(set_of(o)->Name, name);
    object_unlock(o);
    if (running && store_mode == STORE_CREATE)
        return error_set(PLA_E_DCS_ALREADY_EXISTS, "Commit: the trace session '%s' already exists", name);
    if (running && refuses_running(mode))
        return in_use(name);
    if (!running && !known && store_mode == STORE_MODIFY)
        return error_set(PLA_E_DCS_NOT_FOUND, "'%s\\%.300s': the trace session does not exist", "Session", name);
    return S_OK;
}

static HRESULT check_present(const struct category *c, const char *name, enum store_mode store_mode, uint32_t mode)
{
    struct run_state state;
    HRESULT hr = run_query(c->space, name, &state);
    /* If a new set is to be created, store_save reports that the name exists. */
    if (SUCCEEDED(hr) && state.phase != PHASE_STOPPED && store_mode != STORE_CREATE && refuses_running(mode))
        hr = in_use(name);
    return hr;
}

static void journal_change(enum journal_id id, const struct caller *caller, const char *space, const char *name)
{
    char *account = caller_account(caller);
    journal_write(id, &(struct journal_facts){.space = space, .name = name, .user = account});
    memory_free(account);
}

/* Restores the stored definition after the running set rejected the new one. Preserves the thread's error text. */
static HRESULT restore_definition(const char *space, const char *name, const char *xml, size_t size, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    if (xml)
        store_save(&caller_self, space, name, STORE_MODIFY, xml, size, NULL, NULL);
    return error_restore(&why);
}

/* Loads the stored definition or, unless `whole` is set, only its end with the account line. If the definition does not
   exist or cannot be read, *xml is NULL, which means that there is no account. `stored`: the result of an earlier read,
   or zero if the set did not exist; its XML is moved to *xml. `stored` NULL: the definition has not been read yet. */
static HRESULT load_before(const char *space, const char *name, bool whole, struct stored_set *stored, char **xml,
                           size_t *size)
{
    if (stored && (stored->xml || !stored->name)) {
        *xml = stored->xml;
        *size = stored->size;
        stored->xml = NULL;
        return S_OK;
    }
    HRESULT hr = whole ? store_load(&caller_self, space, name, xml, size) : store_load_lines(space, name, xml, size);
    if (hr != PLA_E_DCS_NOT_FOUND && !definition_is_damaged(hr))
        return hr;
    error_clear();
    return S_OK;
}

/* Stores the set. Values of the run record that a client set (a higher SerialNumber, a LatestOutputLocation) apply to
   the next run (DECISIONS 13). `update`: the running instance applies the new definition. If the running instance
   rejects the new definition, the old definition is restored. */
static HRESULT set_save(struct object *o, const struct caller *caller, const struct category *c, const char *name,
                        struct stored_set *stored, enum store_mode mode, bool update, bool serial_put, bool latest_put)
{
    const struct put_state put = {o, serial_put, latest_put};
    const struct run_change put_change = {put_state, &put};
    const struct run_change *change = c->runs && (serial_put || latest_put || latest_file_put(o)) ? &put_change : NULL;
    char *xml = NULL, *security = NULL, *before = NULL;
    size_t size = 0, before_size = 0;
    struct set_credentials_change credentials = {.open = {0}};
    bool created = false;
    if (c->source == DEFINITION_REGISTRY) {
        HRESULT saved = autosession_set_save(o, name, mode, &created);
        if (SUCCEEDED(saved))
            journal_change(created ? JOURNAL_SET_CREATED : JOURNAL_SET_CHANGED, caller, c->space, name);
        return saved;
    }
    if (c->source != DEFINITION_STORED)
        return S_OK;
    update = update && c->runs;
    /* A definition that may be restored is read again: another client may have committed since `stored` was read. */
    HRESULT hr = load_before(c->space, name, update, update ? NULL : stored, &before, &before_size);
    if (SUCCEEDED(hr))
        hr = set_credentials_commit(o, caller, c->space, name, before, before_size, &xml, &size, &security,
                                    &credentials);
    const bool decided = SUCCEEDED(hr);
    if (decided)
        hr = store_save_written(caller, c->space, name, mode,
                                &(struct written_set){.xml = xml, .size = size, .security = security},
                                update ? NULL : change, &created);
    if (SUCCEEDED(hr) && update) {
        hr = run_update(c->space, name);
        if (FAILED(hr))
            hr = restore_definition(c->space, name, before, before_size, hr);
        else if (change)
            hr = store_update_run(c->space, name, change);
    }
    if (SUCCEEDED(hr))
        set_credentials_committed(o, c->space, name, &credentials);
    else if (decided)
        hr = set_credentials_rollback(o, c->space, name, &credentials, hr);
    if (SUCCEEDED(hr))
        journal_change(created ? JOURNAL_SET_CREATED : JOURNAL_SET_CHANGED, caller, c->space, name);
    memory_free(before);
    memory_free(security);
    memory_free(xml);
    return hr;
}

static HRESULT bind_and_save(struct object *o, const struct caller *caller, const struct category *c, const char *name,
                             struct stored_set *stored, const char *server, enum store_mode mode, bool update)
{
    const char *old_space = set_of(o)->space;
    bool serial_put = set_of(o)->serial_put, latest_put = set_of(o)->latest_put;
    char *own_name = text_copy(name), *own_server = text_copy(server);
    HRESULT hr = own_name && own_server ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        sets_bind(o, c->space, &own_name, &own_server);
        hr = set_save(o, caller, c, name, stored, mode, update, serial_put, latest_put);
        if (SUCCEEDED(hr)) {
            sets_forget_latest(o);
        } else {
            sets_bind(o, old_space, &own_name, &own_server);
            set_of(o)->serial_put = serial_put;
            set_of(o)->latest_put = latest_put;
        }
    }
    memory_free(own_name);
    memory_free(own_server);
    return hr;
}

/* Checks the caller's access to the session that runs under an Autosession's name. Even if the caller may change the
   Autosession, the running session may be another user's session. */
static HRESULT check_running_session(const struct caller *caller, enum set_access_verb verb, const struct category *c,
                                     const char *name)
{
    if (c->source != DEFINITION_REGISTRY)
        return S_OK;
    HRESULT hr = definition_check(caller, verb, "Session", name, NULL);
    if (hr != PLA_E_DCS_NOT_FOUND)
        return hr;
    error_clear();
    return S_OK;
}

/* Checks before a commit whether the caller may store the set. If `mode` requests an update or a flush of the running
   set, also checks whether the caller may do that. */
static HRESULT check_commit(struct object *o, const struct caller *caller, const struct category *c, const char *name,
                            const struct stored_set *stored, uint32_t mode)
{
    HRESULT hr = definition_check_commit(caller, c->space, name, o, stored);
    if (SUCCEEDED(hr) && mode & SETS_UPDATE_RUNNING)
        hr = check_running_session(caller, SET_ACCESS_COMMIT, c, name);
    if (SUCCEEDED(hr) && mode & SETS_FLUSH_TRACE) {
        hr = definition_check(caller, SET_ACCESS_FLUSH, c->space, name, NULL);
        if (SUCCEEDED(hr))
            hr = check_running_session(caller, SET_ACCESS_FLUSH, c, name);
        hr = hr == PLA_E_DCS_NOT_FOUND ? S_OK : hr;
    }
    return hr;
}

/* Handles a commit whose only flag is plaFlushTrace. Such a commit stores nothing. */
static HRESULT flush_only(struct object *o, const struct caller *caller, const struct category *c, const char *name)
{
    char *xml;
    size_t size;
    HRESULT hr = definition_check(caller, SET_ACCESS_FLUSH, c->space, name, NULL);
    if (SUCCEEDED(hr))
        hr = check_running_session(caller, SET_ACCESS_FLUSH, c, name);
    if (FAILED(hr))
        return hr;
    if (c->one_trace)
        return trace_set_flush(o, c->space, name);
    hr = definition_load(&caller_self, c->space, name, &xml, &size);
    if (SUCCEEDED(hr))
        hr = run_flush(c->space, name);
    memory_free(xml);
    return FAILED(hr) ? hr : S_OK;
}

/* If a non-administrator commits a set without a Security, gives the set a Security that lets this caller change the
   set (DECISIONS 81). Exception: the stored set has no Security, either. The previous value is in *before; NULL: the
   Security is unchanged. */
static HRESULT set_creator_security(struct object *o, const struct caller *caller, const struct category *c,
                                    const struct stored_set *stored, char **before)
{
    const struct property *p = &o->class->properties[IDataCollectorSet_Security];
    const char *security = stored ? stored->security : NULL;
    struct value put;
    char *sid = NULL, *own = NULL;
    *before = NULL;
    if (caller->in_process || c->source != DEFINITION_STORED || access_is_administrator(caller))
        return S_OK;
    HRESULT hr = object_get_field(o, p, &put);
    if (FAILED(hr))
        return hr;
    const bool says_none = !strcmp(set_access_security(put.text), set_access_security(""));
    if (says_none && !(security && !strcmp(set_access_security(security), set_access_security("")))) {
        sid = caller_sid(caller);
        own = sid && *sid ? set_access_creator_security(sid) : NULL;
        hr = !own && (!sid || *sid) ? E_OUTOFMEMORY : own ? object_put_text(o, p, own) : S_OK;
        if (SUCCEEDED(hr) && own) {
            *before = put.text;
            put.text = NULL;
        }
    }
    memory_free(own);
    memory_free(sid);
    value_free(&put);
    return FAILED(hr) ? hr : S_OK;
}

/* Restores the object's Security after a commit that failed or stored nothing. Preserves the thread's error text. */
static void restore_security(struct object *o, bool back, HRESULT hr, char *before)
{
    if (back && before) {
        const struct error_kept why = error_keep(hr);
        object_put_text(o, &o->class->properties[IDataCollectorSet_Security], before);
        error_restore(&why);
    }
    memory_free(before);
}

/* Finds the session with its event providers, because an update compares them. *out is empty if the session is not
   running. */
static HRESULT find_running(const char *name, struct trace_session *out)
{
    HRESULT hr = trace_set_find(name, out);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    hr = trace_session_providers(out);
    if (FAILED(hr))
        trace_session_free(out);
    return hr;
}

/* Changes the session before anything is stored, so that a definition that the session rejects is not stored. */
static HRESULT commit_trace(struct object *o, const struct caller *caller, const struct category *c, const char *name,
                            const char *server, enum store_mode store_mode, uint32_t mode)
{
    const bool live = c->source == DEFINITION_LIVE, update = mode & SETS_UPDATE_RUNNING;
    struct trace_session running = {.number = 0};
    HRESULT hr = live || update ? find_running(name, &running) : S_OK;
    const bool runs = running.is.session != NULL;
    if (SUCCEEDED(hr) && live)
        hr = check_session_present(o, name, store_mode, mode, runs ? &running : NULL);
    if (SUCCEEDED(hr) && runs && update)
        hr = trace_set_update(o, &running, !live);
    trace_session_free(&running);
    if (SUCCEEDED(hr))
        hr = bind_and_save(o, caller, c, name, NULL, server, store_mode, false);
    if (SUCCEEDED(hr) && mode & SETS_FLUSH_TRACE)
        hr = trace_set_flush(o, c->space, name);
    return hr;
}

/* Reports an account in a set that cannot have one. */
static HRESULT account_validate(struct object *o, const struct category *c, struct object *issues)
{
    const struct validation v = {.issues = issues};
    object_lock(o);
    bool put = set_of(o)->password != NULL;
    object_unlock(o);
    if (!put || (c->source == DEFINITION_STORED && os_logon()))
        return S_OK;
    return validation_report(&v, PLA_S_PROPERTY_IGNORED, "UserAccount",
                             c->source == DEFINITION_STORED ? "this host OS runs all sets under one account"
                                                            : "a trace session has no account");
}

/* Reports a SerialNumber that is lower than the next run's serial number, because such a number would be used twice
   (DECISIONS 13). */
static HRESULT serial_validate(struct object *o, const char *space, const char *name, struct object *issues)
{
    const struct validation v = {.issues = issues};
    struct run_record record;
    char why[128];
    object_lock(o);
    const bool put = set_of(o)->serial_put;
    const uint32_t serial_number = set_of(o)->SerialNumber;
    object_unlock(o);
    HRESULT hr = put ? store_load_run(space, name, &record) : S_FALSE;
    if (definition_is_damaged(hr)) { /* there is no record to compare with */
        error_clear();
        return S_OK;
    }
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    if (record.known && serial_number < record.serial_number) {
        snprintf(why, sizeof why, "the next run has the number %u; numbers are not reused",
                 (unsigned)record.serial_number);
        hr = validation_report(&v, PLA_S_PROPERTY_IGNORED, "SerialNumber", why);
    }
    run_record_free(&record);
    return hr;
}

/* Commits the set. `stored`: the existing set. `stored` is zero if the set does not exist yet, and NULL if this process
   itself commits, which needs no rights. */
static HRESULT commit_over(struct object *o, const struct caller *caller, const struct category *c, const char *name,
                           struct stored_set *stored, const char *server, uint32_t mode, struct object *issues)
{
    enum store_mode store_mode = store_mode_of(mode);
    const struct stored_set *existing = stored && stored->name ? stored : NULL;
    char *before;
    HRESULT hr = set_creator_security(o, caller, c, existing, &before);
    if (SUCCEEDED(hr)) /* done first, because later checks look up names that the set contains */
        hr = check_commit(o, caller, c, name, existing, mode);
    /* set_commit has already reported the issues that apply to every server */
    if (SUCCEEDED(hr) && c->runs)
        hr = unsupported_validate(o, issues);
    if (SUCCEEDED(hr))
        hr = account_validate(o, c, issues);
    if (SUCCEEDED(hr) && c->runs)
        hr = segment_tasks_validate(o, issues);
    if (SUCCEEDED(hr) && c->runs)
        hr = alert_names_validate(o, issues);
    if (SUCCEEDED(hr) && c->runs)
        hr = serial_validate(o, c->space, name, issues);
    if (FAILED(hr) || mode & SETS_VALIDATE_ONLY) {
        restore_security(o, true, hr, before);
        return hr;
    }
    if (c->one_trace) {
        hr = commit_trace(o, caller, c, name, server, store_mode, mode);
    } else {
        hr = check_present(c, name, store_mode, mode);
        if (SUCCEEDED(hr))
            hr = bind_and_save(o, caller, c, name, stored, server, store_mode, mode & SETS_UPDATE_RUNNING);
        if (SUCCEEDED(hr) && c->runs && mode & SETS_FLUSH_TRACE)
            hr = run_flush(c->space, name);
    }
    restore_security(o, FAILED(hr), hr, before);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT commit_set(struct object *o, const struct caller *caller, const char *space, const char *name,
                          const char *server, uint32_t mode, struct object *issues)
{
    const struct category *c = category_of(space);
    struct stored_set stored = {0};
    if (mode == SETS_FLUSH_TRACE)
        return flush_only(o, caller, c, name);
    const bool is_checked = c->source == DEFINITION_STORED && !caller->in_process;
    HRESULT hr = is_checked ? store_read_set(space, name, &stored) : S_OK;
    if (SUCCEEDED(hr))
        hr = commit_over(o, caller, c, name, is_checked ? &stored : NULL, server, mode, issues);
    stored_set_free(&stored);
    return hr;
}

/* ---- Query, Delete, Start, Stop ---- */

/* Calls sets_fill, and adds the file's path to its XML errors. */
static HRESULT set_fill_named(struct object *o, const char *xml, size_t size, const char *space, const char *name,
                              const char *server)
{
    struct set_account account;
    HRESULT hr = set_account_read(xml, size, &account);
    if (SUCCEEDED(hr))
        hr = sets_fill(o, xml, size, *account.user ? account.user : NULL, space, name, server);
    set_account_free(&account);
    return definition_name_file(hr, space, name);
}

/* Fills `o` with the definition of that name and binds it. */
static HRESULT query_set(struct object *o, const struct caller *caller, const char *space, const char *name,
                         const char *server)
{
    char *xml;
    size_t size;
    HRESULT hr = definition_load(caller, space, name, &xml, &size);
    if (SUCCEEDED(hr))
        hr = set_fill_named(o, xml, size, space, name, server);
    memory_free(xml);
    /* an unreadable set must be bound so that it can be deleted */
    if (definition_is_damaged(hr))
        hr = sets_bind_damaged(o, space, name, server, hr);
    return hr;
}

/* Checks whether the caller may delete the set. *stored receives the set, unless this process itself is the caller. */
static HRESULT check_delete(struct object *o, const struct caller *caller, const struct category *c, const char *name,
                            struct stored_set *stored)
{
    if (c->source != DEFINITION_STORED || caller->in_process)
        return definition_check(caller, SET_ACCESS_DELETE, c->space, name, o);
    HRESULT hr = store_read_set(c->space, name, stored);
    return FAILED(hr) ? hr
                      : store_check_access_read(caller, SET_ACCESS_DELETE, c->space, name, hr == S_OK ? stored : NULL);
}

static HRESULT delete_checked(const struct caller *caller, const struct category *c, const char *name,
                              struct stored_set *stored)
{
    const char *space = c->space;
    struct run_state state;
    struct set_live live = {0};
    char *before = NULL;
    size_t size = 0;
    HRESULT hr;
    if (c->source == DEFINITION_LIVE) { /* nothing is stored */
        HRESULT known = session_set_read_live(name, &live);
        const bool running = SUCCEEDED(known) && live.status != c->status;
        set_live_free(&live);
        return running ? error_set(PLA_E_DCS_IN_USE, "Delete: the trace session '%s' is running", name) : known;
    }
    hr = c->runs ? run_query(space, name, &state) : S_OK;
    if (SUCCEEDED(hr) && c->runs && state.phase != PHASE_STOPPED)
        hr = error_set(PLA_E_DCS_IN_USE, "Delete: the set '%s' is running", name);
    if (SUCCEEDED(hr) && c->source == DEFINITION_STORED)
        hr = load_before(space, name, false, stored->name ? stored : NULL, &before, &size);
    if (SUCCEEDED(hr))
        hr = c->source == DEFINITION_REGISTRY ? autosession_set_delete(name) : store_delete(caller, space, name);
    if (SUCCEEDED(hr) && before)
        set_credentials_delete(c->space, name, before, size);
    if (SUCCEEDED(hr))
        journal_change(JOURNAL_SET_DELETED, caller, space, name);
    memory_free(before);
    return hr;
}

static HRESULT delete_set(struct object *o, const struct caller *caller, const char *space, const char *name)
{
    const struct category *c = category_of(space);
    struct stored_set stored = {0};
    HRESULT hr = check_delete(o, caller, c, name, &stored);
    if (SUCCEEDED(hr))
        hr = delete_checked(caller, c, name, &stored);
    stored_set_free(&stored);
    return hr;
}

static void journal_start(HRESULT hr, const struct caller *caller, const char *space, const char *name)
{
    char *account = caller_account(caller);
    journal_write(SUCCEEDED(hr) ? JOURNAL_STARTED : JOURNAL_START_FAILED,
                  &(struct journal_facts){.space = space, .name = name, .user = account, .error = hr});
    memory_free(account);
}

/* Starts a set of the namespace System. All users share the definition, so the set runs under the caller's account
   (MS-PLA 3.2.1). */
static HRESULT start_shipped(struct object *o, const struct caller *caller, const char *account, const char *space,
                             const char *name, bool synchronous)
{
    struct run_rights rights;
    object_lock(o);
    char *password = set_of(o)->password ? text_copy(set_of(o)->password) : NULL;
    char *user = set_of(o)->password ? text_copy(set_of(o)->UserAccount) : NULL;
    bool failed = set_of(o)->password && (!user || !password);
    object_unlock(o);
    HRESULT hr = failed ? E_OUTOFMEMORY : run_rights_of_caller(caller, user, password, &rights);
    memory_free_secret(password);
    memory_free(user);
    return SUCCEEDED(hr) ? run_start_with(account, space, name, synchronous, &rights) : hr;
}

static HRESULT start_set(struct object *o, const struct caller *caller, const char *space, const char *name,
                         bool synchronous)
{
    HRESULT hr = definition_check(caller, SET_ACCESS_START, space, name, o);
    if (FAILED(hr))
        return hr;
    if (category_of(space)->source == DEFINITION_LIVE) {
        hr = session_set_start(o, caller, name);
        journal_start(hr, caller, space, name);
        return hr;
    }
    char *account = caller_account(caller);
    hr = !account ? E_OUTOFMEMORY
         : category_of(space)->source == DEFINITION_SHIPPED
             ? start_shipped(o, caller, account, space, name, synchronous)
             : run_start_for(account, space, name, synchronous);
    memory_free(account);
    return hr;
}

/* Starts a set unless too many clients are waiting for a start: each start creates a process. */
static HRESULT start_limited(struct object *o, const struct caller *caller, const char *space, const char *name,
                             bool synchronous)
{
    static atomic_uint waiting;
    const bool room = atomic_fetch_add(&waiting, 1) < quota_limit(QUOTA_starts) || caller->in_process;
    HRESULT hr = room ? start_set(o, caller, space, name, synchronous) : quota_exceeded(QUOTA_starts, name);
    atomic_fetch_sub(&waiting, 1);
    return hr;
}

/* Writes an event that names the client that requested a stop. The host process writes the event about the end of the
   run (1005), but does not know the client. */
static void journal_stop(enum journal_id id, HRESULT hr, const struct caller *caller, const char *space,
                         const char *name)
{
    char *account = caller_account(caller);
    journal_write(id, &(struct journal_facts){.space = space, .name = name, .user = account, .error = hr});
    memory_free(account);
}

static HRESULT stop_set(struct object *o, const struct caller *caller, const char *space, const char *name,
                        bool synchronous)
{
    const struct category *c = category_of(space);
    const bool live = c->source == DEFINITION_LIVE;
    HRESULT hr = definition_check(caller, SET_ACCESS_STOP, space, name, live ? o : NULL);
    if (hr == PLA_E_DCS_NOT_FOUND && !live) /* a deleted set may still be running, and its Security is lost */
        hr =
            set_access_check_caller(caller, SET_ACCESS_STOP, &(struct set_access_object){.space = space, .name = name});
    if (FAILED(hr))
        return hr;
    if (live) {
        hr = session_set_stop(name);
        if (SUCCEEDED(hr))
            journal_stop(JOURNAL_STOPPED, S_OK, caller, space, name);
        return hr;
    }
    hr = run_stop(space, name, synchronous);
    if (hr != PLA_E_DCS_NOT_RUNNING)
        journal_stop(JOURNAL_STOP_ASKED, hr, caller, space, name);
    return hr;
}

static bool may_run(const char *space, const char *name)
{
    struct run_state state;
    return FAILED(run_query(space, name, &state)) || state.phase != PHASE_STOPPED;
}

/* Loads the record of the latest run. If the run was interrupted, the loaded record says so. A host process publishes
   the state of its run before the record says that the run is active. It hides the state only after the record contains
   the end of the run. The record is therefore read twice, and each read is followed by a check of the published state.
   If the record says twice that the run is active, and both checks find no state, the host process has died. */
static HRESULT load_run(const char *space, const char *name, struct run_record *record)
{
    HRESULT hr = store_load_run(space, name, record);
    if (FAILED(hr) || !record->running || may_run(space, name))
        return hr;
    run_record_free(record);
    hr = store_load_run(space, name, record);
    if (FAILED(hr) || !record->running || may_run(space, name))
        return hr;
    hr = run_record_put_death(record);
    if (FAILED(hr))
        run_record_free(record);
    return hr;
}

/* Returns a value of the latest run. */
static HRESULT run_value(struct object *o, const struct caller *caller, const char *space, const char *name,
                         const char *key, char **value)
{
    struct run_record record;
    HRESULT hr = definition_check(caller, SET_ACCESS_GET_VALUE, space, name, o);
    if (SUCCEEDED(hr))
        hr = load_run(space, name, &record);
    if (FAILED(hr))
        return hr;
    *value = setting_find(key)->of_run(&(struct latest_run){space, name, &record});
    run_record_free(&record);
    return *value ? S_OK : E_OUTOFMEMORY;
}

/* Keeps the credentials for Commit, or for Start in case of a System set, which is not committed. */
static HRESULT set_credentials_local(struct object *o, const struct caller *caller, const char *user,
                                     const char *password)
{
    (void)caller;
    if (text_utf16_length(password) > SECRET_MOST) /* Commit cannot store a longer password */
        return error_set(E_INVALIDARG, "SetCredentials: the password has more than %u characters",
                         (unsigned)SECRET_MOST);
    char *own = *user ? text_copy(password) : NULL;
    if (*user && !own)
        return E_OUTOFMEMORY;
    set_forget_credentials(o);
    object_lock(o);
    set_of(o)->password = own;
    set_of(o)->credentials_put = true;
    object_unlock(o);
    return S_OK;
}

/* ---- lists ---- */

/* The unparsed contents of a listed set; the set's `peer` points to it. */
struct listed_definition {
    size_t size;
    char *xml;
};

/* Binds a listed set whose definition is known to be valid, so that its XML is parsed only on first use. Takes
   ownership of the XML. */
static HRESULT bind_listed(struct object *set, const char *space, struct stored_set *stored, const char *server)
{
    struct listed_definition *d = memory_alloc(sizeof *d);
    HRESULT hr = d ? object_hold(set, sizeof *d + stored->size) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(d);
        return hr;
    }
    *d = (struct listed_definition){.size = stored->size, .xml = stored->xml};
    stored->xml = NULL;
    set_of(set)->peer = d;
    return sets_bind_listed(set, space, stored->name, server);
}

static HRESULT read_listed(struct object *o, const char *space, const char *name)
{
    const struct listed_definition *d = set_of(o)->peer; /* does not change while the set exists */
    struct object *fresh = NULL;
    struct set_account account;
    HRESULT hr = set_account_read(d->xml, d->size, &account);
    if (SUCCEEDED(hr))
        hr = sets_read_listed(o, d->xml, d->size, *account.user ? account.user : NULL, &fresh);
    set_account_free(&account);
    if (SUCCEEDED(hr))
        object_take_outstanding(o, fresh, &set_of(o)->listed);
    object_release(fresh);
    return definition_name_file(hr, space, name);
}

static void destroyed(struct object *o)
{
    struct listed_definition *d = set_of(o)->peer;
    if (d)
        memory_free(d->xml);
    memory_free(d);
}

static HRESULT fill_stored(struct object *set, const char *space, const struct stored_set *stored, const char *server)
{
    HRESULT hr = set_fill_named(set, stored->xml, stored->size, space, stored->name, server);
    if (SUCCEEDED(hr))
        store_note_sound(space, stored);
    return hr;
}

static HRESULT add_set(struct object *collection, const struct caller *caller, const char *space,
                       struct stored_set *stored, const char *server)
{
    struct data_collector_set_collection *sets = (struct data_collector_set_collection *)collection;
    struct object *set;
    HRESULT hr = sets_create(sets->category, &set);
    if (FAILED(hr))
        return hr;
    if (!stored->xml)
        hr = query_set(set, caller, space, stored->name, server); /* reports why the definition cannot be read */
    else if (stored->sound)
        hr = bind_listed(set, space, stored, server);
    else
        hr = fill_stored(set, space, stored, server);
    /* PLA_E_DCS_NOT_FOUND: another process has deleted the set in the meantime. */
    hr = hr == PLA_E_DCS_NOT_FOUND ? S_OK : SUCCEEDED(hr) ? collection_add(collection, set) : hr;
    object_release(set);
    return hr;
}

static HRESULT list_sets(struct object *collection, const struct caller *caller, const char *space, const char *pattern,
                         const char *server)
{
    struct stored_sets stored;
    HRESULT hr = definition_load_matching(caller, space, pattern, &stored);
    for (size_t i = 0; SUCCEEDED(hr) && i < stored.count; i++) {
        hr = add_set(collection, caller, space, &stored.items[i], server);
        if (definition_is_damaged(hr) && strpbrk(pattern, "*?")) /* a corrupt set must not hide other sets */
            hr = S_OK;
    }
    stored_sets_free(&stored);
    return hr;
}

/* ---- the verbs; access refusals become E_ACCESSDENIED ---- */

static HRESULT commit_local(struct object *o, const struct caller *caller, const char *space, const char *name,
                            const char *server, uint32_t mode, struct object *issues)
{
    return refusal_answer(commit_set(o, caller, space, name, server, mode, issues), caller, space, name);
}

static HRESULT query_local(struct object *o, const struct caller *caller, const char *space, const char *name,
                           const char *server)
{
    return refusal_answer(query_set(o, caller, space, name, server), caller, space, name);
}

static HRESULT delete_local(struct object *o, const struct caller *caller, const char *space, const char *name)
{
    return refusal_answer(delete_set(o, caller, space, name), caller, space, name);
}

static HRESULT start_local(struct object *o, const struct caller *caller, const char *space, const char *name,
                           bool synchronous)
{
    return refusal_answer(start_limited(o, caller, space, name, synchronous), caller, space, name);
}

static HRESULT stop_local(struct object *o, const struct caller *caller, const char *space, const char *name,
                          bool synchronous)
{
    return refusal_answer(stop_set(o, caller, space, name, synchronous), caller, space, name);
}

static HRESULT manage_local(struct object *o, const struct caller *caller, const char *space, const char *name,
                            uint32_t steps, const char *folder, struct object *errors)
{
    (void)o;
    return refusal_answer(data_manager_run(caller, space, name, steps, folder, errors), caller, space, name);
}

static HRESULT get_run_value(struct object *o, const struct caller *caller, const char *space, const char *name,
                             const char *key, char **value)
{
    return refusal_answer(run_value(o, caller, space, name, key, value), caller, space, name);
}

static HRESULT list_local(struct object *collection, const struct caller *caller, const char *space,
                          const char *pattern, const char *server)
{
    return refusal_answer(list_sets(collection, caller, space, pattern, server), caller, space, pattern);
}

const struct set_verbs sets_local_verbs = {
    .check_server = only_own_machine,
    .commit = commit_local,
    .query = query_local,
    .delete = delete_local,
    .start = start_local,
    .stop = stop_local,
    .manage = manage_local,
    .read_live = read_live,
    .get_run_value = get_run_value,
    .set_credentials = set_credentials_local,
    .list = list_local,
    .read_listed = read_listed,
    .destroyed = destroyed,
};
