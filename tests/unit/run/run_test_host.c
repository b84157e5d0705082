/* SPDX-License-Identifier: MIT */
/* The set host program of the run tests. It does what openplahost does, and can be made to fail. Its arguments are one
   of these:
     <namespace> <name> <run key>   is a set host process
     start <namespace> <name>       starts the set, prints the result, and exits with 0, 3 (in use) or 1
     stop <namespace> <name>        stops the set
     hang <file> <anything>         waits while the file exists */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/base/thread.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

static uint64_t number_of(const char *variable)
{
    char *text = os_expand_environment(variable);
    uint64_t number = 0;
    if (text && !text_to_u64(text, &number))
        number = 0;
    memory_free(text);
    return number;
}

static char *file_named(const char *variable)
{
    char *path = os_expand_environment(variable);
    if (!path)
        exit(2);
    return path;
}

#ifndef _WIN32
/* Limits the size of files, which has the effect of a full disk. Does this one second after the start, because the
   shared sections must exist before. */
static void limit_files(void *bytes)
{
    struct rlimit limit = {*(uint64_t *)bytes, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    sleep(1);
    setrlimit(RLIMIT_FSIZE, &limit);
}
#endif

#ifdef _WIN32
#define SLEEP_MS(ms) Sleep(ms)
#else
#define SLEEP_MS(ms) usleep((ms)*1000)
#endif

/* Simulates a counter provider that blocks forever when a collector is opened or takes a sample. The linker redirects
   the calls to these functions (--wrap). */
HRESULT __real_collector_open(struct object *collector, const struct collect_context *context, struct collector **out);
HRESULT __wrap_collector_open(struct object *collector, const struct collect_context *context, struct collector **out);
HRESULT __real_collector_sample(struct collector *c);
HRESULT __wrap_collector_sample(struct collector *c);

static uint64_t samples_of(struct collector *c)
{
    struct collector_figures figures;
    collector_figures(c, &figures);
    return figures.samples;
}

HRESULT __wrap_collector_open(struct object *collector, const struct collect_context *context, struct collector **out)
{
    while (number_of("%TEST_OPEN_BLOCKS%"))
        SLEEP_MS(100);
    return __real_collector_open(collector, context, out);
}

HRESULT __wrap_collector_sample(struct collector *c)
{
    uint64_t room = number_of("%TEST_FILE_ROOM%"); /* a limit like SegmentMaxSize, but as a number of samples */
    if (room && samples_of(c) >= room)
        return S_FALSE;
    uint64_t after = number_of("%TEST_SAMPLE_BLOCKS%"); /* samples */
    while (after && samples_of(c) >= after) {
        char *path = file_named("%TEST_BLOCKED%"); /* tells the test that the sample blocks */
        file_store(path, "", 0);
        memory_free(path);
        SLEEP_MS(100);
    }
    return __real_collector_sample(c);
}

HRESULT __real_start_report_await(struct start_report *r);
HRESULT __wrap_start_report_await(struct start_report *r);

/* Can make the set host process exit when the starter has told it to begin its run. */
HRESULT __wrap_start_report_await(struct start_report *r)
{
    HRESULT hr = __real_start_report_await(r);
    if (hr == S_OK && number_of("%TEST_HOST_DIES_TOLD%"))
        _Exit(7);
    return hr;
}

/* Replaces the data manager. Waits for a file, and then does what the test has requested. */
static HRESULT compile(const struct ended_segment *segment)
{
    char *path = file_named("%TEST_COMPILE_UNTIL%"), *list = file_named("%TEST_COMPILE_LIST%");
    while (!file_exists(path))
        SLEEP_MS(20);
    FILE *f = list[0] && list[0] != '%' ? fopen(list, "ab") : NULL;
    if (f) {
        fprintf(f, "%u %s\n", (unsigned)segment->serial_number, path_name(segment->files.items[0]));
        fclose(f);
    }
    memory_free(path);
    memory_free(list);
    return number_of("%TEST_COMPILE_FAILS%") ? error_set(E_FAIL, "the test's data manager fails") : S_OK;
}

/* Runs the real data manager. If the test names a file, waits until the file exists. */
static HRESULT report(const struct ended_segment *segment)
{
    char *path = file_named("%TEST_REPORTS_AFTER%");
    while (path[0] && path[0] != '%' && !file_exists(path))
        SLEEP_MS(20);
    memory_free(path);
    return data_manager_compile(segment);
}

/* Writes a line for the test when a set host process begins and when it exits. */
static void note_host(const char *what)
{
    char *list = file_named("%TEST_HOSTS%");
    FILE *f = list[0] && list[0] != '%' ? fopen(list, "ab") : NULL;
    if (f) {
        fprintf(f, "%s %u\n", what, (unsigned)process_own_id());
        fclose(f);
    }
    memory_free(list);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    if (strcmp(argv[1], "start") == 0) {
        HRESULT hr = run_start(argv[2], argv[3], true);
        printf("0x%08X %s\n", (unsigned)hr, FAILED(hr) ? error_text(hr) : "");
        return hr == S_OK ? 0 : hr == PLA_E_DCS_IN_USE ? 3 : 1;
    }
    if (strcmp(argv[1], "hang") == 0) {
        while (file_exists(argv[2]))
            SLEEP_MS(50);
        return 0;
    }
    if (strcmp(argv[1], "stop") == 0)
        return FAILED(run_stop(argv[2], argv[3], true));
    if (number_of("%TEST_HOST_DIES%"))
        return 7;
    while (number_of("%TEST_HOST_HANGS%"))
        SLEEP_MS(100);
#ifndef _WIN32
    static uint64_t file_limit;
    struct thread *limiter;
    file_limit = number_of("%TEST_FILE_LIMIT%");
    if (file_limit && FAILED(thread_start(limit_files, &file_limit, &limiter)))
        return 2;
#endif
    note_host("begun");
    int rc = run_host_main(argv[1], argv[2], argv[3],
                           number_of("%TEST_COMPILES%")  ? compile
                           : number_of("%TEST_REPORTS%") ? report
                                                         : NULL);
    note_host("ended");
    return rc;
}
