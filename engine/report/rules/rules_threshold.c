/* SPDX-License-Identifier: MIT */
/* Reads the attributes of Threshold elements in rules, and raises their warnings. */
#include "engine/report/rules/rules_threshold.h"

#include "engine/base/memory.h"
#include "engine/report/make/report_document.h"

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

enum {
    OTHERS_NAMED = 16,   /* maximum number of further instances in a warning */
    ROW_OPERATIONS = 10, /* number of XPath operations that take as long as reading a row or slice */
};

/* ---- attributes ---- */

bool rules_is_real(const char *text)
{
    char *end = NULL;
    if (!*text || !strchr("+-.0123456789", *text) || strpbrk(text, "xXnNiIeEpP"))
        return false;
    return isfinite(strtod(text, &end)) && end != text && !*end;
}

static double real_of(xmlNodePtr e, const char *name, double usual)
{
    const char *text = rules_attribute(e, name);
    return text ? strtod(text, NULL) : usual;
}

static int word_of(xmlNodePtr e, const char *name, enum rules_sort sort, int usual)
{
    const int word = rules_word(sort, rules_attribute(e, name));
    return word < 0 ? usual : word;
}

HRESULT threshold_path_read(const char *text, struct threshold_path *out, const char **rest)
{
    const char *end = strchr(text, '|'), *stop = end ? end : text + strlen(text);
    *out = (struct threshold_path){0};
    *rest = end ? end + 1 : NULL;
    if (*text != '\\')
        return E_INVALIDARG;
    const char *object = text + 1, *object_end = object;
    while (object_end < stop && *object_end != '\\' && *object_end != '(')
        object_end++;
    const char *instance = NULL, *instance_end = object_end;
    if (object_end < stop && *object_end == '(') {
        instance = object_end + 1;
        instance_end = strstr(instance, ")\\");
        if (!instance_end || instance_end >= stop)
            return E_INVALIDARG;
    }
    const char *counter = instance ? instance_end + 2 : object_end + 1;
    if (object_end == object || counter >= stop || (instance && instance == instance_end))
        return E_INVALIDARG;
    out->object = text_copy_n(object, (size_t)(object_end - object));
    out->counter = text_copy_n(counter, (size_t)(stop - counter));
    out->instance = instance ? text_copy_n(instance, (size_t)(instance_end - instance)) : NULL;
    return out->object && out->counter && (!instance || out->instance) ? S_OK : E_OUTOFMEMORY;
}

void threshold_path_free(struct threshold_path *p)
{
    memory_free(p->object);
    memory_free(p->instance);
    memory_free(p->counter);
    *p = (struct threshold_path){0};
}

static HRESULT check_paths(xmlNodePtr e, const char *attribute)
{
    const char *text = rules_attribute(e, attribute);
    HRESULT hr = S_OK;
    for (const char *at = text, *rest; at && SUCCEEDED(hr); at = rest) {
        struct threshold_path path;
        hr = threshold_path_read(at, &path, &rest);
        threshold_path_free(&path);
    }
    return hr == E_INVALIDARG ? rules_wrong(e, attribute, text,
                                            "expected \\Object\\Counter or "
                                            "\\Object(instance)\\Counter")
                              : hr;
}

HRESULT threshold_read(xmlNodePtr e, struct threshold *out)
{
    const char *over = rules_attribute(e, "over"), *under = rules_attribute(e, "under");
    const char *critical = rules_attribute(e, "critical"), *seconds = rules_attribute(e, "for");
    uint64_t number = THRESHOLD_SECONDS;
    static const char *const paths[] = {"counter", "per", "minus", "unless"};
    *out = (struct threshold){.element = e, .unit = ""};
    if (!over == !under)
        return rules_wrong(e, "over", over, "expected either over or under");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        HRESULT hr = check_paths(e, paths[i]);
        if (FAILED(hr))
            return hr;
    }
    if (seconds && !text_to_u64(seconds, &number))
        number = THRESHOLD_SECONDS;
    *out = (struct threshold){
        .element = e,
        .counter = rules_attribute(e, "counter"),
        .per = rules_attribute(e, "per"),
        .minus = rules_attribute(e, "minus"),
        .unless = rules_attribute(e, "unless"),
        .unit = rules_attribute(e, "unit") ? rules_attribute(e, "unit") : "",
        .of = (enum rules_measure)word_of(e, "of", RULES_VALUE_MEASURE, MEASURE_MEAN),
        .times = (enum rules_scale)word_of(e, "times", RULES_VALUE_SCALE, SCALE_ONE),
        .severity = (enum rules_finding)word_of(e, "severity", RULES_VALUE_SEVERITY, FINDING_WARNING),
        .is_upper = over,
        .has_critical = critical,
        .limit = over ? real_of(e, "over", 0) : real_of(e, "under", 0),
        .critical = real_of(e, "critical", 0),
        .factor = real_of(e, "factor", 1),
        .has_least = rules_attribute(e, "least"),
        .least = real_of(e, "least", 0),
        .scale = real_of(e, "scale", 1),
        .seconds = (uint32_t)number,
    };
    if (!out->counter)
        return rules_wrong(e, "counter", NULL, "missing");
    if ((out->per || out->minus) && out->of != MEASURE_MEAN)
        return rules_wrong(e, "of", rules_attribute(e, "of"),
                           "the attributes per and minus require the measure 'mean'");
    if (critical && (out->is_upper ? out->critical < out->limit : out->critical > out->limit))
        return rules_wrong(e, "critical", critical, "expected a value at or beyond the limit");
    return S_OK;
}

