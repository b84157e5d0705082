/* SPDX-License-Identifier: MIT */
/* Kernel events of a known load on this machine: child processes that start and exit, threads, context switches. The
   events must contain the process ids that programs see; under Wine, these are Windows process ids. Skipped without
   access to tracefs. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/thread.h"
#include "engine/etw/kernel/kernel_tracer.h"
#include "engine/etw/trace_instance.h"
#include "tests/unit/child_process.h"
#include "tests/unit/kernel_process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

enum { CHILDREN = 5, EXIT_CODE = 42, SKIPPED = 77, MOST = 100000, STILL_ACTIVE_CODE = 259, PASS_MS = 20 };

/* Sizes of the events with a fixed size. */
static const struct {
    enum kernel_hook hook;
    uint32_t size;
} sizes[] = {
    {HOOK_SWITCH, 24},
    {HOOK_READY, 8},
    {HOOK_INTERRUPT, 20},
    {HOOK_DPC, 16},
    {HOOK_TIMER_DPC, 16},
    {HOOK_FAULT_ZERO, 16},
    {HOOK_FAULT_COPY, 16},
    {HOOK_FAULT_TRANSITION, 16},
    {HOOK_HARD_FAULT, 40},
    {HOOK_DISK_READ, 52},
    {HOOK_DISK_WRITE, 52},
    {HOOK_DISK_FLUSH, 28},
    {HOOK_DISK_READ_INIT, 12},
    {HOOK_DISK_WRITE_INIT, 12},
    {HOOK_CONFIGURATION + 10, 828},
    {HOOK_CONFIGURATION + 11, 568},
    {HOOK_CONFIGURATION + 12, 112},
    {HOOK_CONFIGURATION + 16, 8},
};

/* Copies of the process and thread events received, and their counts. */
static struct came {
    uint16_t hook;
    uint32_t process, thread, code, parent;
    char name[64], command[16]; /* the end of the command line */
} * came;
static size_t count, of_hook[0x10000];
static uint32_t children[CHILDREN];

/* Reads UTF-16; the test's strings are ASCII. */
static void note_command(const uint8_t *at, const uint8_t *end, char *out, size_t room)
{
    size_t length = 0;
    while (at + 2 * length + 1 < end && at[2 * length] != 0)
        length++;
    const size_t from = length >= room ? length - room + 1 : 0;
    for (size_t i = from; i < length; i++)
        out[i - from] = (char)at[2 * i];
    out[length - from] = 0;
}

/* Reads from /proc/cpuinfo whether the processors have the flag. The flags are the words of one line. */
static bool processors_have(const char *flag)
{
    char *text;
    assert_int_equal(kernel_file_text("/proc/cpuinfo", &text, NULL), S_OK);
    const bool have = strstr(text, flag) != NULL;
    memory_free(text);
    return have;
}

static HRESULT note(void *context, const struct kernel_event *e)
{
    (void)context;
    of_hook[e->hook]++;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (e->hook == sizes[i].hook)
            assert_int_equal(e->size, sizes[i].size);
    if (e->hook == HOOK_CONFIGURATION + 10) {
        enum { PAE = 822, NX = 823 };
        assert_int_equal(e->data[PAE], processors_have(" pae "));
        assert_int_equal(e->data[NX], processors_have(" nx "));
    }
    if ((e->hook >> 8 != 0x03 && e->hook >> 8 != 0x05) || (e->hook & 0xFF) > 4)
        return S_OK;
    assert_in_range(count, 0, MOST - 1);
    struct came *c = &came[count++];
    *c = (struct came){.hook = e->hook};
    if (e->hook >> 8 == 0x03) {
        c->process = get_u32(e->data + PROCESS_ID);
        c->parent = get_u32(e->data + PROCESS_PARENT);
        c->code = get_u32(e->data + PROCESS_CODE);
        const char *name = process_name(e->data, e->size);
        snprintf(c->name, sizeof c->name, "%s", name);
        note_command((const uint8_t *)name + strlen(name) + 1, e->data + e->size, c->command, sizeof c->command);
    } else {
        c->process = get_u32(e->data);
        c->thread = get_u32(e->data + 4);
    }
    return S_OK;
}
static const struct kernel_sink sink = {note, NULL};

/* Counts events of one process; UINT32_MAX: of all processes. */
static size_t how_many(enum kernel_hook hook, uint32_t process, const char *name, uint32_t code)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += came[i].hook == hook && (came[i].process == process || process == UINT32_MAX) &&
             process_is_called(came[i].name, name) && came[i].code == code;
    return n;
}

static size_t threads_of(enum kernel_hook hook, uint32_t process, uint32_t thread)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += came[i].hook == hook && came[i].process == process && came[i].thread == thread;
    return n;
}

static size_t ended_children(void)
{
    size_t n = 0;
    for (size_t i = 0; i < CHILDREN; i++)
        n += how_many(HOOK_PROCESS_END, children[i], child_program, EXIT_CODE);
    return n;
}

