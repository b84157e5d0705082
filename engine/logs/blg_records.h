/* SPDX-License-Identifier: MIT */
/* Puts the records of a binary log together again: each is cut into events of at most 8000 bytes. */
#ifndef OPENPLA_BLG_RECORDS_H
#define OPENPLA_BLG_RECORDS_H

#include "engine/base/error.h"
#include "engine/logs/etl_reader.h"

struct blg_record {
    uint8_t type;         /* BLG_RECORD_* */
    uint8_t instance[16]; /* GUID of the log it belongs to */
    int64_t stamp;        /* local FILETIME */
    uint64_t position;    /* in the file: of the buffer it begins in */
    const uint8_t *data;
    size_t size;
};

struct blg_records {
    struct etl_reader *etl;
    etl_remark *told; /* is told of what is incomplete */
    void *context;
    struct blg_record record; /* the last whole one; its data are valid until the next call */
    bool in_the_middle;       /* reading began somewhere in the file: parts of a record may come first, unremarked */
    bool foreign;             /* there were events that are no records */
    bool kernel;              /* there were the kernel's own */
    uint8_t *parts;           /* of a record that has more than one */
    size_t size, capacity;
    uint32_t part, part_count; /* the last one got; 0: none in work */
};

/* Reads on to the end of a record. S_FALSE: there are no more. Errors: those of etl_reader_next; E_OUTOFMEMORY;
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) when other events come before the first record. */
HRESULT blg_records_next(struct blg_records *r);
/* Begins anew, from an event at or after `stamp` on; INT64_MIN: from the first. */
HRESULT blg_records_seek(struct blg_records *r, int64_t stamp);
void blg_records_close(struct blg_records *r);
/* A remark about the buffer at `position`. */
void blg_records_remark(const struct blg_records *r, uint64_t position, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
