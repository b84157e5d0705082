/* SPDX-License-Identifier: MIT */
/* openpla check: checks whether this computer supports a set before it is started. */
#include "cli/cli.h"
#include "cli/counters/counter_list.h"
#include "cli/output.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/etw_api.h"
#include "engine/logs/counter_names.h"
#include "engine/logs/counter_path.h"
#include "engine/pdh/counter_facts.h"
#include "engine/pdh/counter_query.h"
#include "engine/pla/model.h"

#include <stdio.h>
#include <string.h>

#define VERB "check"

static const char help_text[] =
    "openpla check FILE.xml [FILE.xml ...] [-all] [-names FILE ...] [--json]\n"
    "\n"
    "Checks which parts of a set's definition (a Performance Monitor template or a logman export) this\n"
    "computer supports, without creating or starting the set: the counters of its collectors and alerts, the event\n"
    "providers they enable, and the settings that would be changed, ignored or rejected.\n"
    "\n"
    "  -all      list supported items and ignored settings too\n"
    "  -names    translated counter names from the computer where the definition was made: an export (.reg) of its\n"
    "            registry key Perflib, or its files perfcNNN.dat; six languages are built in\n"
    "  --json    print an array with one object per file\n"
    "\n"
    "A counter whose instance does not exist now, for example because its program is not running, counts as "
    "supported.\n"
    "An event provider that is not registered is still enabled; its events arrive once a program registers it.\n"
    "\n"
    "Exit codes: 0 all supported, 1 failed, 2 wrong command line, 3 something is not supported.\n";

/* An item that a definition requires. */
struct wish {
    char *collector, *name;
    char *reason; /* why it is not supported; NULL if it is supported */
    bool ignored; /* true for a setting that has no effect */
};
struct wishes {
    struct wish *items;
    size_t count, capacity, refused;
};
struct checked {
    struct wishes counters, providers, settings;
    size_t ignored;                    /* number of settings without effect */
    const struct counter_names *names; /* borrowed */
    struct names_summary summary;      /* summary of the counters' names */
    struct counter_nearest nearest;
};

/* Returns true if all items are supported. Settings without effect are ignored. */
static bool is_served(const struct checked *c)
{
    return !c->counters.refused && !c->providers.refused && c->settings.count == c->ignored;
}

static void wishes_free(struct wishes *w)
{
    for (size_t i = 0; i < w->count; i++) {
        memory_free(w->items[i].collector);
        memory_free(w->items[i].name);
        memory_free(w->items[i].reason);
    }
    memory_free(w->items);
}

static HRESULT wishes_add(struct wishes *w, const char *collector, const char *name, const char *reason)
{
    struct wish wish = {
        .collector = text_copy(collector), .name = text_copy(name), .reason = reason ? text_copy(reason) : NULL};
    if (!wish.collector || !wish.name || (reason && !wish.reason) ||
        !memory_grow((void **)&w->items, &w->capacity, w->count + 1, sizeof *w->items)) {
        memory_free(wish.collector);
        memory_free(wish.name);
        memory_free(wish.reason);
        return E_OUTOFMEMORY;
    }
    w->items[w->count++] = wish;
    w->refused += reason != NULL;
    return S_OK;
}

/* Records that a counter is not supported, and the reason. If OpenPLA's tables contain no reason, the reason is PDH's
   message without the path, followed by the most similar counter. */
static HRESULT counter_refuse(struct checked *c, const char *collector, const char *path, const char *said, HRESULT why)
{
    struct counter_path parts;
    const char *behind = strstr(said, ": ");
    const char *reason = behind && !strncmp(said, path, (size_t)(behind - said)) ? behind + 2 : said;
    const char *const by_pdh = reason;
    char *made = NULL;
    if (counter_list_is_ours() && counter_path_parse(path, &parts) == ERROR_SUCCESS) {
        const char *known = counter_absence(parts.object, parts.counter);
        const struct counter_schema *row = counter_row(parts.object, parts.counter);
        if (row && (made = text_format("this host OS does not provide the counter's source (%s)", row->source)))
            reason = made;
        else if (known)
            reason = known;
        counter_path_free(&parts);
    }
    HRESULT hr = S_OK;
    if (reason == by_pdh) {
        char *nearest = counter_nearest_text(&c->nearest, path, why);
        made = nearest ? text_format("%s%s", reason, nearest) : NULL;
        memory_free(nearest);
        hr = made ? S_OK : E_OUTOFMEMORY;
        reason = made;
    }
    if (SUCCEEDED(hr))
        hr = wishes_add(&c->counters, collector, path, reason);
    memory_free(made);
    return hr;
}

