/* SPDX-License-Identifier: MIT */
/* Reads report schemas. Checks elements against the grammar. Reads patterns, files with their imports, sections and
   strings. */
#include "engine/report/report_schema.h"

#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/xml_document.h"
#include "engine/base/xml_text.h"
#include "engine/report/make/schema_reading.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ERRORS = 200 };

HRESULT schema_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    HRESULT hr = xml_invalid(SCHEMA_INVALID, element, attribute, value, format, list);
    va_end(list);
    return hr;
}

static HRESULT schema_keep_message(struct texts *to, char *text)
{
    if (!text)
        return E_OUTOFMEMORY;
    if (to->count < MOST_ERRORS)
        return texts_add_owned(to, text);
    memory_free(text);
    return S_OK;
}

/* Records the error of an omitted part, with file, section and table, if `hr` is SCHEMA_INVALID. Returns any other `hr`
   unchanged. Fails with E_OUTOFMEMORY. */
static HRESULT schema_note_error(struct schema_reading *r, HRESULT hr)
{
    if (hr != SCHEMA_INVALID)
        return hr;
    struct text_buffer b = {0};
    text_buffer_format(&b, "%s: ", r->file);
    if (r->section)
        text_buffer_format(&b, "section '%.100s': ", r->section);
    if (r->table)
        text_buffer_format(&b, "table '%.100s': ", r->table);
    text_buffer_add(&b, error_text(hr));
    return schema_keep_message(&r->s->errors, text_buffer_take(&b));
}

HRESULT schema_add_warning(struct schema_reading *r, xmlNodePtr node, const char *format, ...)
{
    char what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return schema_keep_message(&r->s->warnings, text_format("%s: line %ld: %.60s: %s", r->file, xmlGetLineNo(node),
                                                            (const char *)node->name, what));
}

/* Transfers the ownership of the text to the schema. */
static HRESULT schema_own(struct report_schema *s, char *text, const char **out)
{
    *out = text;
    return text ? texts_add_owned(&s->owned, text) : E_OUTOFMEMORY;
}

HRESULT schema_text_of(struct schema_reading *r, xmlNodePtr e, const char *name, const char **out)
{
    char *text = NULL;
    *out = NULL;
    HRESULT hr = xmlHasProp(e, BAD_CAST name) ? xml_element_attribute(r->document, e, name, &text) : S_OK;
    if (FAILED(hr) || !text)
        return hr;
    xml_trim(text);
    return schema_own(r->s, text, out);
}

HRESULT schema_number_of(struct schema_reading *r, xmlNodePtr e, const char *name, uint64_t *out, bool *is_there)
{
    const char *text;
    uint64_t number;
    HRESULT hr = schema_text_of(r, e, name, &text);
    *is_there = SUCCEEDED(hr) && text && text_to_u64(text, &number);
    if (*is_there)
        *out = number;
    return hr;
}

HRESULT schema_bool_of(struct schema_reading *r, xmlNodePtr e, const char *name, bool *out)
{
    const char *text;
    HRESULT hr = schema_text_of(r, e, name, &text);
    if (SUCCEEDED(hr) && text)
        *out = !strcmp(text, "true") || !strcmp(text, "1");
    return hr;
}

HRESULT schema_word_of(struct schema_reading *r, xmlNodePtr e, const char *name, enum schema_sort_of_value sort,
                       int *out)
{
    const char *text;
    HRESULT hr = schema_text_of(r, e, name, &text);
    *out = SUCCEEDED(hr) && text ? schema_find_word(sort, text) : -1;
    return hr;
}

xmlNodePtr schema_element_from(xmlNodePtr node, const char *name)
{
    return xml_grammar_element(&schema_grammar, node, name);
}

static HRESULT schema_grammar_warning(void *context, xmlNodePtr node, const char *what)
{
    return schema_add_warning(context, node, "%s", what);
}

HRESULT schema_check_element(struct schema_reading *r, xmlNodePtr e, enum schema_type type)
{
    const struct xml_checking checking = {&schema_grammar, r->document, SCHEMA_INVALID, schema_grammar_warning, r};
    return xml_grammar_check(&checking, e, type);
}

/* ---- patterns of Include and Exclude (MS-PLA 2.2.3.3); the part before the first '/' selects how texts are compared
   ---- */

struct pattern {
    const unsigned char *at, *end;
    bool no_case;
};

