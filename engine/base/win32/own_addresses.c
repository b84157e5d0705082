/* SPDX-License-Identifier: MIT */
/* Addresses of this computer's interfaces on Windows and under Wine. iphlpapi.dll is loaded at the first call;
   otherwise every program that loads one of OpenPLA's DLLs would load it. */
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/win32/win32_call.h"

#include <winsock2.h>
#include <ws2tcpip.h>
#include <iphlpapi.h>
#include <mstcpip.h>

enum { TRIES = 8 };

typedef ULONG(WINAPI *ask_fn)(ULONG family, ULONG flags, void *reserved, IP_ADAPTER_ADDRESSES *out, ULONG *size);

bool ip_address_read(const char *text, struct ip_address *out)
{
    struct in_addr four;
    struct in6_addr six;
    char *end;
    ULONG scope;
    USHORT port;
    *out = (struct ip_address){.length = 4};
    if (!RtlIpv4StringToAddressA(text, TRUE, &end, &four) && !*end) {
        memcpy(out->bytes, &four, sizeof four);
        return true;
    }
    out->length = 16;
    if (RtlIpv6StringToAddressExA(text, &six, &scope, &port) || port)
        return false;
    memcpy(out->bytes, &six, sizeof six);
    return true;
}

static HRESULT adapters_read(ask_fn function, IP_ADAPTER_ADDRESSES **out)
{
    ULONG size = 16384, status = ERROR_BUFFER_OVERFLOW;
    *out = NULL;
    /* Tries again if adapters are added between two calls. */
    for (int i = 0; i < TRIES && status == ERROR_BUFFER_OVERFLOW; i++) {
        memory_free(*out);
        *out = memory_alloc(size);
        if (!*out)
            return E_OUTOFMEMORY;
        status = function(AF_UNSPEC,
                          GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER |
                              GAA_FLAG_SKIP_FRIENDLY_NAME,
                          NULL, *out, &size);
    }
    if (!status)
        return S_OK;
    memory_free(*out);
    *out = NULL;
    return status == ERROR_NO_DATA ? S_OK : win32_failed(status, "network adapters");
}

static HRESULT add_address(struct ip_addresses *list, const SOCKADDR *address)
{
    const void *any = address;
    if (address && address->sa_family == AF_INET)
        return ip_addresses_add(list, (const uint8_t *)&((const struct sockaddr_in *)any)->sin_addr, 4);
    if (address && address->sa_family == AF_INET6)
        return ip_addresses_add(list, (const uint8_t *)&((const struct sockaddr_in6 *)any)->sin6_addr, 16);
    return S_OK;
}

HRESULT ip_addresses_own(struct ip_addresses *list)
{
    HMODULE module = LoadLibraryExW(L"iphlpapi.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    const ask_fn function =
        module ? (ask_fn)(void *)GetProcAddress(module, "GetAdaptersAddresses") : (ask_fn)(void *)NULL;
    IP_ADAPTER_ADDRESSES *all = NULL;
    HRESULT hr = function ? adapters_read(function, &all) : win32_failed(GetLastError(), "iphlpapi.dll");
    for (const IP_ADAPTER_ADDRESSES *a = all; SUCCEEDED(hr) && a; a = a->Next)
        for (const IP_ADAPTER_UNICAST_ADDRESS *u = a->FirstUnicastAddress; u && SUCCEEDED(hr); u = u->Next)
            hr = add_address(list, u->Address.lpSockaddr);
    memory_free(all);
    if (module)
        FreeLibrary(module);
    return hr;
}