static struct kernel_tracer *begin(uint32_t flags)
{
    const struct kernel_tracer_options options = {.name = "events", .flags = flags};
    struct kernel_tracer *k;
    memset(of_hook, 0, sizeof of_hook);
    count = 0;
    assert_int_equal(kernel_tracer_begin(&options, &k), S_OK);
    assert_int_equal(kernel_tracer_rundown(k, false, &sink), S_OK);
    return k;
}

/* On a busy machine, frequent events arrive faster than they are read, and some are lost; rare events are never
   lost. */
static void end(struct kernel_tracer *k, bool rare)
{
    assert_int_equal(kernel_tracer_pass(k, true, &sink), S_OK);
    if (rare)
        assert_int_equal(kernel_tracer_lost(k), 0);
    assert_int_equal(kernel_tracer_end(k), S_OK);
}

static void run_children(struct kernel_tracer *k)
{
    for (int i = 0; i < CHILDREN; i++) {
        struct process *p = child_start("end", "a", "b");
        children[i] = process_id(p);
        for (int left = CHILD_PATIENCE / PASS_MS; process_wait(p, PASS_MS, NULL) == S_FALSE; left--) {
            assert_int_not_equal(left, 0);
            assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
        }
        process_close(p);
        assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
    }
}

/* Each process has one start (reported for its parent), one thread, and one exit, in this order and with the known
   numbers. */
static void processes_start_and_exit_with_names_and_codes(void **state)
{
    (void)state;
    struct kernel_tracer *k = begin(FLAG_PROCESS | FLAG_THREAD);
    assert_int_equal(kernel_tracer_sources(k), FLAG_PROCESS | FLAG_THREAD);
    assert_int_equal(how_many(HOOK_PROCESS_RUNDOWN_START, 0, "Idle", 0), 1);
    assert_int_equal(how_many(HOOK_PROCESS_RUNDOWN_START, UINT32_MAX, "System", STILL_ACTIVE_CODE), 1);
    assert_int_equal(how_many(HOOK_PROCESS_RUNDOWN_START, process_own_id(), child_program, STILL_ACTIVE_CODE), 1);
    assert_int_equal(threads_of(HOOK_THREAD_RUNDOWN_START, process_own_id(), thread_own_id()), 1);
    run_children(k);
    /* A process that Wine reports as ended may take a moment longer to exit. */
    for (int left = CHILD_PATIENCE / PASS_MS; left > 0 && ended_children() < CHILDREN; left--) {
        child_sleep(PASS_MS);
        assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
    }
    end(k, true);
    size_t whole = 0; /* command lines; a process that exited before its command line was read has none */
    for (size_t c = 0; c < CHILDREN; c++) {
        size_t starts = 0, threads = 0, ends = 0;
        const char *command = "";
        for (size_t i = 0; i < count; i++) {
            if (came[i].process != children[c])
                continue;
            if (came[i].hook == HOOK_PROCESS_START) {
                assert_true(process_is_called(came[i].name, child_program));
                assert_int_equal(came[i].parent, process_own_id());
                command = came[i].command;
                starts++;
            }
            threads += starts != 0 && ends == 0 && came[i].hook == HOOK_THREAD_START;
            if (came[i].hook == HOOK_PROCESS_END) {
                assert_true(process_is_called(came[i].name, child_program));
                assert_int_equal(came[i].code, EXIT_CODE);
                assert_string_equal(came[i].command, command);
                whole += strstr(command, "end a b") != NULL;
                ends++;
            }
        }
        assert_int_equal(starts, 1);
        assert_in_range(threads, 1, 64);
        assert_int_equal(ends, 1);
    }
    assert_in_range(whole, 1, CHILDREN);
}

/* The addresses and files of loaded code, so that addresses can be resolved. */
static struct {
    size_t here, has_name;
} images;

static HRESULT note_image(void *context, const struct kernel_event *e)
{
    enum { IMAGE_SIZE = 8, IMAGE_PROCESS = 16, IMAGE_NAME = 56 };
    const uint64_t code = (uint64_t)(uintptr_t)note_image;
    if (e->hook != HOOK_IMAGE_RUNDOWN_START && e->hook != HOOK_IMAGE_RUNDOWN_END)
        return note(context, e);
    assert_in_range(e->size, IMAGE_NAME + 4, UINT32_MAX);
    if (get_u32(e->data + IMAGE_PROCESS) == process_own_id() && get_u64(e->data) <= code &&
        code < get_u64(e->data) + get_u64(e->data + IMAGE_SIZE)) {
        char name[256] = {0};
        for (uint32_t i = 0; i < sizeof name - 1 && IMAGE_NAME + 2 * i + 1 < e->size; i++)
            name[i] = (char)e->data[IMAGE_NAME + 2 * i];
        images.here++;
        images.has_name += strstr(name, "test_kernel_events") != NULL;
    }
    return S_OK;
}

