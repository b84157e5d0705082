/* SPDX-License-Identifier: MIT */
/* openpla manifest: registers event and counter providers from instrumentation manifests, because Wine's wevtutil and
   lodctr do not. */
#include "cli/trace/manifest.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/manifest_origins.h"
#include "engine/etw/provider_manifest.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[MANIFEST_KINDS] = {"keywords", "levels", "channels", "tasks", "opcodes"};

/* ---- types ---- */

/* Returns a string such as "win:UInt32[Count] (4)"; for a struct only its name. */
static char *type_text(const struct event_schema *s, const struct event_property *p)
{
    const struct manifest_in_type *type = manifest_in_type_of(p->in_type);
    struct text_buffer b = {0};
    if (p->flags & PROPERTY_STRUCT)
        text_buffer_add(&b, "struct");
    else if (type)
        text_buffer_format(&b, "win:%s", type->name);
    else
        text_buffer_format(&b, "type %u", p->in_type);
    if (p->flags & PROPERTY_PARAM_LENGTH)
        text_buffer_format(&b, "(%s)", s->properties[p->length].name);
    else if (p->flags & PROPERTY_FIXED_LENGTH)
        text_buffer_format(&b, "(%u)", p->length);
    if (p->flags & PROPERTY_PARAM_COUNT)
        text_buffer_format(&b, "[%s]", s->properties[p->count].name);
    else if (p->flags & PROPERTY_FIXED_COUNT)
        text_buffer_format(&b, "[%u]", p->count);
    return text_buffer_take(&b);
}

/* ---- text ---- */

static void print_field(const struct provider_manifest *m, enum manifest_kind kind, const struct manifest_field *f,
                        const char *languages)
{
    const char *message = manifest_field_message(m, f, languages);
    printf(kind == MANIFEST_KEYWORDS ? "  0x%llX " : "  %llu ", (unsigned long long)f->value);
    print_shown(f->name ? f->name : "");
    if (kind == MANIFEST_OPCODES && f->task)
        printf(" (task %u)", f->task);
    if (message) {
        printf(": ");
        print_shown(message);
    }
    printf("\n");
}

static HRESULT print_properties(const struct event_schema *s, size_t first, size_t count, unsigned indent)
{
    HRESULT hr = S_OK;
    for (size_t i = first; SUCCEEDED(hr) && i < first + count; i++) {
        const struct event_property *p = &s->properties[i];
        char *type = type_text(s, p);
        const char *out = p->flags & PROPERTY_STRUCT ? NULL : manifest_out_type_name(p->out_type);
        if (!type)
            return E_OUTOFMEMORY;
        printf("%*s", (int)indent, "");
        print_shown(p->name);
        printf(" ");
        print_shown(type);
        printf("%s%s%s", out ? " " : "", out ? out : "", p->map ? " map " : "");
        print_shown(p->map ? p->map : "");
        printf("\n");
        memory_free(type);
        if (p->flags & PROPERTY_STRUCT)
            hr = print_properties(s, p->first_member, p->members, indent + 2);
    }
    return hr;
}

static void print_named(const char *what, const char *name)
{
    if (!name)
        return;
    printf(" %s ", what);
    print_shown(name);
}

static HRESULT print_event(const struct provider_manifest *m, const struct manifest_event *e, const char *languages)
{
    struct event_schema *s;
    HRESULT hr = provider_manifest_schema(m, &e->descriptor, languages, &s);
    if (hr != S_OK)
        return hr;
    printf("  %u version %u", e->descriptor.Id, e->descriptor.Version);
    print_named("level", s->level_name);
    print_named("task", s->task_name);
    print_named("opcode", e->descriptor.Opcode ? s->opcode_name : NULL);
    print_named("channel", s->channel_name);
    for (size_t i = 0; i < s->keyword_count; i++)
        print_named(i ? "," : "keywords", s->keyword_names[i]);
    printf("\n");
    if (s->event_message) {
        printf("    ");
        print_shown(s->event_message);
        printf("\n");
    }
    hr = print_properties(s, 0, s->top_level, 6);
    event_schema_free(s);
    return hr;
}

