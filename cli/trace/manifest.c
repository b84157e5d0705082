/* SPDX-License-Identifier: MIT */
/* openpla manifest: providers of instrumentation manifests, of events and of counters, where no wevtutil and no lodctr
   registers them. */
#include "cli/trace/manifest_counters.h"
#include "cli/trace/manifest_show.h"
#include "cli/verbs.h"
#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/etw/manifest_origins.h"

#include <stdio.h>
#include <string.h>

#define VERB "manifest"

static int failed(HRESULT hr)
{
    return cli_error(VERB, hr);
}

/* On Windows the event log's service keeps the registry's keys, and must be told. */
static HRESULT may_register(void)
{
#ifdef _WIN32
    if (!host_is_wine())
        return error_set(
            HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
            "this computer's providers are the system's: use wevtutil im and um, and of counters lodctr /M "
            "and unlodctr /M");
#endif
    return S_OK;
}

/* ---- add ---- */

struct adding {
    const char *name;
    struct manifest_files files;
    bool force;
};

/* Those of events; *added: how many. */
static HRESULT add_event_providers(const struct adding *a, const char *path, const char *whole,
                                   const struct provider_manifests *list, size_t *added)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++) {
        const struct provider_manifest *m = list->items[i];
        char guid[39];
        text_from_guid(&m->guid, guid);
        if (!m->name) {
            hr = error_set(E_INVALIDARG, "%s: it is no manifest, and has no names of its providers", path);
        } else if (!a->name || text_equal_nocase(a->name, m->name) || text_equal_nocase(a->name, guid)) {
            ++*added;
            hr = manifest_register(m, whole, &a->files, a->force);
            if (SUCCEEDED(hr))
                printf("%s %s\n", m->name, guid);
        }
    }
    return hr;
}

/* All is read before anything is registered. */
static HRESULT add_providers(const struct adding *a, const char *path)
{
    struct counter_manifest counters = {.has_events = false};
    struct provider_manifests list = {0};
    struct texts remarks = {0};
    char *whole = host_full_path(path);
    size_t added = 0;
    HRESULT hr = whole ? may_register() : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = manifest_counters_load(path, a->name, &remarks, &counters);
    if (SUCCEEDED(hr) && (counters.has_events || !counters.providers.count))
        hr = manifest_file_load(path, &remarks, &list);
    for (size_t i = 0; SUCCEEDED(hr) && i < remarks.count; i++)
        fprintf(stderr, "openpla " VERB ": %s: %s\n", path, remarks.items[i]);
    if (SUCCEEDED(hr))
        hr = manifest_counters_add(&counters.providers, whole, a->force);
    added = counters.providers.count;
    if (SUCCEEDED(hr)) {
        hr = add_event_providers(a, path, whole, &list, &added);
        if (FAILED(hr)) {
            struct error_kept why = error_keep(hr);
            size_t removed = 0;
            (void)manifest_counters_remove(&counters.providers, true, &removed);
            hr = error_restore(&why);
        }
    }
    if (SUCCEEDED(hr) && !added)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "%s: it has no provider \"%.200s\"", path,
                       a->name ? a->name : "");
    counter_manifest_free(&counters);
    provider_manifests_free(&list);
    texts_free(&remarks);
    memory_free(whole);
    return hr;
}

static int add(int argc, char **argv)
{
    struct adding a = {0};
    struct texts operands = {0};
    const struct option options[] = {
        {"name", OPTION_TEXT, &a.name},        {"rf", OPTION_TEXT, &a.files.resource},
        {"mf", OPTION_TEXT, &a.files.message}, {"pf", OPTION_TEXT, &a.files.parameter},
        {"force", OPTION_FLAG, &a.force},
    };
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof options[0], &operands);
    if (result == CLI_DONE && operands.count != 1)
        result = cli_usage(VERB, "add: one manifest is wanted");
    if (result == CLI_DONE) {
        HRESULT hr = add_providers(&a, operands.items[0]);
        result = FAILED(hr) ? failed(hr) : CLI_DONE;
    }
    texts_free(&operands);
    return result;
}

/* ---- list ---- */

