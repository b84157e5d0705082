/* SPDX-License-Identifier: MIT */
/* bench_store FOLDER [SETS]: measures the cost of one set in a store of three sets and of SETS (10,000) sets, the cost
   of a list of all sets compared with plain reading of the same files, and the cost of the access check in both. FOLDER
   should be on tmpfs. Prints the median of 101 measurements, for lists of 9. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/store.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#endif

enum { TIMES = 101, LISTS = 9, PART_COMMIT = 1, PART_GATED, PARTS = 6 };
static const char *const parts[PARTS] = {"commit of a new set",  "commit of a set",         "the same through the gate",
                                         "learning of a change", "list of one by its name", "delete"};
static const char xml[] =
    "<DataCollectorSet><PerformanceCounterDataCollector><Name>c</Name><Counter>\\System\\Processes"
    "</Counter></PerformanceCounterDataCollector></DataCollectorSet>";

/* ---- a client, an administrator ---- */

#ifdef _WIN32
static HRESULT own_token(void **out)
{
    HANDLE own, copy = NULL;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_DUPLICATE | TOKEN_QUERY, &own))
        return E_FAIL;
    BOOL copied =
        DuplicateTokenEx(own, TOKEN_QUERY | TOKEN_DUPLICATE, NULL, SecurityIdentification, TokenImpersonation, &copy);
    CloseHandle(own);
    *out = copy;
    return copied ? S_OK : E_FAIL;
}

static const struct caller client = {.token = own_token};
#else
static const char *const groups[] = {"S-1-1-0", "S-1-5-11", "S-1-5-32-544", NULL};
static const struct account_sids boss = {"MACHINE\\boss", "S-1-5-21-0-0-0-1000", groups, NULL};
static const struct caller client = {.account = &boss};
#endif

static double now(void)
{
    return (double)clock_ticks() / (double)clock_frequency();
}

static void save(const struct caller *caller, const char *name)
{
    must(store_save(caller, "Service", name, STORE_CREATE_OR_MODIFY, xml, strlen(xml), NULL, NULL), name);
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
        save(&caller_self, "one");
        t[1] = now();
        save(&caller_self, "one");
        t[2] = now();
        save(&client, "one");
        t[3] = now();
        must(store_changes("Service", &mark, &names), "changes");
        t[4] = now();
        must(store_load_matching(&caller_self, "Service", "one", &one), "list");
        t[5] = now();
        must(store_delete(&caller_self, "Service", "one"), "delete");
        t[6] = now();
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

static double list_all(const struct caller *caller, int sets)
{
    struct stored_sets all;
    double begin = now();
    must(store_load_matching(caller, "Service", "*", &all), "list");
    double seconds = now() - begin;
    must(all.count == (size_t)sets ? S_OK : E_FAIL, "not all are listed");
    stored_sets_free(&all);
    return seconds;
}

/* Alternates between the two, so that both run under the same load. */
static void list_both(int sets, double *without, double *with)
{
    double times[2][LISTS];
    for (int i = 0; i < LISTS; i++) {
        times[0][i] = list_all(&caller_self, sets);
        times[1][i] = list_all(&client, sets);
    }
    for (int who = 0; who < 2; who++)
        qsort(times[who], LISTS, sizeof(double), by_size);
    *without = times[0][LISTS / 2];
    *with = times[1][LISTS / 2];
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
        save(&caller_self, name);
        memory_free(name);
    }
    measure(many);
    for (int part = 0; part < PARTS; part++)
        printf("%-28s %8.3f ms among 3, %8.3f ms among %d: %.2f\n", parts[part], few[part] * 1e3, many[part] * 1e3,
               sets, many[part] / few[part]);
    double list, gated;
    list_both(sets, &list, &gated);
    double plain = read_plainly(sets), compare = compare_all();
    printf("%-28s %8.3f ms, without it %.3f ms: %.2f\n", "commit through the gate", many[PART_GATED] * 1e3,
           many[PART_COMMIT] * 1e3, many[PART_GATED] / many[PART_COMMIT]);
    printf("%-28s %8.1f ms, without it %.1f ms: %.2f\n", "list of all through the gate", gated * 1e3, list * 1e3,
           gated / list);
    printf("%-28s %8.1f ms, reading the files %.1f ms: %.2f\n", "list of all", list * 1e3, plain * 1e3, list / plain);
    printf("%-28s %8.1f ms\n", "comparison of all files", compare * 1e3);
    memory_free(folder);
    return 0;
}
