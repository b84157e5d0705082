/* SPDX-License-Identifier: MIT */
/* openpla trace schema: reports which sources decode the events of traces, and what is needed for the other events. */
#include "cli/cli.h"
#include "cli/trace/trace.h"
#include "cli/trace/trace_contents.h"
#include "engine/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERB "trace"

struct schema_list {
    struct texts files;
    struct trace_knowledge known;
    bool as_json;
    struct trace_inputs inputs;
    struct trace_schemas schemas;
    struct trace_contents contents;
    struct event_kinds kinds;
    struct cli_progress progress;
};

static HRESULT schema_take_event(void *context, const struct trace_event *event)
{
    struct schema_list *l = context;
    struct dumped_event e;
    const struct found_schema *found;
    bool decoded = false;
    HRESULT hr = trace_schemas_find(&l->schemas, event, &e, &found);
    if (SUCCEEDED(hr))
        hr = dumped_event_decodes(&e, &decoded);
    if (SUCCEEDED(hr))
        hr = trace_contents_add(&l->contents, &e.record->EventHeader.ProviderId, &e, decoded);
    if (SUCCEEDED(hr) && found && !decoded)
        hr = event_kinds_count(&l->kinds, event->record, found, false);
    found_schema_release(l->schemas.all, found);
    return hr;
}

/* ---- what is needed to decode a kind of event ---- */

enum needed { NEEDS_MANIFEST, NEEDS_CLASS, NEEDS_FORMAT, NEEDS_OTHER, NEEDED };

static enum needed needed_for(const struct counted_kind *k)
{
    static const enum needed by_source[] = {[SCHEMA_MANIFEST] = NEEDS_MANIFEST,
                                            [SCHEMA_MOF] = NEEDS_CLASS,
                                            [SCHEMA_WPP] = NEEDS_FORMAT,
                                            [SCHEMA_TRACE_LOGGING] = NEEDS_OTHER};
    return k->found->schema ? NEEDS_OTHER : by_source[k->found->source]; /* OTHER: the schema does not match the data */
}

static const char *const needs[NEEDED] = {
    [NEEDS_MANIFEST] = ("the provider's manifest (use openpla manifest collect FOLDER on the provider's computer, and "
                        "-import FOLDER here)"),
    [NEEDS_CLASS] = "a MOF file with the class: openpla mof add FILE",
    [NEEDS_FORMAT] = "the TMF file of the program: -tmf FILE or -tp FOLDER",
    [NEEDS_OTHER] = "a definition from the version of the program that wrote the events",
};
static const char *const needs_json[NEEDED] = {"manifest", "mofClass", "tmfFile", "otherVersion"};

/* Sorts by provider, then by id, so that the events of a provider are together. */
static int by_provider(const void *a, const void *b)
{
    const struct counted_kind *const *x = a, *const *y = b;
    const int order = memcmp(&(*x)->provider, &(*y)->provider, sizeof(GUID));
    if (order != 0)
        return order;
    if ((*x)->descriptor.Id != (*y)->descriptor.Id)
        return (*x)->descriptor.Id < (*y)->descriptor.Id ? -1 : 1;
    if ((*x)->descriptor.Opcode != (*y)->descriptor.Opcode)
        return (*x)->descriptor.Opcode < (*y)->descriptor.Opcode ? -1 : 1;
    return (int)(*x)->descriptor.Version - (int)(*y)->descriptor.Version;
}

static HRESULT sort_kinds(const struct event_kinds *kinds, const struct counted_kind ***out)
{
    *out = memory_alloc((kinds->count + 1) * sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < kinds->count; i++)
        (*out)[i] = &kinds->items[i];
    if (kinds->count != 0)
        qsort(*out, kinds->count, sizeof **out, by_provider);
    return S_OK;
}

static const char *provider_name(const struct trace_contents *c, const GUID *provider)
{
    for (size_t i = 0; i < c->count; i++)
        if (guid_equal(&c->providers[i].provider, provider))
            return c->providers[i].name;
    return NULL;
}

/* ---- text ---- */

static void print_totals(const struct trace_contents *c)
{
    struct text_buffer b = {0};
    add_share(&b, c->decoded, c->events);
    printf("%llu of %llu events can be decoded (%s)\n", (unsigned long long)c->decoded, (unsigned long long)c->events,
           b.failed ? "" : b.text);
    text_buffer_free(&b);
    for (int way = 0; way < DECODED_WAYS; way++)
        if (c->by[way] != 0)
            printf("  %-24s %llu\n", decoded_by_name((enum decoded_by)way, false), (unsigned long long)c->by[way]);
}