/* Splits a pattern into its parts. A text without '/', or with anything except "i" before the first '/', is the pattern
   itself, for example Pages/sec. */
static struct pattern open_pattern(const char *text)
{
    const size_t length = strlen(text);
    struct pattern p = {(const unsigned char *)text, (const unsigned char *)text + length, false};
    const bool no_case = *text == 'i' && text[1] == '/';
    if (*text != '/' && !no_case)
        return p;
    p.no_case = no_case;
    p.at += no_case ? 2 : 1;
    size_t escapes = 0;
    while (p.end - p.at > 1 && (size_t)(p.end - p.at) > escapes + 1 && p.end[-2 - (ptrdiff_t)escapes] == '\\')
        escapes++;
    if (p.end > p.at && p.end[-1] == '/' && escapes % 2 == 0)
        p.end--;
    return p;
}

enum piece { PIECE_ANY_NUMBER, PIECE_ANY_ONE, PIECE_CHARACTER };

static enum piece next_piece(const unsigned char **at, const unsigned char *end, uint32_t *character)
{
    *character = unicode_next(at, end, NULL);
    if (*character == '*')
        return PIECE_ANY_NUMBER;
    if (*character == '?')
        return PIECE_ANY_ONE;
    if (*character == '\\' && *at < end)
        *character = unicode_next(at, end, NULL);
    return PIECE_CHARACTER;
}

bool schema_pattern_matches(const char *pattern, const char *text)
{
    const struct pattern p = open_pattern(pattern);
    const unsigned char *at = p.at, *t = (const unsigned char *)text, *end = t + strlen(text);
    const unsigned char *behind_star = NULL, *star_text = NULL;
    while (true) {
        const unsigned char *piece_end = at, *text_end = t;
        uint32_t wanted = 0;
        const enum piece piece = at < p.end ? next_piece(&piece_end, p.end, &wanted) : PIECE_CHARACTER;
        if (at < p.end && piece == PIECE_ANY_NUMBER) {
            behind_star = at = piece_end;
            star_text = t;
            continue;
        }
        if (at >= p.end && t >= end)
            return true;
        bool fits = at < p.end && t < end;
        if (fits) {
            const uint32_t found = unicode_next(&text_end, end, NULL);
            fits = piece == PIECE_ANY_ONE || found == wanted ||
                   (p.no_case && unicode_upper(found) == unicode_upper(wanted));
        }
        if (fits) {
            at = piece_end;
            t = text_end;
        } else if (behind_star && star_text < end) { /* the asterisk matches one more character */
            unicode_next(&star_text, end, NULL);
            at = behind_star;
            t = star_text;
        } else {
            return false;
        }
    }
}

const char *schema_pattern_first(const char *patterns, char out[SCHEMA_LONGEST_PATTERN])
{
    size_t length = 0;
    while (patterns[length] && patterns[length] != '|')
        length += patterns[length] == '\\' && patterns[length + 1] ? 2 : 1;
    const size_t kept = length < SCHEMA_LONGEST_PATTERN ? length : 0;
    memcpy(out, patterns, kept);
    out[kept] = 0;
    return patterns[length] ? patterns + length + 1 : NULL;
}

bool schema_patterns_match(const char *patterns, const char *text)
{
    char one[SCHEMA_LONGEST_PATTERN];
    while (patterns) {
        patterns = schema_pattern_first(patterns, one);
        if (*one && schema_pattern_matches(one, text))
            return true;
    }
    return false;
}

static HRESULT add_text(struct report_schema *s, const char *path, const char *text, size_t size, schema_loader *load,
                        unsigned depth);

/* ---- tables and sections ---- */

static HRESULT read_table(struct schema_reading *r, xmlNodePtr e, struct schema_section *to)
{
    struct schema_table table = {0};
    const bool of_events = !strcmp((const char *)e->name, "EventTable");
    void *items = to->tables;
    HRESULT hr = S_OK;
    if (r->s->table_count >= SCHEMA_MOST_TABLES)
        hr = schema_wrong(e, NULL, NULL, "the schemas have more than %d tables", SCHEMA_MOST_TABLES);
    else if (!memory_grow(&items, &to->capacity, to->count + 1, sizeof *to->tables))
        hr = E_OUTOFMEMORY;
    to->tables = items;
    if (SUCCEEDED(hr))
        hr = of_events ? schema_read_event_table(r, e, &table) : schema_read_counter_table(r, e, &table);
    if (SUCCEEDED(hr)) {
        to->tables[to->count++] = table;
        r->s->table_count++;
    } else {
        hr = schema_note_error(r, hr);
        schema_table_free(&table);
    }
    r->table = NULL;
    return hr;
}

