/* SPDX-License-Identifier: MIT */
/* Parses and formats counter paths, \\Computer\Object(Parent/Instance#Index)\Counter, in UTF-8. This header also has
   functions that give numbers to instances with the same name. */
#ifndef OPENPLA_COUNTER_PATH_H
#define OPENPLA_COUNTER_PATH_H

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"

#define PATH_NO_INDEX UINT32_MAX

struct counter_path {
    char *machine;  /* without the two backslashes; NULL: the path has no computer */
    char *object;   /* never empty */
    char *parent;   /* NULL: the path has no parent */
    char *instance; /* NULL: the path has no instance; "" for "Object()" */
    uint32_t index; /* number after '#', or PATH_NO_INDEX */
    char *counter;  /* never empty */
};

/* Parses a counter path. The instance is the last part in parentheses before "\", so object and counter names may
   contain parentheses; the instance may contain balanced parentheses, backslashes and slashes. The first slash with
   text on both sides ends the parent's name. '#' starts the index only if digits follow it up to the end of the
   instance. Returns ERROR_SUCCESS; PDH_CSTATUS_NO_COUNTERNAME for ""; PDH_CSTATUS_BAD_COUNTERNAME for an invalid path
   or one longer than PDH_MAX_COUNTER_PATH; PDH_MEMORY_ALLOCATION_FAILURE. *out is owned by the caller and zero after a
   failure. */
PDH_STATUS counter_path_parse(const char *text, struct counter_path *out);
/* Checks a path without allocating memory. Returns the same codes as counter_path_parse. */
PDH_STATUS counter_path_check(const char *text);
/* Frees the strings and zeroes *path. */
void counter_path_free(struct counter_path *path);

/* Checks whether the computer of a path or an API call is this computer (see os_is_own_name). Returns ERROR_SUCCESS,
   PDH_CSTATUS_NO_MACHINE or PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS counter_path_machine_is_ours(const char *machine);
/* Like counter_path_machine_is_ours, but with `ours` as this computer's name. */
bool counter_path_machine_is(const char *machine, const char *ours);

/* Returns the text of the path, from memory_alloc; NULL: out of memory. */
char *counter_path_format(const struct counter_path *path);
/* Returns "name" or "name#index" (for an index above 0), after "parent/" if the path has a parent. NULL: out of memory,
   or the path has no instance. */
char *counter_path_instance(const struct counter_path *path);

/* Numbers for instances with the same name, as PDH shows them: the first one has no number, and the following ones are
   "name#1", "name#2" and so on. */
struct instance_number;
/* Counts equal names in one list. Zero-initialise. */
struct instance_numbers {
    struct instance_number *slots; /* a hash table */
    size_t slot_count, used;
};

/* Returns in *number how many earlier names of the list equal this one, ignoring case. The list borrows the name until
   instance_numbers_clear. */
HRESULT instance_numbers_next(struct instance_numbers *n, const char *name, size_t *number);
/* Returns the name with its number, from memory_alloc; NULL: out of memory. */
char *instance_numbers_text(const char *name, size_t number);
void instance_numbers_clear(struct instance_numbers *n); /* empties *n for another list */
void instance_numbers_free(struct instance_numbers *n);

#endif
