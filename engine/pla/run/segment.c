/* SPDX-License-Identifier: MIT */
/* Opens and closes the segments of a run, writes them to the run record, and undoes a failed start. */
#include "engine/pla/run/segment.h"

#include "engine/base/assert.h"
#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/model/name_pattern.h"
#include "engine/pla/sets/run_folders.h"

#include <string.h>

static HRESULT make_members(struct run_set *r, struct segment *s)
{
    struct object **models;
    HRESULT hr = collection_snapshot(r->set->DataCollectors, &models, &s->count);
    if (FAILED(hr)) {
        s->count = 0;
        return hr;
    }
    s->members = memory_zero(s->count + 1, sizeof *s->members);
    if (!s->members) {
        objects_release(models, s->count);
        s->count = 0;
        return E_OUTOFMEMORY;
    }
    for (size_t i = 0; i < s->count; i++)
        s->members[i] = (struct member){.model = models[i], .set = r};
    memory_free(models);
    return S_OK;
}

/* Fails if no collector of the set would collect anything. */
static HRESULT check_kinds(const struct segment *s)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < s->count; i++) {
        hr = collector_runs(s->members[i].model);
        if (SUCCEEDED(hr))
            return hr;
    }
    return hr;
}

/* Performs the checks that change nothing. */
static HRESULT check_members(const struct segment *s)
{
    HRESULT hr = check_kinds(s);
    for (size_t i = 0; SUCCEEDED(hr) && i < s->count; i++)
        hr = collector_check(s->members[i].model);
    return hr;
}

void segment_free(struct segment *s)
{
    for (size_t i = 0; i < s->count; i++)
        member_free(&s->members[i]);
    memory_free(s->members);
    memory_free(s->location);
    memory_free(s->root);
    memset(s, 0, sizeof *s);
}

/* ---- the run record ---- */

struct entry {
    const struct run_set *set;
    const struct segment *segment;
    uint32_t serial_number;   /* copied, because the segment may have been freed when the entry is undone */
    const char *message;      /* the diagnostics so far */
    struct run_record before; /* the contents that the first segment of a run replaced */
};

static HRESULT put_texts(struct run_record *record, const char *location, const char *message,
                         const struct texts *files)
{
    struct texts own = {0};
    HRESULT hr = texts_copy(&own, files);
    if (SUCCEEDED(hr))
        hr = run_record_set_text(&record->latest_location, location ? location : "");
    if (SUCCEEDED(hr))
        hr = run_record_set_text(&record->last_message, message ? message : "");
    if (FAILED(hr)) {
        texts_free(&own);
        return hr;
    }
    texts_free(&record->latest_files);
    record->latest_files = own;
    return S_OK;
}

static HRESULT put_segment(struct run_record *record, const void *user)
{
    const struct entry *e = user;
    struct texts files = {0};
    HRESULT hr = S_OK;
    run_set_know_record(e->set, record);
    for (size_t i = 0; SUCCEEDED(hr) && i < e->segment->count; i++)
        hr = texts_add(&files, e->segment->members[i].file);
    if (SUCCEEDED(hr))
        hr = put_texts(record, e->segment->location, e->message, &files);
    if (SUCCEEDED(hr))
        record->last_result = e->set->diagnostics.loss;
    texts_free(&files);
    return hr;
}

/* Reserves the serial number before any file is created with it, so that a later run never uses the number again, even
   if the host process is killed. Keeps a number that a client has set in the meantime. */
static HRESULT put_serial(struct run_record *record, const void *user)
{
    const struct entry *e = user;
    run_set_know_record(e->set, record);
    if (record->serial_number == e->serial_number)
        record->serial_number++;
    record->running = true;
    return S_OK;
}

/* Writes the complete record of a run's first segment in one change, so that there is only one wait for the disk before
   the first sample. */
