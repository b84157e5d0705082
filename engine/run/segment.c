/* SPDX-License-Identifier: MIT */
/* Segments of a run: where they write, what they leave in the run record, and how they undo a start that fails. */
#include "engine/run/segment.h"

#include "engine/model/name_pattern.h"
#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/run/definition.h"

#include <string.h>

HRESULT run_set_load(const char *space, const char *name, struct run_set *out)
{
    struct object *set = NULL, *issues = NULL;
    char *xml = NULL;
    size_t size = 0;
    memset(out, 0, sizeof *out);
    out->space = space;
    out->name = name;
    HRESULT hr = definition_load(space, name, &xml, &size);
    if (SUCCEEDED(hr))
        hr = set_create(&set);
    if (SUCCEEDED(hr))
        hr = issues_create(set, &issues);
    if (SUCCEEDED(hr))
        hr = set_from_xml(set, xml, size, issues);
    if (SUCCEEDED(hr))
        hr = object_put_text(set, class_property(&data_collector_set_class, "Name"), name);
    memory_free(xml);
    object_release(issues);
    if (SUCCEEDED(hr)) {
        out->set = (struct data_collector_set *)set;
        hr = collection_snapshot(out->set->DataCollectors, &out->models, &out->count);
    }
    if (FAILED(hr)) {
        out->set = NULL;
        object_release(set);
    }
    return hr;
}

void run_set_free(struct run_set *r)
{
    if (r->models)
        objects_release(r->models, r->count);
    if (r->set)
        object_release(&r->set->object);
    diagnostics_free(&r->diagnostics);
    memset(r, 0, sizeof *r);
}

/* Replaces an owned text. */
static HRESULT replace_text(char **text, const char *with)
{
    char *copy = text_copy(with);
    if (!copy)
        return E_OUTOFMEMORY;
    memory_free(*text);
    *text = copy;
    return S_OK;
}

/* A set that has never run has no record; its own serial number is the next one then. */
static HRESULT load_record(const struct run_set *r, struct run_record *record)
{
    HRESULT hr = store_load_run(r->space, r->name, record);
    if (SUCCEEDED(hr) && !record->known) {
        record->known = true;
        record->serial_number = r->set->SerialNumber;
    }
    return hr;
}

HRESULT run_set_record(const struct run_set *r, HRESULT result, const char *message)
{
    struct run_record record;
    HRESULT hr = load_record(r, &record);
    if (FAILED(hr))
        return hr;
    record.last_result = result;
    hr = replace_text(&record.last_message, message);
    if (SUCCEEDED(hr))
        hr = store_save_run(r->space, r->name, &record);
    run_record_free(&record);
    return hr;
}

/* Whether `path` is `folder` or lies below it. */
static bool is_below(const char *path, const char *folder)
{
    char *head = text_copy_n(path, strnlen(path, strlen(folder)));
    bool below = head && text_equal_nocase(head, folder) && (strchr("\\/", path[strlen(folder)]) != NULL);
    memory_free(head);
    return below;
}

/* RootPath is made for the user only when it is the default or below that, as Windows' own wizard puts it; elsewhere a
   mistyped path must not make folders. */
static HRESULT check_root(const struct run_set *r)
{
    const struct property *row = class_property(&data_collector_set_class, "RootPath");
    char *root = host_expand_environment(r->set->RootPath), *standard = host_expand_environment(row->text);
    HRESULT hr = root && standard ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !folder_exists(root)) {
        if (is_below(root, standard))
            hr = folder_create(root);
        else
            hr = error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "RootPath: there is no folder \"%s\"", root);
    }
    memory_free(root);
    memory_free(standard);
    return hr;
}

/* path with "_<serial>" before its extension. */
static char *with_serial(const char *path, uint32_t serial_number)
{
    const char *extension = path_extension(path);
    return text_format("%.*s_%06u%s", (int)(strlen(path) - strlen(extension)), path, (unsigned)serial_number,
                       extension);
}

static HRESULT name_file(struct object *model, const struct segment *s, const struct name_context *context,
                         bool follows, char **out)
{
    HRESULT hr = collector_output_file(model, s->location, context, out);
    const struct data_collector *c = collector_of(model);
    if (FAILED(hr) || !follows || c->LogOverwrite || c->LogAppend || c->LogCircular || !file_exists(*out))
        return hr;
    char *other = with_serial(*out, s->serial_number);
    memory_free(*out);
    *out = other;
    return other ? S_OK : E_OUTOFMEMORY;
}

static void note(void *user, HRESULT reason, const char *subject, const char *text)
{
    (void)subject; /* the text names it */
    diagnostics_note(user, reason, text);
}

