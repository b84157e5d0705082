/* SPDX-License-Identifier: MIT */
/* Loads rules: files, imports and groups. All of them are checked against the grammar before any rule runs. Therefore
   mistakes in branches that are rarely used are also reported. */
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/report/rules.h"
#include "engine/report/rules/rules_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <libxml/tree.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct xml_within withins[] = {
#define WITHIN(Type, element, child, least, most, doc) {RULES_##Type, #element, RULES_##child, least, most, doc},
#include "engine/report/rules_grammar.def"
};
static const struct xml_value values[] = {
#define VALUE(Type, attribute, check, use, doc) {RULES_##Type, #attribute, RULES_VALUE_##check, XML_##use, doc},
#include "engine/report/rules_grammar.def"
};
static const struct {
    enum rules_sort sort;
    const char *text;
} words[] = {
#define WORD(check, text) {RULES_VALUE_##check, text},
#include "engine/report/rules_grammar.def"
};

int rules_word(enum rules_sort sort, const char *text)
{
    int at = 0;
    for (size_t i = 0; text && i < COUNT(words); i++) {
        if (words[i].sort != sort)
            continue;
        if (text_equal_nocase(words[i].text, text))
            return at;
        at++;
    }
    return -1;
}

static const char *value_fault(unsigned sort, const char *text)
{
    uint64_t number;
    switch (sort) {
    case RULES_VALUE_TEXT_ANY:
        return NULL;
    case RULES_VALUE_TEXT_SOME:
        return *text ? NULL : "missing";
    case RULES_VALUE_NUMBER:
        return text_to_u64(text, &number) && number <= UINT32_MAX ? NULL : "expected a number from 0 to 4294967295";
    case RULES_VALUE_BOOL:
        return text_equal_nocase(text, "true") || text_equal_nocase(text, "false") ? NULL : "expected true or false";
    case RULES_VALUE_NAME:
        return rules_name_length(text) && !text[rules_name_length(text)]
                   ? NULL
                   : "expected a name of letters, digits, '-', '_' and '.'";
    case RULES_VALUE_REAL:
        return rules_is_real(text) ? NULL : "expected a number";
    case RULES_VALUE_COUNTER:
        return *text == '\\' ? NULL : "expected a counter path that begins with \\";
    case RULES_VALUE_XPATH:
        return *text ? NULL : "expected an XPath expression";
    default:
        return rules_word((enum rules_sort)sort, text) >= 0 ? NULL : "unknown word";
    }
}

/* Accepts any namespace, because none is specified for rules. */
static bool is_ours(xmlNodePtr node)
{
    return node->type == XML_ELEMENT_NODE;
}

const struct xml_grammar rules_grammar = {
    .withins = withins,
    .within_count = COUNT(withins),
    .values = values,
    .value_count = COUNT(values),
    .fault = value_fault,
    .is_ours = is_ours,
};

/* ---- checking ---- */

enum { MOST_NOTES = 200 };

/* ---- places and texts ---- */

void rules_place_add(const struct rules_place *place, struct text_buffer *to)
{
    if (place->file)
        text_buffer_format(to, "%s: ", place->file);
    if (place->group)
        text_buffer_format(to, "group '%.100s': ", place->group);
    if (place->rule)
        text_buffer_format(to, "rule '%.100s': ", place->rule);
    if (place->step)
        text_buffer_format(to, "step %u: ", place->step);
}

HRESULT rules_note(struct texts *to, const struct rules_place *place, const char *text)
{
    struct text_buffer b = {0};
    if (to->count >= MOST_NOTES)
        return S_OK;
    rules_place_add(place, &b);
    text_buffer_add(&b, text);
    char *taken = text_buffer_take(&b);
    return taken ? texts_add_owned(to, taken) : E_OUTOFMEMORY;
}

HRESULT rules_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    HRESULT hr = xml_invalid(RULES_INVALID, element, attribute, value, format, list);
    va_end(list);
    return hr;
}

/* ---- elements ---- */

/* A document without a document type has no entities; therefore an attribute has a single text node. */
const char *rules_attribute(xmlNodePtr e, const char *name)
{
    for (const xmlAttr *a = e->properties; a; a = a->next)
        if (!a->ns && !strcmp((const char *)a->name, name))
            return a->children && a->children->content ? (const char *)a->children->content : "";
    return NULL;
}

bool rules_flag(xmlNodePtr e, const char *name, bool usual)
{
    const char *text = rules_attribute(e, name);
    return text ? text_equal_nocase(text, "true") : usual;
}

xmlNodePtr rules_child(xmlNodePtr e, const char *name)
{
    return xml_grammar_element(&rules_grammar, e->children, name);
}