static HRESULT put_first(struct run_record *record, const void *user)
{
    struct entry *e = *(struct entry *const *)user;
    run_record_free(&e->before);
    e->before.last_result = record->last_result;
    HRESULT hr = put_texts(&e->before, record->latest_location, record->last_message, &record->latest_files);
    if (SUCCEEDED(hr))
        hr = put_serial(record, e);
    return SUCCEEDED(hr) ? put_segment(record, e) : hr;
}

/* Undoes the record of a segment that could not be opened, after its files were deleted. */
static HRESULT undo_entry(struct run_record *record, const void *user)
{
    const struct entry *e = user;
    run_set_know_record(e->set, record);
    if (record->serial_number == e->serial_number + 1)
        record->serial_number = e->serial_number;
    if (!e->before.latest_location) /* a later segment: the run continues with the segment before it */
        return S_OK;
    record->running = false;
    record->last_result = e->before.last_result;
    return put_texts(record, e->before.latest_location, e->before.last_message, &e->before.latest_files);
}

static HRESULT next_serial(const struct run_set *r, uint32_t *serial_number)
{
    struct run_record record;
    HRESULT hr = store_load_run(r->space, r->name, &record);
    if (FAILED(hr))
        return hr;
    run_set_know_record(r, &record);
    *serial_number = record.serial_number;
    run_record_free(&record);
    return S_OK;
}

static HRESULT change_record(const struct run_set *r, HRESULT (*change)(struct run_record *record, const void *user),
                             const void *user)
{
    return store_update_run(r->space, r->name, &(struct run_change){change, user});
}

/* Writes the run record before anything is created in the folder. If `follows` is true, this call only reserves the
   serial number, because the files are not known yet. */
static HRESULT segment_add_member(struct run_set *r, bool follows, struct entry *e)
{
    char *message = diagnostics_text(&r->diagnostics);
    HRESULT hr = message ? S_OK : E_OUTOFMEMORY;
    e->message = message;
    if (SUCCEEDED(hr))
        hr = follows ? change_record(r, put_serial, e) : change_record(r, put_first, &e);
    e->message = NULL;
    memory_free(message);
    return hr;
}

static HRESULT record_segment(struct run_set *r, struct entry *e)
{
    char *message = diagnostics_text(&r->diagnostics);
    e->message = message;
    HRESULT hr = message ? change_record(r, put_segment, e) : E_OUTOFMEMORY;
    r->noted = r->noted && FAILED(hr);
    e->message = NULL;
    memory_free(message);
    return hr;
}

/* ---- the segment ---- */

/* Returns the member that `m` continues; NULL: none. If the definition is the same, this is the member at the same
   index, whose collector is completed. If the definition differs, this is the member with the same name, provided that
   its kind of collector can be handed over while it is active. */
static struct member *find_previous(const struct segment *previous, const struct member *m, size_t place)
{
    if (!previous)
        return NULL;
    if (previous->definition == m->set->set) {
        assert(place < previous->count);
        return &previous->members[place];
    }
    for (size_t i = 0; i < previous->count; i++) {
        struct member *p = &previous->members[i];
        if (p->collector && !strcmp(member_name(p), member_name(m)) && collector_hands_over(p->collector, m->model))
            return p;
    }
    return NULL;
}

/* Removes everything that a failed segment created. *moved: a collector of `previous` now writes to another file.
   Preserves the thread's error text. */
static void segment_undo(const struct run_set *r, struct segment *s, struct segment *previous, bool folder_created,
                         HRESULT hr, bool *moved)
{
    struct error_kept why = error_keep(hr);
    *moved = false;
    for (size_t i = s->count; i-- > 0;) {
        struct member *m = &s->members[i], *before = find_previous(previous, m, i);
        bool stays = collector_hand_back(m->collector);
        collector_close(m->collector);
        if (stays && before) {
            char *file = before->file;
            before->file = m->file;
            m->file = file;
            *moved = true;
        } else if (m->created && !stays) {
            collector_delete_file(m->model, s->root, m->file);
        }
    }
    if (folder_created) {
        run_folder_give_back(r, s);
        folder_delete(s->location);
    }
    segment_free(s);
    error_restore(&why);
}

