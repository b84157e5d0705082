/* SPDX-License-Identifier: MIT */
/* The files of the reference, and their sources. */
#include "docs/generate/reference.h"

#include "docs/generate/counters_page.h"
#include "docs/generate/rules_page.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_LIMIT (1u << 20) /* maximum size of a source file in bytes */

/* ---- interfaces and their rows ---- */

static const struct class *const classes[] = {
#define CLASS(model, I, base) &model##_class,
#include "engine/pla/classes.def"
#undef CLASS
};

/* The rows that every collector begins with. */
enum {
#define PROPERTY(access, kind, Name, ...) SHARED_##Name,
#include "engine/pla/data_collector.def"
#undef PROPERTY
    SHARED_COUNT
};

/* IDataCollector has no objects: its rows are those that all collectors begin with. */
static bool is_shared(const struct idl_interface *i)
{
    return !strcmp(i->name, "IDataCollector");
}

const struct class *interface_class(const char *name)
{
    if (!strcmp(name, "IDataCollector"))
        return &performance_counter_collector_class;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (name[0] == 'I' && !strcmp(classes[i]->name, name + 1))
            return classes[i];
    return NULL;
}

bool interface_owns_row(const struct idl_interface *i, const struct property *p)
{
    const struct class *class = interface_class(i->name);
    size_t row = (size_t)(p - class->properties);
    if (is_shared(i))
        return row < SHARED_COUNT;
    return strcmp(i->base, "IDataCollector") != 0 || row >= SHARED_COUNT;
}

const struct property *interface_row(const struct idl_interface *i, const char *name)
{
    const struct class *class = interface_class(i->name);
    const struct property *p = class ? class_property(class, name) : NULL;
    return p && interface_owns_row(i, p) ? p : NULL;
}

enum member_mark member_mark(const struct idl_interface *i, const struct idl_member *m)
{
    if (m->reserved)
        return MARK_RESERVED;
    if (m->call == IDL_METHOD)
        return MARK_METHOD;
    const struct property *p = interface_row(i, m->name);
    return p && p->access != ACCESS_NONE ? MARK_ROW : MARK_CODE;
}

/* Checks that every row has exactly the members that its access requires. */
static HRESULT check_rows(const struct idl_interface *i)
{
    const struct class *class = interface_class(i->name);
    if (!class)
        return error_set(E_UNEXPECTED, "%s: no class has its rows", i->name);
    for (size_t k = 0; k < class->property_count; k++) {
        const struct property *p = &class->properties[k];
        if (!interface_owns_row(i, p) || p->access == ACCESS_NONE)
            continue;
        if (!idl_member(i, p->name, IDL_GET))
            return error_set(E_UNEXPECTED, "%s: the IDL has no get of the row %s", i->name, p->name);
        if ((p->access == ACCESS_RW) != (idl_member(i, p->name, IDL_PUT) != NULL))
            return error_set(E_UNEXPECTED, "%s: row and IDL differ in whether %s can be put", i->name, p->name);
        if (!p->doc || !p->doc[0])
            return error_set(E_UNEXPECTED, "%s: the row %s says nothing of what it is", i->name, p->name);
    }
    return S_OK;
}

/* ---- codes ---- */

const char *code_name(const struct codes *codes, HRESULT hr)
{
    for (size_t i = 0; i < codes->count; i++)
        if (codes->items[i].hr == hr)
            return codes->items[i].name;
    return NULL;
}

/* The lines `#define NAME ((HRESULT)number)`. */
static HRESULT read_codes(const char *text, struct codes *out)
{
    static const char define[] = "#define ", cast[] = "((HRESULT)";
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, define, sizeof define - 1) != 0)
            continue;
        const char *name = line + sizeof define - 1;
        size_t n = strcspn(name, " (");
        const char *value = name + n + strspn(name + n, " ");
        if (strncmp(value, cast, sizeof cast - 1) != 0)
            continue;
        if (!memory_grow((void **)&out->items, &out->capacity, out->count + 1, sizeof out->items[0]))
            return E_OUTOFMEMORY;
        struct code *c = &out->items[out->count];
        c->hr = (HRESULT)strtoul(value + sizeof cast - 1, NULL, 0);
        c->name = text_copy_n(name, n);
        if (!c->name)
            return E_OUTOFMEMORY;
        out->count++;
    }
    return out->count ? S_OK : error_set(E_UNEXPECTED, "wintypes.h: no HRESULT was found");
}

