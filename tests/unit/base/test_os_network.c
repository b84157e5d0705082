/* SPDX-License-Identifier: MIT */
/* TCP connections: failures have a reason that a user can act on. */
#include "engine/base/network.h"
#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <string.h>

static struct socket_end *listen_at(uint16_t *number, char port[8])
{
    char address[SOCKET_ADDRESS_BYTES];
    struct socket_end *listener;
    assert_int_equal(socket_listen_at("127.0.0.1", 0, &listener), S_OK);
    socket_own_address(listener, address, number);
    snprintf(port, 8, "%u", (unsigned)*number);
    return listener;
}

static void failures_say_what_to_look_at(void **state)
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
    const HRESULT foreign = socket_listen_at("192.0.2.1", 0, &other); /* for documentation, RFC 5737 */
    assert_string_equal(error_standard_text(foreign), "this computer does not have this address");
    socket_close(listener);
    const HRESULT refused = socket_connect("127.0.0.1", port, 60000, &other);
    assert_int_equal(refused, HRESULT_FROM_WIN32(ERROR_CONNECTION_REFUSED));
    assert_non_null(strstr(error_text(refused), port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_say_what_to_look_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
