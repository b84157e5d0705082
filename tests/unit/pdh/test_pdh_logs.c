/* SPDX-License-Identifier: MIT */
/* Log files through PDH's functions, as programs use them: one query writes a log, and another reads it. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/logs/log.h"
#include "engine/pdh/api/api.h"
#include "engine/pdh/core/pdh.h"
#include "tests/unit/scratch_folder.h"

#include <math.h>

#define STATUS(x) ((PDH_STATUS)(x))
#define SECOND    10000000LL
#define SAMPLES   4

static char *folder;
static const int64_t start = 133500000000000000LL; /* a whole second */

static int make_folder(void **state)
{
    *state = folder = scratch_create("test_pdh_logs");
    return 0;
}

static WCHAR *wide_path(const char *name)
{
    char *path = path_join(folder, name);
    WCHAR *wide;
    assert_int_equal(text_to_utf16(path, &wide, NULL), S_OK);
    memory_free(path);
    return wide;
}

static void wide_is(const WCHAR *wide, const char *expected)
{
    size_t n = 0;
    char *text;
    while (wide[n])
        n++;
    assert_int_equal(text_from_utf16(wide, n, false, &text), S_OK);
    assert_string_equal(text, expected);
    memory_free(text);
}

/* Writes a rate and a raw value. A binary log also gets a wildcard counter of processes, which start and exit. Two of
   these processes have the same name. */
static void write_log(const char *name, enum log_format format, int64_t first, unsigned samples)
{
    char *path = path_join(folder, name);
    struct log_counter counters[] = {
        {.machine = "\\\\BOX",
         .object = "Disk",
         .instance = "C:",
         .counter = "Reads/sec",
         .type = PERF_COUNTER_COUNTER,
         .time_base = 1000},
        {.machine = "\\\\BOX",
         .object = "Memory",
         .counter = "Free",
         .type = PERF_COUNTER_LARGE_RAWCOUNT,
         .time_base = 1000,
         .default_scale = -3},
        {.machine = "\\\\BOX",
         .object = "Process",
         .instance = "*",
         .counter = "Threads",
         .wildcard = true,
         .type = PERF_COUNTER_RAWCOUNT,
         .time_base = 1000},
    };
    size_t count = format == LOG_BINARY ? 3 : 2;
    struct log_options options = {.zone = {true, -60, "Test Time"}};
    struct log_writer *w;
    assert_int_equal(log_writer_create(format, path, counters, count, first, &options, &w), S_OK);
    for (unsigned i = 0; i < samples; i++) {
        struct log_item items[] = {{.instance = "cmd", .raw = {.first = 10 + i, .multi_count = 1}},
                                   {.instance = "cmd", .raw = {.first = 20 + i, .multi_count = 1}},
                                   {.instance = "late", .raw = {.first = 30 + i, .multi_count = 1}}};
        struct log_cell cells[3] = {
            {.raw = {.first = 100 * i, .second = 1000 * i, .multi_count = 1}, .has_value = i > 0, .value = 100},
            {.raw = {.first = 7 + i, .multi_count = 1}, .has_value = true, .value = 7 + i},
            {.items = items, .item_count = i < 2 ? 2 : 3},
        };
        assert_int_equal(log_writer_append(w, first + i * SECOND, cells), S_OK);
    }
    assert_int_equal(log_writer_close(w), S_OK);
    memory_free(path);
}

static double value_of(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE v;
    PDH_STATUS status = PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &v);
    return status == ERROR_SUCCESS ? v.doubleValue : NAN;
}

