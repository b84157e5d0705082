/* SPDX-License-Identifier: MIT */
/* Reads counter manifests. Microsoft documents the elements and attributes as the performance counter schema. */
#include "engine/pdh/counter_manifest.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/manifest_reader.h"
#include "engine/pdh/counter_types.h"

#include <string.h>

#define COUNTERS_NAMESPACE "http://schemas.microsoft.com/win/2005/12/counters"
#define LONGEST_NAME       255u        /* characters */
#define LONGEST_HELP       32768u      /* bytes */
#define MOST_TEXT          (16u << 20) /* maximum bytes of all names and help strings together */

struct counter_reader {
    struct manifest_reader r;
    struct registered_countersets *out;
    struct name_index guids;    /* GUIDs of all countersets */
    struct name_index uris;     /* URIs of all countersets and counters */
    struct name_index sets;     /* names of one provider's countersets */
    struct name_index counters; /* names of one counterset's counters */
    struct name_index ids;      /* ids of one counterset's counters */
    struct name_index structs;  /* names of one counterset's structs */
    struct texts keys;          /* the strings to which the indexes refer */
    size_t bytes;
};

static bool is(xmlNodePtr node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0 && node->ns &&
           strcmp((const char *)node->ns->href, COUNTERS_NAMESPACE) == 0;
}

/* Adds a warning about an ignored element or, if `attribute` is not NULL, about an ignored attribute of the element. */
static HRESULT warn_of_skipped(struct counter_reader *c, xmlNodePtr e, const char *attribute)
{
    char *text = attribute
                     ? text_format("line %ld: %.60s %.60s: unknown attribute ignored", xmlGetLineNo(e),
                                   (const char *)e->name, attribute)
                     : text_format("line %ld: %.60s: unknown element ignored", xmlGetLineNo(e), (const char *)e->name);
    return text ? texts_add_owned(c->r.warnings, text) : E_OUTOFMEMORY;
}

/* Adds a warning about an unknown element in the counters' namespace. */
static HRESULT skip_content(struct counter_reader *c, xmlNodePtr node)
{
    if (!c->r.warnings || node->type != XML_ELEMENT_NODE || !node->ns ||
        strcmp((const char *)node->ns->href, COUNTERS_NAMESPACE) != 0)
        return S_OK;
    return warn_of_skipped(c, node, NULL);
}

/* Adds a warning about each attribute that is not in `known`, a list of names separated by spaces. */
static HRESULT check_attributes(struct counter_reader *c, xmlNodePtr e, const char *known)
{
    HRESULT hr = S_OK;
    for (xmlAttrPtr a = c->r.warnings ? e->properties : NULL; SUCCEEDED(hr) && a; a = a->next) {
        const char *name = (const char *)a->name, *at = known;
        const size_t length = strlen(name);
        bool found = a->ns != NULL;
        for (; !found && *at; at += strcspn(at, " "), at += *at == ' ')
            found = strncmp(at, name, length) == 0 && (at[length] == ' ' || !at[length]);
        if (!found)
            hr = warn_of_skipped(c, e, name);
    }
    return hr;
}

struct choice {
    const char *name;
    uint32_t value;
};

/* Reads an attribute whose value must be one of several names. *out is unchanged if the attribute does not exist. */
static HRESULT read_choice(struct counter_reader *c, xmlNodePtr e, const char *attribute, const struct choice *choices,
                           size_t count, uint32_t *out)
{
    char *text;
    size_t i = 0;
    HRESULT hr = manifest_text(&c->r, e, attribute, &text);
    if (FAILED(hr) || !text)
        return hr;
    while (i < count && strcmp(choices[i].name, text) != 0)
        i++;
    if (i < count) {
        *out = choices[i].value;
    } else {
        char all[200] = "";
        for (size_t k = 0; k < count; k++) {
            text_fit(all + strlen(all), sizeof all - strlen(all), k ? ", " : "");
            text_fit(all + strlen(all), sizeof all - strlen(all), choices[k].name);
        }
        hr = manifest_wrong(e, attribute, text, "expected one of %s", all);
    }
    memory_free(text);
    return hr;
}
#define CHOICE(c, e, attribute, choices, out)                                                                          \
    read_choice(c, e, attribute, choices, sizeof(choices) / sizeof *(choices), out)

