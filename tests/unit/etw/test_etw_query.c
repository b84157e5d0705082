/* SPDX-License-Identifier: MIT */
/* Queries about event providers and sessions, and settings of sessions: EnumerateTraceGuids(Ex), TraceQueryInformation
   and TraceSetInformation, and ntdll's equivalent blocks. */
#include "engine/base/thread.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/controller/system_trace.h"
#include "engine/etw/directory/directory_layout.h"
#include "engine/etw/etw_api.h"
#include "engine/etw/kernel_event.h"
#include "engine/etw/trace_properties.h"
#include "tests/unit/child_process.h"
#include "tests/unit/own_directory.h"

static const GUID kernel_thread_class = {0x3D6FA8D1, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}},
                  kernel_image_class = {0x2CB15D1D, 0x5FC1, 0x11D2, {0xAB, 0xE1, 0x00, 0xA0, 0xC9, 0x11, 0xF5, 0x18}};
static struct directory *d;

static GUID guid_of(uint32_t number)
{
    return (GUID){number, 0x1234, 0x5678, {1, 2, 3, 4, 5, 6, 7, 8}};
}

static int role_provider(const char *number, const char *ready_name)
{
    const GUID guid = guid_of((uint32_t)strtoul(number, NULL, 10));
    struct signal *ready;
    uint32_t registration;
    if (FAILED(directory_register(own_directory(), &guid, DIRECTORY_CLASSIC, &registration)) ||
        FAILED(signal_open(&(struct shared){.name = ready_name}, &ready)) || FAILED(signal_set(ready)))
        return 5;
    for (;;)
        child_sleep(1000);
}

/* Adds a session that this process hosts. */
static struct directory_session add(const char *name, uint32_t guid, uint32_t mode)
{
    const struct directory_process self = {process_own_id(), process_start_time(process_own_id())};
    struct directory_session s = {.state = DIRECTORY_RUNNING,
                                  .guid = guid_of(guid),
                                  .host = self,
                                  .starter = self,
                                  .mode = mode,
                                  .enable_flags = {1, 2, 3},
                                  .name = (char *)name};
    snprintf(s.signal, sizeof s.signal, "etw-query-%u", (unsigned)process_own_id());
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, &s), S_OK);
    directory_end(d, NULL, 0);
    return s;
}

static void drop(const struct directory_session *s)
{
    GUID *providers;
    size_t count;
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_remove(d, s->logger, s->generation, &providers, &count), S_OK);
    directory_end(d, providers, count);
    memory_free(providers);
}

static void enable(const struct directory_session *s, uint32_t provider, uint8_t level, uint32_t property)
{
    const struct directory_enable e = {.provider = guid_of(provider),
                                       .logger = s->logger,
                                       .generation = s->generation,
                                       .any = provider == 3 ? 0 : 0x1F0 + provider,
                                       .all = 0x10,
                                       .property = property,
                                       .level = level};
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_enable_set(d, &e), S_OK);
    directory_end(d, &e.provider, 1);
}

/* ---- event providers ---- */

static struct directory_session first, second;
static uint32_t registrations[4];
static struct process *child;
static char child_ready[64];

/* Event provider 1: two registrations in this process, enabled by both sessions. 2: in another process, classic. 3:
   enabled, not registered. 4: a group, enabled by the first session. 5: a group in this process. 6: in this process,
   not enabled. */
static int make_world(void **state)
{
    const GUID guids[] = {guid_of(1), guid_of(1), guid_of(5), guid_of(6)};
    struct signal *ready;
    (void)state;
    first = add("first", 100, 0x100);
    second = add("second", 101, 0x100);
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            directory_register(d, &guids[i], i == 2 ? DIRECTORY_GROUP : DIRECTORY_PROVIDER, &registrations[i]), S_OK);
    snprintf(child_ready, sizeof child_ready, "etw-query-ready-%u", (unsigned)process_own_id());
    assert_int_equal(signal_open(&(struct shared){.name = child_ready, .create = true}, &ready), S_OK);
    child = child_start("provider", "2", child_ready);
    assert_int_equal(signal_wait_or_process(ready, child, CHILD_PATIENCE), S_OK);
    signal_close(ready);
    enable(&first, 1, 4, 0);
    enable(&second, 1, 5, 3);
    enable(&first, 3, 2, 0); /* enabled for any keyword */
    enable(&first, 4, 1, 0x20);
    return 0;
}

