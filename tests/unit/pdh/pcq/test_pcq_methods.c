/* SPDX-License-Identifier: MIT */
/* The methods of MS-PCQ as a remote client sees them: the test decodes each block itself, at the published offsets. An
   invalid request fails without affecting others. */
#include "engine/pdh/core/table.h"
#include "engine/pdh/extension/counterset_share.h"
#include "engine/pdh/perflib/counterset_registration.h"
#include "engine/pdh/remote/pcq_internal.h"
#include "tests/unit/pcq_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct pcq_server *server;
static struct pcq_query *query;
static GUID parts, whole;

/* The output of a method, its size, and the position from which the test reads next. */
static uint8_t bytes[65536];
static uint32_t size, at;

static uint32_t u32(void)
{
    uint32_t n;
    assert_true(size - at >= 4);
    memcpy(&n, bytes + at, 4);
    at += 4;
    return n;
}

static uint64_t u64(void)
{
    uint64_t low = u32();
    return low | (uint64_t)u32() << 32;
}

static GUID guid(void)
{
    GUID g;
    assert_true(size - at >= sizeof g);
    memcpy(&g, bytes + at, sizeof g);
    at += sizeof g;
    return g;
}

/* Reads a NUL-terminated string as ASCII. */
static const char *text(void)
{
    static char out[100];
    size_t n = 0;
    do {
        assert_true(size - at >= 2 && n < sizeof out && !bytes[at + 1]);
        out[n] = (char)bytes[at];
        at += 2;
    } while (out[n++]);
    return out;
}

static void zeros_to(uint32_t end)
{
    assert_true(end <= size && end - at < 8);
    while (at < end)
        assert_int_equal(bytes[at++], 0);
}

/* Makes a call three times. The first call has no buffer and returns the size. The second has a buffer that is too
   small and must stay unchanged. The third must succeed. */
#define TAKE(call)                                                                                                     \
    do {                                                                                                               \
        struct pcq_buffer out = {NULL, 0, 9, 9};                                                                       \
        assert_int_equal(call, PCQ_NOT_ENOUGH_MEMORY);                                                                 \
        assert_int_equal(out.written, 0);                                                                              \
        uint32_t needed = out.needed;                                                                                  \
        memset(bytes, 0xEE, sizeof bytes);                                                                             \
        out = (struct pcq_buffer){bytes, needed - 1, 9, 9};                                                            \
        assert_int_equal(call, PCQ_NOT_ENOUGH_MEMORY);                                                                 \
        assert_int_equal(bytes[0], 0xEE);                                                                              \
        assert_int_equal(out.needed, needed);                                                                          \
        out = (struct pcq_buffer){bytes, needed, 9, 9};                                                                \
        assert_int_equal(call, ERROR_SUCCESS);                                                                         \
        assert_int_equal(out.written, needed);                                                                         \
        assert_int_equal(bytes[needed * UNIT], 0xEE);                                                                  \
        size = needed * UNIT;                                                                                          \
        at = 0;                                                                                                        \
    } while (0)
#define UNIT 1u

static int open_server(void **state)
{
    (void)state;
    server = pcq_fixture();
    pcq_guid(&parts_provider, &parts);
    pcq_guid(&whole_provider, &whole);
    return !server || pcq_open_query(server, "a client", &query) != ERROR_SUCCESS;
}

static int close_server(void **state)
{
    (void)state;
    pcq_close_query(query);
    pcq_server_close(server);
    return 0;
}

static void countersets_are_listed(void **state)
{
    (void)state;
#undef UNIT
#define UNIT 16u
    TAKE(pcq_enumerate_sets(server, &out));
#undef UNIT
#define UNIT 1u
    assert_int_equal(size, 32);
    GUID first = guid(), second = guid();
    assert_true(guid_equal(&first, &parts) && guid_equal(&second, &whole));
}

struct counter_seen {
    uint32_t id, type, detail, base, time, freq, multi;
    uint64_t attributes;
    int32_t scale;
};

static struct counter_seen counter(void)
{
    struct counter_seen c = {.id = u32(), .type = u32()};
    c.attributes = u64();
    c.detail = u32();
    c.scale = (int32_t)u32();
    c.base = u32();
    c.time = u32();
    c.freq = u32();
    c.multi = u32();
    assert_int_equal(u32(), 0);
    assert_int_equal(u32(), 0);
    return c;
}

