/* SPDX-License-Identifier: MIT */
/* The components of openpla push: URLs and credentials are checked, a queue keeps its order and its limit, and corrupt
   files are never sent. An error would lose data, or send a password over an unencrypted connection. */
#include "engine/export/formats/otlp.h"
#include "engine/export/metrics/steady.h"
#include "engine/export/push.h"
#include "engine/export/send/queue.h"
#include "tests/unit/scratch_folder.h"

static void urls_are_checked(void **state)
{
    static const struct {
        enum push_kind kind;
        const char *url, *expected;
    } rows[] = {
        {PUSH_OTLP, "http://host:4318", "http://host:4318/v1/metrics"},
        {PUSH_OTLP, "https://host/", "https://host/v1/metrics"},
        {PUSH_OTLP, "http://host/otlp/v1/metrics", "http://host/otlp/v1/metrics"},
        {PUSH_INFLUX, "http://[::1]:8086/write?db=x", "http://[::1]:8086/write?db=x"},
        {PUSH_INFLUX, "http://host:8086", NULL},
        {PUSH_OTLP, "host:4318", NULL},
        {PUSH_OTLP, "ftp://host/", NULL},
        {PUSH_OTLP, "http://", NULL},
        {PUSH_OTLP, "http:///v1/metrics", NULL},
        {PUSH_OTLP, "http://user:secret@host/", NULL},
        {PUSH_OTLP, "HTTP://user:secret@host/", NULL},
        {PUSH_OTLP, "http://user:secret @host/", NULL},
        {PUSH_OTLP, "http://host/a b", NULL},
        {PUSH_OTLP, "http://host/\r\nX: y", NULL},
        {PUSH_OTLP, "http://host/#x", NULL},
        {PUSH_OTLP, "http://host:65535/x", "http://host:65535/x"},
        {PUSH_OTLP, "http://[fe80::1%25eth0]/x", "http://[fe80::1%25eth0]/x"},
        {PUSH_OTLP, "http://host:65536/x", NULL},
        {PUSH_OTLP, "http://host:0/x", NULL},
        {PUSH_OTLP, "http://host:/x", NULL},
        {PUSH_OTLP, "http://host:http/x", NULL},
        {PUSH_OTLP, "http://[::1/x", NULL},
        {PUSH_OTLP, "http://[::1]8086/x", NULL},
        {PUSH_OTLP, "http://a|b/x", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *url;
        const HRESULT hr = push_url(rows[i].kind, rows[i].url, &url);
        if (SUCCEEDED(hr) != (rows[i].expected != NULL) || (rows[i].expected && strcmp(url, rows[i].expected) != 0))
            fail_msg("%s: 0x%08X", rows[i].url, (unsigned)hr);
        assert_null(FAILED(hr) ? strstr(error_text(hr), "secret") : NULL);
        memory_free(url);
    }
}

static void credentials_are_a_token_or_a_user(void **state)
{
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"token: abc def\n", true},
        {"# of the test\r\n\r\n  user:  me\r\npassword: a:b c\r\n", true},
        {"", false},
        {"token:\n", false},
        {"token abc\n", false},
        {"token: a\ntoken: b\n", false},
        {"token: a\nuser: b\npassword: c\n", false},
        {"user: b\n", false},
        {"password: c\n", false},
        {"token: a\x01z\n", false},
        {"header: x\n", false},
    };
    struct push_credentials c;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const HRESULT hr = push_credentials_parse(rows[i].text, strlen(rows[i].text), &c);
        if (SUCCEEDED(hr) != rows[i].valid)
            fail_msg("row %zu: 0x%08X %s", i, (unsigned)hr, error_text(hr));
        if (i == 0)
            assert_string_equal(c.token, "abc def");
        if (i == 1) {
            assert_string_equal(c.user, "me");
            assert_string_equal(c.password, "a:b c");
        }
        push_credentials_free(&c);
    }
}

