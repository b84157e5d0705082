/* SPDX-License-Identifier: MIT */
/* openpla logman: runs the verbs of logman, prints their output, and returns their exit codes. Windows' messages,
   including errors, go to stdout, and the exit code is the HRESULT, as existing scripts expect. Messages that Windows'
   logman does not have go to stderr (DECISIONS 95). */
#include "cli/logman/logman.h"

#include "cli/cli.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/definition.h"
#include "engine/pla/sets.h"
#include "engine/pla/store.h"
#include "engine/rpc/remote_account.h"

#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#include "com/facade/facade.h"

#include <objbase.h>
#include <windows.h>
#include <fcntl.h>
#include <io.h>
#else
#include "engine/pla/remote_sets.h"
#endif

/* ---- this computer or a remote one ---- */

/* Creates an object through the server, as any client does. The native program uses the engine directly. */
static HRESULT new_object(const char *server, bool is_collection, struct object **out)
{
#ifdef _WIN32
    (void)server; /* the facade's objects forward calls to a remote computer */
    return is_collection ? facade_collection_create(NULL, out) : facade_set_create(NULL, out);
#else
    bool own;
    HRESULT hr = sets_is_own_machine(server, &own);
    if (FAILED(hr))
        return hr;
    if (is_collection)
        return own ? sets_collection_create(NULL, out) : remote_sets_collection_create(NULL, out);
    return own ? sets_create(NULL, out) : remote_sets_create(NULL, out);
#endif
}

/* Determines whether -s names a remote computer that is accessed without Windows' COM, so that -u is the account for
   that computer. */
static HRESULT logs_on(const struct logman_line *line, bool *out)
{
    const struct logman_option *server = logman_option(line, LOGMAN_SERVER);
#ifdef _WIN32
    const bool has_com = !os_is_wine();
#else
    const bool has_com = false;
#endif
    bool own;
    HRESULT hr = sets_is_own_machine(server ? server->words.items[0] : NULL, &own);
    *out = SUCCEEDED(hr) && !own && !has_com;
    return hr;
}

/* Asks for the password, unless the command line contains it; in that case *asked is NULL. Otherwise *asked is from
   memory_alloc. */
static HRESULT ask_for_password(const struct logman_option *user, char **asked, const char **password)
{
    *asked = NULL;
    *password = user->words.count > 1 ? user->words.items[1] : "*";
    if (strcmp(*password, "*") != 0)
        return S_OK;
    HRESULT hr = cli_ask_password(user->words.items[0], asked);
    *password = *asked;
    return hr;
}

static HRESULT log_on(const struct logman_line *line)
{
    const struct logman_option *user = logman_option(line, LOGMAN_USER);
    const char *password;
    char *asked;
    bool is_needed;
    HRESULT hr = logs_on(line, &is_needed);
    if (FAILED(hr) || !is_needed || !user || user->negated)
        return hr;
    hr = ask_for_password(user, &asked, &password);
    if (SUCCEEDED(hr))
        hr = remote_account_give_password(logman_option(line, LOGMAN_SERVER)->words.items[0], user->words.items[0],
                                          password);
    memory_free_secret(asked);
    return hr;
}

/* ---- the set of a line ---- */

/* The set that the line names. */
struct logman_target {
    struct object *set;       /* holds one reference */
    struct object *collector; /* holds one reference; NULL if not selected yet */
    char *name;               /* the name, with the namespace if the user specified one */
    char *short_name;         /* without a namespace */
    char *collector_name;     /* for "Set\Collector"; otherwise NULL */
    const char *server;       /* borrowed; NULL means this computer */
    bool session;             /* the set is in the namespace Session */
    bool found;               /* the set exists and was queried */
};

static const struct {
    unsigned adverb;
    const struct class *class;
} kinds[] = {{LOGMAN_COUNTER, &performance_counter_collector_class},
             {LOGMAN_TRACE, &trace_data_collector_class},
             {LOGMAN_CFG, &configuration_collector_class},
             {LOGMAN_ALERT, &alert_collector_class},
             {LOGMAN_API, &api_tracing_collector_class}};

unsigned logman_adverb_of(const struct object *collector)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].class == collector->class)
            return kinds[i].adverb;
    return 0;
}

