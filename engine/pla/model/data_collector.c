/* SPDX-License-Identifier: MIT */
/* The common properties of all kinds of collectors, and a set's collection of collectors (MS-PLA 3.2.4.5, 3.2.4.15). */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/model/name_pattern.h"
#include "engine/pla/model/validate.h"

#include <stdlib.h>
#include <string.h>

struct data_collector *collector_of(struct object *collector)
{
    return (struct data_collector *)collector;
}

#define BEGINS_AS_ALL_DO(kind, I)                                                                                      \
    _Static_assert(offsetof(struct kind, Index) == offsetof(struct data_collector, Index) &&                           \
                       (int)I##_Index == (int)IPerformanceCounterDataCollector_Index,                                  \
                   "the rows of each class must begin with the rows of data_collector.def")
BEGINS_AS_ALL_DO(performance_counter_collector, IPerformanceCounterDataCollector);
BEGINS_AS_ALL_DO(trace_data_collector, ITraceDataCollector);
BEGINS_AS_ALL_DO(configuration_collector, IConfigurationDataCollector);
BEGINS_AS_ALL_DO(alert_collector, IAlertDataCollector);
BEGINS_AS_ALL_DO(api_tracing_collector, IApiTracingDataCollector);

/* Indexed by DataCollectorType. */
static const struct class *const classes[] = {&performance_counter_collector_class, &trace_data_collector_class,
                                              &configuration_collector_class,       &alert_collector_class,
                                              &api_tracing_collector_class,         NULL};

const struct class *collector_class(uint32_t type)
{
    return type < sizeof classes / sizeof classes[0] ? classes[type] : NULL;
}

/* Returns the collector's set, borrowed. Call it under the lock. */
static struct object *set_above(struct object *collector)
{
    return collector->parent ? collector->parent->parent : NULL;
}

HRESULT collector_set(struct object *collector, struct object **set)
{
    object_lock(collector);
    struct object *above = set_above(collector);
    *set = above && object_try_reference(above) ? above : NULL;
    object_unlock(collector);
    return *set ? S_OK : error_set(PLA_E_DCS_NOT_FOUND, "the data collector does not belong to a data collector set");
}

/* ---- hooks ---- */

static struct items *siblings(struct object *collector)
{
    return &((struct collection *)collector->parent)->items;
}

/* Returns whether another collector of the collection has the name. Call it under the lock. */
static bool name_taken(const struct items *items, const struct object *but, const char *name)
{
    for (size_t i = 0; i < items->count; i++)
        if (items->list[i] != but && text_equal_nocase(collector_of(items->list[i])->Name, name))
            return true;
    return false;
}

/* Returns a name for an unnamed collector, as Windows' wizard does. Of the numbers from 1 to the number of collectors
   plus one, at least one is free. From memory_alloc. */
static char *free_name(const struct items *items)
{
    static const char stem[] = "DataCollector";
    bool *taken = memory_zero(items->count + 2, sizeof *taken);
    size_t free = 1;
    if (!taken)
        return NULL;
    for (size_t i = 0; i < items->count; i++) {
        const char *name = collector_of(items->list[i])->Name;
        uint64_t n;
        if (text_matches("DataCollector*", name) && text_to_u64(name + strlen(stem), &n) && n <= items->count)
            taken[n] = true;
    }
    while (taken[free])
        free++;
    memory_free(taken);
    return text_format("%s%02u", stem, (unsigned)free);
}

/* Skips leading spaces of the name, and returns its length without trailing spaces. Names that differ only in such
   spaces would be the same file on Windows, and the same name in XML from other programs. Other whitespace is not
   allowed in a name. */
static size_t name_trim_blanks(const char **name)
{
    *name += strspn(*name, " ");
    size_t length = strlen(*name);
    while (length && (*name)[length - 1] == ' ')
        length--;
    return length;
}