struct refusal {
    char *said;
    HRESULT reason;
};

static void refusal_note(void *user, HRESULT reason, const char *path, const char *text)
{
    struct refusal *r = user;
    (void)path;
    if (!r->said) {
        r->said = text_copy(text);
        r->reason = reason;
    }
}

/* Counts the columns of one path. Uses a separate query for each path, to find the paths without counters. */
static HRESULT count_columns(const struct pdh_api *pdh, char *path, struct refusal *r, size_t *columns)
{
    struct texts one = {.count = 1, .capacity = 1, .items = &path};
    struct counter_query *query = NULL;
    const struct counter_query_request request = {
        .pdh = pdh, .paths = &one, .keep_instances = true, .refused = refusal_note, .user = r};
    HRESULT hr = counter_query_open(&request, &query);
    *columns = 0;
    if (SUCCEEDED(hr))
        counter_query_columns(query, columns);
    counter_query_close(query);
    return hr;
}

static HRESULT summarise_name(struct checked *c, const char *path)
{
    struct log_counters names = {0};
    HRESULT hr = log_counters_add_path(&names, path);
    if (SUCCEEDED(hr))
        hr = names_summary_add(&c->summary, c->names, &names.items[0]);
    log_counters_free(&names);
    return hr;
}

/* Translates a path that this computer does not know. Collectors understand only the built-in names of counters, but
   the files of the option -names may contain the translation. Returns S_OK if the translated path exists here; *out,
   from memory_alloc, is then a message that names this path. */
static HRESULT find_english(const struct pdh_api *pdh, const struct checked *c, const char *path, char **out)
{
    struct refusal ignored = {NULL, S_OK};
    char *english = NULL;
    size_t columns = 0;
    *out = NULL;
    HRESULT hr = counter_names_path(c->names, path, &english);
    if (hr == S_OK)
        hr = count_columns(pdh, english, &ignored, &columns);
    if (SUCCEEDED(hr) && columns)
        *out = text_format("on this computer its path is '%s' (use this path in the definition)", english);
    hr = FAILED(hr) ? hr : *out ? S_OK : columns ? E_OUTOFMEMORY : S_FALSE;
    memory_free(ignored.said);
    memory_free(english);
    return hr;
}

static HRESULT check_counter(const struct pdh_api *pdh, struct checked *c, const char *collector, char *path)
{
    struct refusal r = {NULL, S_OK};
    char *english = NULL;
    size_t columns = 0;
    HRESULT hr = summarise_name(c, path);
    if (SUCCEEDED(hr))
        hr = count_columns(pdh, path, &r, &columns);
    if (SUCCEEDED(hr) && !columns)
        hr = find_english(pdh, c, path, &english);
    if (english)
        hr = wishes_add(&c->counters, collector, path, english);
    else if (SUCCEEDED(hr))
        hr = columns ? wishes_add(&c->counters, collector, path, NULL)
                     : counter_refuse(c, collector, path, r.said ? r.said : "the counter does not exist", r.reason);
    memory_free(r.said);
    memory_free(english);
    return hr;
}

/* Checks the counters of a collector, or of an alert's thresholds. */
static HRESULT check_counters(struct checked *c, struct object *collector, const char *property, const char *name)
{
    const struct pdh_api *pdh;
    struct value v;
    HRESULT hr = host_pdh(&pdh);
    c->nearest.pdh = pdh;
    if (SUCCEEDED(hr))
        hr = object_get(collector, class_property(collector->class, property), &v);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < v.texts.count && SUCCEEDED(hr); i++) {
        struct alert_threshold threshold;
        if (collector->class != &alert_collector_class) {
            hr = check_counter(pdh, c, name, v.texts.items[i]);
        } else if (SUCCEEDED(hr = alert_threshold_parse(v.texts.items[i], &threshold))) {
            hr = check_counter(pdh, c, name, threshold.path);
            memory_free(threshold.path);
        }
    }
    value_free(&v);
    return hr;
}

