/* SPDX-License-Identifier: MIT */
/* The error text that belongs to a failing HRESULT, kept per thread from the place that knows it to the COM wrapper. */
#ifndef OPENPLA_ERROR_H
#define OPENPLA_ERROR_H

#include "engine/base/wintypes.h"

#include <stdint.h>

#ifdef __GNUC__
#define PRINTF_LIKE(f, a) __attribute__((format(gnu_printf, f, a)))
#ifdef __clang__
#undef PRINTF_LIKE
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#endif
#else
#define PRINTF_LIKE(f, a)
#endif

#define ERROR_TEXT_BYTES 1024

/* Remembers a UTF-8 text for this thread's current failure and returns hr, so that a caller writes
   `return error_set(E_INVALIDARG, "SampleInterval: %u is below 1", n);`. Cut at 1023 bytes. The text names the
   property or file and the value. */
HRESULT error_set(HRESULT hr, const char *format, ...) PRINTF_LIKE(2, 3);
/* Puts "context: " before the present text of hr (or before the standard text of hr if it has none). */
HRESULT error_prefix(HRESULT hr, const char *format, ...) PRINTF_LIKE(2, 3);
/* The text set last by this thread for exactly this hr; else a standard text for hr; never NULL. Borrowed until the
   thread's next error_ call. */
const char *error_text(HRESULT hr);
/* A failure and its text, saved while other calls, which may fail with other texts, clean up or continue: `struct
 * error_kept why = error_keep(hr); ...; return error_restore(&why);`. Needs no memory and cannot fail. */
struct error_kept {
    HRESULT hr;
    char text[ERROR_TEXT_BYTES]; /* as error_text gives it */
};
struct error_kept error_keep(HRESULT hr);
/* Makes it the thread's failure again; returns its hr. */
HRESULT error_restore(const struct error_kept *kept);
/* Sets "subject: what it means" for a failing PDH_STATUS and returns it as an HRESULT. Some of PDH's functions answer
   with a plain system error code. */
HRESULT pdh_error(LONG status, const char *subject);
/* A short standard English text for hr, "error 0x%08X" when unknown. Borrowed: valid until the thread's next call. */
const char *error_standard_text(HRESULT hr);
void error_clear(void);
/* Whether a call here can have had this result: S_OK, S_FALSE, or a failure that is Windows', COM's, WMI's, PDH's or
   one of PLA's and ours. For what was read from memory that others can write to. */
bool error_is_result(HRESULT hr);

/* ---- messages of system codes ----
   In the language of the host OS, as events that carry such a code are shown. */

enum system_message { SYSTEM_MESSAGE_WIN32, SYSTEM_MESSAGE_HRESULT, SYSTEM_MESSAGE_NTSTATUS };

/* One line without its end, UTF-8, from memory_alloc; NULL: the host has none, or memory is out. */
char *system_message(enum system_message kind, uint32_t code);

#endif