xmlNodePtr rules_next(xmlNodePtr e, const char *name)
{
    return xml_grammar_element(&rules_grammar, e->next, name);
}

/* libxml2 reserves the member _private for programs that use libxml2. */
static char bad_mark;

bool rules_is_bad(xmlNodePtr e)
{
    return e->_private == &bad_mark;
}

/* ---- the grammar ---- */

struct checking {
    struct rules *r;
    const struct xml_document *document;
    struct rules_place place;
    xmlNodePtr bears; /* the step, rule or group that an error disables */
};

static HRESULT checking_add_note(void *context, xmlNodePtr node, const char *what)
{
    const struct checking *c = context;
    char *text = text_format("line %ld: %.60s: %s", xmlGetLineNo(node), (const char *)node->name, what);
    HRESULT hr = text ? rules_note(&c->r->notes, &c->place, text) : E_OUTOFMEMORY;
    memory_free(text);
    return hr;
}

static HRESULT note_fault(struct checking *c, HRESULT hr)
{
    if (hr != RULES_INVALID)
        return hr;
    const struct error_kept why = error_keep(hr);
    c->bears->_private = &bad_mark;
    return rules_note(&c->r->errors, &c->place, why.text);
}

/* Checks the attributes of an element and the names of its child elements, but not the child elements themselves. */
static HRESULT check_one(struct checking *c, xmlNodePtr e, enum rules_type type)
{
    const struct xml_checking checking = {&rules_grammar, c->document, RULES_INVALID, checking_add_note, c};
    return note_fault(c, xml_grammar_check(&checking, e, type));
}

/* Checks a group and its content against the grammar. Notes each error and marks the step, rule or group that contains
   it (rules_is_bad). */
static HRESULT rules_check(struct rules *r, const struct xml_document *document, const struct rules_place *place,
                           xmlNodePtr e, enum rules_type type)
{
    struct checking c = {r, document, *place, e};
    return check_one(&c, e, type);
}

static HRESULT check_expressions(struct checking *c, xmlNodePtr e, enum rules_type type)
{
    HRESULT hr = S_OK;
    /* The XPath of a Node is applied to another document, but it is checked like any other XPath. */
    for (const xmlAttr *a = e->properties; a && SUCCEEDED(hr); a = a->next) {
        const struct xml_value *row = a->ns ? NULL : xml_grammar_value(&rules_grammar, type, (const char *)a->name);
        const char *text = row && row->sort == RULES_VALUE_XPATH ? rules_attribute(e, row->name) : NULL;
        if (!text || !*text)
            continue;
        hr = rules_expression_check(text);
        if (FAILED(hr) && hr != E_OUTOFMEMORY) {
            const struct error_kept why = error_keep(hr);
            hr = note_fault(c, rules_wrong(e, row->name, text, "%s", why.text));
        }
    }
    return hr;
}

/* Notes valid attributes that are usually mistakes. */
static HRESULT check_meaning(struct checking *c, xmlNodePtr e, enum rules_type type)
{
    const char *choice = rules_attribute(e, "sortType"), *table = rules_attribute(e, "table");
    if (type == RULES_Step && choice && (text_equal_nocase(choice, "min") || text_equal_nocase(choice, "max")) &&
        !rules_attribute(e, "sortDataType"))
        return checking_add_note(
            c, e, "without sortDataType=\"number\", values are compared as strings: 9.5 is greater than 10");
    if (type == RULES_Warning && table && *table && *table != '/' && *table != '\\' && *table != '(')
        return checking_add_note(c, e,
                                 "its table is searched below the step's node (to search the report, begin with /)");
    if (type == RULES_Threshold && !rules_is_bad(e))
        return note_fault(c, rules_threshold_check(e));
    if (type == RULES_When && !rules_attribute(e, "expression"))
        return rules_attribute(e, "matchRE")
                   ? checking_add_note(c, e, "matchRE is not supported: the condition is never true")
                   : note_fault(c, rules_wrong(e, "expression", NULL, "missing"));
    return S_OK;
}

static HRESULT check_symptom(struct checking *c, xmlNodePtr warning)
{
    const char *tag = rules_attribute(warning, "tag");
    for (xmlNodePtr item = rules_child(warning, "Item"); tag && item; item = rules_next(item, "Item"))
        for (xmlNodePtr data = rules_child(item, "Data"); data; data = rules_next(data, "Data")) {
            const char *link = rules_attribute(data, "link");
            if (link && strcmp(link, tag) != 0)
                return checking_add_note(c, data, "its link differs from the Warning's tag");
        }
    return S_OK;
}

