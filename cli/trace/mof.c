/* SPDX-License-Identifier: MIT */
/* openpla mof: manages the MOF files that describe classic events. */
#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/memory.h"
#include "engine/etw/mof_classes.h"

#include <stdio.h>
#include <string.h>

#define VERB    "mof"
#define SHIPPED "classic.mof"

struct shown {
    struct mof_classes *classes;
    struct texts warnings;
    struct json j;
    bool as_json;
};

static HRESULT load(struct shown *s)
{
    return mof_files_classes(&s->warnings, &s->classes);
}

/* Prints to stderr the warnings about files that could not be loaded, and returns the exit code. */
static int shown_finish(struct shown *s, HRESULT hr)
{
    int result = FAILED(hr) ? cli_error(VERB, hr) : s->warnings.count ? CLI_REMARKS : CLI_DONE;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->warnings.count; i++)
        fprintf(stderr, "openpla " VERB ": %s\n", s->warnings.items[i]);
    texts_free(&s->warnings);
    mof_classes_free(s->classes);
    return result;
}

/* ---- add, remove ---- */

static int mof_add(int argc, char **argv)
{
    bool force = false;
    struct texts operands = {0};
    const struct option options[] = {{"force", OPTION_FLAG, &force}};
    int result = options_parse(VERB, argc, argv, options, 1, &operands);
    if (result == CLI_DONE && !operands.count)
        result = cli_usage(VERB, "add: expected a MOF file");
    for (size_t i = 0; result == CLI_DONE && i < operands.count; i++) {
        HRESULT hr = mof_files_add(operands.items[i], force);
        result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    }
    texts_free(&operands);
    return result;
}

static int remove_file(int argc, char **argv)
{
    struct texts operands = {0};
    int result = options_parse(VERB, argc, argv, NULL, 0, &operands);
    if (result == CLI_DONE && operands.count != 1)
        result = cli_usage(VERB, "remove: expected one name (list names: openpla mof list)");
    if (result == CLI_DONE) {
        HRESULT hr = mof_files_remove(operands.items[0]);
        result = FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
    }
    texts_free(&operands);
    /* Reports errors of other files that depend on the removed file. */
    struct shown s = {.classes = NULL};
    return result == CLI_DONE ? shown_finish(&s, load(&s)) : result;
}

/* ---- list ---- */

static void list_file(struct shown *s, const char *name, bool shipped)
{
    const struct mof_event_class *events;
    const size_t count = mof_classes_events(s->classes, &events);
    const struct mof_class *provider = NULL;
    size_t own = 0;
    if (s->as_json) {
        json_begin(&s->j, NULL, '{');
        json_text(&s->j, "file", name);
        json_bool(&s->j, "shipped", shipped);
        json_begin(&s->j, "providers", '[');
    } else {
        printf("%s%s:", name, shipped ? " (shipped)" : "");
    }
    for (size_t i = 0; i < count; i++) {
        if (events[i].shipped != shipped || strcmp(events[i].type_class->source, name) != 0)
            continue;
        own++;
        if (events[i].provider_class == provider)
            continue;
        provider = events[i].provider_class;
        const char *guid = mof_qualifier_text(&provider->qualifiers, "Guid");
        if (s->as_json) {
            json_begin(&s->j, NULL, '{');
            json_text(&s->j, "name", provider->name);
            json_text(&s->j, "guid", guid);
            json_end(&s->j, '}');
        } else {
            printf(" %s %s,", provider->name, guid);
        }
    }
    if (s->as_json) {
        json_end(&s->j, ']');
        json_integer(&s->j, "classes", (int64_t)own);
        json_end(&s->j, '}');
    } else {
        printf(" %zu event classes\n", own);
    }
}

static int mof_list(int argc, char **argv)
{
    struct shown s = {.j = {.out = stdout}};
    struct texts names = {0};
    const struct option options[] = {{"json", OPTION_FLAG, &s.as_json}};
    int result = options_parse(VERB, argc, argv, options, 1, NULL);
    if (result != CLI_DONE)
        return result;
    HRESULT hr = load(&s);
    if (SUCCEEDED(hr))
        hr = mof_files_list(&names);
    if (SUCCEEDED(hr)) {
        if (s.as_json)
            json_begin(&s.j, NULL, '[');
        list_file(&s, SHIPPED, true);
        for (size_t i = 0; i < names.count; i++)
            list_file(&s, names.items[i], false);
        if (s.as_json)
            json_end(&s.j, ']');
    }
    texts_free(&names);
    return shown_finish(&s, hr);
}

/* ---- show ---- */

