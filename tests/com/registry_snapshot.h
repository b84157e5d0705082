/* SPDX-License-Identifier: MIT */
/* The keys and values below a key of HKEY_LOCAL_MACHINE as sorted lines of text, to be compared. */
#ifndef OPENPLA_REGISTRY_SNAPSHOT_H
#define OPENPLA_REGISTRY_SNAPSHOT_H

#include "engine/base/text.h"

/* Adds "key" for `key` and every key below it and "key|name|type|hexadecimal bytes" for every value, keys and names in
   lower case; ends the test program when memory is out. The lines are not sorted yet. */
void snapshot_add(struct texts *lines, const char *key);
/* One value's line, as snapshot_add writes it; from memory_alloc. */
char *snapshot_line(const char *key, const char *name, DWORD type, const void *data, size_t size);
/* The key's own line; from memory_alloc. */
char *snapshot_key_line(const char *key);
/* Each line once from then on: keys may have been added twice. Not for lines of texts_copy. */
void snapshot_sort(struct texts *lines);
/* The lines of `a` that are not in `b`; both sorted. */
struct texts snapshot_without(const struct texts *a, const struct texts *b);

#endif
