/* SPDX-License-Identifier: MIT */
/* A running set takes up a new definition (Commit with plaUpdateRunningInstance) between two samples. */
#include "engine/os/memory.h"
#include "engine/run/host_run.h"

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
static HRESULT same_output(const struct run_set *a, const struct run_set *b, bool *same)
{
    const struct data_collector_set *x = a->set, *y = b->set;
    HRESULT hr = S_OK;
    *same = a->count == b->count && x->Segment == y->Segment && x->SegmentMaxSize == y->SegmentMaxSize &&
            x->SubdirectoryFormat == y->SubdirectoryFormat && !strcmp(x->RootPath, y->RootPath) &&
            !strcmp(x->Subdirectory, y->Subdirectory) && !strcmp(x->Description, y->Description) &&
            !strcmp(x->SubdirectoryFormatPattern, y->SubdirectoryFormatPattern);
    for (size_t i = 0; SUCCEEDED(hr) && *same && i < a->count; i++)
        hr = same_collector(a->models[i], b->models[i], same);
    return hr;
}

/* The definitions only: the run's diagnostics stay with it. */
static void exchange(struct run_set *a, struct run_set *b)
{
    struct run_set old = *a;
    a->set = b->set;
    a->models = b->models;
    a->count = b->count;
    b->set = old.set;
    b->models = old.models;
    b->count = old.count;
}

/* A file that the new definition writes may be one that is open. */
static bool reuses_files(const struct run_set *set)
{
    bool reuses = false;
    for (size_t i = 0; i < set->count; i++) {
        const struct data_collector *c = collector_of(set->models[i]);
        reuses = reuses || c->LogAppend || c->LogCircular || c->LogOverwrite;
    }
    return reuses;
}

/* `fresh` is the definition in force on success, and the old one after it. The thread's error text survives. */
static HRESULT change_segment(struct run *r, struct run_set *fresh)
{
    struct segment next;
    bool close_first = reuses_files(fresh);
    if (close_first)
        segment_close(&r->set, &r->segment);
    exchange(&r->set, fresh);
    HRESULT hr = segment_open(&r->set, true, NULL, &next);
    if (SUCCEEDED(hr)) {
        if (!close_first)
            segment_close(&r->set, &r->segment);
        r->segment = next;
        return S_OK;
    }
    exchange(&r->set, fresh);
    if (!close_first)
        return hr;
    struct error_kept why = error_keep(hr);
    HRESULT again = segment_open(&r->set, true, NULL, &r->segment);
    if (FAILED(again))
        run_end(r, again);
    else
        run_show_segment(r);
    return error_restore(&why);
}

/* The grids of collectors that stay as they were go on; the others begin now. */
static void carry_grids(const struct run *r, const struct run_set *old, struct tick_grid *grids)
{
    int64_t now = tick_clock();
    for (size_t i = 0; i < r->set.count; i++) {
        uint64_t interval = collector_interval_ms(r->segment.collectors[i]);
        grids[i] = tick_grid_from(now, interval);
        for (size_t k = 0; k < old->count; k++)
            if (r->grids[k].interval == interval &&
                !strcmp(collector_of(old->models[k])->Name, collector_of(r->set.models[i])->Name))
                grids[i] = r->grids[k];
    }
}

static HRESULT begin_anew(struct run *r, struct run_set *fresh)
{
    struct tick_grid *grids = memory_zero(fresh->count + 1, sizeof *grids);
    if (!grids)
        return E_OUTOFMEMORY;
    run_move(r, STEP_UPDATE);
    HRESULT hr = change_segment(r, fresh);
    if (FAILED(hr)) {
        memory_free(grids);
        run_move(r, r->end ? STEP_FAILED : STEP_BEGUN);
        return hr;
    }
    carry_grids(r, fresh, grids);
    memory_free(r->grids);
    r->grids = grids;
    r->segment_started = tick_clock();
    r->roll = false;
    run_show_segment(r);
    run_move(r, STEP_BEGUN);
    return S_OK;
}

HRESULT run_take_definition(struct run *r)
{
    struct run_set fresh;
    bool same;
    HRESULT hr = run_set_load(r->set.space, r->set.name, &fresh);
    if (FAILED(hr))
        return hr;
    hr = same_output(&r->set, &fresh, &same);
    if (SUCCEEDED(hr) && same)
        exchange(&r->set, &fresh);
    else if (SUCCEEDED(hr))
        hr = begin_anew(r, &fresh);
    run_set_free(&fresh);
    if (SUCCEEDED(hr))
        run_tell(r, JOURNAL_UPDATED, &(struct journal_facts){0});
    return hr;
}
