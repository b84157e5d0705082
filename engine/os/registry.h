/* SPDX-License-Identifier: MIT */
/* The host's registry below HKEY_LOCAL_MACHINE, in the 64-bit view. Natively a tree in memory that this process alone
   has, for tests (DECISIONS 28). Paths and names are UTF-8, in any case, at most 255 characters a name. */
#ifndef OPENPLA_REGISTRY_H
#define OPENPLA_REGISTRY_H

#include "engine/os/text.h"

/* Windows' numbers for the types (REG_SZ ...); others are passed on as they are. */
enum {
    REGISTRY_TEXT = 1,
    REGISTRY_EXPAND_TEXT = 2,
    REGISTRY_BYTES = 3,
    REGISTRY_NUMBER = 4,
    REGISTRY_LONG_NUMBER = 11,
    REGISTRY_MOST_BYTES = 1 << 20 /* of a value that is read */
};

struct registry_key;
/* S_FALSE with *out NULL: there is no such key. */
HRESULT registry_open(const char *path, bool to_change, struct registry_key **out);
/* Makes it, and those above it, where they are not there yet; opened for changes. *made: it was not there, and is now,
   whatever is returned. */
HRESULT registry_make(const char *path, bool *made, struct registry_key **out);
void registry_close(struct registry_key *key); /* NULL is allowed */
/* With all that is below it. S_FALSE: there is none. */
HRESULT registry_delete(const char *path);
/* The names of the keys right below it; *out is empty on failure. */
HRESULT registry_list(struct registry_key *key, struct texts *out);

struct registry_value {
    uint32_t type;
    size_t size; /* bytes */
    uint8_t *data;
};
/* S_FALSE: there is none. ERROR_INVALID_DATA's HRESULT above REGISTRY_MOST_BYTES. *out is empty unless S_OK. */
HRESULT registry_read(struct registry_key *key, const char *name, struct registry_value *out);
void registry_value_free(struct registry_value *v);
HRESULT registry_write(struct registry_key *key, const char *name, uint32_t type, const void *data, size_t size);
HRESULT registry_remove(struct registry_key *key, const char *name); /* S_FALSE: there was none */

/* ---- what values are read as ---- */

/* S_FALSE: there is none, and *out is 0. ERROR_INVALID_DATA's HRESULT, naming the value: it is no number. */
HRESULT registry_read_number(struct registry_key *key, const char *name, uint64_t *out);
/* S_FALSE: there is none, or it is empty, and *out is NULL. ERROR_INVALID_DATA's HRESULT, naming the value: it is no
   text. Variables are left as they stand. From memory_alloc. */
HRESULT registry_read_text(struct registry_key *key, const char *name, char **out);
HRESULT registry_write_number(struct registry_key *key, const char *name, uint32_t type, uint64_t number);
HRESULT registry_write_text(struct registry_key *key, const char *name, const char *text);

#endif
