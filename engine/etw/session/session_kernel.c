/* SPDX-License-Identifier: MIT */
/* The kernel's events of a session. A thread of the session's host process reads these events from the kernel, and
   writes them into the session's buffers as a provider does.

   The thread also writes notes. A note is an event that reports which kernel events the trace lacks, and why. The
   provider of all notes is "OpenPLA.KernelLogger" {52b0624b-b22e-586c-51bc-52916798064f}. Notes are self-describing, so
   every reader of TraceLogging events shows them.

   Each system provider of newer Windows versions corresponds to some of the kernel's flags. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/kernel/kernel_tracer.h"
#include "engine/etw/kernel_event.h"
#include "engine/etw/session/session_host.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_reserve.h"
#include "engine/etw/trace_properties.h"
#include "engine/logs/etl_record.h"

#include <stdio.h>
#include <string.h>

/* ---- notes ---- */

enum { NOTE_STAMP_AT = 16 }; /* offset of the record's time stamp */

enum { HEAD = 0x50, HEADER_64 = 0x13, CHANNEL_TRACE_LOGGING = 11 };
enum { LEVEL_WARNING = 3, LEVEL_INFORMATION = 4 };
/* In-types of TraceLogging: UTF-16 with a NUL, and so on. */
enum { TEXT = 1, NUMBER_64 = 10, BOOLEAN_32 = 13, HEX_32 = 20 };

static const GUID note_provider = {0x52b0624b, 0xb22e, 0x586c, {0x51, 0xbc, 0x52, 0x91, 0x67, 0x98, 0x06, 0x4f}};

struct field {
    const char *name;
    uint8_t type;
};

static void put_head(struct kernel_data *d, uint8_t level)
{
    kernel_data_clear(d);
    kernel_data_u16(d, 0); /* size of the event; filled in when the event is complete */
    kernel_data_u8(d, HEADER_64);
    kernel_data_u8(d, ETL_MARKS);
    kernel_data_u16(d, ETW_HEADER_EXTENDED_INFO | ETW_HEADER_NO_CPUTIME);
    kernel_data_u16(d, 0);
    kernel_data_u32(d, thread_own_id());
    kernel_data_u32(d, process_own_id());
    kernel_data_u64(d, 0); /* NOTE_STAMP_AT */
    kernel_data_bytes(d, &note_provider, sizeof note_provider);
    kernel_data_u16(d, 0); /* id */
    kernel_data_u8(d, 0);  /* version */
    kernel_data_u8(d, CHANNEL_TRACE_LOGGING);
    kernel_data_u8(d, level);
    kernel_data_u8(d, 0);  /* opcode */
    kernel_data_u16(d, 0); /* task */
    kernel_data_u64(d, 0); /* keyword */
    while (d->size < HEAD && !d->failed)
        kernel_data_u64(d, 0); /* processor times, activity */
}

/* An item consists of a head {u16 size rounded up to 8, u16 type, u16 flag that another item follows, u16 size of the
   data} and of data. The data begin with their own size. */
static void begin_item(struct kernel_data *d, uint16_t type, bool more)
{
    kernel_data_u16(d, 0);
    kernel_data_u16(d, type);
    kernel_data_u16(d, more);
    kernel_data_u16(d, 0);
    kernel_data_u16(d, 0);
}

static void end_item(struct kernel_data *d, size_t begin)
{
    const size_t bytes = d->size - begin - 8;
    while (d->size % 8 != 0 && !d->failed)
        kernel_data_u8(d, 0);
    if (d->failed)
        return;
    put_u16(d->bytes + begin, (uint16_t)(d->size - begin));
    put_u16(d->bytes + begin + 6, (uint16_t)bytes);
    put_u16(d->bytes + begin + 8, (uint16_t)bytes);
}

static void put_schema(struct kernel_data *d, const char *event, const struct field *fields, size_t count)
{
    const size_t traits = d->size;
    begin_item(d, ETW_ITEM_TRAITS, true);
    kernel_data_ansi(d, "OpenPLA.KernelLogger");
    end_item(d, traits);
    const size_t schema = d->size;
    begin_item(d, ETW_ITEM_SCHEMA_TL, false);
    kernel_data_u8(d, 0); /* tags */
    kernel_data_ansi(d, event);
    for (size_t i = 0; i < count; i++) {
        kernel_data_ansi(d, fields[i].name);
        kernel_data_u8(d, fields[i].type);
    }
    end_item(d, schema);
}

