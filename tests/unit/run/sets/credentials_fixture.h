/* SPDX-License-Identifier: MIT */
/* Creates sets with accounts and databases, and checks their stored passwords. */
#ifndef OPENPLA_CREDENTIALS_FIXTURE_H
#define OPENPLA_CREDENTIALS_FIXTURE_H

#include "engine/base/memory.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/set_credentials.h"
#include "engine/pla/sets.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/secret_keys.h"

#include <string.h>

static inline struct object *a_set(const char *collector_xml)
{
    struct object *set;
    char *root = fixture_folder("root");
    char *xml =
        text_format("<DataCollectorSet><RootPath>%s</RootPath>%s%s%s</DataCollectorSet>", root,
                    collector_xml ? "<PerformanceCounterDataCollector><Name>c</Name>" : "",
                    collector_xml ? collector_xml : "", collector_xml ? "</PerformanceCounterDataCollector>" : "");
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_int_equal(set_from_xml(set, xml, strlen(xml), NULL), S_OK);
    memory_free(xml);
    memory_free(root);
    return set;
}

static inline struct object *a_queried_set(const char *name)
{
    struct object *set;
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_int_equal(set_query(set, &caller_self, name, ""), S_OK);
    return set;
}

static inline HRESULT commit(struct object *set, const struct caller *caller, const char *name, uint32_t mode)
{
    struct object *issues;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    HRESULT hr = set_commit(set, caller, name, "", mode, issues);
    object_release(issues);
    return hr;
}

static inline void give(struct object *set, const char *user, const char *password)
{
    assert_int_equal(sets_set_credentials(set, &caller_self, user, password), S_OK);
}

static inline size_t secrets(void)
{
    struct texts keys;
    list_secret_keys(&keys);
    size_t count = keys.count;
    texts_free(&keys);
    return count;
}

static inline bool holds(const char *data, size_t size, const char *text)
{
    WCHAR *wide;
    size_t n = strlen(text), units;
    bool found = false;
    assert_int_equal(text_to_utf16(text, &wide, &units), S_OK);
    for (size_t i = 0; !found && i < size; i++)
        found = (size - i >= n && !memcmp(data + i, text, n)) ||
                (size - i >= units * 2 && !memcmp(data + i, wide, units * 2));
    memory_free(wide);
    return found;
}

static inline char *source_of(struct object *set, bool whole)
{
    struct object **list;
    struct value v;
    size_t count;
    assert_int_equal(collection_snapshot(set_of(set)->DataCollectors, &list, &count), S_OK);
    assert_int_equal(count, 1);
    const struct property *p = class_property(list[0]->class, "DataSourceName");
    assert_int_equal(whole ? object_get_field(list[0], p, &v) : object_get(list[0], p, &v), S_OK);
    objects_release(list, count);
    return v.text;
}

/* Asserts that the set host process would now use the expected connection string. */
static inline void assert_connects_with(const char *name, const char *expected)
{
    struct run_set set;
    assert_int_equal(run_set_load(SPACE, name, &set), S_OK);
    char *source = source_of(&set.set->object, true);
    assert_string_equal(source, expected);
    memory_free(source);
    run_set_free(&set);
}

#endif