static int end_world(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        directory_unregister(d, registrations[i]);
    child_kill(child, child_ready);
    assert_int_equal(process_wait(child, CHILD_PATIENCE, NULL), S_OK);
    process_close(child);
    drop(&first);
    drop(&second);
    return 0;
}

static void check_guids(TRACE_QUERY_INFO_CLASS what, const uint32_t *numbers, size_t count)
{
    GUID list[8];
    ULONG need = 77;
    const ULONG bytes = (ULONG)(count * sizeof *list);
    assert_int_equal(EnumerateTraceGuidsEx(what, NULL, 0, NULL, 0, &need), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(need, bytes);
    assert_int_equal(EnumerateTraceGuidsEx(what, NULL, 0, list, bytes - 1, &need), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(need, bytes);
    assert_int_equal(EnumerateTraceGuidsEx(what, NULL, 0, list, sizeof list, &need), ERROR_SUCCESS);
    assert_int_equal(need, bytes);
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        for (size_t k = 0; k < count; k++)
            found += list[k].Data1 == numbers[i];
        assert_int_equal(found, 1);
    }
}

static void providers_are_listed_once_each(void **state)
{
    static const uint32_t all[] = {1, 2, 3, 6}, own[] = {1, 6}, groups[] = {4, 5};
    ULONG need;
    uint32_t most = 0;
    (void)state;
    check_guids(TraceGuidQueryList, all, 4);
    check_guids(TraceGuidQueryProcess, own, 2);
    check_guids(TraceGroupQueryList, groups, 2);
    assert_int_equal(EnumerateTraceGuidsEx(TraceMaxLoggersQuery, NULL, 0, &most, 3, &need), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(need, 4);
    assert_int_equal(EnumerateTraceGuidsEx(TraceMaxLoggersQuery, NULL, 0, &most, 4, &need), ERROR_SUCCESS);
    assert_int_equal(most, 64);
    assert_int_equal(EnumerateTraceGuidsEx(TraceVersionInfo, NULL, 0, &most, 4, &need), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnumerateTraceGuidsEx((TRACE_QUERY_INFO_CLASS)99, NULL, 0, &most, 4, &need),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, &most, 4, NULL), ERROR_INVALID_PARAMETER);
}

union answer {
    uint8_t bytes[1024];
    uint64_t aligned;
};

static ULONG query_info(TRACE_QUERY_INFO_CLASS what, uint32_t number, union answer *out, ULONG room, ULONG *need)
{
    GUID guid = guid_of(number);
    return EnumerateTraceGuidsEx(what, &guid, sizeof guid, out, room, need);
}

static const TRACE_PROVIDER_INSTANCE_INFO *instance_at(const union answer *a, size_t at)
{
    return (const void *)(a->bytes + at);
}
static const TRACE_ENABLE_INFO *enable_at(const union answer *a, size_t at, size_t i)
{
    return (const void *)(a->bytes + at + sizeof(TRACE_PROVIDER_INSTANCE_INFO) + i * sizeof(TRACE_ENABLE_INFO));
}

static void a_provider_lists_its_registrations_and_sessions(void **state)
{
    union answer a;
    const TRACE_GUID_INFO *head = (const void *)a.bytes;
    ULONG need;
    (void)state;
    assert_int_equal(query_info(TraceGuidQueryInfo, 1, &a, 0, &need), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(need, 8 + 2 * (16 + 2 * 32));
    assert_int_equal(query_info(TraceGuidQueryInfo, 1, &a, need - 1, &need), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(query_info(TraceGuidQueryInfo, 1, &a, need, &need), ERROR_SUCCESS);
    assert_int_equal(head->InstanceCount, 2);
    for (size_t i = 0, at = 8; i < 2; i++, at += 80) {
        const TRACE_PROVIDER_INSTANCE_INFO *instance = instance_at(&a, at);
        assert_int_equal(instance->NextOffset, i == 0 ? 80 : 0);
        assert_int_equal(instance->Pid, process_own_id());
        assert_int_equal(instance->Flags, 0);
        assert_int_equal(instance->EnableCount, 2);
        const size_t k = enable_at(&a, at, 0)->LoggerId == first.logger ? 0 : 1;
        const TRACE_ENABLE_INFO *of_first = enable_at(&a, at, k), *of_second = enable_at(&a, at, 1 - k);
        assert_true(of_first->IsEnabled == 1 && of_first->Level == 4 && of_first->LoggerId == first.logger &&
                    of_first->EnableProperty == 0 && of_first->MatchAnyKeyword == 0x1F1 &&
                    of_first->MatchAllKeyword == 0x10);
        assert_true(of_second->Level == 5 && of_second->LoggerId == second.logger && of_second->EnableProperty == 3);
    }
    assert_int_equal(query_info(TraceGuidQueryInfo, 2, &a, sizeof a, &need), ERROR_SUCCESS);
    assert_int_equal(need, 8 + 16);
    assert_true(head->InstanceCount == 1 && instance_at(&a, 8)->Pid == process_id(child) &&
                instance_at(&a, 8)->Flags == 1 && instance_at(&a, 8)->EnableCount == 0);
    assert_int_equal(query_info(TraceGuidQueryInfo, 3, &a, sizeof a, &need), ERROR_SUCCESS);
    assert_true(head->InstanceCount == 1 && instance_at(&a, 8)->Pid == 0 && instance_at(&a, 8)->Flags == 2 &&
                instance_at(&a, 8)->EnableCount == 1 && enable_at(&a, 8, 0)->Level == 2 &&
                enable_at(&a, 8, 0)->MatchAnyKeyword == UINT64_MAX);
    assert_int_equal(query_info(TraceGroupQueryInfo, 4, &a, sizeof a, &need), ERROR_SUCCESS);
    assert_true(instance_at(&a, 8)->Flags == 2 && instance_at(&a, 8)->EnableCount == 1);
    assert_int_equal(query_info(TraceGroupQueryInfo, 5, &a, sizeof a, &need), ERROR_SUCCESS);
    assert_int_equal(instance_at(&a, 8)->Pid, process_own_id());
    assert_int_equal(query_info(TraceGuidQueryInfo, 4, &a, sizeof a, &need), ERROR_WMI_GUID_NOT_FOUND);
    assert_int_equal(query_info(TraceGuidQueryInfo, 99, &a, sizeof a, &need), ERROR_WMI_GUID_NOT_FOUND);
    GUID guid = guid_of(1);
    assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, 15, &a, sizeof a, &need),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryInfo, NULL, 16, &a, sizeof a, &need), ERROR_INVALID_PARAMETER);
}

