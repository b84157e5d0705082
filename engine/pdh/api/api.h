/* SPDX-License-Identifier: MIT */
/* PDH functions that take or return strings. One implementation serves the W and A forms; api_forms.inc creates the
   entry points. */
#ifndef OPENPLA_PDH_API_H
#define OPENPLA_PDH_API_H

#include "engine/base/text.h"
#include "engine/logs/pdh_types.h"
#include "engine/pdh/core/query.h"

/* Strings of the API in UTF-16 (W) or the ANSI code page (A), in the caller's buffers and with PDH's buffer protocol. A
   "unit" is a WCHAR or a byte. */

enum api_form { API_WIDE, API_ANSI };

/* Converts the caller's string to UTF-8, from memory_alloc; NULL stays NULL. Fails with `otherwise` if the string is
   longer than `most` units or is not valid text, or with PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS api_text_in(enum api_form form, const void *text, size_t most, DWORD otherwise, char **out);
/* Like api_text_in, for a list that ends with an empty string. */
PDH_STATUS api_list_in(enum api_form form, const void *list, size_t most, DWORD otherwise, struct texts *out);

/* Copy a string with its NUL, or a list (each string with its NUL, and one more NUL at the end), to a buffer of *units
   units. *units always becomes the needed size. Both functions fail with PDH_MORE_DATA if the buffer is too small, and
   with PDH_INVALID_ARGUMENT if `units` is NULL or the buffer is NULL although *units is not 0. An empty list needs 0
   units if `none_is_nothing` is set, otherwise 1. */
PDH_STATUS api_text_out(enum api_form form, const char *text, void *buffer, LPDWORD units);
PDH_STATUS api_list_out(enum api_form form, const struct texts *list, bool none_is_nothing, void *buffer,
                        LPDWORD units);

/* A caller's buffer that begins with a struct or array of `used` bytes, followed by the strings to which its members
   point. */
struct api_block {
    enum api_form form;
    BYTE *base;  /* NULL: only compute the size */
    size_t size; /* size of the caller's buffer */
    size_t used; /* bytes needed so far */
    bool failed; /* memory ran out */
};
/* Fails with PDH_INVALID_ARGUMENT like api_text_out. */
PDH_STATUS api_block_begin(struct api_block *b, enum api_form form, void *base, const DWORD *size, size_t head);
/* Appends the string and returns its address in the block; NULL if it does not fit or `text` is NULL. */
void *api_block_add(struct api_block *b, const char *text);
/* Writes *size. Returns PDH_MORE_DATA if the block is too small. After PDH_MORE_DATA the caller must not write the
   struct or array at the beginning of the block. */
PDH_STATUS api_block_end(const struct api_block *b, LPDWORD size);

/* The objects behind PDH_HLOG: a log that is being written, or a data source (log files or this computer). */

/* Returns the files of a source's handle, or an empty list for this computer; NULL if the handle is not a source. */
const struct texts *log_handle_paths(PDH_HLOG handle);

/* The functions named api_* correspond to the Windows functions with the prefix Pdh and have the same arguments,
   statuses and buffer protocols. A pointer to a string, or to a struct with strings, can point to either form. The
   structs of both forms have the same layouts. */

/* The data source: a log file's name or a handle from PdhBindInputDataSource; this computer if neither is given. */
struct api_source {
    const void *name;
    PDH_HLOG handle;
};

/* Returns the object behind a handle; NULL if the handle is invalid. */
void *api_handle(void *handle, enum handle_kind kind);
struct query *api_query(PDH_HQUERY handle);
struct counter *api_counter(PDH_HCOUNTER handle);

PDH_STATUS api_open_catalogue(enum api_form form, struct api_source source, struct catalogue **out);
PDH_STATUS api_open_query(enum api_form form, struct api_source source, DWORD_PTR user_data, PDH_HQUERY *query);
PDH_STATUS api_add_counter(enum api_form form, PDH_HQUERY query, const void *path, DWORD_PTR user_data,
                           PDH_HCOUNTER *counter);
