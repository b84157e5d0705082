/* SPDX-License-Identifier: MIT */
/* bench_folders FOLDER [RUNS]: measures the data manager's time for the folders of RUNS (10,000) runs. The time to scan
   and plan, as openpla data and each retention pass do, is compared with a plain walk over the same folders. The time
   to delete all but the newest is compared with plain deletion of the same number. Both times of a ratio are measured
   in one process. FOLDER should be on tmpfs. Prints the median of 5 rounds; for deletions, of 3 rounds. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/pla/retention.h"
#include "engine/pla/store.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACE "Service"
#define SET   "kept"
enum { LOOKS = 5, DELETIONS = 3 };

static const char xml[] = "<DataCollectorSet/>";

static double now(void)
{
    return (double)clock_ticks() / (double)clock_frequency();
}

static void put(const char *folder, const char *name, const char *text)
{
    char *path = path_join(folder, name);
    struct file *f = NULL;
    must(path ? file_open(path, FILE_REPLACE, &f) : E_OUTOFMEMORY, name);
    must(file_write(f, text, strlen(text)), path);
    file_close(f);
    memory_free(path);
}

/* Creates the files of run n: a log, a report and its page, and the mark that names these files. */
static void make_run(const char *root, unsigned n)
{
    char name[16], mark[160];
    snprintf(name, sizeof name, "%06u", n);
    snprintf(mark, sizeof mark,
             FOLDER_MARK_FIRST "%032x\nserial number %u\nfile log.csv\nfile report.xml\nfile report.html\n", n, n);
    char *folder = path_join(root, name);
    must(folder ? folder_create(folder) : E_OUTOFMEMORY, name);
    put(folder, FOLDER_MARK, mark);
    put(folder, "log.csv", "a log\n");
    put(folder, "report.xml", "<Report/>\n");
    put(folder, "report.html", "<p>\n");
    memory_free(folder);
}

struct runs {
    unsigned count;
};

static HRESULT put_records(struct texts *lines, void *user)
{
    const struct runs *runs = user;
    HRESULT hr = S_OK;
    texts_free(lines);
    for (unsigned n = 1; SUCCEEDED(hr) && n <= runs->count; n++) {
        char *line = text_format("%u %u %032x 0 0 %06u", n, n, n, n);
        hr = line ? texts_add_owned(lines, line) : E_OUTOFMEMORY;
    }
    return hr;
}

/* Writes all runs in one step: if each run wrote its record, this benchmark would measure the store. */
static void make_runs(const char *root, unsigned count)
{
    struct runs runs = {count};
    must(folder_create(root), root);
    for (unsigned n = 1; n <= count; n++)
        make_run(root, n);
    must(store_change_folders(SPACE, SET, &(struct folders_change){put_records, &runs}), "records");
}

static HRESULT add_file(void *user, const struct file_entry *file)
{
    (void)file;
    ++*(size_t *)user;
    return S_OK;
}

/* Lists each folder, and queries each file's size and time. */
static double walk(const char *root)
{
    struct texts names = {0};
    size_t seen = 0;
    const double begun = now();
    must(folder_list(root, true, &names), root);
    for (size_t i = 0; i < names.count; i++) {
        char *folder = path_join(root, names.items[i]);
        must(folder ? folder_each_file(folder, add_file, &seen) : E_OUTOFMEMORY, root);
        memory_free(folder);
    }
    const double took = now() - begun;
    if (seen != names.count * 4)
        must(E_FAIL, "not all files were seen");
    texts_free(&names);
    return took;
}

static void stop_at_failure(void *user, const struct retention_event *event)
{
    (void)user;
    must(event->hr, event->folder);
}

static struct retention_pass make_pass(const char *root, const struct retention_policy *policy)
{
    return (struct retention_pass){
        .scan = {.space = SPACE, .set = SET, .root = root, .names = {"report.xml", "report.html"}},
        .policy = policy,
        .parts = RETENTION_LIMITS,
        .now = clock_utc(),
        .report = stop_at_failure};
}

static double plan(const char *root, unsigned count, const struct retention_policy *policy)
{
    struct scanned scanned;
    struct retention_plan made;
    const struct retention_pass pass = make_pass(root, policy);
    const double begun = now();
    must(retention_pass_plan(&pass, &scanned, &made), "plan");
    const double took = now() - begun;
    if (scanned.count != count || made.count != count - 1)
        must(E_FAIL, "the plan is not that of all folders");
    scanned_free(&scanned);
    retention_plan_free(&made);
    return took;
}

static double delete_plainly(const char *root, unsigned count)
{
    static const char *const files[] = {FOLDER_MARK, "log.csv", "report.xml", "report.html"};
    const double begun = now();
    for (unsigned n = 1; n < count; n++) {
        char name[16];
        snprintf(name, sizeof name, "%06u", n);
        char *folder = path_join(root, name);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            char *path = path_join(folder, files[i]);
            must(path ? file_delete(path) : E_OUTOFMEMORY, folder);
            memory_free(path);
        }
        must(folder_delete(folder), folder);
        memory_free(folder);
    }
    return now() - begun;
}

static double pass(const char *root, const struct retention_policy *policy)
{
    const struct retention_pass p = make_pass(root, policy);
    const double begun = now();
    must(retention_pass_run(&p), "pass");
    return now() - begun;
}

static int by_size(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double middle(double *times, size_t count)
{
    qsort(times, count, sizeof *times, by_size);
    return times[count / 2];
}

int main(int argc, char **argv)
{
    const struct retention_policy newest_alone = {.most_folders = 1};
    const unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 10000;
    double floors[LOOKS], looks[LOOKS], plain[DELETIONS], passes[DELETIONS];
    if (argc < 2 || argc > 3 || count < 2 || count > 999999)
        return fprintf(stderr, "usage: bench_folders FOLDER [RUNS]\n"), 2;
    char *root = path_join(argv[1], "logs"), *store = path_join(argv[1], "store");
#ifdef _WIN32
    SetEnvironmentVariableA("OPENPLA_DATA", store);
#else
    setenv("OPENPLA_DATA", store, 1);
#endif
    must(store_save(&caller_self, SPACE, SET, STORE_CREATE_OR_MODIFY, xml, strlen(xml), NULL, NULL), SET);
    make_runs(root, count);
    for (int i = 0; i < LOOKS; i++) {
        floors[i] = walk(root);
        looks[i] = plan(root, count, &newest_alone);
    }
    for (int i = 0; i < DELETIONS; i++) {
        plain[i] = delete_plainly(root, count);
        make_runs(root, count);
        passes[i] = pass(root, &newest_alone);
        make_runs(root, count);
    }
    const double look = middle(looks, LOOKS), floor = middle(floors, LOOKS);
    const double whole = middle(passes, DELETIONS), least = middle(plain, DELETIONS);
    printf("%u folders of 4 files\n", count);
    printf("plan %.3f s, plain walk %.3f s: %.2f times\n", look, floor, look / floor);
    printf("pass that deletes %.3f s, plain deletion %.3f s: %.2f times\n", whole, least, whole / least);
    printf("memory %.1f MB\n", peak_megabytes());
    memory_free(root);
    memory_free(store);
    return 0;
}