/* Adds the string to an index, which borrows it. Fails with MANIFEST_INVALID if the index already has the string. */
static HRESULT index_add_unique(struct counter_reader *c, xmlNodePtr e, const char *attribute, struct name_index *index,
                                const char *text)
{
    uint32_t place;
    char *key = text_fold(text);
    HRESULT hr = key ? texts_add_owned(&c->keys, key) : E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    if (name_index_find(index, key, &place))
        return manifest_wrong(e, attribute, text, "duplicate value");
    return name_index_add(index, key, 0);
}

static HRESULT count_bytes(struct counter_reader *c, xmlNodePtr e, const char *text)
{
    c->bytes += text ? strlen(text) : 0;
    return c->bytes > MOST_TEXT
               ? manifest_wrong(e, NULL, NULL, "the strings of the manifest need more than %u bytes", MOST_TEXT)
               : S_OK;
}

/* Reads a name, which must be valid in counter paths. */
static HRESULT read_name(struct counter_reader *c, xmlNodePtr e, const char *refused, char **out)
{
    HRESULT hr = manifest_plain_text(&c->r, e, "name", out);
    if (FAILED(hr))
        return hr;
    const char *name = *out ? *out : "";
    if (!*name)
        return manifest_wrong(e, "name", *out, "required value is missing");
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || strchr(refused, *at))
            return manifest_wrong(e, "name", name, "contains a character that counter paths cannot contain (0x%02X)",
                                  (unsigned)(unsigned char)*at);
    if (text_utf16_length(name) > LONGEST_NAME)
        return manifest_wrong(e, "name", name, "longer than %u characters", LONGEST_NAME);
    return count_bytes(c, e, name);
}

static HRESULT read_help(struct counter_reader *c, xmlNodePtr e, char **out)
{
    HRESULT hr = manifest_plain_text(&c->r, e, "description", out);
    if (SUCCEEDED(hr) && *out && strlen(*out) > LONGEST_HELP)
        hr = manifest_wrong(e, "description", *out, "longer than %u bytes", LONGEST_HELP);
    return SUCCEEDED(hr) ? count_bytes(c, e, *out) : hr;
}

/* Checks resource numbers. OpenPLA does not use these numbers, because they refer to the resources of the provider's
   program. */
static HRESULT check_resources(struct counter_reader *c, xmlNodePtr e)
{
    uint64_t number;
    HRESULT hr = manifest_number(&c->r, e, "nameID", 0, UINT32_MAX, &number);
    return SUCCEEDED(hr) ? manifest_number(&c->r, e, "descriptionID", 0, UINT32_MAX, &number) : hr;
}

static HRESULT know_uri(struct counter_reader *c, xmlNodePtr e)
{
    char *uri;
    HRESULT hr = manifest_text(&c->r, e, "uri", &uri);
    if (SUCCEEDED(hr) && uri)
        hr = index_add_unique(c, e, "uri", &c->uris, uri);
    memory_free(uri);
    return hr;
}

/* ---- a counter ---- */

static HRESULT read_attributes(struct counter_reader *c, xmlNodePtr counter, uint32_t *out)
{
    static const struct choice names[] = {{"reference", COUNTER_BY_REFERENCE},
                                          {"noDisplay", COUNTER_NOT_SHOWN},
                                          {"noDigitGrouping", COUNTER_NO_DIGIT_GROUPS},
                                          {"displayAsReal", COUNTER_AS_REAL},
                                          {"displayAsHex", COUNTER_AS_HEX}};
    HRESULT hr = S_OK;
    for (xmlNodePtr n = counter->children; SUCCEEDED(hr) && n; n = n->next) {
        if (!is(n, "counterAttributes"))
            hr = skip_content(c, n);
        for (xmlNodePtr a = is(n, "counterAttributes") ? n->children : NULL; SUCCEEDED(hr) && a; a = a->next) {
            uint32_t one = 0;
            if (!is(a, "counterAttribute")) {
                hr = skip_content(c, a);
                continue;
            }
            hr = CHOICE(c, a, "name", names, &one);
            if (SUCCEEDED(hr) && !one)
                hr = manifest_wrong(a, "name", NULL, "required value is missing");
            *out |= one;
        }
    }
    if (SUCCEEDED(hr) && (*out & COUNTER_AS_REAL) && (*out & COUNTER_AS_HEX))
        hr = manifest_wrong(counter, NULL, NULL, "displayAsReal and displayAsHex are mutually exclusive");
    return hr;
}

