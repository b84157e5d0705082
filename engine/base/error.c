/* SPDX-License-Identifier: MIT */
/* Error texts per thread, and the standard English texts of the engine's results. */
#include "engine/base/error.h"

#include "engine/base/debug_trace.h"
#include "engine/base/thread.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef __clang_analyzer__
#undef error_set
#undef error_prefix
#undef error_keep
#undef error_restore
#endif

struct error_state {
    HRESULT hr;
    char text[ERROR_TEXT_BYTES];
    char standard[32];
};

/* Returns this thread's record. While the process exits, only one thread is left, and its own record may already be
   freed, so it uses a static one. */
static struct error_state *own_state(void)
{
    static _Thread_local struct error_state state;
    static struct error_state last;
    return process_is_ending() ? &last : &state;
}

#define WIN32_RESULT(code) ((HRESULT)(0x80070000u | (code)))

static const struct {
    HRESULT hr;
    const char *text;
} standard_texts[] = {
    {S_OK, "success"},
    {S_FALSE, "success, nothing was done"},
    {E_NOTIMPL, "not available"},
    {E_NOINTERFACE, "not supported by this object"},
    {E_POINTER, "a pointer is missing"},
    {E_ABORT, "aborted before it was complete"},
    {E_PENDING, "not done yet, try again later"},
    {E_FAIL, "failed"},
    {E_UNEXPECTED, "not possible in the current state"},
    {E_ACCESSDENIED, "access denied"},
    {E_OUTOFMEMORY, "out of memory"},
    {E_INVALIDARG, "a value is not valid"},
    {DISP_E_BADVARTYPE, "a variant of this type is not accepted"},
    {DISP_E_TYPEMISMATCH, "a value is of the wrong type"},
    {DISP_E_BADINDEX, "no element has this index"},
    {DISP_E_OVERFLOW, "a value is out of range"},
    {WIN32_RESULT(2), "file not found"},
    {WIN32_RESULT(3), "folder not found"},
    {WIN32_RESULT(13), "the data is not valid"},
    {WIN32_RESULT(19), "the disk is write-protected"},
    {WIN32_RESULT(32), "in use by another process"},
    {WIN32_RESULT(33), "locked by another process"},
    {WIN32_RESULT(50), "not supported here"},
    {WIN32_RESULT(53), "the network path was not found"},
    {WIN32_RESULT(80), "the file already exists"},
    {WIN32_RESULT(87), "a parameter is invalid"},
    {WIN32_RESULT(112), "the disk is full"},
    {WIN32_RESULT(123), "the name is not valid"},
    {WIN32_RESULT(126), "module not found"},
    {WIN32_RESULT(127), "function not found"},
    {WIN32_RESULT(145), "the folder is not empty"},
    {WIN32_RESULT(183), "already exists"},
    {WIN32_RESULT(206), "the name is too long"},
    {WIN32_RESULT(223), "the file is too large"},
    {WIN32_RESULT(267), "not a folder"},
    {WIN32_RESULT(1117), "input or output failed"},
    {WIN32_RESULT(1460), "timed out"},
    {WIN32_RESULT(1722), "the server cannot be reached"},
    {WIN32_RESULT(1726), "the server exited, or the connection was lost, before the call returned"},
    {WIN32_RESULT(ERROR_CONNECTION_REFUSED), "no program listens at that port"},
    {WIN32_RESULT(WSAEADDRINUSE), "another program uses this port"},
    {WIN32_RESULT(WSAEADDRNOTAVAIL), "this computer does not have this address"},
    {WIN32_RESULT(ERROR_HOST_UNREACHABLE), "the computer cannot be reached"},
    {WIN32_RESULT(ERROR_CONNECTION_ABORTED), "the connection was closed"},
    {WIN32_RESULT(4200), "no provider has this GUID or name"},
#define RESULT_TEXT(name, number, text) {(HRESULT)(number), text},
#include "engine/base/result_texts.def"
#undef RESULT_TEXT
};

const char *error_standard_text(HRESULT hr)
{
    for (size_t i = 0; i < sizeof(standard_texts) / sizeof(*standard_texts); i++)
        if (standard_texts[i].hr == hr)
            return standard_texts[i].text;
    struct error_state *state = own_state();
    snprintf(state->standard, sizeof(state->standard), "error 0x%08X", (unsigned)hr);
    return state->standard;
}

bool error_is_result(HRESULT hr)
{
    /* The upper halves (severity and facility) of these groups of results: system (E_...), calls between processes
       (RPC_E_...), dispatch, interface (also WMI), Windows errors, statuses of PDH and ETW. */
    static const uint32_t open_facilities[] = {0x8000, 0x8001, 0x8002, 0x8004, 0x8007, 0xC000};
    for (size_t i = 0; i < sizeof open_facilities / sizeof *open_facilities; i++)
        if ((uint32_t)hr >> 16 == open_facilities[i] && (uint32_t)hr << 16)
            return true;
    for (size_t i = 0; i < sizeof standard_texts / sizeof *standard_texts; i++)
        if (standard_texts[i].hr == hr)
            return hr != PLA_S_PROPERTY_IGNORED; /* a call never returns it; it occurs only in validation maps */
    return false;
}

/* Removes an incomplete UTF-8 character at the end of a truncated text. */
static void drop_split_character(char *text)
{
    size_t n = strlen(text), start = n;
    if (n < ERROR_TEXT_BYTES - 1)
        return;
    while (start && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (!start)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    if (lead >= 0xC0 && n - start + 1 < (size_t)(lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2))
        text[start - 1] = 0;
}

static PRINTF_LIKE(2, 0) HRESULT error_set_list(HRESULT hr, const char *format, va_list list)
{
    char text[ERROR_TEXT_BYTES]; /* the arguments may point into the current text */
    vsnprintf(text, sizeof(text), format, list);
    drop_split_character(text);
    struct error_state *state = own_state();
    memcpy(state->text, text, strlen(text) + 1);
    state->hr = hr;
    return hr;
}

HRESULT error_set(HRESULT hr, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    error_set_list(hr, format, list);
    va_end(list);
    TRACE_STEP(base, "error 0x%08X: %s", (unsigned)hr, error_text(hr));
    return hr;
}

HRESULT error_prefix(HRESULT hr, const char *format, ...)
{
    char prefix[ERROR_TEXT_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(prefix, sizeof(prefix), format, list);
    va_end(list);
    drop_split_character(prefix);
    return error_set(hr, "%s: %s", prefix, error_text(hr));
}

const char *error_text(HRESULT hr)
{
    const struct error_state *state = own_state();
    return state->hr == hr && state->text[0] ? state->text : error_standard_text(hr);
}

HRESULT error_latest(void)
{
    return own_state()->hr;
}

void error_clear(void)
{
    struct error_state *state = own_state();
    state->hr = S_OK;
    state->text[0] = 0;
}

struct error_kept error_keep(HRESULT hr)
{
    struct error_kept kept = {.hr = hr};
    snprintf(kept.text, sizeof kept.text, "%s", error_text(hr));
    return kept;
}

HRESULT error_restore(const struct error_kept *kept)
{
    return error_set(kept->hr, "%s", kept->text);
}

HRESULT pdh_error(LONG status, const char *subject)
{
    HRESULT hr = status > 0 ? HRESULT_FROM_WIN32(status) : (HRESULT)status;
    if (SUCCEEDED(hr))
        hr = E_FAIL;
    return error_set(hr, "%s: %s", subject, error_standard_text(hr));
}
