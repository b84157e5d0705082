/* SPDX-License-Identifier: MIT */
/* The parts of .etl and .blg files: buffers that begin with a header, events that never cross a buffer, and the log
   file header, which is the first event. */
#ifndef OPENPLA_ETL_RECORD_H
#define OPENPLA_ETL_RECORD_H

#include "engine/base/wintypes.h"

enum {
    ETL_BUFFER_HEAD = 0x48, /* bytes before the first event of a buffer */
    ETL_SMALLEST_BUFFER = 4 * 1024,
    ETL_LARGEST_BUFFER = 16 * 1024 * 1024, /* the maximum since Windows 8 */
    ETL_BUFFER_UNIT = 1024,                /* buffer sizes are whole KB */
};
enum { ETL_STATE_FLUSHED = 3, ETL_TYPE_EVENTS = 0, ETL_TYPE_FILE_HEADER = 4 };
enum { ETL_FLAG_LAST = 0x01, ETL_FLAG_PROCESSOR_INDEX = 0x20, ETL_FLAG_COMPRESSED = 0x40 };

struct etl_buffer_header {
    uint32_t size;     /* bytes of the buffer in the file */
    uint32_t saved;    /* equals `used`, except in the header buffer of some writers */
    uint32_t current;  /* has no reliable meaning */
    int64_t time;      /* time of the flush; etl_log_buffer_time defines its clock */
    uint64_t sequence; /* 0: the file's first buffer */
    uint16_t processor;
    uint16_t logger;
    uint32_t state; /* ETL_STATE_*; in the first buffer of a compressed file: the algorithm */
    uint32_t used;  /* bytes in use, including this header; for a compressed buffer, the number after decompression */
    uint16_t flags; /* ETL_FLAG_* and flags of the logger */
    uint16_t type;  /* ETL_TYPE_*, or another type of buffer that contains events */
};
/* Reads a buffer's header, which has ETL_BUFFER_HEAD bytes. */
void etl_buffer_header_read(const uint8_t *buffer, struct etl_buffer_header *out);
void etl_buffer_header_write(const struct etl_buffer_header *header, uint8_t *buffer);

/* Returns the number of bytes in use, including the header, in a buffer of `size` bytes; 0: not a valid buffer. */
uint32_t etl_buffer_used(const uint8_t *buffer, uint32_t size);
/* Returns the size of the longest event that fits into a buffer of `size` bytes. The size includes the event's header
   and the padding to a multiple of 8. */
uint32_t etl_buffer_max_event(uint32_t size);
/* Returns whether all bytes are zero, as in reserved space that was never written. */
bool etl_all_zero(const uint8_t *at, size_t size);

/* ---- events ---- */
/* Header types (byte 2) and marks (byte 3) of events. */
enum {
    ETL_HEADER_SYSTEM_32 = 0x01,
    ETL_HEADER_SYSTEM_64 = 0x02,
    ETL_HEADER_CLASSIC_64 = 0x14,
    ETL_MARKS = 0xC0,
    ETL_MARK_MESSAGE = 0x90
};

/* LogFileMode bits that determine how to read a file. */
enum {
    ETL_MODE_SEQUENTIAL = 0x1,
    ETL_MODE_CIRCULAR = 0x2,
    ETL_MODE_RELOGGED = 0x10000, /* EVENT_TRACE_RELOG_MODE */
    ETL_MODE_COMPRESSED = 0x04000000,
    ETL_MODE_ONE_STREAM = 0x10000000, /* NO_PER_PROCESSOR_BUFFERING */
};

enum etl_record_kind {
    ETL_RECORD_SYSTEM,      /* kernel event with process and thread; id is the hook */
    ETL_RECORD_PERFORMANCE, /* kernel event with only a time; id is the hook */
    ETL_RECORD_CLASSIC,     /* class GUID, type, level, version */
    ETL_RECORD_INSTANCE,    /* a classic event with instance numbers */
    ETL_RECORD_MANIFEST,    /* manifest and TraceLogging events */
    ETL_RECORD_MESSAGE,     /* WPP; id is the message's number, version its option flags */
    ETL_RECORD_OTHER,       /* an event of an unknown kind; only its bytes are available */
};