static void registered_providers_have_their_newest_settings(void **state)
{
    TRACE_GUID_PROPERTIES p[4], *list[4] = {&p[0], &p[1], &p[2], &p[3]};
    ULONG count = 77;
    bool seen = false;
    (void)state;
    assert_int_equal(EnumerateTraceGuids(NULL, 4, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnumerateTraceGuids(list, 0, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnumerateTraceGuids(list, 4, NULL), ERROR_INVALID_PARAMETER);
    memset(p, 0x77, sizeof p);
    assert_int_equal(EnumerateTraceGuids(list, 2, &count), ERROR_MORE_DATA);
    assert_int_equal(count, 3);
    assert_true(p[1].GuidType == 0 && p[2].GuidType == 0x77777777);
    assert_int_equal(EnumerateTraceGuids(list, 4, &count), ERROR_SUCCESS);
    assert_int_equal(count, 3);
    for (ULONG i = 0; i < count; i++) {
        const bool enabled = p[i].Guid.Data1 == 1;
        seen |= enabled;
        assert_int_equal(p[i].IsEnable, enabled);
        assert_int_equal(p[i].LoggerId, enabled ? second.logger : 0);
        assert_int_equal(p[i].EnableLevel, enabled ? 5 : 0);
        assert_int_equal(p[i].EnableFlags, enabled ? 0x1F1 : 0);
    }
    assert_true(seen);
}

/* ---- sessions ---- */

static atomic_bool over;

static uint32_t listed[4], listed_count; /* the values that were set last */

static void host(void *user)
{
    const struct directory_session *s = user;
    struct signal *wake;
    assert_int_equal(signal_open(&(struct shared){.name = s->signal, .create = true}, &wake), S_OK);
    while (!over) {
        struct directory_request r;
        if (directory_asked(d, s->logger, &r) == S_OK) {
            struct directory_session next = *s;
            memcpy(next.enable_flags, r.enable_flags, sizeof next.enable_flags);
            const bool list = r.verb == DIRECTORY_SET_LIST && r.item_count != 0;
            if (list)
                memcpy(listed, r.items, sizeof listed);
            listed_count = r.item_count;
            const bool right =
                list || (r.verb == DIRECTORY_UPDATE && r.flags_given != 0 && r.mode == s->mode && !r.file);
            if (right && SUCCEEDED(directory_begin(d))) {
                (void)directory_session_set(d, &next);
                directory_end(d, NULL, 0);
            }
            directory_request_free(&r);
            directory_answer(d, s->logger, right ? ERROR_SUCCESS : ERROR_INVALID_DATA);
        }
        (void)signal_wait(wake, 20);
    }
    signal_close(wake);
}

static void flags_of_a_system_logger_are_set_and_read(void **state)
{
    struct directory_session s = add("system", 200, TRACE_MODE_SYSTEM_LOGGER | 0x100), plain = add("plain", 201, 0x100);
    const TRACEHANDLE handle = directory_handle(&s);
    uint32_t masks[9] = {0};
    struct thread *t;
    ULONG need = 0;
    (void)state;
    over = false;
    assert_int_equal(TraceQueryInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, 31, &need),
                     ERROR_BAD_LENGTH);
    assert_int_equal(TraceQueryInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks, &need),
                     ERROR_SUCCESS);
    assert_int_equal(need, 32);
    assert_true(masks[0] == 1 && masks[1] == 2 && masks[2] == 3 && masks[3] == 0);
    assert_int_equal(thread_start(host, &s, &t), S_OK);
    masks[0] = 0x10;
    assert_int_equal(TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, 36), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, 7), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, 8), ERROR_SUCCESS);
    assert_int_equal(TraceQueryInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, 32, NULL), ERROR_SUCCESS);
    assert_true(masks[0] == 0x10 && masks[1] == 2 && masks[2] == 0); /* missing values become 0 */
    over = true;
    assert_true(thread_wait(t, CHILD_PATIENCE));
    thread_close(t);
    const TRACEHANDLE wrong = directory_handle(&plain);
    assert_int_equal(TraceQueryInformation(wrong, TraceSystemTraceEnableFlagsInfo, masks, 32, &need),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(wrong, TraceSystemTraceEnableFlagsInfo, masks, 4), ERROR_INVALID_PARAMETER);
    drop(&s);
    drop(&plain);
    assert_int_equal(TraceQueryInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, 32, &need),
                     ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(TraceQueryInformation(0, TraceSystemTraceEnableFlagsInfo, masks, 32, &need),
                     ERROR_INVALID_PARAMETER);
}