HRESULT rules_threshold_check(xmlNodePtr e)
{
    struct threshold t;
    return threshold_read(e, &t);
}

/* ---- messages ---- */

void threshold_number_add(struct text_buffer *b, double value)
{
    char text[40];
    const double size = fabs(value);
    if (!isfinite(value) || size >= 1e15) {
        text_buffer_format(b, "%g", value);
        return;
    }
    snprintf(text, sizeof text, "%.*f", size >= 100 ? 0 : size >= 1 ? 2 : size >= 0.01 ? 3 : 6, value);
    if (strchr(text, '.')) {
        size_t length = strlen(text);
        while (text[length - 1] == '0')
            length--;
        text[text[length - 1] == '.' ? length - 1 : length] = 0;
    }
    text_buffer_add(b, strcmp(text, "-0") != 0 ? text : "0");
}

static void add_value(struct text_buffer *b, const struct threshold *t, double value)
{
    threshold_number_add(b, value * t->scale);
    if (*t->unit)
        text_buffer_format(b, " %s", t->unit);
}

/* Adds a time such as "2026-03-02T12:00:00.000Z" as "2026-03-02 12:00", without the day if it equals `day`. */
static void add_time(struct text_buffer *b, const char *time, const char *day)
{
    if (strlen(time) < 16) {
        text_buffer_add(b, time);
        return;
    }
    if (!day || strncmp(day, time, 10) != 0)
        text_buffer_format(b, "%.10s ", time);
    text_buffer_format(b, "%.5s", time + 11);
}

static void add_when(struct text_buffer *b, const struct threshold *t, const struct threshold_finding *f)
{
    if (*f->first) {
        add_time(b, f->first, NULL);
        text_buffer_add(b, " to ");
        add_time(b, f->last, f->first);
        if (t->of != MEASURE_TREND) {
            text_buffer_add(b, ", ");
            threshold_number_add(b, round(f->seconds / 6) / 10);
            text_buffer_add(b, " min in total");
        }
    }
    if (*f->worst_at) {
        text_buffer_add(b, b->length ? "; worst at " : "worst at ");
        add_time(b, f->worst_at, *f->first ? f->first : NULL);
        text_buffer_add(b, ": ");
        add_value(b, t, f->worst);
    }
}

static void add_path(struct text_buffer *b, const struct threshold_finding *f, const char *counter)
{
    text_buffer_format(b, *f->machine ? "\\\\%s\\" : "%s\\", f->machine);
    text_buffer_add(b, f->object);
    if (*f->instance)
        text_buffer_format(b, "(%s)", f->instance);
    text_buffer_format(b, "\\%s", counter);
}

static const char *row_counter(xmlNodePtr row)
{
    for (xmlNodePtr d = rules_child(row, "Data"); d; d = rules_next(d, "Data")) {
        const char *name = rules_attribute(d, "name");
        if (name && !strcmp(name, "counter") && d->children && d->children->content)
            return (const char *)d->children->content;
    }
    return "";
}

void threshold_limits_add(struct text_buffer *b, const struct threshold *t, double limit, double critical)
{
    static const char *const measures[] = {"", "peaks ", "lows ", "growth per hour ", "increase "};
    text_buffer_add(b, measures[t->of]);
    text_buffer_add(b, t->is_upper ? "over " : "under ");
    add_value(b, t, limit);
    if (t->has_critical) {
        text_buffer_add(b, t->is_upper ? ", serious over " : ", serious under ");
        add_value(b, t, critical);
    }
    if (t->of == MEASURE_TREND || t->of == MEASURE_INCREASE)
        return;
    if (t->seconds) {
        text_buffer_add(b, ", for ");
        threshold_number_add(b, t->seconds / 60.0);
        text_buffer_add(b, " min");
    }
}

