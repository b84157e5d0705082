/* SPDX-License-Identifier: MIT */
/* A performance extension DLL for tests, as Microsoft documents OpenPerformanceData, CollectPerformanceData and
   ClosePerformanceData. The environment variable OPENPLA_TEST_EXTENSION controls it: "INSTANCES COUNTERS MODE". MODE is
   one of these:
     well                            no failure
     crash, hang, garbage, overrun   fails in this way at the third collection
     openfails                       OpenPerformanceData fails
     driven                          the raw values are the number in the section OpenPlaTestExtensionValue
   A process that opens the DLL or hangs in it appends a line with the process id to the file
   OPENPLA_TEST_EXTENSION_LOG. */
#include <stdio.h>
#include <windows.h>
#include <string.h>
#include <winperf.h>

#define TITLE 9000 /* the object's title index; its counters are 9002, 9004 ... */

static unsigned instances = 3, counters = 4, collections;
static char mode[32] = "well";

DWORD WINAPI OpenTest(LPWSTR devices);
DWORD WINAPI CollectTest(LPWSTR value, LPVOID *data, LPDWORD bytes, LPDWORD objects);
DWORD WINAPI CloseTest(void);

static void put_id(char what)
{
    char path[MAX_PATH], line[32];
    DWORD units = GetEnvironmentVariableA("OPENPLA_TEST_EXTENSION_LOG", path, sizeof path), written;
    if (!units || units >= sizeof path)
        return;
    HANDLE file = CreateFileA(path, FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_ALWAYS, 0, NULL);
    WriteFile(file, line, (DWORD)snprintf(line, sizeof line, "%c %lu\n", what, GetCurrentProcessId()), &written, NULL);
    CloseHandle(file);
}

DWORD WINAPI OpenTest(LPWSTR devices)
{
    char text[100];
    (void)devices;
    put_id('o');
    if (GetEnvironmentVariableA("OPENPLA_TEST_EXTENSION", text, sizeof text))
        sscanf(text, "%u %u %31s", &instances, &counters, mode);
    return strcmp(mode, "openfails") ? ERROR_SUCCESS : ERROR_SERVICE_DISABLED;
}

DWORD WINAPI CloseTest(void)
{
    return ERROR_SUCCESS;
}

static void misbehave(void)
{
    if (!strcmp(mode, "crash")) {
        *(volatile int *)0 = 1;
    } else if (!strcmp(mode, "hang")) {
        put_id('h');
        Sleep(INFINITE);
    }
}

/* Counter 0 is a fraction and counter 1 is its base. After them, raw values and rates alternate. Each takes 8 bytes. */
static DWORD type_of(unsigned i)
{
    return i == 0   ? PERF_LARGE_RAW_FRACTION
           : i == 1 ? PERF_LARGE_RAW_BASE
           : i % 2  ? PERF_COUNTER_BULK_COUNT
                    : PERF_COUNTER_LARGE_RAWCOUNT;
}

/* Returns 0 if the section does not exist. */
static ULONGLONG driven_value(void)
{
    static const volatile LONG64 *value;
    HANDLE section = value ? NULL : OpenFileMappingA(FILE_MAP_READ, FALSE, "OpenPlaTestExtensionValue");
    if (section) {
        value = MapViewOfFile(section, FILE_MAP_READ, 0, 0, sizeof *value);
        CloseHandle(section);
    }
    return value ? (ULONGLONG)*value : 0;
}

static ULONGLONG value_of(unsigned instance, unsigned counter)
{
    if (counter > 1 && !strcmp(mode, "driven"))
        return driven_value();
    if (counter == 1)
        return 200;
    return counter == 0 ? 50 + instance : 1000u * instance + 10 * counter + (counter % 2 ? 100u * collections : 0);
}

DWORD WINAPI CollectTest(LPWSTR value, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    BYTE *at = *data;
    DWORD block = 8 + 8 * counters, instance_size = sizeof(PERF_INSTANCE_DEFINITION) + 16;
    DWORD definitions = sizeof(PERF_OBJECT_TYPE) + counters * sizeof(PERF_COUNTER_DEFINITION);
    DWORD total = definitions + instances * (instance_size + block);
    (void)value;
    collections++;
    if (collections >= 3)
        misbehave();
    if (*bytes < total) {
        *bytes = *objects = 0;
        return ERROR_MORE_DATA;
    }
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    PERF_OBJECT_TYPE object = {.TotalByteLength = total,
                               .DefinitionLength = definitions,
                               .HeaderLength = sizeof object,
                               .ObjectNameTitleIndex = TITLE,
                               .DetailLevel = PERF_DETAIL_NOVICE,
                               .NumCounters = counters,
                               .NumInstances = (LONG)instances,
                               .PerfTime = now,
                               .PerfFreq = frequency};
    memcpy(at, &object, sizeof object);
    at += sizeof object;
    for (unsigned i = 0; i < counters; i++) {
        PERF_COUNTER_DEFINITION definition = {.ByteLength = sizeof definition,
                                              .CounterNameTitleIndex = TITLE + 2 + 2 * i,
                                              .DefaultScale = -1,
                                              .DetailLevel = PERF_DETAIL_NOVICE,
                                              .CounterType = type_of(i),
                                              .CounterSize = 8,
                                              .CounterOffset = 8 + 8 * i};
        memcpy(at, &definition, sizeof definition);
        at += sizeof definition;
    }
    for (unsigned n = 0; n < instances; n++) {
        PERF_INSTANCE_DEFINITION instance = {.ByteLength = instance_size,
                                             .UniqueID = PERF_NO_UNIQUE_ID,
                                             .NameOffset = sizeof instance,
                                             .NameLength = 16};
        WCHAR name[8] = {'i', 't', 'e', 'm'};
        for (unsigned digit = 0, rest = n; digit < 3; digit++, rest /= 10)
            name[6 - digit] = (WCHAR)('0' + rest % 10);
        memcpy(at, &instance, sizeof instance);
        memcpy(at + sizeof instance, name, sizeof name);
        at += instance_size;
        memcpy(at, &block, sizeof block);
        for (unsigned i = 0; i < counters; i++) {
            ULONGLONG number = value_of(n, i);
            memcpy(at + 8 + 8 * i, &number, sizeof number);
        }
        at += block;
    }
    if (collections >= 3 && !strcmp(mode, "garbage"))
        for (DWORD i = 0; i < total; i++)
            ((BYTE *)*data)[i] = (BYTE)(i * 197 + 13);
    *bytes = collections >= 3 && !strcmp(mode, "overrun") ? total + 1000 : total;
    *objects = 1;
    *data = at;
    return ERROR_SUCCESS;
}
