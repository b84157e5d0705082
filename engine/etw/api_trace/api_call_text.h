/* SPDX-License-Identifier: MIT */
/* A call's arguments and result as text, written in the traced program at the call: "L\"a.txt\", 0x80000000, 1, NULL".
   Uses nothing of the C library that a program could have traced or locked. */
#ifndef OPENPLA_API_CALL_TEXT_H
#define OPENPLA_API_CALL_TEXT_H

#include "engine/etw/api_trace/api_signatures.h"

#include <stddef.h>
#include <stdint.h>

enum {
    API_STRING_MOST = 64, /* characters of a string argument */
    API_TEXT_ROOM = 384,  /* bytes of the text of all arguments, with its NUL */
    API_RESULT_ROOM = 32,
};

/* How a call's arguments are read, and the registers that floating point arguments and results are in. */
struct api_registers {
    const uint8_t *xmm0; /* xmm1 is 16 bytes below, and so on to xmm3; NULL: they are in `arguments` and `result` */
    bool addresses;      /* strings read as their addresses: one of them is invalid */
};

/* Writes UTF-8 with a NUL into API_TEXT_ROOM bytes; what does not fit is replaced by "...". `arguments` has
   signature->count values, as Windows' x64 calls have them; in 32-bit programs those up to the first structure, whose
   size is unknown. Returns the bytes with the NUL. */
size_t api_arguments_text(const struct api_signature *signature, const uint64_t *arguments,
                          const struct api_registers *registers, char *out);
/* The result, into API_RESULT_ROOM bytes. Returns the bytes with the NUL. */
size_t api_result_text(const struct api_signature *signature, uint64_t result, const struct api_registers *registers,
                       char *out);
/* Whether the result's type reserves this value for failure: FALSE, a handle that is NULL or -1, a failed HRESULT or
   NTSTATUS, an error code. */
bool api_result_failed(const struct api_signature *signature, uint64_t result);

#endif