static HRESULT print_provider(const struct provider_manifest *m, const char *languages)
{
    char guid[39];
    HRESULT hr = S_OK;
    text_from_guid(&m->guid, guid);
    print_shown(m->name ? m->name : "");
    printf("%s%s\n", m->name ? " " : "", guid);
    for (int kind = 0; kind < MANIFEST_KINDS; kind++) {
        if (m->fields[kind].count)
            printf("%s\n", kinds[kind]);
        for (size_t i = 0; i < m->fields[kind].count; i++)
            print_field(m, (enum manifest_kind)kind, &m->fields[kind].items[i], languages);
    }
    for (size_t i = 0; i < m->map_count; i++) {
        printf("map ");
        print_shown(m->maps[i].name);
        printf("\n");
        for (size_t k = 0; k < m->maps[i].count; k++) {
            const char *text = message_tables_find(&m->messages, m->maps[i].entries[k].message, languages);
            printf(m->maps[i].bits ? "  0x%X " : "  %u ", (unsigned)m->maps[i].entries[k].value);
            print_shown(text ? text : "");
            printf("\n");
        }
    }
    printf("events\n");
    for (size_t i = 0; SUCCEEDED(hr) && i < m->event_count; i++)
        hr = print_event(m, &m->events[i], languages);
    return hr;
}

/* Prints the definitions of providers from manifests. */
static HRESULT manifest_show_text(const struct provider_manifests *all, const char *languages)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < all->count; i++)
        hr = print_provider(all->items[i], languages);
    return hr;
}

/* ---- JSON ---- */

static void write_hex(struct json *j, const char *name, uint64_t value)
{
    char text[20];
    snprintf(text, sizeof text, "0x%llX", (unsigned long long)value);
    json_text(j, name, text);
}

static void write_fields(struct json *j, const struct provider_manifest *m, enum manifest_kind kind,
                         const char *languages)
{
    json_begin(j, kinds[kind], '[');
    for (size_t i = 0; i < m->fields[kind].count; i++) {
        const struct manifest_field *f = &m->fields[kind].items[i];
        json_begin(j, NULL, '{');
        json_text(j, "name", f->name);
        if (kind == MANIFEST_KEYWORDS)
            write_hex(j, "mask", f->value);
        else
            json_integer(j, "value", (int64_t)f->value);
        if (kind == MANIFEST_OPCODES && f->task)
            json_integer(j, "task", f->task);
        json_text(j, "message", manifest_field_message(m, f, languages));
        json_end(j, '}');
    }
    json_end(j, ']');
}

static HRESULT write_properties(struct json *j, const struct event_schema *s, size_t first, size_t count)
{
    HRESULT hr = S_OK;
    json_begin(j, "fields", '[');
    for (size_t i = first; SUCCEEDED(hr) && i < first + count; i++) {
        const struct event_property *p = &s->properties[i];
        char *type = type_text(s, p);
        if (!type)
            return E_OUTOFMEMORY;
        json_begin(j, NULL, '{');
        json_text(j, "name", p->name);
        json_text(j, "type", type);
        memory_free(type);
        if (p->flags & PROPERTY_STRUCT)
            hr = write_properties(j, s, p->first_member, p->members);
        else
            json_text(j, "out", manifest_out_type_name(p->out_type));
        if (p->map)
            json_text(j, "map", p->map);
        json_end(j, '}');
    }
    json_end(j, ']');
    return hr;
}

static HRESULT write_event(struct json *j, const struct provider_manifest *m, const struct manifest_event *e,
                           const char *languages)
{
    struct event_schema *s;
    HRESULT hr = provider_manifest_schema(m, &e->descriptor, languages, &s);
    if (hr != S_OK)
        return hr;
    json_begin(j, NULL, '{');
    json_integer(j, "id", e->descriptor.Id);
    json_integer(j, "version", e->descriptor.Version);
    json_text(j, "level", s->level_name);
    json_text(j, "task", s->task_name);
    json_text(j, "opcode", s->opcode_name);
    json_text(j, "channel", s->channel_name);
    json_begin(j, "keywords", '[');
    for (size_t i = 0; i < s->keyword_count; i++)
        json_text(j, NULL, s->keyword_names[i]);
    json_end(j, ']');
    json_text(j, "message", s->event_message);
    hr = write_properties(j, s, 0, s->top_level);
    json_end(j, '}');
    event_schema_free(s);
    return hr;
}

