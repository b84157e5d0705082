/* SPDX-License-Identifier: MIT */
/* Declares what the two parts of openapitrace.dll share. The parts are the hooks (api_hook_dll.c) and the events
   (api_events_dll.c). The DLL runs in the traced program. */
#ifndef OPENPLA_API_HOOK_H
#define OPENPLA_API_HOOK_H

#include "engine/base/wintypes.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/api_trace/api_call_text.h"
#include "engine/etw/api_trace/api_signatures.h"

/* A function that is or was hooked. It is never freed, because the program can have stored the stub's address anywhere.
   The thunks access the first three members by their offsets. Of the two numbers at such a member, the first is the
   offset in 64-bit programs, and the second is the offset in 32-bit programs. */
struct api_function {
    void *target;         /* offsets 0 and 0: the function that the thunk calls */
    uint32_t stack_words; /* offsets 8 and 4: stack arguments to copy, in words of pointer size; an even number in
                             64-bit programs */
    uint32_t reals;      /* offsets 12 and 8: 1 if the function uses xmm registers (64-bit) or if its result is in st(0)
                            (32-bit) */
    uint32_t generation; /* generation of the latest settings that include the function; slots are hooked only if these
                            settings are the current ones */
    void *real;          /* original value of its slots: `target`, except for GetProcAddress and similar functions */
    uint8_t *stub;
    struct api_function *next; /* next function in the hash bucket */
    bool typed;                /* its signature is known, and a thunk can insert a frame between the caller and the
                                  function */
    struct api_signature signature;
    uint32_t name_bytes; /* bytes of `name`, including the NUL */
    char name[];         /* module!Function */
};

/* Size of the buffer api_frame.text on the thunk's stack: the arguments, the result and the event data after the
   result. */
enum { API_FRAME_ROOM = 0x1C0 };
_Static_assert(API_TEXT_ROOM + API_RESULT_ROOM + 4 + 8 + 8 + 1 <= API_FRAME_ROOM,
               "api_frame.text has room for the event of a function that returns");

#ifdef _WIN64
/* The frame of the code in api_thunks.S. The number at each member is its offset from rbp, in hexadecimal. */
struct api_frame {
    struct api_function *function; /* -88 */
    char *text;                    /* -80 */
    uint64_t since;                /* -78 */
    uint8_t xmm[6][16];            /* -70 xmm5 ... -20 xmm0 */
    uint64_t result;               /* -10 */
    uint64_t r10;
    uint64_t text_bytes; /* +00: bytes of the arguments in `text`, including the NUL; only api_log_enter sets it */
    uint64_t rdi, rsi, rbx, rbp;
    void *caller;          /* +28 */
    uint64_t arguments[4]; /* +30; the arguments on the stack follow */
};
#define API_FRAME_BASE text_bytes
#else
/* The frame of the code in api_thunks_32.S. The number at each member is its offset from ebp, in hexadecimal. */
struct api_frame {
    uint64_t since;                /* -48 */
    uint64_t result;               /* -40 eax, -3C edx */
    uint8_t real[12];              /* -38 st(0), 80 bits */
    uint32_t stack;                /* -2C esp before the call; after the call, the bytes that the function has popped */
    struct api_function *function; /* -28 */
    char *text;                    /* -24 */
    uint32_t text_bytes;           /* -20: bytes of the arguments in `text`, including the NUL; only api_log_enter sets
                                      it */
    uint32_t unused;
    uint32_t edx, ecx;           /* -18 -14 */
    uint32_t eax, edi, esi, ebx; /* -10 -0C -08 -04 */
    uint32_t ebp;                /* 0 */
    void *caller;                /* +04 */
    uint32_t arguments[1];       /* +08 and on */
};
#define API_FRAME_BASE ebp
_Static_assert(offsetof(struct api_frame, ebp) == 0x48, "api_thunks_32.S uses this offset");
#endif
static inline struct api_frame *api_frame_of(uint8_t *base)
{
    return (struct api_frame *)(void *)(base - offsetof(struct api_frame, API_FRAME_BASE));
}

