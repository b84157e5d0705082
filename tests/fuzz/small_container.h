/* SPDX-License-Identifier: MIT */
/* Small .etl containers for the fuzz targets, and their corruption as described by the input. */
#ifndef OPENPLA_TEST_SMALL_CONTAINER_H
#define OPENPLA_TEST_SMALL_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMALL_BUFFER = 1024, SMALL_CONTAINER = 32 * SMALL_BUFFER };

struct small_container {
    uint8_t bytes[SMALL_CONTAINER];
    size_t size;
};

/* Begins a container with its header buffer. pointer: 4 or 8. */
void small_begin(struct small_container *c, uint32_t mode, uint32_t pointer, uint32_t clock);
/* Adds a buffer with these events, one after the other. `packed`: stored as literals of plain XPRESS. */
void small_add(struct small_container *c, uint16_t processor, const uint8_t *events, size_t size, bool packed);
/* Applies the patches in `data` (u16 position, u8 length, bytes; a remainder cuts the end off) and writes the container
   to `path`. */
void small_store_damaged(const struct small_container *c, const uint8_t *data, size_t size, const char *path);

#endif