/* Returns the namespace at the beginning of the name, and the rest. Returns NULL if the name has no namespace. */
static const char *space_of(const char *name, const char **rest)
{
    *rest = name;
    for (const char *const *space = store_namespaces(); *space; space++) {
        const size_t length = strlen(*space);
        char *head = strlen(name) > length && name[length] == '\\' ? text_copy_n(name, length) : NULL;
        const bool same = head && text_equal_nocase(head, *space);
        memory_free(head);
        if (same) {
            *rest = name + length + 1;
            return *space;
        }
    }
    return NULL;
}

static HRESULT name_target(const struct logman_line *line, struct logman_target *t)
{
    const char *rest;
    const char *space = space_of(line->name, &rest), *slash = NULL;
    if (line->verb == LOGMAN_UPDATE || line->verb == LOGMAN_QUERY)
        slash = strchr(rest, '\\');
    if (!space && logman_is_given(line, LOGMAN_SESSION))
        space = "Session";
    t->session = space && text_equal_nocase(space, "Session");
    t->short_name = slash ? text_copy_n(rest, (size_t)(slash - rest)) : text_copy(rest);
    if (slash && !(t->collector_name = text_copy(slash + 1)))
        return E_OUTOFMEMORY;
    t->name = !t->short_name ? NULL : space ? text_format("%s\\%s", space, t->short_name) : text_copy(t->short_name);
    return t->name ? S_OK : E_OUTOFMEMORY;
}

/* Queries the set that the line names; `found` is true if it exists. With -ets a name means a session unless it
   contains a namespace. For query and update the name may also name a collector. Fails with E_INVALIDARG if the line
   has no name. */
static HRESULT logman_target_open(const struct logman_line *line, struct logman_target *t)
{
    const struct logman_option *server = logman_option(line, LOGMAN_SERVER);
    *t = (struct logman_target){.server = server ? server->words.items[0] : NULL};
    if (!line->name)
        return error_set(E_INVALIDARG, "missing name of a set");
    HRESULT hr = name_target(line, t);
    if (SUCCEEDED(hr))
        hr = new_object(t->server, false, &t->set);
    if (FAILED(hr))
        return hr;
    hr = set_query(t->set, &caller_self, t->name, t->server);
    t->found = SUCCEEDED(hr);
    return hr == PLA_E_DCS_NOT_FOUND ? S_OK : hr;
}

static void logman_target_free(struct logman_target *t)
{
    object_release(t->collector);
    object_release(t->set);
    memory_free(t->name);
    memory_free(t->short_name);
    memory_free(t->collector_name);
}

static struct object *collectors_of(struct object *set)
{
    return object_child(set, class_property(set->class, "DataCollectors"));
}

static HRESULT has_name(struct object *collector, const char *name, bool *out)
{
    struct value v;
    HRESULT hr = object_get(collector, class_property(collector->class, "Name"), &v);
    if (SUCCEEDED(hr)) {
        *out = text_equal_nocase(v.text, name);
        value_free(&v);
    }
    return hr;
}

/* Adds a collector with the set's name. Fails with PLA_E_DC_ALREADY_EXISTS if the set already has a collector with this
   name. */
static HRESULT logman_target_add(struct logman_target *t, unsigned adverb)
{
    struct object **list;
    size_t count;
    bool taken = false;
    const struct class *class = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].adverb == adverb)
            class = kinds[i].class;
    if (!class)
        return error_set(E_INVALIDARG, "create: missing collector type: expected counter, trace, alert, cfg or api");
    HRESULT hr = collection_snapshot(collectors_of(t->set), &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count && SUCCEEDED(hr) && !taken; i++)
        hr = has_name(list[i], t->short_name, &taken);
    objects_release(list, count);
    if (SUCCEEDED(hr) && taken)
        hr = error_set(PLA_E_DC_ALREADY_EXISTS, "the set '%s' already has a collector with the set's name",
                       t->short_name);
    if (SUCCEEDED(hr))
        hr = object_create(class, t->set, &t->collector);
    if (SUCCEEDED(hr))
        hr = object_put_text(t->collector, class_property(class, "Name"), t->short_name);
    return SUCCEEDED(hr) ? collection_add(collectors_of(t->set), t->collector) : hr;
}

/* Selects the collector that an update changes, among those of the type (`adverb` 0 means any type). This is the
   collector that the line names; if the line names none, the collector with the set's name, or else the only collector.
   Fails with E_INVALIDARG if no collector matches, or if several match and none has the set's name. */
