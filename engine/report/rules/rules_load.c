/* SPDX-License-Identifier: MIT */
/* Rules put together: files, imports, groups. */
#include "engine/base/memory.h"
#include "engine/report/rules/rules_parts.h"

#include <string.h>

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
        texts_free(&r->errors);
        texts_free(&r->remarks);
    }
    memory_free(r);
}

const struct texts *rules_errors(const struct rules *r)
{
    return &r->errors;
}

const struct texts *rules_remarks(const struct rules *r)
{
    return &r->remarks;
}

const char *rules_log_name(const struct rules *r)
{
    return r->log_name ? r->log_name : RULES_LOG_NAME;
}

/* A fault is noted, and is the element's alone. */
static HRESULT note_fault(struct rules *r, const char *file, HRESULT hr)
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
        return S_OK; /* that of the file that imports */
    r->has_logging = true;
    if (level && text_to_u64(level, &number))
        r->log_level = (uint32_t)number;
    r->log_name = name ? text_copy(name) : NULL;
    return name && !r->log_name ? E_OUTOFMEMORY : S_OK;
}

/* What is missing costs what it would have brought, unless it is fatal. */
static HRESULT import(struct rules *r, size_t importer, xmlNodePtr e, unsigned depth)
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
        return rules_wrong(e, NULL, NULL, "there are more than %d groups", RULES_GROUPS_MAX);
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
        return parts[i].type == RULES_StringTable ? S_OK : import(r, file, e, depth);
    }
    return S_OK; /* passed over, as the grammar has said */
}

static HRESULT read_document(struct rules *r, size_t at, unsigned depth)
{
    const struct rules_place place = {.file = r->files[at].path};
    xmlNodePtr root = r->files[at].document.root;
    HRESULT hr = xml_document_check_root(&r->files[at].document, "Rules");
    if (SUCCEEDED(hr))
        hr = rules_check(r, &r->files[at].document, &place, root, RULES_Rules);
    for (xmlNodePtr e = rules_child(root, NULL); e && SUCCEEDED(hr); e = rules_next(e, NULL))
        hr = note_fault(r, place.file, read_part(r, at, e, depth));
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
        return S_OK; /* a second import of it, or a circle */
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