static HRESULT open_collector(struct run_set *r, struct segment *s, size_t index, const struct name_context *context,
                              bool follows, bool *created)
{
    char *path = NULL;
    struct value description = {.kind = PROPERTY_TEXT};
    HRESULT hr = name_file(r->models[index], s, context, follows, &path);
    if (SUCCEEDED(hr))
        hr = texts_add(&s->files, path);
    if (SUCCEEDED(hr)) /* with a reference to a string resource resolved, as people are to read it */
        hr = object_get(&r->set->object, class_property(&data_collector_set_class, "Description"), &description);
    if (SUCCEEDED(hr)) {
        struct collect_context collect = {.output_path = path,
                                          .description = description.text,
                                          .segment_max_mb = r->set->SegmentMaxSize,
                                          .segmented = r->set->Segment,
                                          .report = note,
                                          .user = &r->diagnostics};
        bool existed = file_exists(path);
        hr = collector_open(r->models[index], &collect, &s->collectors[index]);
        *created = SUCCEEDED(hr) && !existed;
    }
    value_free(&description);
    memory_free(path);
    return hr;
}

static void segment_free(struct segment *s)
{
    memory_free(s->collectors);
    memory_free(s->location);
    texts_free(&s->files);
    memset(s, 0, sizeof *s);
}

/* Takes back what a start that failed has made. The thread's error text survives. */
static void undo(struct run_set *r, struct segment *s, const bool *created, bool folder_created, HRESULT hr)
{
    char *text = text_copy(error_text(hr));
    for (size_t i = 0; created && s->collectors && i < r->count; i++) {
        collector_close(s->collectors[i]);
        if (created[i])
            file_delete(s->files.items[i]);
    }
    if (folder_created)
        folder_delete(s->location);
    segment_free(s);
    if (text)
        error_set(hr, "%s", text);
    memory_free(text);
}

/* The serial number is used up before a file of that number is made: a host that is killed at any moment leaves no
   number that a later run could take again. */
static HRESULT take_serial(struct run_set *r, struct run_record *record, uint32_t serial_number)
{
    record->serial_number = serial_number;
    return store_save_run(r->space, r->name, record);
}

static HRESULT record_segment(struct run_set *r, struct run_record *record, const struct segment *s)
{
    struct texts files = {0};
    HRESULT hr = texts_copy(&files, &s->files);
    if (SUCCEEDED(hr))
        hr = replace_text(&record->latest_location, s->location);
    if (SUCCEEDED(hr)) {
        texts_free(&record->latest_files);
        record->latest_files = files;
        memset(&files, 0, sizeof files);
        record->last_result = S_OK;
        char *message = diagnostics_text(&r->diagnostics);
        hr = replace_text(&record->last_message, message);
        memory_free(message);
    }
    if (SUCCEEDED(hr))
        hr = store_save_run(r->space, r->name, record);
    texts_free(&files);
    return hr;
}

static HRESULT open_in_folder(struct run_set *r, bool follows, const struct name_context *context,
                              struct run_record *record, struct segment *s)
{
    bool *created = memory_zero(r->count + 1, sizeof *created);
    s->collectors = memory_zero(r->count + 1, sizeof *s->collectors);
    HRESULT hr = created && s->collectors ? S_OK : E_OUTOFMEMORY;
    bool folder_created = SUCCEEDED(hr) && !folder_exists(s->location);
    if (folder_created)
        hr = folder_create(s->location);
    folder_created = folder_created && SUCCEEDED(hr);
    if (SUCCEEDED(hr))
        hr = take_serial(r, record, s->serial_number + 1);
    bool taken = SUCCEEDED(hr);
    for (size_t i = 0; SUCCEEDED(hr) && i < r->count; i++)
        hr = open_collector(r, s, i, context, follows, &created[i]);
    if (SUCCEEDED(hr))
        hr = record_segment(r, record, s);
    if (FAILED(hr)) {
        undo(r, s, created, folder_created, hr);
        if (taken)
            take_serial(r, record, context->serial_number);
    }
    memory_free(created);
    return hr;
}

HRESULT segment_open(struct run_set *r, bool follows, struct segment *out)
{
    struct run_record record;
    struct name_context context;
    memset(out, 0, sizeof *out);
    HRESULT hr = load_record(r, &record);
    if (FAILED(hr))
        return hr;
    hr = check_root(r);
    if (SUCCEEDED(hr))
        hr = name_context_now(record.serial_number, &context);
    if (SUCCEEDED(hr)) {
        out->serial_number = record.serial_number;
        hr = set_output_folder(&r->set->object, &context, &out->location);
        if (SUCCEEDED(hr))
            hr = open_in_folder(r, follows, &context, &record, out);
        name_context_free(&context);
    }
    run_record_free(&record);
    return hr;
}

HRESULT segment_close(struct run_set *r, struct segment *s)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; s->collectors && i < r->count; i++) {
        HRESULT one = collector_close(s->collectors[i]);
        if (FAILED(one)) {
            diagnostics_note(&r->diagnostics, one, error_text(one));
            hr = one;
        }
    }
    segment_free(s);
    return hr;
}
