/* SPDX-License-Identifier: MIT */
/* Shared by the functions of libopenpla-logs: handles, and the result of a call. */
#ifndef OPENPLA_LIBRARY_H
#define OPENPLA_LIBRARY_H

#include "engine/base/text.h"
#include "library/include/openpla/logs.h"

/* ---- the result of a call ---- */

/* Ends a public function: keeps the reason of a failure for openpla_error. */
openpla_result library_result(HRESULT hr);
/* Makes sure that the reason names the object: adds "cannot <verb> '<name>': " if the name is not in it. */
HRESULT library_name_error(HRESULT hr, const char *verb, const char *name);
/* The name of a log for messages when memory is out: "SQL:..." for a database, whose name may contain a password. */
const char *library_short_name(const char *path);
/* Checks an argument of a public function that must not be NULL. */
HRESULT library_check_pointer(const void *pointer, const char *function, const char *argument);
/* Checks a string of the caller: UTF-8, not NULL unless `may_be_null`. */
HRESULT library_check_text(const char *text, bool may_be_null, const char *function, const char *argument);
/* Checks the `size` of a structure of options and copies it over *own, whose other bytes stay (zeros, defaults). A
   larger structure, of a newer header, must be zero where this library knows no members. NULL is allowed. */
HRESULT library_take_options(const void *options, void *own, size_t size, const char *function);

/* ---- handles ---- */

enum handle_kind { HANDLE_LOG = 1, HANDLE_WRITER, HANDLE_TRACE };

/* *out is the new handle of an object. */
HRESULT handle_open(enum handle_kind kind, void *object, void **out);
/* Begins a call: *object is the handle's, and no other call has it until handle_leave. HRESULTs of ERROR_INVALID_HANDLE
   and ERROR_BUSY with a text that names the function. */
HRESULT handle_enter(enum handle_kind kind, const void *handle, const char *function, void **object);
void handle_leave(const void *handle);
/* Instead of handle_leave: the handle is invalid from now on. */
void handle_close(const void *handle);

#endif