static HRESULT print_one(const struct known_provider *p, struct json *j)
{
    char guid[39], *from;
    HRESULT hr = manifest_registered_from(&p->guid, &from);
    text_from_guid(&p->guid, guid);
    if (FAILED(hr))
        return hr;
    if (j) {
        json_begin(j, NULL, '{');
        json_text(j, "name", p->name);
        json_text(j, "guid", guid);
        json_text(j, "manifest", from);
        json_end(j, '}');
    } else {
        printf("%s %s%s%s\n", guid, p->name, from ? "  " : "", from ? from : "");
    }
    memory_free(from);
    return S_OK;
}

static int list(int argc, char **argv)
{
    bool as_json = false;
    const struct option options[] = {{"json", OPTION_FLAG, &as_json}};
    struct known_providers known = {0};
    struct registered_countersets counters = {0};
    struct json j = {.out = stdout};
    int result = options_parse(VERB, argc, argv, options, 1, NULL);
    if (result != CLI_DONE)
        return result;
    HRESULT hr = registered_providers_list(&known);
    if (SUCCEEDED(hr))
        hr = manifest_counters_registered(NULL, &counters);
    if (SUCCEEDED(hr) && as_json)
        json_begin(&j, NULL, '[');
    for (size_t i = 0; SUCCEEDED(hr) && i < known.count; i++)
        hr = print_one(&known.items[i], as_json ? &j : NULL);
    if (SUCCEEDED(hr))
        manifest_counters_list(&counters, as_json ? &j : NULL);
    if (SUCCEEDED(hr) && as_json)
        json_end(&j, ']');
    registered_countersets_free(&counters);
    known_providers_free(&known);
    return FAILED(hr) ? failed(hr) : CLI_DONE;
}

/* ---- show, remove ---- */

static HRESULT find_registered(const char *name, GUID *guid)
{
    struct known_providers known = {0};
    bool is_guid = text_to_guid(name, guid), found = false;
    HRESULT hr = is_guid ? S_OK : registered_providers_list(&known);
    for (size_t i = 0; SUCCEEDED(hr) && i < known.count && !found; i++)
        if (text_equal_nocase(known.items[i].name, name)) {
            *guid = known.items[i].guid;
            found = true;
        }
    known_providers_free(&known);
    return SUCCEEDED(hr) && !is_guid && !found ? S_FALSE : hr;
}

static HRESULT not_registered(const char *name)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND),
                     "no provider \"%.200s\" is registered (openpla manifest list shows them)", name);
}

/* What is shown: a registered provider, of events or of counters, or all of a file. */
struct shown {
    struct provider_manifests events;
    struct registered_countersets counters;
};

static HRESULT load_file(const char *path, struct shown *out)
{
    struct counter_manifest m;
    HRESULT hr = manifest_counters_load(path, NULL, NULL, &m);
    out->counters = m.providers;
    if (SUCCEEDED(hr) && (m.has_events || !m.providers.count))
        hr = manifest_file_load(path, NULL, &out->events);
    return hr;
}

static HRESULT load(const char *what, const char *languages, struct shown *out)
{
    struct provider_manifest *m = NULL;
    GUID guid;
    HRESULT hr = manifest_counters_registered(what, &out->counters);
    if (SUCCEEDED(hr))
        hr = find_registered(what, &guid);
    if (hr == S_OK)
        hr = registered_manifest_load(&guid, languages, &m);
    if (hr == S_FALSE && out->counters.count)
        return S_OK;
    if (hr == S_FALSE)
        return file_find(what) == S_OK ? load_file(what, out) : not_registered(what);
    if (FAILED(hr))
        return hr;
    out->events.items = memory_alloc(sizeof *out->events.items);
    if (!out->events.items) {
        provider_manifest_free(m);
        return E_OUTOFMEMORY;
    }
    out->events.items[out->events.count++] = m;
    return S_OK;
}

static HRESULT show_all(const struct shown *s, const char *languages, bool as_json)
{
    struct json j = {.out = stdout};
    HRESULT hr = S_OK;
    if (!as_json) {
        manifest_counters_show(&s->counters);
        return manifest_show_text(&s->events, languages);
    }
    json_begin(&j, NULL, '[');
    manifest_counters_show_json(&s->counters, &j);
    hr = manifest_show_json(&s->events, languages, &j);
    if (SUCCEEDED(hr))
        json_end(&j, ']');
    return hr;
}