/* Finds the section with that name, which another file may have created, or creates it. */
static HRESULT find_section(struct report_schema *s, const struct schema_section *like, struct schema_section **out)
{
    *out = NULL;
    for (size_t i = 0; i < s->section_count; i++)
        if (!strcmp(s->sections[i].name, like->name)) {
            *out = &s->sections[i];
            if (!(*out)->note)
                (*out)->note = like->note;
            return S_OK;
        }
    void *items = s->sections;
    if (s->section_count >= SCHEMA_MOST_SECTIONS)
        return error_set(SCHEMA_INVALID, "the schemas have more than %d sections", SCHEMA_MOST_SECTIONS);
    if (!memory_grow(&items, &s->section_capacity, s->section_count + 1, sizeof *s->sections))
        return E_OUTOFMEMORY;
    s->sections = items;
    *out = &s->sections[s->section_count++];
    **out = *like;
    return S_OK;
}

static HRESULT read_section(struct schema_reading *r, xmlNodePtr e)
{
    struct schema_section like = {0}, *section = NULL;
    HRESULT hr = schema_text_of(r, e, "name", &like.name);
    r->section = like.name;
    if (SUCCEEDED(hr))
        hr = schema_check_element(r, e, SCHEMA_Section);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "note", &like.note);
    if (SUCCEEDED(hr))
        hr = schema_number_of(r, e, "key", &like.key, &like.has_key);
    if (FAILED(hr))
        return hr;
    assert(like.name); /* the grammar requires it */
    hr = find_section(r->s, &like, &section);
    for (xmlNodePtr t = schema_element_from(e->children, NULL); t && SUCCEEDED(hr);
         t = schema_element_from(t->next, NULL))
        if (schema_find_within(SCHEMA_Section, (const char *)t->name))
            hr = read_table(r, t, section);
    return hr;
}

static HRESULT read_sections(struct schema_reading *r, xmlNodePtr e)
{
    HRESULT hr = schema_check_element(r, e, SCHEMA_Sections);
    for (xmlNodePtr s = schema_element_from(e->children, "Section"); s && SUCCEEDED(hr);
         s = schema_element_from(s->next, "Section")) {
        hr = read_section(r, s);
        if (FAILED(hr))
            hr = schema_note_error(r, hr);
        r->section = NULL;
    }
    return hr;
}

/* ---- strings ---- */

static HRESULT read_string(struct schema_reading *r, xmlNodePtr e, const char *language)
{
    struct schema_string string = {.language = language};
    struct text_buffer text = {0};
    void *items = r->s->strings;
    HRESULT hr = schema_check_element(r, e, SCHEMA_String);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "ID", &string.id);
    if (FAILED(hr))
        return hr;
    assert(string.id); /* the grammar requires it */
    for (size_t i = 0; i < r->s->string_count; i++)
        if (!strcmp(r->s->strings[i].id, string.id) && text_equal_nocase(r->s->strings[i].language, language))
            return S_OK; /* the first text takes precedence */
    if (r->s->string_count >= SCHEMA_MOST_STRINGS)
        return schema_wrong(e, "ID", string.id, "the schemas have more than %d strings", SCHEMA_MOST_STRINGS);
    xml_element_text(e, &text);
    if (!memory_grow(&items, &r->s->string_capacity, r->s->string_count + 1, sizeof *r->s->strings)) {
        text_buffer_free(&text);
        return E_OUTOFMEMORY;
    }
    r->s->strings = items;
    if (!text.text && !text.failed)
        text_buffer_add(&text, "");
    hr = schema_own(r->s, text_buffer_take(&text), &string.text);
    if (SUCCEEDED(hr))
        r->s->strings[r->s->string_count++] = string;
    return hr;
}

static HRESULT read_strings(struct schema_reading *r, xmlNodePtr e)
{
    const char *language = NULL;
    HRESULT hr = schema_check_element(r, e, SCHEMA_StringTable);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "lang", &language); /* xml:lang */
    for (xmlNodePtr s = schema_element_from(e->children, "String"); s && SUCCEEDED(hr);
         s = schema_element_from(s->next, "String")) {
        hr = read_string(r, s, language ? language : "");
        if (FAILED(hr))
            hr = schema_note_error(r, hr);
    }
    return hr;
}

