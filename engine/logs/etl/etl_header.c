/* SPDX-License-Identifier: MIT */
/* Reads and writes the log file header of either pointer size, and converts its clock and its time zone.
   TIME_ZONE_INFORMATION states when clocks change to and from daylight time. Each of these times is a local time, as
   clocks show it just before the change. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum { SYSTEM_HEAD = 0x20, NAMES_AT_32 = 0x110, NAMES_AT_64 = 0x118, ZONE_NAME_UNITS = 32 };
/* Fields of TRACE_LOGFILE_HEADER. In the 32-bit form, the offsets of all fields after the two name pointers are lower
   by SHIFT_32 bytes. */
enum {
    SIZE_AT = 0x00,
    VERSION_AT = 0x04,
    BUILD_AT = 0x08,
    PROCESSORS_AT = 0x0C,
    END_AT = 0x10,
    RESOLUTION_AT = 0x18,
    MAXIMUM_FILE_AT = 0x1C,
    MODE_AT = 0x20,
    BUFFERS_AT = 0x24,
    START_BUFFERS_AT = 0x28,
    POINTER_AT = 0x2C,
    EVENTS_LOST_AT = 0x30,
    CPU_MHZ_AT = 0x34,
    ZONE_AT = 0x48,
    BOOT_AT = 0xF8,
    FREQUENCY_AT = 0x100,
    START_AT = 0x108,
    CLOCK_AT = 0x110,
    BUFFERS_LOST_AT = 0x114,
    SHIFT_32 = 8,
};
/* Fields of TIME_ZONE_INFORMATION, which is a member of TRACE_LOGFILE_HEADER. */
enum {
    STANDARD_NAME_AT = 0x04,
    TO_STANDARD_AT = 0x44,
    STANDARD_BIAS_AT = 0x54,
    DAYLIGHT_NAME_AT = 0x58,
    TO_DAYLIGHT_AT = 0x98,
    DAYLIGHT_BIAS_AT = 0xA8,
};
/* Fields of SYSTEM_TRACE_HEADER. */
enum { LENGTH_AT = 0x04, HOOK_AT = 0x06, THREAD_AT = 0x08, PROCESS_AT = 0x0C, STAMP_AT = 0x10 };
#define TICKS_PER_SECOND INT64_C(10000000)

static struct zone_change read_change(const uint8_t *at)
{
    /* SYSTEMTIME */
    return (struct zone_change){get_u16(at),     get_u16(at + 2),  get_u16(at + 4),  get_u16(at + 6),
                                get_u16(at + 8), get_u16(at + 10), get_u16(at + 12), get_u16(at + 14)};
}

/* Reads a name from the `room` bytes at `at`. The name ends at the first NUL; without a NUL, at the end of the bytes.
 */
static bool read_name(const uint8_t *at, size_t room, const char **out, size_t *bytes)
{
    size_t units;
    if (!etl_text_length(at, room, &units))
        units = room / 2;
    *bytes = units * 2 + 2 < room ? units * 2 + 2 : room;
    *out = etl_text(at, units);
    return *out != NULL;
}

static bool read_zone(const uint8_t *at, struct etl_log *out)
{
    size_t bytes;
    out->zone.bias = (int32_t)get_u32(at);
    out->zone.to_standard = read_change(at + TO_STANDARD_AT);
    out->zone.standard_bias = (int32_t)get_u32(at + STANDARD_BIAS_AT);
    out->zone.to_daylight = read_change(at + TO_DAYLIGHT_AT);
    out->zone.daylight_bias = (int32_t)get_u32(at + DAYLIGHT_BIAS_AT);
    return read_name(at + STANDARD_NAME_AT, ZONE_NAME_UNITS * sizeof(uint16_t), &out->standard_name, &bytes) &&
           read_name(at + DAYLIGHT_NAME_AT, ZONE_NAME_UNITS * sizeof(uint16_t), &out->daylight_name, &bytes);
}