/* To compute values, a client needs bases, times and frequencies. The counterset lists these as separate counters. */
static void counterset_lists_its_counters(void **state)
{
    (void)state;
    TAKE(pcq_registration_info(server, &parts, 1, 0, &out));
    GUID own = guid();
    assert_true(guid_equal(&own, &parts));
    assert_int_equal(u32(), 0);
    assert_int_equal(u32(), 100);
    assert_int_equal(u32(), 8);
    assert_int_equal(u32(), 2);
    assert_int_equal(size, 32 + 8 * 48);
    struct counter_seen c[8];
    for (int i = 0; i < 8; i++)
        c[i] = counter();
    assert_int_equal(c[0].id, 700);
    assert_int_equal(c[0].type, PERF_COUNTER_RAWCOUNT);
    assert_int_equal(c[0].scale, -1);
    assert_int_equal(c[0].attributes, 0);
    assert_int_equal(c[0].base, 0xFFFFFFFF);
    assert_int_equal(c[1].id, 702);
    assert_int_equal(c[1].detail, 200);
    assert_int_equal(c[2].detail, 200); /* counter 300 does not exist */
    assert_int_equal(c[2].base, c[3].id);
    assert_int_equal(c[3].type, PERF_RAW_BASE);
    assert_int_equal(c[3].attributes, 2);
    assert_int_equal(c[4].type, PERF_ELAPSED_TIME);
    assert_int_equal(c[4].time, c[5].id);
    assert_int_equal(c[4].freq, c[6].id);
    assert_int_equal(c[5].type, PERF_COUNTER_LARGE_RAWCOUNT);
    assert_int_equal(c[7].id, 708);

    uint32_t base = c[3].id;
    TAKE(pcq_registration_info(server, &parts, 2, base, &out));
    assert_int_equal(size, 48);
    assert_int_equal(counter().type, PERF_RAW_BASE);
    TAKE(pcq_registration_info(server, &whole, 1, 0, &out));
    at = 28;
    assert_int_equal(u32(), 0); /* one instance */
}

static void names_and_helps_are_strings(void **state)
{
    (void)state;
    static const char *const names[] = {"Held",     "Moved/sec",          "Share", "Share Base", "Age",
                                        "Age Time", "Age Time Frequency", "Lost"};
    TAKE(pcq_registration_info(server, &parts, 3, 0x409, &out));
    assert_string_equal(text(), "Parts");
    assert_int_equal(at, size);
    TAKE(pcq_registration_info(server, &parts, 4, 0, &out));
    assert_string_equal(text(), "Some things.");
    TAKE(pcq_registration_info(server, &parts, 9, 0x407, &out));
    assert_string_equal(text(), "Parts");
    for (uint32_t request = 5; request <= 10; request += 5) {
        TAKE(pcq_registration_info(server, &parts, request, 0, &out));
        assert_int_equal(u32(), size);
        assert_int_equal(size % 8, 0);
        assert_int_equal(u32(), 8);
        for (uint32_t i = 0; i < 8; i++) {
            at = 8 + i * 8 + 4;
            at = 8 + 8 * 8 + u32();
            assert_string_equal(text(), names[i]);
        }
        zeros_to(size);
    }
    TAKE(pcq_registration_info(server, &parts, 6, 0, &out));
    at = 12;
    at = 8 + 8 * 8 + u32();
    assert_string_equal(text(), "How many.");
    TAKE(pcq_registration_info(server, &parts, 7, 0, &out));
    assert_string_equal(text(), "OpenPLA");
    TAKE(pcq_registration_info(server, &parts, 8, 0, &out));
    assert_int_equal(size, 16);
}

static void unknown_items_return_errors(void **state)
{
    (void)state;
    struct pcq_buffer out = {bytes, sizeof bytes, 9, 9};
    GUID none = {.Data1 = 1};
    assert_int_equal(pcq_registration_info(server, &parts, 0, 0, &out), ERROR_INVALID_PARAMETER);
    assert_int_equal(pcq_registration_info(server, &parts, 11, 0, &out), ERROR_INVALID_PARAMETER);
    assert_int_equal(pcq_registration_info(server, &none, 1, 0, &out), 4200);
    assert_int_equal(pcq_registration_info(server, &parts, 2, 12345, &out), 4202);
    assert_int_equal(pcq_registration_info(server, &parts, 5, 0x407, &out), 1815);
    assert_int_equal(pcq_enumerate_instances(server, &none, &out), 4200);
    assert_int_equal(out.written, 0);
    parts_count = 0;
    assert_int_equal(pcq_enumerate_instances(server, &parts, &out), 4201);
    parts_result = HRESULT_FROM_WIN32(ERROR_TIMEOUT);
    assert_int_equal(pcq_enumerate_instances(server, &parts, &out), ERROR_TIMEOUT);
}

