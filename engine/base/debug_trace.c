/* SPDX-License-Identifier: MIT */
/* The trace switch: determines which areas are on, and formats a step as a line. Failed assertions are written in the
   same form. */
#include "engine/base/debug_trace.h"

#include "engine/base/assert.h"
#include "engine/base/base_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <errno.h>
#include <string.h>

#define ALL_AREAS ((2u << DEBUG_AREA_NUMBER_rpc) - 1)
#define PLA_AREAS ((2u << DEBUG_AREA_NUMBER_retention) - (1u << DEBUG_AREA_NUMBER_sets))

enum { LIST_BYTES = 256, PATH_BYTES = 1024, HEAD_BYTES = 96 };
static const uint32_t not_read = UINT32_MAX;

volatile uint32_t debug_trace_areas = UINT32_MAX;

/* The file for the lines. Several threads may open it simultaneously; only one of their handles is kept. */
static intptr_t trace_file = DEBUG_TRACE_NO_FILE;

static const char *area_name(enum debug_area area)
{
    switch (area) {
#define AREA_NAME(name)                                                                                                \
    case DEBUG_AREA_##name:                                                                                            \
        return #name;
        DEBUG_AREAS(AREA_NAME)
#undef AREA_NAME
    }
    return "?";
}

/* Returns the areas that a word of the list names; 0: the word is unknown. */
static uint32_t areas_of_word(const char *word)
{
    if (text_equal_nocase(word, "all"))
        return ALL_AREAS;
    if (text_equal_nocase(word, "pla"))
        return PLA_AREAS;
    for (uint32_t bit = 1; bit & ALL_AREAS; bit <<= 1)
        if (text_equal_nocase(word, area_name((enum debug_area)bit)))
            return bit;
    return 0;
}

/* Returns the areas of a list such as "pdh, run". `unknown` receives the first unknown word, or "". */
static uint32_t areas_of_list(const char *list, char unknown[LIST_BYTES])
{
    uint32_t areas = 0;
    *unknown = 0;
    while (*list) {
        const size_t length = strcspn(list, ", ");
        char word[LIST_BYTES];
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), list);
        const uint32_t found = *word ? areas_of_word(word) : 0;
        if (*word && !found && !*unknown)
            memcpy(unknown, word, sizeof word);
        areas |= found;
        list += length + (list[length] != 0);
    }
    return areas;
}

HRESULT debug_trace_check(const char *list)
{
    static const char names[] = ""
#define NAME_AND_COMMA(name) #name ", "
        DEBUG_AREAS(NAME_AND_COMMA)
#undef NAME_AND_COMMA
        ;
    char unknown[LIST_BYTES];
    if (areas_of_list(list, unknown) && !*unknown)
        return S_OK;
    return error_set(E_INVALIDARG, "unknown trace area '%s' (areas: %spla, all)", unknown, names);
}

/* Reads OPENPLA_TRACE_FILE and replaces "%p" with this process's ID; "" if the variable is not set. */
static void read_file_name(char path[PATH_BYTES])
{
    char set[PATH_BYTES];
    size_t used = 0;
    debug_trace_setting(DEBUG_TRACE_FILE_VARIABLE, set, sizeof set);
    *path = 0;
    for (const char *at = set; *at && used < PATH_BYTES - 12; at++)
        if (at[0] == '%' && at[1] == 'p') {
            used += (size_t)snprintf(path + used, PATH_BYTES - used, "%u", (unsigned)debug_trace_process());
            at++;
        } else {
            path[used++] = *at;
            path[used] = 0;
        }
}

static intptr_t file_of_trace(void)
{
    intptr_t file = __atomic_load_n(&trace_file, __ATOMIC_ACQUIRE), none = DEBUG_TRACE_NO_FILE;
    char path[PATH_BYTES];
    if (file != DEBUG_TRACE_NO_FILE)
        return file;
    read_file_name(path);
    file = debug_trace_open(path);
    if (__atomic_compare_exchange_n(&trace_file, &none, file, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return file;
    if (*path)
        debug_trace_close(file);
    return none;
}

static void write_line(const char *area, const char *format, va_list list) PRINTF_LIKE(2, 0);
static void write_line(const char *area, const char *format, va_list list)
{
    char line[HEAD_BYTES + DEBUG_TRACE_BYTES + 2];
    int head = (int)debug_trace_head(line, HEAD_BYTES);
    head += snprintf(line + head, (size_t)(HEAD_BYTES - head), " %s: ", area);
    int body = vsnprintf(line + head, DEBUG_TRACE_BYTES + 1, format, list);
    body = body < 0 ? 0 : body > DEBUG_TRACE_BYTES ? DEBUG_TRACE_BYTES : body;
    for (char *at = line + head; at < line + head + body; at++)
        if ((unsigned char)*at < ' ')
            *at = ' '; /* a step is one line, even if its strings contain line ends */
    line[head + body] = '\n';
    debug_trace_write(file_of_trace(), line, (size_t)(head + body) + 1);
}

static void write_warning(const char *area, const char *format, ...) PRINTF_LIKE(2, 3);
static void write_warning(const char *area, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_line(area, format, list);
    va_end(list);
}

#if OPENPLA_ASSERTS
void assert_failed(const char *claim, const char *file, int line)
{
    write_warning("assert", "%s:%d: assertion '%s' failed", file, line, claim);
    debug_trace_end_process(ASSERT_EXIT_CODE);
}
#endif

static uint32_t read_areas(void)
{
    char list[LIST_BYTES], unknown[LIST_BYTES];
    debug_trace_setting(DEBUG_TRACE_VARIABLE, list, sizeof list);
    const uint32_t areas = areas_of_list(list, unknown);
    debug_trace_areas = areas;
    if (*unknown)
        write_warning("trace", "unknown trace area '%s' in " DEBUG_TRACE_VARIABLE, unknown);
    return areas;
}

void debug_trace_step(enum debug_area area, const char *format, ...)
{
    const int error = errno;
    const uint32_t last_error = debug_trace_last_error();
    uint32_t areas = debug_trace_areas;
    if (areas == not_read)
        areas = read_areas();
    if (areas & area) {
        va_list list;
        va_start(list, format);
        write_line(area_name(area), format, list);
        va_end(list);
    }
    debug_trace_restore_last_error(last_error);
    errno = error;
}