/* ---- files ---- */

/* Takes over the buffer's contents. */
static HRESULT add_file(struct reference *r, const char *name, struct text_buffer *b)
{
    char *text = text_buffer_take(b), *copy = text_copy(name);
    if (!text || !copy || !memory_grow((void **)&r->files, &r->capacity, r->count + 1, sizeof r->files[0])) {
        memory_free(text);
        memory_free(copy);
        return E_OUTOFMEMORY;
    }
    r->files[r->count++] = (struct reference_file){copy, text};
    return S_OK;
}

static HRESULT reference_load(const char *tree, const char *name, char **text)
{
    char *path = path_join(tree, name);
    size_t size;
    HRESULT hr = path ? file_load(path, SOURCE_LIMIT, text, &size) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static HRESULT read_sources(const char *tree, struct sources *out)
{
    char *idl = NULL, *wintypes = NULL;
    HRESULT hr = reference_load(tree, "idl/pla.idl", &idl);
    if (SUCCEEDED(hr))
        hr = reference_load(tree, "engine/base/wintypes.h", &wintypes);
    if (SUCCEEDED(hr))
        hr = idl_read(idl, &out->idl);
    if (SUCCEEDED(hr))
        hr = read_codes(wintypes, &out->codes);
    for (size_t i = 0; SUCCEEDED(hr) && i < out->idl.count; i++)
        hr = check_rows(&out->idl.interfaces[i]);
    memory_free(idl);
    memory_free(wintypes);
    return hr;
}

static HRESULT add_object_page(const struct sources *s, const struct idl_interface *i, struct reference *r)
{
    struct text_buffer b = {0};
    char *name = text_format("%s.md", i->name);
    HRESULT hr = name ? object_page(s, i, &b) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = add_file(r, name, &b);
    text_buffer_free(&b);
    memory_free(name);
    return hr;
}

static HRESULT make_files(const struct sources *s, struct reference *r)
{
    struct text_buffer b = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->idl.count; i++)
        hr = add_object_page(s, &s->idl.interfaces[i], r);
    if (FAILED(hr))
        return hr;
    index_page(s, &b);
    hr = add_file(r, "README.md", &b);
    if (FAILED(hr))
        return hr;
    errors_page(s, &b);
    hr = add_file(r, "errors.md", &b);
    if (FAILED(hr))
        return hr;
    enumerations_page(&b);
    hr = add_file(r, "enumerations.md", &b);
    if (FAILED(hr))
        return hr;
    settings_page(&b);
    hr = add_file(r, "settings.md", &b);
    if (SUCCEEDED(hr))
        hr = counters_page(REFERENCE_ORIGIN, &b);
    if (SUCCEEDED(hr))
        hr = add_file(r, "counters.md", &b);
    if (SUCCEEDED(hr))
        hr = rules_page(&b);
    if (SUCCEEDED(hr))
        hr = add_file(r, "rules.md", &b);
    text_buffer_free(&b);
    return hr;
}

HRESULT reference_make(const char *tree, struct reference *out)
{
    struct sources s = {0};
    memset(out, 0, sizeof *out);
    HRESULT hr = read_sources(tree, &s);
    if (SUCCEEDED(hr))
        hr = make_files(&s, out);
    for (size_t i = 0; i < s.codes.count; i++)
        memory_free(s.codes.items[i].name);
    memory_free(s.codes.items);
    idl_free(&s.idl);
    return hr;
}

void reference_free(struct reference *r)
{
    for (size_t i = 0; i < r->count; i++) {
        memory_free(r->files[i].name);
        memory_free(r->files[i].text);
    }
    memory_free(r->files);
    memset(r, 0, sizeof *r);
}
