/* SPDX-License-Identifier: MIT */
/* Compares two series of slices by the test of Mann and Whitney (1947). Equal values get their mean rank. The test has
   a continuity correction, and its variance is corrected for dependent values. Benjamini and Hochberg (1995) limit the
   false discovery rate of many tests. */
#include "engine/report/run_compare.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

double run_correlation(const double *values, size_t count)
{
    double mean = 0, all = 0, neighbours = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        all += (values[i] - mean) * (values[i] - mean);
        neighbours += i ? (values[i] - mean) * (values[i - 1] - mean) : 0;
    }
    if (count < 3 || !(all > 0))
        return 0;
    double r = neighbours / all;
    r += (1 + 3 * r) / (double)count;
    return r < 0 ? 0 : r > 0.95 ? 0.95 : r;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Returns the number of sorted values that are less than `value`. If `or_equal` is set, also counts the values that are
   equal. */
static size_t count_less(const double *sorted, size_t count, double value, bool or_equal)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (sorted[middle] < value || (or_equal && !(sorted[middle] > value)))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double run_rank_test(const double *a, size_t count_a, const double *b, size_t count_b, double widening, double *effect,
                     double *room)
{
    const size_t count = count_a + count_b;
    const double pairs = (double)count_a * (double)count_b, n = (double)count;
    double u = 0, ties = 0;
    *effect = 0;
    if (!count_a || !count_b)
        return 1;
    memcpy(room, a, count_a * sizeof *room);
    memcpy(room + count_a, b, count_b * sizeof *room);
    qsort(room, count, sizeof *room, by_value);
    for (size_t i = 0; i < count_b; i++) { /* add up the mean ranks of the values of B */
        const size_t less = count_less(room, count, b[i], false), up_to = count_less(room, count, b[i], true);
        u += ((double)less + (double)up_to + 1) / 2;
    }
    u -= (double)count_b * ((double)count_b + 1) / 2;
    for (size_t i = 0; i < count;) {
        const size_t end = count_less(room, count, room[i], true);
        const double t = (double)(end - i);
        ties += t * t * t - t;
        i = end;
    }
    *effect = 2 * u / pairs - 1;
    const double variance = pairs / 12 * (n + 1 - ties / (n * (n - 1))) * widening;
    const double distance = fabs(u - pairs / 2) - 0.5;
    return variance > 0 && distance > 0 ? erfc(distance / sqrt(variance) / sqrt(2)) : 1;
}

double run_discovery_limit(const double *p, size_t count, double rate, double *room)
{
    double limit = -1;
    memcpy(room, p, count * sizeof *room);
    qsort(room, count, sizeof *room, by_value);
    for (size_t i = 0; i < count; i++)
        if (room[i] <= rate * (double)(i + 1) / (double)count)
            limit = room[i];
    return limit;
}
