/* SPDX-License-Identifier: MIT */
/* Parses and formats counter paths, and numbers instances that have the same name. A hash table stores the numbers, so
   that numbering thousands of equal names takes no longer than numbering different names. */
#include "engine/logs/counter_path.h"

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"

#include <string.h>

void counter_path_free(struct counter_path *path)
{
    memory_free(path->machine);
    memory_free(path->object);
    memory_free(path->parent);
    memory_free(path->instance);
    memory_free(path->counter);
    *path = (struct counter_path){.index = PATH_NO_INDEX};
}

/* Returns the closing parenthesis that matches the one at `open`, or NULL. */
static const char *closing_parenthesis(const char *open)
{
    unsigned depth = 0;
    for (const char *p = open; *p; p++)
        if (*p == '(')
            depth++;
        else if (*p == ')' && --depth == 0)
            return p;
    return NULL;
}

/* Finds the instance's parentheses in "Object(Instance)\Counter". False: there is no instance. */
static bool find_instance(const char *object, const char **open, const char **close)
{
    const char *limit = strchr(object, '\\'); /* ends the object's name; an instance must begin before it */
    const char *first = NULL;
    for (const char *p = object; *p && (!limit || p < limit); p++) {
        if (*p != '(')
            continue;
        first = first ? first : p;
        const char *end = closing_parenthesis(p);
        if (!end)
            break;
        if (end[1] == '\\') {
            *open = p;
            *close = end;
            return true;
        }
        p = end; /* these parentheses belong to the object's name */
        if (limit && limit < end)
            limit = strchr(end, '\\');
    }
    /* If the instance name contains an unmatched parenthesis, the last ")\" ends the instance. */
    for (const char *p = first ? first + strlen(first) : NULL; p && p > first; p--) {
        if (*p == '\\' && p[-1] == ')') {
            *open = first;
            *close = p - 1;
            return true;
        }
    }
    return false;
}

/* Splits "Parent/Instance#Index". */
static bool set_instance(struct counter_path *out, const char *text, size_t length)
{
    const char *slash = memchr(text, '/', length);
    if (slash && slash > text && slash + 1 < text + length) {
        out->parent = text_copy_n(text, (size_t)(slash - text));
        if (!out->parent)
            return false;
        length -= (size_t)(slash + 1 - text);
        text = slash + 1;
    }
    size_t digits = 0;
    uint64_t index = 0;
    while (digits < length && digits < 10 && text[length - 1 - digits] >= '0' && text[length - 1 - digits] <= '9')
        digits++;
    if (digits > 0 && digits < length && text[length - 1 - digits] == '#') {
        for (size_t i = length - digits; i < length; i++)
            index = index * 10 + (uint64_t)(text[i] - '0');
        if (index < PATH_NO_INDEX) {
            out->index = (uint32_t)index;
            length -= digits + 1;
        }
    }
    out->instance = text_copy_n(text, length);
    return out->instance != NULL;
}