unsigned string_language_fit(const char *has, const char *wanted)
{
    const size_t base = strcspn(wanted, "-_");
    char without_country[16] = {0};
    if (text_equal_nocase(has, wanted))
        return 4;
    memcpy(without_country, wanted, base < sizeof without_country ? base : sizeof without_country - 1);
    if (*without_country && text_equal_nocase(has, without_country))
        return 3;
    if (!*has)
        return 2;
    return text_equal_nocase(has, "en") ? 1 : 0;
}

const char *report_schema_string(const struct report_schema *s, const char *id, const char *language)
{
    const char *found = id;
    unsigned best = 0;
    for (size_t i = 0; i < s->string_count; i++) {
        const unsigned fit =
            strcmp(s->strings[i].id, id) == 0 ? string_language_fit(s->strings[i].language, language) : 0;
        if (fit > best) {
            best = fit;
            found = s->strings[i].text;
        }
    }
    return found;
}

/* ---- imports ---- */

/* Imports a file. If the file cannot be loaded, returns the error of the Import element. */
static HRESULT schema_import_file(struct schema_reading *r, xmlNodePtr e, schema_loader *load, unsigned depth)
{
    const char *name = NULL;
    struct schema_file file = {0};
    HRESULT hr = schema_check_element(r, e, SCHEMA_Import);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, e, "file", &name);
    if (FAILED(hr))
        return hr;
    if (depth + 1 >= SCHEMA_DEEPEST)
        return schema_wrong(e, "file", name, "imports are nested deeper than %d", SCHEMA_DEEPEST);
    hr = load ? load(name, r->file, &file) : HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        return schema_wrong(e, "file", name, "%s", why.text);
    }
    hr = add_text(r->s, file.path, file.text, file.size, load, depth + 1);
    schema_file_free(&file);
    return hr;
}

/* ---- documents ---- */

static HRESULT read_report(struct schema_reading *r, xmlNodePtr root)
{
    struct report_schema *s = r->s;
    uint64_t threshold = 0;
    if (s->files.count > 1)
        return S_OK; /* only the attributes of the importing file are used (MS-PLA 2.2.3.3) */
    HRESULT hr = schema_text_of(r, root, "name", &s->name);
    if (SUCCEEDED(hr))
        hr = schema_text_of(r, root, "version", &s->version);
    if (SUCCEEDED(hr))
        hr = schema_number_of(r, root, "threshold", &threshold, &s->has_threshold);
    s->threshold = threshold > UINT32_MAX ? UINT32_MAX : (uint32_t)threshold;
    return hr;
}

static HRESULT read_parts(struct schema_reading *r, xmlNodePtr root, schema_loader *load, unsigned depth)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr e = schema_element_from(root->children, NULL); e && SUCCEEDED(hr);
         e = schema_element_from(e->next, NULL)) {
        if (!strcmp((const char *)e->name, "Import"))
            hr = schema_import_file(r, e, load, depth);
        else if (!strcmp((const char *)e->name, "Sections"))
            hr = read_sections(r, e);
        else if (!strcmp((const char *)e->name, "StringTable"))
            hr = read_strings(r, e);
        if (FAILED(hr))
            hr = schema_note_error(r, hr);
    }
    return hr;
}

static HRESULT read_document(struct schema_reading *r, schema_loader *load, unsigned depth)
{
    xmlNodePtr root = r->document->root;
    HRESULT hr = xml_document_check_root(r->document, "Report");
    if (SUCCEEDED(hr) && !schema_is_ours(root))
        hr = error_set(SCHEMA_INVALID, "line %ld: the root element is not in the namespace '%s'", xmlGetLineNo(root),
                       REPORT_SCHEMA_NAMESPACE);
    if (SUCCEEDED(hr))
        hr = schema_check_element(r, root, SCHEMA_Report);
    if (SUCCEEDED(hr))
        hr = read_report(r, root);
    return SUCCEEDED(hr) ? read_parts(r, root, load, depth) : hr;
}

static bool is_known(const struct report_schema *s, const char *path)
{
    for (size_t i = 0; i < s->files.count; i++)
        if (text_equal_nocase(s->files.items[i], path))
            return true;
    return false;
}