static void permanently_rejected_data_are_not_sent_again(void **state)
{
    (void)state;
    static const struct {
        unsigned status;
        enum push_verdict otlp, influx;
    } rows[] = {
        {200, PUSH_ACCEPTED, PUSH_ACCEPTED}, {204, PUSH_ACCEPTED, PUSH_ACCEPTED}, {302, PUSH_REFUSED, PUSH_REFUSED},
        {400, PUSH_REFUSED, PUSH_REFUSED},   {401, PUSH_REFUSED, PUSH_REFUSED},   {413, PUSH_REFUSED, PUSH_REFUSED},
        {429, PUSH_RETRY, PUSH_RETRY},       {500, PUSH_REFUSED, PUSH_RETRY},     {503, PUSH_RETRY, PUSH_RETRY},
        {504, PUSH_RETRY, PUSH_RETRY},       {0, PUSH_REFUSED, PUSH_REFUSED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(push_status_verdict(PUSH_OTLP, rows[i].status), rows[i].otlp);
        assert_int_equal(push_status_verdict(PUSH_INFLUX, rows[i].status), rows[i].influx);
    }
}

static void pauses_grow_to_a_limit(void **state)
{
    (void)state;
    for (uint32_t random = 0; random < 4096; random += 511) {
        uint64_t last = 0;
        for (unsigned failures = 1; failures < 100; failures++) {
            const uint64_t ms = push_pause_ms(failures, 0, random);
            assert_true(ms >= 800 && ms <= 360000 && ms >= last);
            last = ms;
        }
    }
    assert_int_equal(push_pause_ms(1, 100, 0), 100000);                 /* Retry-After */
    assert_int_equal(push_pause_ms(1, UINT32_MAX, 0), 3600 * 1000);     /* a value from a hostile server */
    assert_true(push_pause_ms(9, 1, 0) > push_pause_ms(1, 1, 0) + 100); /* not less than without Retry-After */
}

/* ---- the queue ---- */

static void add(struct push_queue *q, const char *text, uint32_t points, bool front)
{
    const struct push_batch b = {PUSH_OTLP, points, 7, strlen(text), (char *)text};
    assert_int_equal(push_queue_add(q, &b, front), S_OK);
}

static void expect_first(struct push_queue *q, const char *text, uint32_t points)
{
    struct push_batch b;
    const HRESULT hr = push_queue_first(q, PUSH_OTLP, &b);
    if (!text) {
        assert_int_equal(hr, S_FALSE);
        return;
    }
    assert_int_equal(hr, S_OK);
    assert_string_equal(b.bytes, text);
    assert_int_equal(b.points, points);
    assert_int_equal(b.first, 7);
    push_batch_free(&b);
}

static void queue_keeps_its_order_and_survives_restarts(void **state)
{
    struct push_queue *q, *other;
    char *folder = scratch_create("test_push_parts");
    (void)state;
    assert_int_equal(push_queue_open(folder, 1 << 20, &q), S_OK);
    expect_first(q, NULL, 0);
    add(q, "first", 1, false);
    add(q, "second", 2, false);
    add(q, "before", 3, true); /* a request that returns to the queue */
    assert_int_equal(push_queue_open(folder, 1 << 20, &other), HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION));
    expect_first(q, "before", 3);
    push_queue_remove(q);
    expect_first(q, "first", 1);
    push_queue_close(q);
    assert_int_equal(push_queue_open(folder, 1 << 20, &q), S_OK);
    struct push_batch none;
    assert_int_equal(push_queue_first(q, PUSH_INFLUX, &none), S_FALSE); /* requests of the other kind are kept */
    push_queue_close(q);
    assert_int_equal(push_queue_open(folder, 1 << 20, &q), S_OK); /* the first request was not removed */
    assert_int_equal(push_queue_state(q).points, 3);
    expect_first(q, "first", 1);
    push_queue_remove(q);
    push_queue_remove(q); /* does not remove the next request */
    expect_first(q, "second", 2);
    push_queue_remove(q);
    expect_first(q, NULL, 0);
    push_queue_close(q);
    scratch_remove(folder);
    memory_free(folder);
}

