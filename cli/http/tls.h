/* SPDX-License-Identifier: MIT */
/* TLS for the server's connections. The code uses either GnuTLS, which is loaded when needed, or Mbed TLS, which is
   built into the program (cmake/Tls.cmake). */
#ifndef OPENPLA_HTTP_TLS_H
#define OPENPLA_HTTP_TLS_H

#include "cli/http/web_config.h"
#include "engine/base/clock.h"
#include "engine/base/network.h"

struct tls_server;
/* Loads the library, the certificate and the key. Fails with HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND) and a message that
   names the missing package, or with HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) if this program was built without TLS. */
HRESULT tls_server_open(const struct web_config *config, struct tls_server **out);
void tls_server_close(struct tls_server *s); /* NULL is allowed */

struct tls_session;
/* Begins a session over a connection. `server` and `socket` are borrowed until tls_session_close. */
HRESULT tls_session_open(struct tls_server *server, struct socket_end *socket, struct tls_session **out);
/* Continues the handshake for at most `timeout_ms`. S_OK means that the session is established, and that the client has
   presented any certificate that the server requires. HRESULT_FROM_WIN32(ERROR_TIMEOUT): call the function again. */
HRESULT tls_handshake(struct tls_session *s, uint32_t timeout_ms);
/* Work like socket_send and socket_receive_some. */
HRESULT tls_send(struct tls_session *s, const void *bytes, size_t size);
HRESULT tls_receive_some(struct tls_session *s, void *bytes, size_t size, uint32_t timeout_ms, size_t *got);
void tls_session_close(struct tls_session *s); /* NULL is allowed */

/* Receives bytes for the TLS libraries, which call it until a record is complete. `deadline` (clock_monotonic_ms())
   applies to all these calls together, because a client that sends single bytes must not keep the connection longer
   than the caller permits. */
static inline HRESULT tls_bytes_receive(struct socket_end *socket, uint64_t deadline, void *bytes, size_t size,
                                        size_t *got)
{
    const uint64_t now = clock_monotonic_ms();
    *got = 0;
    return now < deadline ? socket_receive_some(socket, bytes, size, (uint32_t)(deadline - now), got)
                          : HRESULT_FROM_WIN32(ERROR_TIMEOUT);
}

#endif
