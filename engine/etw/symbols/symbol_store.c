/* SPDX-License-Identifier: MIT */
/* Finds the symbol files of a module. A PDB must have the identity that the trace or the image contains, and an image
   must have the time and size that the trace contains. The symbols of another build would result in wrong names. File
   names come from the trace, so names with a path are rejected. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/id_map.h"
#include "engine/etw/symbols.h"
#include "engine/etw/symbols/dwarf_functions.h"
#include "engine/etw/symbols/image_file.h"
#include "engine/etw/symbols/pdb_file.h"

#include <stdio.h>

enum { MOST_IMAGE = 128 << 20, MOST_BYTES = 192 << 20, MOST_WARNINGS = 20, KEY = 48 };

struct module_symbols {
    bool read;
    struct symbol_table table;
};
struct symbols {
    struct texts folders;
    struct id_map modules; /* index of a module + 1 -> struct module_symbols */
    size_t bytes;          /* bytes of all tables */
    struct symbols_count count;
};

static bool is_url(const char *text)
{
    return strstr(text, "://") != NULL || strncmp(text, "\\\\", 2) == 0;
}

static HRESULT add_folder(struct symbols *s, const char *text, size_t size)
{
    char *path = text_copy_n(text, size);
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && *path && !is_url(path))
        hr = folder_exists(path) ? texts_add(&s->folders, path)
                                 : error_set(E_INVALIDARG, "cannot read symbols: '%s': no such folder", path);
    memory_free(path);
    return hr;
}

/* Adds an element of a list. An element is either a folder or a sequence of words separated by '*'. The first word of a
   sequence names the type, and each further word is a folder or a URL; after `symsrv`, a DLL's name precedes them. */
static HRESULT add_element(struct symbols *s, const char *text, size_t size)
{
    const char *star = memchr(text, '*', size), *end = text + size;
    if (!star)
        return add_folder(s, text, size);
    const size_t word = (size_t)(star - text);
    const bool dll = word == 6 && strncmp(text, "symsrv", 6) == 0;
    HRESULT hr = S_OK;
    if (dll) /* the next word is the name of a DLL */
        star = memchr(star + 1, '*', (size_t)(end - star - 1));
    while (star && SUCCEEDED(hr)) {
        const char *next = memchr(star + 1, '*', (size_t)(end - star - 1));
        hr = add_folder(s, star + 1, (size_t)((next ? next : end) - star - 1));
        star = next;
    }
    return hr;
}

HRESULT symbols_open(const struct texts *paths, struct symbols **out)
{
    struct symbols *s = *out = memory_zero(1, sizeof *s);
    HRESULT hr = s ? S_OK : E_OUTOFMEMORY;
    if (s)
        s->modules.item_size = sizeof(struct module_symbols *);
    for (size_t i = 0; i < paths->count && SUCCEEDED(hr); i++)
        for (const char *at = paths->items[i]; at && SUCCEEDED(hr);) {
            const char *end = strchr(at, ';');
            hr = add_element(s, at, end ? (size_t)(end - at) : strlen(at));
            at = end ? end + 1 : NULL;
        }
    if (FAILED(hr)) {
        symbols_close(s);
        *out = NULL;
    }
    return hr;
}

/* ---- files ---- */

static bool is_plain_name(const char *name)
{
    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strpbrk(name, "\\/:*?\"<>|") &&
           !path_names_fault(name);
}

/* Returns the path of `name` in a folder, in a store under `key`, or in a two-level store. Returns NULL if memory runs
   out. */
static char *candidate(const char *folder, const char *name, const char *key, int layout)
{
    char *base = path_with_separator(folder), *path = NULL;
    if (base && layout == 0)
        path = text_format("%s%s", base, name);
    else if (base && layout == 1)
        path = text_format("%s%s/%s/%s", base, name, key, name);
    else if (base)
        path = text_format("%s%.2s/%s/%s/%s", base, name, name, key, name);
    memory_free(base);
    return path;
}

