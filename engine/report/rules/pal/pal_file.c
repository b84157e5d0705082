/* SPDX-License-Identifier: MIT */
/* Reads a threshold file of PAL and the files from which it inherits. The files contain questions, and analyses with
   counters and thresholds. The inheriting file takes precedence: if an analysis has the same ID or name as an analysis
   that was already read, it is skipped. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/report/rules/pal/pal_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SOURCES_MAX = 60, OF_ANALYSIS_MAX = 200, ANALYSES_MAX = 10000, DOCUMENT_MEMORY = 192 << 20, NOTES_MAX = 30000 };

struct pal_reading {
    struct pal_set *set;
    const struct pal_job *job;
    const char *file; /* name of the file being read, for messages */
    HRESULT hr;
};

static HRESULT read_file(struct pal_reading *r, const char *path, const char *text, size_t size);

HRESULT pal_note(struct pal_set *set, struct texts *to, const char *format, ...)
{
    char text[1200];
    va_list list;
    struct text_buffer b = {0};
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    text_buffer_add_utf8(&b, text, strlen(text)); /* long names are truncated, possibly within a character */
    text_buffer_add(&b, "");
    char *valid = text_buffer_take(&b);
    HRESULT hr = valid ? S_OK : E_OUTOFMEMORY;
    if (valid && to->count < NOTES_MAX)
        hr = texts_add_owned(to, valid);
    else
        memory_free(valid);
    set->pool.failed |= FAILED(hr);
    return hr;
}

/* ---- elements ---- */

static xmlNodePtr element_of(xmlNodePtr node, const char *name)
{
    while (node && (node->type != XML_ELEMENT_NODE || strcmp((const char *)node->name, name) != 0))
        node = node->next;
    return node;
}

static const char *attribute_of(struct pal_set *set, xmlNodePtr e, const char *name)
{
    for (const xmlAttr *a = e->properties; a; a = a->next)
        if (!a->ns && !strcmp((const char *)a->name, name) && a->children && a->children->content) {
            char *text = text_copy((const char *)a->children->content);
            if (text)
                xml_trim(text);
            return pal_keep(&set->pool, text);
        }
    return "";
}

static const char *text_of(struct pal_set *set, xmlNodePtr e)
{
    struct text_buffer b = {0};
    if (!e)
        return "";
    xml_element_text(e, &b);
    text_buffer_add(&b, "");
    return pal_keep(&set->pool, text_buffer_take(&b));
}

static bool is_true(const char *text)
{
    return text_equal_nocase(text, "true");
}

/* ---- counters ---- */

/* Returns the instance in "(...)" before `end`, or NULL if there is no instance. Brackets may be nested: (a
   (b)). */
static const char *instance_begin(const char *path, const char *end)
{
    unsigned deep = 0;
    if (end == path || end[-1] != ')')
        return NULL;
    for (const char *c = end - 1; c > path; c--) {
        deep += *c == ')';
        deep -= *c == '(';
        if (!deep)
            return c;
    }
    return NULL;
}

static const char *part_of(struct pal_set *set, const char *from, const char *end)
{
    return pal_keep(&set->pool, text_copy_n(from, end > from ? (size_t)(end - from) : 0));
}

/* Returns the XPath condition that a table's object has this name or, if `regular` is set, matches this regular
   expression. Returns NULL if the expression is not supported. */
static const char *object_test(struct pal_set *set, struct pal_source *s, const char *object, bool regular)
{
    static const char of[] = PAL_LOWER("@source");
    const char *why = NULL;
    if (!regular)
        return pal_format(&set->pool, "%s=%s", of, pal_literal(&set->pool, object, true));
    const char *test = pal_regex(&set->pool, object, of, &why);
    if (!test)
        s->why = pal_format(&set->pool, "the regular expression '%.100s' uses %s", object, why ? why : "too much");
    return test;
}

