/* SPDX-License-Identifier: MIT */
/* rpc_server [RUN_DOWN_MS [LOGON_MS [FROM]]]: serves the made-up class on a free port of 127.0.0.1, which it prints,
   until its standard input ends. For rpc_clients.py. */
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "engine/rpc/port.h"
#include "tests/rpc/made_up_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct orpc_server *server;
static uint16_t port;

static bool serves(void *user, const GUID *iid, uint32_t version)
{
    (void)user;
    return orpc_server_serves(server, iid, version);
}

static HRESULT open_session(void *user, const char *address, const char *own, void **session)
{
    struct dual_strings bindings = {.count = 1};
    (void)user;
    (void)address;
    snprintf(bindings.addresses[0], sizeof bindings.addresses[0], "%s[%u]", own, port);
    return orpc_session_open(server, &bindings, (struct orpc_session **)session);
}

static uint32_t answer_call(void *user, void *session, const struct rpc_call *call, struct ndr_writer *stub)
{
    (void)user;
    return orpc_session_call(session, call, clock_monotonic_ms(), stub);
}

static void close_session(void *user, void *session)
{
    (void)user;
    orpc_session_close(session);
}

static void report(void *user, const struct rpc_port_event *e)
{
    static const char *const kinds[] = {"refused", "logon failed", "logged on", "over"};
    (void)user;
    fprintf(stderr, "%s: %s %s %s\n", kinds[e->kind], e->address, e->account, e->reason);
}

static void run_down(void *user)
{
    (void)user;
    for (;;) {
        thread_sleep(50);
        orpc_server_run_down(server, clock_monotonic_ms());
    }
}

int main(int argc, char **argv)
{
    const struct rpc_port_settings settings = {
        .address = "127.0.0.1",
        .from = argc > 3 ? argv[3] : "127.0.0.1",
        .limits = {.connections_of_address = 16, .failures = 6, .block_ms = 1000, .delay_ms = 20},
        .rpc_limits = {.logon_ms = argc > 2 ? (uint32_t)atoi(argv[2]) : 0}};
    const struct rpc_port_handler handler = {
        .open = open_session, .call = answer_call, .close = close_session, .report = report};
    const struct orpc_limits limits = {.run_down_ms = argc > 1 ? (uint32_t)atoi(argv[1]) : 0};
    struct thread *thread;
    if (FAILED(orpc_server_open(&made_up_handler, &limits, &server)) ||
        FAILED(rpc_port_open(&settings, &made_up_accounts, serves, &handler, &port)) ||
        FAILED(thread_start(run_down, NULL, &thread))) {
        fprintf(stderr, "rpc_server: %s\n", error_text(E_FAIL));
        return 1;
    }
    printf("%u\n", port);
    fflush(stdout);
    for (char line[16]; fgets(line, sizeof line, stdin);) { /* prints the counts for each input line */
        printf("%zu %u\n", orpc_server_objects(server), made_up_objects());
        fflush(stdout);
    }
    _exit(0); /* its threads are waiting for clients */
}
