/* SPDX-License-Identifier: MIT */
/* A running set takes up a new definition (Commit with plaUpdateRunningInstance) between two samples. */
#include "engine/pla/run/run_update.h"

#include "engine/base/memory.h"

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

/* Whether the sets, but for their collectors, write to the same folders. */
static bool same_folders(const struct data_collector_set *x, const struct data_collector_set *y)
{
    return x->Segment == y->Segment && x->SegmentMaxSize == y->SegmentMaxSize &&
           x->SubdirectoryFormat == y->SubdirectoryFormat && !strcmp(x->RootPath, y->RootPath) &&
           !strcmp(x->Subdirectory, y->Subdirectory) && !strcmp(x->Description, y->Description) &&
           !strcmp(x->SubdirectoryFormatPattern, y->SubdirectoryFormatPattern);
}

/* Whether the collector writes the same file in the same way. */
static bool same_file(const struct data_collector *a, const struct data_collector *b)
{
    return !strcmp(a->Name, b->Name) && !strcmp(a->FileName, b->FileName) && a->FileNameFormat == b->FileNameFormat &&
           !strcmp(a->FileNameFormatPattern, b->FileNameFormatPattern) && a->LogAppend == b->LogAppend &&
           a->LogCircular == b->LogCircular && a->LogOverwrite == b->LogOverwrite;
}

/* Which members are other ones in `models`. S_FALSE: one of them can only be opened anew. */
static HRESULT find_changed(const struct run *r, struct object *const *models, bool *changed)
{
    HRESULT hr = S_OK;
    bool all_can = true;
    for (size_t i = 0; SUCCEEDED(hr) && i < r->segment.count; i++) {
        const struct member *m = &r->segment.members[i];
        bool same = false;
        hr = same_collector(m->model, models[i], &same);
        changed[i] = !same;
        all_can = all_can && (same || (same_file(collector_of(m->model), collector_of(models[i])) &&
                                       collector_hands_over(m->collector, models[i])));
    }
    return SUCCEEDED(hr) && !all_can ? S_FALSE : hr;
}

/* All go on as `models` say, or as they were. */
static HRESULT update_members(struct run *r, struct object *const *models, const bool *changed)
{
    HRESULT hr = S_OK;
    size_t done = 0;
    for (; hr == S_OK && done < r->segment.count; done++)
        if (changed[done])
            hr = collector_update(r->segment.members[done].collector, models[done]);
    struct error_kept why = error_keep(hr);
    if (hr == S_OK)
        done = 0;
    else
        done--; /* which is as it was */
    while (done-- > 0)
        if (changed[done])
            (void)collector_update(r->segment.members[done].collector, r->segment.members[done].model);
    return FAILED(hr) ? error_restore(&why) : hr;
}

/* Takes up the definition where files that are open can stay. S_FALSE: they cannot, and nothing has changed. */
static HRESULT change_in_place(struct run *r, const struct run_set *fresh)
{
    struct object **models;
    size_t count;
    HRESULT hr = collection_snapshot(fresh->set->DataCollectors, &models, &count);
    if (FAILED(hr))
        return hr;
    bool *changed = memory_zero(count + 1, sizeof *changed);
    if (!changed)
        hr = E_OUTOFMEMORY;
    else if (r->segment.count != count || !same_folders(r->set.set, fresh->set))
        hr = S_FALSE;
    if (hr == S_OK)
        hr = find_changed(r, models, changed);
    if (hr == S_OK)
        hr = update_members(r, models, changed);
    for (size_t i = 0; hr == S_OK && i < count; i++) {
        object_release(r->segment.members[i].model);
        r->segment.members[i].model = object_reference(models[i]);
    }
    memory_free(changed);
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

/* Whether a collector that is at work has to end before the one of its name in the new definition can begin. */
static HRESULT stands_in_the_way(const struct segment *old, const struct run_set *set, bool *stands)
{
    struct object **models;
    size_t count;
    HRESULT hr = collection_snapshot(set->set->DataCollectors, &models, &count);
    *stands = false;
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; !*stands && k < old->count; k++)
            *stands = !strcmp(collector_of(models[i])->Name, member_name(&old->members[k])) &&
                      !collector_follows(old->members[k].collector, models[i]);
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
static HRESULT open_anew(struct run *r, struct segment *old)
{
    HRESULT hr = segment_open(&r->set, true, old, &r->segment);
    if (SUCCEEDED(hr))
        carry_grids(old, &r->segment);
    return hr;
}

/* `fresh` is the definition in force on success, and the old one after it. The thread's error text survives. */
static HRESULT change_segment(struct run *r, struct run_set *fresh)
{
    struct segment old = r->segment;
    bool close_first, stands = false;
    HRESULT hr = reuses_files(fresh, &close_first);
    if (SUCCEEDED(hr))
        hr = stands_in_the_way(&old, fresh, &stands);
    if (FAILED(hr))
        return hr;
    close_first = close_first || stands;
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
    HRESULT hr = run_set_load(r->set.space, r->set.name, &fresh);
    if (FAILED(hr))
        return hr;
    hr = change_in_place(r, &fresh);
    if (hr == S_OK) {
        exchange(&r->set, &fresh);
        r->segment.definition = r->set.set;
        for (size_t i = 0; i < r->segment.count; i++)
            if (FAILED(member_read_alert(&r->segment.members[i]))) /* its settings stay those of before */
                member_note(&r->segment.members[i], E_OUTOFMEMORY);
    } else if (hr == S_FALSE) {
        hr = begin_anew(r, &fresh);
    }
    run_set_free(&fresh);
    if (SUCCEEDED(hr))
        run_tell(r, JOURNAL_UPDATED, &(struct journal_facts){0});
    return hr;
}
