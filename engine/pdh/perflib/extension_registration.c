/* SPDX-License-Identifier: MIT */
/* Registers extension DLLs: writes the numbers and strings of their counters to the registry. */
#include "engine/pdh/extension_registration.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pdh/perflib/counterset_registration.h"

#include <string.h>

#define PERFLIB_KEY "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"
#define LOCK_MS     10000
#define DISABLED    "Disable Performance Counters"

static const char *const numbers[] = {"First Counter", "Last Counter", "First Help", "Last Help"};

static char *performance_key(const char *service)
{
    return text_format(SERVICES_KEY "\\%s\\Performance", service);
}

static HRESULT open_performance(const char *service, bool to_change, struct registry_key **out)
{
    char *path = performance_key(service);
    HRESULT hr = path ? registry_open(path, to_change, out) : E_OUTOFMEMORY;
    memory_free(path);
    if (hr == S_FALSE)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                         "service '%.200s' has no registry key " SERVICES_KEY "\\%.200s\\Performance", service,
                         service);
    return hr;
}

/* Reads a number. *out is 0 if the value does not exist or is invalid. */
static HRESULT read_number(struct registry_key *key, const char *name, uint32_t *out)
{
    uint64_t number;
    HRESULT hr = registry_read_number(key, name, &number);
    *out = number <= UINT32_MAX ? (uint32_t)number : 0;
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static HRESULT read_text(struct registry_key *key, const char *name, char **out)
{
    HRESULT hr = registry_read_text(key, name, out);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* ---- reading ---- */

static HRESULT read_extension(struct registry_key *key, struct registered_extension *e)
{
    uint32_t disabled = 0;
    HRESULT hr = read_text(key, "Library", &e->library);
    if (SUCCEEDED(hr))
        hr = read_text(key, "Open", &e->open);
    if (SUCCEEDED(hr))
        hr = read_text(key, "Collect", &e->collect);
    if (SUCCEEDED(hr))
        hr = read_text(key, "Close", &e->close);
    uint32_t *const to[] = {&e->first_counter, &e->last_counter, &e->first_help, &e->last_help};
    for (size_t i = 0; SUCCEEDED(hr) && i < 4; i++)
        hr = read_number(key, numbers[i], to[i]);
    if (SUCCEEDED(hr))
        hr = read_number(key, DISABLED, &disabled);
    e->is_disabled = disabled != 0;
    return hr;
}

static HRESULT add_extension(const char *service, struct registered_extensions *out)
{
    struct registry_key *key = NULL;
    void *items = out->items;
    HRESULT hr = open_performance(service, false, &key);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return S_FALSE;
    const bool room = SUCCEEDED(hr) && memory_grow(&items, &out->capacity, out->count + 1, sizeof *out->items);
    out->items = items;
    if (room) {
        struct registered_extension *e = &out->items[out->count++];
        *e = (struct registered_extension){.service = text_copy(service)};
        hr = e->service ? read_extension(key, e) : E_OUTOFMEMORY;
    } else if (SUCCEEDED(hr)) {
        hr = E_OUTOFMEMORY;
    }
    registry_close(key);
    return hr;
}

static HRESULT add_all(struct registered_extensions *out)
{
    struct registry_key *key;
    struct texts names = {0};
    HRESULT hr = registry_open(SERVICES_KEY, false, &key);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    hr = registry_list(key, &names);
    registry_close(key);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++)
        hr = add_extension(names.items[i], out);
    texts_free(&names);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT read_last(struct registered_extensions *out)
{
    struct registry_key *key;
    HRESULT hr = registry_open(PERFLIB_KEY, false, &key);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    hr = read_number(key, "Last Counter", &out->last_counter);
    if (SUCCEEDED(hr))
        hr = read_number(key, "Last Help", &out->last_help);
    registry_close(key);
    return hr;
}

HRESULT registered_extensions_read(const char *service, struct registered_extensions *out)
{
    *out = (struct registered_extensions){0};
    HRESULT hr = read_last(out);
    if (SUCCEEDED(hr))
        hr = service ? add_extension(service, out) : add_all(out);
    if (hr == S_FALSE)
        hr = HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND); /* the error message is still that of open_performance */
    if (FAILED(hr))
        registered_extensions_free(out);
    return hr;
}

void registered_extensions_free(struct registered_extensions *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct registered_extension *e = &list->items[i];
        memory_free(e->service);
        memory_free(e->library);
        memory_free(e->open);
        memory_free(e->collect);
        memory_free(e->close);
    }
    memory_free(list->items);
    *list = (struct registered_extensions){0};
}

