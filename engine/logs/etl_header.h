/* SPDX-License-Identifier: MIT */
/* The log file header: what the first event of an .etl or .blg file says about the file. */
#ifndef OPENPLA_ETL_HEADER_H
#define OPENPLA_ETL_HEADER_H

#include "engine/logs/core/zone_rules.h"

enum {
    ETL_CLOCK_TICKS = 1,  /* time stamps are the performance counter's */
    ETL_CLOCK_SYSTEM = 2, /* ... FILETIMEs */
    ETL_CLOCK_CYCLES = 3, /* ... the processor's cycles */
};

/* SYSTEM_TRACE_HEADER and TRACE_LOGFILE_HEADER of the file. FILETIMEs are UTC; 0 = never set. Texts are UTF-8. */
struct etl_log {
    bool private_logger;  /* as a logger inside a process writes it: the event's version is 0 */
    uint32_t buffer_size; /* bytes, unpacked */
    uint8_t version_major, version_minor, sub_version, sub_minor;
    uint32_t build, processors;
    int64_t end_utc;
    uint32_t timer_resolution; /* 100 ns */
    uint32_t maximum_file_mb;  /* 0: none */
    uint32_t mode;             /* EVENT_TRACE_*_MODE bits */
    uint32_t buffers_written, events_lost, buffers_lost;
    uint32_t pointer_size; /* 4 or 8, of who wrote the file */
    uint32_t cpu_mhz;
    struct zone_rules zone;
    const char *standard_name, *daylight_name; /* of the zone */
    int64_t boot_utc, start_utc;
    int64_t frequency;   /* of the performance counter */
    uint32_t clock;      /* ETL_CLOCK_* */
    int64_t start_stamp; /* the start on the file's clock */
    uint32_t process, thread;
    const char *logger_name, *file_name; /* the full path */
};
/* Bytes of the header event before its two names, in the 64-bit form. */
enum { ETL_LOG_HEAD = 0x138 };

/* Reads the header event (`size` bytes). E_OUTOFMEMORY; HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with a text that names
   `path` when the bytes are no log file header. On success the caller frees with etl_log_free. */
HRESULT etl_log_read(const char *path, const uint8_t *event, uint32_t size, struct etl_log *out);
void etl_log_free(struct etl_log *log);
/* Writes the header event, of at most `room` bytes, ETL_LOG_HEAD or more; *size: how many it has. A text may be NULL
   for "". E_INVALIDARG with a text when the two names do not fit; the errors of text_to_utf16. */
HRESULT etl_log_write(const struct etl_log *log, uint8_t *event, uint32_t room, uint32_t *size);
/* Writes into a header event of the 64-bit form what changes while a log grows: end_utc, buffers and losses. */
void etl_log_write_counts(const struct etl_log *log, uint8_t *event);
/* FILETIME of a stamp of the file's clock, and back. */
int64_t etl_log_utc(const struct etl_log *log, int64_t stamp);
int64_t etl_log_stamp(const struct etl_log *log, int64_t utc);
/* The TimeStamp of a buffer's header, for a stamp of the file's clock, and back: private loggers and relogging write
   FILETIMEs there whatever the clock of their events is. */
int64_t etl_log_buffer_time(const struct etl_log *log, int64_t stamp);
int64_t etl_log_buffer_stamp(const struct etl_log *log, int64_t time);

#endif
