/* SPDX-License-Identifier: MIT */
/* The process of a performance extension DLL is broken or hostile, and writes to the shared memory at any time. At
   worst, its own counters are lost. The registry and rundll32 are replaced: this program hosts the only extension. */
#include "engine/base/thread.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/pdh_types.h"
#include "engine/pdh/core/pdh.h"
#include "engine/pdh/extension/extension_host.h"
#include "tests/unit/child_process.h"

#include <stdatomic.h>
#ifdef _WIN32
#include <sddl.h>
#endif

enum { TITLE = 9000, SECOND_TITLE = 9500, COUNTERS = 150, INSTANCES = 120, ROUNDS = 200 };
enum { BLOCK = 8 + 8 * COUNTERS, INSTANCE = 24 + 16, DEFINITIONS = 64 + 40 * COUNTERS };
enum { TOTAL = DEFINITIONS + INSTANCES * (INSTANCE + BLOCK) };

static const char *mode = "well"; /* also part of the service's name, so that each mode has a separate process */
static struct texts channels;     /* channels of the started processes */

HRESULT extension_services(struct texts *out)
{
    return texts_add(out, mode);
}

HRESULT extension_names(const struct texts *services, struct texts *out)
{
    (void)services;
    (void)out;
    return S_OK;
}

HRESULT extension_start(const char *channel, const char *service, struct process **out)
{
    (void)service;
    *out = child_start("host", channel, mode);
    return texts_add(&channels, channel);
}

/* Writes an object with instances, in the layout of winperf.h. Paths contain its index, because it has no name. */
static void put_object(uint8_t *to, uint32_t title)
{
    memset(to, 0, TOTAL);
    put_u32(to, TOTAL);
    put_u32(to + 0x04, DEFINITIONS);
    put_u32(to + 0x08, 64);
    put_u32(to + 0x0C, title);
    put_u32(to + 0x20, COUNTERS);
    put_u32(to + 0x28, INSTANCES);
    for (uint32_t i = 0; i < COUNTERS; i++) {
        uint8_t *c = to + 64 + (size_t)40 * i;
        put_u32(c, 40);
        put_u32(c + 0x04, title + 2 + 2 * i);
        put_u32(c + 0x1C, i % 2 ? PERF_COUNTER_BULK_COUNT : PERF_COUNTER_LARGE_RAWCOUNT);
        put_u32(c + 0x20, 8);
        put_u32(c + 0x24, 8 + 8 * i);
    }
    uint8_t *at = to + DEFINITIONS;
    for (uint32_t n = 0; n < INSTANCES; n++, at += INSTANCE + BLOCK) {
        put_u32(at, INSTANCE);
        put_u32(at + 0x0C, UINT32_MAX); /* no unique id */
        put_u32(at + 0x10, 24);
        put_u32(at + 0x14, 16);
        put_u16(at + 24, (uint16_t)('a' + n % 26));
        put_u16(at + 26, (uint16_t)('a' + n / 26));
        put_u32(at + INSTANCE, BLOCK);
        put_u64(at + INSTANCE + 8, 42);
    }
}

static uint64_t noise = 88172645463325252u;

static uint32_t next_random(void)
{
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    return (uint32_t)(noise >> 16);
}

static void store(void *at, uint32_t value)
{
    atomic_store_explicit((_Atomic uint32_t *)at, value, memory_order_relaxed);
}

/* Changes the object between two reads: fewer instances, longer names, other types. */
static void flip(struct extension_channel *c, uint32_t n)
{
    store(c->data + 0x28, n % 2 ? INSTANCES : 3);
    store(c->data + 0x20, n % 3 ? COUNTERS : 1);
    store(c->data + 0x04, n % 5 ? DEFINITIONS : TOTAL);
    store(c->data + DEFINITIONS + 0x14, n % 2 ? 16 : 0);
    store(c->data + DEFINITIONS, n % 7 ? INSTANCE : UINT32_MAX);
    store(c->data + 64 + 0x1C, n % 2 ? PERF_COUNTER_LARGE_RAWCOUNT : PERF_LARGE_RAW_BASE);
    store(&c->size, n % 2 ? TOTAL : n % 3 ? UINT32_MAX : 7);
    store(&c->objects, n % 4 ? 1 : UINT32_MAX);
}

/* Changes a size all the time, so that it may be valid when it is checked but exceed the section when it is used. */
static void grow(struct extension_channel *c, uint32_t n)
{
    store(&c->size, n % 2 ? TOTAL : UINT32_MAX);
    store(c->data, 1u << 30);
    store(c->data + DEFINITIONS, 32u << 20);
}

