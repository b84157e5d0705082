/* SPDX-License-Identifier: MIT */
/* The NT Kernel Logger, started as programs do, on this machine's kernel: its file contains the events of a known load.
   Each machine tests the polling source, and tracefs if this user may use it. */
#include "engine/base/thread.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/kernel/kernel_tracer.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/trace_instance.h"
#include "tests/unit/controller_fixture.h"
#include "tests/unit/kernel_process.h"

#include <time.h>

enum { MOST_STAMPS = 1 << 17 };
enum { CHILDREN = 4 };
#ifdef _WIN32 /* processes start slowly here, so one clock is tested; the others use the same conversion code */
enum { FIRST_CLOCK = 3 };
#else
enum { FIRST_CLOCK = 1 };
#endif
/* Exit code of our children. It distinguishes them from the children of another run on this machine. */
static uint32_t exit_code;
static char *folder;

struct seen {
    size_t of_hook[0x10000];
    size_t ended, disorder; /* processes with our children's exit code */
    int64_t first, last;
    uint64_t longest; /* duration of the longest interrupt, from its InitialTime to its timestamp */
    uint32_t lost;
    size_t stamps;
    size_t with_event, without, of_program; /* stacks with and without an event, and stacks in program code */
    size_t own_samples;                     /* samples of this thread */
    size_t begun, over;                     /* processes with our name */
    size_t notes;                           /* events of our event provider "OpenPLA.KernelLogger" with the name
                                               "Source" */
    uint32_t sourceless;                    /* FlagsWithoutSource in the last of these events */
    char source[16];
};
static int64_t stamp[MOST_STAMPS]; /* timestamps of switches and process starts */

static void note_stack(struct seen *seen, const struct etl_record *e)
{
    const int64_t of = (int64_t)get_u64(e->data);
    assert_true(e->data_size >= 24 && e->data_size % 8 == 0 && e->data_size <= 16 + 8 * 192);
    size_t i = seen->stamps;
    while (i > 0 && stamp[i - 1] > of)
        i--;
    seen->with_event += i > 0 && stamp[i - 1] == of;
    seen->without += i == 0 || stamp[i - 1] != of;
    seen->of_program += get_u64(e->data + e->data_size - 8) < UINT64_C(0x800000000000);
}

static void note_sample(struct seen *seen, const struct etl_record *e)
{
    seen->own_samples += get_u32(e->data + 8) % KERNEL_HOST_OFFSET == (uint32_t)thread_own_id();
}

/* The event's last fields are two numbers with a string between them. */
static void read_note(const struct etl_record *e, struct seen *seen)
{
    const uint16_t traits = get_u16(e->extended), rest = (uint16_t)(e->extended_size - traits);
    const EVENT_DESCRIPTOR descriptor = {.Channel = e->channel, .Level = e->level};
    struct event_schema *schema;
    assert_int_equal(trace_logging_schema(&e->provider, &descriptor, e->extended + traits + 8,
                                          get_u16(e->extended + traits + 6), e->extended + 8, get_u16(e->extended + 6),
                                          &schema),
                     S_OK);
    assert_in_range(rest, 16, UINT16_MAX);
    assert_string_equal(schema->provider_name, "OpenPLA.KernelLogger");
    if (schema->property_count == 6) {
        const uint8_t *at = e->data;
        size_t i = 0;
        for (; get_u16(at) != 0; at += 2)
            seen->source[i++] = (char)*at;
        seen->source[i] = 0;
        for (at += 2; get_u16(at) != 0;)
            at += 2;
        seen->sourceless = get_u32(at + 2 + 4);
        seen->notes++;
    }
    event_schema_free(schema);
}