void collector_name_changed(struct object *o)
{
    char **name = &collector_of(o)->Name, *free;
    const char *from = *name;
    size_t length = name_trim_blanks(&from);
    memmove(*name, from, length);
    (*name)[length] = 0;
    free = o->parent && !length ? free_name(siblings(o)) : NULL;
    if (!free)
        return;
    memory_free(*name);
    *name = free;
}

HRESULT check_visible_name(const struct property *p, const char *name, size_t most)
{
    const size_t length = text_utf16_length(name);
    if (length > most)
        return error_set(E_INVALIDARG, "%s: '%.100s...' has %zu characters (at most %zu are allowed)", p->name, name,
                         length, most);
    if (text_has_bidi_control(name))
        return error_set(E_INVALIDARG,
                         "%s: '%.100s' contains a bidirectional control character, which can make it look like another "
                         "name",
                         p->name, name);
    return S_OK;
}

HRESULT collector_check_name(struct object *o, const struct property *p, const struct value *in)
{
    for (const char *c = in->text; *c; c++)
        if ((unsigned char)*c < ' ')
            return error_set(E_INVALIDARG, "%s: a collector's name must not contain control characters", p->name);
    HRESULT hr =
        check_visible_name(p, in->text, PATH_NAME_MAX); /* the name is also the file name unless FileName is set */
    if (FAILED(hr))
        return hr;
    const char *from = in->text;
    size_t length = name_trim_blanks(&from);
    char *name = text_copy_n(from, length);
    if (!name)
        return E_OUTOFMEMORY;
    object_lock(o);
    bool taken = o->parent && name_taken(siblings(o), o, name);
    object_unlock(o);
    hr = taken ? error_set(PLA_E_DC_ALREADY_EXISTS, "%s: the set already has a data collector '%s'", p->name, name)
               : S_OK;
    memory_free(name);
    return hr;
}

static bool is_file_character(char c)
{
    return (unsigned char)c >= ' ' && !strchr("\\/:*?\"<>|", c);
}

HRESULT collector_check_file_name(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    const char *c = in->text + strspn(in->text, ". ");
    bool folder = in->text[0] && !*c; /* "." or ".."; Windows ignores further dots and spaces */
    while (*c && is_file_character(*c))
        c++;
    if (*c || folder)
        return error_set(E_INVALIDARG, "%s: '%s' is not a file name (no \\ / : * ? \" < > | and no path)", p->name,
                         in->text);
    return check_visible_name(p, in->text, PATH_NAME_MAX);
}

char *collector_file_base(const struct object *o)
{
    const struct data_collector *c = (const struct data_collector *)o;
    char *base = text_copy(c->FileName[0] ? c->FileName : c->Name);
    for (char *at = base; at && *at; at++)
        if (!is_file_character(*at)) /* Name can contain characters that are invalid in a file name */
            *at = '_';
    if (base && !base[strspn(base, ". ")]) /* the result must not be "." or ".." */
        memset(base, '_', strlen(base));
    if (base && !c->FileName[0] && path_is_device_name(base)) /* nor may it be the name of a device */
        base[0] = '_';
    return base;
}

HRESULT collector_get_file_name(struct object *o, const struct property *p, struct value *out)
{
    (void)p;
    object_lock(o);
    out->text = collector_file_base(o);
    object_unlock(o);
    return out->text ? S_OK : E_OUTOFMEMORY;
}

HRESULT collector_get_index(struct object *o, const struct property *p, struct value *out)
{
    (void)p;
    object_lock(o);
    if (o->parent)
        for (size_t i = 0; i < siblings(o)->count; i++)
            if (siblings(o)->list[i] == o)
                out->i32 = (int32_t)i;
    object_unlock(o);
    return S_OK;
}

bool collector_latest_is_put(const struct object *o)
{
    return ((const struct data_collector *)o)->LatestWasPut;
}

void collector_latest_was_put(struct object *o)
{
    collector_of(o)->LatestWasPut = true;
}