/* Index (below 64) of a TLS slot in the thread's TEB. The slot is 1 while the thread runs our code, whose calls are not
   logged, and 0 in a new thread. */
extern unsigned api_guard_slot;
#ifdef _WIN64
#define TEB_CLIENT_THREAD ((uintptr_t)0x48)
#define TEB_PEB           ((uintptr_t)0x60)
#define TEB_LAST_ERROR    ((uintptr_t)0x68)
#define TEB_TLS_SLOTS     ((uintptr_t)0x1480)
#define TEB_SEGMENT       "%%gs:"
#define TEB_MOVE          "movq "
#else
#define TEB_STACK_BASE    ((uintptr_t)0x04)
#define TEB_CLIENT_THREAD ((uintptr_t)0x24)
#define TEB_PEB           ((uintptr_t)0x30)
#define TEB_LAST_ERROR    ((uintptr_t)0x34)
#define TEB_TLS_SLOTS     ((uintptr_t)0xE10)
#define TEB_SEGMENT       "%%fs:"
#define TEB_MOVE          "movl "
#endif
static inline uintptr_t teb_get(uintptr_t offset)
{
    uintptr_t value;
    __asm__ volatile(TEB_MOVE TEB_SEGMENT "(%1), %0" : "=r"(value) : "r"(offset) : "memory");
    return value;
}
/* Equivalents of GetLastError and SetLastError that call no function. */
static inline uint32_t teb_error(void)
{
    uint32_t value;
    __asm__ volatile("movl " TEB_SEGMENT "(%1), %0" : "=r"(value) : "r"(TEB_LAST_ERROR) : "memory");
    return value;
}
static inline void teb_error_set(uint32_t value)
{
    __asm__ volatile("movl %0, " TEB_SEGMENT "(%1)" : : "r"(value), "r"(TEB_LAST_ERROR) : "memory");
}
static inline uintptr_t api_guard(void)
{
    return teb_get(TEB_TLS_SLOTS + sizeof(uintptr_t) * api_guard_slot);
}
static inline void api_guard_set(uintptr_t value)
{
    __asm__ volatile(TEB_MOVE "%0, " TEB_SEGMENT "(%1)"
                     :
                     : "r"(value), "r"(TEB_TLS_SLOTS + sizeof(uintptr_t) * api_guard_slot)
                     : "memory");
}

/* ---- hooks ---- */

/* DllMain calls this function once. The modules `own` (this DLL) and `events` (openetw.dll) are never hooked. */
bool api_hook_begin(HMODULE own, HMODULE events);
/* Hooks the functions that the settings select. The settings are borrowed until api_hook_remove. Can be called by any
   thread. */
void api_hook_install(const struct api_settings *settings);
void api_hook_remove(void);
/* Stops logging but leaves the hooked slots unchanged. Call it when the process exits. */
void api_hook_abandon(void);

/* ---- events ---- */

/* Loads openetw.dll and finds its functions for writing events. */
bool api_events_begin(HMODULE own, HMODULE *events);
void api_events_end(void);
/* Writes the event about the hooked process and updates the statistics. */
void api_events_hooked(uint32_t functions, uint32_t slots);
void api_events_module(void *base, uint32_t size, const WCHAR *path, size_t units);

/* The thunks call these functions. */
void api_log_name(const struct api_function *function, void *caller);
uint64_t api_log_enter(uint8_t *base);
void api_log_leave(uint8_t *base);
#ifdef _WIN64
EXCEPTION_DISPOSITION api_log_unwound(EXCEPTION_RECORD *record, void *frame, CONTEXT *context, void *dispatcher);
#endif
void api_thunk_names(void);
void api_thunk_arguments(void);
void api_thunk_pass(void);
extern atomic_bool api_logging;

#endif
