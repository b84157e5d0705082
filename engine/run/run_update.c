/* SPDX-License-Identifier: MIT */
/* A running set takes up a new definition (Commit with plaUpdateRunningInstance) between two samples. */
#include "engine/run/run_update.h"

#include "engine/os/memory.h"

#include <string.h>

static HRESULT collector_text(struct object *collector, char **xml)
{
    size_t size;
    /* Where the latest run wrote is no part of the definition. */
    HRESULT hr = object_put_text(collector, class_property(collector->class, "LatestOutputLocation"), "");
    return SUCCEEDED(hr) ? object_to_xml(collector, xml, &size) : hr;
}

static HRESULT same_collector(struct object *a, struct object *b, bool *same)
{
    char *texts[2] = {NULL, NULL};
    HRESULT hr = collector_text(a, &texts[0]);
    if (SUCCEEDED(hr))
        hr = collector_text(b, &texts[1]);
    *same = SUCCEEDED(hr) && !strcmp(texts[0], texts[1]);
    memory_free(texts[0]);
    memory_free(texts[1]);
    return hr;
}

/* Whether both write the same files, so that those that are open can stay. */
static HRESULT same_output(const struct run *r, const struct run_set *fresh, bool *same)
{
    const struct data_collector_set *x = r->set.set, *y = fresh->set;
    struct object **models;
    size_t count;
    HRESULT hr = collection_snapshot(y->DataCollectors, &models, &count);
    if (FAILED(hr))
        return hr;
    *same = r->segment.count == count && x->Segment == y->Segment && x->SegmentMaxSize == y->SegmentMaxSize &&
            x->SubdirectoryFormat == y->SubdirectoryFormat && !strcmp(x->RootPath, y->RootPath) &&
            !strcmp(x->Subdirectory, y->Subdirectory) && !strcmp(x->Description, y->Description) &&
            !strcmp(x->SubdirectoryFormatPattern, y->SubdirectoryFormatPattern);
    for (size_t i = 0; SUCCEEDED(hr) && *same && i < count; i++)
        hr = same_collector(r->segment.members[i].model, models[i], same);
    objects_release(models, count);
    return hr;
}

/* The definitions only: all else stays with the run. */
static void exchange(struct run_set *a, struct run_set *b)
{
    struct data_collector_set *old = a->set;
    a->set = b->set;
    b->set = old;
}

/* Whether a file that the new definition writes may be one that is open. */
static HRESULT reuses_files(const struct run_set *set, bool *reuses)
{
    struct object **models;
    size_t count;
    HRESULT hr = collection_snapshot(set->set->DataCollectors, &models, &count);
    *reuses = false;
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++) {
        const struct data_collector *c = collector_of(models[i]);
        *reuses = *reuses || c->LogAppend || c->LogCircular || c->LogOverwrite;
    }
    objects_release(models, count);
    return S_OK;
}

/* The grids of collectors that stay as they were go on; the others begin now. */
static void carry_grids(const struct segment *from, struct segment *to)
{
    int64_t now = tick_clock();
    for (size_t i = 0; i < to->count; i++) {
        struct member *m = &to->members[i];
        uint64_t interval = collector_interval_ms(m->collector);
        m->grid = tick_grid_from(now, interval);
        for (size_t k = 0; k < from->count; k++)
            if (from->members[k].grid.interval == interval && !strcmp(member_name(&from->members[k]), member_name(m)))
                m->grid = from->members[k].grid;
    }
}

/* Into r->segment, by the definition in force. `old` is closed or stays open, its grids go on. */
static HRESULT open_anew(struct run *r, const struct segment *old)
{
    HRESULT hr = segment_open(&r->set, true, NULL, &r->segment);
    if (SUCCEEDED(hr))
        carry_grids(old, &r->segment);
    return hr;
}

/* `fresh` is the definition in force on success, and the old one after it. The thread's error text survives. */
static HRESULT change_segment(struct run *r, struct run_set *fresh)
{
    struct segment old = r->segment;
    bool close_first;
    HRESULT hr = reuses_files(fresh, &close_first);
    if (FAILED(hr))
        return hr;
    if (close_first)
        run_end_segment(r, &r->set, &old);
    exchange(&r->set, fresh);
    hr = open_anew(r, &old);
    if (SUCCEEDED(hr)) {
        if (!close_first)
            run_end_segment(r, fresh, &old);
        segment_free(&old);
        return S_OK;
    }
    exchange(&r->set, fresh);
    if (!close_first) {
        r->segment = old;
        return hr;
    }
    struct error_kept why = error_keep(hr);
    HRESULT again = open_anew(r, &old);
    if (FAILED(again))
        run_end(r, again);
    segment_free(&old);
    return error_restore(&why);
}

static HRESULT begin_anew(struct run *r, struct run_set *fresh)
{
    run_move(r, STEP_UPDATE);
    HRESULT hr = change_segment(r, fresh);
    if (SUCCEEDED(hr)) {
        r->segment_started = tick_clock();
        r->roll = false;
    }
    if (!r->end)
        run_show_segment(r);
    run_move(r, r->end ? STEP_FAILED : STEP_BEGUN);
    return hr;
}

HRESULT run_take_definition(struct run *r)
{
    struct run_set fresh;
    bool same;
    HRESULT hr = run_set_load(r->set.space, r->set.name, &fresh);
    if (FAILED(hr))
        return hr;
    hr = same_output(r, &fresh, &same);
    if (SUCCEEDED(hr) && same)
        exchange(&r->set, &fresh);
    else if (SUCCEEDED(hr))
        hr = begin_anew(r, &fresh);
    run_set_free(&fresh);
    if (SUCCEEDED(hr))
        run_tell(r, JOURNAL_UPDATED, &(struct journal_facts){0});
    return hr;
}