/* One event. Pointers point to the reader's buffer. Fields that its header does not have are 0. */
struct etl_record {
    enum etl_record_kind kind;
    const uint8_t *event; /* the whole event */
    const uint8_t *data;  /* the payload of the event provider */
    const uint8_t *extended;
    uint32_t size, data_size;
    uint32_t extended_size; /* bytes of the items; header of an item: u16 total length, a multiple of 8; u16 type; u16
                               flags, bit 0: another item follows; u16 length of the data */
    uint8_t pointer_size;   /* pointer size of the writing process: 4 or 8; 0: unknown */
    bool has_stamp;
    int64_t stamp; /* time stamp on the file's clock */
    int64_t utc;   /* FILETIME; filled by the reader */
    uint16_t processor;
    uint64_t position;                      /* file offset of the event's buffer; filled by the reader */
    const struct etl_buffer_header *buffer; /* header of the event's buffer; filled by the reader */
    bool last;                              /* the event is the last one in its buffer; filled by the reader */
    uint32_t process, thread, kernel_time, user_time;
    GUID provider; /* event provider; for a classic event, its class */
    uint16_t id, version, task;
    uint8_t channel, level, opcode; /* opcode: the type of a classic event */
    uint64_t keyword;
    GUID activity; /* activity id; for ETL_RECORD_INSTANCE, the GUID of the parent */
    uint32_t instance, parent_instance;
};

/* Returns the event at *offset and advances *offset. Before the first call, the caller sets *offset to ETL_BUFFER_HEAD.
   False at the end, or if no valid event follows within `used`. *event points into buffer. */
bool etl_buffer_event(const uint8_t *buffer, uint32_t used, uint32_t *offset, const uint8_t **event, uint32_t *size);
/* Returns the length of an event of any kind from its first 8 bytes. False: not an event, or shorter than its
   header. */
bool etl_event_length(const uint8_t first[8], uint32_t *length);
/* Returns the offset of an event's time stamp. In a truncated event, the offset can be beyond the end of the event. 0:
   no stamp. */
uint32_t etl_event_stamp_at(const uint8_t first[8]);
/* Decodes an event that etl_buffer_event returned; fields that the reader fills in are 0. */
void etl_record_decode(const uint8_t *event, uint32_t size, struct etl_record *out);
/* Returns the event provider or class; for a kernel event, the class of its hook's group. A GUID of zeros: unknown.
   Valid as long as the record. */
const GUID *etl_record_provider(const struct etl_record *e);
/* Class EventMetadata: events of merged traces that define an event or a map. */
extern const GUID etl_event_metadata_class;
/* Returns whether the event describes other events. Programs that merge traces write three kinds of describing events
   before the other events, with the same time: definitions (EventMetadata), the identity of images (ImageID), and the
   computer (SysConfigEx). */
bool etl_record_is_metadata(const struct etl_record *e);
/* Returns whether event a is before event b of another file: a is older, or both have the same time and only a
   describes other events. */
bool etl_record_is_before(const struct etl_record *a, const struct etl_record *b);
/* Returns the name of a class of kernel events, such as "Process" or "DiskIo"; NULL: unknown class. */
const char *etl_kernel_class(const GUID *provider);
/* Returns the hook group of kernel events with this class and type. False: not a kernel class. */
bool etl_kernel_group(const GUID *provider, uint8_t type, uint8_t *group);
/* Converts UTF-16 bytes of a file (without a NUL) to UTF-8, from memory_alloc; invalid units become U+FFFD. NULL: out
   of memory. */
char *etl_text(const uint8_t *at, size_t units);
/* Returns the number of units before the NUL of the UTF-16 text at `at`, within `room` bytes. False: there is no
   NUL. */
bool etl_text_length(const uint8_t *at, size_t room, size_t *units);

/* ---- the time zone of a log: TIME_ZONE_INFORMATION, and conversion of its local times ---- */
/* The time of a change between standard and daylight time. If `year` is 0, the change is every year: `day` 1 to 4 is
   the first to fourth `weekday` (0 = Sunday) of the month, and 5 is the last one. If `year` is not 0, the change is on
   a single date: `day` of `month` in `year`. If `month` is 0, the zone has no such change. */