static HRESULT read_type(struct counter_reader *c, xmlNodePtr e, uint32_t *out)
{
    char *text;
    DWORD type = 0;
    HRESULT hr = manifest_name(&c->r, e, "type", &text);
    if (FAILED(hr))
        return hr;
    if (!counter_type_find(text, &type))
        hr = manifest_wrong(e, "type", text, "unknown counter type");
    else if (type == PERF_COUNTER_TEXT)
        hr = manifest_wrong(e, "type", text, "a counterset cannot contain string counters");
    *out = type;
    memory_free(text);
    return hr;
}

static HRESULT read_scale(struct counter_reader *c, xmlNodePtr e, int32_t *out)
{
    char *text;
    int64_t number = 0;
    HRESULT hr = manifest_text(&c->r, e, "defaultScale", &text);
    if (FAILED(hr) || !text)
        return hr;
    if (!text_to_i64(text, &number))
        hr = manifest_wrong(e, "defaultScale", text, "not a number");
    else if (number < -10 || number > 10)
        hr = manifest_wrong(e, "defaultScale", text, "not between -10 and 10");
    *out = (int32_t)number;
    memory_free(text);
    return hr;
}

/* Checks the attributes `struct` and `field`. `struct` is the name of a struct of the program; `field` is the name of
   the field in this struct that contains the counter's value. */
static HRESULT check_field(struct counter_reader *c, xmlNodePtr e)
{
    char *of = NULL, *field = NULL, *key = NULL;
    uint32_t place;
    HRESULT hr = manifest_text(&c->r, e, "struct", &of);
    if (SUCCEEDED(hr))
        hr = manifest_text(&c->r, e, "field", &field);
    if (SUCCEEDED(hr) && of)
        hr = (key = text_fold(of)) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && of && !name_index_find(&c->structs, key, &place))
        hr = manifest_wrong(e, "struct", of, "the counterset has no struct of this name");
    if (SUCCEEDED(hr) && !of != !field)
        hr = manifest_wrong(e, of ? "field" : "struct", NULL, "required together with %s", of ? "struct" : "field");
    memory_free(key);
    memory_free(of);
    memory_free(field);
    return hr;
}

