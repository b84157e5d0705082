/* SPDX-License-Identifier: MIT */
/* The formulas of the counter types, as the SDK documents them for each type. */
#include "engine/pdh/formula.h"

#include "engine/base/clock.h"
#include "engine/logs/log.h"
#include "engine/pdh/counter_types.h"

#include <string.h>

enum formula {
    FORMULA_NONE,
    FORMULA_VALUE,    /* N */
    FORMULA_SHOWN,    /* the value that a text log shows, as the bits of a double */
    FORMULA_DELTA,    /* N1-N0 */
    FORMULA_RATE,     /* (N1-N0) / ((D1-D0)/TB) */
    FORMULA_TIMER,    /* 100 (N1-N0) / (D1-D0) */
    FORMULA_INVERSE,  /* 100 (1 - (N1-N0)/(D1-D0)) */
    FORMULA_MULTI,    /* 100 (N1-N0) / (D1-D0) / B */
    FORMULA_MULTI_IN, /* 100 (B - (N1-N0)/(D1-D0)) */
    FORMULA_QUEUE,    /* (N1-N0) / (D1-D0) */
    FORMULA_FRACTION, /* 100 N / B */
    FORMULA_SAMPLES,  /* 100 (N1-N0) / (B1-B0) */
    FORMULA_SECONDS,  /* ((N1-N0)/TB) / (B1-B0) */
    FORMULA_AVERAGE,  /* (N1-N0) / (B1-B0) */
    FORMULA_ELAPSED,  /* (D-N) / TB */
};

static enum formula formula_of(DWORD type)
{
    switch (type) {
    case PERF_COUNTER_RAWCOUNT:
    case PERF_COUNTER_LARGE_RAWCOUNT:
    case PERF_COUNTER_RAWCOUNT_HEX:
    case PERF_COUNTER_LARGE_RAWCOUNT_HEX:
        return FORMULA_VALUE;
    case LOG_TYPE_DOUBLE:
        return FORMULA_SHOWN;
    case PERF_COUNTER_DELTA:
    case PERF_COUNTER_LARGE_DELTA:
        return FORMULA_DELTA;
    case PERF_COUNTER_COUNTER:
    case PERF_COUNTER_BULK_COUNT:
    case PERF_SAMPLE_COUNTER:
        return FORMULA_RATE;
    case PERF_COUNTER_TIMER:
    case PERF_100NSEC_TIMER:
    case PERF_OBJ_TIME_TIMER:
    case PERF_PRECISION_SYSTEM_TIMER:
    case PERF_PRECISION_100NS_TIMER:
    case PERF_PRECISION_OBJECT_TIMER:
        return FORMULA_TIMER;
    case PERF_COUNTER_TIMER_INV:
    case PERF_100NSEC_TIMER_INV:
        return FORMULA_INVERSE;
    case PERF_COUNTER_MULTI_TIMER:
    case PERF_100NSEC_MULTI_TIMER:
        return FORMULA_MULTI;
    case PERF_COUNTER_MULTI_TIMER_INV:
    case PERF_100NSEC_MULTI_TIMER_INV:
        return FORMULA_MULTI_IN;
    case PERF_COUNTER_QUEUELEN_TYPE:
    case PERF_COUNTER_LARGE_QUEUELEN_TYPE:
    case PERF_COUNTER_100NS_QUEUELEN_TYPE:
    case PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE:
        return FORMULA_QUEUE;
    case PERF_RAW_FRACTION:
    case PERF_LARGE_RAW_FRACTION:
        return FORMULA_FRACTION;
    case PERF_SAMPLE_FRACTION:
        return FORMULA_SAMPLES;
    case PERF_AVERAGE_TIMER:
        return FORMULA_SECONDS;
    case PERF_AVERAGE_BULK:
        return FORMULA_AVERAGE;
    case PERF_ELAPSED_TIME:
        return FORMULA_ELAPSED;
    default:
        return FORMULA_NONE;
    }
}

bool formula_format_is_valid(DWORD format)
{
    DWORD kind = format & (PDH_FMT_LONG | PDH_FMT_DOUBLE | PDH_FMT_LARGE);
    DWORD known = PDH_FMT_LONG | PDH_FMT_DOUBLE | PDH_FMT_LARGE | PDH_FMT_NOSCALE | PDH_FMT_1000 | PDH_FMT_NOCAP100;
    return (kind == PDH_FMT_LONG || kind == PDH_FMT_DOUBLE || kind == PDH_FMT_LARGE) && !(format & ~known) &&
           (format & (PDH_FMT_NOSCALE | PDH_FMT_1000)) != (PDH_FMT_NOSCALE | PDH_FMT_1000);
}