static HRESULT open_member(struct member *m, size_t place, const struct name_context *context, bool follows,
                           struct segment *previous, const struct segment *s)
{
    HRESULT hr = S_OK;
    if (follows) /* chooses another name if the file was created in the meantime */
        hr = member_choose_file(m, s->location, context, follows);
    return SUCCEEDED(hr) ? member_open(m, s->root, find_previous(previous, m, place)) : hr;
}

static HRESULT open_in_folder(struct run_set *r, bool follows, struct segment *previous,
                              const struct name_context *context, struct segment *s)
{
    struct entry entry = {.set = r, .segment = s, .serial_number = s->serial_number};
    HRESULT hr = make_members(r, s);
    if (SUCCEEDED(hr))
        hr = check_members(s);
    bool folder_created = SUCCEEDED(hr) && !folder_exists(s->location);
    if (SUCCEEDED(hr))
        hr = folder_create_below(s->root, s->location);
    folder_created = folder_created && SUCCEEDED(hr);
    if (SUCCEEDED(hr))
        run_folder_take(r, s, folder_created);
    for (size_t i = 0; SUCCEEDED(hr) && !follows && i < s->count; i++)
        hr = member_choose_file(&s->members[i], s->location, context, follows);
    if (SUCCEEDED(hr))
        hr = segment_add_member(r, follows, &entry);
    bool entered = SUCCEEDED(hr);
    /* Members that take over a session are opened last, because a takeover cannot be undone completely. */
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; SUCCEEDED(hr) && i < s->count; i++)
            if (collector_takes_over(s->members[i].model) == (last == 1))
                hr = open_member(&s->members[i], i, context, follows, previous, s);
    if (SUCCEEDED(hr) && follows)
        hr = record_segment(r, &entry);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        bool moved;
        segment_undo(r, s, previous, folder_created, hr, &moved);
        if (entered)
            change_record(r, undo_entry, &entry);
        entry.segment = previous;
        if (moved)
            (void)record_segment(r, &entry);
        error_restore(&why);
    }
    run_record_free(&entry.before);
    return hr;
}

HRESULT segment_open(struct run_set *r, bool follows, struct segment *previous, struct segment *out)
{
    struct name_context context;
    uint32_t serial_number = 0;
    memset(out, 0, sizeof *out);
    out->definition = r->set;
    HRESULT hr = next_serial(r, &serial_number);
    if (SUCCEEDED(hr))
        hr = output_check_root(r->set);
    if (SUCCEEDED(hr) && !follows)
        hr = output_check_resources(r);
    if (SUCCEEDED(hr))
        hr = name_context_now(serial_number, &context);
    if (FAILED(hr))
        return hr;
    out->serial_number = serial_number;
    out->root = os_expand_environment(set_root(r->set));
    hr = out->root ? set_output_folder(&r->set->object, &context, &out->location) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = open_in_folder(r, follows, previous, &context, out);
    else
        segment_free(out);
    TRACE_STEP(run, "segment %u opens in %s: 0x%08X", (unsigned)serial_number, out->location ? out->location : "",
               (unsigned)hr);
    name_context_free(&context);
    return hr;
}

static HRESULT each_member(struct segment *s, HRESULT (*end)(struct collector *c))
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < s->count; i++) {
        HRESULT one = end(s->members[i].collector);
        if (FAILED(one)) {
            member_note(&s->members[i], one);
            hr = one;
        }
    }
    return hr;
}

void segment_complete(struct segment *s)
{
    each_member(s, collector_complete);
}

HRESULT segment_close(struct segment *s)
{
    HRESULT hr = each_member(s, collector_close);
    TRACE_STEP(run, "segment %u closes: 0x%08X", (unsigned)s->serial_number, (unsigned)hr);
    for (size_t i = 0; i < s->count; i++)
        s->members[i].collector = NULL;
    return hr;
}