HRESULT etl_log_read(const char *path, const uint8_t *event, uint32_t size, struct etl_log *out)
{
    const uint8_t *log = event + SYSTEM_HEAD;
    const uint32_t pointer = size < SYSTEM_HEAD + EVENTS_LOST_AT ? 0 : get_u32(log + POINTER_AT);
    const uint32_t names_at = pointer == 4 ? NAMES_AT_32 : NAMES_AT_64;
    if ((event[2] != ETL_HEADER_SYSTEM_32 && event[2] != ETL_HEADER_SYSTEM_64) || get_u16(event + HOOK_AT) != 0 ||
        (pointer != 4 && pointer != 8) || size < SYSTEM_HEAD + names_at)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                         "cannot read '%s': its first event is not a log file header", path);
    const uint8_t *rest = pointer == 4 ? log - SHIFT_32 : log;
    size_t used;
    *out = (struct etl_log){
        .private_logger = get_u16(event) == 0,
        .buffer_size = get_u32(log + SIZE_AT),
        .version_major = log[VERSION_AT],
        .version_minor = log[VERSION_AT + 1],
        .sub_version = log[VERSION_AT + 2],
        .sub_minor = log[VERSION_AT + 3],
        .build = get_u32(log + BUILD_AT),
        .processors = get_u32(log + PROCESSORS_AT),
        .end_utc = (int64_t)get_u64(log + END_AT),
        .timer_resolution = get_u32(log + RESOLUTION_AT),
        .maximum_file_mb = get_u32(log + MAXIMUM_FILE_AT),
        .mode = get_u32(log + MODE_AT),
        .buffers_written = get_u32(log + BUFFERS_AT),
        .events_lost = get_u32(log + EVENTS_LOST_AT),
        .buffers_lost = get_u32(rest + BUFFERS_LOST_AT),
        .pointer_size = pointer,
        .cpu_mhz = get_u32(log + CPU_MHZ_AT),
        .boot_utc = (int64_t)get_u64(rest + BOOT_AT),
        .start_utc = (int64_t)get_u64(rest + START_AT),
        .frequency = (int64_t)get_u64(rest + FREQUENCY_AT),
        .clock = get_u32(rest + CLOCK_AT),
        .start_stamp = (int64_t)get_u64(event + STAMP_AT),
        .process = get_u32(event + PROCESS_AT),
        .thread = get_u32(event + THREAD_AT),
    };
    const uint8_t *names = log + names_at, *end = event + size;
    bool ok = read_zone(rest + ZONE_AT, out) && read_name(names, (size_t)(end - names), &out->logger_name, &used);
    if (ok) {
        names += used;
        ok = read_name(names, (size_t)(end - names), &out->file_name, &used);
    }
    if (!ok) {
        etl_log_free(out);
        return error_set(E_OUTOFMEMORY, "cannot open '%s': out of memory for its header", path);
    }
    return S_OK;
}

void etl_log_free(struct etl_log *log)
{
    memory_free((void *)log->standard_name);
    memory_free((void *)log->daylight_name);
    memory_free((void *)log->logger_name);
    memory_free((void *)log->file_name);
    *log = (struct etl_log){0};
}

static void write_change(uint8_t *at, const struct zone_change *c)
{
    const uint16_t fields[] = {c->year, c->month, c->weekday, c->day, c->hour, c->minute, c->second, c->millisecond};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        put_u16(at + 2 * i, fields[i]);
}

/* Writes as many units of the name as fit into `room` bytes, and a NUL. S_FALSE: the name is truncated. */
static HRESULT write_name(uint8_t *at, size_t room, const char *name, size_t *bytes)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(name ? name : "", &wide, &units);
    if (FAILED(hr))
        return hr;
    size_t taken = 0;
    for (; taken < units && 2 * taken + 4 <= room; taken++)
        put_u16(at + 2 * taken, wide[taken]);
    memory_free(wide);
    put_u16(at + 2 * taken, 0);
    *bytes = 2 * taken + 2;
    return taken == units ? S_OK : S_FALSE;
}

/* Writes the time zone; truncates names that do not fit. */
static HRESULT write_zone(uint8_t *at, const struct etl_log *log)
{
    enum { ROOM = ZONE_NAME_UNITS * sizeof(uint16_t) };
    size_t bytes;
    put_u32(at, (uint32_t)log->zone.bias);
    write_change(at + TO_STANDARD_AT, &log->zone.to_standard);
    put_u32(at + STANDARD_BIAS_AT, (uint32_t)log->zone.standard_bias);
    write_change(at + TO_DAYLIGHT_AT, &log->zone.to_daylight);
    put_u32(at + DAYLIGHT_BIAS_AT, (uint32_t)log->zone.daylight_bias);
    HRESULT hr = write_name(at + STANDARD_NAME_AT, ROOM, log->standard_name, &bytes);
    return SUCCEEDED(hr) ? write_name(at + DAYLIGHT_NAME_AT, ROOM, log->daylight_name, &bytes) : hr;
}