/* Reads an instance, which must have this id and name. Returns the position after it. */
static uint32_t instance(uint32_t id, const char *name)
{
    uint32_t from = at, end = from + u32();
    assert_int_equal((end - from) % 8, 0);
    assert_int_equal(u32(), id);
    assert_string_equal(text(), name);
    zeros_to(end);
    return end;
}

static void instances_are_listed(void **state)
{
    (void)state;
    TAKE(pcq_enumerate_instances(server, &parts, &out));
    instance(10, "alpha");
    instance(11, "beta");
    instance(12, "Gamma ray");
    assert_int_equal(at, size);
    TAKE(pcq_enumerate_instances(server, &whole, &out));
    assert_int_equal(size, 16);
    instance(0, "");
}

/* Identifiers in the form in which a client writes them. */
static uint8_t request[4096];
static uint32_t request_size;

static void put(const void *from, size_t n)
{
    memcpy(request + request_size, from, n);
    request_size += (uint32_t)n;
}

static void identify(const GUID *set, uint32_t id, uint32_t instance_id, const char *name)
{
    uint32_t from = request_size, length = (uint32_t)strlen(name) + 1, total = (40 + 2 * length + 7) / 8 * 8;
    put(set, 16);
    put(&(uint32_t[]){0xAAAA, total, id, instance_id, 0, 0}, 24);
    memset(request + request_size, 0, total - 40);
    for (uint32_t i = 0; i < length; i++)
        request[from + 40 + 2 * i] = (uint8_t)name[i];
    request_size = from + total;
}

/* Adds or removes the counters in `request`. The resulting statuses must be `statuses`. */
static void validate(bool add, const uint32_t *statuses)
{
    assert_int_equal(pcq_validate_counters(query, request, request_size, add), ERROR_SUCCESS);
    for (uint32_t i = 0, n = 0, one; i < request_size; i += one, n++) {
        uint32_t status;
        memcpy(&status, request + i + 16, 4);
        memcpy(&one, request + i + 20, 4);
        assert_int_equal(status, statuses[n]);
    }
    request_size = 0;
}

static void value(int bytes_of_it, uint64_t expected)
{
    assert_int_equal(u32(), bytes_of_it);
    assert_int_equal(u32(), bytes_of_it ? 16 : 8);
    if (bytes_of_it)
        assert_true(u64() == expected); /* the value and its padding */
}

static void head(uint32_t blocks, uint64_t ticks)
{
    assert_int_equal(u32(), size);
    assert_int_equal(u32(), blocks);
    assert_int_equal(u64(), ticks);
    assert_int_equal(u64(), 132000000000000000 + (ticks == 78 ? 9 : 0));
    assert_true(u64() > 0);
    static const uint16_t moment[] = {2019, 4, 3, 17};
    assert_memory_equal(bytes + at, moment, sizeof moment);
    at += 16;
}

static uint32_t block_end;
static void block(uint32_t status, uint32_t kind)
{
    uint32_t from = at;
    assert_int_equal(u32(), status);
    assert_int_equal(u32(), kind);
    block_end = from + u32();
    assert_int_equal(block_end % 8, 0);
    assert_int_equal(u32(), 0);
}