static void write_maps(struct json *j, const struct provider_manifest *m, const char *languages)
{
    json_begin(j, "maps", '[');
    for (size_t i = 0; i < m->map_count; i++) {
        json_begin(j, NULL, '{');
        json_text(j, "name", m->maps[i].name);
        json_bool(j, "bits", m->maps[i].bits);
        json_begin(j, "entries", '[');
        for (size_t k = 0; k < m->maps[i].count; k++) {
            json_begin(j, NULL, '{');
            json_integer(j, "value", m->maps[i].entries[k].value);
            json_text(j, "text", message_tables_find(&m->messages, m->maps[i].entries[k].message, languages));
            json_end(j, '}');
        }
        json_end(j, ']');
        json_end(j, '}');
    }
    json_end(j, ']');
}

/* Writes one object per provider to the current array. */
static HRESULT manifest_show_json(const struct provider_manifests *all, const char *languages, struct json *j)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < all->count; i++) {
        const struct provider_manifest *m = all->items[i];
        char guid[39];
        text_from_guid(&m->guid, guid);
        json_begin(j, NULL, '{');
        json_text(j, "name", m->name);
        json_text(j, "guid", guid);
        json_text(j, "message", message_tables_find(&m->messages, m->message, languages));
        json_text(j, "resourceFile", m->resource_file);
        json_text(j, "messageFile", m->message_file);
        for (int kind = 0; kind < MANIFEST_KINDS; kind++)
            write_fields(j, m, (enum manifest_kind)kind, languages);
        write_maps(j, m, languages);
        json_begin(j, "events", '[');
        for (size_t k = 0; SUCCEEDED(hr) && k < m->event_count; k++)
            hr = write_event(j, m, &m->events[k], languages);
        json_end(j, ']');
        json_end(j, '}');
    }
    return hr;
}

/* ---- the verb ---- */

#define VERB "manifest"

static int failed(HRESULT hr)
{
    return cli_error(VERB, hr);
}

/* Fails on Windows, where the event log service owns the registry keys and must be notified. */
static HRESULT may_register(void)
{
#ifdef _WIN32
    if (!os_is_wine())
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                         "the providers of this computer belong to Windows (use wevtutil im and wevtutil um; for "
                         "counter providers, use lodctr /M and unlodctr /M)");
#endif
    return S_OK;
}

/* ---- add ---- */

struct adding {
    const char *name;
    struct manifest_files files;
    bool force;
};

/* Registers the event providers. *added is the number of event providers registered. */
static HRESULT add_event_providers(const struct adding *a, const char *path, const char *whole,
                                   const struct provider_manifests *list, size_t *added)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++) {
        const struct provider_manifest *m = list->items[i];
        char guid[39];
        text_from_guid(&m->guid, guid);
        if (!m->name) {
            hr = error_set(E_INVALIDARG,
                           "cannot register the providers of '%s': the file does not contain the providers' names "
                           "(register the manifest)",
                           path);
        } else if (!a->name || text_equal_nocase(a->name, m->name) || text_equal_nocase(a->name, guid)) {
            ++*added;
            hr = manifest_register(m, whole, &a->files, a->force);
            if (SUCCEEDED(hr))
                printf("%s %s\n", m->name, guid);
        }
    }
    return hr;
}

