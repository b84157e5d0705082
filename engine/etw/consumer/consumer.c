/* SPDX-License-Identifier: MIT */
/* The table of processing handles. A handle is a mark << 56 | turn << 16 | place + 1: one that is closed or invented is
   told from a live one, and by the mark that of a session, which programs mistake for it. */
#include "engine/etw/consumer/consumer.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/text_ansi.h"
#include "engine/etw/consumer/consumer_table.h"

#include <string.h>

enum { MOST_NAME = 32767, MOST_PLACES = 0xFFFE, ZONE_NAME_UNITS = 32 };
#define MODE_SYSTEM_LOGGER 0x02000000u
#define HANDLE_MARK        (UINT64_C(0x43) << 56)
#define MOST_TURNS         ((UINT64_C(1) << 40) - 1)

static struct host_lock lock = HOST_LOCK_INIT;
static struct place {
    uint64_t turn;
    struct consumer *consumer; /* NULL: free */
} * places;
static size_t place_count, place_capacity;
static const struct realtime_source *realtime = &session_connections;

ULONG consumer_code(HRESULT hr)
{
    if (SUCCEEDED(hr))
        return ERROR_SUCCESS;
    if (hr == E_OUTOFMEMORY)
        return ERROR_NOT_ENOUGH_MEMORY;
    return ((uint32_t)hr & 0xFFFF0000u) == 0x80070000u ? (ULONG)hr & 0xFFFF : ERROR_INVALID_PARAMETER;
}

ULONG consumer_refuse(ULONG code, const char *what)
{
    (void)error_set(HRESULT_FROM_WIN32((LONG)code), "%s", what);
    return code;
}

void consumer_set_realtime(const struct realtime_source *source)
{
    host_lock_enter(&lock);
    realtime = source;
    host_lock_leave(&lock);
}

/* ---- the table ---- */

static TRACEHANDLE handle_of(size_t place)
{
    return HANDLE_MARK | (places[place].turn & MOST_TURNS) << 16 | (place + 1);
}

/* NULL: it is none. */
static struct place *find(TRACEHANDLE handle)
{
    const size_t place = (size_t)(handle & 0xFFFF) - 1;
    if (place >= place_count || !places[place].consumer || handle_of(place) != handle)
        return NULL;
    return &places[place];
}

static ULONG add(struct consumer *c, TRACEHANDLE *handle)
{
    size_t at = 0;
    host_lock_enter(&lock);
    while (at < place_count && places[at].consumer)
        at++;
    void *grown = places;
    const bool ok = at < MOST_PLACES && memory_grow(&grown, &place_capacity, at + 1, sizeof *places);
    places = grown;
    if (ok) {
        if (at == place_count) {
            places[at].turn = 0;
            place_count++;
        }
        places[at].turn++;
        places[at].consumer = c;
        *handle = handle_of(at);
    }
    host_lock_leave(&lock);
    return ok ? ERROR_SUCCESS : consumer_code(error_set(E_OUTOFMEMORY, "out of memory for a processing handle"));
}

static void consumer_free(struct consumer *c)
{
    if (c->source)
        c->source->close(c->source);
    memory_free(c->name);
    memory_free(c);
}

ULONG consumer_take(const TRACEHANDLE *handles, ULONG count, struct consumer **out)
{
    ULONG status = ERROR_SUCCESS, sessions = 0;
    host_lock_enter(&lock);
    for (ULONG i = 0; i < count && status == ERROR_SUCCESS; i++) {
        const struct place *place = find(handles[i]);
        out[i] = place ? place->consumer : NULL;
        sessions += out[i] && out[i]->real_time;
        status = !out[i] ? ERROR_INVALID_HANDLE : out[i]->busy ? ERROR_BUSY : ERROR_SUCCESS;
        for (ULONG k = 0; k < i && status == ERROR_SUCCESS; k++)
            status = out[k] == out[i] ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
    }
    if (status == ERROR_SUCCESS && sessions != 0 && count > 1)
        status = ERROR_INVALID_PARAMETER;
    for (ULONG i = 0; i < count && status == ERROR_SUCCESS; i++)
        out[i]->busy = true;
    host_lock_leave(&lock);
    return status;
}

