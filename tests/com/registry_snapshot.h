/* SPDX-License-Identifier: MIT */
/* Lists the keys and values below a key of HKEY_LOCAL_MACHINE as sorted text lines, for comparison. */
#ifndef OPENPLA_REGISTRY_SNAPSHOT_H
#define OPENPLA_REGISTRY_SNAPSHOT_H

#include "engine/base/text.h"

/* Adds "key" for `key` and every key below it and "key|name|type|hexadecimal bytes" for every value, keys and names in
   lower case. Out of memory ends the test program. The lines are unsorted. */
void snapshot_add(struct texts *lines, const char *key);
/* Returns one value's line, in snapshot_add's format; from memory_alloc. */
char *snapshot_line(const char *key, const char *name, DWORD type, const void *data, size_t size);
/* Returns the key's own line; from memory_alloc. */
char *snapshot_key_line(const char *key);
/* Sorts the lines and removes duplicates, because keys may have been added twice. The lines must be freed one by one,
   so lists from texts_copy are not allowed. */
void snapshot_sort(struct texts *lines);
/* Returns the lines of `a` that are not in `b`; both must be sorted. */
struct texts snapshot_without(const struct texts *a, const struct texts *b);

#endif
