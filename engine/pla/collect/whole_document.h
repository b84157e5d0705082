/* SPDX-License-Identifier: MIT */
/* A file that grows by text in front of closing tags and is a whole XML document at each moment, also when the process
   is killed within a write or the disk is full.

   A write within one page of the host's cache is done or not, others may be cut at the end of a page. So text that goes
   beyond the page of the closing tags is written behind them while it is the inside of a processing instruction,
   <?rest ... ?>, and becomes contents by a write within that page, which overwrites its beginning and the old closing
   tags. The room for that is written before, as blanks behind the document, so that the writes that count never find a
   full disk; what ends the instruction, <?end ?>, stands at the end of that room. */
#ifndef OPENPLA_COLLECT_WHOLE_DOCUMENT_H
#define OPENPLA_COLLECT_WHOLE_DOCUMENT_H

#include "engine/base/text.h"

#define WHOLE_DOCUMENT_PAGE 4096 /* bytes; the least that any host has */

struct file;
struct whole_document {
    struct file *file; /* borrowed */
    uint64_t end;      /* of the contents: here the closing tags begin */
    uint64_t size;     /* of the file */
    uint64_t stop;     /* where <?end ?> stands; 0: nowhere */
    size_t closing;    /* bytes of the closing tags, which are within one page */
};

/* Of an empty file. Both together are at most half a page. */
HRESULT whole_document_begin(struct whole_document *w, struct file *file, const char *head, const char *closing);
/* Adds the text, from which `closing` ends the document now, and empties it. Blanks may come behind it. No character of
   it may be across whole_document_end + n * WHOLE_DOCUMENT_PAGE, nor "?>" be in it. On failure the file is a document
   still, with or without the text; only whole_document_close may follow. */
HRESULT whole_document_add(struct whole_document *w, struct text_buffer *text, const char *closing);
/* Takes the room behind the document away. Also after a failure. */
HRESULT whole_document_close(struct whole_document *w);

#endif
