/* SPDX-License-Identifier: MIT */
/* The event log's files (.evtx): a header, and chunks of 64 KB that can be read alone. A chunk has names and shapes
   once; a record names its shape and has the values. A stream but for the header, which is written again at the end. */
#ifndef OPENPLA_EVTX_WRITER_H
#define OPENPLA_EVTX_WRITER_H

#include "engine/etw/decode/evtx/evtx_record.h"

enum {
    EVTX_HEADER_BYTES = 4096,
    EVTX_CHUNK_BYTES = 65536,
    EVTX_MOST_CHUNKS = 65535, /* what the header can say: 4 GB */
};

struct evtx_writer;
/* Files end at so many chunks. NULL when out of memory. */
struct evtx_writer *evtx_writer_create(unsigned most_chunks);
void evtx_writer_free(struct evtx_writer *w); /* NULL is allowed */
/* Adds a record of that time (FILETIME); `to` gets the chunk before it when that is full. S_FALSE: no chunk has room
   for such a record, or it is too_long, and nothing has happened. ERROR_FILE_TOO_LARGE's HRESULT: the file is full. The
   record's own failure. */
HRESULT evtx_writer_add(struct evtx_writer *w, const struct evtx_record *r, int64_t time, struct text_buffer *to);
/* The number that the next record gets: from 1 on. */
uint64_t evtx_writer_next(const struct evtx_writer *w);
/* The last chunk; there is one in every file. */
void evtx_writer_end(struct evtx_writer *w, struct text_buffer *to);
/* The header, of what is written up to now; `whole`: nothing comes any more. */
void evtx_writer_header(const struct evtx_writer *w, bool whole, uint8_t header[EVTX_HEADER_BYTES]);

#endif