static HRESULT check_deep(struct checking *c, xmlNodePtr e, enum rules_type type)
{
    if (type == RULES_Anything)
        return S_OK;
    if (type == RULES_Step || type == RULES_Rule || type == RULES_Threshold)
        c->bears = e;
    HRESULT hr = check_one(c, e, type);
    if (SUCCEEDED(hr))
        hr = check_expressions(c, e, type);
    if (SUCCEEDED(hr))
        hr = check_meaning(c, e, type);
    if (SUCCEEDED(hr) && type == RULES_Warning)
        hr = check_symptom(c, e);
    if (type == RULES_Rule)
        c->place.rule = rules_attribute(e, "name");
    if (type == RULES_Rule)
        c->place.step = 0;
    for (xmlNodePtr child = rules_child(e, NULL); child && SUCCEEDED(hr) && type != RULES_Node;
         child = rules_next(child, NULL)) {
        const struct xml_within *row = xml_grammar_within(&rules_grammar, type, (const char *)child->name);
        if (!row)
            continue;
        c->place.step += row->type == RULES_Step;
        hr = check_deep(c, child, (enum rules_type)row->type);
    }
    return hr;
}

/* Checks a group and its content against the grammar. Notes each error and marks the step, rule or group that contains
   it (rules_is_bad). */
static HRESULT rules_check_group(struct rules *r, const struct rules_file *file, xmlNodePtr group)
{
    struct checking c = {.r = r, .document = &file->document, .bears = group};
    c.place = (struct rules_place){.file = file->path, .group = rules_attribute(group, "name")};
    return check_deep(&c, group, RULES_Group);
}

/* Works like schema_file_load, but loads rules. Windows' own rules are %systemroot%\pla\rules\Rules.System.CPU.xml and
   similar files. */
static HRESULT rules_file_load(const char *name, const char *importer, struct schema_file *out)
{
    static const struct shipped_files rules = {"rules file", "pla/rules", shipped_rules};
    return shipped_file_load(&rules, name, importer, out);
}

/* ---- files, imports and groups ---- */

static HRESULT add_text(struct rules *r, const char *path, const char *text, size_t size, bool is_file, unsigned depth);

struct rules *rules_create(void)
{
    return memory_zero(1, sizeof(struct rules));
}

void rules_free(struct rules *r)
{
    for (size_t i = 0; r && i < r->file_count; i++) {
        xml_document_close(&r->files[i].document);
        memory_free(r->files[i].path);
    }
    if (r) {
        memory_free(r->files);
        memory_free(r->groups);
        memory_free(r->log_name);
        text_buffer_free(&r->slices);
        texts_free(&r->errors);
        texts_free(&r->notes);
    }
    memory_free(r);
}

const struct texts *rules_errors(const struct rules *r)
{
    return &r->errors;
}

const struct texts *rules_notes(const struct rules *r)
{
    return &r->notes;
}

const char *rules_log_name(const struct rules *r)
{
    return r->log_name ? r->log_name : RULES_LOG_NAME;
}

/* Notes an error, which affects only the element. */
static HRESULT file_note_fault(struct rules *r, const char *file, HRESULT hr)
{
    if (hr != RULES_INVALID)
        return hr;
    const struct error_kept why = error_keep(hr);
    return rules_note(&r->errors, &(struct rules_place){.file = file}, why.text);
}

static HRESULT read_logging(struct rules *r, xmlNodePtr e)
{
    const char *level = rules_attribute(e, "level"), *name = rules_attribute(e, "file");
    uint64_t number = 0;
    if (r->has_logging)
        return S_OK; /* the value in the importing file takes precedence */
    r->has_logging = true;
    if (level && text_to_u64(level, &number))
        r->log_level = (uint32_t)number;
    r->log_name = name ? text_copy(name) : NULL;
    return name && !r->log_name ? E_OUTOFMEMORY : S_OK;
}

/* Imports a file. If the file cannot be loaded, the other groups are still loaded, unless the attribute `fatal` is
   set. */
static HRESULT rules_import_file(struct rules *r, size_t importer, xmlNodePtr e, unsigned depth)
{
    const bool older = !strcmp((const char *)e->name, "Include");
    const char *attribute = older ? "name" : "file", *name = rules_attribute(e, attribute);
    struct schema_file file = {0};
    if (depth + 1 >= RULES_DEEPEST)
        return rules_wrong(e, attribute, name, "imports are nested deeper than %d", RULES_DEEPEST);
    const struct rules_file *from = &r->files[importer];
    HRESULT hr = rules_file_load(name ? name : "", from->is_file ? from->path : "", &file);
    if (SUCCEEDED(hr))
        hr = add_text(r, file.path, file.text, file.size, !file.shipped, depth + 1);
    schema_file_free(&file);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    const struct error_kept why = error_keep(hr);
    if (rules_flag(e, "fatal", false))
        return error_set(PLA_E_RULES_MANAGER_FAILED, "line %ld: %s", xmlGetLineNo(e), why.text);
    return rules_wrong(e, attribute, name, "%s", why.text);
}