static void storm(struct extension_channel *c)
{
    uint32_t value = next_random(), at = next_random();
    if (at % 8 == 0)
        store(&c->size + at / 8 % 2, value); /* the size or the lower half of the ticks */
    else
        store(c->data + (at / 8 % 2 ? at / 16 % (TOTAL / 4) : at / 16 % 100) * (size_t)4, at % 3 ? value % 512 : value);
}

struct host {
    struct extension_channel *channel;
    const char *mode;
};

static void attack(void *user)
{
    const struct host *h = user;
    for (uint32_t n = 0;; n++)
        if (atomic_load((_Atomic uint32_t *)&h->channel->parked) ||
            atomic_load((_Atomic uint32_t *)&h->channel->reply) < 3) /* the reader must first know the object */
            child_sleep(1);
        else if (!strcmp(h->mode, "flip"))
            flip(h->channel, n);
        else if (!strcmp(h->mode, "grow"))
            grow(h->channel, n);
        else if (!strcmp(h->mode, "storm"))
            storm(h->channel);
        else
            child_sleep(10);
}

static int host(const char *name, const char *how)
{
    struct section *section;
    struct signal *ask, *answer;
    struct thread *thread;
    char *ask_name = extension_request_signal(name), *answer_name = extension_reply_signal(name);
    if (FAILED(section_open(&(struct shared){.name = name}, sizeof(struct extension_channel), &section)) ||
        FAILED(signal_open(&(struct shared){.name = ask_name}, &ask)) ||
        FAILED(signal_open(&(struct shared){.name = answer_name}, &answer)))
        return 2;
    struct extension_channel *c = section_memory(section);
    struct host h = {c, how};
    if (FAILED(thread_start(attack, &h, &thread)))
        return 2;
    store(&c->state, EXTENSION_READY);
    while (process_alive(c->owner, c->owner_start)) {
        uint32_t request = atomic_load((_Atomic uint32_t *)&c->request);
        if (request == atomic_load((_Atomic uint32_t *)&c->reply)) {
            signal_wait(ask, 100);
            continue;
        }
        put_object(c->data, TITLE);
        put_object(c->data + TOTAL, SECOND_TITLE);
        store(&c->size, 2 * TOTAL);
        store(&c->objects, 2);
        store(&c->error, 0);
        atomic_store((_Atomic uint32_t *)&c->reply, request);
        signal_set(answer);
    }
    memory_free(ask_name);
    memory_free(answer_name);
    exit(0); /* together with its thread */
}

/* Samples one of OpenPLA's counters and all instances of the extension's counter ROUNDS times. Returns how often the
   extension's counter had all its values. */
static unsigned sample_repeatedly(const WCHAR *theirs)
{
    PDH_HQUERY query;
    PDH_HCOUNTER ours, all;
    PDH_FMT_COUNTERVALUE value;
    static uint64_t items[1 << 17];
    unsigned good = 0;
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\Memory\\Commit Limit", 0, &ours), ERROR_SUCCESS);
    bool added = PdhAddCounterW(query, theirs, 0, &all) == ERROR_SUCCESS;
    for (int i = 0; i < ROUNDS; i++) {
        DWORD bytes = sizeof items, count = 0;
        assert_int_equal(PdhCollectQueryData(query), ERROR_SUCCESS);
        assert_int_equal(PdhGetFormattedCounterValue(ours, PDH_FMT_LARGE, NULL, &value), ERROR_SUCCESS);
        if (added && !PdhGetRawCounterArrayW(all, &bytes, &count, (PDH_RAW_COUNTER_ITEM_W *)(void *)items))
            good += count == INSTANCES;
        if (i % 20 == 0) { /* PDH creates the extension's objects again, from its current reply */
            DWORD counter_units = 0, instance_units = 0;
            PdhEnumObjectItemsW(NULL, NULL, u"9000", NULL, &counter_units, NULL, &instance_units, PERF_DETAIL_WIZARD,
                                0);
        }
    }
    PdhCloseQuery(query);
    return good;
}

static void honest_extension_is_read(void **state)
{
    (void)state;
    mode = "well";
    size_t before = channels.count;
    assert_int_equal(sample_repeatedly(u"\\9000(*)\\9002"), ROUNDS);
    assert_int_equal(channels.count - before, 1); /* lists and samples use the same process */
}

/* A reply contains two objects. When PDH has copied the reply, changes in the shared memory must not affect it. */
static void reply_never_changes_after_copy(void **state)
{
    (void)state;
    struct section *section;
    PDH_HQUERY query;
    PDH_HCOUNTER first, second;
    mode = "changed";
    assert_int_equal(PdhOpenQueryW(NULL, 0, &query), ERROR_SUCCESS);
    assert_int_equal(PdhAddCounterW(query, u"\\9000(*)\\9002", 0, &first), ERROR_SUCCESS);
    const char *channel = channels.items[channels.count - 1];
    assert_int_equal(section_open(&(struct shared){.name = channel}, sizeof(struct extension_channel), &section), S_OK);
    struct extension_channel *c = section_memory(section);
    memset(c->data, 0xFF, sizeof c->data);
    assert_int_equal(PdhAddCounterW(query, u"\\9500(*)\\9502", 0, &second), ERROR_SUCCESS);
    section_close(section);
    PdhCloseQuery(query);
}

