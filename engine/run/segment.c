/* SPDX-License-Identifier: MIT */
/* Segments of a run: what they leave in the run record, and how they undo a start that fails. */
#include "engine/run/segment.h"

#include "engine/model/name_pattern.h"
#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/run/output.h"

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

void segment_free(struct segment *s)
{
    for (size_t i = 0; i < s->count; i++) {
        object_release(s->members[i].model);
        memory_free(s->members[i].file);
    }
    memory_free(s->members);
    memory_free(s->location);
    memory_free(s->root);
    memset(s, 0, sizeof *s);
}

/* Takes back what a start that failed has made. The thread's error text survives. */
static void undo(struct segment *s, bool folder_created, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    for (size_t i = 0; i < s->count; i++) {
        collector_close(s->members[i].collector);
        if (s->members[i].created)
            file_delete_below(s->root, s->members[i].file);
    }
    if (folder_created)
        folder_delete(s->location);
    segment_free(s);
    error_restore(&why);
}

/* ---- the run record ---- */

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
    run_set_know_record(s->set, record);
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

struct opened {
    const struct run_set *set;
    const struct segment *segment;
    const char *message;
};

static HRESULT put_segment(struct run_record *record, const void *user)
{
    const struct opened *o = user;
    struct texts files = {0};
    HRESULT hr = S_OK;
    run_set_know_record(o->set, record);
    for (size_t i = 0; SUCCEEDED(hr) && i < o->segment->count; i++)
        hr = texts_add(&files, o->segment->members[i].file);
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

static HRESULT record_segment(struct run_set *r, const struct segment *s)
{
    char *message = diagnostics_text(&r->diagnostics);
    const struct opened o = {r, s, message};
    HRESULT hr = message ? store_update_run(r->space, r->name, &(struct run_change){put_segment, &o}) : E_OUTOFMEMORY;
    r->noted = r->noted && FAILED(hr);
    memory_free(message);
    return hr;
}

/* ---- the segment ---- */

static HRESULT open_in_folder(struct run_set *r, bool follows, struct segment *previous,
                              const struct name_context *context, struct segment *s)
{
    HRESULT hr = make_members(r, s);
    bool folder_created = SUCCEEDED(hr) && !folder_exists(s->location);
    if (SUCCEEDED(hr))
        hr = folder_create_below(s->root, s->location);
    folder_created = folder_created && SUCCEEDED(hr);
    if (SUCCEEDED(hr))
        hr = take_serial(r, s->serial_number, s->serial_number + 1, true);
    bool taken = SUCCEEDED(hr);
    for (size_t i = 0; SUCCEEDED(hr) && i < s->count; i++)
        hr = member_open(&s->members[i], s->root, s->location, context, follows,
                         previous ? &previous->members[i] : NULL);
    if (SUCCEEDED(hr))
        hr = record_segment(r, s);
    if (FAILED(hr)) {
        uint32_t serial_number = s->serial_number;
        undo(s, folder_created, hr);
        if (taken)
            take_serial(r, serial_number + 1, serial_number, follows);
    }
    return hr;
}

HRESULT segment_open(struct run_set *r, bool follows, struct segment *previous, struct segment *out)
{
    struct name_context context;
    uint32_t serial_number = 0;
    memset(out, 0, sizeof *out);
    HRESULT hr = next_serial(r, &serial_number);
    if (SUCCEEDED(hr))
        hr = output_check_root(r);
    if (SUCCEEDED(hr) && !follows)
        hr = output_check_resources(r);
    if (SUCCEEDED(hr))
        hr = name_context_now(serial_number, &context);
    if (FAILED(hr))
        return hr;
    out->serial_number = serial_number;
    out->root = host_expand_environment(r->set->RootPath);
    hr = out->root ? set_output_folder(&r->set->object, &context, &out->location) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = open_in_folder(r, follows, previous, &context, out);
    else
        segment_free(out);
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
    for (size_t i = 0; i < s->count; i++)
        s->members[i].collector = NULL;
    return hr;
}
