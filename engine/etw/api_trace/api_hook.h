/* SPDX-License-Identifier: MIT */
/* Inside openapitrace.dll, in the traced program: the hooked functions (api_hook_dll.c) and the events
   (api_events_dll.c). */
#ifndef OPENPLA_API_HOOK_H
#define OPENPLA_API_HOOK_H

#include "engine/base/wintypes.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/api_trace/api_call_text.h"
#include "engine/etw/api_trace/api_signatures.h"

/* A function that is or was hooked. Lives as long as the process: the program may keep its stub anywhere. The thunks
   know the first three members by their offsets in a 64-bit program, and in a 32-bit one. */
struct api_function {
    void *target;         /* 0, 0: what the stub leads to */
    uint32_t stack_words; /* 8, 4: to copy; even in 64-bit programs */
    uint32_t reals;       /* 12, 8: it uses xmm registers; in 32-bit programs, the result is in st(0) */
    uint32_t generation;  /* of the settings that include it; else it is not put into slots */
    void *real;           /* what a slot holds that is not hooked; differs from `target` for GetProcAddress */
    uint8_t *stub;
    struct api_function *next; /* of the same hash */
    bool typed;                /* has a signature, and a frame may come before it */
    struct api_signature signature;
    uint32_t name_bytes; /* with the NUL */
    char name[];         /* module!Function */
};

/* Bytes of the thunks at api_frame.text: the arguments, the result, and what follows it in the event. */
enum { API_FRAME_ROOM = 0x1C0 };
_Static_assert(API_TEXT_ROOM + API_RESULT_ROOM + 4 + 8 + 8 + 1 <= API_FRAME_ROOM, "the whole event of a return");

#ifdef _WIN64
/* What the code in api_thunks.S saves, by distance from its rbp. */
struct api_frame {
    struct api_function *function; /* -88 */
    char *text;                    /* -80 */
    uint64_t since;                /* -78 */
    uint8_t xmm[6][16];            /* -70 xmm5 ... -20 xmm0 */
    uint64_t result;               /* -10 */
    uint64_t r10;
    uint64_t text_bytes; /* +00: of `text`, with the NUL; only written by api_log_enter */
    uint64_t rdi, rsi, rbx, rbp;
    void *caller;          /* +28 */
    uint64_t arguments[4]; /* +30; those on the stack follow */
};
#define API_FRAME_BASE text_bytes
#else
/* What the code in api_thunks_32.S saves, by distance from its ebp. */
struct api_frame {
    uint64_t since;                /* -48 */
    uint64_t result;               /* -40 eax, -3C edx */
    uint8_t real[12];              /* -38 st(0), 80 bits */
    uint32_t stack;                /* -2C esp before the call, then the bytes that the function has popped */
    struct api_function *function; /* -28 */
    char *text;                    /* -24 */
    uint32_t text_bytes;           /* -20: of `text`, with the NUL; only written by api_log_enter */
    uint32_t unused;
    uint32_t edx, ecx;           /* -18 -14 */
    uint32_t eax, edi, esi, ebx; /* -10 -0C -08 -04 */
    uint32_t ebp;                /* 0 */
    void *caller;                /* +04 */
    uint32_t arguments[1];       /* +08 and on */
};
#define API_FRAME_BASE ebp
_Static_assert(offsetof(struct api_frame, ebp) == 0x48, "as api_thunks_32.S has it");
#endif
static inline struct api_frame *api_frame_of(uint8_t *base)
{
    return (struct api_frame *)(void *)(base - offsetof(struct api_frame, API_FRAME_BASE));
}

/* The thread's slot in the TEB, below 64: 1 while it runs our code, whose calls are not logged. Zero in a new thread.
 */
extern unsigned api_guard_slot;
#ifdef _WIN64
#define TEB_CLIENT_THREAD ((uintptr_t)0x48)
#define TEB_PEB           ((uintptr_t)0x60)
#define TEB_LAST_ERROR    ((uintptr_t)0x68)
#define TEB_TLS_SLOTS     ((uintptr_t)0x1480)
#define TEB_SEGMENT       "%%gs:"
#define TEB_MOVE          "movq "
#else
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
/* GetLastError and SetLastError, without a call. */
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

/* Called once, in DllMain. */
bool api_hook_begin(HMODULE own, HMODULE events);
/* Hooks by the settings, which are borrowed until api_hook_remove. From any thread. */
void api_hook_install(const struct api_settings *settings);
void api_hook_remove(void);
/* No calls are logged from here on; the slots stay. For a process that ends. */
void api_hook_abandon(void);

/* ---- events ---- */

/* Loads openetw.dll and registers the event provider. */
bool api_events_begin(HMODULE own, HMODULE *events);
void api_events_end(void);
/* Reports what api_hook_install did. */
void api_events_hooked(uint32_t functions, uint32_t slots);
void api_events_module(void *base, uint32_t size, const WCHAR *path, size_t units);

/* Called by the thunks. */
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