static HRESULT read_counter(struct counter_reader *c, xmlNodePtr e, struct registered_set *s)
{
    static const struct choice aggregates[] = {{"undefined", COUNTER_AGGREGATE_UNDEFINED},
                                               {"sum", COUNTER_AGGREGATE_SUM},
                                               {"avg", COUNTER_AGGREGATE_AVERAGE},
                                               {"min", COUNTER_AGGREGATE_MINIMUM},
                                               {"max", COUNTER_AGGREGATE_MAXIMUM}};
    static const struct choice levels[] = {{"standard", PERF_DETAIL_NOVICE}, {"advanced", PERF_DETAIL_ADVANCED}};
    uint64_t id = 0, base = COUNTER_NO_ID;
    char number[24];
    if (s->count == REGISTERED_MOST_COUNTERS)
        return manifest_wrong(e, NULL, NULL, "a counterset can have at most %u counters", REGISTERED_MOST_COUNTERS);
    HRESULT hr = check_attributes(c, e,
                                  "id uri name nameID description descriptionID symbol type aggregate detailLevel "
                                  "defaultScale baseID perfTimeID perfFreqID multiCounterID struct field");
    if (SUCCEEDED(hr))
        hr = manifest_required_number(&c->r, e, "id", 0, COUNTER_NO_ID - 1, &id);
    text_put_digits(number, id, 20);
    number[20] = 0;
    if (SUCCEEDED(hr))
        hr = index_add_unique(c, e, "id", &c->ids, number);
    struct registered_counter *k = SUCCEEDED(hr) ? registered_add_counter(s, (uint32_t)id) : NULL;
    if (SUCCEEDED(hr) && !k)
        hr = E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    k->detail = PERF_DETAIL_NOVICE;
    hr = read_name(c, e, "\\", &k->name);
    if (SUCCEEDED(hr))
        hr = index_add_unique(c, e, "name", &c->counters, k->name);
    if (SUCCEEDED(hr))
        hr = read_help(c, e, &k->help);
    if (SUCCEEDED(hr))
        hr = know_uri(c, e);
    if (SUCCEEDED(hr))
        hr = check_resources(c, e);
    if (SUCCEEDED(hr))
        hr = read_type(c, e, &k->type);
    if (SUCCEEDED(hr))
        hr = CHOICE(c, e, "aggregate", aggregates, &k->aggregate);
    if (SUCCEEDED(hr))
        hr = CHOICE(c, e, "detailLevel", levels, &k->detail);
    if (SUCCEEDED(hr))
        hr = read_scale(c, e, &k->scale);
    if (SUCCEEDED(hr))
        hr = manifest_number(&c->r, e, "baseID", 0, COUNTER_NO_ID - 1, &base);
    k->base = (uint32_t)base;
    if (SUCCEEDED(hr))
        hr = check_field(c, e);
    return SUCCEEDED(hr) ? read_attributes(c, e, &k->attributes) : hr;
}

/* ---- a counterset ---- */

static HRESULT read_structs(struct counter_reader *c, xmlNodePtr e)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next) {
        char *name = NULL;
        if (!is(n, "struct")) {
            hr = skip_content(c, n);
            continue;
        }
        hr = manifest_name(&c->r, n, "name", &name);
        if (SUCCEEDED(hr))
            hr = index_add_unique(c, n, "name", &c->structs, name);
        memory_free(name);
    }
    return hr;
}

/* For each counter, checks that the counters in its references exist, and that a fraction has a base. `e` has the
   counters of `s` in the same order. */
static HRESULT check_references(struct counter_reader *c, xmlNodePtr e, struct registered_set *s)
{
    static const char *const references[] = {"baseID", "perfTimeID", "perfFreqID", "multiCounterID"};
    HRESULT hr = S_OK;
    size_t i = 0;
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next) {
        if (!is(n, "counter"))
            continue;
        struct registered_counter *k = &s->counters[i++];
        for (size_t a = 0; SUCCEEDED(hr) && a < sizeof references / sizeof *references; a++) {
            uint64_t id;
            char number[24];
            uint32_t place;
            hr = manifest_number(&c->r, n, references[a], 0, COUNTER_NO_ID - 1, &id);
            if (hr != S_OK)
                continue;
            text_put_digits(number, id, 20);
            number[20] = 0;
            if (!name_index_find(&c->ids, number, &place))
                hr = manifest_wrong(n, references[a], NULL, "the counterset has no counter with the id %llu",
                                    (unsigned long long)id);
        }
        const struct registered_counter *next = i < s->count ? &s->counters[i] : NULL;
        if (k->base == COUNTER_NO_ID && next && counter_type_is_base(next->type))
            k->base = next->id;
        if (SUCCEEDED(hr) && k->base == COUNTER_NO_ID && counter_type_is_fraction(k->type))
            hr = manifest_wrong(n, "baseID", NULL, "counters of this type need the id of their base counter");
    }
    return FAILED(hr) ? hr : S_OK;
}

static void forget_set(struct counter_reader *c)
{
    name_index_free(&c->counters);
    name_index_free(&c->ids);
    name_index_free(&c->structs);
}