static void each_request_has_its_block_kind(void **state)
{
    (void)state;
    const uint32_t well[8] = {0};
    identify(&parts, 700, 0xFFFFFFFF, "BETA");
    identify(&parts, 0xFFFFFFFF, 12, "Gamma ray");
    identify(&parts, 702, 0xFFFFFFFF, "*a");
    identify(&parts, 0xFFFFFFFF, 0xFFFFFFFF, "*");
    identify(&whole, 720, 0xFFFFFFFF, "");
    identify(&whole, 0xFFFFFFFF, 0, "");
    identify(&parts, 708, 0xFFFFFFFF, "alpha");
    validate(true, well);
    TAKE(pcq_query_data(query, &out));
    head(7, 77);
    block(0, 1);
    value(4, 101);
    assert_int_equal(at, block_end);
    block(0, 2);
    assert_int_equal(u32(), 8 + 8 * 4);
    assert_int_equal(u32(), 8);
    uint32_t ids[8];
    for (int i = 0; i < 8; i++)
        ids[i] = u32();
    assert_int_equal(ids[0], 700);
    assert_int_equal(ids[7], 708);
    value(4, 201);
    value(8, 0x100000002 + 200);
    value(4, 203);
    value(4, 250);
    value(8, 204);
    value(8, 132000000000000000);
    value(8, 10000000);
    value(0, 0);
    assert_int_equal(at, block_end);
    block(0, 4);
    uint32_t instances = block_end - at;
    assert_int_equal(u32(), instances);
    assert_int_equal(u32(), 2);
    instance(10, "alpha");
    value(8, 0x100000002);
    instance(11, "beta");
    value(8, 0x100000002 + 100);
    assert_int_equal(at, block_end);
    block(0, 6);
    at += 8 + 8 * 4;
    uint32_t from = at;
    assert_int_equal(u32(), block_end - from);
    assert_int_equal(u32(), 3);
    for (uint32_t i = 0; i < 3; i++) {
        instance(10 + i, i == 0 ? "alpha" : i == 1 ? "beta" : "Gamma ray");
        value(4, 1 + 100 * i);
        for (int k = 0; k < 6; k++)
            at += 16;
        value(0, 0);
    }
    assert_int_equal(at, block_end);
    block(0, 1);
    value(8, 0x1122334455667788);
    block(0, 2);
    assert_int_equal(u32(), 12); /* the block has a single id */
    assert_int_equal(u32(), 1);
    assert_int_equal(u32(), 720);
    value(8, 0x1122334455667788);
    zeros_to(block_end);
    block(ERROR_INVALID_DATA, 0);
    assert_int_equal(at, block_end);
    assert_int_equal(at, size);
}

/* If an instance disappears, only its block reports an error instead of values. */
static void missing_instance_fails_in_its_block(void **state)
{
    (void)state;
    const uint32_t well[3] = {0};
    identify(&parts, 700, 0xFFFFFFFF, "beta");
    identify(&parts, 700, 0xFFFFFFFF, "*");
    identify(&whole, 720, 0, "");
    validate(true, well);
    parts_count = 1;
    TAKE(pcq_query_data(query, &out));
    head(3, 77);
    block(ERROR_PATH_NOT_FOUND, 0);
    block(0, 4);
    at += 4;
    assert_int_equal(u32(), 1);
    parts_result = HRESULT_FROM_WIN32(ERROR_TIMEOUT);
    TAKE(pcq_query_data(query, &out));
    head(3, 78);
    block(ERROR_TIMEOUT, 0);
    block(ERROR_TIMEOUT, 0);
    block(0, 1);
    value(8, 0x1122334455667788);
}

static void each_counter_has_its_own_status(void **state)
{
    (void)state;
    const GUID none = {.Data1 = 7};
    identify(&parts, 700, 0xFFFFFFFF, "beta");
    identify(&parts, 700, 0xFFFFFFFF, "Beta");
    identify(&none, 700, 0xFFFFFFFF, "beta");
    identify(&parts, 12345, 0xFFFFFFFF, "beta");
    identify(&parts, 700, 0xFFFFFFFF, "delta");
    identify(&parts, 700, 99, "beta");
    identify(&parts, 700, 11, "beta");
    identify(&parts, 700, 0xFFFFFFFF, "delta*");
    validate(true, (const uint32_t[]){0, 183, 4200, 4202, 3, 3, 0, 0});
    TAKE(pcq_query_info(query, &out));
    static const char *const names[] = {"beta", "beta", "delta*"};
    static const uint32_t instances[] = {0xFFFFFFFF, 11, 0xFFFFFFFF};
    for (uint32_t i = 0; i < 3; i++) {
        GUID own = guid();
        assert_true(guid_equal(&own, &parts));
        assert_int_equal(u32(), 0);
        uint32_t end = at - 20;
        end += u32();
        assert_int_equal(end % 8, 0);
        assert_int_equal(u32(), 700);
        assert_int_equal(u32(), instances[i]);
        assert_int_equal(u32(), i);
        assert_int_equal(u32(), 0);
        assert_string_equal(text(), names[i]);
        zeros_to(end);
    }
    assert_int_equal(at, size);
    identify(&parts, 700, 0xFFFFFFFF, "BETA");
    identify(&parts, 702, 0xFFFFFFFF, "beta");
    validate(false, (const uint32_t[]){0, 87});
    TAKE(pcq_query_info(query, &out));
    at = 28;
    assert_int_equal(u32(), 11);
    assert_int_equal(u32(), 0); /* the entry for instance 11 is now the first one */
}

