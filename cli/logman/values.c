/* SPDX-License-Identifier: MIT */
#include "cli/logman/values.h"

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/pla/model.h"

#include <stdio.h>
#include <ctype.h>
#include <string.h>

bool logman_number(const char *word, uint64_t *out)
{
    uint64_t value = 0;
    if (word[0] != '0' || (word[1] | 0x20) != 'x')
        return text_to_u64(word, out);
    const char *digit = word + 2;
    for (; isxdigit((unsigned char)*digit); digit++) {
        const unsigned d = (unsigned char)*digit;
        if (value >> 60)
            return false;
        value = value << 4 | (d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
    }
    *out = value;
    return digit != word + 2 && *digit == 0;
}

HRESULT logman_u32(const char *option, const char *word, uint32_t *out)
{
    uint64_t value;
    if (!logman_number(word, &value) || value > UINT32_MAX)
        return error_set(E_INVALIDARG, "-%s: \"%s\" is no whole number from 0 to %u", option, word,
                         (unsigned)UINT32_MAX);
    *out = (uint32_t)value;
    return S_OK;
}

static HRESULT no_time(const char *option, const char *word)
{
    return error_set(E_INVALIDARG, "-%s: \"%s\" is no time; it is seconds, mm:ss or hh:mm:ss", option, word);
}

HRESULT logman_time(const char *option, const char *word, uint32_t *out)
{
    uint64_t seconds = 0;
    const char *at = word;
    for (unsigned parts = 1;; parts++) {
        uint64_t part = 0;
        const char *digit = at;
        for (; *digit >= '0' && *digit <= '9' && part <= UINT32_MAX; digit++)
            part = part * 10 + (uint64_t)(*digit - '0');
        seconds = seconds * 60 + part;
        if (digit == at || part > UINT32_MAX || seconds > UINT32_MAX || parts > 3)
            return no_time(option, word);
        at = digit + 1;
        if (*digit == ':')
            continue;
        /* Programs write whole seconds as "28800.0". */
        if (*digit == '.' && *at)
            digit = at + strspn(at, "0");
        if (*digit != 0)
            return no_time(option, word);
        *out = (uint32_t)seconds;
        return S_OK;
    }
}

bool logman_version(const char *word, uint32_t *format)
{
    enum { SERIAL_NUMBER = 0x200, MONTH_DAY_HOUR_MINUTE = 0x4000 };
    if (text_equal_nocase(word, "nnnnnn") || text_equal_nocase(word, "nnnnn"))
        *format = SERIAL_NUMBER;
    else if (text_equal_nocase(word, "mmddhhmm"))
        *format = MONTH_DAY_HOUR_MINUTE;
    else
        return false;
    return true;
}

/* ---- moments ---- */

static bool is_half_of_day(const char *word)
{
    return text_equal_nocase(word, "AM") || text_equal_nocase(word, "PM");
}

bool logman_is_moment(const char *word)
{
    return is_half_of_day(word) || (*word >= '0' && *word <= '9' && strpbrk(word, ":/-.") != NULL);
}

static bool read_day(const char *word, double *day)
{
    unsigned a, b, c;
    char text[24], end;
    const bool slashes = sscanf(word, "%2u/%2u/%4u%c", &a, &b, &c, &end) == 3;
    const bool points = !slashes && sscanf(word, "%2u.%2u.%4u%c", &a, &b, &c, &end) == 3;
    if (points || (slashes && a > 12))
        snprintf(text, sizeof text, "%u/%u/%u", b, a, c);
    else
        text_fit(text, sizeof text, word);
    return date_from_text(text, day);
}

static bool read_time(const char *word, const char *half, double *time)
{
    char text[40];
    if (strlen(word) + 4 >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%s%s%s", word, half ? " " : "", half ? half : "");
    return time_from_text(text, time);
}

HRESULT logman_moment(const char *option, const struct texts *words, double *day, double *time)
{
    struct texts pieces = {0};
    HRESULT hr = S_OK;
    *day = 0;
    *time = -1;
    /* In quotes they are one word. */
    for (size_t i = 0; i < words->count && SUCCEEDED(hr); i++)
        for (const char *at = words->items[i]; *at && SUCCEEDED(hr); at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");
            char *piece = text_copy_n(at, length);
            hr = piece ? texts_give(&pieces, piece) : E_OUTOFMEMORY;
            at += length;
        }
    bool right = pieces.count != 0;
    for (size_t i = 0; i < pieces.count && right; i++) {
        const char *piece = pieces.items[i], *half = i + 1 < pieces.count ? pieces.items[i + 1] : NULL;
        if (half && !is_half_of_day(half))
            half = NULL;
        if (*day == 0 && *time < 0 && read_day(piece, day))
            continue;
        right = *time < 0 && read_time(piece, half, time);
        i += half != NULL;
    }
    if (SUCCEEDED(hr) && !right)
        hr = error_set(E_INVALIDARG, "-%s: \"%s\" is no day and time; 12/31/2026 11:59:59PM is one", option,
                       words->count ? words->items[0] : "");
    texts_free(&pieces);
    return hr;
}

/* ---- modes ---- */

HRESULT logman_mode(const char *words, uint32_t *out)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } modes[] = {{"sequential", 0x1},
                 {"FILE_MODE_SEQUENTIAL", 0x1},
                 {"circular", 0x2},
                 {"FILE_MODE_CIRCULAR", 0x2},
                 {"append", 0x4},
                 {"FILE_MODE_APPEND", 0x4},
                 {"newfile", 0x8},
                 {"FILE_MODE_NEWFILE", 0x8},
                 {"preallocate", 0x20},
                 {"FILE_MODE_PREALLOCATE", 0x20},
                 {"nonstoppable", 0x40},
                 {"NONSTOPPABLE_MODE", 0x40},
                 {"secure", 0x80},
                 {"SECURE_MODE", 0x80},
                 {"realtime", 0x100},
                 {"REAL_TIME_MODE", 0x100},
                 {"delayopenfile", 0x200},
                 {"DELAY_OPEN_FILE_MODE", 0x200},
                 {"bufferonly", 0x400},
                 {"buffering", 0x400},
                 {"BUFFERING_MODE", 0x400},
                 {"private", 0x800},
                 {"PRIVATE_LOGGER_MODE", 0x800},
                 {"kernelfilter", 0x1000},
                 {"usekbytes", 0x2000},
                 {"USE_KBYTES_FOR_SIZE", 0x2000},
                 {"globalsequence", 0x4000},
                 {"USE_GLOBAL_SEQUENCE", 0x4000},
                 {"localsequence", 0x8000},
                 {"USE_LOCAL_SEQUENCE", 0x8000},
                 {"relog", 0x10000},
                 {"RELOG_MODE", 0x10000},
                 {"privateinproc", 0x20000},
                 {"PRIVATE_IN_PROC", 0x20000},
                 {"pagedmemory", 0x1000000},
                 {"USE_PAGED_MEMORY", 0x1000000},
                 {"systemlogger", 0x2000000},
                 {"SYSTEM_LOGGER_MODE", 0x2000000},
                 {"independent", 0x8000000},
                 {"INDEPENDENT_SESSION_MODE", 0x8000000},
                 {"NO_PER_PROCESSOR_BUFFERING", 0x10000000},
                 {"addtotriagedump", 0x80000000},
                 {"ADDTO_TRIAGE_DUMP", 0x80000000}};
    static const char prefix[] = "EVENT_TRACE_";
    *out = 0;
    for (const char *at = words; *at;) {
        char word[64];
        at += strspn(at, " |");
        size_t length = strcspn(at, "|"), kept = length;
        while (kept && at[kept - 1] == ' ')
            kept--;
        if (kept >= sizeof word)
            return error_set(E_INVALIDARG, "-mode: \"%s\" is none", words);
        memcpy(word, at, kept);
        word[kept] = 0;
        at += length;
        uint64_t bits = 0;
        const char *name = strncmp(word, prefix, sizeof prefix - 1) == 0 ? word + sizeof prefix - 1 : word;
        bool found = kept == 0 || (logman_number(word, &bits) && bits <= UINT32_MAX);
        for (size_t i = 0; i < sizeof modes / sizeof *modes && !found; i++)
            if (text_equal_nocase(modes[i].name, name)) {
                bits = modes[i].bits;
                found = true;
            }
        if (!found)
            return error_set(E_INVALIDARG, "-mode: \"%s\" is none; sequential, circular, newfile, realtime are some",
                             word);
        *out |= (uint32_t)bits;
    }
    return S_OK;
}
