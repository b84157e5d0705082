/* SPDX-License-Identifier: MIT */
/* Whole messages through a pipe. */
#include "com/server/dcom.h"
#include "com/server/dcom_link.h"
#include "engine/base/memory.h"

static bool bytes_read(HANDLE pipe, uint8_t *bytes, size_t size)
{
    while (size) {
        DWORD got;
        if (!ReadFile(pipe, bytes, size < MAXLONG ? (DWORD)size : MAXLONG, &got, NULL) || !got)
            return false;
        bytes += got;
        size -= got;
    }
    return true;
}

bool dcom_message_read(HANDLE pipe, struct link_header *header, uint8_t **body)
{
    uint8_t bytes[LINK_HEADER];
    *body = NULL;
    if (!bytes_read(pipe, bytes, sizeof bytes) || !link_header_read(bytes, header))
        return false;
    if (!header->size)
        return true;
    *body = memory_alloc(header->size);
    if (*body && bytes_read(pipe, *body, header->size))
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
