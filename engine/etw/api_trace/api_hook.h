/* SPDX-License-Identifier: MIT */
/* Inside openapitrace.dll, in the traced program: the hooked functions (api_hook_dll.c) and the events
   (api_events_dll.c). */
#ifndef OPENPLA_API_HOOK_H
#define OPENPLA_API_HOOK_H

#include "engine/base/wintypes.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/api_trace/api_signatures.h"

/* A function that is or was hooked. Lives as long as the process: the program may keep its stub anywhere. */
struct api_function {
    void *target;         /* offset 0, for the thunks: what the stub leads to */
    uint32_t stack_words; /* offset 8, for the thunks: even */
    uint32_t generation;  /* of the settings that include it; else it is not put into slots */
    void *real;           /* what a slot holds that is not hooked; differs from `target` for GetProcAddress */
    uint8_t *stub;
    struct api_function *next; /* of the same hash */
    bool typed;                /* has a signature, and a frame may come before it */
    struct api_signature signature;
    uint32_t name_bytes; /* with the NUL */
    char name[];         /* module!Function */
};

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
static inline struct api_frame *api_frame_of(uint8_t *rbp)
{
    return (struct api_frame *)(void *)(rbp - offsetof(struct api_frame, text_bytes));
}

/* The thread's slot in the TEB, below 64: 1 while it runs our code, whose calls are not logged. Zero in a new thread.
 */
extern unsigned api_guard_slot;
#define TEB_CLIENT_THREAD UINT64_C(0x48)
#define TEB_PEB           UINT64_C(0x60)
#define TEB_LAST_ERROR    UINT64_C(0x68)
#define TEB_TLS_SLOTS     UINT64_C(0x1480)
static inline uint64_t teb_get(uint64_t offset)
{
    uint64_t value;
    __asm__ volatile("movq %%gs:(%1), %0" : "=r"(value) : "r"(offset) : "memory");
    return value;
}
/* GetLastError and SetLastError, without a call. */
static inline uint32_t teb_error(void)
{
    uint32_t value;
    __asm__ volatile("movl %%gs:(%1), %0" : "=r"(value) : "r"(TEB_LAST_ERROR) : "memory");
    return value;
}
static inline void teb_error_set(uint32_t value)
{
    __asm__ volatile("movl %0, %%gs:(%1)" : : "r"(value), "r"(TEB_LAST_ERROR) : "memory");
}
static inline uint64_t api_guard(void)
{
    return teb_get(TEB_TLS_SLOTS + 8 * (uint64_t)api_guard_slot);
}
static inline void api_guard_set(uint64_t value)
{
    __asm__ volatile("movq %0, %%gs:(%1)" : : "r"(value), "r"(TEB_TLS_SLOTS + 8 * (uint64_t)api_guard_slot) : "memory");
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
uint64_t api_log_enter(uint8_t *rbp);
void api_log_leave(uint8_t *rbp);
EXCEPTION_DISPOSITION api_log_unwound(EXCEPTION_RECORD *record, void *frame, CONTEXT *context, void *dispatcher);
void api_thunk_names(void);
void api_thunk_arguments(void);
void api_thunk_pass(void);
extern atomic_bool api_logging;

#endif
