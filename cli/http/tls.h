/* SPDX-License-Identifier: MIT */
/* TLS for the server's connections, by a library of the host OS that is loaded when it is needed. */
#ifndef OPENPLA_HTTP_TLS_H
#define OPENPLA_HTTP_TLS_H

#include "cli/http/web_config.h"
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

#endif