static void system_settings_are_returned(void **state)
{
    TRACE_PROFILE_INTERVAL interval = {0, 7};
    TRACE_VERSION_INFO version;
    uint32_t sources[10];
    ULONG need = 77;
    (void)state;
    assert_int_equal(TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &interval, 8, &need), ERROR_SUCCESS);
    assert_true(interval.Interval == KERNEL_PROFILE_100NS && need == 8);
    interval.Source = 5;
    assert_int_equal(TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &interval, 8, &need), ERROR_SUCCESS);
    assert_int_equal(interval.Interval, 0);
    assert_int_equal(TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &interval, 9, &need), ERROR_BAD_LENGTH);
    assert_int_equal(TraceQueryInformation(1, TraceSampledProfileIntervalInfo, &interval, 8, &need),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceQueryInformation(0, TraceProfileSourceListInfo, NULL, 0, &need), ERROR_SUCCESS);
    assert_int_equal(need, sizeof sources);
    assert_int_equal(TraceQueryInformation(0, TraceProfileSourceListInfo, sources, 8, &need),
                     ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(TraceQueryInformation(0, TraceProfileSourceListInfo, sources, sizeof sources, &need),
                     ERROR_SUCCESS);
    assert_true(sources[0] == 0 && sources[1] == 0 && sources[2] == KERNEL_PROFILE_100NS &&
                sources[6] == ('T' | 'i' << 16));
    assert_int_equal(TraceQueryInformation(0, TraceVersionInfo, &version, 8, NULL), ERROR_SUCCESS);
    assert_int_equal(version.EtwTraceProcessingVersion, 1);
    assert_int_equal(TraceQueryInformation(0, TraceVersionInfo, &version, 4, &need), ERROR_BAD_LENGTH);
    assert_int_equal(TraceQueryInformation(0, TraceStackTracingInfo, &version, 8, &need), ERROR_NOT_SUPPORTED);
    assert_int_equal(TraceQueryInformation(0, (TRACE_INFO_CLASS)99, &version, 8, &need), ERROR_NOT_SUPPORTED);
}