/* A client may request many names that do not exist. The server must not sample once for each name, because all other
   clients would wait. */
static void unknown_instances_cost_one_sample(void **state)
{
    (void)state;
    static const uint32_t statuses[] = {3, 3, 3, 3, 0, 3};
    parts_names[1] = "delta";
    identify(&parts, 700, 0xFFFFFFFF, "no");
    identify(&parts, 700, 0xFFFFFFFF, "none");
    identify(&parts, 702, 0xFFFFFFFF, "no");
    identify(&parts, 700, 99, "alpha");
    identify(&parts, 700, 0xFFFFFFFF, "delta");
    identify(&parts, 700, 0xFFFFFFFF, "beta");
    size_t before = parts_samples;
    validate(true, statuses);
    assert_int_equal(parts_samples, before + 2); /* one sample opens the counterset */
    identify(&parts, 702, 0xFFFFFFFF, "epsilon");
    parts_names[2] = "epsilon"; /* the next call must find this new name */
    validate(true, (const uint32_t[]){0});
    assert_int_equal(parts_samples, before + 3);
}

static void invalid_blocks_change_nothing(void **state)
{
    (void)state;
    struct pcq_buffer out = {bytes, sizeof bytes, 9, 9};
    const uint32_t lies[] = {0, 39, 48, 1000, 0xFFFFFFFF, 0x80000000};
    assert_int_equal(pcq_validate_counters(query, request, 0, true), ERROR_INVALID_PARAMETER);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        identify(&whole, 720, 0, "");
        identify(&parts, 700, 0xFFFFFFFF, "beta");
        memcpy(request + 48 + 20, &lies[i], 4);
        uint32_t total = request_size;
        request_size = 0;
        /* With lies[2], an identifier ends within its name, and the rest is too short for another identifier. */
        assert_int_equal(pcq_validate_counters(query, request, total - (i == 2 ? 0 : 1), true),
                         ERROR_INVALID_PARAMETER);
    }
    assert_int_equal(pcq_query_info(query, &out), ERROR_SUCCESS);
    assert_int_equal(out.needed, 0);
    /* The first name has no terminator, and the second contains half of a surrogate pair. */
    identify(&parts, 700, 0xFFFFFFFF, "beta");
    memset(request + 40, 'x', request_size - 40);
    uint32_t second = request_size;
    identify(&parts, 700, 0xFFFFFFFF, "beta");
    request[second + 41] = 0xD8;
    validate(true, (const uint32_t[]){87, 87});
}

static void queries_of_a_client_are_limited(void **state)
{
    (void)state;
    struct pcq_query *more[PCQ_QUERIES_OF_CLIENT], *other;
    size_t count = 0;
    while (count < PCQ_QUERIES_OF_CLIENT && pcq_open_query(server, "a client", &more[count]) == ERROR_SUCCESS)
        count++;
    assert_int_equal(count, PCQ_QUERIES_OF_CLIENT - 1); /* the setup function opened one, too */
    assert_int_equal(pcq_open_query(server, "a client", &other), 1450);
    assert_null(other);
    assert_int_equal(pcq_open_query(server, "another", &other), ERROR_SUCCESS);
    pcq_close_query(other);
    pcq_close_query(more[--count]);
    assert_int_equal(pcq_open_query(server, "a client", &more[count++]), ERROR_SUCCESS);
    while (count)
        pcq_close_query(more[--count]);
}

/* Returns a pattern of 999 bytes, a different one for each number. */
static const char *long_pattern(uint32_t number)
{
    static char name[1000];
    memset(name, 'x', sizeof name - 1);
    name[snprintf(name, sizeof name, "*%u", number)] = 'x';
    return name;
}

