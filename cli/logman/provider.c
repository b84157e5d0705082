/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/logman/line.h"
#include "cli/logman/logman.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_types.h"
#include "engine/pla/model.h"
#include "engine/pla/trace_event_providers.h"

#include <string.h>

static struct object *child(struct object *o, const char *property)
{
    return object_child(o, class_property(o->class, property));
}

static HRESULT put_guid(struct object *provider, const GUID *guid)
{
    return object_put(provider, class_property(provider->class, "Guid"), &(struct value){PROPERTY_GUID, .guid = *guid});
}

HRESULT logman_known_provider(const char *name, struct object **out)
{
    GUID guid;
    const bool is_guid = text_to_guid(name, &guid);
    HRESULT hr = object_create(&trace_data_provider_class, NULL, out);
    if (FAILED(hr))
        return hr;
    hr = trace_provider_query(*out, name);
    if (hr == HRESULT_FROM_WIN32(ERROR_WMI_GUID_NOT_FOUND))
        hr = is_guid ? put_guid(*out, &guid)
                     : error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "unknown provider '%s'", name);
    if (FAILED(hr)) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}

/* ---- keywords and levels ---- */

static HRESULT guid_of(struct object *provider, GUID *out)
{
    struct value v;
    HRESULT hr = object_get(provider, class_property(provider->class, "Guid"), &v);
    if (SUCCEEDED(hr))
        *out = v.guid;
    return hr;
}

static HRESULT put_number(struct object *map, uint64_t number)
{
    return value_map_put_value(map, &(struct variant){.type = VARIANT_UI8, .integer = (int64_t)number});
}

/* The command line's words for the kernel's keywords (MS-PLA, note 2 of Appendix B) and their bits in EnableFlags. */
static const struct {
    const char *name;
    uint64_t flags;
} kernel_words[] = {{"process", 0x1},         {"thread", 0x2},       {"img", 0x4},           {"proccntr", 0x8},
                    {"cswitch", 0x10},        {"dpc", 0x20},         {"isr", 0x40},          {"syscall", 0x80},
                    {"disk", 0x100},          {"file", 0x200},       {"diskinit", 0x400},    {"dispatcher", 0x800},
                    {"pf", 0x1000},           {"hf", 0x2000},        {"virtalloc", 0x4000},  {"net", 0x10000},
                    {"registry", 0x20000},    {"dbgprint", 0x40000}, {"job", 0x80000},       {"alpc", 0x100000},
                    {"splitio", 0x200000},    {"driver", 0x800000},  {"profile", 0x1000000}, {"fileio", 0x2000000},
                    {"fileioinit", 0x4000000}};

/* The kernel's flags are divided into groups; the top three bits of a constant are the group's number. */
enum { GROUPS = 8, GROUP_SHIFT = 29, GROUP_BITS = (1 << GROUP_SHIFT) - 1 };
struct kernel_masks {
    uint32_t groups[GROUPS];
};

static HRESULT mask_add(struct kernel_masks *m, const char *option, uint64_t number)
{
    if (number > UINT32_MAX)
        return error_set(E_INVALIDARG, "%s: invalid flags 0x%llX: the kernel's flags have 32 bits", option,
                         (unsigned long long)number);
    m->groups[number >> GROUP_SHIFT] |= (uint32_t)number & GROUP_BITS;
    return S_OK;
}

HRESULT logman_item_number(struct object *item, uint64_t *out)
{
    struct value v;
    int64_t number = 0;
    HRESULT hr = object_get(item, class_property(item->class, "Value"), &v);
    if (SUCCEEDED(hr)) {
        hr = variant_to_i64(&v.variant, &number);
        value_free(&v);
    }
    *out = (uint64_t)number;
    return hr;
}

/* Adds the flags that `name` stands for. `name` is a word of kernel_words, or the key of an item. */
static HRESULT mask_add_name(struct kernel_masks *m, const char *option, const char *name, struct object **items,
                             size_t count)
{
    for (size_t i = 0; i < sizeof kernel_words / sizeof *kernel_words; i++)
        if (text_equal_nocase(kernel_words[i].name, name))
            return mask_add(m, option, kernel_words[i].flags);
    for (size_t i = 0; i < count; i++) {
        struct value v;
        uint64_t number;
        HRESULT hr = object_get(items[i], class_property(items[i]->class, "Key"), &v);
        if (FAILED(hr))
            return hr;
        const bool same = text_equal_nocase(v.text, name);
        value_free(&v);
        if (same)
            return FAILED(hr = logman_item_number(items[i], &number)) ? hr : mask_add(m, option, number);
    }
    return error_set(E_INVALIDARG, "%s: unknown keyword '%s'", option, name);
}