static void write_counts(const struct etl_log *log, uint8_t *at, uint8_t *rest)
{
    put_u64(at + END_AT, (uint64_t)log->end_utc);
    put_u32(at + BUFFERS_AT, log->buffers_written);
    put_u32(at + EVENTS_LOST_AT, log->events_lost);
    put_u32(rest + BUFFERS_LOST_AT, log->buffers_lost);
}

void etl_log_write_counts(const struct etl_log *log, uint8_t *event)
{
    write_counts(log, event + SYSTEM_HEAD, event + SYSTEM_HEAD);
}

HRESULT etl_log_write(const struct etl_log *log, uint8_t *event, uint32_t room, uint32_t *size)
{
    const bool narrow = log->pointer_size == 4;
    const char *const names[] = {log->logger_name ? log->logger_name : "", log->file_name ? log->file_name : ""};
    uint8_t *at = event + SYSTEM_HEAD, *rest = narrow ? at - SHIFT_32 : at;
    uint32_t end = SYSTEM_HEAD + (narrow ? NAMES_AT_32 : NAMES_AT_64);
    memset(event, 0, end);
    put_u16(event, log->private_logger ? 0 : 2);
    event[2] = narrow ? ETL_HEADER_SYSTEM_32 : ETL_HEADER_SYSTEM_64;
    event[3] = ETL_MARKS;
    put_u32(event + THREAD_AT, log->thread);
    put_u32(event + PROCESS_AT, log->process);
    put_u64(event + STAMP_AT, (uint64_t)log->start_stamp);

    put_u32(at + SIZE_AT, log->buffer_size);
    at[VERSION_AT] = log->version_major;
    at[VERSION_AT + 1] = log->version_minor;
    at[VERSION_AT + 2] = log->sub_version;
    at[VERSION_AT + 3] = log->sub_minor;
    put_u32(at + BUILD_AT, log->build);
    put_u32(at + PROCESSORS_AT, log->processors);
    put_u32(at + RESOLUTION_AT, log->timer_resolution);
    put_u32(at + MAXIMUM_FILE_AT, log->maximum_file_mb);
    put_u32(at + MODE_AT, log->mode);
    put_u32(at + START_BUFFERS_AT, 1);
    put_u32(at + POINTER_AT, log->pointer_size);
    put_u32(at + CPU_MHZ_AT, log->cpu_mhz);
    put_u64(rest + BOOT_AT, (uint64_t)log->boot_utc);
    put_u64(rest + FREQUENCY_AT, (uint64_t)log->frequency);
    put_u64(rest + START_AT, (uint64_t)log->start_utc);
    put_u32(rest + CLOCK_AT, log->clock);
    write_counts(log, at, rest);
    HRESULT hr = write_zone(rest + ZONE_AT, log);
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof names / sizeof *names; i++) {
        size_t bytes = 0;
        hr = room - end < 2 ? S_FALSE : write_name(event + end, room - end, names[i], &bytes);
        if (hr == S_FALSE)
            hr = error_set(E_INVALIDARG,
                           "log names '%.200s' and '%.200s' are too long for a log file header of %u bytes", names[0],
                           names[1], (unsigned)room);
        end += (uint32_t)bytes;
    }
    if (FAILED(hr))
        return hr;
    put_u16(event + LENGTH_AT, (uint16_t)end);
    *size = end;
    return S_OK;
}

/* Returns ticks * to / from without intermediate overflow. */
static int64_t scale(int64_t ticks, int64_t to, int64_t from)
{
    if (to == from) /* the usual case; the divisions below would take a tenth of the time that reading an event takes */
        return ticks;
    const uint64_t whole = (uint64_t)(ticks / from) * (uint64_t)to;
    /* The last line multiplies doubles, because the 64-bit product rest * to can overflow for a clock above 900 GHz. */
    const int64_t rest = ticks % from;
    return (int64_t)(whole + (uint64_t)(int64_t)((double)rest * (double)to / (double)from));
}

/* Returns the ticks per second of the file's clock; 0: stamps are FILETIMEs. */
static int64_t ticks_per_second(const struct etl_log *log)
{
    if (log->clock == ETL_CLOCK_SYSTEM)
        return 0;
    if (log->clock == ETL_CLOCK_CYCLES)
        return log->cpu_mhz != 0 ? (int64_t)log->cpu_mhz * 1000000 : TICKS_PER_SECOND;
    return log->frequency > 0 ? log->frequency : TICKS_PER_SECOND;
}

