/* SPDX-License-Identifier: MIT */
/* Records of binary performance logs: the format's constants, and functions that join events into records. */
#ifndef OPENPLA_BLG_RECORDS_H
#define OPENPLA_BLG_RECORDS_H

#include "engine/base/error.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/etl_record.h"

/* Class types of the events that carry records. */
enum {
    BLG_RECORD_CATALOG = 32,
    BLG_RECORD_SAMPLE = 34,
    BLG_RECORD_SUMMARY = 35,
    BLG_RECORD_NAMES = 36,
    BLG_CLASS_VERSION = 60
};
/* Kinds of the 'B','L' blocks in a sample, and their sizes. */
enum {
    BLG_KIND_SAMPLE = 0x0003,
    BLG_KIND_SINGLE = 0x0103,
    BLG_KIND_WILDCARD = 0x0203,
    BLG_KIND_OBJECT = 0x0503,
    BLG_BLOCK_HEAD = 8,
    BLG_SINGLE_SIZE = 0x30,
    BLG_WILDCARD_HEAD = 0x18,
    BLG_WILDCARD_ITEM = 0x18,
};
/* The catalog: bytes before its first entry, bytes of an entry before its names, and flags of an entry. */
enum { BLG_CATALOG_HEAD = 8, BLG_ENTRY_HEAD = 0x34, BLG_ENTRY_WILDCARD = 0x01, BLG_ENTRY_OBJECT = 0x10 };
/* An event of a record contains the event header, the instance GUID, the part number, the part count, and then the
   part. */
enum { BLG_EVENT_HEAD = 0x30, BLG_PART_HEAD = BLG_EVENT_HEAD + 24, BLG_MAX_PART = 8000 };
enum { BLG_MAX_RECORD = 0x40000000 };
/* Size of a container's buffers, as PDH writes them. */
enum { BLG_BUFFER_SIZE = 0x10000 };

/* Class of all record events, {933f3bb3-943e-490d-9ced-3cbb14c14479}, in the byte order of the file. */
extern const uint8_t blg_class[16];

struct log_reader;
/* Header fields of a log, for a copy of that log. */
struct blg_origin {
    const struct etl_log *log; /* borrowed from the reader */
    uint8_t instance[16];
    uint32_t process; /* process id in the events */
    int32_t bias_minutes;
};
/* Returns the header fields of the reader's log. False: the log has another format. */
bool blg_reader_origin(const struct log_reader *reader, struct blg_origin *out);

/* ---- reading ---- */
struct blg_record {
    uint8_t type;         /* BLG_RECORD_* */
    uint8_t instance[16]; /* GUID of the record's log */
    int64_t stamp;        /* local FILETIME */
    uint64_t position;    /* file offset of the buffer in which the record begins */
    const uint8_t *data;
    size_t size;
};

struct blg_records {
    struct etl_reader *etl;
    etl_warn *warn; /* called for each incomplete record */
    void *context;
    struct blg_record record; /* the last complete record; its data are valid until the next call */
    bool in_the_middle;       /* reading did not begin at the start of the file; a record whose first parts are missing
                                 causes no warning */
    bool foreign;             /* the file contains events that are not parts of a record */
    bool kernel;              /* the file contains kernel events */
    uint8_t *parts;           /* data of a record that has several parts */
    size_t size, capacity;
    uint32_t part, part_count; /* part: number of the part that was read last of the current record; 0: none;
                                  part_count: number of parts of the current record */
};

/* Reads the next record. S_FALSE: no more. Fails with the errors of etl_reader_next, with E_OUTOFMEMORY, or with
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if other events precede the first record. */
HRESULT blg_records_next(struct blg_records *r);
void blg_records_close(struct blg_records *r);

#endif