static struct seen read_events(const char *path)
{
    static struct seen seen;
    struct etl_reader *reader;
    struct etl_record e;
    memset(&seen, 0, sizeof seen);
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    seen.lost = etl_reader_log(reader)->events_lost;
    while (etl_reader_next(reader, &e) == S_OK) {
        if (e.kind == ETL_RECORD_MANIFEST)
            read_note(&e, &seen);
        if (e.kind != ETL_RECORD_SYSTEM && e.kind != ETL_RECORD_PERFORMANCE)
            continue;
        assert_true(e.has_stamp);
        seen.of_hook[e.id]++;
        if ((e.id == HOOK_SWITCH || e.id == HOOK_PROCESS_START) && seen.stamps < MOST_STAMPS)
            stamp[seen.stamps++] = e.stamp;
        if (e.id == HOOK_STACK)
            note_stack(&seen, &e);
        if (e.id == HOOK_SAMPLE)
            note_sample(&seen, &e);
        if (e.id == HOOK_INTERRUPT || e.id == HOOK_DPC || e.id == HOOK_TIMER_DPC) {
            const uint64_t took = (uint64_t)e.stamp - get_u64(e.data);
            seen.longest = took > seen.longest ? took : seen.longest;
        }
        seen.first = seen.first ? seen.first : e.stamp;
        seen.ended += e.id == HOOK_PROCESS_END && process_is_called(process_name(e.data, e.data_size), child_program) &&
                      get_u32(e.data + PROCESS_CODE) == exit_code;
        if (e.id == HOOK_PROCESS_START || e.id == HOOK_PROCESS_END) {
            const bool ours = process_is_called(process_name(e.data, e.data_size), child_program);
            seen.begun += ours && e.id == HOOK_PROCESS_START;
            seen.over += ours && e.id == HOOK_PROCESS_END;
        }
        seen.disorder += e.stamp < seen.last;
        seen.last = e.stamp;
    }
    etl_reader_close(reader);
    return seen;
}

static void run_children(void)
{
    char code[16];
    snprintf(code, sizeof code, "%u", (unsigned)exit_code);
    for (int i = 0; i < CHILDREN; i++) {
        struct process *p = child_start("end", code, "");
        assert_int_equal(process_wait(p, CHILD_PATIENCE, NULL), S_OK);
        process_close(p);
    }
}

static char *start(const char *file, uint32_t mode, uint32_t clock, uint32_t flags, TRACEHANDLE *handle)
{
    char *path = path_join(folder, file);
    struct block b = block_of(mode, path);
    b.p.EnableFlags = flags;
    b.p.Wnode.ClientContext = clock;
    assert_int_equal(start_session("NT Kernel Logger", &b, handle), ERROR_SUCCESS);
    return path;
}

static void stop(TRACEHANDLE handle)
{
    struct block b;
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
}

static void a_known_load_is_in_the_file(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock++) {
        TRACEHANDLE handle;
        char *path = start("load.etl", 0, clock, FLAG_PROCESS | FLAG_THREAD, &handle);
        run_children();
        stop(handle);
        const struct seen seen = read_events(path);
        assert_int_equal(seen.ended, CHILDREN);
        assert_in_range(seen.of_hook[HOOK_PROCESS_RUNDOWN_START], 3, SIZE_MAX);
        assert_in_range(seen.of_hook[HOOK_PROCESS_RUNDOWN_END], 3, SIZE_MAX);
        assert_in_range(seen.of_hook[HOOK_THREAD_START], CHILDREN, SIZE_MAX);
        assert_int_equal(seen.disorder, 0);
        assert_int_equal(seen.lost, 0);
        memory_free(path);
    }
}

/* Times in the data of events use the session's clock as well. */
static void interrupts_have_their_length_in_each_clock(void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock++) {
        TRACEHANDLE handle;
        char *path = start("clock.etl", 0, clock, FLAG_PROCESS | FLAG_INTERRUPT | FLAG_DPC, &handle);
        run_children();
        stop(handle);
        const struct seen seen = read_events(path);
        assert_in_range(seen.of_hook[HOOK_DPC] + seen.of_hook[HOOK_TIMER_DPC], 1, SIZE_MAX);
        assert_in_range(seen.longest, 1, (uint64_t)(seen.last - seen.first));
        memory_free(path);
    }
}

