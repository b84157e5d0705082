/* SPDX-License-Identifier: MIT */
/* TLS for the server's connections: by GnuTLS, which is loaded when it is needed, or by Mbed TLS, which the program
   contains (cmake/Tls.cmake). */
#ifndef OPENPLA_HTTP_TLS_H
#define OPENPLA_HTTP_TLS_H

#include "cli/http/web_config.h"
#include "engine/base/clock.h"
#include "engine/base/network.h"

struct tls_server;
/* Loads the library, certificate and key. ERROR_MOD_NOT_FOUND's HRESULT with a message that names the missing package;
   ERROR_NOT_SUPPORTED's if this host OS has no library for it. */
HRESULT tls_server_open(const struct web_config *config, struct tls_server **out);
void tls_server_close(struct tls_server *s); /* NULL is allowed */

struct tls_session;
/* Begins a session over a connection; both are borrowed until tls_session_close. */
HRESULT tls_session_open(struct tls_server *server, struct socket_end *socket, struct tls_session **out);
/* Waits for the client's next step, at most `timeout_ms`. S_OK: the session stands, and the client has the certificate
   that the server asks for. HRESULT_FROM_WIN32(ERROR_TIMEOUT): call again. */
HRESULT tls_handshake(struct tls_session *s, uint32_t timeout_ms);
/* As socket_send and socket_receive_some. */
HRESULT tls_send(struct tls_session *s, const void *bytes, size_t size);
HRESULT tls_receive_some(struct tls_session *s, void *bytes, size_t size, uint32_t timeout_ms, size_t *got);
void tls_session_close(struct tls_session *s); /* NULL is allowed */

/* For the two libraries, which call it until a record is complete: socket_receive_some until that time of
   clock_monotonic_ms(). The time is that of all calls, because a client that sends a byte now and then must not hold
   the connection beyond the caller's limits. */
static inline HRESULT tls_bytes_receive(struct socket_end *socket, uint64_t deadline, void *bytes, size_t size,
                                        size_t *got)
{
    const uint64_t now = clock_monotonic_ms();
    *got = 0;
    return now < deadline ? socket_receive_some(socket, bytes, size, (uint32_t)(deadline - now), got)
                          : HRESULT_FROM_WIN32(ERROR_TIMEOUT);
}

#endif