static HRESULT logman_target_choose(struct logman_target *t, unsigned adverb)
{
    struct object **list, *only = NULL, *named = NULL;
    size_t count, fit = 0;
    const char *name = t->collector_name ? t->collector_name : t->short_name;
    HRESULT hr = collection_snapshot(collectors_of(t->set), &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        bool same = false;
        if (adverb != 0 && logman_adverb_of(list[i]) != adverb)
            continue;
        hr = has_name(list[i], name, &same);
        named = same ? list[i] : named;
        only = list[i];
        fit++;
    }
    if (SUCCEEDED(hr) && !named && t->collector_name)
        hr = error_set(E_INVALIDARG, "the set '%s' has no collector '%s'", t->short_name, t->collector_name);
    else if (SUCCEEDED(hr) && !named && fit != 1)
        hr = error_set(E_INVALIDARG,
                       fit ? "the set '%s' has several collectors (name one as \"Set\\Collector\")"
                           : "the set '%s' has no collector of the requested type",
                       t->short_name);
    if (SUCCEEDED(hr))
        t->collector = object_reference(named ? named : only);
    objects_release(list, count);
    return hr;
}

/* Returns a new reference to a collection of all stored sets, or of all sessions. */
static HRESULT logman_list(const char *server, bool sessions, struct object **collection)
{
    HRESULT hr = new_object(server, true, collection);
    if (SUCCEEDED(hr) &&
        FAILED(hr = sets_find(*collection, &caller_self, server, sessions ? "Session\\*" : "Service\\*"))) {
        object_release(*collection);
        *collection = NULL;
    }
    return hr;
}

/* ---- the line ---- */

#define TASK_ALREADY_RUNNING ((HRESULT)0x8004131F)
#define VERB                 "logman"

struct run {
    const struct logman_line *line;
    struct texts warnings; /* warnings about words that were not interpreted as written */
    struct texts issues;
    struct json *json; /* for --json: the object that contains the whole output; otherwise NULL */
};

/* ---- credentials, issues ---- */

static HRESULT put_credentials(const struct run *r, struct object *set)
{
    const struct logman_option *user = logman_option(r->line, LOGMAN_USER);
    const char *password;
    char *asked;
    bool is_for_logon;
    HRESULT hr = logs_on(r->line, &is_for_logon);
    if (FAILED(hr) || !user || is_for_logon)
        return hr;
    if (user->negated)
        return sets_set_credentials(set, &caller_self, "", "");
    hr = ask_for_password(user, &asked, &password);
    if (SUCCEEDED(hr))
        hr = sets_set_credentials(set, &caller_self, user->words.items[0], password);
    memory_free_secret(asked);
    return hr;
}

/* Keeps an issue that Commit reports. The issues are printed one per line, and only with -verbose, because scripts
   count lines. */
static HRESULT keep_issue(void *user, HRESULT hr, const char *key, const char *text)
{
    struct run *r = user;
    char *warning = text_format("%s: %s", key, text);
    (void)hr;
    return warning ? texts_add_owned(&r->issues, warning) : E_OUTOFMEMORY;
}

static HRESULT run_commit(struct run *r, struct logman_target *t, uint32_t mode)
{
    struct object *issues;
    HRESULT hr = put_credentials(r, t->set);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &issues);
    if (FAILED(hr))
        return hr;
    hr = set_commit(t->set, &caller_self, t->name, t->server, mode, issues);
    if (SUCCEEDED(hr))
        hr = issues_each(issues, keep_issue, r);
    object_release(issues);
    return hr;
}

/* ---- verbs ---- */

static HRESULT not_found(const struct logman_target *t)
{
    struct logman_target session;
    bool runs = false;
    if (!t->session) {
        struct logman_option ets = {.use = LOGMAN_SESSION};
        const struct logman_line line = {.name = t->short_name, .options = &ets, .count = 1};
        runs = SUCCEEDED(logman_target_open(&line, &session)) && session.found;
        logman_target_free(&session);
    }
    return runs ? error_set(PLA_E_DCS_NOT_FOUND, "'%s' is a running session (use -ets for sessions)", t->short_name)
                : error_set(PLA_E_DCS_NOT_FOUND, "\"%s\"", t->name);
}

static HRESULT must_exist(const struct logman_target *t)
{
    return t->found ? S_OK : not_found(t);
}

