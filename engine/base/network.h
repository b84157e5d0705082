/* SPDX-License-Identifier: MIT */
/* Network adapters, IP addresses of this computer, and TCP connections. */
#ifndef OPENPLA_NETWORK_H
#define OPENPLA_NETWORK_H

#include "engine/base/error.h"
#include "engine/base/text.h"

/* Texts in UTF-8, "" where the host does not tell; lists have one a line. */
struct network_adapter {
    char *name;                  /* the host's own: a GUID in braces, or that of the interface */
    char *description, *caption; /* what it is; what people call it */
    const char *type;            /* "ethernet", "loopback" ...; a number where there is no word for it */
    char type_number[12];
    const char *status;         /* "up", "down" ... */
    char *physical_address;     /* 00-11-22-33-44-55 */
    uint32_t mtu;               /* 0: not told */
    uint64_t transmit, receive; /* bit/s; 0: not told */
    const char *dhcp;           /* "true", "false" */
    char *dns_suffix;
    struct text_buffer addresses; /* with the length of their prefix: 192.168.1.2/24 */
    struct text_buffer gateways, dns_servers;
    struct text_buffer offload; /* what it does in the processor's place: name=value, in the host's words */
};
/* Hands each adapter over, which is borrowed, until `each` fails. */
HRESULT network_adapters(HRESULT (*each)(void *user, const struct network_adapter *adapter), void *user);

/* ---- adapters: for win32/ and posix/ ---- */

void network_adapter_free(struct network_adapter *a);        /* what it owns */
bool network_adapter_whole(const struct network_adapter *a); /* false: memory was out at one of its texts */
void network_line(struct text_buffer *list, const char *text);
char *network_physical_address(const uint8_t *bytes, size_t count);
/* "ethernet" of 6 (IANA's ifType); else the number. */
void network_set_type(struct network_adapter *a, uint32_t type);

/* ---- IP addresses in numbers ---- */

/* An IPv6 address that stands for an IPv4 one (::ffff:1.2.3.4) is that. */
struct ip_address {
    uint8_t length; /* 4 or 16 */
    uint8_t bytes[16];
};
/* The list is the caller's, from memory_alloc. It grows by one. */
struct ip_addresses {
    struct ip_address *items;
    size_t count, capacity;
};
HRESULT ip_addresses_add(struct ip_addresses *list, const uint8_t *bytes, size_t length);

/* "10.1.2.3" or "fe80::1", with nothing around. False: it is not an address. */
bool ip_address_read(const char *text, struct ip_address *out);
/* Adds the addresses of all interfaces. */
HRESULT ip_addresses_own(struct ip_addresses *list);

/* ---- TCP connections ---- */

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
void socket_set_timeouts(struct socket_end *s, uint32_t receive_ms, uint32_t send_ms);
/* All of them. */
HRESULT socket_send(struct socket_end *s, const void *bytes, size_t size);
/* Exactly so many. S_FALSE: the other side has ended before the first. */
HRESULT socket_receive(struct socket_end *s, void *bytes, size_t size);
void socket_close(struct socket_end *s); /* NULL is allowed */

#endif
