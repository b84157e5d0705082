/* SPDX-License-Identifier: MIT */
/* Reads and writes whole messages through a pipe. Each read costs requests to wineserver, so it takes all bytes that
   have arrived. */
#include "com/server/dcom.h"
#include "com/server/dcom_link.h"
#include "engine/base/memory.h"

#include <string.h>

/* Reads the bytes that have arrived, at most `size`. A long body is read directly to its destination, not through the
   buffer. */
static bool pipe_read(HANDLE pipe, uint8_t *bytes, size_t size, size_t *got)
{
    DWORD n = 0;
    const bool read = ReadFile(pipe, bytes, size < MAXLONG ? (DWORD)size : MAXLONG, &n, NULL) && n;
    *got = n;
    return read;
}

static bool bytes_read(struct dcom_input *in, uint8_t *bytes, size_t size)
{
    while (size) {
        const size_t has = in->end - in->at;
        size_t part = size < has ? size : has;
        if (part) {
            memcpy(bytes, in->bytes + in->at, part);
            memory_wipe(in->bytes + in->at, part); /* it can be a password */
            in->at += part;
        } else if (size >= sizeof in->bytes) {
            if (!pipe_read(in->pipe, bytes, size, &part))
                return false;
        } else {
            in->at = 0;
            if (!pipe_read(in->pipe, in->bytes, sizeof in->bytes, &in->end))
                return false;
        }
        bytes += part;
        size -= part;
    }
    return true;
}

bool dcom_message_read(struct dcom_input *in, struct link_header *header, uint8_t **body)
{
    uint8_t bytes[LINK_HEADER];
    *body = NULL;
    if (!bytes_read(in, bytes, sizeof bytes) || !link_header_read(bytes, header))
        return false;
    if (!header->size)
        return true;
    *body = memory_alloc(header->size);
    if (*body && bytes_read(in, *body, header->size))
        return true;
    memory_free(*body);
    *body = NULL;
    return false;
}

void dcom_message_free(const struct link_header *header, uint8_t *body)
{
    if (body)
        memory_wipe(body, header->size);
    memory_free(body);
}

bool dcom_bytes_write(HANDLE pipe, const uint8_t *bytes, size_t size)
{
    while (size) {
        DWORD done;
        if (!WriteFile(pipe, bytes, size < MAXLONG ? (DWORD)size : MAXLONG, &done, NULL) || !done)
            return false;
        bytes += done;
        size -= done;
    }
    return true;
}