/* Starts the set or session, which runs in a separate process. */
static HRESULT start_target(struct logman_target *t, bool synchronous)
{
    return cli_start_error(set_start(t->set, &caller_self, synchronous), t->session ? "openetwhost" : "openplahost");
}

static HRESULT run_create(struct run *r, struct logman_target *t)
{
    unsigned adverb = r->line->adverb;
    if (t->session && adverb == 0)
        adverb = LOGMAN_TRACE;
    if (t->session && t->found)
        return error_set(PLA_E_DCS_ALREADY_EXISTS, "a session '%s' is already running", t->short_name);
    HRESULT hr = logman_target_add(t, adverb);
    if (SUCCEEDED(hr))
        hr = logman_change(r->line, t->set, t->collector, t->session, true, &r->warnings);
    if (SUCCEEDED(hr))
        hr = logman_warn(r->line, t->set, t->collector, &r->warnings);
    if (SUCCEEDED(hr))
        hr = run_commit(r, t, t->found ? SETS_MODIFY : SETS_CREATE_NEW);
    return SUCCEEDED(hr) && t->session ? start_target(t, true) : hr;
}

static HRESULT run_start(struct run *r, struct logman_target *t)
{
    if (t->session)
        return run_create(r, t);
    HRESULT hr = must_exist(t);
    if (SUCCEEDED(hr))
        hr = start_target(t, !logman_option(r->line, LOGMAN_ASYNCHRONOUS));
    /* Return the code that scripts expect. */
    return hr == PLA_E_DCS_IN_USE ? error_set(TASK_ALREADY_RUNNING, "%s", error_text(hr)) : hr;
}

static HRESULT stop(struct run *r, struct logman_target *t)
{
    const HRESULT hr = must_exist(t);
    return SUCCEEDED(hr) ? set_stop(t->set, &caller_self, !logman_option(r->line, LOGMAN_ASYNCHRONOUS)) : hr;
}

static HRESULT delete (struct run *r, struct logman_target *t)
{
    if (t->session)
        return stop(r, t);
    const HRESULT hr = must_exist(t);
    return SUCCEEDED(hr) ? set_delete(t->set, &caller_self) : hr;
}

static HRESULT run_update(struct run *r, struct logman_target *t)
{
    struct value status;
    HRESULT hr = must_exist(t);
    if (SUCCEEDED(hr) && logman_option(r->line, LOGMAN_FLUSH))
        return run_commit(r, t, SETS_MODIFY | SETS_UPDATE_RUNNING | SETS_FLUSH_TRACE);
    if (SUCCEEDED(hr))
        hr = logman_target_choose(t, r->line->adverb);
    if (SUCCEEDED(hr))
        hr = logman_change(r->line, t->set, t->collector, t->session, false, &r->warnings);
    if (SUCCEEDED(hr))
        hr = logman_warn(r->line, t->set, t->collector, &r->warnings);
    if (SUCCEEDED(hr))
        hr = object_get(t->set, class_property(t->set->class, "Status"), &status);
    return SUCCEEDED(hr) ? run_commit(r, t, SETS_MODIFY | (status.u32 == 1 ? SETS_UPDATE_RUNNING : 0)) : hr;
}

static HRESULT xml_option(const struct run *r, const char **path)
{
    const struct logman_option *xml = logman_option(r->line, LOGMAN_XML);
    *path = xml ? xml->words.items[0] : NULL;
    return xml ? S_OK : error_set(E_INVALIDARG, "-xml: missing file");
}

static HRESULT run_import(struct run *r, struct logman_target *t)
{
    const char *path;
    char *xml = NULL;
    size_t size = 0;
    HRESULT hr = xml_option(r, &path);
    if (SUCCEEDED(hr) && t->found)
        hr = error_set(PLA_E_DCS_ALREADY_EXISTS, "the set '%s' already exists", t->name);
    if (SUCCEEDED(hr))
        hr = template_load(path, &xml, &size);
    if (SUCCEEDED(hr))
        hr = set_from_xml(t->set, xml, size, NULL);
    memory_free(xml);
    if (SUCCEEDED(hr))
        hr = run_commit(r, t, SETS_CREATE_NEW);
    return SUCCEEDED(hr) && t->session ? start_target(t, true) : hr;
}

