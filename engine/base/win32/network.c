/* SPDX-License-Identifier: MIT */
/* Network adapters of Windows or Wine. Keywords in the drivers' registry keys name the offloads. The keywords are the
   same for all drivers: "*TCPChecksumOffloadIPv4", "*LsoV2IPv4" ... */
#include "engine/base/network.h"

#include "engine/base/memory.h"
#include "engine/base/registry.h"
#include "engine/base/win32/win32_call.h"

#include <winsock2.h>
#include <ws2tcpip.h>
#include <iphlpapi.h>
#include <mstcpip.h>
#include <string.h>

enum { TRIES = 8 };

#define DRIVERS "SYSTEM\\CurrentControlSet\\Control\\Class\\{4D36E972-E325-11CE-BFC1-08002BE10318}"

static void add_address(struct text_buffer *list, const SOCKET_ADDRESS *address, int prefix)
{
    WCHAR wide[64];
    char *text = NULL;
    const WCHAR *end = wide;
    if (!address->lpSockaddr)
        return;
    if (address->lpSockaddr->sa_family == AF_INET)
        end = RtlIpv4AddressToStringW(&((const struct sockaddr_in *)(const void *)address->lpSockaddr)->sin_addr, wide);
    else if (address->lpSockaddr->sa_family == AF_INET6)
        end =
            RtlIpv6AddressToStringW(&((const struct sockaddr_in6 *)(const void *)address->lpSockaddr)->sin6_addr, wide);
    if (end == wide || FAILED(text_from_utf16(wide, (size_t)(end - wide), true, &text)))
        return;
    network_line(list, text);
    if (prefix >= 0)
        text_buffer_format(list, "/%d", prefix);
    memory_free(text);
}

static char *wide_text(const WCHAR *text)
{
    char *out;
    return SUCCEEDED(text_from_utf16(text ? text : L"", text ? wcslen(text) : 0, true, &out)) ? out : NULL;
}

