/* SPDX-License-Identifier: MIT */
/* Network adapters, IP addresses of this computer, and TCP connections. */
#ifndef OPENPLA_NETWORK_H
#define OPENPLA_NETWORK_H

#include "engine/base/error.h"
#include "engine/base/text.h"

/* Strings in UTF-8, "" if the host OS does not report them; lists have one entry per line. */
struct network_adapter {
    char *name;                  /* the host OS's identifier: a GUID in braces, or the name of the interface */
    char *description, *caption; /* description: the device. caption: the name that users give it */
    const char *type;            /* a name such as "ethernet"; for a type without a name, its number */
    char type_number[12];
    const char *status;         /* "up", "down" ... */
    char *physical_address;     /* 00-11-22-33-44-55 */
    uint32_t mtu;               /* 0: unknown */
    uint64_t transmit, receive; /* bit/s; 0: unknown */
    const char *dhcp;           /* "true", "false" */
    char *dns_suffix;
    struct text_buffer addresses; /* with the prefix length: 192.168.1.2/24 */
    struct text_buffer gateways, dns_servers;
    struct text_buffer offload; /* the adapter's offload settings: name=value, in the host OS's words */
};
/* Calls `each` with each adapter until a call fails. The adapter is borrowed. */
HRESULT network_adapters(HRESULT (*each)(void *user, const struct network_adapter *adapter), void *user);

/* ---- adapters: for win32/ and posix/ ---- */

void network_adapter_free(struct network_adapter *a);        /* frees what the struct owns */
bool network_adapter_whole(const struct network_adapter *a); /* false: out of memory while copying one of its strings */
void network_line(struct text_buffer *list, const char *text);
char *network_physical_address(const uint8_t *bytes, size_t count);
/* Sets the adapter's type from IANA's ifType: for example, 6 becomes "ethernet". A type without a name becomes its
   number as a string. */
void network_set_type(struct network_adapter *a, uint32_t type);

/* ---- IP addresses as numbers ---- */

/* An IPv6 address that maps an IPv4 one (::ffff:1.2.3.4) becomes the IPv4 address. */
struct ip_address {
    uint8_t length; /* 4 or 16 */
    uint8_t bytes[16];
};
/* A list of addresses. ip_addresses_add appends to `items`, which is from memory_alloc and owned by the caller. */
struct ip_addresses {
    struct ip_address *items;
    size_t count, capacity;
};
HRESULT ip_addresses_add(struct ip_addresses *list, const uint8_t *bytes, size_t length);

/* Parses "10.1.2.3" or "fe80::1", without other characters. False: it is not an address. */
bool ip_address_read(const char *text, struct ip_address *out);
/* Whether an address, as text, matches one of the patterns. Patterns contain the wildcards * and ? and are separated by
   spaces, tabs, commas or semicolons. */
bool ip_address_matches(const char *address, const char *patterns);
/* Adds the addresses of all interfaces. */
HRESULT ip_addresses_own(struct ip_addresses *list);

/* ---- TCP connections ---- */

#define SOCKET_ADDRESS_BYTES 64 /* bytes of an address as text, including the NUL */

/* Splits "name", "name:port", "address" or "[address]:port"; a text with several colons and no brackets is an address
   without a port. If the text has no port, *port is NULL. Both strings are from memory_alloc, and NULL on failure.
   Fails with E_OUTOFMEMORY, or with E_INVALIDARG if the port is not a number from 1 to 65535; the message then names
   `text` and the port. */
HRESULT host_split(const char *text, char **host, char **port);

struct socket_end;
/* Listens at the port on all addresses of this computer. Fails with the system's error and a text that names the
   port. */
HRESULT socket_listen(uint16_t port, struct socket_end **out);
/* Listens at the port on one address of this computer, given as text. Fails with E_INVALIDARG if the text is not an
   address. */
HRESULT socket_listen_at(const char *address, uint16_t port, struct socket_end **out);
/* Returns the socket's own address and port; "" and 0 if they are unknown. */
void socket_own_address(struct socket_end *s, char address[SOCKET_ADDRESS_BYTES], uint16_t *port);
/* Waits for the next connection; `address` is the client's address; for an IPv4 client it does not have the prefix
   "::ffff:". Fails with the system's error, for example if no more files may be open. */
HRESULT socket_accept(struct socket_end *listener, struct socket_end **out, char address[SOCKET_ADDRESS_BYTES]);
/* Connects to the host; `port` is in digits. Tries the host's addresses one after the other, each for up to
   `timeout_ms`. Fails with HRESULT_FROM_WIN32(ERROR_BAD_NETPATH) if no computer has this name. Otherwise fails with the
   error of the last address: HRESULT_FROM_WIN32(ERROR_TIMEOUT) if the address did not answer in time, or the system's
   error with a message that names host and port. */
HRESULT socket_connect(const char *host, const char *port, uint32_t timeout_ms, struct socket_end **out);
/* From now on, each single wait for bytes, or for space to send bytes, fails after this time. 0: no limit. */
void socket_set_timeouts(struct socket_end *s, uint32_t receive_ms, uint32_t send_ms);
/* Sends all bytes. */
HRESULT socket_send(struct socket_end *s, const void *bytes, size_t size);
/* Receives exactly this many bytes. S_FALSE: the peer has closed the connection before the first byte. */
HRESULT socket_receive(struct socket_end *s, void *bytes, size_t size);
/* Receives available bytes, at most `size`; waits for the first byte. S_FALSE: the peer has closed the connection.
   HRESULT_FROM_WIN32(ERROR_TIMEOUT): no bytes arrived within the time limit. */
HRESULT socket_receive_some(struct socket_end *s, void *bytes, size_t size, uint32_t timeout_ms, size_t *got);
/* Waits until a socket has bytes to read or a new connection, or has been closed by its peer. Sets ready[i] for each
   socket; all are false after `timeout_ms`. */
HRESULT sockets_wait(struct socket_end *const *sockets, size_t count, uint32_t timeout_ms, bool *ready);
/* Ends sending, and then reads and discards bytes until the peer closes the connection, for at most `timeout_ms`.
   Closing the socket with unread bytes would reset the connection, and the peer could lose the last answer. */
void socket_finish(struct socket_end *s, uint32_t timeout_ms);
void socket_close(struct socket_end *s); /* NULL is allowed */

#endif