static HRESULT add_text(struct report_schema *s, const char *path, const char *text, size_t size, schema_loader *load,
                        unsigned depth)
{
    struct xml_document document;
    if (is_known(s, path))
        return S_OK; /* a second import of the file, or a circular import */
    if (s->files.count >= SCHEMA_MOST_FILES)
        return error_set(SCHEMA_INVALID, "%s: more than %d files are imported", path, SCHEMA_MOST_FILES);
    HRESULT hr = texts_add(&s->files, path);
    if (SUCCEEDED(hr))
        hr = xml_document_open_any(text, size, &document);
    if (FAILED(hr))
        return error_prefix(hr, "%s", path);
    struct schema_reading r = {.s = s, .document = &document, .file = s->files.items[s->files.count - 1]};
    hr = read_document(&r, load, depth);
    xml_document_close(&document);
    return FAILED(hr) ? error_prefix(hr, "%s", path) : S_OK;
}

HRESULT report_schema_add(struct report_schema *s, const char *path, const char *text, size_t size, schema_loader *load)
{
    return add_text(s, path, text, size, load, 0);
}

HRESULT report_schema_add_file(struct report_schema *s, const char *name, schema_loader *load)
{
    struct schema_file file = {0};
    HRESULT hr = load(name, NULL, &file);
    if (FAILED(hr))
        return hr;
    hr = report_schema_add(s, file.path, file.text, file.size, load);
    schema_file_free(&file);
    return hr;
}

/* ---- order ---- */

static bool key_number(const char *key, uint64_t *out)
{
    return key && text_to_u64(key, out);
}

/* Compares keys. Numbers come first, then other texts, then missing keys. */
static int compare_keys(const char *a, const char *b)
{
    uint64_t x = 0, y = 0;
    const int sort_a = !a || !*a ? 2 : key_number(a, &x) ? 0 : 1, sort_b = !b || !*b ? 2 : key_number(b, &y) ? 0 : 1;
    if (sort_a != sort_b)
        return sort_a - sort_b;
    if (sort_a == 0)
        return x < y ? -1 : x > y;
    return sort_a == 1 ? strcmp(a, b) : 0;
}

HRESULT report_schema_want_slices(struct report_schema *s, const char *patterns)
{
    for (size_t n = 0; n < s->section_count; n++)
        for (size_t i = 0; i < s->sections[n].count; i++) {
            struct schema_table *t = &s->sections[n].tables[i];
            char *all = t->of_events         ? NULL
                        : t->counters.slices ? text_format("%s|%s", t->counters.slices, patterns)
                                             : text_copy(patterns);
            if (t->of_events)
                continue;
            if (!all || FAILED(texts_add_owned(&s->owned, all)))
                return E_OUTOFMEMORY;
            t->counters.slices = all;
            t->counters.added |= COUNTER_COLUMN_TREND;
        }
    return S_OK;
}

/* Insertion sort: tables with equal keys stay in the order of the files, and there are only a few. */
void report_schema_order(struct report_schema *s)
{
    for (size_t i = 1; i < s->section_count; i++) {
        const struct schema_section moved = s->sections[i];
        size_t k = i;
        for (; k > 0; k--) {
            const struct schema_section *before = &s->sections[k - 1];
            if (!moved.has_key || (before->has_key && before->key <= moved.key))
                break;
            s->sections[k] = *before;
        }
        s->sections[k] = moved;
    }
    for (size_t n = 0; n < s->section_count; n++) {
        struct schema_table *tables = s->sections[n].tables;
        for (size_t i = 1; i < s->sections[n].count; i++) {
            const struct schema_table moved = tables[i];
            size_t k = i;
            for (; k > 0 && compare_keys(tables[k - 1].key, moved.key) > 0; k--)
                tables[k] = tables[k - 1];
            tables[k] = moved;
        }
    }
}

void report_schema_free(struct report_schema *s)
{
    for (size_t i = 0; i < s->section_count; i++) {
        for (size_t k = 0; k < s->sections[i].count; k++)
            schema_table_free(&s->sections[i].tables[k]);
        memory_free(s->sections[i].tables);
    }
    memory_free(s->sections);
    memory_free(s->strings);
    texts_free(&s->files);
    texts_free(&s->errors);
    texts_free(&s->warnings);
    texts_free(&s->owned);
    *s = (struct report_schema){0};
}
