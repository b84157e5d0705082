/* SPDX-License-Identifier: MIT */
/* bench_store FOLDER [SETS]: what one set costs among three and among SETS (10,000), and what a list of all costs
   beside plain reading of the same files. FOLDER should be on tmpfs. The middle of 101 times each. */
#include "engine/os/clock.h"
#include "engine/os/file.h"
#include "engine/os/memory.h"
#include "engine/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 101, PARTS = 5 };
static const char *const parts[PARTS] = {"commit of a new set", "commit of a set", "learning of a change",
                                         "list of one by its name", "delete"};
static const char xml[] =
    "<DataCollectorSet><PerformanceCounterDataCollector><Name>c</Name><Counter>\\System\\Processes"
    "</Counter></PerformanceCounterDataCollector></DataCollectorSet>";

static double now(void)
{
    return (double)clock_ticks() / (double)clock_frequency();
}

static void must(HRESULT hr, const char *what)
{
    if (FAILED(hr)) {
        printf("bench_store: %s: %s\n", what, error_text(hr));
        exit(1);
    }
}

static void save(const char *name)
{
    must(store_save(&caller_self, "Service", name, STORE_CREATE_OR_MODIFY, xml, strlen(xml), NULL, NULL), name);
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void measure(double middle[PARTS])
{
    static double times[PARTS][TIMES];
    struct store_mark mark = {0};
    struct texts names = {0};
    for (int i = 0; i < TIMES; i++) {
        struct stored_sets one;
        must(store_changes("Service", &mark, &names), "changes");
        double t[PARTS + 1] = {now()};
        save("one");
        t[1] = now();
        save("one");
        t[2] = now();
        must(store_changes("Service", &mark, &names), "changes");
        t[3] = now();
        must(store_load_matching(&caller_self, "Service", "one", &one), "list");
        t[4] = now();
        must(store_delete(&caller_self, "Service", "one"), "delete");
        t[5] = now();
        stored_sets_free(&one);
        for (int part = 0; part < PARTS; part++)
            times[part][i] = t[part + 1] - t[part];
    }
    for (int part = 0; part < PARTS; part++) {
        qsort(times[part], TIMES, sizeof(double), by_size);
        middle[part] = times[part][TIMES / 2];
    }
    texts_free(&names);
}

static double list_all(void)
{
    struct stored_sets all;
    double begin = now();
    must(store_load_matching(&caller_self, "Service", "*", &all), "list");
    double seconds = now() - begin;
    stored_sets_free(&all);
    return seconds;
}

static double compare_all(void)
{
    struct stored_stamps stamps;
    double begin = now();
    must(store_list_stamps("Service", &stamps), "stamps");
    double seconds = now() - begin;
    stored_stamps_free(&stamps);
    return seconds;
}

static double read_plainly(int sets)
{
    double seconds = 0;
    for (int i = 0; i < sets; i++) {
        char *name = text_format("set %d", i), *path = store_definition_path("Service", name), *text;
        size_t size;
        double begin = now();
        must(file_load(path, 1 << 20, &text, &size), "load");
        seconds += now() - begin;
        memory_free(text);
        memory_free(path);
        memory_free(name);
    }
    return seconds;
}

int main(int argc, char **argv)
{
    int sets = argc > 2 ? atoi(argv[2]) : 10000, made = 0;
    double few[PARTS] = {0}, many[PARTS];
    if (argc < 2) {
        printf("usage: bench_store FOLDER [SETS]\n");
        return 2;
    }
    char *folder = path_join(argv[1], "openpla-bench-store");
    must(folder ? folder_create(folder) : E_OUTOFMEMORY, "folder");
#ifdef _WIN32
    char *both = text_format("OPENPLA_DATA=%s", folder);
    must(both && !_putenv(both) ? S_OK : E_OUTOFMEMORY, "environment");
#else
    setenv("OPENPLA_DATA", folder, 1);
#endif
    for (; made < sets; made++) {
        char *name = text_format("set %d", made);
        if (made == 3)
            measure(few);
        save(name);
        memory_free(name);
    }
    measure(many);
    for (int part = 0; part < PARTS; part++)
        printf("%-28s %8.3f ms among 3, %8.3f ms among %d: %.2f\n", parts[part], few[part] * 1e3, many[part] * 1e3,
               sets, many[part] / few[part]);
    double list = list_all(), plain = read_plainly(sets), compare = compare_all();
    printf("%-28s %8.1f ms, reading the files %.1f ms: %.2f\n", "list of all", list * 1e3, plain * 1e3, list / plain);
    printf("%-28s %8.1f ms\n", "comparison of all files", compare * 1e3);
    memory_free(folder);
    return 0;
}