static void full_queue_drops_the_oldest_and_counts_them(void **state)
{
    struct push_queue *q;
    char *folder = scratch_create("test_push_parts");
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_int_equal(push_queue_open(folder, 5000, &q), S_OK);
    for (uint32_t i = 0; i < 10; i++) {
        text[0] = (char)('a' + i);
        add(q, text, i, false);
    }
    const struct push_queue_state s = push_queue_state(q);
    assert_true(s.bytes <= 5000 && s.batches == 4);
    assert_int_equal(s.dropped_points, 0 + 1 + 2 + 3 + 4 + 5);
    text[0] = 'g';
    expect_first(q, text, 6);
    push_queue_close(q);
    assert_int_equal(push_queue_open(folder, 2500, &q), S_OK); /* opened with a smaller limit than before */
    assert_int_equal(push_queue_state(q).batches, 2);
    assert_int_equal(push_queue_state(q).dropped_points, 6 + 7);
    push_queue_close(q);
    scratch_remove(folder);
    memory_free(folder);
}

static void spoil(const char *folder, const char *name, size_t at, size_t cut)
{
    char *path = path_join(folder, name), *bytes;
    size_t size;
    assert_int_equal(file_load(path, 1 << 20, &bytes, &size), S_OK);
    bytes[at % size] ^= 1;
    assert_int_equal(file_store(path, bytes, size - cut), S_OK);
    memory_free(bytes);
    memory_free(path);
}

static void corrupt_files_are_skipped_and_counted(void **state)
{
    struct push_queue *q;
    struct texts names = {0};
    char *folder = scratch_create("test_push_parts");
    (void)state;
    assert_int_equal(push_queue_open(folder, 1 << 20, &q), S_OK);
    for (uint32_t i = 0; i < 60; i++)
        add(q, "what was measured", 1, false);
    push_queue_close(q);
    assert_int_equal(folder_list(folder, false, &names), S_OK);
    assert_int_equal(names.count, 61); /* and the lock file */
    for (size_t i = 0; i + 1 < names.count; i++)
        if (i < 58)
            spoil(folder, names.items[i], i, 0);
        else
            spoil(folder, names.items[i], 0, i - 57); /* truncated, or longer than its header declares */
    assert_int_equal(push_queue_open(folder, 1 << 20, &q), S_OK);
    add(q, "the last", 1, false);
    expect_first(q, "the last", 1);
    assert_int_equal(push_queue_state(q).corrupt_batches, 60);
    push_queue_close(q);
    texts_free(&names);
    scratch_remove(folder);
    memory_free(folder);
}

static void incomplete_files_are_deleted(void **state)
{
    struct push_queue *q;
    char *folder = scratch_create("test_push_parts"), *path = path_join(folder, "~123-4.tmp");
    (void)state;
    assert_int_equal(file_store(path, "half of a batch", 15), S_OK); /* left by a killed process */
    assert_int_equal(push_queue_open(folder, 1 << 20, &q), S_OK);
    assert_false(file_exists(path));
    push_queue_close(q);
    memory_free(path);
    scratch_remove(folder);
    memory_free(folder);
}

/* A full disk while the server is unreachable. */
static void requests_stay_in_memory_while_the_queue_cannot_be_written(void **state)
{
    enum { GIVEN = 12 };
    struct push *p;
    struct push_figures figures;
    char *folder = scratch_create("test_push_parts"), *blocked = path_join(folder, "0000010000000000.batch");
    const struct push_settings settings = {
        .kind = PUSH_OTLP, .url = "http://127.0.0.1:1", .queue_folder = folder, .queue_bytes = 1 << 20};
    (void)state;
    assert_int_equal(push_open(&settings, &p), S_OK);
    assert_int_equal(folder_create(blocked), S_OK); /* the queue's next file cannot be created */
    for (int i = 0; i < GIVEN; i++)
        assert_int_equal(push_give(p, text_copy("request"), 7, 1, i + 1), S_OK);
    assert_int_equal(push_finish(p), S_FALSE);
    assert_int_equal(folder_delete(blocked), S_OK);
    push_close(p, &figures);
    assert_int_equal(figures.waiting_points + figures.dropped_points, GIVEN);
    assert_int_equal(figures.waiting_points, figures.queued_requests);
    assert_true(figures.queued_requests >= 8);
    memory_free(blocked);
    scratch_remove(folder);
    memory_free(folder);
}

