/* SPDX-License-Identifier: MIT */
/* Sets that export their counters. The server must get the counters while the set runs. If the server cannot be reached
   or rejects them, no sample may be lost, and the user must be informed. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/thread.h"
#include "engine/pla/run/run_journal.h"
#include "tests/unit/run/run_fixture.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

/* A server that replies to each request with a status, and stores the latest request. */
struct receiver {
    struct socket_end *listener;
    struct thread *thread;
    uint16_t port;
    atomic_uint status, requests, accepted;
    struct lock lock;
    char latest[4096];
    atomic_bool has_counter;
};

static bool holds(const char *bytes, size_t size, const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, text, length) == 0)
            return true;
    return false;
}

/* Reads a request and its body. Returns 0 if the connection has ended. */
static size_t read_request(struct socket_end *s, char *bytes)
{
    size_t size = 0, head = 0, body = 0;
    while (size < MOST_BYTES && (head == 0 || size < head + body)) {
        size_t got = 0;
        if (socket_receive_some(s, bytes + size, MOST_BYTES - size, PATIENCE_MS, &got) != S_OK)
            return 0;
        size += got;
        bytes[size] = 0;
        const char *end = head == 0 ? strstr(bytes, "\r\n\r\n") : NULL;
        if (end) {
            const char *length = strstr(bytes, "Content-Length: ");
            head = (size_t)(end + 4 - bytes);
            body = length ? strtoul(length + 16, NULL, 10) : 0;
        }
    }
    return size;
}

static void receive(void *user)
{
    struct receiver *r = user;
    struct socket_end *s;
    char address[SOCKET_ADDRESS_BYTES], *bytes = memory_alloc(MOST_BYTES + 1);
    while (bytes && SUCCEEDED(socket_accept(r->listener, &s, address))) {
        size_t size;
        while ((size = read_request(s, bytes)) > 0) {
            const unsigned status = atomic_load(&r->status);
            char answer[128];
            snprintf(answer, sizeof answer, "HTTP/1.1 %u X\r\nContent-Length: 0\r\n\r\n", status);
            lock_enter(&r->lock);
            text_fit(r->latest, sizeof r->latest, bytes);
            lock_leave(&r->lock);
            if (holds(bytes, size, "windows.system.processes"))
                atomic_store(&r->has_counter, true);
            atomic_fetch_add(&r->requests, 1);
            atomic_fetch_add(&r->accepted, status == 200);
            if (FAILED(socket_send(s, answer, strlen(answer))))
                break;
        }
        socket_close(s);
        if (atomic_load(&r->status) == 0)
            break;
    }
    memory_free(bytes);
}

static void receiver_open(struct receiver *r, unsigned status)
{
    char address[SOCKET_ADDRESS_BYTES];
    memset(r, 0, sizeof *r);
    atomic_store(&r->status, status);
    assert_int_equal(socket_listen_at("127.0.0.1", 0, &r->listener), S_OK);
    socket_own_address(r->listener, address, &r->port);
    assert_int_equal(thread_start(receive, r, &r->thread), S_OK);
}

static void receiver_close(struct receiver *r)
{
    struct socket_end *s;
    char port[8];
    atomic_store(&r->status, 0);
    snprintf(port, sizeof port, "%u", (unsigned)r->port);
    assert_int_equal(socket_connect("127.0.0.1", port, PATIENCE_MS, &s), S_OK); /* wakes the server's thread */
    socket_close(s);
    assert_true(thread_wait(r->thread, PATIENCE_MS));
    thread_close(r->thread);
    socket_close(r->listener);
}

static void await_at_least(atomic_uint *what, unsigned count)
{
    const uint64_t begun = clock_monotonic_ms();
    while (atomic_load(what) < count) {
        assert_true(clock_passed_ms(begun, clock_monotonic_ms()) < PATIENCE_MS);
        fixture_sleep(20);
    }
}

static void commit(const char *name, const char *root, unsigned port, const char *more)
{
    char *values = text_format("<Value name=\"OpenPLA.ExportUrl\">http://127.0.0.1:%u</Value>%s", port, more);
    fixture_commit(name, root, values, CSV_EACH_SECOND ONE_COUNTER);
    memory_free(values);
}

