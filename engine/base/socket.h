/* SPDX-License-Identifier: MIT */
/* Connections by TCP: made, waited for, and bytes through them. */
#ifndef OPENPLA_SOCKET_H
#define OPENPLA_SOCKET_H

#include "engine/base/error.h"

#define SOCKET_ADDRESS_BYTES 64 /* bytes that an address in numbers takes, with its end */

struct socket_end;
/* Listens at the port of all addresses of this computer. The system's reason with a text that names the port. */
HRESULT socket_listen(uint16_t port, struct socket_end **out);
/* Waits for the next connection; `address` is where it comes from, an IPv4 one without a prefix. Fails with the
   system's reason, as when no more files may be open. */
HRESULT socket_accept(struct socket_end *listener, struct socket_end **out, char address[SOCKET_ADDRESS_BYTES]);
/* `port` in digits. HRESULT_FROM_WIN32(ERROR_TIMEOUT) when none of the host's addresses has answered within
   `timeout_ms` each; the system's reason with a text that names host and port. */
HRESULT socket_connect(const char *host, const char *port, uint32_t timeout_ms, struct socket_end **out);
/* From now on one wait for bytes, or for room to send some, ends after so long with a failure. 0: never. */
void socket_set_patience(struct socket_end *s, uint32_t receive_ms, uint32_t send_ms);
/* All of them. */
HRESULT socket_send(struct socket_end *s, const void *bytes, size_t size);
/* Exactly so many. S_FALSE: the other side has ended before the first. */
HRESULT socket_receive(struct socket_end *s, void *bytes, size_t size);
void socket_close(struct socket_end *s); /* NULL is allowed */

#endif