/* Opens the candidate files until `take` accepts one with S_OK. `take` returns S_FALSE for a wrong file. */
static HRESULT each_candidate(struct symbols *s, const char *name, const char *key,
                              HRESULT (*take)(void *context, const char *path), void *context)
{
    enum { LAYOUTS = 3 };
    char *lower = text_copy(name);
    HRESULT hr = lower ? S_FALSE : E_OUTOFMEMORY;
    for (char *c = lower; c && *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
    const int spellings = lower && strcmp(lower, name) != 0 ? 2 : 1; /* stores on Linux often have lower-case names */
    for (size_t i = 0; i < s->folders.count && hr == S_FALSE && is_plain_name(name); i++)
        for (int tried = 0; tried < LAYOUTS * spellings && hr == S_FALSE; tried++) {
            char *path = candidate(s->folders.items[i], tried % spellings ? lower : name, key, tried / spellings);
            hr = path ? S_FALSE : E_OUTOFMEMORY;
            if (path && file_exists(path))
                hr = take(context, path);
            memory_free(path);
        }
    memory_free(lower);
    return hr;
}

static void add_warning(struct symbols *s, const char *object, const char *why)
{
    char *text =
        s->count.warnings.count < MOST_WARNINGS ? text_format("cannot read symbols: '%s': %s", object, why) : NULL;
    if (text)
        (void)texts_add_owned(&s->count.warnings, text); /* ignore the result: a lost warning is not a failure */
}

/* ---- PDB files ---- */

struct wanted {
    struct symbols *symbols;
    struct symbol_table *table;
    const GUID *signature;
    uint32_t age;
    const struct code_module *module;
    struct image_facts facts; /* facts about the image that was found */
};

static HRESULT read_file(void *context, uint64_t offset, void *bytes, size_t size)
{
    size_t got;
    const HRESULT hr = file_read_at(context, offset, bytes, size, &got);
    return SUCCEEDED(hr) && got != size ? error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "the file is truncated")
                                        : hr;
}

static HRESULT take_pdb(void *context, const char *path)
{
    struct wanted *w = context;
    struct pdb_identity id = {0};
    struct file *file;
    struct pdb_source source = {.read = read_file};
    HRESULT hr = file_open(path, FILE_READ, &file);
    if (FAILED(hr))
        return S_FALSE;
    source.context = file;
    hr = file_size(file, &source.size);
    if (SUCCEEDED(hr))
        hr = pdb_read_identity(&source, &id);
    const bool other =
        SUCCEEDED(hr) && (!guid_equal(&id.signature, w->signature) || (id.age != w->age && id.file_age != w->age));
    if (other)
        add_warning(w->symbols, path, "the file belongs to a different build");
    if (SUCCEEDED(hr) && !other)
        hr = pdb_read_symbols(&source, w->table);
    file_close(file);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        add_warning(w->symbols, path, error_text(hr));
    return hr == E_OUTOFMEMORY ? hr : FAILED(hr) || other ? (w->table->count != 0 && !other ? S_OK : S_FALSE) : S_OK;
}

static HRESULT find_pdb(struct symbols *s, const char *name, const GUID *signature, uint32_t age,
                        struct symbol_table *table)
{
    char key[CODE_IDENTITY];
    struct wanted w = {.symbols = s, .table = table, .signature = signature, .age = age};
    const struct code_module m = {.signature = *signature, .age = age};
    code_module_identity(&m, key);
    return each_candidate(s, name, key, take_pdb, &w);
}

/* ---- images ---- */

/* Reads the function names of an ELF file from its symbol tables, and from DWARF if those tables only have exported
   functions. */
static HRESULT elf_functions(const uint8_t *bytes, size_t size, const struct image_facts *facts,
                             struct symbol_table *table)
{
    const HRESULT hr = image_read_symbols(bytes, size, table);
    return FAILED(hr) || facts->has_symbol_table ? hr : dwarf_read_functions(bytes, size, facts->base, table);
}

/* Reads a file of debug information, which must have the image's build id. */
static HRESULT take_debug_file(void *context, const char *path)
{
    struct wanted *w = context;
    struct image_facts facts;
    char *bytes = NULL;
    size_t size;
    HRESULT hr = file_load(path, MOST_IMAGE, &bytes, &size);
    if (SUCCEEDED(hr))
        hr = image_read_facts((const uint8_t *)bytes, size, &facts);
    const bool other = SUCCEEDED(hr) && strcmp(facts.build_id, w->facts.build_id) != 0;
    if (other)
        add_warning(w->symbols, path, "the file belongs to a different build");
    if (SUCCEEDED(hr) && !other) {
        facts.base = w->facts.base; /* the image's base: the debug file may lack the image's first page */
        hr = elf_functions((const uint8_t *)bytes, size, &facts, w->table);
    }
    memory_free(bytes);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        add_warning(w->symbols, path, error_text(hr));
    return hr == E_OUTOFMEMORY ? hr : FAILED(hr) || other ? S_FALSE : S_OK;
}

/* Searches each folder for the debug information that was split from a stripped image. For the build id abcdef, the
   file is .build-id/ab/cdef.debug, as in the folder /usr/lib/debug of Linux distributions, or
   _.debug/elf-buildid-sym-abcdef/_.debug, as in symbol stores. */
