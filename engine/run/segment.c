/* SPDX-License-Identifier: MIT */
/* Segments of a run: where they write, what they leave in the run record, and how they undo a start that fails. */
#include "engine/run/segment.h"

#include "engine/model/name_pattern.h"
#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/run/definition.h"
#include "engine/run/run.h"

#include <string.h>

HRESULT run_set_load(const char *space, const char *name, struct run_set *out)
{
    struct object *set = NULL, *issues = NULL;
    char *xml = NULL;
    size_t size = 0;
    memset(out, 0, sizeof *out);
    out->space = space;
    out->name = name;
    HRESULT hr = definition_load(&caller_self, space, name, &xml, &size);
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

/* A set that has never run has no record; its own serial number is the next one then. */
static void know_record(const struct run_set *r, struct run_record *record)
{
    if (!record->known) {
        record->known = true;
        record->serial_number = r->set->SerialNumber;
    }
}

struct outcome {
    const struct run_set *set;
    HRESULT result;
    const char *message;
    bool running;
};

static HRESULT put_outcome(struct run_record *record, const void *user)
{
    const struct outcome *o = user;
    know_record(o->set, record);
    record->last_result = o->result;
    record->running = o->running;
    return run_record_set_text(&record->last_message, o->message);
}

HRESULT run_set_record(const struct run_set *r, HRESULT result, const char *message, bool running)
{
    const struct outcome o = {r, result, message, running};
    return store_update_run(r->space, r->name, &(struct run_change){put_outcome, &o});
}

static HRESULT put_outcome_of_none(struct run_record *record, const void *user)
{
    const struct outcome *o = user;
    struct run_state state;
    /* Under the lock of the record: a run that begins shows itself before it writes that it runs. */
    HRESULT hr = run_query(o->set->space, o->set->name, &state);
    return FAILED(hr) ? hr : state.phase != PHASE_STOPPED ? S_FALSE : put_outcome(record, user);
}

HRESULT run_set_record_no_run(const struct run_set *r, HRESULT result, const char *message)
{
    const struct outcome o = {r, result, message, false};
    return store_update_run(r->space, r->name, &(struct run_change){put_outcome_of_none, &o});
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

struct noted {
    struct run_set *set;
    const char *collector, *file;
};

/* A counter that is not collected: told once in a run, not at each segment. */
static void note(void *user, HRESULT reason, const char *subject, const char *text)
{
    const struct noted *n = user;
    if (diagnostics_note(&n->set->diagnostics, reason, text))
        journal_write(JOURNAL_COUNTER_DROPPED, &(struct journal_facts){.space = n->set->space,
                                                                       .name = n->set->name,
                                                                       .counter = subject,
                                                                       .collector = n->collector,
                                                                       .file = n->file,
                                                                       .error = reason,
                                                                       .reason = text});
}

/* MS-PLA 3.2.4.2: what the data manager wants to have before a set starts (behaviour 14). */
static HRESULT check_resources(const struct run_set *r)
{
    const struct data_manager *m = (const struct data_manager *)r->set->DataManager;
    if (!m->Enabled || !m->CheckBeforeRunning)
        return S_OK;
    char *root = host_expand_environment(r->set->RootPath);
    struct texts folders = {0};
    uint64_t bytes = 0;
    HRESULT hr = root ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && m->MinFreeDisk)
        hr = folder_free_bytes(root, &bytes);
    if (SUCCEEDED(hr) && m->MinFreeDisk && bytes >> 20 < m->MinFreeDisk)
        hr = error_set(PLA_E_NO_MIN_DISK, "MinFreeDisk: \"%s\" has %u MB left, the set asks for %u", root,
                       (unsigned)(bytes >> 20), (unsigned)m->MinFreeDisk);
    if (SUCCEEDED(hr) && m->MaxFolderCount)
        hr = folder_list(root, true, &folders);
    if (SUCCEEDED(hr) && m->MaxFolderCount && folders.count >= m->MaxFolderCount)
        hr = error_set(PLA_E_TOO_MANY_FOLDERS, "MaxFolderCount: \"%s\" has %u folders, the set allows %u", root,
                       (unsigned)folders.count, (unsigned)m->MaxFolderCount);
    texts_free(&folders);
    memory_free(root);
    return hr;
}

static HRESULT open_collector(struct run_set *r, struct segment *s, size_t index, const struct name_context *context,
                              bool follows, struct segment *previous, bool *created)
{
    char *path = NULL;
    struct value description = {.kind = PROPERTY_TEXT};
    HRESULT hr = name_file(r->models[index], s, context, follows, &path);
    if (SUCCEEDED(hr))
        hr = texts_add(&s->files, path);
    if (SUCCEEDED(hr)) /* with a reference to a string resource resolved, as people are to read it */
        hr = object_get(&r->set->object, class_property(&data_collector_set_class, "Description"), &description);
    uint32_t new_instances_seconds = 0;
    if (SUCCEEDED(hr))
        hr = definition_new_instances(&r->set->object, &new_instances_seconds);
    if (SUCCEEDED(hr)) {
        struct noted noted = {r, collector_of(r->models[index])->Name, path};
        struct collect_context collect = {.output_path = path,
                                          .description = description.text,
                                          .segment_max_mb = r->set->SegmentMaxSize,
                                          .segmented = r->set->Segment,
                                          .report = note,
                                          .user = &noted,
                                          .previous = previous ? previous->collectors[index] : NULL,
                                          .new_instances_seconds = new_instances_seconds};
        bool existed = file_exists(path);
        start_report_opening(r->report, noted.collector);
        hr = collector_open(r->models[index], &collect, &s->collectors[index]);
        start_report_opening(r->report, "");
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
    struct error_kept why = error_keep(hr);
    for (size_t i = 0; created && s->collectors && i < r->count; i++) {
        collector_close(s->collectors[i]);
        if (created[i])
            file_delete(s->files.items[i]);
    }
    if (folder_created)
        folder_delete(s->location);
    segment_free(s);
    error_restore(&why);
}

struct serial {
    const struct run_set *set;
    uint32_t from, to;
    bool running;
};

/* The serial number is used up before a file of that number is made: a host that is killed at any moment leaves no
   number that a later run could take again. Somebody may have put another one meanwhile: that one stands. */
static HRESULT put_serial(struct run_record *record, const void *user)
{
    const struct serial *s = user;
    know_record(s->set, record);
    if (record->serial_number == s->from)
        record->serial_number = s->to;
    record->running = s->running;
    return S_OK;
}

static HRESULT take_serial(const struct run_set *r, uint32_t from, uint32_t to, bool running)
{
    const struct serial s = {r, from, to, running};
    return store_update_run(r->space, r->name, &(struct run_change){put_serial, &s});
}

struct opened {
    const struct run_set *set;
    const struct segment *segment;
    const char *message;
};

static HRESULT put_segment(struct run_record *record, const void *user)
{
    const struct opened *o = user;
    struct texts files = {0};
    know_record(o->set, record);
    HRESULT hr = texts_copy(&files, &o->segment->files);
    if (SUCCEEDED(hr))
        hr = run_record_set_text(&record->latest_location, o->segment->location);
    if (SUCCEEDED(hr))
        hr = run_record_set_text(&record->last_message, o->message);
    if (FAILED(hr)) {
        texts_free(&files);
        return hr;
    }
    texts_free(&record->latest_files);
    record->latest_files = files;
    record->last_result = o->set->diagnostics.loss;
    return S_OK;
}

static HRESULT record_segment(const struct run_set *r, const struct segment *s)
{
    char *message = diagnostics_text(&r->diagnostics);
    const struct opened o = {r, s, message};
    HRESULT hr = message ? store_update_run(r->space, r->name, &(struct run_change){put_segment, &o}) : E_OUTOFMEMORY;
    memory_free(message);
    return hr;
}

static HRESULT open_in_folder(struct run_set *r, bool follows, struct segment *previous,
                              const struct name_context *context, struct segment *s)
{
    bool *created = memory_zero(r->count + 1, sizeof *created);
    s->collectors = memory_zero(r->count + 1, sizeof *s->collectors);
    s->count = r->count;
    HRESULT hr = created && s->collectors ? S_OK : E_OUTOFMEMORY;
    bool folder_created = SUCCEEDED(hr) && !folder_exists(s->location);
    if (folder_created)
        hr = folder_create(s->location);
    folder_created = folder_created && SUCCEEDED(hr);
    if (SUCCEEDED(hr))
        hr = take_serial(r, s->serial_number, s->serial_number + 1, true);
    bool taken = SUCCEEDED(hr);
    for (size_t i = 0; SUCCEEDED(hr) && i < r->count; i++)
        hr = open_collector(r, s, i, context, follows, previous, &created[i]);
    if (SUCCEEDED(hr))
        hr = record_segment(r, s);
    if (FAILED(hr)) {
        uint32_t serial_number = s->serial_number;
        undo(r, s, created, folder_created, hr);
        if (taken)
            take_serial(r, serial_number + 1, serial_number, follows);
    }
    memory_free(created);
    return hr;
}

static HRESULT next_serial(const struct run_set *r, uint32_t *serial_number)
{
    struct run_record record;
    HRESULT hr = store_load_run(r->space, r->name, &record);
    if (FAILED(hr))
        return hr;
    know_record(r, &record);
    *serial_number = record.serial_number;
    run_record_free(&record);
    return S_OK;
}

HRESULT segment_open(struct run_set *r, bool follows, struct segment *previous, struct segment *out)
{
    struct name_context context;
    uint32_t serial_number = 0;
    memset(out, 0, sizeof *out);
    HRESULT hr = next_serial(r, &serial_number);
    if (SUCCEEDED(hr))
        hr = check_root(r);
    if (SUCCEEDED(hr) && !follows)
        hr = check_resources(r);
    if (SUCCEEDED(hr))
        hr = name_context_now(serial_number, &context);
    if (FAILED(hr))
        return hr;
    out->serial_number = serial_number;
    hr = set_output_folder(&r->set->object, &context, &out->location);
    if (SUCCEEDED(hr))
        hr = open_in_folder(r, follows, previous, &context, out);
    name_context_free(&context);
    return hr;
}

bool segment_note_remark(struct run_set *r, struct collector *c)
{
    char *remark;
    if (!c || collector_remark(c, &remark) != S_OK)
        return false;
    diagnostics_note(&r->diagnostics, S_OK, remark);
    memory_free(remark);
    return true;
}

static HRESULT each_collector(struct run_set *r, struct segment *s, HRESULT (*end)(struct collector *c))
{
    HRESULT hr = S_OK;
    for (size_t i = 0; s->collectors && i < s->count; i++) {
        segment_note_remark(r, s->collectors[i]);
        HRESULT one = end(s->collectors[i]);
        if (FAILED(one)) {
            diagnostics_note(&r->diagnostics, one, error_text(one));
            hr = one;
        }
    }
    return hr;
}

void segment_complete(struct run_set *r, struct segment *s)
{
    each_collector(r, s, collector_complete);
}

HRESULT segment_close(struct run_set *r, struct segment *s)
{
    HRESULT hr = each_collector(r, s, collector_close);
    segment_free(s);
    return hr;
}
