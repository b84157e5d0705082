/* SPDX-License-Identifier: MIT */
/* For the tests of Session and Autosession: creates sets with one trace collector, and starts sessions as other
   programs do. */
#ifndef OPENPLA_TRACE_SET_FIXTURE_H
#define OPENPLA_TRACE_SET_FIXTURE_H

#include "engine/pla/collect/trace_session.h"
#include "engine/pla/sets.h"
#include "tests/unit/numbered_provider.h"

#include <string.h>

enum {
    CREATE = SETS_CREATE_NEW,
    MODIFY = SETS_MODIFY,
    BOTH = CREATE | MODIFY,
    UPDATE = SETS_UPDATE_RUNNING,
    FLUSH = SETS_FLUSH_TRACE
};
#define NOT_FOUND PLA_E_DCS_NOT_FOUND
#define PROVIDER  "<Guid>{22222222-0001-0002-0300-000000000000}</Guid>"
#define ENABLED(level, any)                                                                                            \
    "<TraceDataProvider>" PROVIDER "<Level><Value>" #level "</Value></Level><KeywordsAny><Value>" #any                 \
    "</Value></KeywordsAny></TraceDataProvider>"

/* Creates a set with one trace collector, "c". Its RootPath is the tests' folder. */
static inline struct object *set_of_xml(const char *category, const char *in_set, const char *in_collector)
{
    struct object *set;
    char *xml = text_format("<DataCollectorSet><RootPath>%s</RootPath>%s<TraceDataCollector><Name>c</Name>%s"
                            "</TraceDataCollector></DataCollectorSet>",
                            folder, in_set, in_collector);
    assert_int_equal(sets_create(category, &set), S_OK);
    assert_int_equal(set_from_xml(set, xml, strlen(xml), NULL), S_OK);
    memory_free(xml);
    return set;
}

static inline HRESULT commit_with(struct object *set, const char *name, uint32_t mode, struct object **issues)
{
    assert_int_equal(issues_create(NULL, issues), S_OK);
    return set_commit(set, &caller_self, name, "", mode, *issues);
}

static inline HRESULT commit(struct object *set, const char *name, uint32_t mode)
{
    struct object *issues;
    HRESULT hr = commit_with(set, name, mode, &issues);
    object_release(issues);
    return hr;
}

static inline void assert_done(HRESULT hr)
{
    if (hr != S_OK)
        fail_msg("0x%08X %s", (unsigned)hr, error_text(hr));
}

static inline void assert_message(HRESULT hr, HRESULT expected, const char *part)
{
    assert_int_equal(hr, expected);
    if (!strstr(error_text(hr), part))
        fail_msg("'%s' lacks '%s'", error_text(hr), part);
}

static inline struct object *queried(const char *full)
{
    struct object *set;
    assert_int_equal(sets_create(text_matches("session\\*", full) ? "Session" : "Autosession", &set), S_OK);
    assert_done(set_query(set, &caller_self, full, ""));
    return set;
}

static inline HRESULT query(const char *full)
{
    struct object *set;
    assert_int_equal(sets_create(NULL, &set), S_OK);
    HRESULT hr = set_query(set, &caller_self, full, "");
    object_release(set);
    return hr;
}

/* Returns the collector; the set owns it. */
static inline struct trace_data_collector *collector_in(struct object *set)
{
    struct object *c;
    assert_int_equal(collection_count(set_of(set)->DataCollectors), 1);
    assert_int_equal(collection_item(set_of(set)->DataCollectors, 0, &c), S_OK);
    object_release(c);
    return (struct trace_data_collector *)c;
}

static inline uint64_t map_value(struct object *map)
{
    struct variant v;
    assert_int_equal(value_map_get_value(map, &v), S_OK);
    return (uint64_t)v.integer;
}

static inline uint32_t status_of(struct object *set)
{
    struct value v;
    assert_int_equal(object_get(set, &set->class->properties[IDataCollectorSet_Status], &v), S_OK);
    return v.u32;
}

static inline void assert_text(struct object *o, const char *property, const char *expected)
{
    struct value v;
    assert_int_equal(object_get(o, class_property(o->class, property), &v), S_OK);
    assert_string_equal(v.text, expected);
    value_free(&v);
}

static inline struct object *listed(const char *filter)
{
    struct object *sets;
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    assert_done(sets_find(sets, &caller_self, "", filter));
    return sets;
}

static inline size_t count_listed(const char *filter)
{
    struct object *sets = listed(filter);
    size_t count = collection_count(sets);
    object_release(sets);
    return count;
}

static inline char *file_named(const char *name)
{
    char *path = path_join(folder, name);
    assert_non_null(path);
    return path;
}

/* Starts a session that belongs to no set, as another program would. */
static inline void start_foreign(const char *name, uint32_t mode, uint32_t buffer_kb, const char *file)
{
    struct trace_enable enable = {.guid = guid, .level = 3, .any = 0x8000000000000005, .all = 4, .properties = 1};
    struct trace_plan plan = {.session = (char *)name,
                              .file = (char *)file,
                              .mode = mode,
                              .buffer_kb = buffer_kb,
                              .clock = 2,
                              .flush_timer = 7,
                              .maximum_file = file ? 9 : 0,
                              .enables = &enable,
                              .count = 1};
    struct trace_session s;
    assert_done(trace_session_start(&plan, &s));
    trace_session_free(&s);
}

static inline void stop_foreign(const char *name)
{
    struct trace_session last;
    assert_done(trace_session_stop(&(struct trace_target){.name = name}, &last));
    trace_session_free(&last);
}

#endif
