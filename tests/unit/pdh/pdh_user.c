/* SPDX-License-Identifier: MIT */
/* A typical program that uses PDH: it links pdh.dll and contains nothing specific to OpenPLA. The test that runs it
   first copies openpdh.dll next to it, as pdh.dll. The program prints the values that it read. If a step fails, the
   exit code is the number of that step. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <pdh.h>
#include <pdhmsg.h>

static int failures;

static void expect(const char *what, PDH_STATUS status, PDH_STATUS expected)
{
    if (status != expected) {
        printf("%s: 0x%08lX, not 0x%08lX\n", what, (unsigned long)status, (unsigned long)expected);
        failures++;
    }
}

static void list_processors(void)
{
    DWORD counters = 0, instances = 0;
    expect("size", PdhEnumObjectItemsA(NULL, NULL, "Processor", NULL, &counters, NULL, &instances, 400, 0),
           (PDH_STATUS)PDH_MORE_DATA);
    char *names = malloc(counters), *items = malloc(instances);
    expect("items", PdhEnumObjectItemsA(NULL, NULL, "Processor", names, &counters, items, &instances, 400, 0), 0);
    unsigned n = 0;
    for (const char *p = items; *p; p += strlen(p) + 1)
        n++;
    printf("%u processors with the total, the first counter is %s\n", n, names);
    failures += n < 2;
    free(names);
    free(items);
}

/* Prints the messages that a program displays after a failed call. */
static void messages_of_results(void)
{
    static const PDH_STATUS results[] = {(PDH_STATUS)PDH_CSTATUS_NO_COUNTER, (PDH_STATUS)PDH_NO_DATA,
                                         (PDH_STATUS)PDH_QUERY_PERF_DATA_TIMEOUT, PDH_CSTATUS_VALID_DATA};
    static const char expected[] = "the object has no such counter\r\n";
    const HMODULE pdh = GetModuleHandleA("pdh.dll");
    char text[512];
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        const DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_HMODULE | FORMAT_MESSAGE_IGNORE_INSERTS, pdh,
                                            (DWORD)results[i], 0, text, sizeof text, NULL);
        printf("0x%08lX: %s", (unsigned long)results[i], length ? text : "no message\n");
        failures += !length || (i == 0 && strcmp(text, expected) != 0);
    }
}

int main(void)
{
    HQUERY query;
    HCOUNTER busy, memory, all, text;
    PDH_FMT_COUNTERVALUE v;
    char path[MAX_PATH];
    DWORD bytes = 0, count = 0;
    GetModuleFileNameA(GetModuleHandleA("pdh.dll"), path, sizeof path);
    printf("pdh.dll is %s\n", path);
    expect("open", PdhOpenQueryA(NULL, 0, &query), 0);
    expect("total", PdhAddEnglishCounterA(query, "\\Processor(_Total)\\% Processor Time", 0, &busy), 0);
    expect("memory", PdhAddCounterW(query, L"\\Memory\\Available MBytes", 0, &memory), 0);
    expect("all", PdhAddCounterA(query, "\\Processor(*)\\% Idle Time", 0, &all), 0);
    expect("nothing", PdhAddCounterA(query, "\\No Such Object\\X", 0, &text), (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    expect("first", PdhCollectQueryData(query), 0);
    Sleep(300);
    expect("second", PdhCollectQueryData(query), 0);
    expect("value", PdhGetFormattedCounterValue(busy, PDH_FMT_DOUBLE, NULL, &v), 0);
    printf("%.1f %% busy\n", v.doubleValue);
    failures += !(v.doubleValue >= 0 && v.doubleValue <= 100);
    expect("value", PdhGetFormattedCounterValue(memory, PDH_FMT_LARGE, NULL, &v), 0);
    printf("%lld MB available\n", (long long)v.largeValue);
    failures += v.largeValue <= 0;
    expect("array", PdhGetFormattedCounterArrayA(all, PDH_FMT_DOUBLE, &bytes, &count, NULL), (PDH_STATUS)PDH_MORE_DATA);
    PDH_FMT_COUNTERVALUE_ITEM_A *items = malloc(bytes);
    expect("array", PdhGetFormattedCounterArrayA(all, PDH_FMT_DOUBLE, &bytes, &count, items), 0);
    failures += count < 2 || strcmp(items[count - 1].szName, "_Total") != 0;
    free(items);
    list_processors();
    messages_of_results();
    expect("close", PdhCloseQuery(query), 0);
    printf("%d failures\n", failures);
    return failures;
}
