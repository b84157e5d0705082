/* SPDX-License-Identifier: MIT */
/* Writes the events of openapitrace.dll. Loads the settings when an API tracing session enables the event provider, and
   logs the calls.

   Several sessions can enable the event provider, each for a different program. This process logs only to the first
   session that traces its program, and uses EventWriteEx's filter of session instances to withhold its events from the
   other sessions. Each enable callback passes the filters of all sessions that still enable the event provider. The
   process then chooses a session again. It keeps its current session if the filter of that session is still among these
   filters. */
#include "engine/base/guard.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/etw/api_trace/api_call_text.h"
#include "engine/etw/api_trace/api_hook.h"

#include <windows.h>
#include <evntprov.h>
#include <string.h>

enum { STRIPES = 64, STRIPE_BATCH = 1024, MOST_FILTERS = 64, API_NAME_MOST = 384 };

typedef ULONG(WINAPI *register_function)(LPCGUID, PENABLECALLBACK, PVOID, PREGHANDLE);
typedef ULONG(WINAPI *write_function)(REGHANDLE, PCEVENT_DESCRIPTOR, ULONG, PEVENT_DATA_DESCRIPTOR);
typedef ULONG(WINAPI *write_ex_function)(REGHANDLE, PCEVENT_DESCRIPTOR, ULONG64, ULONG, LPCGUID, LPCGUID, ULONG,
                                         PEVENT_DATA_DESCRIPTOR);

static REGHANDLE registration;
static write_function event_write;
static write_ex_function event_write_ex;
unsigned api_guard_slot;
atomic_bool api_logging;

/* The session to which calls are logged now, and its settings. Only the enable callback changes these members. */
static struct {
    bool active;
    struct api_filter filter;
    struct api_settings settings;
    struct section *section;
    atomic_uint_least64_t others; /* instances of the sessions that must not receive events */
} tracing;
static struct api_statistics *_Atomic statistics;
static uint64_t nanoseconds_multiplier; /* nanoseconds per cycle, with 32 fractional bits */

/* Number of calls, in stripes. The id of a thread selects the stripe that counts the calls of the thread, so that
   threads do not contend for one cache line. */
static struct {
    _Alignas(64) atomic_uint_least64_t calls;
} stripes[STRIPES];
static atomic_uint_least64_t unwound;

#define DESCRIPTOR(id, opcode, task, keyword)                                                                          \
    {                                                                                                                  \
        id, 0, 0, 4, opcode, task, keyword                                                                             \
    }
static const EVENT_DESCRIPTOR event_start = DESCRIPTOR(API_EVENT_START, 1, 1, 1),
                              event_module = DESCRIPTOR(API_EVENT_MODULE, 0, 2, 1),
                              event_call = DESCRIPTOR(API_EVENT_CALL, 0, 3, 2),
                              event_return = DESCRIPTOR(API_EVENT_RETURN, 0, 3, 2);
#ifdef _WIN64
static const EVENT_DESCRIPTOR event_unwound = DESCRIPTOR(API_EVENT_UNWOUND, 0, 3, 2);
#endif

/* Called if one of the program's exception handlers ends a guarded read (guard.h). The reads in this DLL have nothing
   to release. */
void guard_left(void *context)
{
    (void)context;
}

static void write_event(const EVENT_DESCRIPTOR *e, ULONG count, EVENT_DATA_DESCRIPTOR *data)
{
    const uint64_t others = atomic_load_explicit(&tracing.others, memory_order_relaxed);
    if (others)
        event_write_ex(registration, e, others, 0, NULL, NULL, count, data);
    else
        event_write(registration, e, count, data);
}

static void put_data(EVENT_DATA_DESCRIPTOR *d, const void *data, size_t size)
{
    d->Ptr = (uintptr_t)data;
    d->Size = (ULONG)size;
    d->Reserved = 0;
}

/* ---- calls ---- */

static void count_call(void)
{
    const uint64_t n =
        atomic_fetch_add_explicit(&stripes[teb_get(TEB_CLIENT_THREAD) / 4 % STRIPES].calls, 1, memory_order_relaxed) +
        1;
    struct api_statistics *s = n % STRIPE_BATCH ? NULL : statistics;
    if (s)
        atomic_fetch_add(&s->calls, STRIPE_BATCH);
}

void api_log_name(const struct api_function *function, void *caller)
{
    if (api_guard() || !atomic_load_explicit(&api_logging, memory_order_relaxed))
        return;
    EVENT_DATA_DESCRIPTOR data[2];
    const uint32_t error = teb_error();
    api_guard_set(1);
    count_call();
    put_data(&data[0], function->name, function->name_bytes);
    put_data(&data[1], &caller, sizeof caller);
    write_event(&event_call, 2, data);
    teb_error_set(error);
    api_guard_set(0);
}