bool formula_needs_two(DWORD type)
{
    enum formula f = formula_of(type);
    return f != FORMULA_NONE && f != FORMULA_VALUE && f != FORMULA_SHOWN && f != FORMULA_FRACTION &&
           f != FORMULA_ELAPSED;
}

bool formula_is_fraction(DWORD type)
{
    return counter_type_is_fraction(type);
}

int64_t formula_time_base(DWORD type)
{
    return type & (PERF_TIMER_100NS | PERF_OBJECT_TIMER) ? 10000000 : clock_frequency();
}

static bool sample_is_valid(DWORD status)
{
    return status == PDH_CSTATUS_VALID_DATA || status == PDH_CSTATUS_NEW_DATA;
}

/* Returns the difference without signed overflow. 32-bit counters wrap around at 2^32. */
static int64_t difference(int64_t newer, int64_t older, bool large)
{
    uint64_t d = (uint64_t)newer - (uint64_t)older;
    return large ? (int64_t)d : (int64_t)(uint32_t)d;
}

static DWORD rate_of_two(enum formula f, DWORD type, int64_t time_base, const PDH_RAW_COUNTER *newer,
                         const PDH_RAW_COUNTER *older, double *value)
{
    bool base_is_count = f == FORMULA_SAMPLES || f == FORMULA_SECONDS || f == FORMULA_AVERAGE;
    int64_t n = difference(newer->FirstValue, older->FirstValue, (type & PERF_SIZE_LARGE) != 0);
    /* A base that is a count has 32 bits. A time stamp has 64 bits. */
    int64_t d = difference(newer->SecondValue, older->SecondValue, !base_is_count);
    *value = 0;
    if (f == FORMULA_DELTA) {
        *value = (double)n;
        return n < 0 ? PDH_CALC_NEGATIVE_VALUE : PDH_CSTATUS_VALID_DATA;
    }
    if (base_is_count && d == 0)
        return PDH_CSTATUS_VALID_DATA; /* nothing happened: an average over no events is shown as 0 */
    if (d <= 0)
        return PDH_CALC_NEGATIVE_TIMEBASE;
    if (n < 0 && f != FORMULA_INVERSE && f != FORMULA_MULTI_IN)
        return PDH_CALC_NEGATIVE_VALUE;
    double quotient = (double)n / (double)d;
    double parts = newer->MultiCount ? (double)newer->MultiCount : 1;
    switch (f) {
    case FORMULA_RATE:
        *value = quotient * (double)time_base;
        break;
    case FORMULA_TIMER:
    case FORMULA_SAMPLES:
        *value = 100 * quotient;
        break;
    case FORMULA_INVERSE:
        *value = 100 * (1 - quotient);
        break;
    case FORMULA_MULTI:
        *value = 100 * quotient / parts;
        break;
    case FORMULA_MULTI_IN:
        *value = 100 * (parts - quotient);
        break;
    case FORMULA_SECONDS:
        *value = quotient / (double)time_base;
        break;
    default:
        *value = quotient;
        break;
    }
    return PDH_CSTATUS_VALID_DATA;
}

static DWORD value_of_one(enum formula f, DWORD type, int64_t time_base, const PDH_RAW_COUNTER *newer, double *value)
{
    if (f == FORMULA_ELAPSED) {
        int64_t d = difference(newer->SecondValue, newer->FirstValue, true);
        *value = d > 0 ? (double)d / (double)time_base : 0;
        return d < 0 ? PDH_CALC_NEGATIVE_VALUE : PDH_CSTATUS_VALID_DATA;
    }
    bool large = (type & PERF_SIZE_LARGE) != 0;
    double n = large ? (double)newer->FirstValue : (double)(uint32_t)newer->FirstValue;
    double b = large ? (double)newer->SecondValue : (double)(uint32_t)newer->SecondValue;
    *value = b > 0 ? 100 * n / b : 0;
    return b > 0 ? PDH_CSTATUS_VALID_DATA : PDH_CALC_NEGATIVE_DENOMINATOR;
}

static int64_t whole(double v)
{
    if (v >= 9223372036854775807.0)
        return INT64_MAX;
    return v <= -9223372036854775808.0 ? INT64_MIN : (int64_t)v;
}