static void update_changes_the_recorded_events(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    char *path = start("update.etl", 0, 1, FLAG_PROCESS, &handle);
    struct block b = block_of(0, NULL);
    run_children();
    b.p.EnableFlags = FLAG_SWITCH;
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_SUCCESS);
    run_children();
    stop(handle);
    const struct seen seen = read_events(path);
    assert_int_equal(seen.ended, CHILDREN);
    assert_in_range(seen.of_hook[HOOK_SWITCH], 2 * CHILDREN, SIZE_MAX);
    memory_free(path);
}

static CLASSIC_EVENT_ID event_of(uint32_t class, uint8_t type)
{
    return (CLASSIC_EVENT_ID){.EventGuid = {class, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}},
                              .Type = type};
}

/* A reader joins stacks and events by their exact time. Stacks without an event belong to starts that were not
   reported, such as a fork that did not yet run a program. */
static void chosen_events_have_their_stacks_in_each_clock(void **state)
{
    (void)state;
    CLASSIC_EVENT_ID events[] = {event_of(0x3D6FA8D1, HOOK_SWITCH & 0xFF), event_of(0x3D6FA8D0, 1)};
    for (uint32_t clock = 1; clock <= 3; clock++) {
        TRACEHANDLE handle;
        char *path = start("stacks.etl", 0, clock, FLAG_PROCESS | FLAG_SWITCH, &handle);
        assert_int_equal(TraceSetInformation(handle, TraceStackTracingInfo, events, sizeof events), ERROR_SUCCESS);
        child_sleep(100); /* the next pass reports it */
        run_children();
        stop(handle);
        const struct seen seen = read_events(path);
        assert_in_range(seen.with_event, 10, SIZE_MAX);
        assert_in_range(seen.of_program, 1, SIZE_MAX);
        assert_in_range(seen.without, 0, seen.with_event / 10);
        memory_free(path);
    }
}

/* Reads the current contents of the session: a snapshot of a session in memory, otherwise its file. */
static struct seen read_session(TRACEHANDLE handle, const char *path, bool in_memory)
{
    struct block b = block_of(0, in_memory ? path : NULL);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    return read_events(path);
}

/* Runs a process until the session reports it. On a busy machine, this can take long. */
static void run_child_until_reported(TRACEHANDLE handle, const char *path, bool in_memory)
{
    struct process *p = NULL;
    const uint64_t from = clock_monotonic_ms();
    for (bool over = false; !over; child_sleep(20)) {
        const struct seen seen = read_session(handle, path, in_memory);
        assert_in_range(clock_passed_ms(from, clock_monotonic_ms()), 0, CHILD_PATIENCE);
        over = seen.over != 0;
        if (!p && seen.of_hook[HOOK_PROCESS_RUNDOWN_START] >= 3)
            p = child_start("stay", "", "");
        else if (p && seen.begun != 0)
            (void)process_terminate(process_id(p), process_start_time(process_id(p)));
    }
    process_close(p);
}

/* Without tracefs, the trace contains longer-lived processes with their names, and lists the missing kinds of
   events. */