void consumer_give_back(struct consumer *const *taken, ULONG count)
{
    for (ULONG i = 0; i < count; i++) {
        host_lock_enter(&lock);
        taken[i]->busy = false;
        const bool closed = taken[i]->closed;
        host_lock_leave(&lock);
        if (closed) /* and so it is in no table */
            consumer_free(taken[i]);
    }
}

ULONG consumer_close(TRACEHANDLE handle)
{
    host_lock_enter(&lock);
    struct place *place = find(handle);
    struct consumer *c = place ? place->consumer : NULL;
    const bool busy = c && c->busy;
    if (c)
        place->consumer = NULL;
    if (busy) {
        c->closed = true;
        c->source->stop(c->source);
    }
    host_lock_leave(&lock);
    if (!c) {
        (void)error_set(HRESULT_FROM_WIN32(ERROR_INVALID_HANDLE), "processing handle 0x%llX: is none that is open",
                        (unsigned long long)handle);
        return ERROR_INVALID_HANDLE;
    }
    if (busy)
        return ERROR_CTX_CLOSE_PENDING;
    consumer_free(c);
    return ERROR_SUCCESS;
}

bool consumer_is_open(TRACEHANDLE handle)
{
    host_lock_enter(&lock);
    const bool open = find(handle) != NULL;
    host_lock_leave(&lock);
    return open;
}

/* ---- opening ---- */

/* The caller's text in UTF-8, and as it is with its NUL, both from memory_alloc. */
static ULONG copy_name(enum consumer_form form, const void *name, char **text, void **copy)
{
    const size_t unit = form == CONSUMER_WIDE ? sizeof(WCHAR) : 1;
    size_t length = 0;
    while (length <= MOST_NAME && (unit == 1 ? ((const char *)name)[length] : ((const WCHAR *)name)[length]))
        length++;
    if (length == 0 || length > MOST_NAME)
        return consumer_refuse(ERROR_BAD_PATHNAME,
                               length == 0 ? "the name of the log is empty" : "the name of the log is too long");
    HRESULT hr =
        form == CONSUMER_WIDE ? text_from_utf16(name, length, false, text) : text_from_ansi(name, length, false, text);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        return consumer_refuse(ERROR_BAD_PATHNAME, "the name of the log is no text");
    *copy = SUCCEEDED(hr) ? memory_copy(name, (length + 1) * unit) : NULL;
    return *copy ? ERROR_SUCCESS : consumer_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the name of a log");
}

static SYSTEMTIME moment(const struct zone_change *c)
{
    return (SYSTEMTIME){c->year, c->month, c->weekday, c->day, c->hour, c->minute, c->second, c->millisecond};
}

static HRESULT zone_name(const char *name, WCHAR out[ZONE_NAME_UNITS])
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(name ? name : "", &wide, &units);
    if (FAILED(hr))
        return hr;
    units = units < ZONE_NAME_UNITS - 1 ? units : ZONE_NAME_UNITS - 1;
    memcpy(out, wide, units * sizeof *wide);
    out[units] = 0;
    memory_free(wide);
    return S_OK;
}

/* The names have no place in it. */
static HRESULT fill_header(const struct etl_log *log, TRACE_LOGFILE_HEADER *out)
{
    *out = (TRACE_LOGFILE_HEADER){
        .BufferSize = log->buffer_size,
        .ProviderVersion = log->build,
        .NumberOfProcessors = log->processors,
        .TimerResolution = log->timer_resolution,
        .MaximumFileSize = log->maximum_file_mb,
        .LogFileMode = log->mode,
        .BuffersWritten = log->buffers_written,
        .TimeZone = {.Bias = log->zone.bias,
                     .StandardDate = moment(&log->zone.to_standard),
                     .StandardBias = log->zone.standard_bias,
                     .DaylightDate = moment(&log->zone.to_daylight),
                     .DaylightBias = log->zone.daylight_bias},
        .ReservedFlags = log->clock,
        .BuffersLost = log->buffers_lost,
    };
    out->VersionDetail.MajorVersion = log->version_major;
    out->VersionDetail.MinorVersion = log->version_minor;
    out->VersionDetail.SubVersion = log->sub_version;
    out->VersionDetail.SubMinorVersion = log->sub_minor;
    out->StartBuffers = 1;
    out->PointerSize = log->pointer_size;
    out->EventsLost = log->events_lost;
    out->CpuSpeedInMHz = log->cpu_mhz;
    out->EndTime.QuadPart = log->end_utc;
    out->BootTime.QuadPart = log->boot_utc;
    out->PerfFreq.QuadPart = log->frequency;
    out->StartTime.QuadPart = log->start_utc;
    HRESULT hr = zone_name(log->standard_name, out->TimeZone.StandardName);
    return SUCCEEDED(hr) ? zone_name(log->daylight_name, out->TimeZone.DaylightName) : hr;
}

