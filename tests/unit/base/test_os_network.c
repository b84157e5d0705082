/* SPDX-License-Identifier: MIT */
/* TCP connections. A server's last answer arrives even if the client is still sending, and an error gives the user a
   reason to act on. */
#include "engine/base/network.h"
#include "engine/base/thread.h"
#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <string.h>

#define ANSWER "refused: wrong password"

static struct socket_end *listen_at(uint16_t *number, char port[8])
{
    char address[SOCKET_ADDRESS_BYTES];
    struct socket_end *listener;
    assert_int_equal(socket_listen_at("127.0.0.1", 0, &listener), S_OK);
    socket_own_address(listener, address, number);
    snprintf(port, 8, "%u", (unsigned)*number);
    return listener;
}

static void refuse_a_client(void *user)
{
    struct socket_end *client;
    char address[SOCKET_ADDRESS_BYTES];
    if (FAILED(socket_accept(user, &client, address)))
        return;
    if (SUCCEEDED(socket_send(client, ANSWER, sizeof ANSWER)))
        socket_finish(client, UINT32_MAX);
    socket_close(client);
}

static void last_answer_arrives_while_the_client_sends(void **state)
{
    static const char bytes[65536];
    char answer[sizeof ANSWER], port[8];
    struct socket_end *client;
    struct thread *server;
    uint16_t number;
    (void)state;
    struct socket_end *listener = listen_at(&number, port);
    assert_int_equal(thread_start(refuse_a_client, listener, &server), S_OK);
    assert_int_equal(socket_connect("127.0.0.1", port, 60000, &client), S_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(socket_send(client, bytes, sizeof bytes), S_OK);
    assert_int_equal(socket_receive(client, answer, sizeof answer), S_OK);
    assert_string_equal(answer, ANSWER);
    assert_int_equal(socket_receive(client, answer, sizeof answer), S_FALSE);
    socket_close(client);
    thread_wait(server, UINT32_MAX);
    thread_close(server);
    socket_close(listener);
}

static void failures_have_reasons(void **state)
{
    char port[8];
    uint16_t number;
    struct socket_end *other;
    (void)state;
    struct socket_end *listener = listen_at(&number, port);
    const HRESULT used = socket_listen_at("127.0.0.1", number, &other);
    assert_int_equal(used, HRESULT_FROM_WIN32(WSAEADDRINUSE));
    assert_non_null(strstr(error_text(used), port));
    assert_string_equal(error_standard_text(used), "another program uses this port");
    const HRESULT foreign = socket_listen_at("192.0.2.1", 0, &other); /* TEST-NET-1, reserved for documentation: RFC
                                                                         5737 */
    assert_string_equal(error_standard_text(foreign), "this computer does not have this address");
    socket_close(listener);
    const HRESULT refused = socket_connect("127.0.0.1", port, 60000, &other);
    assert_int_equal(refused, HRESULT_FROM_WIN32(ERROR_CONNECTION_REFUSED));
    assert_non_null(strstr(error_text(refused), port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_answer_arrives_while_the_client_sends),
        cmocka_unit_test(failures_have_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