static HRESULT check_provider(struct checked *c, const struct event_providers *known, struct object *provider,
                              const char *collector)
{
    const struct trace_data_provider *p = (const struct trace_data_provider *)provider;
    char guid[39];
    struct value shown;
    text_from_guid(&p->Guid, guid);
    HRESULT hr = object_get(provider, class_property(provider->class, "DisplayName"), &shown);
    if (FAILED(hr))
        return hr;
    bool there = event_providers_find(known, &p->Guid) || kernel_provider_find(&p->Guid);
    char *name = shown.text && *shown.text && !text_equal_nocase(shown.text, guid)
                     ? text_format("%s %s", guid, shown.text)
                     : text_copy(guid);
    value_free(&shown);
    hr = name ? wishes_add(&c->providers, collector, name,
                           there ? NULL : "the provider is not registered on this computer")
              : E_OUTOFMEMORY;
    memory_free(name);
    return hr;
}

static HRESULT check_providers(struct checked *c, struct object *collector, const char *name)
{
    struct event_providers known;
    struct object **list;
    size_t count;
    HRESULT hr = event_providers_list(host_etw(), &known);
    if (FAILED(hr))
        return hr;
    hr = collection_snapshot(((struct trace_data_collector *)collector)->TraceDataProviders, &list, &count);
    if (SUCCEEDED(hr)) {
        for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
            hr = check_provider(c, &known, list[i], name);
        objects_release(list, count);
    }
    event_providers_free(&known);
    return hr;
}

static HRESULT check_collector(struct checked *c, struct object *collector)
{
    struct value name;
    HRESULT hr = object_get(collector, class_property(collector->class, "Name"), &name);
    if (FAILED(hr))
        return hr;
    if (collector->class == &performance_counter_collector_class)
        hr = check_counters(c, collector, "PerformanceCounters", name.text);
    else if (collector->class == &alert_collector_class)
        hr = check_counters(c, collector, "AlertThresholds", name.text);
    else if (collector->class == &trace_data_collector_class)
        hr = check_providers(c, collector, name.text);
    else if (collector->class == &api_tracing_collector_class && FAILED(api_trace_supported()))
        hr = wishes_add(&c->settings, name.text, collector->class->name,
                        error_text(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED)));
    value_free(&name);
    return hr;
}

/* Adds an issue that Commit or the reader of the XML has reported. Windows' exports contain many ignored settings,
   which do not prevent a start. */
static HRESULT add_issue(void *user, HRESULT what, const char *key, const char *text)
{
    struct checked *c = user;
    HRESULT hr = wishes_add(&c->settings, "", key, text);
    if (SUCCEEDED(hr) && SUCCEEDED(what)) {
        c->settings.items[c->settings.count - 1].ignored = true;
        c->ignored++;
    }
    return hr;
}

/* Checks the root path, because an invalid one would make a start fail, perhaps hours after the import. */
static HRESULT check_root(struct checked *c, const struct data_collector_set *set)
{
    char *root = os_expand_environment(set_root(set)), *reason = NULL;
    HRESULT hr = root ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !folder_exists(root) && !set_creates_root(root)) {
        reason = text_format("the folder '%s' does not exist (create it; starting a set creates only folders below "
                             "%%systemdrive%%\\PerfLogs)",
                             root);
        hr = reason ? wishes_add(&c->settings, "", "RootPath", reason) : E_OUTOFMEMORY;
    }
    memory_free(reason);
    memory_free(root);
    return hr;
}