/* Reads all samples. Each must occur once, in order, with its time. */
static void read_all(const char *name, bool raw)
{
    WCHAR *path = wide_path(name);
    PDH_HQUERY query;
    PDH_HCOUNTER reads, free_memory, none;
    LONGLONG time;
    assert_int_equal(PdhOpenQueryW(path, 0, &query), ERROR_SUCCESS);
    assert_false(PdhIsRealTimeQuery(query));
    assert_int_equal(PdhAddCounterW(query, u"\\Disk(C:)\\Reads/sec", 0, &reads), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\\\box\\Memory\\Free", 0, &free_memory), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\\\other\\Memory\\Free", 0, &none), STATUS(PDH_CSTATUS_NO_MACHINE));
    assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Used", 0, &none), STATUS(PDH_CSTATUS_NO_COUNTER));
    assert_int_equal(PdhAddCounterW(query, u"\\Processor(_Total)\\% Idle Time", 0, &none),
                     STATUS(PDH_CSTATUS_NO_OBJECT));
    for (int i = 0; i < SAMPLES; i++) {
        assert_int_equal(PdhCollectQueryDataWithTime(query, &time), ERROR_SUCCESS);
        assert_true(time == start + 60 * 60 * SECOND + i * SECOND);
        assert_true(value_of(free_memory) == 7 + i);
        assert_true(i == 0 ? isnan(value_of(reads)) : value_of(reads) == 100);
    }
    PDH_RAW_COUNTER value;
    assert_int_equal(PdhGetRawCounterValue(reads, NULL, &value), ERROR_SUCCESS);
    if (raw)
        assert_true(value.FirstValue == 300 && value.SecondValue == 3000);
    assert_int_equal(PdhCollectQueryData(query), STATUS(PDH_NO_MORE_DATA));
    assert_int_equal(PdhCollectQueryData(query), STATUS(PDH_NO_MORE_DATA));
    /* The query reads a part of the log again. */
    PDH_TIME_INFO range = {.StartTime = time - SECOND, .EndTime = time - SECOND / 2};
    assert_int_equal(PdhSetQueryTimeRange(query, &range), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(value_of(free_memory) == 7 + SAMPLES - 2);
    assert_int_equal(PdhCollectQueryData(query), STATUS(PDH_NO_MORE_DATA));
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
    DWORD count = 0, bytes = sizeof range;
    assert_int_equal(PdhGetDataSourceTimeRangeW(path, &count, &range, &bytes), ERROR_SUCCESS);
    assert_int_equal(range.SampleCount, SAMPLES);
    assert_true(range.EndTime == time && range.StartTime == time - (SAMPLES - 1) * SECOND);
    memory_free(path);
}

static void text_logs_are_read(void **state)
{
    (void)state;
    write_log("a.csv", LOG_CSV, start, SAMPLES);
    read_all("a.csv", false);
    write_log("a.tsv", LOG_TSV, start, SAMPLES);
    read_all("a.tsv", false);
    DWORD type = 0;
    WCHAR *path = wide_path("a.tsv");
    assert_int_equal(PdhGetLogFileTypeW(path, &type), ERROR_SUCCESS);
    assert_int_equal(type, PDH_LOG_TYPE_TSV);
    memory_free(path);
}

static void binary_logs_are_read(void **state)
{
    (void)state;
    write_log("a.blg", LOG_BINARY, start, SAMPLES);
    read_all("a.blg", true);
}

