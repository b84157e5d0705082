/* SPDX-License-Identifier: MIT */
/* Changes below HKEY_LOCAL_MACHINE that can be undone. Keys, names and texts are UTF-8. */
#ifndef OPENPLA_REGISTRY_CHANGES_H
#define OPENPLA_REGISTRY_CHANGES_H

#include "engine/base/text.h"

/* A value in the registry. `data` from memory_alloc, UTF-16 for strings; type is REG_SZ and so on. */
struct registered_value {
    bool exists;
    DWORD type, size; /* size in bytes */
    BYTE *data;
};
void registered_value_free(struct registered_value *value);

/* Recorded changes, for undoing them. Zero-initialise. */
struct registry_changes {
    struct registry_change *items;
    size_t count, capacity;
};

/* Reads one value; name NULL is the default value. A missing key or value is S_OK with exists false. */
HRESULT registry_get(const char *key, const char *name, struct registered_value *out);
HRESULT registry_key_exists(const char *key, bool *exists);
/* Creates the key with all missing parents. */
HRESULT registry_make_key(struct registry_changes *changes, const char *key);
/* Sets the value (`exists` true; creates the key) or deletes it. Does and records nothing if the registry already has
   that state. */
HRESULT registry_put(struct registry_changes *changes, const char *key, const char *name,
                     const struct registered_value *value);
/* Deletes `key`, which is below `root`, and then its empty parents, but not `root`. A missing key counts as deleted. */
HRESULT registry_prune(const char *root, const char *key);

/* Deletes `key` with its contents, and then its empty parents, but not `root`. */
HRESULT registry_delete_tree(const char *root, const char *key);

/* Undoes all changes, the latest first. Changes that another program has made since are overwritten; a key in which
   another program created something stays. */
void registry_changes_undo(struct registry_changes *changes);
/* Discards the record; the registry keeps the changes. */
void registry_changes_free(struct registry_changes *changes);

/* Creates a REG_SZ value from a UTF-8 text. */
HRESULT registry_text(const char *text, struct registered_value *out);
/* registry_number creates a REG_DWORD value from decimal digits, and registry_bytes a REG_BINARY value from pairs of
   hexadecimal digits. E_INVALIDARG for any other text. */
HRESULT registry_number(const char *digits, struct registered_value *out);
HRESULT registry_bytes(const char *digits, struct registered_value *out);
bool registered_value_equal(const struct registered_value *a, const struct registered_value *b);

#endif