int64_t etl_log_utc(const struct etl_log *log, int64_t stamp)
{
    const int64_t ticks = ticks_per_second(log);
    if (ticks == 0)
        return stamp;
    const int64_t passed = (int64_t)((uint64_t)stamp - (uint64_t)log->start_stamp);
    return (int64_t)((uint64_t)log->start_utc + (uint64_t)scale(passed, TICKS_PER_SECOND, ticks));
}

int64_t etl_log_stamp(const struct etl_log *log, int64_t utc)
{
    const int64_t ticks = ticks_per_second(log);
    if (ticks == 0)
        return utc;
    const int64_t passed = (int64_t)((uint64_t)utc - (uint64_t)log->start_utc);
    return (int64_t)((uint64_t)log->start_stamp + (uint64_t)scale(passed, ticks, TICKS_PER_SECOND));
}

static bool has_utc_buffers(const struct etl_log *log)
{
    return log->private_logger || (log->mode & ETL_MODE_RELOGGED) != 0;
}

int64_t etl_log_buffer_time(const struct etl_log *log, int64_t stamp)
{
    return has_utc_buffers(log) ? etl_log_utc(log, stamp) : stamp;
}

int64_t etl_log_buffer_stamp(const struct etl_log *log, int64_t time)
{
    return has_utc_buffers(log) ? etl_log_stamp(log, time) : time;
}

/* ---- the time zone ---- */

#define MINUTE INT64_C(600000000)
#define DAY    (24 * 60 * MINUTE)

enum { LAST_YEAR = 9999 };

/* Returns the local FILETIME of the change in `year`. */
static int64_t change_in_year(const struct zone_change *c, int year)
{
    struct calendar_time t = {.year = c->year != 0 ? c->year : year,
                              .month = c->month,
                              .day = c->year != 0 ? c->day : 1,
                              .hour = c->hour,
                              .minute = c->minute,
                              .second = c->second,
                              .millisecond = c->millisecond};
    int64_t when = clock_from_calendar(&t);
    if (c->year != 0)
        return when;
    const int first = clock_calendar(when).weekday;
    when += (int64_t)((c->weekday + 7 - first) % 7) * DAY;
    for (int week = 1; week < c->day; week++) {
        if (clock_calendar(when + 7 * DAY).month != c->month)
            break;
        when += 7 * DAY;
    }
    return when;
}

static bool is_a_change(const struct zone_change *c)
{
    return c->month >= 1 && c->month <= 12 && c->weekday <= 6 && c->day >= 1 && c->day <= (c->year != 0 ? 31 : 5) &&
           (c->year == 0 || (c->year >= 1601 && c->year <= LAST_YEAR)) && c->hour <= 23 && c->minute <= 59 &&
           c->second <= 59 && c->millisecond <= 999;
}

int32_t zone_bias_minutes(const struct zone_rules *rules, int64_t local, bool later)
{
    const int64_t standard = (int64_t)rules->bias + rules->standard_bias;
    const int64_t daylight = (int64_t)rules->bias + rules->daylight_bias;
    const int year = clock_calendar(local).year;
    if (!is_a_change(&rules->to_standard) || !is_a_change(&rules->to_daylight) || local < 0 || year > LAST_YEAR)
        return rules->bias;
    const int64_t to_daylight = change_in_year(&rules->to_daylight, year);
    int64_t to_standard = change_in_year(&rules->to_standard, year);
    if (later)
        to_standard -= (standard - daylight) * MINUTE;
    const bool in_daylight = to_daylight < to_standard ? local >= to_daylight && local < to_standard
                                                       : local >= to_daylight || local < to_standard;
    return (int32_t)(in_daylight ? daylight : standard);
}

static int64_t add_minutes(int64_t time, int64_t minutes)
{
    return (int64_t)((uint64_t)time + (uint64_t)(minutes * MINUTE));
}

int64_t zone_to_utc(const struct zone_rules *rules, int64_t local, int64_t not_before)
{
    const int64_t utc = add_minutes(local, zone_bias_minutes(rules, local, false));
    return utc >= not_before ? utc : add_minutes(local, zone_bias_minutes(rules, local, true));
}

int64_t zone_to_local(const struct zone_rules *rules, int64_t utc)
{
    const int32_t bias = zone_bias_minutes(rules, add_minutes(utc, -(int64_t)rules->bias), true);
    const int64_t local = add_minutes(utc, -(int64_t)bias);
    if (zone_bias_minutes(rules, local, false) == bias || zone_bias_minutes(rules, local, true) == bias)
        return local;
    return add_minutes(utc, -(int64_t)zone_bias_minutes(rules, local, true));
}
