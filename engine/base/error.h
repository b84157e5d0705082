/* SPDX-License-Identifier: MIT */
/* Error texts for failing HRESULTs. The function that detects a failure stores the text for its thread, and the COM
   wrapper reports it to the client. */
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

/* Stores a UTF-8 text for this thread's current failure and returns hr, so that a caller can write `return
   error_set(E_INVALIDARG, "SampleInterval: %u is below 1", n);`. The text names the property or file and the value. The
   text is truncated to 1023 bytes. */
HRESULT error_set(HRESULT hr, const char *format, ...) PRINTF_LIKE(2, 3);
/* Prepends the formatted context and ": " to hr's current text, or to hr's standard text if no text is set. */
HRESULT error_prefix(HRESULT hr, const char *format, ...) PRINTF_LIKE(2, 3);
/* Returns the text that this thread last set for exactly this hr, otherwise hr's standard text; never NULL. The text is
   valid until the thread's next error_ call. */
const char *error_text(HRESULT hr);
/* Returns the HRESULT for which this thread last set a text; S_OK if no text is set. */
HRESULT error_latest(void);
/* A failure and its text, saved during cleanup or other calls that may set other texts: `struct error_kept why =
   error_keep(hr); ...; return error_restore(&why);`. Needs no memory and cannot fail. */
struct error_kept {
    HRESULT hr;
    char text[ERROR_TEXT_BYTES]; /* as returned by error_text */
};
struct error_kept error_keep(HRESULT hr);
/* Restores the saved failure as this thread's current one, and returns its hr. */
HRESULT error_restore(const struct error_kept *kept);
/* Sets "subject: meaning" for a failing PDH_STATUS and returns it as an HRESULT. `status` can also be a system error
   code, because some PDH functions return one. */
HRESULT pdh_error(LONG status, const char *subject);
/* Returns a short standard text for hr in English, "error 0x%08X" if hr is unknown. The text is valid until the
   thread's next call. */
const char *error_standard_text(HRESULT hr);
void error_clear(void);
/* Whether a call of OpenPLA can return this result. Such results are S_OK, S_FALSE, and failures of Windows, COM, WMI,
   PDH, PLA or OpenPLA. Used to check results that are read from memory that other processes can write. */
bool error_is_result(HRESULT hr);

/* ---- messages of system codes ----
   The messages are in the host OS's language. Decoded events contain these messages for fields that are codes. */

enum system_message { SYSTEM_MESSAGE_WIN32, SYSTEM_MESSAGE_HRESULT, SYSTEM_MESSAGE_NTSTATUS };

/* Returns the code's message as one line without a line end, in UTF-8, from memory_alloc. NULL: the host OS has no such
   message, or out of memory. */
char *system_message(enum system_message kind, uint32_t code);

#ifdef __clang_analyzer__
/* clang-tidy analyses one file at a time and would assume that these functions may return success for a failure. */
static inline HRESULT error_set_returns(HRESULT returned, HRESULT hr)
{
    (void)returned;
    return hr;
}

static inline struct error_kept error_keep_returns(struct error_kept returned, HRESULT hr)
{
    returned.hr = hr;
    return returned;
}

#define error_set(hr, ...)    error_set_returns(error_set(hr, __VA_ARGS__), hr)
#define error_prefix(hr, ...) error_set_returns(error_prefix(hr, __VA_ARGS__), hr)
#define error_keep(hr)        error_keep_returns(error_keep(hr), hr)
#define error_restore(kept)   error_set_returns(error_restore(kept), (kept)->hr)
#endif

#endif