PDH_STATUS api_get_counter_info(enum api_form form, PDH_HCOUNTER counter, BOOLEAN explain, LPDWORD bytes,
                                PDH_COUNTER_INFO_W *info);
PDH_STATUS api_get_raw_array(enum api_form form, PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count,
                             PDH_RAW_COUNTER_ITEM_W *items);
PDH_STATUS api_get_formatted_array(enum api_form form, PDH_HCOUNTER counter, DWORD format, LPDWORD bytes, LPDWORD count,
                                   PDH_FMT_COUNTERVALUE_ITEM_W *items);

PDH_STATUS api_expand_wildcard_path(enum api_form form, struct api_source source, const void *path, void *list,
                                    LPDWORD units, DWORD flags);
PDH_STATUS api_validate_path(enum api_form form, struct api_source source, const void *path);
PDH_STATUS api_parse_counter_path(enum api_form form, const void *path, PDH_COUNTER_PATH_ELEMENTS_W *elements,
                                  LPDWORD bytes, DWORD flags);
PDH_STATUS api_make_counter_path(enum api_form form, const PDH_COUNTER_PATH_ELEMENTS_W *elements, void *path,
                                 LPDWORD units, DWORD flags);
PDH_STATUS api_parse_instance_name(enum api_form form, const void *text, void *instance, LPDWORD instance_units,
                                   void *parent, LPDWORD parent_units, LPDWORD index);

PDH_STATUS api_connect_machine(enum api_form form, const void *machine);
PDH_STATUS api_enum_machines(enum api_form form, struct api_source source, void *list, LPDWORD units);
PDH_STATUS api_enum_objects(enum api_form form, struct api_source source, const void *machine, void *list,
                            LPDWORD units, DWORD detail, BOOL refresh);
PDH_STATUS api_enum_object_items(enum api_form form, struct api_source source, const void *machine, const void *object,
                                 void *counters, LPDWORD counter_units, void *instances, LPDWORD instance_units,
                                 DWORD detail, DWORD flags);
PDH_STATUS api_get_default_object(enum api_form form, struct api_source source, const void *machine, void *name,
                                  LPDWORD units);
PDH_STATUS api_get_default_counter(enum api_form form, struct api_source source, const void *machine,
                                   const void *object, void *name, LPDWORD units);
PDH_STATUS api_lookup_name(enum api_form form, const void *machine, DWORD index, void *name, LPDWORD units);
PDH_STATUS api_lookup_index(enum api_form form, const void *machine, const void *name, LPDWORD index);

PDH_STATUS api_create_sql_tables(enum api_form form, const void *data_source);
PDH_STATUS api_verify_sql(enum api_form form, const void *data_source);
PDH_STATUS api_enum_log_sets(enum api_form form, const void *data_source, void *list, LPDWORD units);

/* Returns the same path, because there is only one language. Fails with PDH_CSTATUS_BAD_COUNTERNAME and similar
   statuses if the path is invalid. */
PDH_STATUS api_translate_path(enum api_form form, const void *path, void *out, LPDWORD units);
/* Lists the counter paths of a log file. */
PDH_STATUS api_list_log_header(enum api_form form, const void *name, void *list, LPDWORD units);
PDH_STATUS api_bind_source(enum api_form form, PDH_HLOG *handle, const void *names);
PDH_STATUS api_open_log(enum api_form form, const void *name, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD most,
                        const void *caption, PDH_HLOG *out);
PDH_STATUS api_update_log(PDH_HLOG handle);
PDH_STATUS api_get_log_type(enum api_form form, const void *name, LPDWORD type);
PDH_STATUS api_get_time_range(enum api_form form, struct api_source source, LPDWORD count, PPDH_TIME_INFO info,
                              LPDWORD bytes);

#endif