/* Flags without kernel events are omitted, as on Windows. */
static void settings_of_a_system_logger_are_checked_and_reach_it(void **state)
{
    struct directory_session s = add("system", 200, TRACE_MODE_SYSTEM_LOGGER | 0x100), plain = add("plain", 201, 0x100);
    static CLASSIC_EVENT_ID events[257];
    uint32_t sources[5] = {3, 1, 4, 1, 5};
    const TRACEHANDLE h = directory_handle(&s);
    struct thread *t;
    (void)state;
    over = false;
    assert_int_equal(thread_start(host, &s, &t), S_OK);
    events[1] = (CLASSIC_EVENT_ID){.EventGuid = kernel_thread_class, .Type = 36};
    events[3] = (CLASSIC_EVENT_ID){.EventGuid = kernel_image_class, .Type = 10};
    assert_int_equal(TraceSetInformation(h, TraceStackTracingInfo, events, 25), ERROR_INCORRECT_SIZE);
    assert_int_equal(TraceSetInformation(h, TraceStackTracingInfo, events, sizeof events), ERROR_INCORRECT_SIZE);
    assert_int_equal(TraceSetInformation(h, TraceStackTracingInfo, events, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(h, TraceStackTracingInfo, NULL, 24), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(h, TraceStackTracingInfo, events, 256 * 24), ERROR_SUCCESS);
    assert_true(listed_count == 2 && listed[0] == 0x0524 && listed[1] == 0x030A);
    assert_int_equal(TraceSetInformation(directory_handle(&plain), TraceStackTracingInfo, NULL, 0),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(h, TracePmcEventListInfo, events, 5 * 24), ERROR_INCORRECT_SIZE);
    assert_int_equal(TraceSetInformation(h, TracePmcEventListInfo, events, 3 * 24), ERROR_SUCCESS);
    assert_int_equal(listed_count, 1);
    for (int i = 0; i < 2; i++) {
        const TRACE_INFO_CLASS what = i == 0 ? TraceProfileSourceConfigInfo : TracePmcCounterListInfo;
        assert_int_equal(TraceSetInformation(h, what, sources, 6), ERROR_INCORRECT_SIZE);
        assert_int_equal(TraceSetInformation(h, what, sources, 20), ERROR_INCORRECT_SIZE);
        assert_int_equal(TraceSetInformation(h, what, sources, 0), ERROR_INVALID_PARAMETER);
        assert_int_equal(TraceSetInformation(h, what, NULL, 4), ERROR_INVALID_PARAMETER);
        assert_int_equal(TraceSetInformation(h, what, sources, 16), ERROR_SUCCESS);
        assert_int_equal(TraceSetInformation(directory_handle(&plain), what, sources, 16), ERROR_INVALID_PARAMETER);
        assert_true(listed_count == 4 && memcmp(listed, sources, 16) == 0);
    }
    over = true;
    assert_true(thread_wait(t, CHILD_PATIENCE));
    thread_close(t);
    drop(&s);
    drop(&plain);
}

/* The interval is at least the host OS's timer tick, and at most one second. */
static void sampling_interval_is_limited_by_the_system(void **state)
{
    TRACE_PROFILE_INTERVAL interval = {0, 20000};
    (void)state;
    assert_int_equal(TraceSetInformation(1, TraceSampledProfileIntervalInfo, &interval, 8), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &interval, 4), ERROR_BAD_LENGTH);
    assert_int_equal(TraceSetInformation(0, TraceSampledProfileIntervalInfo, NULL, 8), ERROR_INVALID_PARAMETER);
    static const uint32_t asked[] = {20000, 100000, 0, 1000000000, 40000},
                          got[] = {KERNEL_PROFILE_100NS, 100000, KERNEL_PROFILE_100NS, 10000000, 40000};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        interval = (TRACE_PROFILE_INTERVAL){0, asked[i]};
        assert_int_equal(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &interval, 8), ERROR_SUCCESS);
        interval = (TRACE_PROFILE_INTERVAL){2, 50000}; /* an interval of an unknown source */
        assert_int_equal(TraceSetInformation(0, TraceSampledProfileIntervalInfo, &interval, 8), ERROR_SUCCESS);
        interval.Source = 0;
        assert_int_equal(TraceQueryInformation(0, TraceSampledProfileIntervalInfo, &interval, 8, NULL), ERROR_SUCCESS);
        assert_int_equal(interval.Interval, got[i]);
    }
    assert_int_equal(TraceSetInformation(0, TraceVersionInfo, &interval, 8), ERROR_NOT_SUPPORTED);
}