/* Returns a short name for a TDH_INTYPE_ type. */
static const char *type_name(uint16_t in)
{
    static const char *const plain[] = {"",       "string",  "ANSI string", "int8",  "uint8",  "int16",
                                        "uint16", "int32",   "uint32",      "int64", "uint64", "float",
                                        "double", "boolean", "binary",      "GUID",  "pointer"};
    static const char *const counted[] = {"counted string",
                                          "counted ANSI string",
                                          "counted string, big-endian",
                                          "counted ANSI string, big-endian",
                                          "string to the end",
                                          "ANSI string to the end",
                                          "character",
                                          "ANSI character",
                                          "size",
                                          "counted binary",
                                          "SID"};
    if (in < sizeof plain / sizeof plain[0])
        return plain[in];
    return in >= 300 && in - 300u < sizeof counted / sizeof counted[0] ? counted[in - 300] : "";
}

static const char *value_format_name(uint16_t out)
{
    switch (out) {
    case 16:
    case 17:
    case 18:
    case 19:
        return "hexadecimal";
    case 22:
        return "port";
    case 23:
        return "IPv4";
    case 24:
        return "IPv6";
    case 27:
        return "time";
    case 301:
        return "not printed";
    default:
        return NULL;
    }
}

/* Returns "[3]" or "[Count]"; NULL if memory runs out. */
static char *extent_text(const struct event_schema *schema, const struct event_property *p)
{
    if (p->flags & PROPERTY_PARAM_COUNT)
        return text_format("[%s]", schema->properties[p->count].name);
    if (p->flags & PROPERTY_PARAM_LENGTH)
        return text_format("[%s]", schema->properties[p->length].name);
    if (p->flags & (PROPERTY_FIXED_COUNT | PROPERTY_FIXED_LENGTH))
        return text_format("[%u]", p->flags & PROPERTY_FIXED_COUNT ? p->count : p->length);
    return text_copy("");
}

static HRESULT show_property(struct shown *s, const struct event_schema *schema, const struct event_property *p)
{
    char *extent = extent_text(schema, p);
    const char *format = value_format_name(p->out_type);
    const struct event_map *map = event_schema_map(schema, p->map);
    if (!extent)
        return E_OUTOFMEMORY;
    if (s->as_json) {
        json_begin(&s->j, NULL, '{');
        json_text(&s->j, "name", p->name);
        json_text(&s->j, "type", type_name(p->in_type));
        if (extent[0])
            json_text(&s->j, "extent", extent);
        if (format)
            json_text(&s->j, "format", format);
    } else {
        printf("    %s%s: %s%s%s\n", p->name, extent, type_name(p->in_type), format ? ", " : "", format ? format : "");
    }
    memory_free(extent);
    if (map && s->as_json)
        json_begin(&s->j, "values", '[');
    for (size_t i = 0; map && i < map->count; i++) {
        const struct event_map_entry *e = &map->entries[i];
        char number[16];
        snprintf(number, sizeof number, "%u", (unsigned)e->value);
        if (s->as_json) {
            json_begin(&s->j, NULL, '{');
            json_number_text(&s->j, "value", e->input ? e->input : number);
            json_text(&s->j, "text", e->text);
            json_end(&s->j, '}');
        } else {
            printf("        %s%s: %s\n", map->flag & MAP_MOF_BITS ? "bit " : "", e->input ? e->input : number, e->text);
        }
    }
    if (map && s->as_json)
        json_end(&s->j, ']');
    if (s->as_json)
        json_end(&s->j, '}');
    return S_OK;
}

static HRESULT show_types(struct shown *s, const struct mof_event_class *e)
{
    const struct mof_qualifier *types = mof_event_types(e);
    HRESULT hr = S_OK;
    if (s->as_json)
        json_begin(&s->j, "types", '[');
    for (size_t i = 0; SUCCEEDED(hr) && i < types->count; i++) {
        struct event_schema *schema;
        hr = mof_event_schema(s->classes, e, i, &schema);
        if (FAILED(hr))
            break;
        if (s->as_json) {
            json_begin(&s->j, NULL, '{');
            json_integer(&s->j, "type", (int64_t)types->values[i].number);
            json_text(&s->j, "name", schema->opcode_name);
            json_end(&s->j, '}');
        } else {
            printf("%s %u%s%s", i ? "," : "", (unsigned)types->values[i].number, schema->opcode_name ? " " : "",
                   schema->opcode_name ? schema->opcode_name : "");
        }
        event_schema_free(schema);
    }
    if (s->as_json)
        json_end(&s->j, ']');
    else
        putchar('\n');
    return hr;
}