/* Adds the compared values, and the other instances beyond the limit. */
static void add_details(struct text_buffer *b, const struct threshold *t, const struct threshold_findings *all)
{
    const struct threshold_finding *f = all->items;
    text_buffer_add(b, "Counter: ");
    add_path(b, f, row_counter(f->row));
    if (t->minus)
        text_buffer_format(b, ", minus %s", t->minus);
    if (t->per)
        text_buffer_format(b, ", divided by %s", t->per);
    text_buffer_add(b, ". Limit: ");
    threshold_limits_add(b, t, f->limit, f->critical);
    text_buffer_add(b, ".");
    for (size_t i = 1; i < all->count && i <= OTHERS_NAMED; i++) {
        const struct threshold_finding *other = &all->items[i];
        text_buffer_add(b, i == 1 ? " Also beyond the limit: " : ", ");
        if (*other->machine)
            text_buffer_format(b, "\\\\%s ", other->machine);
        text_buffer_format(b, "%s (", *other->instance ? other->instance : other->object);
        add_value(b, t, other->value);
        text_buffer_add(b, ")");
    }
    if (all->count > OTHERS_NAMED + 1)
        text_buffer_format(b, " and %u more", (unsigned)(all->count - OTHERS_NAMED - 1));
    text_buffer_add(b, all->count > 1 ? "." : "");
}

/* ---- warnings ---- */

static HRESULT set_text(struct rules_run *run, const char *name, struct text_buffer *b)
{
    text_buffer_add(b, "");
    struct rule_value value = {.text = text_buffer_take(b)};
    return value.text ? rules_set_variable(run, name, &value) : E_OUTOFMEMORY;
}

static HRESULT set_string(struct rules_run *run, const char *name, const char *text)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, text);
    return set_text(run, name, &b);
}

static HRESULT set_number(struct rules_run *run, const char *name, double number)
{
    struct text_buffer b = {0};
    threshold_number_add(&b, number);
    return set_text(run, name, &b);
}

/* Sets the variable to "SQL Server", or to "SQL Server PROD" for the objects of the instance MSSQL$PROD. */
static HRESULT set_server(struct rules_run *run, const char *object)
{
    struct text_buffer b = {0};
    const char *colon = strchr(object, ':');
    text_buffer_add(&b, "SQL Server");
    if (colon && !strncmp(object, "MSSQL$", 6))
        text_buffer_format(&b, " %.*s", (int)(colon - object - 6), object + 6);
    return set_text(run, "server", &b);
}

static HRESULT set_variables(struct rules_run *run, const struct threshold *t, const struct threshold_findings *all)
{
    const struct threshold_finding *f = all->items;
    struct text_buffer when = {0}, others = {0}, worst = {0};
    add_when(&when, t, f);
    add_value(&worst, t, f->worst);
    if (all->count > 1)
        text_buffer_format(&others, " and %u more", (unsigned)(all->count - 1));
    const HRESULT done[] = {
        set_number(run, "value", f->value * t->scale),
        set_number(run, "limit", f->limit * t->scale),
        set_number(run, "minutes", round(f->seconds / 6) / 10),
        set_number(run, "seconds", f->seconds),
        set_string(run, "instance", f->instance),
        set_string(run, "object", f->object),
        set_string(run, "computer", f->machine),
        set_string(run, "first", f->first),
        set_string(run, "last", f->last),
        set_string(run, "worstAt", f->worst_at),
        set_server(run, f->object),
        set_text(run, "when", &when),
        set_text(run, "worst", &worst),
        set_text(run, "others", &others),
    };
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        if (FAILED(done[i]))
            return done[i];
    return S_OK;
}

static HRESULT put_data(struct rules_run *run, xmlNodePtr item, const char *name, const char *tag, const char *text)
{
    xmlNodePtr made;
    HRESULT hr = report_target_make(run->target, "Data", text, &made);
    if (SUCCEEDED(hr))
        hr = report_target_set(run->target, made, "name", name);
    if (SUCCEEDED(hr))
        hr = report_target_set(run->target, made, "message", tag);
    return SUCCEEDED(hr) ? report_target_put(run->target, item, AXIS_CHILD, made) : hr;
}

static HRESULT put_symptom(struct rules_run *run, xmlNodePtr item, const struct threshold *t,
                           const struct threshold_finding *f, const char *tag, const char *text)
{
    static const char *const words[] = {"Red", "warning", "information"};
    const enum rules_finding severity = f->is_critical ? FINDING_ERROR : t->severity;
    struct text_buffer limit = {0};
    xmlNodePtr made;
    if (!t->per && !t->minus && t->of != MEASURE_TREND && t->of != MEASURE_INCREASE)
        plain_number_add(&limit, f->is_critical ? f->critical : f->limit);
    text_buffer_add(&limit, "");
    HRESULT hr = limit.failed ? E_OUTOFMEMORY : report_target_make(run->target, "Data", text, &made);
    const char *const values[][2] = {
        {"name", "symptom"}, {"img", words[severity]}, {"link", tag}, {"message", tag}, {"limit", limit.text}};
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof values / sizeof *values; i++)
        if (*values[i][1])
            hr = report_target_set(run->target, made, values[i][0], values[i][1]);
    text_buffer_free(&limit);
    return SUCCEEDED(hr) ? report_target_put(run->target, item, AXIS_CHILD, made) : hr;
}