/* Registers the providers. Reads the whole manifest before it registers the first provider. */
static HRESULT add_providers(const struct adding *a, const char *path)
{
    struct counter_manifest counters = {.has_events = false};
    struct provider_manifests list = {0};
    struct texts warnings = {0};
    char *whole = os_full_path(path);
    size_t added = 0;
    HRESULT hr = whole ? may_register() : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = manifest_counters_load(path, a->name, &warnings, &counters);
    if (SUCCEEDED(hr) && (counters.has_events || !counters.providers.count))
        hr = manifest_file_load(path, &warnings, &list);
    for (size_t i = 0; SUCCEEDED(hr) && i < warnings.count; i++)
        fprintf(stderr, "openpla " VERB ": %s: %s\n", path, warnings.items[i]);
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
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "'%s' contains no provider '%.200s'", path,
                       a->name ? a->name : "");
    counter_manifest_free(&counters);
    provider_manifests_free(&list);
    texts_free(&warnings);
    memory_free(whole);
    return hr;
}

static int manifest_add(int argc, char **argv)
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
        result = cli_usage(VERB, "add: expected one manifest");
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

static int manifest_list(int argc, char **argv)
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
                     "provider '%.200s' is not registered (list providers: openpla manifest list)", name);
}

/* The providers to show: one registered provider of events or counters, or all providers of a file. */
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

static HRESULT manifest_load_file(const char *what, const char *languages, struct shown *out)
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

static int manifest_show(int argc, char **argv)
{
    bool as_json = false;
    const char *language = NULL;
    struct texts operands = {0};
    const struct option options[] = {{"json", OPTION_FLAG, &as_json}, {"language", OPTION_TEXT, &language}};
    int result = options_parse(VERB, argc, argv, options, 2, &operands);
    if (result == CLI_DONE && operands.count != 1)
        result = cli_usage(VERB, "show: expected a provider's name or GUID, or a file");
    if (result == CLI_DONE) {
        struct shown all = {.counters = {0}};
        char *own = language ? text_copy(language) : os_ui_languages();
        HRESULT hr = own ? manifest_load_file(operands.items[0], own, &all) : E_OUTOFMEMORY;
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

/* Removes all registered providers of a manifest, like wevtutil um and unlodctr. Providers that are not registered are
   ignored, because `add -name` may have registered only one. */
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
        result = cli_usage(VERB, "remove: expected a provider's name or GUID, or a manifest");
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
    static const struct sub_verb verbs[] = {{"add", manifest_add},
                                            {"list", manifest_list},
                                            {"show", manifest_show},
                                            {"remove", remove_provider},
                                            {"collect", manifest_collect}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_manifest = {
    .name = VERB,
    .summary = "registers event and counter providers by their manifests, and shows their contents",
    .help =
        "openpla manifest add [-name PROVIDER] [-rf FILE] [-mf FILE] [-pf FILE] [-force] MANIFEST\n"
        "openpla manifest list [-json]\n"
        "openpla manifest show [-language NAME] [-json] PROVIDER|FILE\n"
        "openpla manifest remove [-force] PROVIDER|MANIFEST\n"
        "openpla manifest collect [-y] FOLDER\n"
        "\n"
        "Does what wevtutil im and um, lodctr /M and unlodctr /M do on Windows; under Wine, those do nothing.\n"
        "Programs that read traces then show the events with names and messages. Countersets of the manifest's "
        "counter\n"
        "providers can be collected by name, even before their programs run.\n"
        "collect writes the manifests of all registered event providers to a folder, one file each, so that traces of\n"
        "this computer can be decoded elsewhere: tracerpt imports such a folder. Exit code 3: an event provider was "
        "skipped.\n"
        "PROVIDER is a name or a GUID. FILE is a manifest, or a program or DLL that contains one.\n"
        "\n"
        "  -name         only this provider of the manifest\n"
        "  -rf           the file with the compiled manifest (WEVT_TEMPLATE), instead of resourceFileName.\n"
        "                Without -rf, if the file resourceFileName does not exist, the manifest is compiled to a file "
        "in\n"
        "                OpenPLA's data folder\n"
        "  -mf, -pf      the files with the messages, instead of messageFileName and parameterFileName\n"
        "  -force        also replace or remove a provider that another program registered\n"
        "  -language     the language of messages, such as de-DE; default: the user's\n"
        "  -json         print JSON\n"
        "  -y            collect: overwrite existing files\n",
    .run = run,
};
