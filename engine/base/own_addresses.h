/* SPDX-License-Identifier: MIT */
/* IP addresses in numbers, and those of this computer. */
#ifndef OPENPLA_OWN_ADDRESSES_H
#define OPENPLA_OWN_ADDRESSES_H

#include "engine/base/error.h"

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

/* ---- the host's ---- */

/* "10.1.2.3" or "fe80::1", with nothing around. False: it is not an address. */
bool ip_address_read(const char *text, struct ip_address *out);
/* Adds the addresses of all interfaces. */
HRESULT ip_addresses_own(struct ip_addresses *list);

#endif
