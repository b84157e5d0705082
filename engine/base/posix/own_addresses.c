/* SPDX-License-Identifier: MIT */
/* Addresses of this computer's interfaces on POSIX systems. */
#include "engine/base/network.h"
#include "engine/base/posix/posix_call.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>

bool ip_address_read(const char *text, struct ip_address *out)
{
    *out = (struct ip_address){.length = 4};
    if (inet_pton(AF_INET, text, out->bytes) == 1)
        return true;
    out->length = 16;
    return inet_pton(AF_INET6, text, out->bytes) == 1;
}

HRESULT ip_addresses_own(struct ip_addresses *list)
{
    struct ifaddrs *all;
    HRESULT hr = S_OK;
    if (getifaddrs(&all))
        return posix_failed(errno, "network interfaces");
    for (const struct ifaddrs *i = all; i && SUCCEEDED(hr); i = i->ifa_next) {
        const void *address = i->ifa_addr;
        if (address && i->ifa_addr->sa_family == AF_INET)
            hr = ip_addresses_add(list, (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr, 4);
        else if (address && i->ifa_addr->sa_family == AF_INET6)
            hr = ip_addresses_add(list, ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr, 16);
    }
    freeifaddrs(all);
    return hr;
}