/* Two processes in the log have the same name, and the first samples lack one process. */
static void instances_of_a_log_appear_and_disappear(void **state)
{
    (void)state;
    WCHAR *path = wide_path("i.blg"), list[300];
    PDH_HQUERY query;
    PDH_HCOUNTER all, second, late;
    DWORD units = 300, bytes = 0, count = 0, counter_units = 100;
    write_log("i.blg", LOG_BINARY, start, SAMPLES);
    assert_int_equal(PdhExpandWildCardPathW(path, u"\\Process(*)\\*", list, &units, 0), ERROR_SUCCESS);
    wide_is(list, "\\\\BOX\\Process(cmd)\\Threads");
    wide_is(list + 27, "\\\\BOX\\Process(cmd#1)\\Threads");
    units = 300;
    assert_int_equal(PdhEnumObjectsW(path, NULL, list, &units, PERF_DETAIL_WIZARD, 1), ERROR_SUCCESS);
    static const WCHAR objects[] = u"Disk\0Memory\0Process\0";
    assert_memory_equal(list, objects, sizeof objects);
    units = 200;
    assert_int_equal(
        PdhEnumObjectItemsW(path, u"\\\\BOX", u"Process", list, &counter_units, list + 100, &units, 400, 0),
        ERROR_SUCCESS);
    wide_is(list, "Threads");
    wide_is(list + 104, "cmd");
    units = 300;
    assert_int_equal(PdhEnumMachinesW(path, list, &units), ERROR_SUCCESS);
    wide_is(list, "\\\\BOX");
    assert_int_equal(PdhOpenQueryW(path, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Process(*)\\Threads", 0, &all), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Process(cmd#1)\\Threads", 0, &second), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Process(late)\\Threads", 0, &late), ERROR_SUCCESS);
    for (int i = 0; i < SAMPLES; i++) {
        assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
        bytes = 0;
        assert_int_equal(PdhGetRawCounterArrayW(all, &bytes, &count, NULL), STATUS(PDH_MORE_DATA));
        assert_int_equal(count, i < 2 ? 2 : 3);
        PDH_RAW_COUNTER_ITEM_W *items = memory_alloc(bytes);
        assert_int_equal(PdhGetRawCounterArrayW(all, &bytes, &count, items), ERROR_SUCCESS);
        wide_is(items[0].szName, "cmd");
        wide_is(items[1].szName, "cmd");
        memory_free(items);
        assert_true(value_of(second) == 20 + i);
        assert_true(i < 2 ? isnan(value_of(late)) : value_of(late) == 30 + i);
    }
    PdhCloseQuery(query);
    memory_free(path);
}

/* In a text log, the column names contain instance numbers. Lists and arrays must be the same as for other logs. */
static void column_numbers_are_not_part_of_names(void **state)
{
    (void)state;
    static const char text[] = "\"(PDH-CSV 4.0) (Test Time)(-60)\",\"\\\\BOX\\Process(cmd)\\Threads\","
                               "\"\\\\BOX\\Process(cmd#1)\\Threads\"\r\n\"01/02/2024 03:04:05.000\",\"1\",\"2\"\r\n";
    char *file = path_join(folder, "n.csv");
    assert_int_equal(file_store(file, text, sizeof text - 1), S_OK);
    WCHAR *path = wide_path("n.csv"), list[100], names[100];
    PDH_HQUERY query;
    PDH_HCOUNTER all, second;
    DWORD counter_units = 100, units = 100;
    assert_int_equal(PdhEnumObjectItemsW(path, NULL, u"Process", list, &counter_units, names, &units, 400, 0),
                     ERROR_SUCCESS);
    wide_is(names, "cmd");
    wide_is(names + 4, "cmd");
    assert_int_equal(PdhOpenQueryW(path, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Process(*)\\Threads", 0, &all), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Process(cmd#1)\\Threads", 0, &second), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(value_of(second) == 2);
    PDH_RAW_COUNTER_ITEM_W items[8];
    DWORD bytes = sizeof items, count = 0;
    assert_int_equal(PdhGetRawCounterArrayW(all, &bytes, &count, items), ERROR_SUCCESS);
    assert_int_equal(count, 2);
    wide_is(items[1].szName, "cmd");
    PdhCloseQuery(query);
    memory_free(path);
    memory_free(file);
}

/* Several files of one machine can be opened as one source. They can be named in any order. */
static void files_are_read_in_the_order_of_their_times(void **state)
{
    (void)state;
    PDH_HLOG source;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_TIME_INFO range;
    LONGLONG time, last = 0;
    LONGLONG size = 0;
    DWORD count, bytes = sizeof range;
    write_log("late.blg", LOG_BINARY, start + 100 * SECOND, 2);
    write_log("early.blg", LOG_BINARY, start, 3);
    char *late = path_join(folder, "late.blg"), *early = path_join(folder, "early.blg");
    char *both = text_format("%s%c%s%c", late, '\n', early, '\n');
    WCHAR *list;
    assert_int_equal(text_to_utf16(both, &list, NULL), S_OK);
    for (WCHAR *p = list; *p; p++) {
        *p = *p == '\n' ? 0 : *p; /* text_format cannot create a string with several NULs */
        if (!*p && !p[1])
            break;
    }
    assert_int_equal(PdhBindInputDataSourceW(&source, list), ERROR_SUCCESS);
    assert_int_equal(PdhOpenQueryH(source, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Free", 0, &counter), ERROR_SUCCESS);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(PdhCollectQueryDataWithTime(query, &time), ERROR_SUCCESS);
        assert_true(time > last);
        last = time;
        assert_true(value_of(counter) == 7 + i % 3);
    }
    assert_int_equal(PdhCollectQueryData(query), STATUS(PDH_NO_MORE_DATA));
    PdhCloseQuery(query);
    assert_int_equal(PdhGetDataSourceTimeRangeH(source, &count, &range, &bytes), ERROR_SUCCESS);
    assert_int_equal(range.SampleCount, 5);
    assert_int_equal(PdhGetLogFileSize(source, &size), ERROR_SUCCESS);
    assert_true(size > 1000);
    assert_int_equal(PdhCloseLog(source, 0), ERROR_SUCCESS);
    memory_free(list);
    memory_free(both);
    memory_free(late);
    memory_free(early);
}

enum { MANY = 100000 };

/* If a log has very many instances, all of them must be listed and sampled. */
static void hundred_thousand_instances_are_read(void **state)
{
    (void)state;
    char *path = path_join(folder, "many.blg");
    WCHAR *wide = wide_path("many.blg");
    struct log_counter counter = {.machine = "\\\\BOX",
                                  .object = "Session",
                                  .instance = "*",
                                  .counter = "Bytes",
                                  .wildcard = true,
                                  .type = PERF_COUNTER_LARGE_RAWCOUNT,
                                  .time_base = 1000};
    struct log_options options = {.zone = {true, 0, "Test Time"}};
    struct log_item *items = calloc(MANY, sizeof *items);
    struct log_writer *w;
    char(*names)[16] = calloc(MANY, sizeof *names);
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "s%d", i / 2); /* each name twice */
        items[i] = (struct log_item){.instance = names[i], .raw = {.first = i, .multi_count = 1}};
    }
    struct log_cell cell = {.items = items, .item_count = MANY};
    assert_int_equal(log_writer_create(LOG_BINARY, path, &counter, 1, start, &options, &w), S_OK);
    assert_int_equal(log_writer_append(w, start, &cell), S_OK);
    assert_int_equal(log_writer_append(w, start + SECOND, &cell), S_OK);
    assert_int_equal(log_writer_close(w), S_OK);

    PDH_HQUERY query;
    PDH_HCOUNTER all, one;
    DWORD units = 0, bytes = 0, count = 0;
    assert_int_equal(PdhExpandWildCardPathW(wide, u"\\Session(*)\\Bytes", NULL, &units, 0), STATUS(PDH_MORE_DATA));
    WCHAR *list = calloc(units, sizeof *list);
    assert_int_equal(PdhExpandWildCardPathW(wide, u"\\Session(*)\\Bytes", list, &units, 0), ERROR_SUCCESS);
    for (const WCHAR *p = list; *p; p++) {
        count++;
        while (*p)
            p++;
    }
    assert_int_equal(count, MANY);
    assert_int_equal(PdhOpenQueryW(wide, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Session(*)\\Bytes", 0, &all), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Session(s49999#1)\\Bytes", 0, &one), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
    assert_true(value_of(one) == MANY - 1);
    assert_int_equal(PdhGetRawCounterArrayW(all, &bytes, &count, NULL), STATUS(PDH_MORE_DATA));
    assert_int_equal(count, MANY);
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
    free(list);
    free(items);
    free(names);
    memory_free(path);
    memory_free(wide);
}

/* A log that a program writes with PdhOpenLog can be read back in each format. */
static void query_is_logged_and_read_back(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        DWORD type;
    } formats[] = {{"q.csv", PDH_LOG_TYPE_CSV}, {"q.tsv", PDH_LOG_TYPE_TSV}, {"q.blg", PDH_LOG_TYPE_BINARY}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        WCHAR *path = wide_path(formats[i].name);
        PDH_HQUERY query;
        PDH_HCOUNTER limit, idle, gone;
        PDH_HLOG log;
        LONGLONG size = 0;
        DWORD type = formats[i].type, count, bytes = sizeof(PDH_TIME_INFO);
        PDH_TIME_INFO range;
        assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
        assert_int_equal(PdhOpenLogW(path, PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_NEW, &type, query, 0, NULL, &log),
                         STATUS(PDH_NO_COUNTERS));
        assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Commit Limit", 0, &limit), ERROR_SUCCESS);
        assert_int_equal(PdhAddCounterW(query, u"\\Processor(*)\\% Idle Time", 0, &idle), ERROR_SUCCESS);
        assert_int_equal(PdhAddCounterW(query, u"\\System\\Processes", 0, &gone), ERROR_SUCCESS);
        assert_int_equal(PdhOpenLogW(path, PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_NEW, &type, query, 0, NULL, &log),
                         ERROR_SUCCESS);
        assert_int_equal(PdhUpdateLogW(log, NULL), ERROR_SUCCESS);
        assert_int_equal(PdhUpdateLogW(log, NULL), ERROR_SUCCESS);
        assert_int_equal(PdhRemoveCounter(gone), ERROR_SUCCESS); /* its cells are empty from now on */
        assert_int_equal(PdhUpdateLogW(log, NULL), ERROR_SUCCESS);
        double expected = value_of(limit);
        assert_int_equal(PdhGetLogFileSize(log, &size), ERROR_SUCCESS);
        assert_true(size > 100);
        assert_int_equal(PdhUpdateLogFileCatalog(log), ERROR_SUCCESS);
        assert_int_equal(PdhCloseLog(log, PDH_FLAGS_CLOSE_QUERY), ERROR_SUCCESS);
        assert_int_equal(PdhCloseLog(log, 0), STATUS(PDH_INVALID_HANDLE));

        type = 0;
        assert_int_equal(PdhOpenLogW(path, PDH_LOG_READ_ACCESS | PDH_LOG_OPEN_EXISTING, &type, NULL, 0, NULL, &log),
                         ERROR_SUCCESS);
        assert_int_equal(type, formats[i].type);
        assert_int_equal(PdhGetDataSourceTimeRangeH(log, &count, &range, &bytes), ERROR_SUCCESS);
        assert_int_equal(range.SampleCount, 3);
        assert_int_equal(PdhOpenQueryH(log, 0, &query), ERROR_SUCCESS);
        assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Commit Limit", 0, &limit), ERROR_SUCCESS);
        assert_int_equal(PdhAddCounterW(query, u"\\Processor(_Total)\\% Idle Time", 0, &idle), ERROR_SUCCESS);
        assert_int_equal(PdhAddCounterW(query, u"\\System\\Processes", 0, &gone), ERROR_SUCCESS);
        for (int n = 0; n < 3; n++) {
            assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
            assert_true(value_of(limit) == expected);
            /* The values may be far above 100: the kernel counts in ticks of 10 ms, the samples are microseconds apart,
               and text logs contain uncapped values. */
            assert_true(n == 0 || value_of(idle) >= 0);
            assert_true(n == 0 || formats[i].type != PDH_LOG_TYPE_BINARY || value_of(idle) <= 100);
            assert_true(n < 2 ? value_of(gone) > 0 : isnan(value_of(gone)));
        }
        PdhCloseQuery(query);
        PdhCloseLog(log, 0);
        memory_free(path);
    }
}

/* A log with a size limit must not fill the disk; a circular one continues with the newest samples. */
static void size_limit_holds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        DWORD type, most, flags;
    } logs[] = {{"limit.csv", PDH_LOG_TYPE_CSV, 2000, 0},
                {"limit.tsv", PDH_LOG_TYPE_TSV, 2000, PDH_LOG_OPT_MAX_IS_BYTES},
                {"limit.blg", PDH_LOG_TYPE_BINARY, 200000, 0},
                {"round.blg", PDH_LOG_TYPE_BINARY, 1 << 20, PDH_LOG_OPT_CIRCULAR}};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        WCHAR *path = wide_path(logs[i].name);
        PDH_HQUERY query;
        PDH_HCOUNTER counter;
        PDH_HLOG log;
        DWORD type = logs[i].type, access = PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_NEW | logs[i].flags;
        LONGLONG size = 0;
        PDH_STATUS status = ERROR_SUCCESS;
        bool circular = (logs[i].flags & PDH_LOG_OPT_CIRCULAR) != 0;
        int updates = 0;
        assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
        assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Commit Limit", 0, &counter), ERROR_SUCCESS);
        if (circular) /* 100 bytes cannot contain a sample */
            assert_int_equal(PdhOpenLogW(path, access, &type, query, 100, NULL, &log), STATUS(PDH_INVALID_ARGUMENT));
        assert_int_equal(PdhOpenLogW(path, access, &type, query, logs[i].most, NULL, &log), ERROR_SUCCESS);
        while (status == ERROR_SUCCESS && updates < (circular ? 300 : 3000)) {
            status = PdhUpdateLogW(log, NULL);
            updates += status == ERROR_SUCCESS;
        }
        assert_int_equal(PdhGetLogFileSize(log, &size), ERROR_SUCCESS);
        if (status != (circular ? ERROR_SUCCESS : STATUS(PDH_END_OF_LOG_FILE))) {
            print_message("%s: 0x%08X after %d samples, %d bytes\n", logs[i].name, (unsigned)status, updates,
                          (int)size);
            fail();
        }
        assert_true(updates > 10);
        assert_in_range(size, circular ? 1 : logs[i].most / 2, logs[i].most);
        assert_int_equal(PdhCloseLog(log, PDH_FLAGS_CLOSE_QUERY), ERROR_SUCCESS);
        memory_free(path);
    }
}