static void put_size(struct kernel_data *d)
{
    if (!d->failed)
        put_u16(d->bytes, (uint16_t)d->size);
}

/* Names of the EVENT_TRACE_FLAG_ constants of evntrace.h. */
static const struct {
    uint32_t flag;
    const char *name;
} flag_names[] = {
    {FLAG_PROCESS, "PROCESS"},
    {FLAG_THREAD, "THREAD"},
    {FLAG_IMAGE_LOAD, "IMAGE_LOAD"},
    {FLAG_PROCESS_COUNTERS, "PROCESS_COUNTERS"},
    {FLAG_SWITCH, "CSWITCH"},
    {FLAG_DPC, "DPC"},
    {FLAG_INTERRUPT, "INTERRUPT"},
    {FLAG_SYSTEM_CALL, "SYSTEMCALL"},
    {FLAG_DISK, "DISK_IO"},
    {FLAG_DISK_FILE, "DISK_FILE_IO"},
    {FLAG_DISK_INIT, "DISK_IO_INIT"},
    {FLAG_DISPATCHER, "DISPATCHER"},
    {FLAG_PAGE_FAULTS, "MEMORY_PAGE_FAULTS"},
    {FLAG_HARD_FAULTS, "MEMORY_HARD_FAULTS"},
    {0x4000, "VIRTUAL_ALLOC"},
    {0x8000, "VAMAP"},
    {FLAG_NETWORK, "NETWORK_TCPIP"},
    {0x20000, "REGISTRY"},
    {0x40000, "DBGPRINT"},
    {0x80000, "JOB"},
    {0x100000, "ALPC"},
    {0x200000, "SPLIT_IO"},
    {0x400000, "DEBUG_EVENTS"},
    {0x800000, "DRIVER"},
    {0x1000000, "PROFILE"},
    {0x2000000, "FILE_IO"},
    {0x4000000, "FILE_IO_INIT"},
};

static void put_flag_names(struct kernel_data *d, uint32_t flags)
{
    char names[512] = "";
    size_t at = 0;
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++)
        if ((flags & flag_names[i].flag) != 0) {
            text_fit(names + at, sizeof names - at, at != 0 ? ", " : "");
            at += strlen(names + at);
            text_fit(names + at, sizeof names - at, flag_names[i].name);
            at += strlen(names + at);
        }
    kernel_data_text(d, names, sizeof names);
}

/* Writes a "Source" record: where the events come from, why a better source is not used, `flags`, and the requested
   flags that have no source. */
static void kernel_note_source(const struct kernel_state *state, uint32_t flags, struct kernel_data *record)
{
    static const struct field fields[] = {
        {"Source", TEXT},
        {"Reason", TEXT},
        {"EnableFlags", HEX_32},
        {"FlagsWithoutSource", HEX_32},
        {"EventsWithoutSource", TEXT},
        {"ProcessesOfOthersHidden", BOOLEAN_32},
    };
    put_head(record, *state->why || state->hides_processes ? LEVEL_WARNING : LEVEL_INFORMATION);
    put_schema(record, "Source", fields, sizeof fields / sizeof *fields);
    kernel_data_text(record, state->source, SIZE_MAX);
    kernel_data_text(record, state->why, SIZE_MAX);
    kernel_data_u32(record, flags);
    kernel_data_u32(record, state->missing);
    put_flag_names(record, state->missing);
    kernel_data_u32(record, state->hides_processes);
    put_size(record);
}

/* Writes a "Missed" record: how many processes and threads began and ended undetected since the previous record. */
static void kernel_note_missed(uint64_t count, struct kernel_data *record)
{
    static const struct field fields[] = {{"Count", NUMBER_64}};
    put_head(record, LEVEL_WARNING);
    put_schema(record, "Missed", fields, sizeof fields / sizeof *fields);
    kernel_data_u64(record, count);
    put_size(record);
}

/* ---- system providers ---- */

/* GUIDs and keywords are from Microsoft's page on system providers. Keywords without a flag have no events here. */

enum { MOST_KEYWORDS = 9 };

