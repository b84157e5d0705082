/* SPDX-License-Identifier: MIT */
/* Derives the forms and names of metrics from the types and names of counters.

   A PDH counter is a raw value and a formula that needs two samples. Prometheus computes rates itself, over any period,
   so raw values are exported. A value that PDH divides by time becomes a counter. A value that PDH divides by another
   count becomes the sum of a summary, with the other value as its count. A value that PDH shows unchanged becomes a
   gauge. Names follow Prometheus' rules: base units at the end, no abbreviations, and no suffix that belongs to another
   type. */
#include "engine/logs/metric_form.h"

#include "engine/logs/counter_unit.h"
#include "engine/logs/number_text.h"
#include "engine/logs/pdh_types.h"

#include <stdio.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { TICKS_100NS = 10000000 };

/* ---- forms ---- */

struct unit_row {
    const char *unit; /* from counter_unit(), or a suffix of the counter's name */
    const char *base;
    int64_t factor, divisor;
    double offset;
};

static const struct unit_row plain = {"", "", 1, 1, 0};

static const struct unit_row *unit_row_of(const struct log_counter *counter)
{
    static const struct unit_row rows[] = {
        {"%", "ratio", 1, 100, 0},
        {"bytes", "bytes", 1, 1, 0},
        {"KiB", "bytes", 1024, 1, 0},
        {"MiB", "bytes", 1048576, 1, 0},
        {"bit/s", "bytes", 1, 8, 0},
        {"MHz", "hertz", 1000000, 1, 0},
        {"0.1 K", "celsius", 1, 10, -273.15},
        {"K", "celsius", 1, 1, -273.15},
        {"100 ns", "seconds", 1, TICKS_100NS, 0},
        {"s", "seconds", 1, 1, 0},
    };
    static const struct unit_row endings[] = {
        {"(ms)", "seconds", 1, 1000, 0}, {"(KB)", "bytes", 1024, 1, 0}, {"(MB)", "bytes", 1048576, 1, 0}};
    char unit[24];
    const char *name = log_counter_english_counter(counter);
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (length > 4 && strcmp(name + length - 4, endings[i].unit) == 0)
            return &endings[i];
    counter_unit(name, PERF_COUNTER_RAWCOUNT, unit, sizeof unit);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(unit, rows[i].unit) == 0)
            return &rows[i];
    return &plain;
}

static struct metric_form form_counted(const struct log_counter *counter, enum metric_kind kind)
{
    const struct unit_row *u = unit_row_of(counter);
    return (struct metric_form){
        .kind = kind,
        .scale = {METRIC_FIRST, u->factor, u->divisor, u->offset, (counter->type & PERF_SIZE_LARGE) != 0},
        .unit = u->base,
        .note = "",
        .drops_percent = strcmp(u->base, "ratio") == 0};
}

/* Returns the form for a counter of clock ticks. The metric is exported in seconds. */
static struct metric_form form_ticks(const struct log_counter *counter, enum metric_kind kind, const char *note)
{
    const bool is_100ns = (counter->type & PERF_TIMER_100NS) != 0;
    const int64_t base = is_100ns || counter->time_base <= 0 ? TICKS_100NS : counter->time_base;
    return (struct metric_form){.kind = kind,
                                .scale = {METRIC_FIRST, 1, base, 0, (counter->type & PERF_SIZE_LARGE) != 0},
                                .unit = "seconds",
                                .note = note,
                                .drops_percent = true};
}

static bool name_is_rate(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && text_equal_nocase(name + length - 4, "/sec");
}

/* Returns the form for a value that PDH has computed. A rate keeps "per second" in its name; for other values, the name
   determines the unit. */
static struct metric_form form_computed(const struct log_counter *counter)
{
    static const char *const seconds = "Avg. Disk sec/";
    const char *name = log_counter_english_counter(counter);
    struct metric_form form = form_counted(counter, METRIC_GAUGE);
    if (name_is_rate(name))
        form = (struct metric_form){.kind = METRIC_GAUGE,
                                    .scale = {.factor = 1, .divisor = 1},
                                    .unit = "",
                                    .note = "",
                                    .keeps_per_second = true};
    else if (strncmp(name, seconds, strlen(seconds)) == 0)
        form.unit = "seconds";
    form.scale.source = METRIC_DOUBLE;
    return form;
}