static void without_tracefs_processes_are_reported(void **state)
{
    (void)state;
    for (uint32_t clock = FIRST_CLOCK; clock <= 3; clock++) {
        TRACEHANDLE handle;
        const unsigned before = journal_count(SESSION_KERNEL_POORER), flags = journal_count(SESSION_KERNEL_FLAGS);
        char *path = start("polling.etl", 0, clock, FLAG_PROCESS | FLAG_THREAD | FLAG_SWITCH | FLAG_DISK, &handle);
        run_child_until_reported(handle, path, false);
        stop(handle);
        const struct seen seen = read_events(path);
        assert_in_range(seen.of_hook[HOOK_PROCESS_RUNDOWN_START], 3, SIZE_MAX);
        assert_in_range(seen.of_hook[HOOK_PROCESS_RUNDOWN_END], 3, SIZE_MAX);
        assert_in_range(seen.of_hook[HOOK_THREAD_START], 1, SIZE_MAX);
        assert_in_range(seen.of_hook[HOOK_THREAD_END], 1, SIZE_MAX);
        assert_int_equal(seen.of_hook[HOOK_SWITCH], 0);
        assert_int_equal(seen.disorder, 0);
        assert_int_equal(seen.notes, 1);
        assert_string_equal(seen.source, "polling");
        assert_int_equal(seen.sourceless, FLAG_SWITCH | FLAG_DISK);
        assert_int_equal(journal_count(SESSION_KERNEL_POORER), before + 1);
        assert_int_equal(journal_count(SESSION_KERNEL_FLAGS), flags + 1);
        memory_free(path);
    }
}

static void without_tracefs_stacks_have_no_source(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    CLASSIC_EVENT_ID event = event_of(0x3D6FA8D0, 1);
    const unsigned before = journal_count(SESSION_KERNEL_STACKS);
    char *path = start("nostacks.etl", 0, 1, FLAG_PROCESS, &handle);
    for (int i = 0; i < 2; i++)
        assert_int_equal(TraceSetInformation(handle, TraceStackTracingInfo, &event, sizeof event), ERROR_SUCCESS);
    stop(handle);
    assert_int_equal(journal_count(SESSION_KERNEL_STACKS), before + 1);
    memory_free(path);
}

static void masks_without_a_flag_are_reported_too(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    uint32_t masks[] = {0, 0x40}; /* pool events */
    char *path = start("masks.etl", 0, 1, FLAG_PROCESS, &handle);
    const unsigned before = journal_count(SESSION_KERNEL_FLAGS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks),
                         ERROR_SUCCESS);
    stop(handle);
    assert_int_equal(journal_count(SESSION_KERNEL_FLAGS), before + 1);
    memory_free(path);
}