HRESULT collector_read_live(struct object *o, unsigned parts, struct set_live *out)
{
    struct object *set;
    HRESULT hr = collector_set(o, &set);
    if (FAILED(hr))
        return hr;
    hr = object_read_live(set, parts, out);
    object_release(set);
    return hr;
}

/* Returns the collector's file of the latest run, from the run record. */
HRESULT collector_get_latest(struct object *o, const struct property *p, const struct set_live *live, struct value *out)
{
    struct value index = {.kind = PROPERTY_I32};
    collector_get_index(o, p, &index);
    if (!live || (size_t)index.i32 >= live->latest_files.count)
        return object_get_field(o, p, out);
    out->text = text_copy(live->latest_files.items[index.i32]);
    return out->text ? S_OK : E_OUTOFMEMORY;
}

/* If `folder` is a Windows path, converts the separators after it in `path` to backslashes. The folder can be on
   another computer that uses Windows paths, even if this computer does not. */
static void path_follow_folder(char *path, const char *folder)
{
    const size_t length = strlen(folder);
    if (!strchr(folder, '\\') || *folder == '/' || strncmp(path, folder, length) != 0)
        return;
    char *from = path + length, *to = from;
    if (length && folder[length - 1] == '\\')
        from += strspn(from, "/");
    for (; *from; from++)
        *to++ = (char)(*from == '/' ? '\\' : *from);
    *to = 0;
}

HRESULT collector_get_output_location(struct object *o, const struct property *p, const struct set_live *live,
                                      struct value *out)
{
    struct object *set;
    struct name_context context;
    char *folder = NULL;
    (void)p;
    HRESULT hr = collector_set(o, &set);
    if (FAILED(hr))
        return hr;
    hr = name_context_now(live ? live->serial_number : 0, &context);
    if (SUCCEEDED(hr)) {
        if (live && live->next_folder) {
            folder = text_copy(live->next_folder);
            hr = folder ? S_OK : E_OUTOFMEMORY;
        } else {
            hr = set_output_folder(set, &context, &folder);
        }
        if (SUCCEEDED(hr))
            hr = collector_output_file(o, folder, &context, &out->text);
        if (SUCCEEDED(hr) && live && live->next_folder)
            path_follow_folder(out->text, folder);
        name_context_free(&context);
    }
    memory_free(folder);
    object_release(set);
    return hr;
}

HRESULT collector_created(struct object *o)
{
    struct data_collector *c = collector_of(o);
    for (uint32_t type = 0; classes[type]; type++)
        if (classes[type] == o->class)
            c->DataCollectorType = type;
    return S_OK;
}

/* Returns the display strings. If `list` has a different number of items, returns `list` itself. */
HRESULT collector_get_display_texts(struct object *o, const struct texts *shown, const struct texts *list,
                                    struct value *out)
{
    object_lock(o);
    HRESULT hr = texts_copy(&out->texts, shown->count == list->count ? shown : list);
    object_unlock(o);
    return hr;
}

HRESULT check_no_empty_item(const struct property *p, const struct texts *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i][0])
            return error_set(E_INVALIDARG, "%s: the item at index %u is empty", p->name, (unsigned)i);
    return S_OK;
}

/* A slot of a hash table of strings. The table uses open addressing; most slots are free. */
struct met {
    uint64_t hash;
    const char *text;
};

/* Allocates the slots for `count` strings; their number is a power of two. NULL when out of memory. */
static struct met *places_for(size_t count, size_t *places)
{
    *places = 4;
    while (*places < 4 * count)
        *places *= 2;
    return memory_zero(*places, sizeof(struct met));
}

/* Returns the slot that contains the string, or else the free slot where the string belongs. */
static struct met *place_of(struct met *met, size_t places, struct met text)
{
    size_t at = text.hash & (places - 1);
    while (met[at].text && (met[at].hash != text.hash || !text_equal_nocase(met[at].text, text.text)))
        at = (at + 1) & (places - 1);
    return &met[at];
}