static const struct system_provider {
    GUID guid;
    struct {
        uint32_t keyword, flags;
    } row[MOST_KEYWORDS]; /* ends at the first row without flags */
} providers[] = {
    /* Process */
    {{0x151F55DC, 0x467D, 0x471F, {0x83, 0xB5, 0x5F, 0x88, 0x9D, 0x46, 0xFF, 0x66}},
     {{0x1, FLAG_PROCESS},
      {0x8, FLAG_PROCESS_COUNTERS},
      {0x80, FLAG_DEBUG_EVENTS},
      {0x100, FLAG_DEBUG_PRINT},
      {0x200, FLAG_JOB},
      {0x800, FLAG_THREAD},
      {0x1000, FLAG_IMAGE_LOAD}}},
    /* Config: needs no flags, because sessions log the machine's configuration anyway */
    {{0xFEF3A8B6, 0x318D, 0x4B67, {0xA9, 0x6A, 0x3B, 0x0F, 0x6B, 0x8F, 0x18, 0xFE}}, {{0}}},
    /* Io */
    {{0x3D5C43E3, 0x0F1C, 0x4202, {0xB8, 0x17, 0x17, 0x4C, 0x00, 0x70, 0xDC, 0x79}},
     {{0x1, FLAG_DISK},
      {0x2, FLAG_DISK_INIT},
      {0x4, FLAG_DISK_FILE},
      {0x8, FLAG_SPLIT_IO},
      {0x10, FLAG_FILE_IO},
      {0x80, FLAG_DRIVER | FLAG_DISK_FILE},
      {0x200, FLAG_NETWORK},
      {0x400, FLAG_FILE_IO_INIT}}},
    /* Scheduler */
    {{0x599A2A76, 0x4D91, 0x4910, {0x9A, 0xC7, 0x7D, 0x33, 0xF2, 0xE9, 0x7A, 0x6C}},
     {{0x2, FLAG_DISPATCHER}, {0x200, FLAG_SWITCH}}},
    /* Memory */
    {{0x82958CA9, 0xB6CD, 0x47F8, {0xA3, 0xA8, 0x03, 0xAE, 0x85, 0xA4, 0xBC, 0x24}},
     {{0x2, FLAG_HARD_FAULTS}, {0x4, FLAG_PAGE_FAULTS}, {0x400, FLAG_VIRTUAL_ALLOC}, {0x4000, FLAG_MAPPING}}},
    /* Interrupt */
    {{0xD4BBEE17, 0xB545, 0x4888, {0x85, 0x8B, 0x74, 0x41, 0x69, 0x01, 0x5B, 0x25}},
     {{0x1, FLAG_INTERRUPT}, {0x4, FLAG_DPC}}},
    /* Profile, Syscall, Registry, Alpc */
    {{0xBFEB0324, 0x1CEE, 0x496F, {0xA4, 0x09, 0x2A, 0xC2, 0xB4, 0x8A, 0x63, 0x22}}, {{0x1, FLAG_PROFILE}}},
    {{0x434286F7, 0x6F1B, 0x45BB, {0xB3, 0x7E, 0x95, 0xF6, 0x23, 0x04, 0x6C, 0x7C}}, {{0x1, FLAG_SYSTEM_CALL}}},
    {{0x16156BD9, 0xFAB4, 0x4CFA, {0xA2, 0x32, 0x89, 0xD1, 0x09, 0x90, 0x58, 0xE3}}, {{0x1, FLAG_REGISTRY}}},
    {{0xFCB9BAAF, 0xE529, 0x4980, {0x92, 0xE9, 0xCE, 0xD1, 0xA6, 0xAA, 0xDF, 0xDF}}, {{0x1, FLAG_ALPC}}},
    /* Power, Cpu, Hypervisor, Object, IoFilter, Lock, Timer */
    {{0xC134884A, 0x32D5, 0x4488, {0x80, 0xE5, 0x14, 0xED, 0x7A, 0xBB, 0x82, 0x69}}, {{0}}},
    {{0xC6C5265F, 0xEAE8, 0x4650, {0xAA, 0xE4, 0x9D, 0x48, 0x60, 0x3D, 0x85, 0x10}}, {{0}}},
    {{0xBAFA072A, 0x918A, 0x4BED, {0xB6, 0x22, 0xBC, 0x15, 0x20, 0x97, 0x09, 0x8F}}, {{0}}},
    {{0xFEBD7460, 0x3D1D, 0x47EB, {0xAF, 0x49, 0xC9, 0xEE, 0xB1, 0xE1, 0x46, 0xF2}}, {{0}}},
    {{0xFBD09363, 0x9E22, 0x4661, {0xB8, 0xBF, 0xE7, 0xA3, 0x4B, 0x53, 0x5B, 0x8C}}, {{0}}},
    {{0x721DDFD3, 0xDACC, 0x4E1E, {0xB2, 0x6A, 0xA2, 0xCB, 0x31, 0xD4, 0x70, 0x5A}}, {{0}}},
    {{0x4F061568, 0xE215, 0x499F, {0xAB, 0x2E, 0xED, 0xA0, 0xAE, 0x89, 0x0A, 0x5B}}, {{0}}},
};

