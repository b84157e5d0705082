/* SPDX-License-Identifier: MIT */
/* Determines the unit of a counter from its name, and the prefix of the unit from a value. */
#include "engine/report/page_unit.h"

#include "engine/base/memory.h"
#include "engine/report/page/page_parts.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

/* Parts of the names of Windows' counters, in lower case. The first row whose part occurs in a counter's name
   determines the counter's unit. */
static const struct {
    const char *part;
    struct page_unit unit;
} units[] = {
    {"mbytes", {PAGE_UNIT_BYTES, 1048576, false}},     {"megabytes", {PAGE_UNIT_BYTES, 1048576, false}},
    {"(mb)", {PAGE_UNIT_BYTES, 1048576, false}},       {"gbytes", {PAGE_UNIT_BYTES, 1073741824, false}},
    {"kbytes", {PAGE_UNIT_BYTES, 1024, false}},        {"kilobytes", {PAGE_UNIT_BYTES, 1024, false}},
    {"(kb)", {PAGE_UNIT_BYTES, 1024, false}},          {"bytes", {PAGE_UNIT_BYTES, 1, false}},
    {"working set", {PAGE_UNIT_BYTES, 1, false}},      {"(ms)", {PAGE_UNIT_SECONDS, 1e-3, false}},
    {"avg. disk sec/", {PAGE_UNIT_SECONDS, 1, false}},
};

struct page_unit page_unit_of(const char *name)
{
    char lower[200];
    size_t length = 0;
    for (; length < sizeof lower - 1 && name[length]; length++)
        lower[length] = (char)(name[length] >= 'A' && name[length] <= 'Z' ? name[length] + 32 : name[length]);
    lower[length] = 0;
    char *instance = strstr(lower, " (");
    if (instance && strncmp(instance, " (ms)", 5) != 0 && strncmp(instance, " (kb)", 5) != 0 &&
        strncmp(instance, " (mb)", 5) != 0)
        *instance = 0;
    length = strlen(lower);
    if (*lower == '%' || strstr(lower, " % ") || (length > 2 && !strcmp(lower + length - 2, " %")))
        return (struct page_unit){PAGE_UNIT_PERCENT, 1, false};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strstr(lower, units[i].part)) {
            struct page_unit unit = units[i].unit;
            unit.rate = unit.kind == PAGE_UNIT_BYTES && strstr(lower, "/sec") != NULL;
            return unit;
        }
    return (struct page_unit){PAGE_UNIT_NONE, 1, false};
}

bool page_unit_equals(const struct page_unit *a, const struct page_unit *b)
{
    return a->kind == b->kind && a->rate == b->rate && !(a->factor < b->factor) && !(a->factor > b->factor);
}

struct page_scale page_unit_scale(const struct page_unit *unit, double largest)
{
    static const char *const bytes[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    static const char *const counts[] = {"", "M", "G", "T", "P", "E"};
    struct page_scale s = {.factor = unit->factor};
    size_t step = 0;
    largest = fabs(largest) * unit->factor;
    if (unit->kind == PAGE_UNIT_PERCENT) {
        snprintf(s.suffix, sizeof s.suffix, " %%");
    } else if (unit->kind == PAGE_UNIT_SECONDS) {
        static const char *const times[] = {"s", "ms", "\xC2\xB5s"};
        for (; largest < 1 && largest > 0 && step < 2; step++, s.factor *= 1000)
            largest *= 1000;
        snprintf(s.suffix, sizeof s.suffix, " %s", times[step]);
    } else if (unit->kind == PAGE_UNIT_BYTES) {
        for (; largest >= 1024 && step + 1 < sizeof bytes / sizeof *bytes; step++, s.factor /= 1024)
            largest /= 1024;
        snprintf(s.suffix, sizeof s.suffix, " %s%s", bytes[step], unit->rate ? "/s" : "");
    } else if (largest >= 1e6) {
        for (; largest >= 1000 && step + 1 < sizeof counts / sizeof *counts; step++, s.factor /= step == 1 ? 1e6 : 1000)
            largest /= step ? 1000 : 1e6;
        snprintf(s.suffix, sizeof s.suffix, " %s", counts[step]);
    }
    return s;
}

void page_scale_add(struct text_buffer *out, const struct page_scale *s, double value, int digits)
{
    char text[64];
    value *= s->factor;
    if (fabs(value) >= 1e4 && fabs(value) < 1e15) {
        snprintf(text, sizeof text, "%.0f", value);
        page_number_add(out, text, NULL, true);
    } else {
        const bool is_whole = fabs(value) >= pow(10, digits);
        snprintf(text, sizeof text, is_whole ? "%.*f" : "%.*g", is_whole ? 0 : digits,
                 *s->suffix && fabs(value) < 1e-4 ? 0.0 : value);
        text_buffer_add(out, text);
    }
    text_buffer_add(out, s->suffix);
}