struct masks_block {
    uint32_t what;
    TRACEHANDLE handle;
    uint32_t masks[8];
};
struct list_block {
    uint32_t what;
    TRACEHANDLE handle;
    uint32_t items[DIRECTORY_STACK_EVENTS + 2];
};
enum { MASKS_CLASS = 1, INTERVAL_CLASS = 3, STACKS_CLASS = 6, COUNTERS_CLASS = 15, NO_SUCH_CLASS = 99 };

static int32_t nt_query(void *block, uint32_t bytes, uint32_t need_then)
{
    int32_t status = 1;
    uint32_t need = 0;
    assert_true(system_trace_query(block, bytes, &need, &status));
    assert_int_equal(need, need_then);
    return status;
}

static int32_t nt_set(const void *block, uint32_t bytes)
{
    int32_t status = 1;
    assert_true(system_trace_set(block, bytes, &status));
    return status;
}

/* Programs with krabsetw read a session's masks with NtQuerySystemInformation immediately after its start. If that
   fails, the program ends with an exception and its session keeps running. */
static void masks_are_read_and_set_with_ntdll_blocks(void **state)
{
    static const int32_t mismatch = (int32_t)0xC0000004, invalid = (int32_t)0xC000000D, gone = (int32_t)0xC0000297;
    struct directory_session s = add("system", 200, TRACE_MODE_SYSTEM_LOGGER | 0x100), plain = add("plain", 201, 0x100);
    struct masks_block b = {.what = MASKS_CLASS, .handle = directory_handle(&s)};
    static struct list_block list = {.what = STACKS_CLASS, .items = {0x0524, 0x030A}};
    uint32_t interval[2] = {INTERVAL_CLASS, 50000}, other[16] = {NO_SUCH_CLASS}, need;
    const size_t two_items = offsetof(struct list_block, items) + 2 * sizeof *list.items;
    struct thread *t;
    int32_t status;
    (void)state;
    over = false;
    assert_int_equal(sizeof b, 48);
    assert_int_equal(nt_query(&b, sizeof b, sizeof b), 0);
    assert_true(b.masks[0] == 1 && b.masks[1] == 2 && b.masks[2] == 3 && b.masks[3] == 0);
    assert_int_equal(nt_query(&b, sizeof b - 1, sizeof b), mismatch);
    assert_int_equal(nt_query(&b, sizeof b + 1, sizeof b), mismatch);
    assert_int_equal(nt_query(&b, 4, sizeof b), mismatch);
    assert_int_equal(thread_start(host, &s, &t), S_OK);
    b.masks[4] = 0x40;
    assert_int_equal(nt_set(&b, sizeof b - 4), mismatch);
    assert_int_equal(nt_set(&b, sizeof b), 0);
    memset(b.masks, 0, sizeof b.masks);
    assert_int_equal(nt_query(&b, sizeof b, sizeof b), 0);
    assert_true(b.masks[0] == 1 && b.masks[1] == 2 && b.masks[4] == 0x40);
    list.handle = directory_handle(&s);
    assert_int_equal(nt_set(&list, (uint32_t)two_items), 0);
    assert_true(listed_count == 2 && listed[0] == 0x0524 && listed[1] == 0x030A);
    assert_int_equal(nt_set(&list, (uint32_t)two_items - 1), mismatch);
    assert_int_equal(nt_set(&list, sizeof list), invalid); /* one more than the maximum */
    list.what = COUNTERS_CLASS;
    assert_int_equal(nt_set(&list, (uint32_t)two_items), 0);
    assert_int_equal(nt_set(&list, (uint32_t)two_items + 3 * 4), invalid);
    over = true;
    assert_true(thread_wait(t, CHILD_PATIENCE));
    thread_close(t);
    assert_int_equal(nt_set(interval, sizeof interval), 0);
    interval[1] = 0;
    assert_int_equal(nt_query(interval, sizeof interval, sizeof interval), 0);
    assert_int_equal(interval[1], 50000);
    assert_int_equal(nt_query(interval, 4, sizeof interval), mismatch);
    assert_int_equal(nt_set(interval, 4), mismatch);
    b.handle = directory_handle(&plain); /* the session records no kernel events */
    assert_int_equal(nt_query(&b, sizeof b, sizeof b), invalid);
    assert_int_equal(nt_set(&b, sizeof b), invalid);
    drop(&s);
    drop(&plain);
    b.handle = directory_handle(&s);
    assert_int_equal(nt_query(&b, sizeof b, sizeof b), gone);
    assert_int_equal(nt_set(&b, sizeof b), gone);
    /* All other queries go to the system, as without OpenPLA. */
    assert_false(system_trace_query(other, sizeof other, &need, &status));
    assert_false(system_trace_set(other, sizeof other, &status));
    assert_false(system_trace_query(&b, 3, &need, &status));
    assert_false(system_trace_set(&b, 3, &status));
}