#ifdef _WIN64
static void put_arguments(struct api_frame *frame)
{
    const struct api_registers registers = {.xmm0 = frame->xmm[5]};
    frame->text_bytes = api_arguments_text(&frame->function->signature, frame->arguments, &registers, frame->text);
}

static uint64_t result_of(const struct api_frame *frame, struct api_registers *registers)
{
    registers->xmm0 = frame->xmm[5];
    return frame->result;
}
#else
struct arguments_32 {
    struct api_frame *frame;
    struct api_registers registers;
    uint64_t values[API_ARGUMENTS_MAX];
};

static void put_text_32(void *argument)
{
    const struct arguments_32 *a = argument;
    a->frame->text_bytes =
        (uint32_t)api_arguments_text(&a->frame->function->signature, a->values, &a->registers, a->frame->text);
}

/* Writes the arguments as text. The strings are read in a guard_call, because 32-bit programs have no table of guarded
   instructions. If the address of one string is invalid, all strings are written as addresses. */
static void put_arguments(struct api_frame *frame)
{
    struct arguments_32 a;
    a.frame = frame;
    a.registers = (struct api_registers){.xmm0 = NULL};
    api_arguments_read_32(&frame->function->signature, frame->arguments, (const uint32_t *)teb_get(TEB_STACK_BASE),
                          a.values);
    if (guard_call(put_text_32, &a, GUARD_TAKES_BAD_ADDRESSES, NULL))
        return;
    a.registers.addresses = true;
    put_text_32(&a);
}

/* Returns the result. The thunk has saved st(0), which contains floating-point results. */
static uint64_t result_of(const struct api_frame *frame, struct api_registers *registers)
{
    uint64_t bits = 0;
    long double real;
    (void)registers;
    if (!frame->function->reals)
        return api_words_32(frame->function->signature.result) == 2 ? frame->result : (uint32_t)frame->result;
    memcpy(&real, frame->real, sizeof real);
    if (frame->function->signature.result == API_FLOAT)
        memcpy(&bits, &(float){(float)real}, sizeof(float));
    else
        memcpy(&bits, &(double){(double)real}, sizeof(double));
    return bits;
}
#endif

static uint64_t nanoseconds_of(uint64_t cycles)
{
#ifdef __SIZEOF_INT128__
    return (uint64_t)((unsigned __int128)cycles * nanoseconds_multiplier >> 32);
#else
    const uint64_t low = (uint32_t)nanoseconds_multiplier, high = nanoseconds_multiplier >> 32;
    return cycles * high + (cycles >> 32) * low + ((uint32_t)cycles * low >> 32);
#endif
}

uint64_t api_log_enter(uint8_t *base)
{
    if (api_guard() || !atomic_load_explicit(&api_logging, memory_order_relaxed))
        return 0;
    const uint32_t error = teb_error();
    api_guard_set(1);
    count_call();
    put_arguments(api_frame_of(base));
    teb_error_set(error);
    api_guard_set(0);
    return __builtin_ia32_rdtsc() | 1;
}

static uint8_t *put_bytes(uint8_t *at, const void *from, size_t size)
{
    memcpy(at, from, size);
    return at + size;
}

void api_log_leave(uint8_t *base)
{
    const uint64_t now = __builtin_ia32_rdtsc();
    const struct api_frame *frame = api_frame_of(base);
    const struct api_function *f = frame->function;
    if (api_guard() || !atomic_load_explicit(&api_logging, memory_order_relaxed))
        return;
    struct api_registers registers = {.xmm0 = NULL};
    const uint32_t error = teb_error();
    const uint64_t duration = nanoseconds_of(now > frame->since ? now - frame->since : 0);
    EVENT_DATA_DESCRIPTOR data[2];
    api_guard_set(1);
    const uint64_t value = result_of(frame, &registers);
    const uint8_t failed = api_result_failed(&f->signature, value);
    /* Write the rest of the event after the arguments. API_FRAME_ROOM includes room for the whole event. */
    char *result = frame->text + frame->text_bytes;
    uint8_t *at = (uint8_t *)result + api_result_text(&f->signature, value, &registers, result);
    at = put_bytes(at, &error, sizeof error);
    at = put_bytes(at, &duration, sizeof duration);
    at = put_bytes(at, &frame->caller, sizeof frame->caller);
    at = put_bytes(at, &failed, sizeof failed);
    put_data(&data[0], f->name, f->name_bytes);
    put_data(&data[1], frame->text, (size_t)(at - (uint8_t *)frame->text));
    write_event(&event_return, 2, data);
    teb_error_set(error);
    api_guard_set(0);
}

#ifdef _WIN64
/* The unwind handler of api_thunk_arguments: logs that an exception or longjmp left the function. 32-bit programs have
   no such handler: an exception thrown by code that MinGW compiled would leave the handler in the thread's list of
   handlers. */
