/* SPDX-License-Identifier: MIT */
/* Reads the log file header of either pointer size, and converts its clock. */
#include "engine/log/etl_header.h"

#include "engine/log/etl_record.h"
#include "engine/log/little_endian.h"
#include "engine/os/error.h"
#include "engine/os/memory.h"

enum { SYSTEM_HEAD = 0x20, NAMES_AT_32 = 0x110, NAMES_AT_64 = 0x118, ZONE_NAME_UNITS = 32 };
#define TICKS_PER_SECOND INT64_C(10000000)

static struct zone_change read_change(const uint8_t *at)
{
    /* SYSTEMTIME */
    return (struct zone_change){get_u16(at),     get_u16(at + 2),  get_u16(at + 4),  get_u16(at + 6),
                                get_u16(at + 8), get_u16(at + 10), get_u16(at + 12), get_u16(at + 14)};
}

/* A name in a field of fixed size, or up to the end of the event when it has no NUL. */
static bool read_name(const uint8_t *at, size_t room, char **out, size_t *bytes)
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
    out->zone.to_standard = read_change(at + 0x44);
    out->zone.standard_bias = (int32_t)get_u32(at + 0x54);
    out->zone.to_daylight = read_change(at + 0x98);
    out->zone.daylight_bias = (int32_t)get_u32(at + 0xA8);
    return read_name(at + 0x04, ZONE_NAME_UNITS * sizeof(uint16_t), &out->standard_name, &bytes) &&
           read_name(at + 0x58, ZONE_NAME_UNITS * sizeof(uint16_t), &out->daylight_name, &bytes);
}

HRESULT etl_log_read(const char *path, const uint8_t *event, uint32_t size, struct etl_log *out)
{
    const uint8_t *log = event + SYSTEM_HEAD;
    const uint32_t pointer = size < SYSTEM_HEAD + 0x30 ? 0 : get_u32(log + 0x2C);
    const uint32_t names_at = pointer == 4 ? NAMES_AT_32 : NAMES_AT_64;
    if ((event[2] != ETL_HEADER_SYSTEM_32 && event[2] != ETL_HEADER_SYSTEM_64) || get_u16(event + 6) != 0 ||
        (pointer != 4 && pointer != 8) || size < SYSTEM_HEAD + names_at)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: its first event is no log file header", path);
    /* Behind the two name slots everything of the 32-bit form lies 8 bytes earlier. */
    const uint8_t *rest = pointer == 4 ? log - 8 : log;
    size_t used;
    *out = (struct etl_log){
        .buffer_size = get_u32(log),
        .version_major = log[4],
        .version_minor = log[5],
        .sub_version = log[6],
        .sub_minor = log[7],
        .build = get_u32(log + 0x08),
        .processors = get_u32(log + 0x0C),
        .end_utc = (int64_t)get_u64(log + 0x10),
        .timer_resolution = get_u32(log + 0x18),
        .maximum_file_mb = get_u32(log + 0x1C),
        .mode = get_u32(log + 0x20),
        .buffers_written = get_u32(log + 0x24),
        .events_lost = get_u32(log + 0x30),
        .buffers_lost = get_u32(rest + 0x114),
        .pointer_size = pointer,
        .cpu_mhz = get_u32(log + 0x34),
        .boot_utc = (int64_t)get_u64(rest + 0xF8),
        .start_utc = (int64_t)get_u64(rest + 0x108),
        .frequency = (int64_t)get_u64(rest + 0x100),
        .clock = get_u32(rest + 0x110),
        .start_stamp = (int64_t)get_u64(event + 0x10),
        .process = get_u32(event + 0x0C),
        .thread = get_u32(event + 0x08),
    };
    const uint8_t *names = log + names_at, *end = event + size;
    bool ok = read_zone(rest + 0x48, out) && read_name(names, (size_t)(end - names), &out->logger_name, &used);
    if (ok) {
        names += used;
        ok = read_name(names, (size_t)(end - names), &out->file_name, &used);
    }
    if (!ok) {
        etl_log_free(out);
        return error_set(E_OUTOFMEMORY, "%s: out of memory for its header", path);
    }
    return S_OK;
}

void etl_log_free(struct etl_log *log)
{
    memory_free(log->standard_name);
    memory_free(log->daylight_name);
    memory_free(log->logger_name);
    memory_free(log->file_name);
    *log = (struct etl_log){0};
}

/* ticks * to / from, without running over where the result does not. */
static int64_t scale(int64_t ticks, int64_t to, int64_t from)
{
    const uint64_t whole = (uint64_t)(ticks / from) * (uint64_t)to;
    const int64_t rest = ticks % from; /* with a clock above 900 GHz this would run over */
    return (int64_t)(whole + (uint64_t)(int64_t)((double)rest * (double)to / (double)from));
}

/* Ticks of the file's clock in a second; 0: stamps are FILETIMEs. */
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
