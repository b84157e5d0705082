/* SPDX-License-Identifier: MIT */
/* The rules of the namespaces, and the errors and events for calls that the access check refuses. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/definition.h"
#include "engine/pla/model/validate.h"
#include "engine/pla/run/run_journal.h"
#include "engine/pla/store.h"

#define STATUS_UNDEFINED 4 /* plaUndefined, MS-PLA 2.2.2.4 */

static const struct category categories[] = {
    {.space = "Service", .source = DEFINITION_STORED, .runs = true},
    {.space = SYSTEM_SPACE,
     .source = DEFINITION_SHIPPED,
     .runs = true,
     .commit = {E_NOTIMPL, "System sets are read-only"},
     .delete = {E_ACCESSDENIED, "System sets are read-only"}},
    {.space = "Session", .source = DEFINITION_LIVE, .one_trace = true},
    {.space = "Autosession",
     .source = DEFINITION_REGISTRY,
     .one_trace = true,
     .status = STATUS_UNDEFINED,
     .start = {E_NOTIMPL, "an Autosession starts when the system starts"},
     .stop = {E_NOTIMPL, "an Autosession stops when the system shuts down"}},
    {.space = "Legacy",
     .source = DEFINITION_NONE,
     .none = "Legacy sets exist only on systems older than PLA, and OpenPLA cannot connect to such systems",
     .commit = {E_NOINTERFACE, "only systems older than PLA can store Legacy sets"}},
};

const struct category *category_of(const char *space)
{
    for (size_t i = 0; space && i < sizeof categories / sizeof categories[0]; i++)
        if (text_equal_nocase(categories[i].space, space))
            return &categories[i];
    return NULL;
}

HRESULT category_refuses(const struct refusal *refusal, const char *method)
{
    return FAILED(refusal->hr) ? error_set(refusal->hr, "%s: %s", method, refusal->why) : S_OK;
}

HRESULT category_check_collectors(const struct category *c, struct object *set)
{
    struct object **list;
    size_t count;
    if (!c->one_trace)
        return S_OK;
    HRESULT hr = collection_snapshot(set_of(set)->DataCollectors, &list, &count);
    if (FAILED(hr))
        return hr;
    if (count != 1)
        hr = error_set(PLA_E_DCS_SINGLETON_REQUIRED,
                       "DataCollectors: a set in %s must have exactly one data collector, but this one has %u",
                       c->space, (unsigned)count);
    else if (list[0]->class != &trace_data_collector_class)
        hr = error_set(PLA_E_DCS_SINGLETON_REQUIRED,
                       "DataCollectors: the collector of a set in %s must be a %s, but this one is a %s", c->space,
                       trace_data_collector_class.name, list[0]->class->name);
    objects_release(list, count);
    return hr;
}

HRESULT category_validate(const struct category *c, struct object *set, bool updates, struct object *issues)
{
    static const char *const never[] = {"RootPath",
                                        "Duration",
                                        "Description",
                                        "Keywords",
                                        "Segment",
                                        "SegmentMaxDuration",
                                        "SerialNumber",
                                        "Subdirectory",
                                        "SubdirectoryFormat",
                                        "SubdirectoryFormatPattern",
                                        "Task",
                                        "Schedules",
                                        "TraceDataCollector[1]/FileNameFormat",
                                        "TraceDataCollector[1]/FileNameFormatPattern",
                                        "TraceDataCollector[1]/LogOverwrite",
                                        NULL};
    static const char *const running[] = {"TraceDataCollector[1]/BufferSize",
                                          "TraceDataCollector[1]/MinimumBuffers",
                                          "TraceDataCollector[1]/NumberOfBuffers",
                                          "TraceDataCollector[1]/ClockType",
                                          "TraceDataCollector[1]/ProcessMode",
                                          "TraceDataCollector[1]/PreallocateFile",
                                          "SegmentMaxSize",
                                          NULL};
    static const struct unused unused[] = {{never, "a trace session does not use this property"},
                                           {running, "it cannot be changed in a running trace session"}};
    /* The second list does not apply to Autosession, because the session of the next boot can differ in all of these
       properties. */
    const size_t lists = !c->one_trace ? 0 : updates && c->source == DEFINITION_LIVE ? 2 : 1;
    return set_validate_without(set, unused, lists, issues);
}

/* ---- refusals by the access check ---- */

enum { WINDOW_MS = 60000 };

static struct {
    struct lock lock;
    uint64_t began; /* clock_monotonic_ms; 0: never */
    unsigned logged;
    uint64_t unlogged;
} refusals = {.lock = LOCK_INIT};

/* Returns whether a refusal may be logged now. *unlogged: the number of earlier refusals that were not logged. */
static bool refusal_may_log(uint64_t *unlogged)
{
    const uint64_t now = clock_monotonic_ms();
    lock_enter(&refusals.lock);
    if (!refusals.began || clock_passed_ms(refusals.began, now) >= WINDOW_MS) {
        refusals.began = now ? now : 1;
        refusals.logged = 0;
    }
    const bool logs = refusals.logged < REFUSALS_TOLD;
    *unlogged = logs ? refusals.unlogged : 0;
    refusals.logged += logs;
    refusals.unlogged = logs ? 0 : refusals.unlogged + 1;
    lock_leave(&refusals.lock);
    return logs;
}

HRESULT refusal_answer(HRESULT hr, const struct caller *caller, const char *space, const char *name)
{
    uint64_t unlogged;
    if (hr != SET_ACCESS_REFUSED)
        return hr;
    const struct error_kept why = error_keep(hr);
    if (refusal_may_log(&unlogged)) {
        char *account = caller_account(caller);
        journal_write(JOURNAL_REFUSED,
                      &(struct journal_facts){
                          .space = space, .name = name, .user = account, .reason = why.text, .count = unlogged});
        memory_free(account);
    }
    return error_set(E_ACCESSDENIED, "%s", why.text);
}