EXCEPTION_DISPOSITION api_log_unwound(EXCEPTION_RECORD *record, void *establisher, CONTEXT *context, void *dispatcher)
{
    enum { RBP = 0xB0 }; /* .seh_setframe */
    struct api_frame *frame = api_frame_of((uint8_t *)establisher + RBP);
    EVENT_DATA_DESCRIPTOR data[3];
    (void)record;
    (void)context;
    (void)dispatcher;
    if (!frame->since || api_guard() || !atomic_load_explicit(&api_logging, memory_order_relaxed))
        return ExceptionContinueSearch;
    const uint32_t error = teb_error();
    api_guard_set(1);
    atomic_fetch_add(&unwound, 1);
    put_data(&data[0], frame->function->name, frame->function->name_bytes);
    put_data(&data[1], frame->text, frame->text_bytes);
    put_data(&data[2], &frame->caller, sizeof frame->caller);
    write_event(&event_unwound, 3, data);
    teb_error_set(error);
    api_guard_set(0);
    return ExceptionContinueSearch;
}
#endif

/* ---- processes and modules ---- */

static size_t units_of(const WCHAR *text)
{
    return (lstrlenW(text) + (size_t)1) * sizeof(WCHAR);
}

void api_events_hooked(uint32_t functions, uint32_t slots)
{
    static WCHAR path[32768];
    const WCHAR *line = GetCommandLineW();
    const uint8_t pointer = sizeof(void *);
    EVENT_DATA_DESCRIPTOR data[5];
    struct api_statistics *s = statistics;
    if (!GetModuleFileNameW(NULL, path, 32767))
        path[0] = 0;
    put_data(&data[0], path, units_of(path));
    put_data(&data[1], line, units_of(line) < 32768 ? units_of(line) : sizeof(WCHAR));
    put_data(&data[2], &functions, sizeof functions);
    put_data(&data[3], &slots, sizeof slots);
    put_data(&data[4], &pointer, sizeof pointer);
    if (units_of(line) >= 32768)
        put_data(&data[1], L"", sizeof(WCHAR));
    write_event(&event_start, 5, data);
    if (s) {
        atomic_fetch_add(&s->processes, 1);
        atomic_store(&s->functions, functions);
    }
}

void api_events_module(void *base, uint32_t size, const WCHAR *path, size_t units)
{
    const WCHAR end = 0;
    EVENT_DATA_DESCRIPTOR data[4];
    put_data(&data[0], &base, sizeof base);
    put_data(&data[1], &size, sizeof size);
    put_data(&data[2], path, units * sizeof(WCHAR));
    put_data(&data[3], &end, sizeof end);
    write_event(&event_module, 4, data);
}

/* ---- settings ---- */

/* Updates the statistics for the last time: adds the calls that have been counted only in the stripes. */
static void publish_rest(void)
{
    uint64_t rest = 0;
    struct api_statistics *s = atomic_exchange(&statistics, NULL);
    for (int i = 0; i < STRIPES; i++)
        rest += atomic_exchange(&stripes[i].calls, 0) % STRIPE_BATCH;
    if (s) {
        atomic_fetch_add(&s->calls, rest);
        atomic_fetch_add(&s->unwound, atomic_exchange(&unwound, 0));
    }
}

static void tracing_stop(void)
{
    if (!tracing.active)
        return;
    api_hook_remove();
    publish_rest();
    tracing.active = false;
}

static bool is_own_program(const char *program)
{
    static WCHAR path[32768];
    const DWORD units = GetModuleFileNameW(NULL, path, 32768);
    char *text = NULL;
    const bool same = units && units < 32768 && SUCCEEDED(text_from_utf16(path, units, true, &text)) &&
                      text_equal_nocase(text, program);
    memory_free(text);
    return same;
}

/* Reads the settings from the section that a filter names. Returns false if the section does not exist, if its settings
   were changed, or if its settings are for another program. */
static bool settings_load(const struct api_filter *filter, struct api_settings *out, struct section **section)
{
    const size_t size = API_SECTION_SETTINGS + (size_t)filter->size;
    bool good = false;
    if (filter->size > API_SETTINGS_MAX ||
        FAILED(section_open(&(struct shared){.name = filter->section}, size, section)))
        return false;
    uint8_t *copy = memory_alloc(filter->size + (size_t)1);
    if (copy) {
        memcpy(copy, (uint8_t *)section_memory(*section) + API_SECTION_SETTINGS, filter->size);
        good = api_settings_hash(copy, filter->size) == filter->hash &&
               SUCCEEDED(api_settings_read(copy, filter->size, out));
        if (good && !is_own_program(out->program)) {
            api_settings_free(out);
            good = false;
        }
    }
    memory_free(copy);
    if (!good)
        section_close(*section);
    return good;
}