static const struct system_provider *system_provider_find(const GUID *guid)
{
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++)
        if (guid_equal(&providers[i].guid, guid))
            return &providers[i];
    return NULL;
}

bool system_provider_is_one(const GUID *provider)
{
    return system_provider_find(provider) != NULL;
}

/* Returns the EnableFlags (enum kernel_flag) for these keywords; without a keyword, those for all keywords. */
static uint32_t system_provider_flags(const GUID *provider, uint64_t keywords)
{
    const struct system_provider *p = system_provider_find(provider);
    uint32_t flags = 0;
    for (size_t i = 0; p && i < MOST_KEYWORDS && p->row[i].flags != 0; i++)
        if (keywords == 0 || (keywords & p->row[i].keyword) != 0)
            flags |= p->row[i].flags;
    return flags;
}

HRESULT system_providers_enabled(struct directory *d, const struct directory_session *s, uint32_t *flags)
{
    struct directory_enable *enables;
    uint64_t revision;
    size_t count;
    *flags = 0;
    const HRESULT hr = directory_enables(d, NULL, &enables, &count, &revision);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (enables[i].logger == s->logger && enables[i].generation == s->generation)
            *flags |= system_provider_flags(&enables[i].provider, enables[i].any);
    directory_enables_free(enables, count); /* the list is empty after a failure */
    return hr;
}

/* ---- the thread ---- */

enum { PASS_MS = 50 };
enum { SYSTEM_HEAD = 0x20, SHORT_HEAD = 0x10, SHORT_64 = 0x11 };

struct session_kernel {
    const struct directory_session *session; /* changed by the host process's thread; this thread does not read it */
    struct directory *directory;
    uint32_t clock;
    struct session_buffers buffers; /* a copy whose `method` is PROCESSOR_UNKNOWN, so that writer.processor is used */
    struct session_writer writer;
    struct kernel_tracer *tracer;
    struct thread *thread;
    struct wakeup *wakeup;
    /* Readings of the clocks, for converting times. A time that is converted again must give the same result as
       before. */
    struct clock_reading first, before, now;
    uint64_t newest; /* ticks: times up to this one are converted with `before`, later ones with `now` */
    uint64_t written;
    uint64_t lost; /* number of losses in the kernel that the session has already counted */
    char *name;    /* name of the session */
    uint32_t flags;
    struct kernel_state reported; /* last state reported in the trace and the journal; its `why` is in reported_why */
    char reported_why[256];
    struct kernel_data note;
    bool has_stacks; /* whether the source could supply stacks at the start */
    /* A new list of events with stacks. The thread of the session's host owns the list until the thread of the kernel's
       events takes it. */
    _Atomic(struct stack_list *) stacks;
};
struct stack_list {
    size_t count;
    uint16_t hooks[DIRECTORY_STACK_EVENTS];
};

bool session_kernel_is_one(const struct directory_session *s)
{
    return s->kernel || (s->mode & TRACE_MODE_SYSTEM_LOGGER) != 0 ||
           memcmp(&s->guid, &trace_context_guid, sizeof s->guid) == 0;
}

/* ---- time ---- */

static void read_clocks(struct session_kernel *k)
{
    k->before = k->now;
    k->newest = k->written;
    k->now = clock_read(); /* clock_read is used because an inexact reading could reorder events */
}

