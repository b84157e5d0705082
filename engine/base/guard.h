/* SPDX-License-Identifier: MIT */
/* Protects OpenPLA's code from faults: invalid callbacks and addresses from the program that called it, and mapped
   files that another program truncates. The native build has no exceptions, so in this build an invalid address ends
   the program. */
#ifndef OPENPLA_GUARD_H
#define OPENPLA_GUARD_H

#include "engine/base/os.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum guard_takes { GUARD_TAKES_NONE, GUARD_TAKES_BAD_ADDRESSES, GUARD_TAKES_ALL };

/* Calls call(argument). Returns false if the call raised an exception of the kind `takes` and did not handle this
   exception itself; the exception has then ended the call. Other exceptions go to the program's handlers. If one of
   these handlers ends the call, left(argument) is called as the last step. `left` may be NULL. */
bool guard_call(void (*call)(void *argument), void *argument, enum guard_takes takes, void (*left)(void *argument));

/* These functions read from an address that the program has supplied, at no extra cost if the address is valid. False:
   the address is invalid, and nothing was read. 32-bit programs have no exception tables and do not use these
   functions. `context` is passed to guard_left, which has the role of guard_call's `left`. */
#define GUARDED __attribute__((always_inline)) static inline
#ifdef _WIN64
/* Adds an entry to a table that the frame's handler (win32/guard.c) reads. The entry contains the instruction, the
   address at which to continue, and the function to call. All code that reads this way must be in .text. */
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

/* Called if one of the program's exception handlers ends a call during such a read. Each module that makes such reads
   defines this function (for example, in event_write.c). */
void guard_left(void *context);

/* ---- mapped files ----
   Mapped files that another program may shorten. The host OS terminates a program that accesses a mapped page after the
   end of the file. A script that cleans up /dev/shm, or a user who frees space on a full disk, would therefore
   terminate every program that takes part in tracing. To prevent this, the fault handler extends the file to its
   previous size. The page then reads as zeros, and the program continues at the same instruction. Code that checks the
   contents of the file detects that they were lost.

   Fault handlers read the list of mapped files at any instruction of any thread. Therefore the entries of the list are
   reused but never freed, and a reader of the list takes no lock. */

struct mapped_file {
    _Atomic uintptr_t from;  /* 0: not in use */
    _Atomic uintptr_t size;  /* size in bytes of the mapping and of the file */
    _Atomic intptr_t file;   /* the host OS's handle, open for writing */
    _Atomic uint32_t futile; /* successive faults at which the file already had its full size */
    struct mapped_file *next;
};

/* From now on, protects the program from faults in the mapping of `size` bytes at `from` if `file` is truncated.
   Mapping and file must stay valid until mapped_file_remove. Fails with E_OUTOFMEMORY, or with the system's error. */
HRESULT mapped_file_add(void *from, size_t size, intptr_t file, struct mapped_file **out);
void mapped_file_remove(struct mapped_file *m); /* NULL is allowed */
/* Returns the mapping that contains the address, for fault handlers; NULL: no known mapping contains it. */
struct mapped_file *mapped_file_at(uintptr_t address);

/* Installs this process's fault handler, which uses mapped_file_at. May be called more than once. Implemented for each
   host OS. */
HRESULT mapped_file_watch(void);

#endif