static void tracing_start(const struct api_filter *filter)
{
    struct api_settings s;
    struct section *section;
    if (tracing.active && memcmp(&tracing.filter, filter, sizeof *filter) == 0)
        return;
    if (!settings_load(filter, &s, &section))
        return;
    tracing_stop();
    api_settings_free(&tracing.settings);
    section_close(tracing.section);
    tracing.filter = *filter;
    tracing.settings = s;
    tracing.section = section;
    tracing.active = true;
    nanoseconds_multiplier = (UINT64_C(1000000000) << 32) / s.cycles_per_second;
    statistics = section_memory(section);
    api_hook_install(&tracing.settings);
}

/* The filters that have not been read yet. Each filter consists of a header with the session's instance and a struct
   api_filter. */
struct filters {
    const uint8_t *at;
    size_t size;
};

static bool filters_next(struct filters *f, uint64_t *instance, struct api_filter *out)
{
    EVENT_FILTER_HEADER head;
    while (f->size >= sizeof head) {
        memcpy(&head, f->at, sizeof head);
        const bool ours = head.Size == sizeof head + sizeof *out && f->size >= head.Size;
        if (ours)
            memcpy(out, f->at + sizeof head, sizeof *out);
        const size_t step = head.NextOffset && head.NextOffset <= f->size ? head.NextOffset : f->size;
        *instance = head.InstanceId;
        f->at += step;
        f->size -= step;
        if (ours && out->magic == API_FILTER_MAGIC && !out->section[sizeof out->section - 1])
            return true;
    }
    return false;
}

/* Chooses the session to log to, and starts or stops tracing. */
static void enable(const uint8_t *data, size_t size)
{
    struct filters f = {data, size};
    struct api_filter filter, chosen;
    uint64_t instance, mine = 0, all = 0;
    bool found = false;
    for (int i = 0; i < MOST_FILTERS && filters_next(&f, &instance, &filter); i++) {
        struct api_settings s;
        struct section *section;
        all |= instance;
        const bool same = tracing.active && memcmp(&tracing.filter, &filter, sizeof filter) == 0;
        if (!same && (found || !settings_load(&filter, &s, &section)))
            continue;
        if (!same) {
            api_settings_free(&s);
            section_close(section);
        }
        found = true;
        mine = instance;
        chosen = filter;
    }
    atomic_store(&tracing.others, all & ~mine);
    if (found)
        tracing_start(&chosen);
    else
        tracing_stop();
}

static VOID NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
                            PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
    const uintptr_t before = api_guard();
    (void)source;
    (void)level;
    (void)any;
    (void)all;
    (void)context;
    api_guard_set(1);
    if (code == EVENT_CONTROL_CODE_DISABLE_PROVIDER)
        tracing_stop();
    else if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER)
        enable(filter && filter->Ptr ? (const uint8_t *)(uintptr_t)filter->Ptr : NULL,
               filter && filter->Ptr ? filter->Size : 0);
    api_guard_set(before);
}

/* ---- the DLL ---- */

/* Loads openetw.dll from this DLL's folder only: a copy from another folder would be a second event provider in the
   process. */
bool api_events_begin(HMODULE own, HMODULE *events)
{
    WCHAR path[MAX_PATH];
    const DWORD units = GetModuleFileNameW(own, path, MAX_PATH);
    WCHAR *name = units && units < MAX_PATH ? wcsrchr(path, '\\') : NULL;
    if (!name || name + 13 > path + MAX_PATH)
        return false;
    lstrcpyW(name + 1, L"openetw.dll");
    *events = LoadLibraryExW(path, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!*events)
        return false;
    event_write = (write_function)(void *)GetProcAddress(*events, "EventWrite");
    event_write_ex = (write_ex_function)(void *)GetProcAddress(*events, "EventWriteEx");
    return event_write && event_write_ex;
}

void api_events_end(void)
{
    if (!tracing.active)
        return;
    api_hook_abandon();
    publish_rest();
}

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    enum { TEB_SLOTS = 64 };
    HMODULE events = NULL;
    (void)reserved;
    if (reason == DLL_PROCESS_DETACH) {
        api_guard_set(1);
        api_events_end();
    }
    if (reason != DLL_PROCESS_ATTACH)
        return TRUE;
    api_guard_slot = TlsAlloc();
    if (api_guard_slot >= TEB_SLOTS)
        return TRUE; /* the program runs untraced */
    api_guard_set(1);
    DisableThreadLibraryCalls(module);
    if (api_events_begin(module, &events) && api_hook_begin(module, events)) {
        const register_function event_register = (register_function)(void *)GetProcAddress(events, "EventRegister");
        if (event_register)
            event_register(&api_trace_provider, on_enable, NULL, &registration);
    }
    api_guard_set(0);
    return TRUE;
}
