/* SPDX-License-Identifier: MIT */
/* A query that reads kernel files written by the test. */
#ifndef OPENPLA_ROOT_QUERY_H
#define OPENPLA_ROOT_QUERY_H

#include "engine/pdh/core/pdh.h"
#include "tests/unit/kernel_root.h"

static struct kernel_root root;
static PDH_HQUERY query;

/* The test defines ROOT_NAME, which is the name of the test and of its folder. */
static inline int open_query(void **state)
{
    (void)state;
    root = kernel_root_create(ROOT_NAME);
    return PdhOpenQueryW(NULL, 0, &query) != ERROR_SUCCESS;
}

static inline int close_query(void **state)
{
    (void)state;
    PDH_STATUS status = PdhCloseQuery(query);
    kernel_root_remove(&root);
    return status != ERROR_SUCCESS;
}

static inline PDH_HCOUNTER add(const char *path)
{
    PDH_HCOUNTER counter = NULL;
    WCHAR *wide;
    assert_int_equal(text_to_utf16(path, &wide, NULL), S_OK);
    PDH_STATUS status = PdhAddEnglishCounterW(query, wide, 0, &counter);
    if (status != ERROR_SUCCESS)
        print_message("%s: 0x%08X\n", path, (unsigned)status);
    assert_int_equal(status, ERROR_SUCCESS);
    memory_free(wide);
    return counter;
}

static inline PDH_RAW_COUNTER raw_of(PDH_HCOUNTER counter)
{
    PDH_RAW_COUNTER raw;
    assert_int_equal(PdhGetRawCounterValue(counter, NULL, &raw), ERROR_SUCCESS);
    return raw;
}

static inline bool is_valid(PDH_HCOUNTER counter)
{
    return raw_of(counter).CStatus == PDH_CSTATUS_VALID_DATA;
}

#endif