struct metric_form metric_form_of(const struct log_counter *counter)
{
    struct metric_form form = {.kind = METRIC_NONE, .unit = "", .note = ""};
    switch (counter->type) {
    case PERF_COUNTER_RAWCOUNT:
    case PERF_COUNTER_LARGE_RAWCOUNT:
    case PERF_COUNTER_RAWCOUNT_HEX:
    case PERF_COUNTER_LARGE_RAWCOUNT_HEX:
        return form_counted(counter, METRIC_GAUGE);
    case PERF_COUNTER_COUNTER:
    case PERF_COUNTER_BULK_COUNT:
    case PERF_SAMPLE_COUNTER:
    case PERF_COUNTER_DELTA:
    case PERF_COUNTER_LARGE_DELTA:
        form = form_counted(counter, METRIC_COUNTER);
        if (strcmp(form.unit, "bytes") != 0) /* a rate that is not in bytes is a rate of events */
            form = (struct metric_form){.kind = METRIC_COUNTER, .scale = form.scale, .unit = "", .note = ""};
        if (!*form.unit)
            form.scale.factor = form.scale.divisor = 1, form.scale.offset = 0;
        return form;
    case PERF_COUNTER_TIMER:
    case PERF_100NSEC_TIMER:
    case PERF_OBJ_TIME_TIMER:
    case PERF_PRECISION_SYSTEM_TIMER:
    case PERF_PRECISION_100NS_TIMER:
    case PERF_PRECISION_OBJECT_TIMER:
    case PERF_COUNTER_MULTI_TIMER:
    case PERF_100NSEC_MULTI_TIMER:
        return form_ticks(counter, METRIC_COUNTER, "");
    case PERF_COUNTER_TIMER_INV:
    case PERF_100NSEC_TIMER_INV:
    case PERF_COUNTER_MULTI_TIMER_INV:
    case PERF_100NSEC_MULTI_TIMER_INV:
        return form_ticks(counter, METRIC_COUNTER, "Inverse: the counter's value is 1 - rate().");
    case PERF_COUNTER_QUEUELEN_TYPE:
    case PERF_COUNTER_LARGE_QUEUELEN_TYPE:
    case PERF_COUNTER_100NS_QUEUELEN_TYPE:
    case PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE:
        return form_ticks(counter, METRIC_COUNTER,
                          "Sum of the length multiplied by the seconds; rate() is the mean length.");
    case PERF_RAW_FRACTION:
    case PERF_LARGE_RAW_FRACTION:
        form.kind = METRIC_GAUGE;
        form.scale = (struct metric_scale){METRIC_QUOTIENT, 1, 1, 0, (counter->type & PERF_SIZE_LARGE) != 0};
        form.unit = "ratio";
        form.drops_percent = true;
        return form;
    case PERF_SAMPLE_FRACTION:
        form = form_counted(counter, METRIC_SUMMARY);
        form.scale.factor = form.scale.divisor = 1;
        form.unit = "ratio";
        form.drops_percent = true;
        return form;
    case PERF_AVERAGE_TIMER:
        return form_ticks(counter, METRIC_SUMMARY, "");
    case PERF_AVERAGE_BULK:
        return form_counted(counter, METRIC_SUMMARY);
    case PERF_ELAPSED_TIME:
        form = form_ticks(counter, METRIC_GAUGE, "");
        form.scale.source = METRIC_ELAPSED;
        form.scale.large = true;
        return form;
    case LOG_TYPE_DOUBLE:
        return form_computed(counter);
    default:
        return form;
    }
}

int64_t metric_steady_limit(const struct metric_form *form)
{
    enum { MOST_SECONDS = 3 };
    const struct metric_scale *scale = &form->scale;
    int64_t most; /* the product can overflow, because another computer can report any frequency as divisor */
    if (form->kind != METRIC_COUNTER || !scale->large || scale->divisor <= 1)
        return 0;
    return __builtin_mul_overflow(scale->divisor, MOST_SECONDS, &most) ? INT64_MAX : most;
}

/* ---- names ---- */

/* Adds the words of a name in lower case, separated by '_', except for the words that the unit replaces. */
static void name_add_words(struct text_buffer *b, const char *text, const struct metric_form *form)
{
    static const char *const of_bytes[] = {"bytes", "byte", "kbytes", "mbytes", "kilobytes", "megabytes", "kb", "mb"};
    static const char *const of_seconds[] = {"sec", "seconds", "ms"};
    const bool bytes = form && strcmp(form->unit, "bytes") == 0, seconds = form && strcmp(form->unit, "seconds") == 0;
    while (*text) {
        char word[64];
        size_t length = 0;
        for (; isalnum((unsigned char)*text) && length + 1 < sizeof word; text++)
            word[length++] = (char)tolower((unsigned char)*text);
        word[length] = 0;
        bool skip = length == 0;
        for (size_t i = 0; bytes && i < sizeof of_bytes / sizeof *of_bytes; i++)
            skip |= strcmp(word, of_bytes[i]) == 0;
        for (size_t i = 0; seconds && i < sizeof of_seconds / sizeof *of_seconds; i++)
            skip |= strcmp(word, of_seconds[i]) == 0;
        if (!skip) {
            text_buffer_add(b, "_");
            text_buffer_add_n(b, word, length);
        }
        if (*text == '%' && (!form || !form->drops_percent))
            text_buffer_add(b, "_percent");
        if (*text && !isalnum((unsigned char)*text))
            text++;
    }
}

/* Returns whether the text has letters that metric names cannot contain. */
static bool name_has_foreign(const char *text)
{
    while (*text && (unsigned char)*text < 0x80)
        text++;
    return *text != 0;
}

static bool name_ends(const struct text_buffer *b, const char *ending)
{
    const size_t length = strlen(ending);
    return b->length >= length && memcmp(b->text + b->length - length, ending, length) == 0;
}

static void name_cut(struct text_buffer *b, size_t bytes)
{
    b->length -= bytes;
    b->text[b->length] = 0;
}