static const char *status_name(IF_OPER_STATUS status)
{
    static const char *const names[] = {"",        "up",      "down",        "testing",
                                        "unknown", "dormant", "not present", "lower layer down"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "";
}

/* ---- offloads ---- */

static bool is_offload(const char *name)
{
    static const char *const words[] = {"Offload", "Lso", "Rsc", "RSS", "VMQ", "NetworkDirect", "EncapsulatedPacket"};
    for (size_t i = 0; name[0] == '*' && i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

static HRESULT add_keywords(struct registry_key *driver, struct registry_entry *entry, struct text_buffer *list)
{
    HRESULT hr = S_OK;
    for (uint32_t i = 0; hr == S_OK && i < 4096; i++) {
        char *name, *value = NULL;
        uint64_t number;
        hr = registry_value_at(driver, i, entry);
        if (hr != S_OK)
            break;
        hr = text_from_utf16(entry->name, entry->name_units, true, &name);
        if (FAILED(hr))
            return hr;
        if (is_offload(name)) {
            if (registry_read_text(driver, name, &value) == S_OK) {
                network_line(list, name + 1);
                text_buffer_format(list, "=%s", value);
            } else if (registry_read_number(driver, name, &number) == S_OK) {
                network_line(list, name + 1);
                text_buffer_format(list, "=%llu", (unsigned long long)number);
            }
            memory_free(value);
        }
        memory_free(name);
    }
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Finds the driver's key for the adapter with this name and reads its offloads. Keys that cannot be read are
   skipped. */
static HRESULT add_offload(const char *name, struct text_buffer *list)
{
    struct registry_key *drivers = NULL, *driver;
    struct registry_entry *entry = memory_zero(1, sizeof *entry);
    HRESULT hr = entry ? registry_open(DRIVERS, false, &drivers) : E_OUTOFMEMORY;
    bool found = false;
    for (uint32_t i = 0; hr == S_OK && !found && i < 4096; i++) {
        char *id = NULL;
        hr = registry_key_at(drivers, i, entry);
        if (hr != S_OK)
            break;
        hr = registry_open_at(drivers, entry, &driver);
        if (hr == S_OK && registry_read_text(driver, "NetCfgInstanceId", &id) == S_OK && text_equal_nocase(id, name)) {
            found = true;
            hr = add_keywords(driver, entry, list);
        }
        memory_free(id);
        registry_close(driver);
        if (hr != E_OUTOFMEMORY)
            hr = S_OK;
    }
    registry_close(drivers);
    if (entry)
        registry_entry_free(entry);
    memory_free(entry);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* ---- adapters ---- */

static HRESULT adapter_describe(const IP_ADAPTER_ADDRESSES *a, struct network_adapter *out)
{
    *out = (struct network_adapter){.mtu = a->Mtu == UINT32_MAX ? 0 : a->Mtu};
    out->name = text_copy(a->AdapterName);
    out->description = wide_text(a->Description);
    out->caption = wide_text(a->FriendlyName);
    out->dns_suffix = wide_text(a->DnsSuffix);
    out->physical_address = network_physical_address(
        a->PhysicalAddress,
        a->PhysicalAddressLength > MAX_ADAPTER_ADDRESS_LENGTH ? MAX_ADAPTER_ADDRESS_LENGTH : a->PhysicalAddressLength);
    network_set_type(out, a->IfType);
    out->status = status_name(a->OperStatus);
    out->transmit = a->TransmitLinkSpeed == UINT64_MAX ? 0 : a->TransmitLinkSpeed;
    out->receive = a->ReceiveLinkSpeed == UINT64_MAX ? 0 : a->ReceiveLinkSpeed;
    out->dhcp = a->Flags & IP_ADAPTER_DHCP_ENABLED ? "true" : "false";
    for (const IP_ADAPTER_UNICAST_ADDRESS *u = a->FirstUnicastAddress; u; u = u->Next)
        add_address(&out->addresses, &u->Address, u->OnLinkPrefixLength);
    for (const IP_ADAPTER_GATEWAY_ADDRESS *g = a->FirstGatewayAddress; g; g = g->Next)
        add_address(&out->gateways, &g->Address, -1);
    for (const IP_ADAPTER_DNS_SERVER_ADDRESS *d = a->FirstDnsServerAddress; d; d = d->Next)
        add_address(&out->dns_servers, &d->Address, -1);
    HRESULT hr = out->name ? add_offload(out->name, &out->offload) : E_OUTOFMEMORY;
    return FAILED(hr) || network_adapter_whole(out) ? hr : E_OUTOFMEMORY;
}

static HRESULT adapters_read(IP_ADAPTER_ADDRESSES **out)
{
    ULONG size = 16384, status = ERROR_BUFFER_OVERFLOW;
    *out = NULL;
    /* Tries again if adapters appear between the calls. */
    for (int i = 0; i < TRIES && status == ERROR_BUFFER_OVERFLOW; i++) {
        memory_free(*out);
        if (!(*out = memory_alloc(size)))
            return E_OUTOFMEMORY;
        status = GetAdaptersAddresses(
            AF_UNSPEC, GAA_FLAG_INCLUDE_GATEWAYS | GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST, NULL, *out, &size);
    }
    if (!status)
        return S_OK;
    memory_free(*out);
    *out = NULL;
    return status == ERROR_NO_DATA ? S_OK : win32_failed(status, "network adapters");
}

HRESULT network_adapters(HRESULT (*each)(void *user, const struct network_adapter *adapter), void *user)
{
    IP_ADAPTER_ADDRESSES *all;
    HRESULT hr = adapters_read(&all);
    for (const IP_ADAPTER_ADDRESSES *a = all; SUCCEEDED(hr) && a; a = a->Next) {
        struct network_adapter adapter;
        hr = adapter_describe(a, &adapter);
        if (SUCCEEDED(hr))
            hr = each(user, &adapter);
        network_adapter_free(&adapter);
    }
    memory_free(all);
    return hr;
}