static HRESULT check_set(struct checked *c, struct object *set, const char *xml, size_t size)
{
    struct object *issues = NULL, **list;
    size_t count;
    HRESULT hr = issues_create(set, &issues);
    if (SUCCEEDED(hr))
        hr = set_from_xml(set, xml, size, issues);
    if (SUCCEEDED(hr)) {
        HRESULT refused = set_validate(set, issues);
        hr = issues_each(issues, add_issue, c);
        if (SUCCEEDED(hr) && FAILED(refused))
            hr = refused == E_OUTOFMEMORY ? refused : wishes_add(&c->settings, "", "Commit", error_text(refused));
    }
    object_release(issues);
    if (SUCCEEDED(hr))
        hr = check_root(c, set_of(set));
    if (SUCCEEDED(hr))
        hr = collection_snapshot(set_of(set)->DataCollectors, &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = check_collector(c, list[i]);
    objects_release(list, count);
    return hr;
}

static void print_wishes(const struct wishes *w, const char *what, const char *can, bool all)
{
    printf("  %s: %u of %u %s\n", what, (unsigned)(w->count - w->refused), (unsigned)w->count, can);
    for (size_t i = 0; i < w->count; i++)
        if (w->items[i].reason)
            printf("    %s: %s\n", w->items[i].name, w->items[i].reason);
        else if (all)
            printf("    %s\n", w->items[i].name);
}

static void wishes_print(const char *path, const struct checked *c, const char *names, bool all)
{
    printf("%s\n", path);
    if (c->counters.count)
        print_wishes(&c->counters, "counters", "can be collected", all);
    if (names)
        printf("  %s\n", names);
    if (c->providers.count)
        print_wishes(&c->providers, "providers", "are registered", all);
    for (size_t i = 0; i < c->settings.count; i++)
        if (all || !c->settings.items[i].ignored)
            printf("  %s: %s\n", c->settings.items[i].name, c->settings.items[i].reason);
    if (is_served(c))
        printf("  everything is supported\n");
}

static void put_wishes(struct json *j, const char *name, const struct wishes *w, bool settings)
{
    json_begin(j, name, '[');
    for (size_t i = 0; i < w->count; i++) {
        json_begin(j, NULL, '{');
        if (*w->items[i].collector)
            json_text(j, "collector", w->items[i].collector);
        json_text(j, settings ? "property" : "name", w->items[i].name);
        if (settings)
            json_bool(j, "ignored", w->items[i].ignored);
        else
            json_bool(j, "served", !w->items[i].reason);
        json_text(j, "reason", w->items[i].reason);
        json_end(j, '}');
    }
    json_end(j, ']');
}

static void wishes_put_json(struct json *j, const char *path, const struct checked *c, const char *names, HRESULT hr)
{
    json_begin(j, NULL, '{');
    json_text(j, "file", path);
    json_text(j, "error", FAILED(hr) ? error_text(hr) : NULL);
    json_bool(j, "served", SUCCEEDED(hr) && is_served(c));
    if (names)
        json_text(j, "names", names);
    put_wishes(j, "counters", &c->counters, false);
    put_wishes(j, "providers", &c->providers, false);
    put_wishes(j, "settings", &c->settings, true);
    json_end(j, '}');
}

static int check_file(const char *path, const struct counter_names *names, struct json *j, bool all)
{
    struct checked c = {.names = names};
    char *said = NULL;
    struct object *set = NULL;
    char *xml = NULL;
    size_t size = 0;
    HRESULT hr = template_load(path, &xml, &size);
    if (SUCCEEDED(hr))
        hr = set_create(&set);
    if (SUCCEEDED(hr))
        hr = check_set(&c, set, xml, size);
    if (SUCCEEDED(hr))
        hr = names_summary_text(&c.summary, &said);
    const struct error_kept why = error_keep(hr);
    if (j)
        wishes_put_json(j, path, &c, said, error_restore(&why));
    else if (SUCCEEDED(hr))
        wishes_print(path, &c, said, all);
    else
        cli_error(VERB, error_restore(&why));
    int result = FAILED(hr) ? CLI_FAILED : is_served(&c) ? CLI_DONE : CLI_REMARKS;
    object_release(set);
    memory_free(xml);
    wishes_free(&c.counters);
    wishes_free(&c.providers);
    wishes_free(&c.settings);
    counter_nearest_free(&c.nearest);
    names_summary_free(&c.summary);
    memory_free(said);
    return result;
}

static int check_run(int argc, char **argv)
{
    struct texts files = {0}, name_files = {0};
    struct counter_names *names = NULL;
    bool as_json = false, all = false;
    const struct option options[] = {
        {"json", OPTION_FLAG, &as_json}, {"all", OPTION_FLAG, &all}, {"names", OPTION_TEXTS, &name_files}};
    struct json j = {.out = stdout};
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &files);
    if (result == CLI_DONE && files.count == 0)
        result = cli_usage(VERB, "missing file");
    if (result == CLI_DONE) {
        const HRESULT hr = counter_names_create(&name_files, &names);
        result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    }
    const bool begun = result == CLI_DONE;
    if (begun && as_json)
        json_begin(&j, NULL, '[');
    for (size_t i = 0; begun && i < files.count; i++) {
        const int one = check_file(files.items[i], names, as_json ? &j : NULL, all);
        result = result == CLI_FAILED || one == CLI_DONE ? result : one;
    }
    if (begun && as_json)
        json_end(&j, ']');
    counter_names_free(names);
    texts_free(&name_files);
    texts_free(&files);
    return result;
}

const struct verb verb_check = {
    .name = VERB,
    .summary = "checks whether this computer supports a set's definition",
    .help = help_text,
    .run = check_run,
};
