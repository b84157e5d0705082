/* SPDX-License-Identifier: MIT */
#include "cli/output.h"
#include "cli/trace/manifest.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pdh/counter_types.h"

#include <string.h>

static bool is_named(const struct registered_provider *p, const char *name)
{
    char guid[39];
    text_from_guid(&p->guid, guid);
    return !name || (p->name && text_equal_nocase(p->name, name)) || text_equal_nocase(guid, name);
}

static void keep_named(struct registered_countersets *list, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (is_named(&list->items[i], name))
            list->items[kept++] = list->items[i];
        else
            registered_provider_clear(&list->items[i]);
    list->count = kept;
}

static bool is_program(const char *path)
{
    struct file *f;
    char begin[2];
    size_t got = 0;
    if (FAILED(file_open(path, FILE_READ, &f)))
        return false;
    bool is = SUCCEEDED(file_read_at(f, 0, begin, sizeof begin, &got)) && got == 2 && memcmp(begin, "MZ", 2) == 0;
    file_close(f);
    return is;
}

HRESULT manifest_counters_load(const char *path, const char *name, struct texts *warnings, struct counter_manifest *out)
{
    *out = (struct counter_manifest){.has_events = true};
    if (is_program(path))
        return S_OK;
    HRESULT hr = counter_manifest_load(path, warnings, out);
    if (SUCCEEDED(hr))
        keep_named(&out->providers, name);
    return hr;
}

HRESULT manifest_counters_registered(const char *name, struct registered_countersets *out)
{
    HRESULT hr = registered_countersets_read(out);
    if (SUCCEEDED(hr))
        keep_named(out, name);
    return hr;
}

HRESULT manifest_counters_write(struct registered_countersets *list, const char *whole, bool force)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++) {
        memory_free(list->items[i].manifest);
        list->items[i].manifest = text_copy(whole);
        hr = list->items[i].manifest ? S_OK : E_OUTOFMEMORY;
    }
    return SUCCEEDED(hr) ? registered_countersets_write(list, force) : hr;
}

HRESULT manifest_counters_add(struct registered_countersets *list, const char *whole, bool force)
{
    HRESULT hr = manifest_counters_write(list, whole, force);
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++) {
        char guid[39];
        text_from_guid(&list->items[i].guid, guid);
        print_shown(list->items[i].name);
        printf(" %s, %u countersets\n", guid, (unsigned)list->items[i].count);
    }
    return hr;
}

HRESULT manifest_counters_remove(const struct registered_countersets *list, bool force, size_t *removed)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++) {
        hr = registered_provider_remove(&list->items[i].guid, force);
        *removed += hr == S_OK;
    }
    return FAILED(hr) ? hr : S_OK;
}

void manifest_counters_list(const struct registered_countersets *list, struct json *j)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct registered_provider *p = &list->items[i];
        char guid[39];
        text_from_guid(&p->guid, guid);
        if (j) {
            json_begin(j, NULL, '{');
            json_text(j, "name", p->name);
            json_text(j, "guid", guid);
            json_text(j, "manifest", p->manifest);
            json_integer(j, "countersets", (int64_t)p->count);
            json_end(j, '}');
        } else {
            printf("%s ", guid);
            print_shown(p->name ? p->name : "");
            printf("  %s%s%u countersets\n", p->manifest ? p->manifest : "", p->manifest ? "  " : "",
                   (unsigned)p->count);
        }
    }
}

static const char *instances_text(const struct registered_set *s)
{
    return s->instances & COUNTERSET_MULTIPLE ? "with instances" : "without instances";
}

/* Writes the name of the counter's type, or its number, because base types have no names. */
static void type_text(const struct registered_counter *c, char *out, size_t room)
{
    const char *name = counter_type_name(c->type);
    if (name)
        text_fit(out, room, name);
    else
        snprintf(out, room, "0x%08X", (unsigned)c->type);
}

static void print_help(const char *help)
{
    if (help && *help) {
        printf(": ");
        print_shown(help);
    }
    printf("\n");
}

void manifest_counters_show(const struct registered_countersets *list)
{
    char guid[39], type[48];
    for (size_t i = 0; i < list->count; i++) {
        const struct registered_provider *p = &list->items[i];
        text_from_guid(&p->guid, guid);
        print_shown(p->name ? p->name : "");
        printf(" %s\n", guid);
        for (size_t k = 0; k < p->count; k++) {
            const struct registered_set *s = &p->sets[k];
            text_from_guid(&s->guid, guid);
            printf("counterset ");
            print_shown(s->name ? s->name : "");
            printf(" %s %s", guid, instances_text(s));
            print_help(s->help);
            for (size_t n = 0; n < s->count; n++) {
                type_text(&s->counters[n], type, sizeof type);
                printf("  %u ", (unsigned)s->counters[n].id);
                print_shown(s->counters[n].name);
                if (s->is_defined)
                    printf(" %s", type);
                print_help(s->counters[n].help);
            }
        }
    }
}

static void show_counter(const struct registered_set *s, const struct registered_counter *c, struct json *j)
{
    char type[48];
    type_text(c, type, sizeof type);
    json_begin(j, NULL, '{');
    json_integer(j, "id", c->id);
    json_text(j, "name", c->name);
    json_text(j, "help", c->help);
    json_text(j, "type", s->is_defined ? type : NULL);
    if (s->is_defined) {
        json_integer(j, "detail", c->detail);
        json_integer(j, "scale", c->scale);
        json_integer(j, "aggregate", c->aggregate);
        json_integer(j, "attributes", c->attributes);
    }
    if (c->base != COUNTER_NO_ID)
        json_integer(j, "base", c->base);
    json_end(j, '}');
}

void manifest_counters_show_json(const struct registered_countersets *list, struct json *j)
{
    char guid[39];
    for (size_t i = 0; i < list->count; i++) {
        const struct registered_provider *p = &list->items[i];
        text_from_guid(&p->guid, guid);
        json_begin(j, NULL, '{');
        json_text(j, "name", p->name);
        json_text(j, "guid", guid);
        json_text(j, "application", p->application);
        json_begin(j, "countersets", '[');
        for (size_t k = 0; k < p->count; k++) {
            const struct registered_set *s = &p->sets[k];
            text_from_guid(&s->guid, guid);
            json_begin(j, NULL, '{');
            json_text(j, "name", s->name);
            json_text(j, "guid", guid);
            json_text(j, "help", s->help);
            json_integer(j, "instances", s->instances);
            json_begin(j, "counters", '[');
            for (size_t n = 0; n < s->count; n++)
                show_counter(s, &s->counters[n], j);
            json_end(j, ']');
            json_end(j, '}');
        }
        json_end(j, ']');
        json_end(j, '}');
    }
}