static uint64_t session_time(const struct session_kernel *k, uint64_t ticks)
{
    const struct clock_reading *at = ticks <= k->newest ? &k->before : &k->now;
    const int64_t before = at->ticks - (int64_t)ticks, passed = at->ticks - k->first.ticks;
    switch (k->clock) {
    case ETL_CLOCK_SYSTEM:
        return (uint64_t)(at->utc - before);
    case ETL_CLOCK_CYCLES: {
        const double rate =
            passed > 0 ? (double)(at->cycles - k->first.cycles) / (double)passed : clock_cpu_mhz() / 10.0;
        return at->cycles - (uint64_t)(int64_t)((double)before * rate);
    }
    default:
        return ticks;
    }
}

/* ---- events ---- */

/* Writes the event with its original time, as a provider on the event's processor would have done. */
static HRESULT kernel_write_event(void *context, const struct kernel_event *e)
{
    struct session_kernel *k = context;
    const uint32_t head = e->is_system ? SYSTEM_HEAD : SHORT_HEAD, size = head + e->size;
    uint64_t stamp;
    k->writer.processor = e->processor;
    uint8_t *at = session_reserve(&k->buffers, &k->writer, size, &stamp);
    if (!at)
        return S_OK; /* not a failure: session_reserve has counted the event as lost */
    const uint8_t type = e->is_system ? ETL_HEADER_SYSTEM_64 : SHORT_64;
    const uint64_t first = (uint64_t)e->version | (uint64_t)type << 16 | (uint64_t)ETL_MARKS << 24 |
                           (uint64_t)size << 32 | (uint64_t)e->hook << 48;
    uint8_t *stamp_at = at + 8;
    if (e->is_system) {
        put_u32(at + 8, e->thread);
        put_u32(at + 12, e->process);
        stamp_at = at + 16;
        put_u64(at + 24, 0); /* processor times */
    }
    put_u64(stamp_at, session_time(k, e->time));
    k->written = e->time > k->written ? e->time : k->written;
    memcpy(at + head, e->data, e->size);
    if (e->has_start)
        put_u64(at + head, session_time(k, get_u64(e->data)));
    session_commit(at, first | SESSION_OWN_STAMP);
    return S_OK;
}

/* Writes k->note as an event of this time. */
static void write_note(struct session_kernel *k, uint64_t time)
{
    struct kernel_data *note = &k->note;
    const uint32_t size = (uint32_t)note->size;
    uint64_t stamp;
    k->writer.processor = 0;
    uint8_t *at = note->failed ? NULL : session_reserve(&k->buffers, &k->writer, size, &stamp);
    if (!at)
        return;
    put_u64(note->bytes + NOTE_STAMP_AT, session_time(k, time));
    memcpy(at + 8, note->bytes + 8, size - 8);
    session_commit(at, get_u64(note->bytes) | SESSION_OWN_STAMP);
}

/* Reports a change of the source, of the events that the source lacks, or of the visible processes. The report goes to
   the trace and to the journal. */
static void kernel_note_state(struct session_kernel *k)
{
    struct kernel_state now;
    kernel_tracer_state(k->tracer, &now);
    const bool first = !k->reported.source, other_source = first || strcmp(k->reported_why, now.why) != 0;
    const bool hidden = now.hides_processes && !k->reported.hides_processes;
    if (!other_source && now.missing == k->reported.missing && now.hides_processes == k->reported.hides_processes)
        return;
    k->reported = now;
    text_fit(k->reported_why, sizeof k->reported_why, now.why);
    if (other_source && *now.why)
        session_journal_source(SESSION_KERNEL_POORER, k->name, now.source, now.why);
    if (hidden)
        session_journal_source(SESSION_KERNEL_HIDDEN, k->name, NULL, NULL);
    kernel_note_source(&now, k->flags, &k->note);
    write_note(k, now.time);
}

static void kernel_count_lost(struct session_kernel *k)
{
    const uint64_t lost = kernel_tracer_lost(k->tracer), missed = lost - k->lost;
    struct kernel_state state;
    kernel_tracer_state(k->tracer, &state);
    for (; k->lost < lost; k->lost++)
        session_count_lost(&k->buffers, &k->writer);
    if (missed == 0 || !*state.why)
        return;
    kernel_note_missed(missed, &k->note);
    write_note(k, state.time);
}

/* Applies a new list of events with stacks. On failure, events have no stacks. */
static void kernel_apply_stacks(struct session_kernel *k)
{
    struct stack_list *list = atomic_exchange(&k->stacks, NULL);
    if (list)
        (void)kernel_tracer_stacks(k->tracer, list->hooks, list->count);
    memory_free(list);
}