static void counters_reach_the_server(void **state)
{
    struct receiver r;
    (void)state;
    char *root = fixture_folder("export");
    receiver_open(&r, 200);
    commit("export", root, r.port,
           "<Value name=\"OpenPLA.ExportCredentials\">token: of the test</Value>"); /* in the form for a host process */
    assert_int_equal(run_start(SPACE, "export", true), S_OK);
    await_at_least(&r.accepted, 2);
    assert_int_equal(run_stop(SPACE, "export", true), S_OK);
    struct run_record record = fixture_record("export");
    assert_true(fixture_only_stopped(record.last_message));
    run_record_free(&record);
    assert_true(atomic_load(&r.has_counter));
    assert_non_null(strstr(r.latest, "POST /v1/metrics HTTP/1.1\r\n"));
    assert_non_null(strstr(r.latest, "Authorization: Bearer of the test\r\n"));
    assert_int_equal(fixture_events(JOURNAL_EXPORT_FAILED, "export"), 0);
    receiver_close(&r);
    memory_free(root);
}

static void unreachable_server_costs_no_sample(void **state)
{
    struct receiver r;
    (void)state;
    char *root = fixture_folder("away");
    receiver_open(&r, 200);
    receiver_close(&r); /* no process listens on its port any more */
    commit("away", root, r.port, "");
    assert_int_equal(run_start(SPACE, "away", true), S_OK);
    fixture_await_event(JOURNAL_EXPORT_FAILED, "away");
    fixture_progress("away", 1, 3);
    assert_int_equal(run_stop(SPACE, "away", true), S_OK);
    assert_true(fixture_lines(root, "c.csv") >= 4);
    struct run_record record = fixture_record("away");
    assert_int_equal(record.last_result, S_OK);
    assert_non_null(strstr(record.last_message, "is not accepting data"));
    assert_non_null(strstr(record.last_message, "points wait in the queue"));
    run_record_free(&record);
    memory_free(root);
}

static void rejection_is_reported(void **state)
{
    struct receiver r;
    (void)state;
    char *root = fixture_folder("refused");
    receiver_open(&r, 400);
    commit("refused", root, r.port, "<Value name=\"OpenPLA.ExportInterval\">1</Value>");
    assert_int_equal(run_start(SPACE, "refused", true), S_OK);
    await_at_least(&r.requests, 2);
    assert_int_equal(run_stop(SPACE, "refused", true), S_OK);
    struct run_record record = fixture_record("refused");
    assert_non_null(strstr(record.last_message, "HTTP status 400"));
    assert_non_null(strstr(record.last_message, "points dropped"));
    run_record_free(&record);
    receiver_close(&r);
    memory_free(root);
}

static void failed_export_does_not_stop_the_set(void **state)
{
    static const struct {
        const char *url, *more, *expected;
    } rows[] = {
        {"ftp://x", "", "invalid URL 'ftp://x'"},
        {"http://x:1", "<Value name=\"OpenPLA.ExportCredentials\">x</Value>", "line 1"},
        {"http://x:1/y",
         "<Value name=\"OpenPLA.ExportKind\">influx</Value>"
         "<Value name=\"OpenPLA.ExportPreset\">windows_exporter</Value>",
         "OpenPLA.ExportPreset"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *name = text_format("faulty%zu", i), *root = fixture_folder(name);
        char *values = text_format("<Value name=\"OpenPLA.ExportUrl\">%s</Value>%s", rows[i].url, rows[i].more);
        fixture_commit(name, root, values, CSV_EACH_SECOND ONE_COUNTER);
        assert_int_equal(run_start(SPACE, name, true), S_OK);
        fixture_progress(name, 1, 1);
        assert_int_equal(run_stop(SPACE, name, true), S_OK);
        struct run_record record = fixture_record(name);
        if (!strstr(record.last_message, rows[i].expected))
            fail_msg("%s", record.last_message);
        assert_int_equal(record.last_result, S_OK);
        run_record_free(&record);
        memory_free(values);
        memory_free(root);
        memory_free(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_reach_the_server),
        cmocka_unit_test(unreachable_server_costs_no_sample),
        cmocka_unit_test(rejection_is_reported),
        cmocka_unit_test(failed_export_does_not_stop_the_set),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