/* A program that copies records must get the right records, and all of their bytes. */
static void records_are_returned_unchanged(void **state)
{
    (void)state;
    static const char *const names[] = {"r.csv", "r.tsv", "r.blg"};
    static const enum log_format formats[] = {LOG_CSV, LOG_TSV, LOG_BINARY};
    static const DWORD types[] = {PDH_LOG_TYPE_CSV, PDH_LOG_TYPE_TSV, PDH_LOG_TYPE_BINARY};
    for (size_t i = 0; i < 3; i++) {
        write_log(names[i], formats[i], start, SAMPLES);
        WCHAR *path = wide_path(names[i]), list[200];
        PDH_HLOG log;
        DWORD type, bytes = 0, units = 0;
        assert_int_equal(PdhOpenLogW(path, PDH_LOG_READ_ACCESS | PDH_LOG_OPEN_EXISTING, &type, NULL, 0, NULL, &log),
                         ERROR_SUCCESS);
        /* the third sample is the nearest */
        int64_t at = start + 60 * 60 * SECOND + 2 * SECOND + SECOND / 3;
        FILETIME time = {(DWORD)at, (DWORD)(at >> 32)};
        assert_int_equal(PdhReadRawLogRecord(log, time, NULL, &bytes), STATUS(PDH_MORE_DATA));
        PDH_RAW_LOG_RECORD *record = memory_zero(1, bytes + 1);
        DWORD less = bytes - 1;
        assert_int_equal(PdhReadRawLogRecord(log, time, record, &less), STATUS(PDH_MORE_DATA));
        assert_int_equal(PdhReadRawLogRecord(log, time, record, &bytes), ERROR_SUCCESS);
        assert_int_equal(record->dwRecordType, types[i]);
        assert_true(record->dwStructureSize == bytes && record->dwItems < bytes);
        const char *raw = (const char *)record->RawBytes;
        if (formats[i] == LOG_BINARY)
            assert_true(record->dwItems > 100);
        else
            assert_true(strstr(raw, ":02.000\"") && strstr(raw, "\"9\"") && raw[0] == '"');
        memory_free(record);
        assert_int_equal(PdhCloseLog(log, 0), ERROR_SUCCESS);
        assert_int_equal(PdhReadRawLogRecord(log, time, NULL, &bytes), STATUS(PDH_INVALID_HANDLE));
        assert_int_equal(PdhListLogFileHeaderW(path, NULL, &units), STATUS(PDH_MORE_DATA));
        assert_true(units < 200);
        assert_int_equal(PdhListLogFileHeaderW(path, list, &units), ERROR_SUCCESS);
        wide_is(list, "\\\\BOX\\Disk(C:)\\Reads/sec");
        memory_free(path);
    }
    WCHAR *none = wide_path("none.csv"), out[40];
    DWORD units = 0;
    assert_int_equal(PdhListLogFileHeaderW(none, NULL, &units), STATUS(PDH_LOG_FILE_OPEN_ERROR));
    memory_free(none);
    units = 40;
    assert_int_equal(PdhTranslate009CounterW(u"\\Memory\\Free", out, &units), ERROR_SUCCESS);
    wide_is(out, "\\Memory\\Free");
    assert_int_equal(PdhTranslateLocaleCounterW(u"no path", out, &units), STATUS(PDH_CSTATUS_BAD_COUNTERNAME));
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAdd009CounterW(query, u"\\Memory\\Available Bytes", 0, &counter), ERROR_SUCCESS);
    assert_int_equal(PdhCloseQuery(query), ERROR_SUCCESS);
}

