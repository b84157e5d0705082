/* SPDX-License-Identifier: MIT */
/* The host OS's registry. Keys below HKEY_LOCAL_MACHINE, in the 64-bit view, can be read and changed; the whole
   registry can be read for recordings. In the native build the registry is a tree in memory, private to this process,
   for tests (DECISIONS 28). Paths and names are UTF-8 and compared without case; a name has at most 255 characters. */
#ifndef OPENPLA_REGISTRY_H
#define OPENPLA_REGISTRY_H

#include "engine/base/text.h"

/* Types of values, with Windows' numbers (REG_SZ ...). Other types are passed through unchanged. */
enum {
    REGISTRY_TEXT = 1,
    REGISTRY_EXPAND_TEXT = 2,
    REGISTRY_BYTES = 3,
    REGISTRY_NUMBER = 4,
    REGISTRY_BIG_ENDIAN_NUMBER = 5,
    REGISTRY_LINK = 6,
    REGISTRY_TEXTS = 7,
    REGISTRY_LONG_NUMBER = 11,
    REGISTRY_MOST_BYTES = 1 << 20 /* maximum size of a value that is read */
};

struct registry_key;
/* Opens a key. S_FALSE: the key does not exist, and *out is NULL. */
HRESULT registry_open(const char *path, bool to_change, struct registry_key **out);
/* Opens the key for changes and creates it and its parents if they do not exist. *made is true if this call has created
   the key, even if the call then fails. */
HRESULT registry_create(const char *path, bool *made, struct registry_key **out);
void registry_close(struct registry_key *key); /* NULL is allowed */
/* Deletes the key with everything below it. S_FALSE: the key does not exist. */
HRESULT registry_delete(const char *path);
/* Lists the names of the subkeys; *out is empty on failure. */
HRESULT registry_list(struct registry_key *key, struct texts *out);

struct registry_value {
    uint32_t type;
    size_t size; /* bytes */
    uint8_t *data;
};
/* Reads a value. S_FALSE: the value does not exist. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the value has
   more than REGISTRY_MOST_BYTES. Unless the result is S_OK, *out is empty. */
HRESULT registry_read(struct registry_key *key, const char *name, struct registry_value *out);
void registry_value_free(struct registry_value *v);
HRESULT registry_write(struct registry_key *key, const char *name, uint32_t type, const void *data, size_t size);
HRESULT registry_remove(struct registry_key *key, const char *name); /* S_FALSE: it did not exist */

/* ---- reading values as a type ---- */

/* S_FALSE: the value does not exist, and *out is 0. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the value is
   not a number; the error text names the value. */
HRESULT registry_read_number(struct registry_key *key, const char *name, uint64_t *out);
/* S_FALSE: the value does not exist or is empty, and *out is NULL. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if
   the value is not a string; the error text names the value. Variables are not expanded. From memory_alloc. */
HRESULT registry_read_text(struct registry_key *key, const char *name, char **out);
HRESULT registry_write_number(struct registry_key *key, const char *name, uint32_t type, uint64_t number);
HRESULT registry_write_text(struct registry_key *key, const char *name, const char *text);

/* ---- walking the registry, for code that records it ---- */

enum registry_hive {
    REGISTRY_CLASSES_ROOT,
    REGISTRY_CURRENT_USER,
    REGISTRY_LOCAL_MACHINE,
    REGISTRY_USERS,
    REGISTRY_CURRENT_CONFIG,
    REGISTRY_HIVES
};
/* Returns the hive's name, such as HKEY_LOCAL_MACHINE. */
const char *registry_hive_name(enum registry_hive hive);
struct registry_place {
    const char *computer; /* NULL: this computer */
    enum registry_hive hive;
    bool of_32_bits; /* the view of 32-bit programs */
};
/* Opens a key for reading, like registry_open; `path` may be "". Fails if the other computer cannot be reached; on some
   systems this takes a long time. Fails with HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) if this host OS cannot access
   other computers. */
HRESULT registry_open_in(const struct registry_place *place, const char *path, struct registry_key **out);
/* Returns the key's path with its hive, and with the computer if it is another one. */
const char *registry_key_path(const struct registry_key *key);

enum { REGISTRY_NAME_UNITS = 16384 /* the longest name of a value, including the NUL */ };
/* A key or value found by a walk. Zero-initialise; too large for the stack. */
struct registry_entry {
    WCHAR name[REGISTRY_NAME_UNITS]; /* may contain anything, including NULs */
    size_t name_units;
    /* of a value */
    uint32_t type;
    size_t size; /* bytes of the value; `data` is empty if there are more than REGISTRY_MOST_BYTES */
    uint8_t *data;
    size_t capacity;
};
/* Reads the key or value at the index, counted from 0. S_FALSE: there are no more. If keys are created or deleted
   between the calls, the indexes of later entries may change. */
HRESULT registry_key_at(struct registry_key *key, uint32_t index, struct registry_entry *out);
HRESULT registry_value_at(struct registry_key *key, uint32_t index, struct registry_entry *out);
void registry_entry_free(struct registry_entry *e); /* frees its contents */
/* Returns the current numbers of subkeys and values. */
HRESULT registry_counts(struct registry_key *key, uint32_t *keys, uint32_t *values);
/* Opens the subkey with the entry's name in the same view, for reading. If the subkey is a link, the link itself is
   opened and not its target; a link has the value REGISTRY_LINK_VALUE. */
HRESULT registry_open_at(struct registry_key *key, const struct registry_entry *entry, struct registry_key **out);
#define REGISTRY_LINK_VALUE "SymbolicLinkValue"

#endif