/* Returns the text of the Data of that name, with strings and variables; "" if it does not exist. */
static HRESULT expand_data(struct rules_run *run, xmlNodePtr element, const char *name, char **out)
{
    struct text_buffer b = {0};
    HRESULT hr = S_OK;
    *out = NULL;
    for (xmlNodePtr d = rules_child(element, "Data"); d; d = rules_next(d, "Data")) {
        const char *own = rules_attribute(d, "name");
        if (own && !strcmp(own, name)) {
            xml_element_text(d, &b);
            break;
        }
    }
    text_buffer_add(&b, "");
    hr = b.failed ? E_OUTOFMEMORY : rules_expand(run, element, b.text, out);
    text_buffer_free(&b);
    return hr;
}

static HRESULT put_item(struct rules_run *run, const struct threshold *t, const struct threshold_findings *all,
                        const char *tag, xmlNodePtr item)
{
    static const struct {
        const char *name, *written; /* `written` is a template for the text; NULL means that the Threshold's Data
                                       element called `name` contains the text */
    } parts[] = {{"when", "{when}"},       {"first", "{first}"}, {"last", "{last}"},
                 {"seconds", "{seconds}"}, {"worst", "{worst}"}, {"worstAt", "{worstAt}"},
                 {"cause", NULL},          {"details", NULL},    {"resolution", NULL}};
    char *text = NULL;
    HRESULT hr = expand_data(run, t->element, "symptom", &text);
    if (SUCCEEDED(hr) && !*text) {
        memory_free(text);
        hr = rules_expand(run, t->element,
                          t->is_upper ? "{object} {instance} was over {limit}: {value}"
                                      : "{object} {instance} was under {limit}: {value}",
                          &text);
    }
    if (SUCCEEDED(hr))
        hr = put_symptom(run, item, t, all->items, tag, text);
    memory_free(text);
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof parts / sizeof *parts; i++) {
        struct text_buffer b = {0};
        text = NULL;
        hr = parts[i].written ? rules_expand(run, t->element, parts[i].written, &text)
                              : expand_data(run, t->element, parts[i].name, &text);
        if (SUCCEEDED(hr) && !*text && !strcmp(parts[i].name, "details"))
            add_details(&b, t, all);
        if (SUCCEEDED(hr) && b.failed)
            hr = E_OUTOFMEMORY;
        const char *shown = b.text ? b.text : text;
        if (SUCCEEDED(hr) && *shown)
            hr = put_data(run, item, parts[i].name, tag, shown);
        memory_free(text);
        text_buffer_free(&b);
    }
    return hr;
}

static HRESULT put_warning(struct rules_run *run, const struct threshold *t, const struct threshold_findings *all)
{
    const char *written = rules_attribute(t->element, "tag");
    char *tag = NULL;
    xmlNodePtr item = NULL, table;
    HRESULT hr = set_variables(run, t, all);
    if (SUCCEEDED(hr))
        hr = rules_expand(run, t->element, written ? written : run->place.rule, &tag);
    if (SUCCEEDED(hr))
        hr = report_target_warnings(run->target, &table);
    if (SUCCEEDED(hr))
        hr = report_target_make(run->target, "Item", NULL, &item);
    if (SUCCEEDED(hr))
        hr = put_item(run, t, all, tag, item);
    if (SUCCEEDED(hr))
        hr = report_target_tag(run->target, all->items[0].row, tag);
    if (SUCCEEDED(hr))
        hr = rules_add_warning(run, t->element, table, item);
    memory_free(tag);
    return hr;
}

/* Raises one warning about the worst instance; its text names the other instances. */
HRESULT rules_do_threshold(struct rules_run *run, xmlNodePtr element)
{
    struct threshold t;
    struct threshold_findings all = {0};
    if (rules_is_bad(element))
        return S_FALSE; /* reported when the rules were read */
    HRESULT hr = threshold_read(element, &t);
    if (SUCCEEDED(hr))
        hr = threshold_measure(&t, run, &all);
    run->out->known += all.known;
    run->operations += all.visited * ROW_OPERATIONS;
    if (SUCCEEDED(hr))
        rules_log(run, RULES_LOG_STEPS, "step", "%llu rows, %llu beyond the limit", (unsigned long long)all.known,
                  (unsigned long long)all.count);
    if (SUCCEEDED(hr) && all.count)
        hr = put_warning(run, &t, &all);
    threshold_findings_free(&all);
    return rules_note_error(run, hr);
}