/* Returns conditions that exclude the instances in EXCLUDE, ignoring case. */
static const char *exclusions(struct pal_set *set, xmlNodePtr e)
{
    enum { LONGEST = 4000 }; /* in bytes; with a longer test, the XPath of the rows is too long and is rejected */
    const char *test = "";
    for (xmlNodePtr x = element_of(e->children, "EXCLUDE"); x && strlen(test) < LONGEST;
         x = element_of(x->next, "EXCLUDE")) {
        const char *instance = attribute_of(set, x, "INSTANCE");
        if (*instance)
            test = pal_format(&set->pool, "%s[not(%s=%s)]", test, PAL_LOWER("Data[@name='instance']"),
                              pal_literal(&set->pool, instance, true));
    }
    return test;
}

static bool is_regular(struct pal_set *set, xmlNodePtr e, const char *name)
{
    return is_true(attribute_of(set, e, name));
}

/* Finds the counter's rows in a report by object, counter and instances. */
static void find_rows(struct pal_set *set, xmlNodePtr e, struct pal_source *s)
{
    struct pal_pool *pool = &set->pool;
    const bool regular = is_regular(set, e, "ISCOUNTEROBJECTREGULAREXPRESSION");
    const char *expression = attribute_of(set, e, "REGULAREXPRESSIONCOUNTERPATH"), *path = s->path;
    const char *counter = strrchr(path, '\\'), *instance = counter ? instance_begin(path, counter) : NULL;
    if (*path != '\\' || !counter || counter == path || !counter[1]) {
        s->why = pal_format(pool, "'%.100s' is not a counter path", path);
        return;
    }
    s->counter = counter + 1;
    const char *own = instance ? part_of(set, instance + 1, counter - 1) : "";
    s->has_instances = instance && (!*own || !strcmp(own, "*"));
    if (is_regular(set, e, "ISCOUNTERNAMEREGULAREXPRESSION") ||
        is_regular(set, e, "ISCOUNTERINSTANCEREGULAREXPRESSION"))
        s->why = "a regular expression for counters or instances is not supported";
    const char *object = part_of(set, path + 1, instance ? instance : counter);
    if (regular && *expression) { /* EXPRESSIONPATH is also a path, so its counter and its instance are removed */
        const char *end = strrchr(expression, '\\'), *begin = expression + (*expression == '\\');
        const char *bracket = end && instance ? instance_begin(begin, end) : NULL;
        object = part_of(set, begin, bracket ? bracket : end ? end : begin);
    }
    s->is_sql = regular;
    const char *test = s->why ? NULL : object_test(set, s, object, regular);
    if (!test)
        return;
    if (strpbrk(s->counter, "*") || (*own && strcmp(own, "*") != 0 && strchr(own, '*'))) {
        s->why = pal_format(pool, "'%.100s' contains a wildcard in a name", path);
        return;
    }
    const char *which = *own && !s->has_instances ? pal_format(pool, "[%s=%s]", PAL_LOWER("Data[@name='instance']"),
                                                               pal_literal(pool, own, true))
                                                  : "";
    s->rows = pal_format(pool, "/Report/Section/Table[%s]/Item[%s=%s]%s%s", test, PAL_LOWER("Data[@name='counter']"),
                         pal_literal(pool, s->counter, true), which, exclusions(set, e));
    if (strlen(s->rows) > 3000) {
        s->rows = NULL;
        s->why = "its names and exclusions are too long for an expression";
    }
}

static int decimals_of(const char *type)
{
    if (text_equal_nocase(type, "integer") || text_equal_nocase(type, "int") || text_equal_nocase(type, "long"))
        return 0;
    return !strncmp(type, "round", 5) && type[5] >= '0' && type[5] <= '9' && !type[6] ? type[5] - '0' : -1;
}

static void read_source(struct pal_reading *r, struct pal_analysis *a, xmlNodePtr e)
{
    struct pal_set *set = r->set;
    void *items = a->sources;
    struct pal_source s = {
        .variable = attribute_of(set, e, "COLLECTIONVARNAME"),
        .path = attribute_of(set, e, "EXPRESSIONPATH"),
        .generated = text_equal_nocase(attribute_of(set, e, "TYPE"), "Generated"),
        .decimals = decimals_of(attribute_of(set, e, "DATATYPE")),
        .counter = "",
    };
    s.code = text_of(set, element_of(e->children, "CODE"));
    if (!*s.path)
        s.path = attribute_of(set, e, "NAME");
    find_rows(set, e, &s);
    if (a->source_count >= SOURCES_MAX) {
        r->hr = pal_note(set, &set->out->notes, "%s: analysis '%.100s': only the first %d of its counters are read",
                         a->file, a->name, SOURCES_MAX);
        return;
    }
    if (!memory_grow(&items, &a->source_capacity, a->source_count + 1, sizeof *a->sources)) {
        r->hr = E_OUTOFMEMORY;
        return;
    }
    a->sources = items;
    a->sources[a->source_count++] = s;
}