static HRESULT read_set_attributes(struct counter_reader *c, xmlNodePtr e, struct registered_set *s)
{
    static const struct choice instances[] = {
        {"single", 0},
        {"multiple", COUNTERSET_MULTIPLE},
        {"globalAggregate", COUNTERSET_AGGREGATE},
        {"multipleAggregate", COUNTERSET_MULTIPLE | COUNTERSET_AGGREGATE},
        {"globalAggregateHistory", COUNTERSET_AGGREGATE | COUNTERSET_HISTORY},
        {"instanceAggregate", COUNTERSET_MULTIPLE | COUNTERSET_AGGREGATE | COUNTERSET_BY_INSTANCE}};
    HRESULT hr = check_attributes(c, e, "guid uri name nameID description descriptionID symbol instances");
    if (SUCCEEDED(hr))
        hr = read_name(c, e, "\\()", &s->name);
    if (SUCCEEDED(hr))
        hr = index_add_unique(c, e, "name", &c->sets, s->name);
    if (SUCCEEDED(hr))
        hr = read_help(c, e, &s->help);
    if (SUCCEEDED(hr))
        hr = know_uri(c, e);
    if (SUCCEEDED(hr))
        hr = check_resources(c, e);
    return SUCCEEDED(hr) ? CHOICE(c, e, "instances", instances, &s->instances) : hr;
}

static HRESULT read_set(struct counter_reader *c, xmlNodePtr e, struct registered_provider *p)
{
    GUID guid = {0};
    char text[39];
    HRESULT hr = manifest_guid(&c->r, e, "guid", &guid);
    if (hr == S_FALSE)
        hr = manifest_wrong(e, "guid", NULL, "required value is missing");
    text_from_guid(&guid, text);
    if (SUCCEEDED(hr))
        hr = index_add_unique(c, e, "guid", &c->guids, text);
    if (SUCCEEDED(hr) && p->count == REGISTERED_MOST_SETS)
        hr = manifest_wrong(e, NULL, NULL, "a provider can have at most %u countersets", REGISTERED_MOST_SETS);
    struct registered_set *s = SUCCEEDED(hr) ? registered_add_set(p, &guid) : NULL;
    if (SUCCEEDED(hr) && !s)
        hr = E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    s->is_defined = true;
    hr = read_set_attributes(c, e, s);
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next)
        if (is(n, "structs"))
            hr = read_structs(c, n);
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next)
        if (is(n, "counter"))
            hr = read_counter(c, n, s);
        else if (!is(n, "structs"))
            hr = skip_content(c, n);
    if (SUCCEEDED(hr) && !s->count)
        hr = manifest_wrong(e, NULL, NULL, "the counterset has no counter");
    if (SUCCEEDED(hr))
        hr = check_references(c, e, s);
    forget_set(c);
    return hr;
}

/* ---- a provider ---- */

/* Reads the provider's name, symbol and program. */
static HRESULT read_provider_name(struct counter_reader *c, xmlNodePtr e, struct registered_provider *p)
{
    HRESULT hr = manifest_text(&c->r, e, "providerName", &p->name);
    if (SUCCEEDED(hr) && !p->name)
        hr = manifest_text(&c->r, e, "symbol", &p->name);
    if (SUCCEEDED(hr) && !p->name && p->application)
        hr = (p->name = text_copy(path_name(p->application))) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (!p->name || !*p->name))
        hr = manifest_wrong(e, "providerName", p->name, "required value is missing");
    if (SUCCEEDED(hr) && text_utf16_length(p->name) > LONGEST_NAME)
        hr = manifest_wrong(e, "providerName", p->name, "longer than %u characters", LONGEST_NAME);
    return hr;
}

