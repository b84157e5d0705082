/* SPDX-License-Identifier: MIT */
/* Sets created from XML, and the issues that Commit reports for them. */
#ifndef TESTS_UNIT_SET_XML_FIXTURE_H
#define TESTS_UNIT_SET_XML_FIXTURE_H

#include "engine/base/memory.h"
#include "engine/pla/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static inline struct object *new_set(void)
{
    struct object *set = NULL;
    assert_int_equal(set_create(&set), S_OK);
    return set;
}

static inline struct object *new_issues(void)
{
    struct object *map = NULL;
    assert_int_equal(issues_create(NULL, &map), S_OK);
    return map;
}

static inline struct object *collectors_of(struct object *set)
{
    return ((struct data_collector_set *)set)->DataCollectors;
}

static inline HRESULT set_xml(struct object *set, const char *xml)
{
    struct object *issues = new_issues();
    HRESULT hr = set_from_xml(set, xml, strlen(xml), issues);
    object_release(issues);
    return hr;
}

static inline char *xml_of(struct object *o)
{
    char *xml = NULL;
    size_t size = 0;
    assert_int_equal(object_to_xml(o, &xml, &size), S_OK);
    assert_int_equal(strlen(xml), size);
    return xml;
}

/* Returns a line "key 0xHRESULT\n" for each issue. */
static inline char *listed(struct object *issues)
{
    struct text_buffer b = {0};
    for (size_t i = 0; i < collection_count(issues); i++) {
        struct object *item;
        assert_int_equal(collection_item(issues, i, &item), S_OK);
        const struct value_map_item *v = (const struct value_map_item *)item;
        text_buffer_format(&b, "%s 0x%08x\n", v->Key, (unsigned)v->Value.integer);
        assert_int_not_equal(strlen(v->Description), 0);
        object_release(item);
    }
    return text_buffer_take(&b);
}

#define SET(x)     "<DataCollectorSet>" x "</DataCollectorSet>"
#define COUNTER(x) "<PerformanceCounterDataCollector>" x "</PerformanceCounterDataCollector>"
#define QUIET                                                                                                          \
    "<Task>t</Task><SubdirectoryFormat>1</SubdirectoryFormat><SubdirectoryFormatPattern>yyyy"                          \
    "</SubdirectoryFormatPattern><SegmentMaxSize>1</SegmentMaxSize>"
#define ITEM(property, code) "PerformanceCounterDataCollector[1]/" property " " code "\n"

#endif
