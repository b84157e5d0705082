/* SPDX-License-Identifier: MIT */
/* Texts of values that are more than a number: times, addresses, identifiers. Each adds to a text. */
#ifndef OPENPLA_VALUE_FORMS_H
#define OPENPLA_VALUE_FORMS_H

#include "engine/base/clock.h"
#include "engine/base/text.h"

enum { DATE_TIME_TEXT = 24 };
/* "2026-12-31T23:59:59." at `at`, behind which it returns; without a NUL. */
char *put_date_time(char at[DATE_TIME_TEXT], const struct calendar_time *t);

void add_guid(struct text_buffer *out, const uint8_t bytes[16]);          /* braced, lower case */
void add_filetime(struct text_buffer *out, int64_t filetime);             /* xs:dateTime with 9 digits, UTC */
void add_system_time(struct text_buffer *out, const uint8_t bytes[16]);   /* as it stands there, in the same form */
void add_sid(struct text_buffer *out, const uint8_t *bytes, size_t size); /* S-1-...; `size` is that of a whole one */
void add_ipv4(struct text_buffer *out, const uint8_t bytes[4]);
void add_ipv6(struct text_buffer *out, const uint8_t bytes[16]); /* RFC 5952 */
/* SOCKADDR_IN or _IN6 with its port; of another family, or cut short, the bytes. */
void add_socket_address(struct text_buffer *out, const uint8_t *bytes, size_t size);
void add_hex(struct text_buffer *out, const uint8_t *bytes, size_t size); /* 0x and two digits a byte */
/* The fewest digits, 6 or more, that read back as the same number. */
void add_real(struct text_buffer *out, double value, bool is_float);
void add_real_of_six_decimals(struct text_buffer *out, double value);

#endif