static HRESULT read_provider(struct counter_reader *c, xmlNodePtr e)
{
    static const struct choice types[] = {{"userMode", 0}, {"kernelMode", 1}};
    static const struct choice callbacks[] = {{"custom", 0}, {"default", 1}};
    GUID guid = {0};
    uint32_t kernel = 0, callback = 0;
    uint64_t number;
    HRESULT hr = manifest_guid(&c->r, e, "providerGuid", &guid);
    if (hr == S_FALSE)
        hr = manifest_wrong(e, "providerGuid", NULL, "required value is missing");
    for (size_t i = 0; SUCCEEDED(hr) && i < c->out->count; i++)
        if (guid_equal(&c->out->items[i].guid, &guid))
            hr = manifest_wrong(e, "providerGuid", NULL, "duplicate value");
    if (SUCCEEDED(hr) && c->out->count == MANIFEST_MOST_PROVIDERS)
        hr = manifest_wrong(e, NULL, NULL, "a manifest can have at most %u providers", MANIFEST_MOST_PROVIDERS);
    struct registered_provider *p = SUCCEEDED(hr) ? registered_add_provider(c->out, &guid) : NULL;
    if (SUCCEEDED(hr) && !p)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = check_attributes(c, e,
                              "providerGuid providerName applicationIdentity providerType callback symbol "
                              "resourceBase");
    if (SUCCEEDED(hr))
        hr = manifest_text(&c->r, e, "applicationIdentity", &p->application);
    if (SUCCEEDED(hr))
        hr = read_provider_name(c, e, p);
    if (SUCCEEDED(hr))
        hr = CHOICE(c, e, "providerType", types, &kernel);
    if (SUCCEEDED(hr))
        hr = CHOICE(c, e, "callback", callbacks, &callback);
    if (SUCCEEDED(hr))
        hr = manifest_number(&c->r, e, "resourceBase", 0, UINT32_MAX, &number);
    for (xmlNodePtr n = SUCCEEDED(hr) ? e->children : NULL; SUCCEEDED(hr) && n; n = n->next)
        hr = is(n, "counterSet") ? read_set(c, n, p) : skip_content(c, n);
    if (SUCCEEDED(hr) && !p->count)
        hr = manifest_wrong(e, NULL, NULL, "the provider has no counterSet");
    if (p)
        p->is_kernel = kernel;
    name_index_free(&c->sets);
    return hr;
}

/* ---- the document ---- */

static HRESULT read_root(struct counter_reader *c, xmlNodePtr root, bool *has_events)
{
    HRESULT hr = manifest_read_strings(&c->r, root);
    for (xmlNodePtr n = root->children; SUCCEEDED(hr) && n; n = n->next)
        for (xmlNodePtr i = manifest_is(n, "instrumentation") ? n->children : NULL; SUCCEEDED(hr) && i; i = i->next) {
            *has_events |= manifest_is(i, "events");
            for (xmlNodePtr p = is(i, "counters") ? i->children : NULL; SUCCEEDED(hr) && p; p = p->next)
                hr = is(p, "provider") ? read_provider(c, p) : skip_content(c, p);
        }
    return hr;
}

HRESULT counter_manifest_read(const void *xml, size_t size, struct texts *warnings, struct counter_manifest *out)
{
    struct xml_document d;
    struct counter_reader c = {.r = {.document = &d, .warnings = warnings}, .out = &out->providers};
    *out = (struct counter_manifest){0};
    HRESULT hr = manifest_open(xml, size, &d);
    if (FAILED(hr))
        return hr;
    hr = read_root(&c, d.root, &out->has_events);
    manifest_strings_free(&c.r.strings);
    manifest_strings_free(&c.r.table);
    name_index_free(&c.r.table_values);
    forget_set(&c);
    name_index_free(&c.sets);
    name_index_free(&c.guids);
    name_index_free(&c.uris);
    texts_free(&c.keys);
    xml_document_close(&d);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        counter_manifest_free(out);
        return error_restore(&why);
    }
    return S_OK;
}

HRESULT counter_manifest_load(const char *path, struct texts *warnings, struct counter_manifest *out)
{
    char *xml = NULL;
    size_t size = 0;
    *out = (struct counter_manifest){0};
    HRESULT hr = file_load(path, MANIFEST_MOST_BYTES, &xml, &size);
    if (FAILED(hr))
        return hr;
    hr = counter_manifest_read(xml, size, warnings, out);
    memory_free(xml);
    return FAILED(hr) ? error_prefix(hr, "%s", path) : S_OK;
}

void counter_manifest_free(struct counter_manifest *m)
{
    registered_countersets_free(&m->providers);
    m->has_events = false;
}
