/* SPDX-License-Identifier: MIT */
/* Builds families of metrics: their names and help, and their lines in Prometheus' text format 0.0.4 and OpenMetrics
   1.0. */
#include "engine/logs/metric_family.h"

#include "engine/base/memory.h"

#include <stdio.h>
#include <string.h>

/* ---- lines ---- */

static void add_escaped(struct text_buffer *b, const char *text, bool quotes)
{
    const char *stops = quotes ? "\\\n\"" : "\\\n";
    for (;;) {
        const size_t length = strcspn(text, stops);
        text_buffer_add_n(b, text, length);
        text += length;
        if (!*text)
            return;
        text_buffer_add(b, *text == '\n' ? "\\n" : *text == '"' ? "\\\"" : "\\\\");
        text++;
    }
}

void metric_add_label(struct text_buffer *b, bool more, const char *name, const char *value)
{
    text_buffer_add(b, more ? "," : "");
    text_buffer_add(b, name);
    text_buffer_add(b, "=\"");
    add_escaped(b, value, true);
    text_buffer_add(b, "\"");
}

static bool ends_with(const char *text, size_t length, const char *ending)
{
    const size_t of_ending = strlen(ending);
    return length > of_ending && memcmp(text + length - of_ending, ending, of_ending) == 0;
}

static void add_line(struct text_buffer *b, const char *keyword, const char *name, size_t length)
{
    text_buffer_add(b, keyword);
    text_buffer_add_n(b, name, length);
    text_buffer_add(b, " ");
}

void metric_add_family(struct text_buffer *b, const struct metric_family *f, bool openmetrics)
{
    static const char *const types[] = {"untyped", "gauge", "counter", "summary"};
    size_t length = strlen(f->name);
    const char *type = types[f->kind];
    if (openmetrics && f->kind == METRIC_COUNTER) {
        /* The sample names of a counter end in _total, but the name of the counter's family does not. */
        if (ends_with(f->name, length, "_total"))
            length -= strlen("_total");
        else
            type = "unknown";
    }
    add_line(b, "# HELP ", f->name, length);
    add_escaped(b, f->help, openmetrics);
    text_buffer_add(b, "\n");
    add_line(b, "# TYPE ", f->name, length);
    text_buffer_add(b, type);
    text_buffer_add(b, "\n");
    const size_t of_unit = strlen(f->unit);
    if (openmetrics && of_unit > 0 && ends_with(f->name, length, f->unit) && f->name[length - of_unit - 1] == '_') {
        add_line(b, "# UNIT ", f->name, length);
        text_buffer_add(b, f->unit);
        text_buffer_add(b, "\n");
    }
}

/* ---- labels of instances ---- */

enum { NAME_BYTES = 1024 };

void metric_cut_index(char *name)
{
    char *index = strrchr(name, '#');
    if (index && index > name && index[1] && !index[1 + strspn(index + 1, "0123456789")])
        *index = 0;
}

/* Copies the part before the slash of "svchost#1/0" to `parent` and returns the rest. */
static const char *split_parent(const char *instance, bool last, char parent[NAME_BYTES])
{
    const char *slash = last ? strrchr(instance, '/') : strchr(instance, '/');
    parent[0] = 0;
    if (!slash || slash == instance || !slash[1])
        return instance;
    const size_t length = (size_t)(slash - instance);
    text_fit(parent, length + 1 < NAME_BYTES ? length + 1 : NAME_BYTES, instance);
    return slash + 1;
}

static void add_number_label(struct text_buffer *b, bool more, const char *name, int64_t value)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)value);
    metric_add_label(b, more, name, number);
}

void metric_add_instance(struct text_buffer *b, bool more, const char *instance, const struct log_raw *process,
                         const struct log_raw *thread)
{
    char name[NAME_BYTES], parent[NAME_BYTES];
    instance = split_parent(instance, thread != NULL, parent);
    text_fit(name, sizeof name, instance);
    if (process) {
        metric_cut_index(parent);
        metric_cut_index(name);
    }
    if (*parent) {
        metric_add_label(b, more, "parent", parent);
        more = true;
    }
    if (!thread) { /* when a thread exits, the numbers of other threads change */
        metric_add_label(b, more, "name", name);
        more = true;
    }
    if (process) {
        add_number_label(b, more, "pid", process->first);
        more = true;
    }
    if (thread)
        add_number_label(b, more, "tid", thread->first);
}

bool metric_is_total(const char *instance)
{
    static const char total[] = "_Total";
    const size_t length = strlen(instance), of_total = strlen(total);
    if (length < of_total || !text_equal_nocase(instance + length - of_total, total))
        return false;
    return length == of_total || strchr(",/ ", instance[length - of_total - 1]);
}