/* ---- OTLP ---- */

static void decreasing_values_restart_the_series(void **state)
{
    struct steady s = {0};
    (void)state;
    assert_int_equal(steady_since(&s, 1, 1, 100, 50), 100);
    assert_int_equal(steady_since(&s, 1, 2, 200, 50), 100);
    assert_int_equal(steady_since(&s, 1, 3, 300, 60), 100);
    assert_int_equal(steady_since(&s, 1, 4, 400, 10), 400);
    assert_int_equal(steady_since(&s, 1, 5, 500, 20), 400);
    assert_int_equal(steady_since(&s, 2, 5, 500, 0), 500);
    steady_free(&s);
}

struct given {
    char bytes[4096];
    size_t size;
    uint32_t points;
    int64_t first;
    unsigned times;
};

static HRESULT take(void *user, const char *bytes, size_t size, uint32_t points, int64_t first)
{
    struct given *g = user;
    assert_true(size <= sizeof g->bytes);
    memcpy(g->bytes, bytes, size);
    g->size = size;
    g->points = points;
    g->first = first;
    g->times++;
    return S_OK;
}

/* An independent reader: prints a message as "1{1{...}2:5 3='text'}", and treats bytes as a message if `paths` contains
   them. */
static void dump(struct text_buffer *b, const unsigned char *at, const unsigned char *end, const char *path)
{
    static const char *const messages[] = {"/1",
                                           "/1/1",
                                           "/1/1/1",
                                           "/1/1/1/2",
                                           "/1/2",
                                           "/1/2/1",
                                           "/1/2/2",
                                           "/1/2/2/5",
                                           "/1/2/2/7",
                                           "/1/2/2/11",
                                           "/1/2/2/5/1",
                                           "/1/2/2/7/1",
                                           "/1/2/2/11/1",
                                           "/1/2/2/5/1/7",
                                           "/1/2/2/7/1/7",
                                           "/1/2/2/11/1/7",
                                           "/1/2/2/5/1/7/2",
                                           "/1/2/2/7/1/7/2",
                                           "/1/2/2/11/1/7/2"};
    while (at < end) {
        uint64_t value = 0;
        const unsigned key = *at++; /* all field numbers are below 16 */
        char inner[64];
        snprintf(inner, sizeof inner, "%s/%u", path, key >> 3);
        text_buffer_format(b, "%u", key >> 3);
        if ((key & 7) == 1) {
            for (int i = 7; i >= 0; i--)
                value = value << 8 | at[i];
            at += 8;
            text_buffer_format(b, ":%llx ", (unsigned long long)value);
            continue;
        }
        unsigned shift = 0;
        do
            value |= (uint64_t)(*at & 0x7F) << shift, shift += 7;
        while (*at++ & 0x80);
        if ((key & 7) == 0) {
            text_buffer_format(b, "=%llu ", (unsigned long long)value);
            continue;
        }
        assert_int_equal(key & 7, 2);
        assert_true(value <= (uint64_t)(end - at));
        bool is_message = false;
        for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
            is_message |= strcmp(messages[i], inner) == 0;
        text_buffer_add(b, is_message ? "{" : "'");
        if (is_message)
            dump(b, at, at + value, inner);
        else
            text_buffer_add_n(b, (const char *)at, value);
        text_buffer_add(b, is_message ? "}" : "' ");
        at += value;
    }
}