/* The logger is found by its name and by its GUID, and is separate from the NT Kernel Logger. */
static void the_context_logger_keeps_the_latest_in_memory(void **state)
{
    (void)state;
    TRACEHANDLE handle, other;
    struct block b = block_of(TRACE_MODE_BUFFERING, NULL);
    b.p.EnableFlags = FLAG_PROCESS;
    b.p.BufferSize = 256;
    b.p.MinimumBuffers = 32; /* enough space for a busy machine */
    assert_int_equal(start_session("circular kernel CONTEXT logger", &b, &handle), ERROR_SUCCESS);
    assert_memory_equal(&b.p.Wnode.Guid, &trace_context_guid, sizeof trace_context_guid);
    b = block_of(TRACE_MODE_BUFFERING, NULL);
    assert_int_equal(start_session(TRACE_CONTEXT_LOGGER, &b, &other), ERROR_ALREADY_EXISTS);
    b.p.Wnode.Guid = trace_context_guid;
    assert_int_equal(start_session("another", &b, &other), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(handle, &trace_context_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 1, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    char *path = start("beside.etl", 0, 1, FLAG_PROCESS, &other);
    stop(other);
    memory_free(path);
    path = path_join(folder, "first.etl");
    run_child_until_reported(handle, path, true);
    memory_free(path);
    /* The session continues with its previous settings. Each snapshot closes a buffer: the child's start may have been
       overwritten by now. */
    path = path_join(folder, "second.etl");
    assert_in_range(read_session(handle, path, true).over, 1, SIZE_MAX);
    memory_free(path);
    b = block_of(0, NULL);
    b.p.Wnode.Guid = trace_context_guid;
    assert_int_equal(ControlTraceW(0, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_string_equal(narrow(b.name), "circular kernel CONTEXT logger");
    assert_int_equal(b.p.EnableFlags, FLAG_PROCESS);
    assert_int_equal(ControlTraceW(0, NULL, &b.p, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    b = block_of(0, NULL);
    b.p.Wnode.Guid = trace_context_guid;
    assert_int_equal(ControlTraceW(0, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
}

static void the_context_logger_is_circular_in_a_file_too(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    char *path = path_join(folder, "circular.etl");
    struct block b = block_of(TRACE_MODE_CIRCULAR, path);
    b.p.EnableFlags = FLAG_PROCESS | FLAG_THREAD;
    b.p.MaximumFileSize = 16; /* the child's start remains in the file even on a busy machine */
    assert_int_equal(start_session(TRACE_CONTEXT_LOGGER, &b, &handle), ERROR_SUCCESS);
    run_child_until_reported(handle, path, false);
    stop(handle);
    const struct seen seen = read_events(path);
    assert_in_range(seen.of_hook[HOOK_PROCESS_RUNDOWN_START], 3, SIZE_MAX);
    assert_in_range(seen.of_hook[HOOK_THREAD_RUNDOWN_END], 3, SIZE_MAX);
    memory_free(path);
}

static void an_unknown_source_is_reported(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    const unsigned before = journal_count(SESSION_WITHOUT_KERNEL);
    scratch_environment(KERNEL_SOURCE_VARIABLE, "ebpf");
    char *path = start("none.etl", 0, 1, FLAG_PROCESS, &handle);
    stop(handle);
    assert_int_equal(journal_count(SESSION_WITHOUT_KERNEL), before + 1);
    memory_free(path);
}

/* In each interval, each processor is sampled at most once, however often threads are switched and woken. */
static void samples_show_processor_use(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    const int64_t before = clock_ticks();
    char *path = start("samples.etl", 0, 1, FLAG_PROFILE, &handle);
    const clock_t from = clock();
    while (clock() - from < CLOCKS_PER_SEC / 5)
        ;
    stop(handle);
    const uint64_t intervals = (uint64_t)(clock_ticks() - before) / KERNEL_PROFILE_100NS + 2;
    const struct seen seen = read_events(path);
    assert_in_range(seen.of_hook[HOOK_SAMPLE], 10, processor_count() * intervals);
#ifndef _WIN32 /* native builds report Linux thread ids */
    assert_in_range(seen.own_samples, 10, seen.of_hook[HOOK_SAMPLE]);
#endif
    assert_int_equal(seen.of_hook[HOOK_SAMPLE_INTERVAL_START], 1);
    assert_int_equal(seen.of_hook[HOOK_SAMPLE_INTERVAL_END], 1);
    memory_free(path);
}

static void requests_without_a_source_are_reported_once(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    CLASSIC_EVENT_ID event = event_of(0x3D6FA8D1, HOOK_SWITCH & 0xFF);
    uint32_t sources[] = {2, 3},
             masks[] = {FLAG_PROCESS, 0x40 | 0x4, 0, 0, 0, 0, 1}; /* pool events, context switches, configuration */
    const unsigned flags = journal_count(SESSION_KERNEL_FLAGS), counters = journal_count(SESSION_KERNEL_COUNTERS),
                   stacks = journal_count(SESSION_KERNEL_STACKS);
    char *path = start("told.etl", 0, 1, FLAG_PROCESS | FLAG_SYSTEM_CALL, &handle);
    struct block b = block_of(0, NULL);
    b.p.EnableFlags = FLAG_SYSTEM_CALL;
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(TraceSetInformation(handle, TracePmcEventListInfo, &event, sizeof event), ERROR_SUCCESS);
        assert_int_equal(TraceSetInformation(handle, TracePmcCounterListInfo, sources, sizeof sources), ERROR_SUCCESS);
        assert_int_equal(TraceSetInformation(handle, TraceStackTracingInfo, &event, sizeof event), ERROR_SUCCESS);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks),
                         ERROR_SUCCESS);
    assert_int_equal(journal_count(SESSION_KERNEL_STACKS), stacks);
    event.Type = 0x60; /* an event that belongs to no thread here */
    for (int i = 0; i < 2; i++)
        assert_int_equal(TraceSetInformation(handle, TraceStackTracingInfo, &event, sizeof event), ERROR_SUCCESS);
    struct directory_session *sessions;
    size_t count;
    assert_int_equal(directory_sessions(own_directory(), &sessions, &count), S_OK);
    struct directory_kernel lists = {.count = {0}};
    for (size_t i = 0; i < count; i++)
        if (directory_handle(&sessions[i]) == handle)
            lists = sessions[i].lists;
    directory_sessions_free(sessions, count);
    stop(handle);
    assert_true(lists.count[DIRECTORY_COUNTER_SOURCES] == 2 && lists.counter[1] == 3 &&
                lists.count[DIRECTORY_COUNTED_EVENTS] == 1 && lists.counted[0] == HOOK_SWITCH &&
                lists.count[DIRECTORY_STACKS] == 1);
    assert_int_equal(journal_count(SESSION_KERNEL_FLAGS), flags + 2);       /* one entry for EnableFlags, one for the
                                                                               pool's mask */
    assert_int_equal(journal_count(SESSION_KERNEL_COUNTERS), counters + 2); /* one entry for the events, one for the
                                                                               counters */
    assert_int_equal(journal_count(SESSION_KERNEL_STACKS), stacks + 1);
    memory_free(path);
}

static ULONG enable_system(TRACEHANDLE handle, const GUID *provider, ULONG code, ULONGLONG keywords)
{
    return EnableTraceEx2(handle, provider, code, 0, keywords, 0, 0, NULL);
}

/* Two loggers run at the same time. Each gets only the events that it enables. */
static void system_providers_are_enabled_by_keywords(void **state)
{
    (void)state;
    static const GUID process = {0x151F55DC, 0x467D, 0x471F, {0x83, 0xB5, 0x5F, 0x88, 0x9D, 0x46, 0xFF, 0x66}},
                      scheduler = {0x599A2A76, 0x4D91, 0x4910, {0x9A, 0xC7, 0x7D, 0x33, 0xF2, 0xE9, 0x7A, 0x6C}};
    enum { GENERAL = 1, SWITCHES = 0x200 };
    static const char *const names[] = {"First system logger", "Second system logger", "No system logger"};
    TRACEHANDLE handle[3];
    char *path[3];
    for (int i = 0; i < 3; i++) {
        char file[16];
        snprintf(file, sizeof file, "system%d.etl", i);
        path[i] = path_join(folder, file);
        struct block b = block_of(i < 2 ? TRACE_MODE_SYSTEM_LOGGER : 0, path[i]);
        assert_int_equal(start_session(names[i], &b, &handle[i]), ERROR_SUCCESS);
    }
    assert_int_equal(enable_system(handle[2], &process, 1, GENERAL), ERROR_INVALID_PARAMETER);
    assert_int_equal(enable_system(handle[0], &process, 1, GENERAL), ERROR_SUCCESS);
    assert_int_equal(enable_system(handle[1], &scheduler, 1, SWITCHES), ERROR_SUCCESS);
    run_children();
    assert_int_equal(enable_system(handle[0], &process, 0, 0), ERROR_SUCCESS);
    run_children();
    for (int i = 0; i < 3; i++)
        stop(handle[i]);
    const struct seen first = read_events(path[0]), second = read_events(path[1]);
    assert_int_equal(first.ended, CHILDREN);
    assert_int_equal(first.of_hook[HOOK_SWITCH] + first.of_hook[HOOK_THREAD_START], 0);
    assert_int_equal(second.ended, 0);
    assert_in_range(second.of_hook[HOOK_SWITCH], 2 * CHILDREN, SIZE_MAX);
    for (int i = 0; i < 3; i++)
        memory_free(path[i]);
}

/* Counts the tracefs instances of one host process; this machine may run others. */
struct of_host {
    char owner[48];
    size_t count;
};

static HRESULT count_of_host(void *context, const char *name)
{
    struct of_host *of = context;
    of->count += strncmp(name, TRACE_INSTANCE_PREFIX, sizeof TRACE_INSTANCE_PREFIX - 1) == 0 && strstr(name, of->owner);
    return S_OK;
}

static size_t instances_of(struct of_host *of)
{
    of->count = 0;
    assert_int_equal(kernel_folder_each(TRACEFS_ROOT "/instances", count_of_host, of), S_OK);
    return of->count;
}

static void next_host_cleans_up_after_a_killed_host(void **state)
{
    (void)state;
    TRACEHANDLE handle;
    struct of_host of = {.count = 0};
    char *path = start("killed.etl", 0, 1, FLAG_PROCESS, &handle);
    struct directory_session *sessions;
    size_t count;
    assert_int_equal(directory_sessions(own_directory(), &sessions, &count), S_OK);
    assert_int_equal(count, 1);
    snprintf(of.owner, sizeof of.owner, "-%u-%llu-", (unsigned)sessions->host.id,
             (unsigned long long)sessions->host.start_time);
    const size_t before = instances_of(&of);
    assert_in_range(before, 1, SIZE_MAX);
    assert_int_equal(process_terminate(sessions->host.id, sessions->host.start_time), S_OK);
    directory_sessions_free(sessions, count);
    struct block b;
    while (control_session(handle, &b, EVENT_TRACE_CONTROL_QUERY) == ERROR_SUCCESS)
        child_sleep(10); /* until the host's end is detected and its session recovered */
    memory_free(path);
    path = start("next.etl", 0, 1, FLAG_PROCESS, &handle);
    assert_int_equal(instances_of(&of), 0);
    stop(handle);
    memory_free(path);
}

static int by_polling(void **state)
{
    (void)state;
    scratch_environment(KERNEL_SOURCE_VARIABLE, "polling");
    return 0;
}

static int by_tracefs(void **state)
{
    (void)state;
    scratch_environment(KERNEL_SOURCE_VARIABLE, "tracefs");
    return 0;
}

#define POLLING(test) cmocka_unit_test_setup(test, by_polling)
#define TRACEFS(test) cmocka_unit_test_setup(test, by_tracefs)

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        POLLING(without_tracefs_processes_are_reported),
        POLLING(without_tracefs_stacks_have_no_source),
        POLLING(masks_without_a_flag_are_reported_too),
        POLLING(the_context_logger_keeps_the_latest_in_memory),
        POLLING(the_context_logger_is_circular_in_a_file_too),
        POLLING(an_unknown_source_is_reported),
        TRACEFS(a_known_load_is_in_the_file),
        TRACEFS(interrupts_have_their_length_in_each_clock),
        TRACEFS(update_changes_the_recorded_events),
        TRACEFS(requests_without_a_source_are_reported_once),
        TRACEFS(chosen_events_have_their_stacks_in_each_clock),
        TRACEFS(samples_show_processor_use),
        TRACEFS(system_providers_are_enabled_by_keywords),
        TRACEFS(next_host_cleans_up_after_a_killed_host),
    };
    enum { ALL = sizeof tests / sizeof *tests, BY_POLLING = 6 };
    child_program = arguments[0];
    if (count > 3) {
        if (strcmp(arguments[1], "stay") == 0)
            child_sleep(CHILD_PATIENCE);
        return (int)strtoul(arguments[2], NULL, 10);
    }
    exit_code = ((uint32_t)clock_utc() & 0x3FFFFF) + 1000;
    const bool tracefs = SUCCEEDED(trace_instance_possible(NULL));
    return controller_tests(tests, tracefs ? ALL : BY_POLLING, "test_etw_kernel", &folder);
}