/* ---- writing ---- */

/* Prevents concurrent registrations, because two of them would get the same numbers. */
static HRESULT lock_registration(struct file_lock **out)
{
    char *folder = os_data_folder(), *path = folder ? path_join(folder, "perflib.lock") : NULL;
    HRESULT hr = path ? folder_create_protected(folder, PROTECTION_DATA) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_lock_take(path, LOCK_MS, out);
    memory_free(folder);
    memory_free(path);
    return hr;
}

/* Returns the higher number. Ignores a number that no counter can have, because it is corrupt. */
static uint32_t higher(uint32_t last, uint32_t other)
{
    return other > last && other <= INT32_MAX ? other : last;
}

/* Returns the highest counter number that any service or the system uses. */
static uint32_t highest_number(const struct registered_extensions *all)
{
    uint32_t last = higher(COUNTERS_OF_SYSTEM, all->last_counter);
    for (size_t i = 0; i < all->count; i++)
        last = higher(last, all->items[i].last_counter);
    return last + last % 2;
}

static HRESULT write_last(uint32_t last)
{
    struct registry_key *key = NULL;
    bool made;
    HRESULT hr = registry_create(PERFLIB_KEY, &made, &key);
    if (SUCCEEDED(hr))
        hr = registry_write_number(key, "Last Counter", REGISTRY_NUMBER, last);
    if (SUCCEEDED(hr))
        hr = registry_write_number(key, "Last Help", REGISTRY_NUMBER, last + 1);
    registry_close(key);
    return hr;
}

static HRESULT write_list(struct registry_key *key, const struct extension_ini *ini, size_t language, bool help,
                          uint32_t first)
{
    struct texts list = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < ini->count; i++) {
        const struct extension_text *t = &ini->items[i];
        if (t->language != language || t->is_help != help)
            continue;
        char *number = text_format("%u", (unsigned)(first + t->offset + help));
        hr = number ? texts_add_owned(&list, number) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr = texts_add(&list, t->text);
    }
    char *name = text_format("%s %s", help ? "Help" : "Counter", ini->languages.items[language]);
    if (SUCCEEDED(hr))
        hr = name ? registry_write_texts(key, name, &list) : E_OUTOFMEMORY;
    memory_free(name);
    texts_free(&list);
    return hr;
}

/* Writes the list of the DLL's objects, such as "1848 1860". */
static HRESULT write_objects(struct registry_key *key, const struct extension_ini *ini, uint32_t first)
{
    struct text_buffer b = {0};
    for (size_t i = 0; i < ini->objects.count; i++) {
        uint64_t offset = 0;
        (void)text_to_u64(ini->objects.items[i], &offset);
        text_buffer_format(&b, "%s%u", i ? " " : "", (unsigned)(first + offset));
    }
    HRESULT hr = b.failed ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr) && b.length)
        hr = registry_write_text(key, "Object List", b.text);
    text_buffer_free(&b);
    return hr;
}

static HRESULT write_texts(struct registry_key *key, const struct extension_ini *ini, uint32_t first)
{
    const uint32_t values[] = {first, first + ini->last, first + 1, first + ini->last + 1};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < ini->languages.count; i++) {
        hr = write_list(key, ini, i, false, first);
        if (SUCCEEDED(hr))
            hr = write_list(key, ini, i, true, first);
    }
    if (SUCCEEDED(hr))
        hr = write_objects(key, ini, first);
    for (size_t i = 0; SUCCEEDED(hr) && i < 4; i++)
        hr = registry_write_number(key, numbers[i], REGISTRY_NUMBER, values[i]);
    return hr;
}

