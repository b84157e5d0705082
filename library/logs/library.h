/* SPDX-License-Identifier: MIT */
/* Functions that the files of libopenpla-logs share: handles, and the result of a call. */
#ifndef OPENPLA_LIBRARY_H
#define OPENPLA_LIBRARY_H

#include "engine/base/text.h"
#include "library/include/openpla/logs.h"

/* ---- the result of a call ---- */

/* Converts the result of a public function, and keeps the reason of a failure for openpla_error. */
openpla_result library_result(HRESULT hr);
/* Makes sure that the reason names the object: adds "cannot <verb> '<name>': " if the name is missing. */
HRESULT library_name_error(HRESULT hr, const char *verb, const char *name);
/* Returns a log's name for messages when there is no memory for format_path: "SQL:..." for a database, because its full
   name can contain a password. */
const char *library_short_name(const char *path);
/* Checks an argument of a public function that must not be NULL. */
HRESULT library_check_pointer(const void *pointer, const char *function, const char *argument);
/* Checks a caller's string: it must be UTF-8, and not NULL unless `may_be_null` is set. */
HRESULT library_check_text(const char *text, bool may_be_null, const char *function, const char *argument);
/* Checks an options structure's `size` and copies the structure over the beginning of *own. The remaining bytes of *own
   (zeros or defaults) stay unchanged. A larger structure comes from a newer header; its bytes beyond `own` must be
   zero. NULL is allowed. */
HRESULT library_take_options(const void *options, void *own, size_t size, const char *function);

/* ---- handles ---- */

enum handle_kind { HANDLE_LOG = 1, HANDLE_WRITER, HANDLE_TRACE };

/* Creates a handle for an object. */
HRESULT handle_open(enum handle_kind kind, void *object, void **out);
/* Begins a call: returns the handle's object and reserves it for this call until handle_leave. Fails with
   HRESULT_FROM_WIN32(ERROR_INVALID_HANDLE) or HRESULT_FROM_WIN32(ERROR_BUSY) and an error message that names the
   function. */
HRESULT handle_enter(enum handle_kind kind, const void *handle, const char *function, void **object);
void handle_leave(const void *handle);
/* Ends a call like handle_leave, and invalidates the handle. */
void handle_close(const void *handle);

#endif