/* ---- thresholds ---- */

static void read_threshold(struct pal_reading *r, struct pal_analysis *a, xmlNodePtr e)
{
    struct pal_set *set = r->set;
    void *items = a->thresholds;
    struct pal_threshold t = {
        .name = attribute_of(set, e, "NAME"),
        .condition = attribute_of(set, e, "CONDITION"),
        .code = text_of(set, element_of(e->children, "CODE")),
        .description = text_of(set, element_of(e->children, "DESCRIPTION")),
    };
    if (!text_to_i64(attribute_of(set, e, "PRIORITY"), &t.priority))
        t.priority = text_equal_nocase(t.condition, "Critical") ? 100 : 50;
    if (set->out->thresholds >= PAL_THRESHOLDS_MAX) {
        r->hr = error_set(OPENPLA_E_MALFORMED_XML, "more than %d thresholds", PAL_THRESHOLDS_MAX);
        return;
    }
    if (a->threshold_count >= OF_ANALYSIS_MAX) {
        set->out->thresholds++;
        r->hr = pal_note(set, &set->out->lost,
                         "%s: analysis '%.100s': threshold '%.100s': an analysis may have at most %d thresholds",
                         a->file, a->name, t.name, OF_ANALYSIS_MAX);
        return;
    }
    if (!memory_grow(&items, &a->threshold_capacity, a->threshold_count + 1, sizeof *a->thresholds)) {
        r->hr = E_OUTOFMEMORY;
        return;
    }
    a->thresholds = items;
    set->out->thresholds++;
    /* Sort by descending priority; if priorities are equal, the later threshold comes first, as in PAL. */
    size_t at = a->threshold_count++;
    for (; at && a->thresholds[at - 1].priority <= t.priority; at--)
        a->thresholds[at] = a->thresholds[at - 1];
    a->thresholds[at] = t;
}

static bool is_read(const struct pal_set *set, const char *id, const char *name)
{
    for (size_t i = 0; i < set->analysis_count; i++)
        if ((*id && text_equal_nocase(set->analyses[i].id, id)) || text_equal_nocase(set->analyses[i].name, name))
            return true;
    return false;
}

static void read_analysis(struct pal_reading *r, xmlNodePtr e)
{
    struct pal_set *set = r->set;
    void *items = set->analyses;
    struct pal_analysis a = {
        .file = r->file,
        .name = attribute_of(set, e, "NAME"),
        .id = attribute_of(set, e, "ID"),
        .category = attribute_of(set, e, "CATEGORY"),
        .description = text_of(set, element_of(e->children, "DESCRIPTION")),
        .enabled = !text_equal_nocase(attribute_of(set, e, "ENABLED"), "false"),
    };
    if (is_read(set, a.id, a.name))
        return;
    if (set->analysis_count >= ANALYSES_MAX) {
        r->hr = error_set(OPENPLA_E_MALFORMED_XML, "more than %d analyses", ANALYSES_MAX);
        return;
    }
    if (!memory_grow(&items, &set->analysis_capacity, set->analysis_count + 1, sizeof *set->analyses)) {
        r->hr = E_OUTOFMEMORY;
        return;
    }
    set->analyses = items;
    set->analyses[set->analysis_count] = a;
    struct pal_analysis *own = &set->analyses[set->analysis_count++];
    for (xmlNodePtr c = e->children; c && SUCCEEDED(r->hr); c = c->next)
        if (c == element_of(c, "DATASOURCE"))
            read_source(r, own, c);
        else if (c == element_of(c, "THRESHOLD"))
            read_threshold(r, own, c);
}

/* ---- questions ---- */

