/* SPDX-License-Identifier: MIT */
/* The network adapters of this computer, with what they are told and what the host tells of them. */
#ifndef OPENPLA_NETWORK_H
#define OPENPLA_NETWORK_H

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

/* ---- for the hosts' files ---- */

void network_adapter_free(struct network_adapter *a);        /* what it owns */
bool network_adapter_whole(const struct network_adapter *a); /* false: memory was out at one of its texts */
void network_line(struct text_buffer *list, const char *text);
char *network_physical_address(const uint8_t *bytes, size_t count);
/* "ethernet" of 6 (IANA's ifType); else the number. */
void network_set_type(struct network_adapter *a, uint32_t type);

#endif