struct zone_change {
    uint16_t year, month, weekday, day, hour, minute, second, millisecond;
};

struct zone_rules {
    int32_t bias; /* minutes: UTC = local + bias + (standard_bias or daylight_bias) */
    struct zone_change to_standard, to_daylight;
    int32_t standard_bias, daylight_bias;
};

/* Returns the minutes to add to the local FILETIME to get UTC. If `later` is set, a time in the hour that clocks show
   twice is taken as the second occurrence. */
int32_t zone_bias_minutes(const struct zone_rules *rules, int64_t local, bool later);
/* Convert FILETIMEs. For a local time that clocks show twice, zone_to_utc uses the second occurrence if the first one
   is before `not_before`. */
int64_t zone_to_utc(const struct zone_rules *rules, int64_t local, int64_t not_before);
int64_t zone_to_local(const struct zone_rules *rules, int64_t utc);

/* ---- the log file header ---- */
enum {
    ETL_CLOCK_TICKS = 1,  /* time stamps are values of the performance counter */
    ETL_CLOCK_SYSTEM = 2, /* time stamps are FILETIMEs */
    ETL_CLOCK_CYCLES = 3, /* time stamps are cycles of the processor */
};

/* SYSTEM_TRACE_HEADER and TRACE_LOGFILE_HEADER of the file. FILETIMEs are UTC; 0 = never set. Strings are UTF-8. */
struct etl_log {
    bool private_logger;  /* the file was written by a logger inside a process; its header event has version 0 */
    uint32_t buffer_size; /* bytes; for a compressed file, after decompression */
    uint8_t version_major, version_minor, sub_version, sub_minor;
    uint32_t build, processors;
    int64_t end_utc;
    uint32_t timer_resolution; /* in units of 100 ns */
    uint32_t maximum_file_mb;  /* 0: no limit */
    uint32_t mode;             /* EVENT_TRACE_*_MODE bits */
    uint32_t buffers_written, events_lost, buffers_lost;
    uint32_t pointer_size; /* pointer size of the writing process, 4 or 8 */
    uint32_t cpu_mhz;
    struct zone_rules zone;
    const char *standard_name, *daylight_name; /* names of the time zone */
    int64_t boot_utc, start_utc;
    int64_t frequency;   /* ticks per second of the performance counter */
    uint32_t clock;      /* ETL_CLOCK_* */
    int64_t start_stamp; /* the start on the file's clock */
    uint32_t process, thread;
    const char *logger_name, *file_name; /* file_name: the full path */
};
/* Bytes of the header event before its two names, in the 64-bit form. */
enum { ETL_LOG_HEAD = 0x138 };

/* Reads the header event (`size` bytes). Fails with E_OUTOFMEMORY. If the bytes are not a log file header, fails with
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) and an error message that contains `path`. On success the caller frees *out
   with etl_log_free. */
HRESULT etl_log_read(const char *path, const uint8_t *event, uint32_t size, struct etl_log *out);
void etl_log_free(struct etl_log *log);
/* Writes the header event into a buffer of `room` bytes (at least ETL_LOG_HEAD); *size is the event's length. A NULL
   string is written as "". Fails with E_INVALIDARG and an error message if the two names do not fit, or with the errors
   of text_to_utf16. */
HRESULT etl_log_write(const struct etl_log *log, uint8_t *event, uint32_t room, uint32_t *size);
/* Updates the fields of a 64-bit header event that change while a log grows: end_utc, buffers and losses. */
void etl_log_write_counts(const struct etl_log *log, uint8_t *event);
/* Convert a stamp of the file's clock to a FILETIME, and back. */
int64_t etl_log_utc(const struct etl_log *log, int64_t stamp);
int64_t etl_log_stamp(const struct etl_log *log, int64_t utc);
/* Convert a stamp of the file's clock to the TimeStamp of a buffer header, and back. Private loggers and relogging
   store FILETIMEs in buffer headers, whatever clock their events use. */
int64_t etl_log_buffer_time(const struct etl_log *log, int64_t stamp);
int64_t etl_log_buffer_stamp(const struct etl_log *log, int64_t time);

#endif
