/* SPDX-License-Identifier: MIT */
/* The values of logman's options: numbers, times, days, modes. `option` is for the text of a refusal. */
#ifndef OPENPLA_LOGMAN_VALUES_H
#define OPENPLA_LOGMAN_VALUES_H

#include "engine/base/text.h"

/* Decimal, or hexadecimal behind 0x. */
bool logman_number(const char *word, uint64_t *out);
HRESULT logman_u32(const char *option, const char *word, uint32_t *out);
/* Seconds of "ss", "mm:ss", "hh:mm:ss"; parts may be above 59, a fraction may be 0 alone. E_INVALIDARG. */
HRESULT logman_time(const char *option, const char *word, uint32_t *out);
/* "nnnnnn" (or nnnnn) and "mmddhhmm"; *format: a bit of AutoPathFormat. */
bool logman_version(const char *word, uint32_t *format);
/* Whether the word can be one of a moment's: a day, a time of day, AM or PM. */
bool logman_is_moment(const char *word);
/* One to three words: a day (m/d/yyyy, yyyy-mm-dd, dd.mm.yyyy, d/m/yyyy where it can be nothing else), a time of day,
   or both. *day 0: none was said, else a DATE's whole days; *time: -1: none, else a fraction of a day. E_INVALIDARG. */
HRESULT logman_moment(const char *option, const struct texts *words, double *day, double *time);
/* Words and numbers of -mode with '|' between them, as bits of EVENT_TRACE_LOGFILE's LogFileMode. E_INVALIDARG. */
HRESULT logman_mode(const char *words, uint32_t *out);

#endif
