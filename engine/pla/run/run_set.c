/* SPDX-License-Identifier: MIT */
/* The set of a run: how it is loaded, and how its record is kept. */
#include "engine/pla/run/run_set.h"

#include "engine/base/memory.h"
#include "engine/pla/credentials.h"
#include "engine/pla/definition.h"

#include <string.h>

HRESULT run_set_load(const char *space, const char *name, struct run_set *out)
{
    struct object *set = NULL;
    char *xml = NULL;
    size_t size = 0;
    *out = (struct run_set){.space = space, .name = name};
    HRESULT hr = definition_load(&caller_self, space, name, &xml, &size);
    if (SUCCEEDED(hr))
        hr = definition_name_file(set_create_from_xml(xml, size, &set), space, name);
    if (SUCCEEDED(hr))
        hr = object_put_text(set, class_property(&data_collector_set_class, "Name"), name);
    if (SUCCEEDED(hr))
        hr = credentials_restore(set, space, name, xml, size);
    memory_free(xml);
    if (FAILED(hr)) {
        object_release(set);
        return hr;
    }
    out->set = set_of(set);
    return S_OK;
}

void run_set_free(struct run_set *r)
{
    if (r->set)
        object_release(&r->set->object);
    diagnostics_free(&r->diagnostics);
    texts_free(&r->held);
    memset(r, 0, sizeof *r);
}

void run_set_know_record(const struct run_set *r, struct run_record *record)
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
    run_set_know_record(o->set, record);
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