/* Parses a path into *out; with `out` NULL, only checks it. */
static PDH_STATUS counter_path_scan(const char *text, struct counter_path *out)
{
    const char *object = text + 1;
    if (text[1] == '\\') {
        const char *machine = text + 2;
        const char *end = strchr(machine, '\\');
        if (!end || end == machine)
            return PDH_CSTATUS_BAD_COUNTERNAME;
        if (out)
            out->machine = text_copy_n(machine, (size_t)(end - machine));
        if (out && !out->machine)
            return PDH_MEMORY_ALLOCATION_FAILURE;
        object = end + 1;
    }
    const char *open = NULL, *close = NULL;
    const char *object_end = strchr(object, '\\'), *counter = NULL;
    if (find_instance(object, &open, &close)) {
        object_end = open;
        counter = close + 2;
    } else if (object_end) {
        counter = object_end + 1;
    }
    if (!counter || object_end == object || !*counter || strchr(counter, '\\'))
        return PDH_CSTATUS_BAD_COUNTERNAME;
    if (!out)
        return ERROR_SUCCESS;
    if (open && !set_instance(out, open + 1, (size_t)(close - open - 1)))
        return PDH_MEMORY_ALLOCATION_FAILURE;
    out->object = text_copy_n(object, (size_t)(object_end - object));
    out->counter = text_copy(counter);
    return out->object && out->counter ? ERROR_SUCCESS : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

static PDH_STATUS check_or_parse(const char *text, struct counter_path *out)
{
    if (!text || !*text)
        return PDH_CSTATUS_NO_COUNTERNAME;
    /* Text never has more UTF-16 units than UTF-8 bytes. */
    if (*text != '\\' || (strlen(text) > PDH_MAX_COUNTER_PATH && text_utf16_length(text) > PDH_MAX_COUNTER_PATH))
        return PDH_CSTATUS_BAD_COUNTERNAME;
    return counter_path_scan(text, out);
}

PDH_STATUS counter_path_check(const char *text)
{
    return check_or_parse(text, NULL);
}

PDH_STATUS counter_path_parse(const char *text, struct counter_path *out)
{
    *out = (struct counter_path){.index = PATH_NO_INDEX};
    PDH_STATUS status = check_or_parse(text, out);
    if (status != ERROR_SUCCESS)
        counter_path_free(out);
    return status;
}

bool counter_path_machine_is(const char *machine, const char *ours)
{
    bool own = false;
    machine = machine ? machine + strspn(machine, "\\") : "";
    return !*machine || text_equal_nocase(machine, ours) || (SUCCEEDED(os_is_own_name(machine, &own)) && own);
}

PDH_STATUS counter_path_machine_is_ours(const char *machine)
{
    bool own;
    const HRESULT hr = os_is_own_name(machine, &own);
    if (hr == E_OUTOFMEMORY)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    return SUCCEEDED(hr) && own ? ERROR_SUCCESS : (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
}

static void add_instance(struct text_buffer *b, const struct counter_path *path)
{
    if (path->parent) {
        text_buffer_add(b, path->parent);
        text_buffer_add(b, "/");
    }
    text_buffer_add(b, path->instance);
    if (path->index != PATH_NO_INDEX && path->index > 0)
        text_buffer_format(b, "#%u", (unsigned)path->index);
}

char *counter_path_instance(const struct counter_path *path)
{
    if (!path->instance)
        return NULL;
    struct text_buffer b = {0};
    add_instance(&b, path);
    char *text = text_buffer_take(&b);
    return text;
}

char *counter_path_format(const struct counter_path *path)
{
    struct text_buffer b = {0};
    if (path->machine) {
        text_buffer_add(&b, "\\\\");
        text_buffer_add(&b, path->machine);
    }
    text_buffer_add(&b, "\\");
    text_buffer_add(&b, path->object);
    if (path->instance) {
        text_buffer_add(&b, "(");
        add_instance(&b, path);
        text_buffer_add(&b, ")");
    }
    text_buffer_add(&b, "\\");
    text_buffer_add(&b, path->counter);
    return text_buffer_take(&b);
}

/* ---- numbers of instances ---- */

struct instance_number {
    const char *name; /* NULL: a free slot */
    uint64_t hash;
    size_t count;
};

static struct instance_number *find_slot(const struct instance_numbers *n, const char *name, uint64_t hash)
{
    size_t at = (size_t)(hash >> 32) & (n->slot_count - 1);
    while (n->slots[at].name && (n->slots[at].hash != hash || !text_equal_nocase(n->slots[at].name, name)))
        at = (at + 1) & (n->slot_count - 1);
    return &n->slots[at];
}

/* Grows the table so that at least half of the slots are free. */
static HRESULT instance_numbers_grow(struct instance_numbers *n)
{
    if (2 * (n->used + 1) <= n->slot_count)
        return S_OK;
    struct instance_numbers more = {.slot_count = n->slot_count ? 4 * n->slot_count : 64, .used = n->used};
    more.slots = memory_zero(more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu instances", n->used);
    for (size_t i = 0; i < n->slot_count; i++)
        if (n->slots[i].name)
            *find_slot(&more, n->slots[i].name, n->slots[i].hash) = n->slots[i];
    memory_free(n->slots);
    *n = more;
    return S_OK;
}

HRESULT instance_numbers_next(struct instance_numbers *n, const char *name, size_t *number)
{
    const HRESULT hr = instance_numbers_grow(n);
    if (FAILED(hr))
        return hr;
    const uint64_t hash = text_hash_nocase(name);
    struct instance_number *slot = find_slot(n, name, hash);
    if (!slot->name) {
        *slot = (struct instance_number){name, hash, 0};
        n->used++;
    }
    *number = slot->count++;
    return S_OK;
}

char *instance_numbers_text(const char *name, size_t number)
{
    return number > 0 ? text_format("%s#%zu", name, number) : text_copy(name);
}

void instance_numbers_clear(struct instance_numbers *n)
{
    if (n->used)
        memset(n->slots, 0, n->slot_count * sizeof *n->slots);
    n->used = 0;
}

void instance_numbers_free(struct instance_numbers *n)
{
    memory_free(n->slots);
    *n = (struct instance_numbers){0};
}