static HRESULT mask_add_names(struct kernel_masks *m, const char *option, const char *names, struct object **items,
                              size_t count)
{
    HRESULT hr = S_OK;
    for (const char *at = names; *at && SUCCEEDED(hr);) {
        const size_t length = strcspn(at += strspn(at, "(), \t"), "(),");
        size_t end = length; /* a name may contain spaces, but spaces and tabs at the end are not part of the name */
        while (end && (at[end - 1] == ' ' || at[end - 1] == '\t'))
            end--;
        char *name = text_copy_n(at, end);
        if (!name)
            return E_OUTOFMEMORY;
        if (end)
            hr = mask_add_name(m, option, name, items, count);
        memory_free(name);
        at += length;
    }
    return hr;
}

/* Adds an item for each flag: the known item, or an item without a name. */
static HRESULT put_masks(struct object *map, struct kernel_masks *m, struct object **items, size_t count)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        uint64_t number;
        hr = logman_item_number(items[i], &number);
        uint32_t *group = &m->groups[(number >> GROUP_SHIFT) % GROUPS];
        const uint32_t bits = (uint32_t)number & GROUP_BITS;
        const bool enable = number <= UINT32_MAX && bits && (bits & (bits - 1)) == 0 && (*group & bits) != 0;
        if (enable)
            *group &= ~bits;
        if (SUCCEEDED(hr))
            hr = object_put(items[i], class_property(items[i]->class, "Enabled"),
                            &(struct value){PROPERTY_BOOL, .boolean = enable});
    }
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t bit = 1; bit <= GROUP_BITS && SUCCEEDED(hr); bit <<= 1)
            if ((m->groups[g] & bit) != 0)
                hr = value_map_add_value(
                    map, &(struct variant){.type = VARIANT_UI8, .integer = (int64_t)g << GROUP_SHIFT | bit});
    return hr;
}

static HRESULT put_kernel_flags(struct object *map, const char *option, const char *word)
{
    struct kernel_masks m = {{0}};
    struct object **items;
    size_t count;
    uint64_t number = 1;
    HRESULT hr = collection_snapshot(map, &items, &count);
    if (FAILED(hr))
        return hr;
    hr = logman_number(word, &number) ? mask_add(&m, option, number) : mask_add_names(&m, option, word, items, count);
    if (SUCCEEDED(hr))
        hr = number ? put_masks(map, &m, items, count) : put_number(map, 0);
    objects_release(items, count);
    return hr;
}

static HRESULT add_names(struct object *map, const char *option, char *names)
{
    HRESULT hr = put_number(map, 0);
    for (char *at = names; *at && SUCCEEDED(hr);) {
        at += strspn(at, "(), \t");
        const size_t length = strcspn(at, "(), \t");
        char *name = text_copy_n(at, length);
        if (!name)
            return E_OUTOFMEMORY;
        if (length)
            hr = value_map_add_value(map, &(struct variant){.type = VARIANT_TEXT, .text = name});
        if (hr == E_INVALIDARG)
            hr = error_set(E_INVALIDARG, "%s: unknown keyword '%s'", option, name);
        memory_free(name);
        at += length;
    }
    return hr;
}

/* Sets the flags. 0 means all flags, as if no word was specified; for the kernel provider, 0 means no flags. */
static HRESULT put_flags(struct object *provider, const char *option, char *word)
{
    uint64_t number;
    struct object *map = child(provider, "KeywordsAny");
    GUID guid = {0};
    HRESULT hr = guid_of(provider, &guid);
    if (FAILED(hr))
        return hr;
    if (kernel_provider_find(&guid))
        return put_kernel_flags(map, option, word);
    return logman_number(word, &number) ? put_number(map, number) : add_names(map, option, word);
}

static HRESULT put_level(struct object *provider, const char *option, const char *word)
{
    uint64_t number;
    struct object *map = child(provider, "Level");
    if (logman_number(word, &number))
        return number <= 255 ? put_number(map, number)
                             : error_set(E_INVALIDARG, "%s: invalid level '%s': the maximum is 255", option, word);
    char *long_name = text_format("win:%s", word);
    HRESULT hr = long_name ? value_map_put_value(map, &(struct variant){.type = VARIANT_TEXT, .text = (char *)word})
                           : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY) {
        memory_free(long_name);
        return hr;
    }
    hr = value_map_put_value(map, &(struct variant){.type = VARIANT_TEXT, .text = long_name});
    memory_free(long_name);
    return hr == E_OUTOFMEMORY || SUCCEEDED(hr) ? hr : error_set(E_INVALIDARG, "%s: unknown level '%s'", option, word);
}

/* ---- the collector's event providers ---- */

