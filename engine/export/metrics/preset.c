/* SPDX-License-Identifier: MIT */
/* The rows of the preset windows_exporter, its older names, and its metrics that are not counters. */
#include "engine/export/preset.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/export/metrics.h"
#include "engine/logs/pdh_types.h"

#include <string.h>

#define AUTO       FORM_AUTO, 0
#define TICKS      FORM_TICKS, 0
#define TIMES(n)   FORM_TIMES, n
#define PER(n)     FORM_PER, n
#define SECOND(n)  FORM_SECOND, n
#define START      FORM_START, 0
#define PAGES      FORM_PAGES, 0
#define PAGES_FREE FORM_PAGES_FREE, 0

#define PRESET(collector, metric, kind, object, counter, labels, fixed, ...)                                           \
    {#collector, "windows_" #collector "_" metric, METRIC_##kind, object, counter, LABELS_##labels, fixed, __VA_ARGS__},

static const struct preset_row rows[] = {
#include "engine/export/metrics/windows_exporter.def"
};

static const char sql_server[] = "SQLServer:";

const struct preset_row *preset_rows(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}

char *preset_path(const struct preset_row *row, bool named, bool *failed)
{
    const bool of_sql = strncmp(row->object, sql_server, strlen(sql_server)) == 0;
    const char *instance = row->labels == LABELS_NONE ? "" : row->labels == LABELS_NTDS ? "(NTDS)" : "(*)";
    char *path = NULL;
    if (named && of_sql)
        path = text_format("\\MSSQL$*:%s%s\\%s", row->object + strlen(sql_server), instance, row->counter);
    else if (!named)
        path = text_format("\\%s%s\\%s", row->object, instance, row->counter);
    else
        return NULL;
    *failed |= !path;
    return path;
}

/* Whether PDH counts swap space in kilobytes. OpenPLA's PDH does, because it reads Linux' numbers. Windows' PDH counts
   pages. */
static bool counts_swap_in_kilobytes(void)
{
#ifdef _WIN32
    return os_is_wine();
#else
    return true;
#endif
}

static bool counts_100ns(uint32_t type)
{
    return (type & PERF_TIMER_100NS) != 0 && (type & PERF_TYPE_COUNTER) != 0;
}

struct metric_form preset_form_of(const struct preset_row *row, const struct log_counter *counter)
{
    enum { TICKS_100NS = 10000000, PAGE_BYTES = 4096, KILOBYTE = 1024 };
    static const double epoch_seconds = 11644473600; /* from 1601 to 1970 */
    const int64_t base = counter->time_base > 0 ? counter->time_base : TICKS_100NS;
    struct metric_form form = {.kind = row->kind,
                               .scale = {METRIC_FIRST, 1, 1, 0, (counter->type & PERF_SIZE_LARGE) != 0},
                               .unit = "",
                               .note = ""};
    struct metric_scale *s = &form.scale;
    switch (row->form) {
    case FORM_AUTO:
        s->divisor = counts_100ns(counter->type) ? TICKS_100NS : 1;
        if (counter->type == PERF_ELAPSED_TIME)
            *s = (struct metric_scale){METRIC_ELAPSED, 1, base, 0, true};
        break;
    case FORM_TICKS:
        s->divisor = counts_100ns(counter->type) ? TICKS_100NS : base;
        break;
    case FORM_TIMES:
        s->factor = row->number;
        break;
    case FORM_PER:
        s->divisor = row->number;
        break;
    case FORM_SECOND:
        s->source = METRIC_SECOND;
        s->factor = row->number;
        break;
    case FORM_START:
        *s = (struct metric_scale){METRIC_FIRST, 1, base, -epoch_seconds, true};
        break;
    case FORM_PAGES:
    case FORM_PAGES_FREE: /* Linux counts its swap space in kilobytes */
        s->source = row->form == FORM_PAGES ? METRIC_SECOND : METRIC_ELAPSED;
        s->factor = counts_swap_in_kilobytes() ? KILOBYTE : PAGE_BYTES;
        break;
    }
    return form;
}

bool preset_has_collector(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].collector) == length && memcmp(rows[i].collector, name, length) == 0)
            return true;
    return length == 2 && memcmp(name, "os", 2) == 0;
}

const char *preset_old_name(const char *metric, size_t i)
{
    static const struct {
        const char *metric, *old;
    } names[] = {
        {"windows_cpu_logical_processor", "windows_cs_logical_processors"},
        {"windows_memory_commit_limit", "windows_os_virtual_memory_bytes"},
        {"windows_memory_physical_free_bytes", "windows_os_physical_memory_free_bytes"},
        {"windows_memory_physical_total_bytes", "windows_cs_physical_memory_bytes"},
        {"windows_memory_physical_total_bytes", "windows_os_visible_memory_bytes"},
        {"windows_net_current_bandwidth_bytes", "windows_net_current_bandwidth"},
        {"windows_os_hostname", "windows_cs_hostname"},
        {"windows_process_start_time_seconds_timestamp", "windows_process_start_time"},
        {"windows_process_threads", "windows_process_thread_count"},
        {"windows_system_boot_time_timestamp", "windows_system_boot_time_timestamp_seconds"},
        {"windows_system_boot_time_timestamp", "windows_system_system_up_time"},
        {"windows_system_processes", "windows_os_processes"},
        {"windows_time_current_timestamp_seconds", "windows_os_time"},
        {"windows_time_timezone", "windows_os_timezone"},
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k].metric, metric) == 0 && i-- == 0)
            return names[k].old;
    return NULL;
}

static double unix_seconds(int64_t utc)
{
    return (double)(utc - INT64_C(116444736000000000)) / 1e7;
}

static HRESULT fact_zone(preset_fact *fact, void *user)
{
    char *zone = clock_zone_name();
    struct text_buffer b = {0};
    metric_add_label(&b, false, "timezone", zone ? zone : "");
    const HRESULT hr =
        !zone || b.failed ? E_OUTOFMEMORY : fact(user, "time", "windows_time_timezone", "The time zone.", b.text, 1);
    memory_free(zone);
    text_buffer_free(&b);
    return hr;
}

static HRESULT fact_host(preset_fact *fact, void *user)
{
    char *name = os_computer_name();
    struct text_buffer b = {0};
    metric_add_label(&b, false, "hostname", name ? name : "");
    metric_add_label(&b, true, "domain", "");
    metric_add_label(&b, true, "fqdn", name ? name : "");
    const HRESULT hr = !name || b.failed
                           ? E_OUTOFMEMORY
                           : fact(user, "os", "windows_os_hostname", "The name of the computer.", b.text, 1);
    memory_free(name);
    text_buffer_free(&b);
    return hr;
}

HRESULT preset_facts(preset_fact *fact, void *user)
{
    HRESULT hr =
        fact(user, "cpu", "windows_cpu_logical_processor", "Logical processors.", "", (double)processor_count());
    if (SUCCEEDED(hr) && os_memory_bytes())
        hr = fact(user, "memory", "windows_memory_physical_total_bytes", "Memory of the computer.", "",
                  (double)os_memory_bytes());
    if (SUCCEEDED(hr))
        hr = fact(user, "system", "windows_system_boot_time_timestamp", "When the computer was started.", "",
                  unix_seconds(clock_boot_utc()));
    if (SUCCEEDED(hr))
        hr = fact(user, "time", "windows_time_current_timestamp_seconds", "The current time.", "",
                  unix_seconds(clock_utc()));
    if (SUCCEEDED(hr))
        hr = fact_zone(fact, user);
    return SUCCEEDED(hr) ? fact_host(fact, user) : hr;
}