/* Avoids suffixes that belong to other types. A reader would mistake a metric with such a suffix for a part of another
   metric. */
static void name_avoid_suffixes(struct text_buffer *b, const struct metric_form *form)
{
    if (b->failed)
        return;
    if (name_ends(b, "_count")) {
        name_cut(b, strlen("_count"));
        if (!name_ends(b, "s"))
            text_buffer_add(b, "s");
    }
    if (!b->failed && form->kind != METRIC_COUNTER && name_ends(b, "_total"))
        text_buffer_add(b, "_value");
    static const char *const others[] = {"_sum", "_bucket", "_info", "_created"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!b->failed && name_ends(b, others[i]))
            text_buffer_add(b, "_value");
}

char *metric_name_of(const struct log_counter *counter, const struct metric_form *form)
{
    struct text_buffer b = {0};
    const char *object = log_counter_english_object(counter), *full = log_counter_english_counter(counter),
               *name = full;
    char bare[1024];
    const size_t length = strlen(name);
    object = object ? object : "";
    /* Remove "/sec". A raw counter becomes a total; Prometheus' rate() computes the rate from it. A computed rate gets
       "_per_second" below. */
    if (length < sizeof bare && name_is_rate(name)) {
        text_fit(bare, sizeof bare, name);
        bare[length - 4] = 0;
        name = bare;
    }
    text_buffer_add(&b, "windows");
    name_add_words(&b, object, NULL);
    name_add_words(&b, name, form);
    if (name_has_foreign(object) || name_has_foreign(full))
        text_buffer_format(&b, "_%08x", (unsigned)hash_text(hash_text(HASH_START, object), full));
    if (form->keeps_per_second)
        text_buffer_add(&b, "_per_second");
    if (form->note && strncmp(form->note, "Inverse", 7) == 0)
        text_buffer_add(&b, "_inverse");
    name_avoid_suffixes(&b, form);
    if (!b.failed && *form->unit) {
        text_buffer_add(&b, "_");
        text_buffer_add(&b, form->unit);
    }
    return text_buffer_take(&b);
}

/* ---- values ---- */

void metric_add_number(struct text_buffer *b, double value)
{
    char text[NUMBER_TEXT_SIZE];
    text_buffer_add_n(b, text, number_text_shortest(value, 15, false, text));
}

/* Adds value / divisor exactly if the divisor is a power of ten, with '.' in any locale. False: not added. */
static bool add_decimal(struct text_buffer *b, int64_t value, int64_t divisor)
{
    unsigned digits = 0;
    int64_t rest = divisor;
    for (; rest % 10 == 0; rest /= 10)
        digits++;
    if (rest != 1 || value < 0)
        return false;
    text_buffer_add_u64(b, (uint64_t)(value / divisor), 1);
    uint64_t part = (uint64_t)(value % divisor);
    if (part == 0)
        return true;
    for (; part % 10 == 0; part /= 10)
        digits--;
    text_buffer_add_n(b, ".", 1);
    text_buffer_add_u64(b, part, digits);
    return true;
}

/* Adds the double that has these bits. The double is multiplied by `factor` once and divided by `divisor` once, so that
   12.5 % becomes exactly 0.125. */
static bool add_computed(struct text_buffer *b, const struct metric_scale *scale, int64_t bits)
{
    double value;
    char text[NUMBER_TEXT_SIZE];
    memcpy(&value, &bits, sizeof value);
    value = value * (double)scale->factor / (double)scale->divisor + scale->offset;
    if (!isfinite(value))
        return false;
    text_buffer_add_n(b, text, number_text_shortest(value, 15, false, text));
    return true;
}

/* Returns the raw value as a number. A negative 32-bit value is a count that has passed 2^31. */
static int64_t raw_whole(int64_t value, bool large)
{
    return large || value >= 0 ? value : (int64_t)(uint32_t)value;
}

bool metric_add_value(struct text_buffer *b, const struct metric_scale *scale, const struct log_raw *raw)
{
    const int64_t first = raw_whole(raw->first, scale->large), second = raw_whole(raw->second, scale->large);
    int64_t value = first;
    if (raw->status > PDH_CSTATUS_NEW_DATA)
        return false;
    if (scale->source == METRIC_DOUBLE)
        return add_computed(b, scale, raw->first);
    if (scale->source == METRIC_QUOTIENT) {
        if (second == 0)
            return false;
        metric_add_number(b, (double)first / (double)second);
        return true;
    }
    if (scale->source == METRIC_SECOND)
        value = second;
    else if (scale->source == METRIC_ELAPSED)
        value = second > first ? (int64_t)((uint64_t)second - (uint64_t)first) : 0;
    int64_t product;
    if (!__builtin_mul_overflow(value, scale->factor, &product) && scale->offset == 0) {
        if (scale->divisor == 1) {
            text_buffer_add_i64(b, product);
            return true;
        }
        if (scale->divisor > 1 && add_decimal(b, product, scale->divisor))
            return true;
    }
    metric_add_number(b, (double)value * (double)scale->factor / (double)scale->divisor + scale->offset);
    return true;
}