/* ---- families ---- */

char *metric_help_of(const struct log_counter *counter, bool has_instances, const char *text,
                     const struct metric_form *form)
{
    const char *object = log_counter_english_object(counter), *name = log_counter_english_counter(counter);
    /* Uses only the first sentence, because Windows' explanations are pages long. */
    const char *end = text ? strstr(text, ". ") : NULL;
    const int length = text ? (int)(end ? end + 1 - text : (ptrdiff_t)strlen(text)) : 0;
    return text_format("\\%s%s\\%s%s%.*s%s%s", object ? object : "", has_instances ? "(*)" : "", name ? name : "",
                       length > 0 ? ": " : "", length, text ? text : "", *form->note ? " " : "", form->note);
}

static bool same_family(const struct metric_family *f, const char *base, size_t length)
{
    return strncmp(f->name, base, length) == 0 &&
           (!f->name[length] || (f->kind == METRIC_COUNTER && strcmp(f->name + length, "_total") == 0));
}

static size_t slot_start(const struct metric_families *f, const char *name, size_t length)
{
    const uint64_t hash = hash_bytes(HASH_START, name, length);
    return (size_t)(hash ^ hash >> 32) & (f->slot_count - 1);
}

static void slot_enter(struct metric_families *f, const char *name, size_t length, size_t place)
{
    size_t at = slot_start(f, name, length);
    while (f->slots[at])
        at = (at + 1) & (f->slot_count - 1);
    f->slots[at] = (uint32_t)place + 1;
    f->slots_used++;
}

static void slots_enter_family(struct metric_families *f, size_t place)
{
    const struct metric_family *family = &f->items[place];
    const size_t length = strlen(family->name);
    slot_enter(f, family->name, length, place);
    if (family->kind == METRIC_COUNTER && ends_with(family->name, length, "_total"))
        slot_enter(f, family->name, length - strlen("_total"), place);
}

/* Reserves space for one more family. A log can have a hundred thousand families. */
static bool slots_grow(struct metric_families *f)
{
    if (2 * (f->slots_used + 2) <= f->slot_count)
        return true;
    const size_t count = f->slot_count > 0 ? 4 * f->slot_count : 256;
    uint32_t *slots = memory_zero(count, sizeof *slots);
    if (!slots)
        return false;
    memory_free(f->slots);
    f->slots = slots;
    f->slot_count = count;
    f->slots_used = 0;
    for (size_t i = 0; i < f->count; i++)
        slots_enter_family(f, i);
    return true;
}

/* Returns the index of the family with a base name; f->count: no such family exists. */
static size_t find_base(const struct metric_families *f, const char *base)
{
    const size_t length = strlen(base);
    if (f->slot_count == 0)
        return f->count;
    for (size_t at = slot_start(f, base, length); f->slots[at]; at = (at + 1) & (f->slot_count - 1))
        if (same_family(&f->items[f->slots[at] - 1], base, length))
            return f->slots[at] - 1;
    return f->count;
}

HRESULT metric_families_find(const struct metric_families *f, const struct log_counter *counter,
                             const struct metric_form *form, size_t *at, char **name)
{
    char *base = metric_name_of(counter, form);
    *name = NULL;
    *at = f->count;
    while (base && (*at = find_base(f, base)) < f->count) {
        if (f->items[*at].kind == form->kind) {
            memory_free(base);
            return S_OK;
        }
        /* The longer name can also be in use. The loop ends, because the name grows each time. */
        char *other = text_format("%s_of_%s", base, form->kind == METRIC_COUNTER ? "events" : "values");
        memory_free(base);
        base = other;
    }
    *name = base ? text_format("%s%s", base, form->kind == METRIC_COUNTER ? "_total" : "") : NULL;
    memory_free(base);
    return *name ? S_FALSE : E_OUTOFMEMORY;
}

HRESULT metric_families_add(struct metric_families *f, char *name, char *help, const struct metric_form *form,
                            const char *collector)
{
    void *items = f->items;
    if (!name || !help || !slots_grow(f) || !memory_grow(&items, &f->capacity, f->count + 1, sizeof *f->items)) {
        memory_free(name);
        memory_free(help);
        return E_OUTOFMEMORY;
    }
    f->items = items;
    f->items[f->count] = (struct metric_family){
        .name = name, .help = help, .unit = form->unit, .kind = form->kind, .collector = collector};
    slots_enter_family(f, f->count++);
    return S_OK;
}

void metric_families_free(struct metric_families *f)
{
    for (size_t i = 0; i < f->count; i++) {
        memory_free(f->items[i].name);
        memory_free(f->items[i].help);
    }
    memory_free(f->items);
    memory_free(f->slots);
    *f = (struct metric_families){0};
}