/* A pattern need not match an instance. Without a limit, a client could make the server store any number of them. */
static void names_of_a_query_are_limited(void **state)
{
    (void)state;
    uint32_t status = 0, count = 0;
    for (; !status && count <= PCQ_COUNTERS_OF_QUERY; count++) {
        request_size = 0;
        identify(&parts, 700, 0xFFFFFFFF, long_pattern(count));
        assert_int_equal(pcq_validate_counters(query, request, request_size, true), ERROR_SUCCESS);
        memcpy(&status, request + 16, 4);
    }
    assert_int_equal(status, PCQ_OUT_OF_MEMORY);
    assert_int_equal(count - 1, PCQ_NAMES_OF_QUERY / 999);
    /* Removing names makes room. */
    request_size = 0;
    identify(&parts, 700, 0xFFFFFFFF, long_pattern(0));
    validate(false, (const uint32_t[]){0});
    identify(&parts, 700, 0xFFFFFFFF, "*y");
    validate(true, (const uint32_t[]){0});
}

static DWORD everything(struct pcq_server *s)
{
    struct pcq_query *q = NULL;
    struct pcq_buffer out = {bytes, sizeof bytes / 16, 0, 0};
    DWORD error = pcq_enumerate_sets(s, &out);
    out.room = sizeof bytes;
    error = error ? error : pcq_registration_info(s, &parts, 1, 0, &out);
    error = error ? error : pcq_enumerate_instances(s, &parts, &out);
    error = error ? error : pcq_open_query(s, "a client", &q);
    request_size = 0;
    identify(&parts, 0xFFFFFFFF, 0xFFFFFFFF, "*");
    identify(&whole, 720, 0, "");
    error = error ? error : pcq_validate_counters(q, request, request_size, true);
    for (uint32_t i = 16; !error && i < request_size; i += 48)
        memcpy(&error, request + i, 4);
    error = error ? error : pcq_query_info(q, &out);
    error = error ? error : pcq_query_data(q, &out);
    if (!error && (bytes[48] != 0 || bytes[52] != PCQ_COUNTERSET))
        memcpy(&error, bytes + 48, 4);
    pcq_close_query(q);
    request_size = 0;
    return error;
}

static void out_of_memory_fails_cleanly(void **state)
{
    (void)state;
    DWORD error = 1;
    for (uint64_t n = 1; error != ERROR_SUCCESS; n++) {
        assert_true(n < 1000);
        memory_fail_at(n);
        struct pcq_server *s = pcq_fixture();
        error = s ? everything(s) : PCQ_OUT_OF_MEMORY;
        memory_fail_at(0);
        assert_true(error == ERROR_SUCCESS || error == PCQ_OUT_OF_MEMORY || error == PCQ_GUID_NOT_FOUND);
        pcq_server_close(s);
    }
}

/* Queries that other programs have stored identify objects and counters by these ids. */
static void ids_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < counter_object_type_count; i++) {
        const struct counter_object_type *p = counter_object_types[i];
        GUID own, other;
        pcq_guid(p, &own);
        for (size_t k = 0; k < i; k++) {
            pcq_guid(counter_object_types[k], &other);
            assert_false(guid_equal(&own, &other));
        }
        for (uint32_t a = 0; a < p->counter_count; a++)
            for (uint32_t b = 0; b < a; b++)
                for (int part = 0; part < PCQ_PARTS; part++)
                    assert_int_not_equal(pcq_id(p, a, PCQ_PART_VALUE), pcq_id(p, b, (enum pcq_part)part));
    }
}

/* A published id must never change; otherwise stored queries would select other counters. */
static void ids_never_change(void **state)
{
    (void)state;
    const GUID process = {0x54e9922a, 0xcf5a, 0x87eb, {0xaa, 0xbc, 0x0a, 0xc7, 0x79, 0x70, 0x8b, 0x30}};
    GUID own;
    pcq_guid(&pdh_process, &own);
    assert_true(guid_equal(&own, &process));
    assert_int_equal(pcq_id(&pdh_process, 0, PCQ_PART_VALUE), 6);
    assert_string_equal(pdh_cache.counters[1].name, "Dirty Pages");
    assert_int_equal(pcq_id(&pdh_cache, 1, PCQ_PART_VALUE), 17005342); /* Windows has no index for this counter */
}