static ULONG check_names(const EVENT_TRACE_LOGFILEW *logfile)
{
    if (!logfile)
        return consumer_refuse(ERROR_INVALID_PARAMETER, "Logfile: is missing");
    if (logfile->LogFileName && logfile->LoggerName)
        return consumer_refuse(ERROR_INVALID_PARAMETER, "LogFileName and LoggerName: are both given");
    if (!logfile->LogFileName && !logfile->LoggerName)
        return consumer_refuse(ERROR_BAD_PATHNAME, "LogFileName and LoggerName: neither is given");
    const bool real_time = (logfile->ProcessTraceMode & PROCESS_TRACE_MODE_REAL_TIME) != 0;
    if (logfile->LoggerName && !real_time)
        return consumer_refuse(ERROR_INVALID_PARAMETER,
                               "LoggerName: ProcessTraceMode has not PROCESS_TRACE_MODE_REAL_TIME");
    if (logfile->LogFileName && real_time)
        return consumer_refuse(ERROR_INVALID_PARAMETER,
                               "LogFileName: ProcessTraceMode has PROCESS_TRACE_MODE_REAL_TIME");
    return ERROR_SUCCESS;
}

static HRESULT open_source(const char *name, bool real_time, struct consumer_source **out)
{
    if (!real_time)
        return consumer_source_of_file(name, out);
    host_lock_enter(&lock);
    const struct realtime_source *source = realtime;
    host_lock_leave(&lock);
    return realtime_source_open(source, name, out);
}

ULONG consumer_open(enum consumer_form form, EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle)
{
    ULONG status = check_names(logfile);
    if (status != ERROR_SUCCESS)
        return status;
    struct consumer *c = memory_zero(1, sizeof *c);
    char *text = NULL;
    if (!c)
        return consumer_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for a consumer");
    EVENT_TRACE_LOGFILEW *own = &c->logfile;
    *own = *logfile;
    c->form = form;
    c->real_time = own->LoggerName != NULL;
    c->raw = (own->ProcessTraceMode & PROCESS_TRACE_MODE_RAW_TIMESTAMP) != 0;
    c->records = (own->ProcessTraceMode & PROCESS_TRACE_MODE_EVENT_RECORD) != 0;
    status = copy_name(form, c->real_time ? own->LoggerName : own->LogFileName, &text, &c->name);
    if (status == ERROR_SUCCESS)
        status = consumer_code(open_source(text, c->real_time, &c->source));
    if (status == ERROR_SUCCESS)
        status = consumer_code(fill_header(c->source->log, &own->LogfileHeader));
    if (status == ERROR_SUCCESS) {
        const struct etl_log *log = c->source->log;
        own->BufferSize = log->buffer_size;
        own->EventsLost = log->events_lost;
        own->CurrentTime = 0;
        own->BuffersRead = own->Filled = 0;
        own->IsKernelTrace = (log->mode & MODE_SYSTEM_LOGGER) != 0 ||
                             (log->logger_name && text_equal_nocase(log->logger_name, "NT Kernel Logger"));
        EVENT_TRACE_LOGFILEW opened = *own;
        opened.LogFileName = logfile->LogFileName;
        opened.LoggerName = logfile->LoggerName;
        if (c->real_time)
            own->LoggerName = c->name;
        else
            own->LogFileName = c->name;
        status = add(c, handle);
        if (status == ERROR_SUCCESS)
            *logfile = opened;
    }
    memory_free(text);
    if (status != ERROR_SUCCESS)
        consumer_free(c);
    return status;
}