static bool contains_nocase(const char *text, const char *what)
{
    for (const char *c = text; *c; c++) {
        size_t n = 0;
        while (what[n] && c[n] && (c[n] | 0x20) == what[n])
            n++;
        if (!what[n])
            return true;
    }
    return false;
}

/* Returns whether the question asks for the amount of memory in GB. Reports contain this amount. */
static bool asks_memory(const char *variable, const char *text)
{
    return contains_nocase(variable, "physicalmemory") || contains_nocase(variable, "ramgb") ||
           contains_nocase(variable, "ramingb") || text_equal_nocase(variable, "RAM") ||
           ((contains_nocase(text, "physical memory") || contains_nocase(text, "ram ")) &&
            (contains_nocase(text, "gigabyte") || contains_nocase(text, "(gb") || contains_nocase(text, " gb")));
}

static const char *answer_to(const struct pal_job *job, const char *variable)
{
    const size_t n = strlen(variable);
    for (size_t i = job->answers ? job->answers->count : 0; i > 0; i--) {
        const char *text = job->answers->items[i - 1], *is = strchr(text, '=');
        char *name = is && (size_t)(is - text) == n ? text_copy_n(text, n) : NULL;
        const bool found = name && text_equal_nocase(name, variable);
        memory_free(name);
        if (found)
            return is + 1;
    }
    return NULL;
}

static void read_question(struct pal_reading *r, xmlNodePtr e)
{
    struct pal_imported *out = r->set->out;
    const char *variable = attribute_of(r->set, e, "QUESTIONVARNAME");
    const char *answer = answer_to(r->job, variable), *text = text_of(r->set, e);
    void *items = out->questions;
    for (size_t i = 0; i < out->question_count; i++)
        if (text_equal_nocase(out->questions[i].variable, variable))
            return;
    if (!*variable)
        return;
    if (out->question_count >= PAL_QUESTIONS_MAX) {
        r->hr = error_set(OPENPLA_E_MALFORMED_XML, "more than %d questions", PAL_QUESTIONS_MAX);
        return;
    }
    if (!memory_grow(&items, &out->question_capacity, out->question_count + 1, sizeof *out->questions)) {
        r->hr = E_OUTOFMEMORY;
        return;
    }
    out->questions = items;
    struct pal_question *q = &out->questions[out->question_count++];
    *q = (struct pal_question){
        .variable = text_copy(variable),
        .text = text_copy(text),
        .value = text_copy(answer ? answer : attribute_of(r->set, e, "DEFAULTVALUE")),
        .is_answered = answer,
        .is_memory = !answer && asks_memory(variable, text),
    };
    if (!q->variable || !q->text || !q->value)
        r->hr = E_OUTOFMEMORY;
}

/* ---- files ---- */

static bool is_bare_name(const char *name)
{
    return *name && !strpbrk(name, "/\\:") && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Finds the file with that name in the folder of `importer`. Case is ignored, because the files were written on
   Windows, which ignores case. */
static HRESULT find_beside(const char *importer, const char *name, char **path)
{
    struct texts names = {0};
    char *folder = path_folder(importer);
    *path = NULL;
    HRESULT hr = folder ? folder_list(*folder ? folder : ".", false, &names) : E_OUTOFMEMORY;
    for (size_t i = 0; i < names.count && SUCCEEDED(hr) && !*path; i++)
        if (text_equal_nocase(names.items[i], name)) {
            *path = path_join(folder, names.items[i]);
            hr = *path ? S_OK : E_OUTOFMEMORY;
        }
    texts_free(&names);
    memory_free(folder);
    return hr;
}

static bool was_read(const struct pal_set *set, const char *path)
{
    for (size_t i = 0; i < set->files.count; i++)
        if (text_equal_nocase(set->files.items[i], path))
            return true;
    return false;
}

/* Reads an inherited file. If the file is missing or invalid, reports that its thresholds are lost. */
static void read_inherited(struct pal_reading *r, const char *importer, const char *name)
{
    struct texts *lost = &r->set->out->lost;
    char *path = NULL, *text = NULL;
    size_t size;
    if (!*name)
        return;
    if (r->job->text || !is_bare_name(name)) {
        r->hr = pal_note(r->set, lost, "%s: inherits from '%.200s', which is not read: %s", r->file, name,
                         r->job->text ? "the folder of the file is unknown"
                                      : "expected the name of a file in the same folder");
        return;
    }
    HRESULT hr = find_beside(importer, name, &path);
    if (SUCCEEDED(hr) && path && was_read(r->set, path)) {
        memory_free(path);
        return;
    }
    if (SUCCEEDED(hr) && !path)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                       "no such file (put the file into the folder of '%s', or do without the thresholds of the file)",
                       r->file);
    if (SUCCEEDED(hr) && r->set->files.count >= PAL_FILES_MAX)
        hr = error_set(E_INVALIDARG, "more than %d files", PAL_FILES_MAX);
    if (SUCCEEDED(hr))
        hr = file_load(path, PAL_BYTES_MAX, &text, &size);
    if (SUCCEEDED(hr)) {
        const char *file = r->file;
        hr = read_file(r, path, text, size);
        r->file = file;
    }
    memory_free(text);
    memory_free(path);
    if (hr == E_OUTOFMEMORY)
        r->hr = hr;
    else if (FAILED(hr))
        r->hr = pal_note(r->set, lost, "%s: inherits from '%.200s', which is not read: %s", r->file, name,
                         error_keep(hr).text);
}