HRESULT check_no_duplicates(const struct property *p, const struct texts *list)
{
    size_t places;
    struct met *met = places_for(list->count, &places);
    HRESULT hr = met ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++) {
        const struct met text = {text_hash_nocase(list->items[i]), list->items[i]};
        struct met *place = place_of(met, places, text);
        if (place->text)
            hr = error_set(PLA_E_NO_DUPLICATES, "%s: duplicate item '%s'", p->name, place->text);
        *place = text;
    }
    memory_free(met);
    return hr;
}

HRESULT texts_common(const struct texts *a, const struct texts *b, const char **common)
{
    size_t places;
    struct met *met = places_for(b->count, &places);
    *common = NULL;
    for (size_t i = 0; met && i < b->count; i++) {
        const struct met text = {text_hash_nocase(b->items[i]), b->items[i]};
        *place_of(met, places, text) = text;
    }
    for (size_t i = 0; met && !*common && i < a->count; i++) {
        const struct met text = {text_hash_nocase(a->items[i]), a->items[i]};
        if (place_of(met, places, text)->text)
            *common = text.text;
    }
    memory_free(met);
    return met ? S_OK : E_OUTOFMEMORY;
}

/* ---- validation ---- */

HRESULT collector_validate_name(const struct validation *v, const struct data_collector *c)
{
    bool missing = (c->FileNameFormat & FORMAT_PATTERN) && !c->FileNameFormatPattern[0];
    return missing ? validation_report(v, PLA_E_PROPERTY_CONFLICT, "FileNameFormatPattern",
                                       "FileNameFormat requires a pattern, but none is set")
                   : S_OK;
}

HRESULT collector_validate_log(const struct validation *v, const struct data_collector *c, bool appends)
{
    bool limited = v->set->SegmentMaxSize != 0, replaces_file = c->LogOverwrite || c->LogCircular;
    const struct finding findings[] = {
        {!c->LogCircular && !limited, PLA_S_PROPERTY_IGNORED, "LogCircular", "a circular file requires SegmentMaxSize"},
        {c->LogCircular && !limited, PLA_E_PROPERTY_CONFLICT, "LogCircular", "a circular file requires SegmentMaxSize"},
        {!appends, PLA_S_PROPERTY_IGNORED, "LogAppend", "this log format cannot be appended to"},
        {replaces_file && !c->LogAppend, PLA_S_PROPERTY_IGNORED, "LogAppend",
         "an overwritten or circular file cannot be appended to"},
        {replaces_file && c->LogAppend, PLA_E_PROPERTY_CONFLICT, "LogAppend",
         "a file cannot be both appended to and overwritten or circular"},
    };
    HRESULT hr = collector_validate_name(v, c);
    return FAILED(hr) ? hr : validation_report_all(v, findings, sizeof findings / sizeof findings[0]);
}

/* ---- the collection ---- */

static HRESULT collection_check_name(struct object *collection, struct object *item)
{
    const struct items *items = &((struct collection *)collection)->items;
    const struct data_collector_set *set = (const struct data_collector_set *)collection->parent;
    if (set && set->one_collector && items->count)
        return error_set(PLA_E_DCS_SINGLETON_REQUIRED, "Add: a set of this namespace can have only one data collector");
    if (collector_of(item)->Name[0]) {
        if (name_taken(items, item, collector_of(item)->Name))
            return error_set(PLA_E_DC_ALREADY_EXISTS, "Add: the set already has a data collector '%s'",
                             collector_of(item)->Name);
        return S_OK;
    }
    char *name = free_name(items);
    if (!name)
        return E_OUTOFMEMORY;
    memory_free(collector_of(item)->Name);
    collector_of(item)->Name = name;
    return S_OK;
}

const struct class data_collector_collection_class = {
    .name = "DataCollectorCollection",
    .size = sizeof(struct collection),
    .items = offsetof(struct collection, items),
    .item_classes = classes,
    .adopts = true,
    .admit = collection_check_name,
};