/* Clients get the GUIDs and ids that a Perflib V2 provider has defined, including the id of a base. */
static void perflib_counterset_keeps_its_ids(void **state)
{
    (void)state;
    static const struct counterset_counter counters[] = {
        {.id = 41, .type = PERF_LARGE_RAW_FRACTION, .detail = 100, .name = "Share"},
        {.id = 42, .type = PERF_LARGE_RAW_BASE, .detail = 100, .name = "Share Base"},
    };
    const GUID own = {0x11111111, 0x2222, 0x3333, {4, 4, 4, 4, 5, 5, 5, 6}};
    struct counterset_provider *p;
    struct catalogue *c;
    struct pcq_server *s;
    uint32_t set, one;
    assert_int_equal(counterset_provider_open(&p), S_OK);
    assert_int_equal(counterset_provider_add(p, &own, "A Set", false, counters, 2, &set), S_OK);
    assert_int_equal(counterset_provider_create_instance(p, set, "one", 5, &one), S_OK);
    assert_int_equal(catalogue_open_real_time(&c), ERROR_SUCCESS);
    assert_int_equal(pcq_server_open(c, &s), S_OK);
    TAKE(pcq_registration_info(s, &own, 1, 0, &out));
    at = 32;
    struct counter_seen first = counter(), second = counter();
    assert_int_equal(first.id, 41);
    assert_int_equal(first.base, 42);
    assert_int_equal(second.id, 42);
    TAKE(pcq_enumerate_instances(s, &own, &out));
    instance(5, "one");
    /* The Perflib provider of this counterset is not registered. */
    struct pcq_buffer none = {bytes, sizeof bytes, 9, 9};
    assert_int_equal(pcq_registration_info(s, &own, 7, 0, &none), 4200);
    assert_int_equal(pcq_registration_info(s, &own, 8, 0, &none), 4200);
    pcq_server_close(s);
    counterset_provider_close(p);
}

#ifndef _WIN32 /* on Windows, this would change the computer's real registry */
/* The Perflib provider of a registered counterset is known even if its program does not run. */
static void registered_counterset_names_its_provider(void **state)
{
    (void)state;
    const GUID maker = {.Data1 = 71}, set_guid = {.Data1 = 72};
    struct registered_countersets list = {0};
    struct registered_provider *p = registered_add_provider(&list, &maker);
    struct registered_set *set = registered_add_set(p, &set_guid);
    struct registered_counter *one = registered_add_counter(set, 7);
    struct catalogue *c;
    struct pcq_server *s;
    p->name = text_copy("A Maker");
    set->name = text_copy("Registered");
    set->is_defined = true;
    set->instances = COUNTERSET_MULTIPLE;
    one->name = text_copy("Number");
    one->type = PERF_COUNTER_RAWCOUNT;
    one->detail = 100;
    assert_int_equal(registered_countersets_write(&list, true), S_OK);
    registered_countersets_free(&list);
    assert_int_equal(catalogue_open_real_time(&c), ERROR_SUCCESS);
    assert_int_equal(pcq_server_open(c, &s), S_OK);
    TAKE(pcq_registration_info(s, &set_guid, 7, 0, &out));
    assert_string_equal(text(), "A Maker");
    TAKE(pcq_registration_info(s, &set_guid, 8, 0, &out));
    GUID own = guid();
    assert_true(guid_equal(&own, &maker));
    pcq_server_close(s);
    assert_int_equal(registered_provider_remove(&maker, true), S_OK);
}
#endif

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_server, close_server)
    const struct CMUnitTest tests[] = {
        TEST(countersets_are_listed),
        TEST(counterset_lists_its_counters),
        TEST(names_and_helps_are_strings),
        TEST(unknown_items_return_errors),
        TEST(instances_are_listed),
        TEST(each_request_has_its_block_kind),
        TEST(missing_instance_fails_in_its_block),
        TEST(each_counter_has_its_own_status),
        TEST(unknown_instances_cost_one_sample),
        TEST(invalid_blocks_change_nothing),
        TEST(queries_of_a_client_are_limited),
        TEST(names_of_a_query_are_limited),
        TEST(out_of_memory_fails_cleanly),
        TEST(ids_are_unique),
        TEST(ids_never_change),
        TEST(perflib_counterset_keeps_its_ids),
#ifndef _WIN32
        TEST(registered_counterset_names_its_provider),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