static void kernel_pass(struct session_kernel *k, bool last)
{
    const struct kernel_sink sink = {kernel_write_event, k};
    kernel_apply_stacks(k);
    kernel_tracer_interval(k->tracer, directory_profile_interval(k->directory));
    read_clocks(k);
    (void)kernel_tracer_pass(k->tracer, last, &sink);
    kernel_note_state(k);
    kernel_count_lost(k);
}

static void kernel_run_thread(void *user)
{
    struct session_kernel *k = user;
    const struct kernel_sink sink = {kernel_write_event, k};
    k->writer.thread = thread_own_id();
    kernel_apply_stacks(k);
    kernel_tracer_interval(k->tracer, directory_profile_interval(k->directory));
    read_clocks(k);
    (void)kernel_tracer_rundown(k->tracer, false, &sink);
    kernel_note_state(k);
    while (!wakeup_wait(k->wakeup, PASS_MS))
        kernel_pass(k, false);
    kernel_pass(k, true);
    read_clocks(k);
    (void)kernel_tracer_rundown(k->tracer, true, &sink);
}

/* ---- release and reports ---- */

static void session_kernel_release(struct session_kernel *k)
{
    if (FAILED(kernel_tracer_end(k->tracer)))
        session_journal_event(SESSION_KERNEL_LEFT, k->session, S_OK, 0);
    thread_close(k->thread);
    wakeup_free(k->wakeup);
    memory_free(atomic_load(&k->stacks));
    kernel_data_free(&k->note);
    memory_free(k->name);
    memory_free(k);
}

/* Reports, as PERF_ constants, the bits of the group masks for which no flag exists. Bits of the configuration mask are
   omitted: they select the configuration and have no events. */
static void kernel_report_masks(const struct directory_session *s, struct session_kernel_reported *reported)
{
    enum { BITS = 29, CONFIGURATION = 6, SHOWN = 16 };
    char constants[SHOWN * 12 + 1] = "", *end = constants;
    for (uint32_t m = 1; m < GROUP_MASKS; m++)
        for (uint32_t bit = 0; m != CONFIGURATION && bit < BITS; bit++) {
            const uint32_t mask = s->enable_flags[m] & ~reported->masks[m] & UINT32_C(1) << bit,
                           constant = m << BITS | mask;
            uint32_t alone[GROUP_MASKS] = {0};
            alone[m] = mask;
            if (mask == 0 || group_masks_flags(alone) != 0)
                continue;
            reported->masks[m] |= mask;
            if (constants + sizeof constants - end > 12)
                end += snprintf(end, 12, "%s0x%08X", end == constants ? "" : " ", (unsigned)constant);
        }
    if (end != constants)
        session_journal_missing(SESSION_KERNEL_FLAGS, s, "GroupMasks", constants);
}

/* Reports requested flags that have no source, each flag once. */
static void kernel_report_missing(const struct directory_session *s, uint32_t missing,
                                  struct session_kernel_reported *reported)
{
    char number[16];
    missing &= ~reported->masks[0];
    reported->masks[0] |= missing;
    kernel_report_masks(s, reported);
    if (missing == 0)
        return;
    snprintf(number, sizeof number, "0x%08X", (unsigned)missing);
    session_journal_missing(SESSION_KERNEL_FLAGS, s, "EnableFlags", number);
}

/* ---- lists ---- */

static void kernel_report_list(const struct directory_session *s, enum directory_kernel_list list,
                               struct session_kernel_reported *reported)
{
    static const char *const classes[] = {
        [DIRECTORY_PROFILE_SOURCES] = "TraceProfileSourceConfigInfo",
        [DIRECTORY_COUNTED_EVENTS] = "TracePmcEventListInfo",
        [DIRECTORY_COUNTER_SOURCES] = "TracePmcCounterListInfo",
    };
    if (list == DIRECTORY_STACKS || s->lists.count[list] == 0 || reported->lists[list])
        return;
    reported->lists[list] = true;
    session_journal_missing(SESSION_KERNEL_COUNTERS, s, "InformationClass", classes[list]);
}