static HRESULT show_event(struct shown *s, const struct mof_event_class *e)
{
    struct event_schema *schema;
    char guid[39];
    const char *description = mof_classes_text(s->classes, e->type_class, NULL, "Description", 0);
    HRESULT hr = mof_event_schema(s->classes, e, 0, &schema);
    if (FAILED(hr))
        return hr;
    description = description ? description : mof_classes_text(s->classes, e->event_class, NULL, "Description", 0);
    text_from_guid(&e->event, guid);
    if (s->as_json) {
        json_begin(&s->j, NULL, '{');
        json_text(&s->j, "class", e->type_class->name);
        json_text(&s->j, "file", e->type_class->source);
        json_text(&s->j, "description", description);
        json_text(&s->j, "provider", schema->provider_name);
        json_text(&s->j, "name", schema->task_name);
        json_text(&s->j, "guid", guid);
        if (e->versioned)
            json_integer(&s->j, "version", e->version);
    } else {
        printf("%s (%s)\n", e->type_class->name, e->type_class->source);
        if (description)
            printf("  %s\n", description);
        printf("  %s of %s, %s", schema->task_name, schema->provider_name, guid);
        if (e->versioned)
            printf(", version %u", e->version);
        fputs("\n  types", stdout);
    }
    hr = show_types(s, e);
    if (s->as_json)
        json_begin(&s->j, "properties", '[');
    for (size_t i = 0; SUCCEEDED(hr) && i < schema->top_level; i++)
        hr = show_property(s, schema, &schema->properties[i]);
    if (s->as_json) {
        json_end(&s->j, ']');
        json_end(&s->j, '}');
    }
    event_schema_free(schema);
    return hr;
}

static bool is_asked_for(const struct mof_event_class *e, const char *name, const GUID *guid)
{
    GUID provider;
    if (guid)
        return guid_equal(guid, &e->event) ||
               (text_to_guid(mof_qualifier_text(&e->provider_class->qualifiers, "Guid"), &provider) &&
                guid_equal(guid, &provider));
    const char *display = mof_qualifier_text(&e->event_class->qualifiers, "DisplayName");
    return text_equal_nocase(name, e->type_class->name) || text_equal_nocase(name, e->event_class->name) ||
           text_equal_nocase(name, e->provider_class->name) || (display && text_equal_nocase(name, display));
}

static HRESULT show_all(struct shown *s, const char *name)
{
    GUID guid;
    const bool is_guid = text_to_guid(name, &guid);
    const struct mof_event_class *events;
    HRESULT hr = load(s);
    const size_t count = SUCCEEDED(hr) ? mof_classes_events(s->classes, &events) : 0;
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += is_asked_for(&events[i], name, is_guid ? &guid : NULL);
    if (SUCCEEDED(hr) && !found)
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "no event class has the name or GUID '%s'", name);
    if (SUCCEEDED(hr) && s->as_json)
        json_begin(&s->j, NULL, '[');
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (is_asked_for(&events[i], name, is_guid ? &guid : NULL))
            hr = show_event(s, &events[i]);
    if (SUCCEEDED(hr) && s->as_json)
        json_end(&s->j, ']');
    return hr;
}

static int mof_show(int argc, char **argv)
{
    struct shown s = {.j = {.out = stdout}};
    struct texts operands = {0};
    const struct option options[] = {{"json", OPTION_FLAG, &s.as_json}};
    int result = options_parse(VERB, argc, argv, options, 1, &operands);
    if (result == CLI_DONE && operands.count != 1)
        result = cli_usage(VERB, "show: expected a class or a GUID");
    if (result == CLI_DONE)
        result = shown_finish(&s, show_all(&s, operands.items[0]));
    texts_free(&operands);
    return result;
}

static int run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {
        {"add", mof_add}, {"list", mof_list}, {"show", mof_show}, {"remove", remove_file}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_mof = {
    .name = "mof",
    .summary = "adds, lists, shows and removes MOF files, which describe classic events",
    .help =
        "openpla mof add [-force] FILE ...\n"
        "openpla mof list [-json]\n"
        "openpla mof show [-json] CLASS|GUID\n"
        "openpla mof remove NAME\n"
        "\n"
        "Classic event providers publish the layout of their events as MOF classes. Every program that decodes "
        "traces\n"
        "uses the added files from its next start. The classes of the kernel's events are built in.\n"
        "\n"
        "  FILE     is compiled together with the existing files and stored under its name. If it has an error, the\n"
        "           line is reported and nothing is added\n"
        "  -force   replace an existing file of that name\n"
        "  CLASS    the name of an event provider's class, of an event class, or of one of its types\n"
        "  GUID     of an event provider, or of an event class\n"
        "  NAME     a name that list shows\n"
        "  -json    print JSON\n",
    .run = run,
};