static void image_events_contain_code_addresses(void **state)
{
    (void)state;
    const struct kernel_sink of_images = {note_image, NULL};
    const struct kernel_tracer_options options = {.name = "images", .flags = FLAG_IMAGE_LOAD};
    struct kernel_tracer *k;
    memset(of_hook, 0, sizeof of_hook);
    count = 0;
    assert_int_equal(kernel_tracer_begin(&options, &k), S_OK);
    assert_int_equal(kernel_tracer_sources(k), FLAG_IMAGE_LOAD);
    assert_int_equal(kernel_tracer_rundown(k, false, &of_images), S_OK);
    assert_int_equal(images.here, 1);
    assert_int_equal(images.has_name, 1);
    run_children(k);
    for (int left = CHILD_PATIENCE / PASS_MS; left > 0 && of_hook[HOOK_IMAGE_UNLOAD] < CHILDREN; left--) {
        child_sleep(PASS_MS);
        assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
    }
    assert_in_range(of_hook[HOOK_IMAGE_LOAD], CHILDREN, SIZE_MAX);
    assert_in_range(of_hook[HOOK_IMAGE_UNLOAD], CHILDREN, SIZE_MAX);
    assert_int_equal(kernel_tracer_rundown(k, true, &of_images), S_OK);
    assert_int_equal(images.has_name, 2);
    end(k, true);
}

/* Readers on another computer get the computer's configuration from the trace. */
static void the_rundown_has_the_configuration_on_request(void **state)
{
    enum { CPU = HOOK_CONFIGURATION + 10, DISK = HOOK_CONFIGURATION + 11, VOLUME = HOOK_CONFIGURATION + 12 };
    (void)state;
    const struct kernel_tracer_options options = {.name = "conf", .flags = FLAG_PROCESS, .configuration = true};
    struct kernel_tracer *k;
    memset(of_hook, 0, sizeof of_hook);
    count = 0;
    assert_int_equal(kernel_tracer_begin(&options, &k), S_OK);
    assert_int_equal(kernel_tracer_rundown(k, false, &sink), S_OK);
    assert_int_equal(of_hook[CPU], 1);
    const size_t disks = of_hook[DISK], volumes = of_hook[VOLUME];
    assert_int_equal(kernel_tracer_rundown(k, true, &sink), S_OK);
    assert_int_equal(of_hook[CPU], 2);
    assert_int_equal(of_hook[DISK], 2 * disks);
    assert_int_equal(of_hook[VOLUME], 2 * volumes);
    end(k, true);
    k = begin(FLAG_PROCESS);
    assert_int_equal(of_hook[CPU], 0);
    end(k, true);
}

static void events_of_other_flags_are_absent(void **state)
{
    (void)state;
    struct kernel_tracer *k = begin(FLAG_SWITCH | FLAG_SYSTEM_CALL);
    assert_int_equal(kernel_tracer_sources(k), FLAG_SWITCH);
    assert_int_equal(count, 0);
    run_children(k);
    end(k, false);
    assert_in_range(of_hook[HOOK_SWITCH], 2 * CHILDREN, SIZE_MAX); /* a switch to each child and back */
    for (size_t i = 0; i < sizeof of_hook / sizeof of_hook[0]; i++)
        if (i != HOOK_SWITCH)
            assert_int_equal(of_hook[i], 0);
}

static void every_kind_of_event_has_its_size(void **state)
{
    (void)state;
    struct kernel_tracer *k = begin(FLAG_SWITCH | FLAG_DISPATCHER | FLAG_INTERRUPT | FLAG_DPC | FLAG_PAGE_FAULTS |
                                    FLAG_HARD_FAULTS | FLAG_DISK | FLAG_DISK_INIT | FLAG_NETWORK);
    run_children(k);
    end(k, false);
    assert_in_range(of_hook[HOOK_READY], CHILDREN, SIZE_MAX);
    assert_in_range(of_hook[HOOK_FAULT_ZERO], CHILDREN, SIZE_MAX);
    assert_in_range(of_hook[HOOK_FAULT_COPY], CHILDREN, SIZE_MAX);
    assert_in_range(of_hook[HOOK_DPC] + of_hook[HOOK_TIMER_DPC], 1, SIZE_MAX);
}

static int make_room(void **state)
{
    (void)state;
    came = calloc(MOST, sizeof *came);
    return came ? 0 : -1;
}

static int free_room(void **state)
{
    (void)state;
    free(came);
    return 0;
}

/* A child whose second thread still runs when it exits. */
static void wait_long(void *user)
{
    (void)user;
    child_sleep(CHILD_PATIENCE);
}

static int end_at_once(void)
{
    static struct thread *other;
    child_sleep(300); /* until a pass has seen the process */
    return SUCCEEDED(thread_start(wait_long, NULL, &other)) ? EXIT_CODE : 1;
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_start_and_exit_with_names_and_codes),
        cmocka_unit_test(the_rundown_has_the_configuration_on_request),
        cmocka_unit_test(image_events_contain_code_addresses),
        cmocka_unit_test(events_of_other_flags_are_absent),
        cmocka_unit_test(every_kind_of_event_has_its_size),
    };
    child_program = arguments[0];
    if (argument_count > 3)
        return end_at_once();
    const HRESULT hr = trace_instance_possible(NULL);
    if (FAILED(hr)) {
        printf("skipped: %s\n", error_text(hr));
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, make_room, free_room);
}