/* Prints a kind of event. Events of a class have a type instead of an id. */
static void print_kind(const struct counted_kind *k)
{
    const EVENT_DESCRIPTOR *d = &k->descriptor;
    if (k->found->source == SCHEMA_MOF)
        printf("  type %u version %u", (unsigned)d->Opcode, (unsigned)d->Version);
    else if (k->found->source == SCHEMA_WPP)
        printf("  message %u", (unsigned)d->Id);
    else
        printf("  id %u version %u", (unsigned)d->Id, (unsigned)d->Version);
    printf(": %llu %s, ", (unsigned long long)k->undecoded, k->undecoded == 1 ? "event" : "events");
    print_shown(k->found->reason ? k->found->reason : "the data do not match the definition");
    printf("\n");
}

static void print_missing(const struct schema_list *l, const struct counted_kind *const *sorted)
{
    for (size_t i = 0; i < l->kinds.count; i++) {
        const struct counted_kind *k = sorted[i];
        const bool other = i == 0 || !guid_equal(&sorted[i - 1]->provider, &k->provider);
        if (other) {
            char guid[39];
            const char *name = provider_name(&l->contents, &k->provider);
            text_from_guid(&k->provider, guid);
            printf("\n%s%s", guid, name ? " " : "");
            print_shown(name ? name : "");
            printf("\n");
        }
        if (other || needed_for(sorted[i - 1]) != needed_for(k))
            printf("  needs %s\n", needs[needed_for(k)]);
        print_kind(k);
    }
    if (l->kinds.events_more != 0)
        printf("\nand %llu events of other kinds\n", (unsigned long long)l->kinds.events_more);
}

/* ---- JSON ---- */

static void json_missing(const struct schema_list *l, const struct counted_kind *const *sorted, struct json *j)
{
    json_begin(j, "undecoded", '[');
    for (size_t i = 0; i < l->kinds.count; i++) {
        const struct counted_kind *k = sorted[i];
        char guid[39];
        text_from_guid(&k->provider, guid);
        json_begin(j, NULL, '{');
        json_text(j, "guid", guid);
        json_text(j, "name", provider_name(&l->contents, &k->provider));
        json_integer(j, "id", k->descriptor.Id);
        json_integer(j, "version", k->descriptor.Version);
        json_integer(j, "opcode", k->descriptor.Opcode);
        json_integer(j, "events", (int64_t)k->undecoded);
        json_text(j, "reason", k->found->reason);
        json_text(j, "needs", needs_json[needed_for(k)]);
        json_end(j, '}');
    }
    json_end(j, ']');
}

static void print_json(const struct schema_list *l, const struct counted_kind *const *sorted)
{
    struct json j = {.out = stdout};
    json_begin(&j, NULL, '{');
    json_integer(&j, "events", (int64_t)l->contents.events);
    json_integer(&j, "decoded", (int64_t)l->contents.decoded);
    trace_providers_json(&l->contents, &j);
    json_missing(l, sorted, &j);
    json_end(&j, '}');
}

/* ---- the verb ---- */

static int list_schemas(struct schema_list *l)
{
    const struct counted_kind **sorted = NULL;
    HRESULT hr = cli_trace_schemas_open(&l->known, &l->schemas);
    l->kinds.schemas = l->schemas.all;
    if (SUCCEEDED(hr))
        hr = trace_inputs_open(&l->inputs, &l->files);
    if (SUCCEEDED(hr))
        hr = trace_inputs_read(&l->inputs, schema_take_event, l, trace_inputs_progress, &l->progress);
    cli_progress_end(&l->progress);
    if (SUCCEEDED(hr))
        hr = sort_kinds(&l->kinds, &sorted);
    if (FAILED(hr))
        return cli_error(VERB, hr);
    trace_contents_sort(&l->contents);
    if (l->as_json) {
        print_json(l, sorted);
    } else {
        print_totals(&l->contents);
        print_missing(l, sorted);
    }
    memory_free(sorted);
    return trace_inputs_print_warnings(&l->inputs, VERB);
}

int trace_schema(int argc, char **argv)
{
    struct schema_list l = {.as_json = false};
    const struct option options[] = {
        {"import", OPTION_TEXTS, &l.known.manifests},
        {"i", OPTION_TEXTS, &l.known.programs},
        {"tmf", OPTION_TEXT, &l.known.formats},
        {"tp", OPTION_TEXT, &l.known.format_folders},
        {"json", OPTION_FLAG, &l.as_json},
    };
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &l.files);
    if (result == CLI_DONE && l.files.count == 0)
        result = cli_usage(VERB, "schema: missing trace");
    if (result == CLI_DONE)
        result = list_schemas(&l);
    event_kinds_free(&l.kinds);
    trace_contents_free(&l.contents);
    trace_inputs_close(&l.inputs);
    trace_schemas_close(&l.schemas);
    texts_free(&l.files);
    texts_free(&l.known.manifests);
    texts_free(&l.known.programs);
    return result;
}