static HRESULT write_template(const char *path, const char *xml)
{
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\r\n";
    WCHAR *units = NULL;
    size_t count = 0;
    char *text = text_format("\xEF\xBB\xBF%s%s", head, xml);
    HRESULT hr = text ? text_to_utf16(text, &units, &count) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_store(path, units, count * sizeof *units);
    memory_free(text);
    memory_free(units);
    return hr;
}

static HRESULT run_export(struct run *r, struct logman_target *t)
{
    const char *path = NULL;
    char *xml = NULL;
    size_t size;
    HRESULT hr = must_exist(t);
    if (SUCCEEDED(hr))
        hr = xml_option(r, &path);
    if (SUCCEEDED(hr) && !logman_option(r->line, LOGMAN_YES) && file_find(path) == S_OK && !cli_may_overwrite(path))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_EXISTS), "%s", path);
    if (SUCCEEDED(hr))
        hr = object_to_xml(t->set, &xml, &size);
    if (SUCCEEDED(hr))
        hr = write_template(path, xml);
    memory_free(xml);
    return hr;
}

static HRESULT run_query(struct run *r)
{
    const struct logman_option *server = logman_option(r->line, LOGMAN_SERVER);
    const bool sessions = logman_is_given(r->line, LOGMAN_SESSION);
    struct logman_target t = {0};
    struct object *all = NULL;
    if (r->line->adverb == LOGMAN_PROVIDERS)
        return r->json ? logman_json_providers(r->json, r->line) : logman_show_providers(r->line);
    if (r->line->name && strcmp(r->line->name, "*") != 0) {
        HRESULT hr = logman_target_open(r->line, &t);
        if (SUCCEEDED(hr))
            hr = must_exist(&t);
        if (SUCCEEDED(hr))
            hr = r->json ? logman_json_set(r->json, t.set) : logman_show_set(t.set, t.session);
        logman_target_free(&t);
        return hr;
    }
    HRESULT hr = logman_list(server ? server->words.items[0] : NULL, sessions, &all);
    if (SUCCEEDED(hr) && r->json)
        hr = r->line->name ? logman_json_all_sets(r->json, all) : logman_json_list(r->json, all);
    else if (SUCCEEDED(hr))
        hr = r->line->name ? logman_show_all_sets(all, sessions) : logman_show_list(all);
    object_release(all);
    return hr;
}

static HRESULT run_verb(struct run *r)
{
    static HRESULT (*const verbs[])(struct run *, struct logman_target *) = {
        [LOGMAN_CREATE] = run_create, [LOGMAN_START] = run_start,   [LOGMAN_STOP] = stop,
        [LOGMAN_DELETE] = delete,     [LOGMAN_UPDATE] = run_update, [LOGMAN_IMPORT] = run_import,
        [LOGMAN_EXPORT] = run_export};
    struct logman_target t = {0};
    HRESULT hr = log_on(r->line);
    if (FAILED(hr))
        return hr;
    if (r->line->verb == LOGMAN_QUERY)
        return run_query(r);
    hr = logman_target_open(r->line, &t);
    if (SUCCEEDED(hr))
        hr = verbs[r->line->verb](r, &t);
    else if (r->line->verb == LOGMAN_DELETE && hr != E_ACCESSDENIED &&
             definition_is_damaged(hr)) /* set_delete needs no definition: the object is bound to the set even if the
                                           definition cannot be read */
        hr = set_delete(t.set, &caller_self);
    logman_target_free(&t);
    return hr;
}

/* ---- messages ---- */

static const char *text_of_code(HRESULT hr)
{
    static const struct {
        uint32_t code;
        const char *text;
    } texts[] = {
#define CODE(code, text) {code, text},
#include "cli/logman/errors.def"
#undef CODE
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == (uint32_t)hr)
            return texts[i].text;
    return NULL;
}

/* Prints the failure. stdout contains only Windows' message for the code, which scripts compare; the reason and the
   advice go to stderr. `line` may be NULL. */
static void say_failed(const struct logman_line *line, HRESULT hr)
{
    const char *known = text_of_code(hr), *own = error_text(hr), *advice = line ? logman_advice(line, hr) : NULL;
    printf("\nError:\n%s\n", known ? known : own);
    fflush(stdout);
    if (known && strcmp(own, error_standard_text(hr)) != 0)
        fprintf(stderr, "%s\n", own);
    if (advice)
        fprintf(stderr, "%s\n", advice);
}

static void run_print_warnings(const struct texts *warnings)
{
    for (size_t i = 0; i < warnings->count; i++)
        fprintf(stderr, "Warning: %s\n", warnings->items[i]);
}

