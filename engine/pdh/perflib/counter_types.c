/* SPDX-License-Identifier: MIT */
/* The names of the PERF_* counter types. */
#include "engine/pdh/counter_types.h"

#include "engine/base/text.h"

static const struct {
    DWORD type;
    const char *name;
} names[] = {
#define TYPE(name)                                                                                                     \
    {                                                                                                                  \
        name, #name                                                                                                    \
    }
    TYPE(PERF_COUNTER_COUNTER),
    TYPE(PERF_COUNTER_TIMER),
    TYPE(PERF_COUNTER_QUEUELEN_TYPE),
    TYPE(PERF_COUNTER_LARGE_QUEUELEN_TYPE),
    TYPE(PERF_COUNTER_100NS_QUEUELEN_TYPE),
    TYPE(PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE),
    TYPE(PERF_COUNTER_BULK_COUNT),
    TYPE(PERF_COUNTER_TEXT),
    TYPE(PERF_COUNTER_RAWCOUNT),
    TYPE(PERF_COUNTER_LARGE_RAWCOUNT),
    TYPE(PERF_COUNTER_RAWCOUNT_HEX),
    TYPE(PERF_COUNTER_LARGE_RAWCOUNT_HEX),
    TYPE(PERF_SAMPLE_FRACTION),
    TYPE(PERF_SAMPLE_COUNTER),
    TYPE(PERF_COUNTER_TIMER_INV),
    TYPE(PERF_AVERAGE_TIMER),
    TYPE(PERF_AVERAGE_BULK),
    TYPE(PERF_OBJ_TIME_TIMER),
    TYPE(PERF_100NSEC_TIMER),
    TYPE(PERF_100NSEC_TIMER_INV),
    TYPE(PERF_COUNTER_MULTI_TIMER),
    TYPE(PERF_COUNTER_MULTI_TIMER_INV),
    TYPE(PERF_100NSEC_MULTI_TIMER),
    TYPE(PERF_100NSEC_MULTI_TIMER_INV),
    TYPE(PERF_RAW_FRACTION),
    TYPE(PERF_LARGE_RAW_FRACTION),
    TYPE(PERF_ELAPSED_TIME),
    TYPE(PERF_COUNTER_DELTA),
    TYPE(PERF_COUNTER_LARGE_DELTA),
    TYPE(PERF_PRECISION_SYSTEM_TIMER),
    TYPE(PERF_PRECISION_100NS_TIMER),
    TYPE(PERF_PRECISION_OBJECT_TIMER),
};
/* The types of bases, by which other counters are divided. Some types of bases have the same number, so several names
   stand for the same type. */
static const struct {
    DWORD type;
    const char *name;
} bases[] = {
    TYPE(PERF_SAMPLE_BASE), TYPE(PERF_AVERAGE_BASE),   TYPE(PERF_COUNTER_MULTI_BASE),
    TYPE(PERF_RAW_BASE),    TYPE(PERF_LARGE_RAW_BASE), TYPE(PERF_PRECISION_TIMESTAMP),
#undef TYPE
};

const char *counter_type_name(DWORD type)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].type == type)
            return names[i].name;
    return NULL;
}

bool counter_type_find(const char *name, DWORD *type)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_equal_nocase(names[i].name, name)) {
            *type = names[i].type;
            return true;
        }
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (text_equal_nocase(bases[i].name, name)) {
            *type = bases[i].type;
            return true;
        }
    return false;
}
