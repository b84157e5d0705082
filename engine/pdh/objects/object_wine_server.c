/* SPDX-License-Identifier: MIT */
/* The object Wine Server (OpenPLA only): the process that performs kernel tasks for all programs of a Wine prefix. The
   Wine server opens files for the programs of the prefix. Therefore a program of the prefix that opens /proc/self gets
   the Wine server's /proc/self. The Wine server does not report how many requests it has answered, so the object shows
   the resources that the kernel of the host OS charges to it. */
#include "engine/base/kernel_file.h"
#include "engine/pdh/core/source.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

/* Times are in ticks of 10 ms. */
#define WINE_SERVER_ROWS                                                                                               \
    COLUMN(SERVER_USER, "user")                                                                                        \
    COLUMN(SERVER_KERNEL, "kernel")                                                                                    \
    COLUMN(SERVER_RESIDENT, "resident")                                                                                \
    COLUMN(SERVER_FAULTS, "faults")                                                                                    \
    COLUMN(SERVER_SWITCHES, "switches")                                                                                \
    COLUMN(SERVER_FILES, "files")                                                                                      \
    COUNTER("% Processor Time", PERF_100NSEC_TIMER, 0, 0, SUM, "user * 100000 + kernel * 100000",                      \
            "Share of one processor's time that the server used.")                                                     \
    COUNTER("% User Time", PERF_100NSEC_TIMER, 0, 0, SUM, "user * 100000",                                             \
            "Share of one processor's time in which the server ran its own code.")                                     \
    COUNTER("% Privileged Time", PERF_100NSEC_TIMER, 0, 0, SUM, "kernel * 100000",                                     \
            "Share of one processor's time in which the kernel worked for the server.")                                \
    COUNTER("Context Switches/sec", PERF_COUNTER_COUNTER, 0, -2, SUM, "switches",                                      \
            "Switches to the server's main thread: at least one for each request that finds it idle.")                 \
    COUNTER("Open Files", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, "files",                                                   \
            "Files, pipes and sockets that the server has open for the programs of the prefix and for itself.")        \
    COUNTER("Page Faults/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, "faults", "Page faults of the server.")                \
    COUNTER("Working Set", PERF_COUNTER_LARGE_RAWCOUNT, 0, -5, SUM, "resident * 4096",                                 \
            "Physical memory of the server, in bytes.")

#define OBJECT wine_server
#define ROWS   WINE_SERVER_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define BIT(column) (1ull << (column))

struct wine_server_state {
    struct table_state table;
    struct kept_files files;
};

static void close_state(void *state)
{
    kept_files_close(&((struct wine_server_state *)state)->files);
}

static HRESULT add_server(struct wine_server_state *s, const char *folder, uint64_t wanted)
{
    char path[512];
    const char *text;
    size_t size;
    struct process_stat stat;
    struct process_status status;
    snprintf(path, sizeof path, "%s/stat", folder);
    HRESULT hr = kept_files_text(&s->files, path, &text, &size);
    if (FAILED(hr))
        return hr;
    if (!process_stat_parse(text, size, &stat) || !process_is_wine_server(&stat))
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "'%s' does not belong to Wine's server", path);
    int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, "", 0, 0);
    if (!cells)
        return E_OUTOFMEMORY;
    cells[SERVER_USER] = (int64_t)stat.user_ticks;
    cells[SERVER_KERNEL] = (int64_t)stat.kernel_ticks;
    cells[SERVER_RESIDENT] = (int64_t)stat.resident_pages;
    cells[SERVER_FAULTS] = (int64_t)stat.faults;
    if (wanted & BIT(SERVER_SWITCHES)) {
        snprintf(path, sizeof path, "%s/status", folder);
        hr = kept_files_text(&s->files, path, &text, &size);
        if (SUCCEEDED(hr)) {
            process_status_parse(text, size, &status);
            cells[SERVER_SWITCHES] = status.switches;
        }
    }
    if (hr != E_OUTOFMEMORY && (wanted & BIT(SERVER_FILES))) {
        uint32_t *numbers;
        size_t count;
        snprintf(path, sizeof path, "%s/fd", folder);
        hr = kernel_folder_numbers(path, &numbers, &count);
        if (SUCCEEDED(hr)) {
            memory_free(numbers);
            cells[SERVER_FILES] = (int64_t)count;
        }
    }
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static HRESULT wine_server_gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct wine_server_state *s = o->state;
    char folder[256];
    snprintf(folder, sizeof folder, "%s/proc/self", source_root(source));
    HRESULT hr = add_server(s, folder, wanted);
    kept_files_sweep(&s->files);
    return hr;
}

const struct counter_object_type pdh_wine_server = {
    .name = "Wine Server",
    .help = "Wine's server process, which takes the role of the Windows kernel for all programs of the prefix.",
    TABLE_OBJECT(wine_server, ALL_OF, struct wine_server_state, wine_server_gather, close_state,
                 "the files stat and status in /proc/self, and the number of entries in /proc/self/fd; under Wine, "
                 "/proc/self belongs to Wine's server")};