static void say_done(const struct run *r)
{
    run_print_warnings(&r->line->warnings);
    run_print_warnings(&r->warnings);
    if (logman_option(r->line, LOGMAN_VERBOSE))
        run_print_warnings(&r->issues);
    printf("\nThe command completed successfully.\n");
}

static void run_put_warnings(struct json *j, const struct texts *warnings)
{
    for (size_t i = 0; i < warnings->count; i++)
        json_text(j, NULL, warnings->items[i]);
}

/* Writes the end of a JSON document; first closes brackets that a failure left open. */
static void end_json(const struct run *r, HRESULT hr)
{
    struct json *j = r->json;
    char code[16];
    while (j->depth > 1)
        json_end(j, j->brackets[j->depth - 1] == '[' ? ']' : '}');
    json_begin(j, "remarks", '[');
    if (r->line) {
        run_put_warnings(j, &r->line->warnings);
        run_put_warnings(j, &r->warnings);
        run_put_warnings(j, &r->issues);
    }
    json_end(j, ']');
    snprintf(code, sizeof code, "0x%08X", FAILED(hr) ? (unsigned)hr : 0U);
    json_text(j, "result", code);
    json_text(j, "error", SUCCEEDED(hr) ? NULL : text_of_code(hr) ? text_of_code(hr) : error_standard_text(hr));
    json_text(j, "detail", SUCCEEDED(hr) ? NULL : error_text(hr));
    json_text(j, "advice", SUCCEEDED(hr) || !r->line ? NULL : logman_advice(r->line, hr));
    json_end(j, '}');
}

static HRESULT run_line(const struct texts *settings, const struct texts *words, struct json *j)
{
    struct logman_line line = {0};
    struct run r = {.line = &line, .json = j};
    HRESULT hr = logman_line_read(settings, (int)words->count, words->items, &line);
    if (line.help) {
        hr = logman_show_help(&line);
    } else {
        if (j)
            json_begin(j, NULL, '{');
        if (SUCCEEDED(hr))
            hr = run_verb(&r);
        if (j)
            end_json(&r, hr);
        else if (SUCCEEDED(hr))
            say_done(&r);
        else
            say_failed(&line, hr);
    }
    texts_free(&r.warnings);
    texts_free(&r.issues);
    logman_line_free(&line);
    return hr;
}

/* Separates the words of the command line from the words of the -config files. */
static HRESULT split_settings(int argc, char **argv, struct texts *words, struct texts *settings)
{
    HRESULT hr = S_OK;
    for (int i = 0; i < argc && SUCCEEDED(hr); i++)
        if (!settings_is_config(argv[i])) {
            hr = texts_add(words, argv[i]);
        } else {
            hr = settings_expand(argc - i < 2 ? 1 : 2, argv + i, settings);
            i++;
        }
    return hr;
}

static int logman_run(int argc, char **argv)
{
    struct texts words = {0}, settings = {0};
    struct json json = {.out = stdout};
    if (logman_report_options())
        return CLI_DONE;
    HRESULT hr = split_settings(argc, argv, &words, &settings);
    struct json *j = cli_wants_json(argc, argv) || cli_wants_json((int)settings.count, settings.items) ? &json : NULL;
#ifdef _WIN32
    (void)_setmode(_fileno(stdout), _O_TEXT);
    (void)_setmode(_fileno(stderr), _O_TEXT);
    if (SUCCEEDED(hr))
        hr = CoInitializeEx(NULL, COINIT_MULTITHREADED);
#endif
    if (SUCCEEDED(hr)) {
        hr = run_line(&settings, &words, j);
    } else if (j) {
        const struct run r = {.json = j};
        json_begin(j, NULL, '{');
        end_json(&r, hr);
    } else {
        say_failed(NULL, hr);
    }
#ifdef _WIN32
    fflush(stdout);
    fflush(stderr);
    (void)_setmode(_fileno(stdout), _O_BINARY);
    (void)_setmode(_fileno(stderr), _O_BINARY);
#endif
    texts_free(&words);
    texts_free(&settings);
    return FAILED(hr) ? (int)hr : 0;
}

const struct verb verb_logman = {
    .name = VERB,
    .summary = "creates, starts, stops, shows and changes sets and trace sessions, like Windows' logman",
    .run = logman_run,
};
