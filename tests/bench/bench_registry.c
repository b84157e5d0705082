/* SPDX-License-Identifier: MIT */
/* bench_registry [VALUES [TIMES]]: measures the time that a configuration collector needs for a branch of VALUES
   (1,000,000) registry values, compared with a plain enumeration of the same branch, as the median of TIMES (3), and
   the peak memory of both. The branch is deleted afterwards, and never written to the disk. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/pla/collect/configuration_source.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <string.h>

enum { IN_A_KEY = 1000, MOST_TIMES = 101 };
#define TOP L"SOFTWARE\\OpenPLA bench_registry"

static double now(void)
{
    return (double)clock_ticks() / (double)clock_frequency();
}

static void call(LSTATUS status, const char *what)
{
    must(HRESULT_FROM_WIN32(status), what);
}

/* This process's peak memory in MB; 0 if the host OS does not report it. */
static double peak(void)
{
    struct kernel_file *f = NULL;
    const char *text, *line = NULL;
    size_t size;
    if (SUCCEEDED(kernel_file_open("/proc/self/status", &f)) && SUCCEEDED(kernel_file_read(f, &text, &size)))
        line = strstr(text, "VmHWM:");
    const double mb = line ? strtod(line + 6, NULL) / 1024 : 0;
    kernel_file_close(f);
    return mb;
}

static void fill(unsigned values)
{
    HKEY top, key;
    call(RegCreateKeyExW(HKEY_LOCAL_MACHINE, TOP, 0, NULL, REG_OPTION_VOLATILE, KEY_ALL_ACCESS, NULL, &top, NULL),
         "key");
    for (unsigned i = 0; i < values; i++) {
        WCHAR name[16];
        if (i % IN_A_KEY == 0) {
            swprintf(name, 16, L"k%07u", i / IN_A_KEY);
            if (i)
                RegCloseKey(key);
            call(RegCreateKeyExW(top, name, 0, NULL, REG_OPTION_VOLATILE, KEY_ALL_ACCESS, NULL, &key, NULL), "key");
        }
        swprintf(name, 16, L"value%07u", i);
        if (i % 2)
            call(RegSetValueExW(key, name, 0, REG_SZ, (const BYTE *)L"some text of a value", 42), "value");
        else
            call(RegSetValueExW(key, name, 0, REG_DWORD, (const BYTE *)&i, 4), "value");
    }
    RegCloseKey(key);
    RegCloseKey(top);
}

static unsigned enumerate(HKEY above, const WCHAR *name)
{
    static WCHAR text[16384];
    static BYTE data[65536];
    unsigned count = 0;
    WCHAR below[256];
    HKEY key;
    call(RegOpenKeyExW(above, name, 0, KEY_READ, &key), "key");
    for (DWORD i = 0;; i++) {
        DWORD units = 16384, size = sizeof data, type;
        if (RegEnumValueW(key, i, text, &units, NULL, &type, data, &size))
            break;
        count++;
    }
    for (DWORD i = 0;; i++) {
        DWORD units = 256;
        if (RegEnumKeyExW(key, i, below, &units, NULL, NULL, NULL, NULL))
            break;
        count += enumerate(key, below);
    }
    RegCloseKey(key);
    return count;
}

static uint64_t collect(void)
{
    struct configuration_request request = {.registry_depth = 0};
    struct configuration_document *d;
    struct file *file;
    atomic_bool stop = false;
    uint64_t size = 0;
    must(texts_add(&request.registry_keys, "HKEY_LOCAL_MACHINE\\SOFTWARE\\OpenPLA bench_registry\\\\"), "entry");
    file_delete("bench_registry.xml"); /* left by an interrupted run */
    must(file_open("bench_registry.xml", FILE_CREATE_NEW, &file), "file");
    must(configuration_document_begin(file, &d), "document");
    const struct configuration_source_context context = {.request = &request, .document = d, .stop = &stop};
    must(configuration_collect_registry(&context), "collect");
    must(configuration_document_end(d, true), "end");
    must(file_size(file, &size), "size");
    file_close(file);
    file_delete("bench_registry.xml");
    texts_free(&request.registry_keys);
    return size;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    const unsigned values = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000000;
    const unsigned asked = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;
    const unsigned times = asked < 1 ? 1 : asked > MOST_TIMES ? MOST_TIMES : asked;
    double plain[MOST_TIMES], ours[MOST_TIMES], peaks[3] = {0, 0, 0};
    uint64_t bytes = 0;
    fill(values);
    peaks[0] = peak();
    for (unsigned i = 0; i < times; i++) {
        const double start = now();
        if (enumerate(HKEY_LOCAL_MACHINE, TOP) != values)
            must(E_UNEXPECTED, "values are missing");
        const double between = now();
        if (!i)
            peaks[1] = peak();
        bytes = collect();
        plain[i] = between - start;
        ours[i] = now() - between;
        peaks[2] = peak();
    }
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, TOP);
    qsort(plain, times, sizeof *plain, by_size);
    qsort(ours, times, sizeof *ours, by_size);
    printf("%u values: plain enumeration %.1f s, collected %.1f s (%.1f MB of XML), ratio %.2f; peak %.1f MB when "
           "the branch was made, %.1f MB when it was enumerated, %.1f MB when it was collected\n",
           values, plain[times / 2], ours[times / 2], (double)bytes / 1048576, ours[times / 2] / plain[times / 2],
           peaks[0], peaks[1], peaks[2]);
    return 0;
}