static void members_of_groups_are_disallowed(void **state)
{
    struct directory_session s = add("grouping", 200, 0x100), got;
    const TRACEHANDLE h = directory_handle(&s);
    GUID list[65] = {guid_of(1), guid_of(2)};
    ULONG need = 77;
    (void)state;
    assert_int_equal(TraceQueryInformation(h, TraceDisallowListQuery, NULL, 0, &need), ERROR_SUCCESS);
    assert_int_equal(need, 0);
    assert_int_equal(TraceSetInformation(h, TraceSetDisallowList, list, 17), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(h, TraceSetDisallowList, NULL, 16), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(h, TraceSetDisallowList, list, sizeof list), ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(TraceSetInformation(h, TraceSetDisallowList, list, 32), ERROR_SUCCESS);
    s.mode = 0x400; /* changes that the host process makes */
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_set(d, &s), S_OK);
    directory_end(d, NULL, 0);
    assert_int_equal(directory_session_at(d, s.logger, s.generation, &got), S_OK);
    assert_true(got.mode == 0x400 && got.disallowed_count == 2 && got.disallowed[1].Data1 == 2);
    directory_session_free(&got);
    memset(list, 0, sizeof list);
    assert_int_equal(TraceQueryInformation(h, TraceDisallowListQuery, list, 31, &need), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(need, 32);
    assert_int_equal(TraceQueryInformation(h, TraceDisallowListQuery, list, sizeof list, &need), ERROR_SUCCESS);
    assert_true(need == 32 && list[0].Data1 == 1 && list[1].Data1 == 2);
    assert_int_equal(TraceSetInformation(h, TraceSetDisallowList, NULL, 0), ERROR_SUCCESS);
    assert_int_equal(TraceQueryInformation(h, TraceDisallowListQuery, list, sizeof list, &need), ERROR_SUCCESS);
    assert_int_equal(need, 0);
    drop(&s);
}

/* ---- event providers as the engine lists them ---- */

static size_t registered_by(const GUID *guid, uint32_t provider, uint32_t process)
{
    struct event_registrations list;
    size_t found = 0;
    assert_int_equal(event_registrations_list(&openetw_api, guid, &list), S_OK);
    for (size_t i = 0; i < list.count; i++) {
        const GUID wanted = guid_of(provider);
        found += guid_equal(&list.items[i].guid, &wanted) && list.items[i].process == process;
        assert_true(!guid || guid_equal(&list.items[i].guid, guid));
    }
    event_registrations_free(&list);
    return found;
}

/* Each process is listed once, however often it registered; event providers that only sessions name are not listed. */
static void registrations_of_a_provider_are_listed(void **state)
{
    const uint32_t own = process_own_id(), other = process_id(child);
    const GUID one = guid_of(1), nobodys = guid_of(3), unknown = guid_of(77);
    struct event_registrations list;
    (void)state;
    assert_int_equal(registered_by(NULL, 1, own), 1);
    assert_int_equal(registered_by(NULL, 2, other), 1);
    assert_int_equal(registered_by(NULL, 6, own), 1);
    assert_int_equal(registered_by(&one, 1, own), 1);
    assert_int_equal(event_registrations_list(&openetw_api, NULL, &list), S_OK);
    assert_int_equal(list.count, 3); /* the enabled but unregistered event provider and the groups are not listed */
    event_registrations_free(&list);
    assert_int_equal(event_registrations_list(&openetw_api, &nobodys, &list), S_OK);
    assert_int_equal(list.count, 0);
    assert_int_equal(event_registrations_list(&openetw_api, &unknown, &list), S_OK);
    assert_int_equal(list.count, 0);
}

static const char *name_of(const struct event_providers *list, uint32_t number)
{
    const GUID guid = guid_of(number);
    const struct event_provider *p = event_providers_find(list, &guid);
    return p ? p->name : "";
}

/* An event provider is listed by its own name, otherwise by its GUID; a named event provider remains listed after its
   process has exited. */
static void registered_providers_are_listed_by_name(void **state)
{
    const GUID six = guid_of(6), gone = guid_of(7);
    struct event_providers list;
    uint64_t n = 0;
    (void)state;
    directory_name_provider(d, &six, "Six.First");
    directory_name_provider(d, &six, "Six.\xC3\xA9");
    directory_name_provider(d, &gone, "Gone");
    assert_int_equal(event_providers_list(&openetw_api, &list), S_OK);
    assert_string_equal(name_of(&list, 6), "Six.\xC3\xA9");
    assert_string_equal(name_of(&list, 7), "Gone");
    assert_string_equal(name_of(&list, 1), "{00000001-1234-5678-0102-030405060708}");
    assert_string_equal(name_of(&list, 2), "{00000002-1234-5678-0102-030405060708}");
    assert_string_equal(name_of(&list, 3), ""); /* listed, because a session waits for it */
    const size_t count = list.count;
    event_providers_free(&list);
    HRESULT hr = E_OUTOFMEMORY;
    while (hr == E_OUTOFMEMORY) {
        memory_fail_at(++n);
        hr = event_providers_list(&openetw_api, &list);
        memory_fail_at(0);
    }
    assert_int_equal(hr, S_OK);
    assert_int_equal(list.count, count);
    assert_true(n > 1); /* other threads allocate too */
    event_providers_free(&list);
}

static size_t names_now(const GUID *guid, char name[DIRECTORY_PROVIDER_NAME_ROOM])
{
    struct directory_provider_name *list;
    size_t count;
    name[0] = 0;
    assert_int_equal(directory_provider_names(d, &list, &count), S_OK);
    for (size_t i = 0; i < count; i++)
        if (guid_equal(&list[i].provider, guid))
            memcpy(name, list[i].name, DIRECTORY_PROVIDER_NAME_ROOM);
    memory_free(list);
    return count;
}

/* When there is no room, the oldest names are replaced; an invalid or incomplete name is ignored. */
static void names_of_providers_are_limited_and_checked(void **state)
{
    static const char *const bad[] = {"", "bell\a", "\xC3(", "line\nline"};
    char name[DIRECTORY_PROVIDER_NAME_ROOM], longest[DIRECTORY_PROVIDER_NAME_ROOM + 1];
    const GUID a = guid_of(5001), b = guid_of(5002), last = guid_of(10000 + DIRECTORY_PROVIDER_NAMES - 1);
    (void)state;
    const size_t before = names_now(&a, name);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        directory_name_provider(d, &a, bad[i]);
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = 0;
    directory_name_provider(d, &a, longest); /* one character too long */
    assert_int_equal(names_now(&a, name), before);
    directory_name_provider(d, &a, longest + 1);
    directory_name_provider(d, &b, "b");
    assert_int_equal(names_now(&a, name), before + 2);
    assert_string_equal(name, longest + 1);
    for (uint32_t i = 0; i < DIRECTORY_PROVIDER_NAMES; i++) {
        const GUID guid = guid_of(10000 + i);
        directory_name_provider(d, &guid, "many");
    }
    assert_int_equal(names_now(&last, name), DIRECTORY_PROVIDER_NAMES);
    assert_string_equal(name, "many");
    (void)names_now(&a, name);
    assert_string_equal(name, "");
    /* The process that wrote the name exited before the name was complete. */
    atomic_fetch_xor(&d->shared->name[7].words[3], 1);
    assert_int_equal(names_now(&last, name), DIRECTORY_PROVIDER_NAMES - 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(registrations_of_a_provider_are_listed, make_world, end_world),
        cmocka_unit_test_setup_teardown(registered_providers_are_listed_by_name, make_world, end_world),
        cmocka_unit_test(names_of_providers_are_limited_and_checked),
        cmocka_unit_test_setup_teardown(providers_are_listed_once_each, make_world, end_world),
        cmocka_unit_test_setup_teardown(a_provider_lists_its_registrations_and_sessions, make_world, end_world),
        cmocka_unit_test_setup_teardown(registered_providers_have_their_newest_settings, make_world, end_world),
        cmocka_unit_test(flags_of_a_system_logger_are_set_and_read),
        cmocka_unit_test(system_settings_are_returned),
        cmocka_unit_test(settings_of_a_system_logger_are_checked_and_reach_it),
        cmocka_unit_test(sampling_interval_is_limited_by_the_system),
        cmocka_unit_test(masks_are_read_and_set_with_ntdll_blocks),
        cmocka_unit_test(members_of_groups_are_disallowed),
    };
    child_program = argv[0];
    if (argc == 4)
        return role_provider(argv[2], argv[3]);
    own_directory_name();
    d = own_directory();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    directory_delete(d);
    return failed;
}