static void read_document(struct pal_reading *r, const char *path, const struct xml_document *d)
{
    const char *version = attribute_of(r->set, d->root, "PALVERSION");
    if (!r->set->title)
        r->set->title = attribute_of(r->set, d->root, "NAME");
    if (*version && *version != '2')
        r->hr = pal_note(r->set, &r->set->out->notes, "%s: the file is for version '%.40s' of PAL, expected version 2",
                         r->file, version);
    for (xmlNodePtr e = d->root->children; e && SUCCEEDED(r->hr); e = e->next)
        if (e == element_of(e, "QUESTION"))
            read_question(r, e);
        else if (e == element_of(e, "ANALYSIS"))
            read_analysis(r, e);
    for (xmlNodePtr e = element_of(d->root->children, "INHERITANCE"); e && SUCCEEDED(r->hr);
         e = element_of(e->next, "INHERITANCE"))
        read_inherited(r, path, attribute_of(r->set, e, "FILEPATH"));
}

static HRESULT read_file(struct pal_reading *r, const char *path, const char *text, size_t size)
{
    const struct xml_limits limits = {.bytes = PAL_BYTES_MAX, .memory = DOCUMENT_MEMORY};
    struct xml_document d = {0};
    HRESULT hr = texts_add(&r->set->files, path);
    if (SUCCEEDED(hr))
        hr = xml_document_open_within(text, size, &limits, &d);
    if (SUCCEEDED(hr))
        hr = xml_document_check_root(&d, "PAL");
    r->file = pal_keep(&r->set->pool, text_copy(path_name(path)));
    if (SUCCEEDED(hr)) {
        r->hr = S_OK;
        read_document(r, path, &d);
        hr = r->hr;
        r->hr = S_OK;
    }
    xml_document_close(&d);
    return SUCCEEDED(hr) && r->set->pool.failed ? E_OUTOFMEMORY : hr;
}

HRESULT pal_set_read(const struct pal_job *job, struct pal_set *set)
{
    struct pal_reading r = {.set = set, .job = job};
    char *text = NULL;
    size_t size = job->size;
    HRESULT hr = job->text ? S_OK : file_load(job->path, PAL_BYTES_MAX, &text, &size);
    if (FAILED(hr))
        return hr;
    hr = read_file(&r, job->path, job->text ? job->text : text, size);
    memory_free(text);
    return FAILED(hr) && hr != E_OUTOFMEMORY ? error_prefix(hr, "%s", job->path) : hr;
}

void pal_set_free(struct pal_set *set)
{
    for (size_t i = 0; i < set->analysis_count; i++) {
        memory_free(set->analyses[i].sources);
        memory_free(set->analyses[i].thresholds);
    }
    memory_free(set->analyses);
    texts_free(&set->files);
    texts_free(&set->pool.texts);
    *set = (struct pal_set){0};
}
