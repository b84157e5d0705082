/* SPDX-License-Identifier: MIT */
/* rpc_server [RUN_DOWN_MS]: serves the made-up class on a free port of 127.0.0.1, which it prints, with a thread for
   each connection, until its standard input ends. For rpc_clients.py. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "tests/rpc/made_up_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct orpc_server *server;
static struct rpc_service service;

static bool serves(void *user, const GUID *iid, uint32_t version)
{
    return orpc_server_serves(user, iid, version);
}

static bool flush_output(int fd, struct rpc_connection *c)
{
    size_t size;
    for (const uint8_t *bytes; (bytes = rpc_connection_output(c, &size)) != NULL;) {
        const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        rpc_connection_sent(c, (size_t)sent);
    }
    return true;
}

static void answer_call(struct rpc_connection *c, struct orpc_session *session)
{
    struct rpc_call call;
    struct ndr_writer stub = {0};
    if (!rpc_connection_call(c, &call))
        return;
    const uint32_t fault = orpc_session_call(session, &call, clock_monotonic_ms(), &stub);
    rpc_connection_answer(c, fault, stub.bytes, stub.size);
    ndr_writer_free(&stub);
}

static void *serve(void *argument)
{
    const int fd = (int)(intptr_t)argument;
    struct rpc_connection *c = NULL;
    struct orpc_session *session = NULL;
    struct dual_strings bindings = {.count = 1};
    uint8_t bytes[8192];
    ssize_t got;
    snprintf(bindings.addresses[0], sizeof bindings.addresses[0], "127.0.0.1[%u]", service.port);
    if (FAILED(rpc_connection_open(&service, clock_monotonic_ms(), &c)) ||
        FAILED(orpc_session_open(server, &bindings, &session)))
        abort();
    while (!rpc_connection_is_over(c) && (got = recv(fd, bytes, sizeof bytes, 0)) > 0)
        for (size_t at = 0; at < (size_t)got;) {
            at += rpc_connection_take(c, bytes + at, (size_t)got - at, clock_monotonic_ms());
            answer_call(c, session);
            if (!flush_output(fd, c))
                break;
        }
    const char *account;
    if (*rpc_connection_failure(c))
        fprintf(stderr, "over: %s\n", rpc_connection_failure(c));
    if (rpc_connection_logon_failed(c, &account))
        fprintf(stderr, "logon failed: %s\n", account);
    rpc_connection_close(c);
    orpc_session_close(session);
    close(fd);
    return NULL;
}

static void *accept_all(void *argument)
{
    const int listener = (int)(intptr_t)argument;
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) == 0)
            pthread_detach(thread);
    }
    return NULL;
}

static void *run_down(void *argument)
{
    for (;;) {
        usleep(50000);
        orpc_server_run_down(server, clock_monotonic_ms());
    }
    return argument;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const struct orpc_limits limits = {.run_down_ms = argc > 1 ? (uint32_t)atoi(argv[1]) : 0};
    pthread_t thread;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 16) ||
        getsockname(listener, (struct sockaddr *)&address, &length) ||
        FAILED(orpc_server_open(&made_up_handler, &limits, &server))) {
        perror("rpc_server");
        return 1;
    }
    service = (struct rpc_service){
        .accounts = &made_up_accounts, .user = server, .serves = serves, .port = ntohs(address.sin_port)};
    printf("%u\n", service.port);
    fflush(stdout);
    if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listener) ||
        pthread_create(&thread, NULL, run_down, NULL))
        return 1;
    for (char line[16]; fgets(line, sizeof line, stdin);) { /* each line asks for the counts */
        printf("%zu %u\n", orpc_server_objects(server), made_up_objects());
        fflush(stdout);
    }
    _exit(0); /* its threads wait for clients */
}