static void changing_dll_loses_only_its_counters(void **state)
{
    (void)state;
    mode = "flip";
    for (int i = 0; i < 3; i++)
        sample_repeatedly(u"\\9000(*)\\9002");
}

static void size_that_grows_after_the_check_is_safe(void **state)
{
    (void)state;
    mode = "grow";
    for (int i = 0; i < 3; i++)
        sample_repeatedly(u"\\9000(*)\\9002");
}

static void randomly_writing_dll_loses_only_its_counters(void **state)
{
    (void)state;
    mode = "storm";
    for (int i = 0; i < 3; i++)
        sample_repeatedly(u"\\9000(*)\\9002");
}

/* A library without a path is loaded from the system folder. A path that depends on the current folder is rejected. */
static void library_path_is_full_or_in_the_system_folder(void **state)
{
    (void)state;
    static const struct {
        const char *library, *path; /* NULL: rejected */
    } cases[] = {
        {"perf.dll", "C:\\windows\\system32\\perf.dll"},
        {"perf", "C:\\windows\\system32\\perf"},
        {"C:\\Program Files\\x\\perf.dll", "C:\\Program Files\\x\\perf.dll"},
        {"c:/x/perf.dll", "c:/x/perf.dll"},
        {"\\\\server\\share\\perf.dll", "\\\\server\\share\\perf.dll"},
        {"", NULL},
        {".", NULL},
        {"..", NULL},
        {".\\perf.dll", NULL},
        {"x\\perf.dll", NULL},
        {"x/perf.dll", NULL},
        {"\\perf.dll", NULL},
        {"C:perf.dll", NULL},
        {"%NOWHERE%\\perf.dll", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path;
        HRESULT hr = extension_library_path(cases[i].library, "C:\\windows\\system32", &path);
        assert_int_equal(hr, cases[i].path ? S_OK : E_INVALIDARG);
        if (cases[i].path)
            assert_string_equal(path, cases[i].path);
        else
            assert_non_null(strstr(error_text(hr), cases[i].library));
        memory_free(path);
    }
}

/* No other process can create a channel in advance, and no process of another account can open it. */
static void channel_name_is_random(void **state)
{
    (void)state;
    assert_true(channels.count >= 2);
    const char *a = channels.items[0], *b = channels.items[1];
    size_t length = strlen(a), differ = 0;
    assert_int_equal(strlen(b), length);
    for (size_t i = 0; i < length; i++)
        differ += a[i] != b[i];
    assert_true(differ >= 16);
#ifdef _WIN32
    HANDLE section = NULL;
    PSECURITY_DESCRIPTOR descriptor;
    /* The latest channels may no longer exist, if their host processes crashed because of the extension's writes. */
    for (size_t i = 2 * channels.count; i > 0 && !section; i--) {
        char *path = text_format("%s\\%s", i % 2 ? "Local" : "Global", channels.items[(i - 1) / 2]);
        section = OpenFileMappingA(READ_CONTROL, FALSE, path);
        memory_free(path);
    }
    assert_non_null(section);
    char room[4096], *text;
    DWORD size;
    assert_true(GetKernelObjectSecurity(section, DACL_SECURITY_INFORMATION, room, sizeof room, &size));
    descriptor = room;
    assert_true(ConvertSecurityDescriptorToStringSecurityDescriptorA(descriptor, SDDL_REVISION_1,
                                                                     DACL_SECURITY_INFORMATION, &text, NULL));
    print_message("%s\n", text);
    assert_null(strstr(text, ";;;WD)")); /* everyone */
    assert_null(strstr(text, ";;;BU)"));
    LocalFree(text);
    CloseHandle(section);
#endif
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_path_is_full_or_in_the_system_folder),
        cmocka_unit_test(honest_extension_is_read),
        cmocka_unit_test(reply_never_changes_after_copy),
        cmocka_unit_test(changing_dll_loses_only_its_counters),
        cmocka_unit_test(size_that_grows_after_the_check_is_safe),
        cmocka_unit_test(randomly_writing_dll_loses_only_its_counters),
        cmocka_unit_test(channel_name_is_random),
    };
    child_program = argv[0];
    if (argc == 4 && !strcmp(argv[1], "host"))
        return host(argv[2], argv[3]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