static HRESULT find_debug_file(struct wanted *w)
{
    struct symbols *s = w->symbols;
    const char *id = w->facts.build_id;
    HRESULT hr = S_FALSE;
    for (size_t i = 0; i < s->folders.count && hr == S_FALSE; i++)
        for (int layout = 0; layout < 2 && hr == S_FALSE; layout++) {
            char *base = path_with_separator(s->folders.items[i]), *path = NULL;
            if (base)
                path = layout == 0 ? text_format("%s.build-id/%.2s/%s.debug", base, id, id + 2)
                                   : text_format("%s_.debug/elf-buildid-sym-%s/_.debug", base, id);
            hr = path ? S_FALSE : E_OUTOFMEMORY;
            if (path && file_exists(path))
                hr = take_debug_file(w, path);
            memory_free(path);
            memory_free(base);
        }
    return hr;
}

static HRESULT take_image(void *context, const char *path)
{
    struct wanted *w = context;
    char *bytes = NULL;
    size_t size;
    HRESULT hr = file_load(path, MOST_IMAGE, &bytes, &size);
    if (SUCCEEDED(hr))
        hr = image_read_facts((const uint8_t *)bytes, size, &w->facts);
    const bool other =
        SUCCEEDED(hr) && ((w->module->time != 0 && w->facts.time != w->module->time) ||
                          (w->facts.size != 0 && w->module->size != 0 && w->facts.size != w->module->size));
    if (other)
        add_warning(w->symbols, path, "the file belongs to a different build");
    if (SUCCEEDED(hr) && !other)
        hr = w->facts.is_elf ? elf_functions((const uint8_t *)bytes, size, &w->facts, w->table)
                             : image_read_symbols((const uint8_t *)bytes, size, w->table);
    memory_free(bytes);
    if (SUCCEEDED(hr) && !other && *w->facts.build_id && !w->facts.has_symbol_table)
        hr = find_debug_file(w) == E_OUTOFMEMORY ? E_OUTOFMEMORY : S_OK;
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        add_warning(w->symbols, path, error_text(hr));
    return hr == E_OUTOFMEMORY ? hr : FAILED(hr) || other ? S_FALSE : S_OK;
}

/* Reads the image's own tables. If the trace does not name a PDB, the PDB that the image names is preferred. */
static HRESULT find_image(struct symbols *s, const struct code_module *m, struct symbol_table *table)
{
    char key[KEY];
    struct wanted w = {.symbols = s, .table = table, .module = m};
    snprintf(key, sizeof key, "%08X%x", (unsigned)m->time, (unsigned)m->size);
    HRESULT hr = each_candidate(s, m->name, key, take_image, &w);
    if (hr == S_OK && !m->has_symbols && w.facts.has_symbols) {
        struct symbol_table better = {0};
        hr = find_pdb(s, w.facts.symbols, &w.facts.signature, w.facts.age, &better);
        if (hr == S_OK) {
            symbol_table_free(table);
            *table = better;
        } else {
            symbol_table_free(&better);
        }
    }
    return hr;
}

/* ---- modules ---- */

static HRESULT module_read(struct symbols *s, const struct code_module *m, struct symbol_table *table)
{
    HRESULT hr = S_FALSE;
    if (s->bytes > MOST_BYTES)
        return S_FALSE;
    if (m->has_symbols)
        hr = find_pdb(s, m->symbols, &m->signature, m->age, table);
    if (hr == S_FALSE)
        hr = find_image(s, m, table);
    symbol_table_sort(table);
    s->bytes += symbol_table_bytes(table);
    s->count.asked++;
    s->count.found += table->count != 0;
    if (table->count == 0) {
        char key[CODE_IDENTITY] = "", why[KEY + CODE_IDENTITY];
        if (m->has_symbols)
            code_module_identity(m, key);
        snprintf(why, sizeof why, "not found%s%s", *key ? ", identity " : "", key);
        add_warning(s, m->has_symbols ? m->symbols : m->name, why);
    }
    return hr;
}

bool symbols_find(struct symbols *s, const struct code_module *m, uint64_t offset, const char **name, uint64_t *from)
{
    struct module_symbols **slot = id_map_put(&s->modules, (uint64_t)m->index + 1);
    if (slot && !*slot)
        *slot = memory_zero(1, sizeof **slot);
    if (!slot || !*slot)
        return false; /* the result lacks a name, which is not a failure */
    struct module_symbols *of = *slot;
    if (!of->read) {
        of->read = true;
        (void)module_read(s, m, &of->table);
    }
    return symbol_table_find(&of->table, offset, name, from);
}

const struct symbols_count *symbols_count(const struct symbols *s)
{
    return &s->count;
}

void symbols_close(struct symbols *s)
{
    if (!s)
        return;
    size_t at = 0;
    for (struct module_symbols **m; (m = id_map_next(&s->modules, &at, NULL));) {
        if (*m)
            symbol_table_free(&(*m)->table);
        memory_free(*m);
    }
    id_map_free(&s->modules);
    texts_free(&s->folders);
    texts_free(&s->count.warnings);
    memory_free(s);
}