static void deliver_value(DWORD format, double value, bool exact, int64_t integer, PDH_FMT_COUNTERVALUE *out)
{
    if (format & PDH_FMT_DOUBLE) {
        out->doubleValue = value;
        return;
    }
    int64_t large = exact ? integer : whole(value);
    if (format & PDH_FMT_LARGE)
        out->largeValue = large;
    else
        out->longValue = (LONG)(large > INT32_MAX ? INT32_MAX : large < INT32_MIN ? INT32_MIN : large);
}

DWORD formula_format(DWORD type, DWORD format, int64_t time_base, int scale, const PDH_RAW_COUNTER *newer,
                     const PDH_RAW_COUNTER *older, PDH_FMT_COUNTERVALUE *out)
{
    enum formula f = formula_of(type);
    double value = 0;
    bool exact = false;
    int64_t integer = 0;
    DWORD status = PDH_CSTATUS_VALID_DATA;
    memset(out, 0, sizeof *out);
    if (f == FORMULA_NONE) {
        status = PDH_INVALID_ARGUMENT;
    } else if (!sample_is_valid(newer->CStatus)) {
        status = newer->CStatus;
    } else if (f == FORMULA_VALUE) {
        integer = type & PERF_SIZE_LARGE ? newer->FirstValue : (int64_t)(uint32_t)newer->FirstValue;
        value = (double)integer;
        exact = true;
    } else if (f == FORMULA_SHOWN) {
        memcpy(&value, &newer->FirstValue, sizeof value);
    } else if (time_base <= 0) {
        status = PDH_CALC_NEGATIVE_TIMEBASE;
    } else if (!formula_needs_two(type)) {
        status = value_of_one(f, type, time_base, newer, &value);
    } else if (!older || !sample_is_valid(older->CStatus)) {
        status = PDH_CSTATUS_INVALID_DATA;
    } else {
        status = rate_of_two(f, type, time_base, newer, older, &value);
    }
    out->CStatus = status;
    if (status != PDH_CSTATUS_VALID_DATA)
        return status;
    if ((type & 0xF0000000) == PERF_DISPLAY_PERCENT) {
        /* The two clocks of a percentage may differ by a tick, so negative results become 0. */
        value = value < 0 ? 0 : value > 100 && !(format & PDH_FMT_NOCAP100) ? 100 : value;
    }
    int power = (format & PDH_FMT_NOSCALE ? 0 : scale) + (format & PDH_FMT_1000 ? 3 : 0);
    exact = exact && power == 0;
    for (; power > 0; power--)
        value *= 10;
    for (; power < 0; power++)
        value /= 10;
    deliver_value(format, value, exact, integer, out);
    return status;
}

/* Returns the value as a double, for comparisons and sums. */
static double number_of(DWORD format, const PDH_FMT_COUNTERVALUE *value)
{
    if (format & PDH_FMT_DOUBLE)
        return value->doubleValue;
    return format & PDH_FMT_LARGE ? (double)value->largeValue : (double)value->longValue;
}

DWORD formula_statistics(DWORD type, DWORD format, int64_t time_base, int scale, size_t first, size_t count,
                         const PDH_RAW_COUNTER *ring, PDH_STATISTICS *out)
{
    bool two = formula_needs_two(type);
    DWORD status = PDH_CSTATUS_INVALID_DATA;
    double sum = 0;
    memset(out, 0, sizeof *out);
    out->dwFormat = format;
    for (size_t i = two ? 1 : 0; i < count; i++) {
        const PDH_RAW_COUNTER *newer = &ring[(first + i) % count];
        const PDH_RAW_COUNTER *older = two ? &ring[(first + i - 1) % count] : NULL;
        PDH_FMT_COUNTERVALUE value;
        DWORD one = formula_format(type, format, time_base, scale, newer, older, &value);
        if (one != PDH_CSTATUS_VALID_DATA) {
            status = out->count ? status : one;
            continue;
        }
        double number = number_of(format, &value);
        if (!out->count || number < number_of(format, &out->min))
            out->min = value;
        if (!out->count || number > number_of(format, &out->max))
            out->max = value;
        status = PDH_CSTATUS_VALID_DATA;
        sum += number;
        out->count++;
    }
    if (out->count)
        deliver_value(format, sum / out->count, false, 0, &out->mean);
    out->min.CStatus = out->max.CStatus = out->mean.CStatus = status;
    return status;
}
