/* SPDX-License-Identifier: MIT */
/* What lies in the buffers of .etl and .blg files: one event after the other, and each event's header taken apart. */
#ifndef OPENPLA_ETL_RECORD_H
#define OPENPLA_ETL_RECORD_H

#include "engine/logs/etl_buffer.h"

/* Header types of events, their byte 2, and marks, their byte 3. */
enum {
    ETL_HEADER_SYSTEM_32 = 0x01,
    ETL_HEADER_SYSTEM_64 = 0x02,
    ETL_HEADER_CLASSIC_64 = 0x14,
    ETL_MARKS = 0xC0,
    ETL_MARK_MESSAGE = 0x90
};

/* LogFileMode bits that say how to read a file. */
enum {
    ETL_MODE_SEQUENTIAL = 0x1,
    ETL_MODE_CIRCULAR = 0x2,
    ETL_MODE_RELOGGED = 0x10000, /* EVENT_TRACE_RELOG_MODE */
    ETL_MODE_COMPRESSED = 0x04000000,
    ETL_MODE_ONE_STREAM = 0x10000000, /* NO_PER_PROCESSOR_BUFFERING */
};

enum etl_record_kind {
    ETL_RECORD_SYSTEM,      /* kernel event with process and thread; id is the hook */
    ETL_RECORD_PERFORMANCE, /* kernel event with a time only; id is the hook */
    ETL_RECORD_CLASSIC,     /* class GUID, type, level, version */
    ETL_RECORD_INSTANCE,    /* a classic one with instance numbers */
    ETL_RECORD_MANIFEST,    /* manifest and TraceLogging events */
    ETL_RECORD_MESSAGE,     /* WPP; id is the message's number, version its option flags */
    ETL_RECORD_OTHER,       /* only its bytes are known */
};

/* One event. Pointers point into the reader's buffer. Fields its header does not have are 0. */
struct etl_record {
    enum etl_record_kind kind;
    const uint8_t *event; /* the whole of it */
    const uint8_t *data;  /* what its provider wrote */
    const uint8_t *extended;
    uint32_t size, data_size;
    uint32_t extended_size; /* items: u16 length rounded up to 8, u16 type, u16 bit 0 = another follows, u16 bytes */
    uint8_t pointer_size;   /* of who logged it: 4 or 8; 0 unknown */
    bool has_stamp;
    int64_t stamp; /* on the file's clock */
    int64_t utc;   /* FILETIME; filled by the reader */
    uint16_t processor;
    uint64_t position;                      /* in the file: of its buffer; filled by the reader */
    const struct etl_buffer_header *buffer; /* that of its buffer; filled by the reader */
    bool last;                              /* of its buffer; filled by the reader */
    uint32_t process, thread, kernel_time, user_time;
    GUID provider; /* or class */
    uint16_t id, version, task;
    uint8_t channel, level, opcode; /* opcode: of classic events their type */
    uint64_t keyword;
    GUID activity; /* of ETL_RECORD_INSTANCE the parent's GUID */
    uint32_t instance, parent_instance;
};

/* The event at *offset (start with ETL_BUFFER_HEAD), and *offset moved behind it. False at the end, and when what is
   there is no event that ends inside `used`. *event points into buffer. */
bool etl_buffer_event(const uint8_t *buffer, uint32_t used, uint32_t *offset, const uint8_t **event, uint32_t *size);
/* The length of the event whose first 8 bytes these are, in any of its forms. False: they begin no event, or it is
   shorter than its own header. */
bool etl_event_length(const uint8_t first[8], uint32_t *length);
/* Where in it its time stamp lies, of which some bytes may lie behind its end; 0: it has none. */
uint32_t etl_event_stamp_at(const uint8_t first[8]);
/* Takes apart an event that etl_buffer_event gave; what the reader fills stays 0. */
void etl_record_decode(const uint8_t *event, uint32_t size, struct etl_record *out);
/* Who wrote it: its provider or class; of a kernel event the class of its group, which the hook names. GUID of zeros:
   not told. */
GUID etl_record_provider(const struct etl_record *e);
/* "Process", "DiskIo": what a class of kernel events is called; NULL: it is none. */
const char *etl_kernel_class(const GUID *provider);
/* The group of the hook of a kernel event of that class and type. False: it is no kernel class. */
bool etl_kernel_group(const GUID *provider, uint8_t type, uint8_t *group);
/* A GUID as it lies in files. */
GUID etl_guid(const uint8_t at[16]);
/* UTF-16 bytes of a file (without NUL) as UTF-8 from memory_alloc; what is no text becomes U+FFFD. NULL: out of memory.
 */
char *etl_text(const uint8_t *at, size_t units);
/* Units of the UTF-16 text at `at` before its NUL; `room` bytes at most. False: no NUL in them. */
bool etl_text_length(const uint8_t *at, size_t room, size_t *units);

#endif
