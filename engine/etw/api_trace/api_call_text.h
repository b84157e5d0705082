/* SPDX-License-Identifier: MIT */
/* Writes a call's arguments and result as text, such as "L\"a.txt\", 0x80000000, 1, NULL". This code runs in the traced
   program during the call. So it avoids C library functions that could themselves be traced, and those that could wait
   for a lock held by the program. */
#ifndef OPENPLA_API_CALL_TEXT_H
#define OPENPLA_API_CALL_TEXT_H

#include "engine/etw/api_trace/api_signatures.h"

#include <stddef.h>
#include <stdint.h>

enum {
    API_STRING_MOST = 64, /* maximum characters of a string argument */
    API_TEXT_ROOM = 384,  /* bytes of the text of all arguments, with its NUL */
    API_RESULT_ROOM = 32,
};

/* How to read a call's arguments and result. */
struct api_registers {
    const uint8_t *xmm0; /* the saved xmm0; xmm1 to xmm3 are 16, 32 and 48 bytes below it. NULL: floating-point values
                            are in `arguments` and `result` */
    bool addresses;      /* write all strings as addresses, because the address of one string is invalid */
};

/* Reads the arguments of a call in a 32-bit program from the stack at `at`; stops at the first structure. `end` is the
   end of the stack; arguments that would be at or after it are 0. */
void api_arguments_read_32(const struct api_signature *signature, const uint32_t *at, const uint32_t *end,
                           uint64_t values[API_ARGUMENTS_MAX]);
/* Writes UTF-8 with a NUL into API_TEXT_ROOM bytes. A text that is too long is cut and ends with "...". `arguments`
   has signature->count values, in the form in which x64 Windows passes them. In 32-bit programs, only the values
   before the first structure are valid, because the structure's size is unknown. Returns the number of bytes,
   including the NUL. */
size_t api_arguments_text(const struct api_signature *signature, const uint64_t *arguments,
                          const struct api_registers *registers, char *out);
/* Writes the result to `out`, which has API_RESULT_ROOM bytes. Returns the number of bytes, including the NUL. */
size_t api_result_text(const struct api_signature *signature, uint64_t result, const struct api_registers *registers,
                       char *out);
/* Returns whether the value `result` means that the call failed. Depending on the type of the result, the values for
   failure are FALSE, the handles NULL and -1, failed HRESULTs, failed NTSTATUS codes, or all error codes except 0. */
bool api_result_failed(const struct api_signature *signature, uint64_t result);

#endif