static void kernel_report_stacks(const struct directory_session *s, bool has_stacks,
                                 struct session_kernel_reported *reported)
{
    enum { SHOWN = 16 };
    char hooks[SHOWN * 8 + 8] = "", *end = hooks;
    size_t missing = 0;
    for (uint32_t i = 0; i < s->lists.count[DIRECTORY_STACKS]; i++) {
        const uint16_t hook = s->lists.stack[i];
        if (has_stacks && kernel_has_stacks(hook))
            continue;
        if (missing < SHOWN)
            end += snprintf(end, 8, "%s0x%04X", missing ? " " : "", hook);
        missing++;
    }
    if (missing > SHOWN)
        (void)snprintf(end, 5, " ...");
    if (missing == 0 || reported->lists[DIRECTORY_STACKS])
        return;
    reported->lists[DIRECTORY_STACKS] = true;
    session_journal_missing(SESSION_KERNEL_STACKS, s, "Events", hooks);
}

static void kernel_submit_stacks(struct session_kernel *k, const struct directory_session *s)
{
    struct stack_list *list = memory_alloc(sizeof *list);
    if (!list)
        return; /* the previous list stays in use */
    list->count = s->lists.count[DIRECTORY_STACKS];
    memcpy(list->hooks, s->lists.stack, sizeof list->hooks);
    memory_free(atomic_exchange(&k->stacks, list));
}

void session_kernel_list(struct session_kernel *k, const struct directory_session *s, enum directory_kernel_list list,
                         struct session_kernel_reported *reported)
{
    kernel_report_list(s, list, reported);
    if (list != DIRECTORY_STACKS)
        return;
    kernel_report_stacks(s, !k || k->has_stacks, reported);
    if (k)
        kernel_submit_stacks(k, s);
}

/* ---- start and stop ---- */

HRESULT session_kernel_begin(struct directory *d, const struct directory_session *s, const struct session_buffers *b,
                             struct session_kernel_reported *reported, struct session_kernel **out)
{
    enum { NO_CONFIGURATION = 0x10000000 };
    uint32_t flags = group_masks_flags(s->enable_flags) & ~(uint32_t)NO_CONFIGURATION, enabled = 0;
    char name[48];
    *out = NULL;
    if (!session_kernel_is_one(s))
        return S_FALSE;
    const HRESULT had = system_providers_enabled(d, s, &enabled);
    if (FAILED(had))
        session_journal_event(SESSION_WITHOUT_KERNEL, s, had, 0);
    flags |= enabled;
    if (flags == 0) {
        kernel_report_masks(s, reported);
        return S_FALSE;
    }
    struct session_kernel *k = memory_zero(1, sizeof *k);
    if (!k)
        return E_OUTOFMEMORY;
    snprintf(name, sizeof name, "%u-%u", (unsigned)s->logger, (unsigned)s->generation);
    const struct kernel_tracer_options options = {
        .name = name,
        .flags = flags,
        .configuration = (group_masks_flags(s->enable_flags) & NO_CONFIGURATION) == 0,
    };
    k->session = s;
    k->directory = d;
    k->flags = flags;
    k->clock = s->clock;
    k->buffers = *b;
    k->buffers.method = PROCESSOR_UNKNOWN;
    read_clocks(k);
    k->first = k->now;
    k->name = text_copy(s->name);
    HRESULT hr = k->name ? directory_join(d, &k->writer.owner) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = wakeup_create(&k->wakeup);
    if (SUCCEEDED(hr))
        hr = kernel_tracer_begin(&options, &k->tracer);
    if (SUCCEEDED(hr)) {
        struct kernel_state state;
        kernel_tracer_state(k->tracer, &state);
        k->has_stacks = state.has_stacks;
        kernel_report_missing(s, flags & ~kernel_tracer_sources(k->tracer), reported);
        if (s->lists.count[DIRECTORY_STACKS] != 0)
            session_kernel_list(k, s, DIRECTORY_STACKS, reported);
        hr = thread_start(kernel_run_thread, k, &k->thread);
    }
    if (FAILED(hr)) {
        session_journal_event(SESSION_WITHOUT_KERNEL, s, hr, 0);
        session_kernel_release(k);
        return S_FALSE;
    }
    *out = k;
    return S_OK;
}

void session_kernel_stop(struct session_kernel *k)
{
    if (k)
        wakeup_set(k->wakeup);
}

bool session_kernel_ended(struct session_kernel *k, uint32_t timeout_ms)
{
    if (!k)
        return true;
    if (!thread_wait(k->thread, timeout_ms))
        return false;
    session_kernel_release(k);
    return true;
}
