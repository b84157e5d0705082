/* SPDX-License-Identifier: MIT */
/* Checks process events, for both tests of the kernel logger. */
#ifndef OPENPLA_TEST_KERNEL_PROCESS_H
#define OPENPLA_TEST_KERNEL_PROCESS_H

#include "engine/logs/little_endian.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

enum { PROCESS_ID = 8, PROCESS_PARENT = 12, PROCESS_CODE = 20, PROCESS_SID = 36 };

/* Returns ImageFileName of a process event, version 4. */
static inline const char *process_name(const uint8_t *data, uint32_t size)
{
    uint32_t at = PROCESS_SID;
    assert_in_range(size, at + 4, UINT32_MAX);
    at += get_u32(data + at) == 0 ? 4 : 16 + 8 + 4 * data[at + 16 + 1];
    assert_in_range(size, at + 1, UINT32_MAX);
    assert_non_null(memchr(data + at, 0, size - at));
    return (const char *)data + at;
}

/* Compares the name of a process, to ignore the other processes of this machine. For an exited process, Linux reports
   only 15 bytes of it. */
static inline bool process_is_called(const char *name, const char *program)
{
    for (const char *p = program; *p; p++)
        program = *p == '/' || *p == '\\' ? p + 1 : program;
    return strncmp(name, program, 15) == 0;
}

#endif