static void request_matches_the_schema(void **state)
{
    static const int64_t epoch = INT64_C(116444736000000000);
    struct given g = {0};
    struct otlp *o;
    struct text_buffer b = {0};
    int64_t utc = epoch + 1;
    (void)state;
    assert_int_equal(otlp_open(&(struct otlp_settings){"HOST", "svc", take, &g}, &o), S_OK);
    const struct metric_family count = {
        .name = (char *)"windows_system_calls_total", .help = (char *)"h", .unit = "", .kind = METRIC_COUNTER};
    const struct metric_family gauge = {
        .name = (char *)"windows_memory_free_bytes", .help = (char *)"", .unit = "bytes", .kind = METRIC_GAUGE};
    const struct metric_family none = {
        .name = (char *)"windows_none", .help = (char *)"", .unit = "", .kind = METRIC_GAUGE};
    const struct metric_scale whole = {METRIC_FIRST, 1, 1, 0, true}, half = {METRIC_FIRST, 1, 2, 0, true};
    const struct log_raw raw = {.first = 3};
    struct metric_sink sink = otlp_begin(o, &utc);
    assert_int_equal(sink.family(sink.user, &count, strlen("windows_system")), S_OK);
    const struct metric_sample first = {
        .labels = "name=\"a\\\"b\"", .length = 11, .fixed = "", .series = 1, .scale = &whole, .raw = &raw};
    assert_int_equal(sink.sample(sink.user, &first), S_OK);
    assert_int_equal(sink.family(sink.user, &none, strlen("windows_none")), S_OK);
    assert_int_equal(sink.family(sink.user, &gauge, strlen("windows_memory")), S_OK);
    const struct metric_sample second = {.labels = "", .fixed = "", .series = 2, .scale = &half, .raw = &raw};
    assert_int_equal(sink.sample(sink.user, &second), S_OK);
    assert_int_equal(otlp_end(o, true), S_OK);
    assert_int_equal(g.times, 1);
    assert_int_equal(g.points, 2);
    assert_int_equal(g.first, utc);
    dump(&b, (const unsigned char *)g.bytes, (const unsigned char *)g.bytes + g.size, "");
    assert_string_equal(b.text, "1{1{1{1'service.name' 2{1'svc' }}1{1'host.name' 2{1'HOST' }}}2{1{1'openpla' }"
                                "2{1'windows.system.calls' 2'h' 7{1{2:64 3:64 6:3 7{1'name' 2{1'a\"b' }}}2=2 3=1 }}"
                                "2{1'windows.memory.free' 2'' 3'By' 5{1{3:64 4:3ff8000000000000 }}}}}");
    text_buffer_free(&b);
    otlp_close(o);
}

static void answers_are_read(void **state)
{
    static const char partial[] = "\x0A\x09\x08\x07\x12\x05wrong", status[] = "\x08\x03\x12\x03"
                                                                              "bad";
    uint64_t rejected;
    char message[16];
    (void)state;
    assert_true(otlp_read_answer(partial, sizeof partial - 1, false, &rejected, message, sizeof message));
    assert_int_equal(rejected, 7);
    assert_string_equal(message, "wrong");
    assert_true(otlp_read_answer(status, sizeof status - 1, true, &rejected, message, sizeof message));
    assert_string_equal(message, "bad");
    assert_true(otlp_read_answer("", 0, false, &rejected, message, sizeof message));
    assert_int_equal(rejected, 0);
    for (size_t size = 1; size < sizeof partial - 1; size++) /* truncated at any position */
        assert_false(otlp_read_answer(partial, size, false, &rejected, message, sizeof message));
    assert_false(otlp_read_answer("{}", 2, false, &rejected, message, sizeof message));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_checked),
        cmocka_unit_test(credentials_are_a_token_or_a_user),
        cmocka_unit_test(permanently_rejected_data_are_not_sent_again),
        cmocka_unit_test(pauses_grow_to_a_limit),
        cmocka_unit_test(queue_keeps_its_order_and_survives_restarts),
        cmocka_unit_test(full_queue_drops_the_oldest_and_counts_them),
        cmocka_unit_test(corrupt_files_are_skipped_and_counted),
        cmocka_unit_test(incomplete_files_are_deleted),
        cmocka_unit_test(requests_stay_in_memory_while_the_queue_cannot_be_written),
        cmocka_unit_test(decreasing_values_restart_the_series),
        cmocka_unit_test(request_matches_the_schema),
        cmocka_unit_test(answers_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