static void unreadable_logs_are_reported(void **state)
{
    (void)state;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    PDH_HLOG log;
    DWORD type = PDH_LOG_TYPE_CSV, write = PDH_LOG_WRITE_ACCESS;
    WCHAR *path = wide_path("e.csv"), *garbage = wide_path("garbage.blg");
    char *garbage_path = path_join(folder, "garbage.blg");
    assert_int_equal(file_store(garbage_path, "no log at all", 13), S_OK);
    assert_int_equal(PdhOpenQueryW(garbage, 0, &query), STATUS(PDH_LOG_TYPE_NOT_FOUND));
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    PdhAddCounterW(query, u"\\Memory\\Commit Limit", 0, &counter);
    assert_int_equal(PdhOpenLogW(path, write | PDH_LOG_OPEN_EXISTING, &type, query, 0, NULL, &log),
                     STATUS(PDH_FILE_NOT_FOUND));
    assert_int_equal(PdhOpenLogW(path, write, &type, query, 0, NULL, &log), STATUS(PDH_INVALID_ARGUMENT));
    assert_int_equal(PdhOpenLogW(path, write | PDH_LOG_CREATE_NEW, &type, NULL, 0, NULL, &log),
                     STATUS(PDH_INVALID_ARGUMENT));
    assert_int_equal(PdhOpenLogW(path, write | PDH_LOG_CREATE_NEW, &type, query, 0, NULL, &log), ERROR_SUCCESS);
    assert_int_equal(PdhCloseLog(log, 0), ERROR_SUCCESS);
    assert_int_equal(PdhOpenLogW(path, write | PDH_LOG_CREATE_NEW, &type, query, 0, NULL, &log),
                     STATUS(PDH_FILE_ALREADY_EXISTS));
    assert_null(log);
    assert_int_equal(PdhOpenLogW(path, write | PDH_LOG_CREATE_ALWAYS, &type, query, 0, NULL, &log), ERROR_SUCCESS);
    assert_int_equal(PdhCloseLog(log, 0), ERROR_SUCCESS);
    type = 99;
    assert_int_equal(PdhOpenLogW(path, write | PDH_LOG_CREATE_ALWAYS, &type, query, 0, NULL, &log),
                     STATUS(PDH_UNKNOWN_LOG_FORMAT));
    assert_int_equal(PdhUpdateLogW((PDH_HLOG)query, NULL), STATUS(PDH_INVALID_HANDLE));
    PdhCloseQuery(query);
    memory_free(path);
    memory_free(garbage);
    memory_free(garbage_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_logs_are_read),
        cmocka_unit_test(binary_logs_are_read),
        cmocka_unit_test(instances_of_a_log_appear_and_disappear),
        cmocka_unit_test(column_numbers_are_not_part_of_names),
        cmocka_unit_test(files_are_read_in_the_order_of_their_times),
        cmocka_unit_test(hundred_thousand_instances_are_read),
        cmocka_unit_test(query_is_logged_and_read_back),
        cmocka_unit_test(size_limit_holds),
        cmocka_unit_test(records_are_returned_unchanged),
        cmocka_unit_test(unreadable_logs_are_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}
