/* SPDX-License-Identifier: MIT */
/* read_log LOG [COUNTER]: prints the counters of a performance log (BLG, CSV, TSV) with their mean, smallest and
   largest value, and copies the log to LOG.copy.csv. Shows how libopenpla-logs reads and writes.

   Build: cc read_log.c $(pkg-config --cflags --libs openpla-logs) -o read_log */
#include <stdio.h>
#include <stdlib.h>
#include <openpla/logs.h>

static void check(openpla_result result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "read_log: %s: %s\n", what, openpla_error());
        exit(1);
    }
}

struct statistics {
    double sum, least, most;
    unsigned long samples;
};

static void add_value(struct statistics *s, double value)
{
    s->least = s->samples == 0 || value < s->least ? value : s->least;
    s->most = s->samples == 0 || value > s->most ? value : s->most;
    s->sum += value;
    s->samples++;
}

/* The counters of the copy: the same paths and types. */
static openpla_writer *create_copy(openpla_log *log, const char *path, size_t count)
{
    const struct openpla_writer_options options = {.size = sizeof options, .replace = true};
    struct openpla_counter *counters = calloc(count, sizeof *counters);
    openpla_writer *writer;
    for (size_t i = 0; counters && i < count; i++) {
        const struct openpla_counter *counter;
        check(openpla_log_get_counter(log, i, &counter), "counter");
        counters[i] = *counter;
    }
    check(openpla_writer_create(path, counters, count, &options, &writer), "copy");
    free(counters);
    return writer;
}

int main(int argc, char **argv)
{
    const char *const *patterns = (const char *const *)argv + 2;
    struct openpla_log_options options = {.size = sizeof options, .counters = patterns, .counter_count = argc > 2};
    const struct openpla_log_info *info;
    const struct openpla_counter *counter;
    const struct openpla_sample *sample;
    const char *warning;
    char copy[4096];
    openpla_log *log;
    openpla_result result;
    size_t count;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: read_log LOG [COUNTER]\n");
        return 2;
    }
    check(openpla_log_open(argv[1], &options, &log), "open");
    check(openpla_log_get_info(log, &info), "information");
    check(openpla_log_get_counter_count(log, &count), "counters");
    printf("%s: %s, %llu samples of %zu counters\n", info->path, info->format_name, (unsigned long long)info->samples,
           count);
    snprintf(copy, sizeof copy, "%s.copy.csv", argv[1]);
    openpla_writer *writer = create_copy(log, copy, count);
    struct statistics *all = calloc(count, sizeof *all);
    while (all && (result = openpla_log_next(log, &sample)) == OPENPLA_OK) {
        for (size_t i = 0; i < sample->count; i++)
            if (sample->values[i].has_value)
                add_value(&all[i], sample->values[i].value);
        check(openpla_writer_append(writer, sample->time, sample->values, sample->count), "copy");
    }
    check(result, "read");
    for (size_t i = 0; all && i < count; i++) {
        check(openpla_log_get_counter(log, i, &counter), "counter");
        printf("%s: mean %g, from %g to %g in %lu samples\n", counter->path,
               all[i].samples ? all[i].sum / (double)all[i].samples : 0, all[i].least, all[i].most, all[i].samples);
    }
    for (size_t i = 0; openpla_log_get_warning(log, i, &warning) == OPENPLA_OK; i++)
        fprintf(stderr, "read_log: %s\n", warning);
    free(all);
    check(openpla_writer_close(writer), "copy");
    check(openpla_log_close(log), "close");
    return 0;
}
