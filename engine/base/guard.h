/* SPDX-License-Identifier: MIT */
/* Code that survives faults: callbacks and addresses of other programs that may be bad, and mapped files that another
   program shortens. Natively there are no exceptions, and a bad address ends the program. */
#ifndef OPENPLA_GUARD_H
#define OPENPLA_GUARD_H

#include "engine/base/os.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum guard_takes { GUARD_TAKES_NONE, GUARD_TAKES_BAD_ADDRESSES, GUARD_TAKES_ALL };

/* Calls call(argument). False: an exception of the kind was raised in it that nobody there took; it has ended at that
   place. One that is not taken goes on to the program's handlers; when they end the call, left(argument) is the last
   of it. `left` may be NULL. */
bool guard_call(void (*call)(void *argument), void *argument, enum guard_takes takes, void (*left)(void *argument));

/* Reads from addresses of the program that cost nothing when the address is good. False: it is bad, and the read has
   not been done. Programs of 32 bits, which have no such tables, use none of them. `context`: what guard_left is given
   in `left`'s place. */
#define GUARDED __attribute__((always_inline)) static inline
#ifdef _WIN64
/* Instruction, place to continue, and function to call, in the table of win32/guard.c, which the frame's handler reads;
   .text is where all code is that reads this way. */
#define GUARDED_INSTRUCTION                                                                                            \
    "    .seh_handler guard_read_handler, @except, @unwind\n"                                                          \
    "    .section .rdata$guard_b,\"dr\"\n"                                                                             \
    "    .rva 1b, %l[bad], guard_left\n"                                                                               \
    "    .long 0\n"                                                                                                    \
    "    .text\n"
#define GUARDED_COPY(bytes, move, scratch)                                                                             \
    GUARDED bool guard_copy_##bytes(uint8_t *to, const uint8_t *from, void *context)                                   \
    {                                                                                                                  \
        __asm__ goto("1:  " move " %1, %%" scratch "\n    " move " %%" scratch ", %0\n" GUARDED_INSTRUCTION            \
                     :                                                                                                 \
                     : "m"(*(uint8_t(*)[bytes])to), "m"(*(const uint8_t(*)[bytes])from), "b"(context)                  \
                     : scratch, "memory"                                                                               \
                     : bad);                                                                                           \
        return true;                                                                                                   \
    bad:                                                                                                               \
        return false;                                                                                                  \
    }
GUARDED_COPY(1, "movb", "al")
GUARDED_COPY(4, "movl", "eax")
GUARDED_COPY(8, "movq", "rax")
GUARDED_COPY(16, "movups", "xmm0")

#define GUARDED_READ(name, type, move)                                                                                 \
    GUARDED bool name(const void *from, type *out, void *context)                                                      \
    {                                                                                                                  \
        type value;                                                                                                    \
        __asm__ goto("1:  " move " %1, %0\n" GUARDED_INSTRUCTION                                                       \
                     : "=r"(value)                                                                                     \
                     : "m"(*(const type *)from), "b"(context)                                                          \
                     :                                                                                                 \
                     : bad);                                                                                           \
        *out = value;                                                                                                  \
        return true;                                                                                                   \
    bad:                                                                                                               \
        return false;                                                                                                  \
    }
GUARDED_READ(guard_read_32, uint32_t, "movl")
GUARDED_READ(guard_read_64, uint64_t, "movq")
#else
#define GUARDED_COPY(bytes)                                                                                            \
    GUARDED bool guard_copy_##bytes(uint8_t *to, const uint8_t *from, void *context)                                   \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        memcpy(to, from, bytes);                                                                                       \
        return true;                                                                                                   \
    }
GUARDED_COPY(1)
GUARDED_COPY(4)
GUARDED_COPY(8)
GUARDED_COPY(16)
#define GUARDED_READ(name, type)                                                                                       \
    GUARDED bool name(const void *from, type *out, void *context)                                                      \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        *out = *(const type *)from;                                                                                    \
        return true;                                                                                                   \
    }
GUARDED_READ(guard_read_32, uint32_t)
GUARDED_READ(guard_read_64, uint64_t)
#endif

/* The program's handlers have ended a call in one of these reads. Who reads defines it (event_write.c). */
void guard_left(void *context);

/* ---- mapped files ----
   Files that are mapped and that another program may shorten. The host ends a program that touches a page behind the
   end of its file, so whoever shortens such a file (a script that tidies up /dev/shm, a full disk that is cleaned by
   hand) would end every program that traces. Instead the fault gives the file its size again, the page reads as zeros,
   and the program goes on at the same instruction; that the content is gone is found by whoever checks it.

   The list is read inside of handlers of faults, at any instruction of any thread: its entries are never freed, only
   used again, and no lock is taken to read it. */

struct mapped_file {
    _Atomic uintptr_t from;  /* 0: not in use */
    _Atomic uintptr_t size;  /* bytes, of the mapping and of the file */
    _Atomic intptr_t file;   /* the host's handle, open for writing */
    _Atomic uint32_t futile; /* faults since the last one after which the file was too short */
    struct mapped_file *next;
};

/* From now on the mapping of `size` bytes at `from` survives that `file` is shortened. Both stay as they are until
   mapped_file_remove. E_OUTOFMEMORY, or the system's reason. */
HRESULT mapped_file_add(void *from, size_t size, intptr_t file, struct mapped_file **out);
void mapped_file_remove(struct mapped_file *m); /* NULL is allowed */
/* In a handler: the mapping that the address lies in; NULL: none of ours. */
struct mapped_file *mapped_file_at(uintptr_t address);

/* By the host: has faults of this process come to mapped_file_at. To be called more than once. */
HRESULT mapped_file_watch(void);

#endif