static bool is_ours(const WCHAR *name, size_t units)
{
    char *text;
    if (FAILED(text_from_utf16(name, units, true, &text)))
        return false;
    bool is = text_matches("Counter ???", text) || text_matches("Help ???", text);
    memory_free(text);
    return is;
}

/* Removes everything that extension_register wrote, except values whose names are invalid UTF-16. */
static HRESULT remove_texts(struct registry_key *key)
{
    struct registry_entry *e = memory_zero(1, sizeof *e);
    HRESULT hr = e ? S_OK : E_OUTOFMEMORY;
    for (uint32_t i = 0; SUCCEEDED(hr);) {
        hr = registry_value_at(key, i, e);
        if (hr != S_OK)
            break;
        char *name = NULL;
        if (!is_ours(e->name, e->name_units)) {
            i++;
            continue;
        }
        hr = text_from_utf16(e->name, e->name_units, true, &name);
        if (SUCCEEDED(hr))
            hr = registry_remove(key, name);
        if (hr == S_FALSE) /* a name that is invalid UTF-16 cannot be found by its string, so it remains */
            i++;
        memory_free(name);
    }
    if (e)
        registry_entry_free(e);
    memory_free(e);
    if (SUCCEEDED(hr))
        hr = registry_remove(key, "Object List");
    for (size_t i = 0; SUCCEEDED(hr) && i < 4; i++)
        hr = registry_remove(key, numbers[i]);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT register_locked(const struct extension_ini *ini, struct registry_key *key)
{
    struct registered_extensions all;
    uint32_t has;
    HRESULT hr = read_number(key, numbers[0], &has);
    if (SUCCEEDED(hr) && has)
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                         "service '%s' already has counter numbers from %u (use unlodctr to remove them)", ini->service,
                         (unsigned)has);
    if (SUCCEEDED(hr))
        hr = registered_extensions_read(NULL, &all);
    if (FAILED(hr))
        return hr;
    const uint32_t before = highest_number(&all), first = before + 2;
    registered_extensions_free(&all);
    if (first > INT32_MAX)
        return error_set(EXTENSION_INVALID, "service '%s': no free counter numbers are left", ini->service);
    /* Reserve the numbers before using them. */
    hr = write_last(first + ini->last);
    if (SUCCEEDED(hr))
        hr = write_texts(key, ini, first);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        (void)remove_texts(key);
        (void)write_last(before);
        hr = error_restore(&why);
    }
    return hr;
}

HRESULT extension_register(const struct extension_ini *ini)
{
    struct file_lock *held = NULL;
    struct registry_key *key = NULL;
    HRESULT hr = open_performance(ini->service, true, &key);
    if (SUCCEEDED(hr))
        hr = lock_registration(&held);
    if (SUCCEEDED(hr))
        hr = register_locked(ini, key);
    file_lock_release(held);
    registry_close(key);
    return hr;
}

HRESULT extension_unregister(const char *service)
{
    struct file_lock *held = NULL;
    struct registry_key *key = NULL;
    uint32_t has = 0;
    HRESULT hr = open_performance(service, true, &key);
    if (SUCCEEDED(hr))
        hr = lock_registration(&held);
    if (SUCCEEDED(hr))
        hr = read_number(key, numbers[0], &has);
    if (SUCCEEDED(hr))
        hr = remove_texts(key);
    file_lock_release(held);
    registry_close(key);
    return SUCCEEDED(hr) && !has ? S_FALSE : hr;
}

HRESULT extension_enable(const char *service, bool enable)
{
    struct registry_key *key = NULL;
    HRESULT hr = open_performance(service, true, &key);
    if (SUCCEEDED(hr))
        hr = registry_write_number(key, DISABLED, REGISTRY_NUMBER, !enable);
    registry_close(key);
    return hr;
}

HRESULT extension_rebuild(void)
{
    struct file_lock *held = NULL;
    struct registered_extensions all;
    HRESULT hr = lock_registration(&held);
    if (SUCCEEDED(hr))
        hr = registered_extensions_read(NULL, &all);
    if (SUCCEEDED(hr)) {
        hr = write_last(highest_number(&all));
        registered_extensions_free(&all);
    }
    file_lock_release(held);
    return hr;
}