static HRESULT add_group(struct rules *r, size_t file, xmlNodePtr e)
{
    void *items = r->groups;
    if (r->group_count >= RULES_GROUPS_MAX)
        return rules_wrong(e, NULL, NULL, "more than %d groups", RULES_GROUPS_MAX);
    if (!memory_grow(&items, &r->group_capacity, r->group_count + 1, sizeof *r->groups))
        return E_OUTOFMEMORY;
    r->groups = items;
    r->groups[r->group_count++] = (struct rules_group){file, e};
    return rules_check_group(r, &r->files[file], e);
}

static HRESULT read_part(struct rules *r, size_t file, xmlNodePtr e, unsigned depth)
{
    static const struct {
        const char *element;
        enum rules_type type;
    } parts[] = {{"Logging", RULES_Logging},
                 {"Import", RULES_Import},
                 {"Include", RULES_Include},
                 {"StringTable", RULES_StringTable}};
    if (!strcmp((const char *)e->name, "Group"))
        return add_group(r, file, e);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp((const char *)e->name, parts[i].element) != 0)
            continue;
        const char *path = r->files[file].path;
        HRESULT hr = rules_check(r, &r->files[file].document, &(struct rules_place){.file = path}, e, parts[i].type);
        if (hr != S_OK || rules_is_bad(e))
            return hr;
        if (parts[i].type == RULES_Logging)
            return read_logging(r, e);
        return parts[i].type == RULES_StringTable ? S_OK : rules_import_file(r, file, e, depth);
    }
    return S_OK; /* unknown element; the grammar has already reported it */
}

static HRESULT read_document(struct rules *r, size_t at, unsigned depth)
{
    const struct rules_place place = {.file = r->files[at].path};
    xmlNodePtr root = r->files[at].document.root;
    HRESULT hr = xml_document_check_root(&r->files[at].document, "Rules");
    if (SUCCEEDED(hr))
        hr = rules_check(r, &r->files[at].document, &place, root, RULES_Rules);
    if (SUCCEEDED(hr) && rules_attribute(root, "slices")) {
        text_buffer_add(&r->slices, r->slices.length ? "|" : "");
        text_buffer_add(&r->slices, rules_attribute(root, "slices"));
        hr = r->slices.failed ? E_OUTOFMEMORY : S_OK;
    }
    for (xmlNodePtr e = rules_child(root, NULL); e && SUCCEEDED(hr); e = rules_next(e, NULL))
        hr = file_note_fault(r, place.file, read_part(r, at, e, depth));
    return hr;
}

static bool is_known(const struct rules *r, const char *path)
{
    for (size_t i = 0; i < r->file_count; i++)
        if (text_equal_nocase(r->files[i].path, path))
            return true;
    return false;
}

static HRESULT add_text(struct rules *r, const char *path, const char *text, size_t size, bool is_file, unsigned depth)
{
    void *items = r->files;
    struct rules_file file = {.is_file = is_file};
    if (is_known(r, path))
        return S_OK; /* a second import of the file, or a circular import */
    if (r->file_count >= RULES_FILES_MAX)
        return error_set(RULES_INVALID, "%s: more than %d files are imported", path, RULES_FILES_MAX);
    if (!memory_grow(&items, &r->file_capacity, r->file_count + 1, sizeof *r->files))
        return E_OUTOFMEMORY;
    r->files = items;
    file.path = text_copy(path);
    HRESULT hr = file.path ? xml_document_open_any(text, size, &file.document) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(file.path);
        return error_prefix(hr, "%s", path);
    }
    const size_t at = r->file_count++;
    r->files[at] = file;
    hr = read_document(r, at, depth);
    return FAILED(hr) && hr != E_OUTOFMEMORY ? error_prefix(hr, "%s", path) : hr;
}

HRESULT rules_add(struct rules *r, const char *path, const char *text, size_t size)
{
    return add_text(r, path, text, size, strpbrk(path, "/\\"), 0);
}

HRESULT rules_add_file(struct rules *r, const char *name)
{
    struct schema_file file = {0};
    HRESULT hr = rules_file_load(name, NULL, &file);
    if (SUCCEEDED(hr))
        hr = add_text(r, file.path, file.text, file.size, !file.shipped, 0);
    schema_file_free(&file);
    return hr;
}