/* Returns the index of the collector's event provider with that GUID; SIZE_MAX if the collector does not have it. */
static HRESULT provider_find_index(struct object *providers, const GUID *guid, size_t *index)
{
    const size_t count = collection_count(providers);
    *index = SIZE_MAX;
    for (size_t i = 0; i < count && *index == SIZE_MAX; i++) {
        struct object *one;
        GUID other = {0};
        HRESULT hr = collection_item(providers, i, &one);
        if (SUCCEEDED(hr)) {
            hr = guid_of(one, &other);
            object_release(one);
        }
        if (FAILED(hr))
            return hr;
        if (guid_equal(&other, guid))
            *index = i;
    }
    return S_OK;
}

/* Adds, changes or removes an event provider. The words are the event provider's name, its flags and its level. */
static HRESULT put_provider(struct object *collector, const char *option, bool negated, char **words, size_t count)
{
    struct object *providers = child(collector, "TraceDataProviders"), *provider, *before = NULL;
    GUID guid = {0};
    size_t index;
    HRESULT hr = logman_known_provider(words[0], &provider);
    if (FAILED(hr))
        return error_prefix(hr, "%s", option);
    hr = guid_of(provider, &guid);
    if (SUCCEEDED(hr))
        hr = provider_find_index(providers, &guid, &index);
    if (SUCCEEDED(hr) && negated) {
        hr = index == SIZE_MAX ? error_set(E_INVALIDARG, "%s: the set has no provider '%s'", option, words[0])
                               : collection_remove(providers, index);
    } else if (SUCCEEDED(hr)) {
        if (index != SIZE_MAX)
            hr = collection_item(providers, index, &before);
        struct object *one = before ? before : provider;
        if (SUCCEEDED(hr) && count > 1)
            hr = put_flags(one, option, words[1]);
        if (SUCCEEDED(hr) && count > 2)
            hr = put_level(one, option, words[2]);
        if (SUCCEEDED(hr) && !before)
            hr = collection_add(providers, provider);
    }
    object_release(before);
    object_release(provider);
    return hr;
}

/* Splits a line into at most `most` words; the rest of the line is ignored. Words are separated by spaces and tabs; a
   quoted word may contain spaces and tabs. */
static size_t line_split(char *line, char **words, size_t most)
{
    size_t count = 0;
    while (count < most) {
        line += strspn(line, " \t");
        if (!*line)
            break;
        const char *end = *line == '"' ? "\"" : " \t";
        line += *line == '"';
        words[count++] = line;
        line += strcspn(line, end);
        if (*line)
            *line++ = 0;
    }
    return count;
}

static HRESULT put_lines(struct object *collector, const char *file)
{
    struct texts lines = {0};
    HRESULT hr = lines_read(file, &lines);
    for (size_t i = 0; i < lines.count && SUCCEEDED(hr); i++) {
        char *words[3], *copy = text_copy(lines.items[i]);
        if (!copy) {
            hr = E_OUTOFMEMORY;
            break;
        }
        const size_t count = line_split(copy, words, 3);
        if (count)
            hr = put_provider(collector, "-pf", false, words, count);
        /* The line may be an unquoted name with spaces. */
        if (hr == HRESULT_FROM_WIN32(ERROR_NOT_FOUND)) {
            char *whole = lines.items[i];
            hr = put_provider(collector, "-pf", false, &whole, 1);
        }
        memory_free(copy);
    }
    texts_free(&lines);
    return FAILED(hr) ? error_prefix(hr, "%s", file) : hr;
}

HRESULT logman_put_providers(const struct logman_line *line, struct object *collector)
{
    HRESULT hr = S_OK;
    /* By default, use the flags of Windows' logman: processes, threads, disks, the network. */
    if (line->name && text_equal_nocase(line->name, kernel_providers[0].session) &&
        !logman_option(line, LOGMAN_PROVIDER) && !logman_option(line, LOGMAN_PROVIDER_FILE)) {
        char provider[] = "Windows Kernel Trace", flags[] = "(process,thread,disk,net)", *words[] = {provider, flags};
        if (line->verb == LOGMAN_CREATE || line->verb == LOGMAN_START)
            hr = put_provider(collector, "-p", false, words, 2);
    }
    for (size_t i = 0; i < line->count && SUCCEEDED(hr); i++) {
        const struct logman_option *o = &line->options[i];
        if (o->use == LOGMAN_PROVIDER)
            hr = put_provider(collector, o->negated ? "--p" : "-p", o->negated, o->words.items, o->words.count);
        else if (o->use == LOGMAN_PROVIDER_FILE)
            hr = put_lines(collector, o->words.items[0]);
    }
    return hr;
}