static int show(int argc, char **argv)
{
    bool as_json = false;
    const char *language = NULL;
    struct texts operands = {0};
    const struct option options[] = {{"json", OPTION_FLAG, &as_json}, {"language", OPTION_TEXT, &language}};
    int result = options_parse(VERB, argc, argv, options, 2, &operands);
    if (result == CLI_DONE && operands.count != 1)
        result = cli_usage(VERB, "show: a provider's name or GUID, or a file, is wanted");
    if (result == CLI_DONE) {
        struct shown all = {.counters = {0}};
        char *own = language ? text_copy(language) : host_ui_languages();
        HRESULT hr = own ? load(operands.items[0], own, &all) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr = show_all(&all, own, as_json);
        registered_countersets_free(&all.counters);
        provider_manifests_free(&all.events);
        memory_free(own);
        result = FAILED(hr) ? failed(hr) : CLI_DONE;
    }
    texts_free(&operands);
    return result;
}

static HRESULT remove_one(const char *what, bool force)
{
    struct registered_countersets counters;
    GUID guid;
    size_t removed = 0;
    HRESULT hr = manifest_counters_registered(what, &counters);
    if (SUCCEEDED(hr))
        hr = manifest_counters_remove(&counters, force, &removed);
    registered_countersets_free(&counters);
    if (SUCCEEDED(hr))
        hr = find_registered(what, &guid);
    if (hr == S_OK)
        hr = manifest_unregister(&guid, force);
    return hr == S_FALSE && !removed ? not_registered(what) : hr;
}

/* As wevtutil um and lodctr's counterpart: all providers of a manifest that are registered; `add -name` may have taken
   one alone. */
static HRESULT remove_all(const char *path, bool force)
{
    struct shown all = {.counters = {0}};
    size_t removed = 0;
    HRESULT hr = load_file(path, &all);
    if (SUCCEEDED(hr))
        hr = manifest_counters_remove(&all.counters, force, &removed);
    for (size_t i = 0; SUCCEEDED(hr) && i < all.events.count; i++) {
        hr = manifest_unregister(&all.events.items[i]->guid, force);
        removed += hr == S_OK;
    }
    registered_countersets_free(&all.counters);
    provider_manifests_free(&all.events);
    return SUCCEEDED(hr) && !removed ? not_registered(path) : hr;
}

static int remove_provider(int argc, char **argv)
{
    bool force = false;
    struct texts operands = {0};
    const struct option options[] = {{"force", OPTION_FLAG, &force}};
    int result = options_parse(VERB, argc, argv, options, 1, &operands);
    if (result == CLI_DONE && operands.count != 1)
        result = cli_usage(VERB, "remove: a provider's name or GUID, or a manifest, is wanted");
    if (result == CLI_DONE) {
        const char *what = operands.items[0];
        HRESULT hr = may_register();
        if (SUCCEEDED(hr))
            hr = file_find(what) == S_OK ? remove_all(what, force) : remove_one(what, force);
        result = FAILED(hr) ? failed(hr) : CLI_DONE;
    }
    texts_free(&operands);
    return result;
}

static int run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {{"add", add}, {"list", list}, {"show", show}, {"remove", remove_provider}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_manifest = {
    .name = VERB,
    .summary = "registers providers of events and counters by their manifests, and shows what they say",
    .help =
        "openpla manifest add [-name PROVIDER] [-rf FILE] [-mf FILE] [-pf FILE] [-force] MANIFEST\n"
        "openpla manifest list [-json]\n"
        "openpla manifest show [-language NAME] [-json] PROVIDER|FILE\n"
        "openpla manifest remove [-force] PROVIDER|MANIFEST\n"
        "\n"
        "What Windows' wevtutil does by im and um, and lodctr and unlodctr by /M, which under Wine nothing does: who\n"
        "reads a trace then knows the providers' events, and their names and messages; and the countersets of a\n"
        "manifest's providers of counters can be counted, under their names, also before their programs run.\n"
        "PROVIDER is a name or a GUID; show takes a manifest, or a program or DLL that has one in it, as well.\n"
        "\n"
        "  -name         of several providers of the manifest this one alone\n"
        "  -rf           the file that has the compiled manifest (WEVT_TEMPLATE), in the place of resourceFileName\n"
        "  -mf, -pf      the files with the messages, in the place of messageFileName and parameterFileName\n"
        "                Where resourceFileName is not there, the manifest is compiled into our own data.\n"
        "  -force        of a provider too that another program has registered\n"
        "  -language     the language of messages, as de-DE; without it that of the user\n"
        "  -json         as JSON\n",
    .run = run,
};
