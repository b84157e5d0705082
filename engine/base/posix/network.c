/* SPDX-License-Identifier: MIT */
/* Network interfaces of Linux: getifaddrs, /sys/class/net, /proc/net and ethtool requests. */
#include "engine/base/network.h"

#include "engine/base/file.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"

#include <stdio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Reads a file of the interface in /sys, without its line end; "" if the file cannot be read. NULL: out of memory. */
static char *interface_read_file(const char *name, const char *what)
{
    char *path = text_format("/sys/class/net/%s/%s", name, what), *out = NULL;
    struct kernel_file *f = NULL;
    const char *text;
    size_t size;
    if (!path)
        return NULL;
    if (SUCCEEDED(kernel_file_open(path, &f)) && SUCCEEDED(kernel_file_read(f, &text, &size)))
        out = text_copy_n(text, strcspn(text, "\n"));
    else
        out = text_copy("");
    kernel_file_close(f);
    memory_free(path);
    return out;
}

static uint64_t interface_read_number(const char *name, const char *what)
{
    char *text = interface_read_file(name, what);
    uint64_t n = 0;
    if (!text || !text_to_u64(text, &n))
        n = 0;
    memory_free(text);
    return n;
}

static const char *status_of(const char *name)
{
    static const char *const known[][2] = {{"up", "up"},           {"down", "down"},
                                           {"dormant", "dormant"}, {"lowerlayerdown", "lower layer down"},
                                           {"testing", "testing"}, {"notpresent", "not present"}};
    char *text = interface_read_file(name, "operstate");
    const char *status = "unknown";
    for (size_t i = 0; text && i < sizeof known / sizeof *known; i++)
        if (!strcmp(text, known[i][0]))
            status = known[i][1];
    memory_free(text);
    return status;
}

static char *physical_of(const char *name)
{
    char *text = interface_read_file(name, "address");
    for (char *at = text; at && *at; at++)
        *at = *at == ':' ? '-' : *at >= 'a' && *at <= 'f' ? (char)(*at - 'a' + 'A') : *at;
    return text;
}

static int prefix_of(const struct sockaddr *mask)
{
    uint8_t bytes[16] = {0};
    int bits = 0;
    if (mask && mask->sa_family == AF_INET)
        memcpy(bytes, &((const struct sockaddr_in *)(const void *)mask)->sin_addr, 4);
    else if (mask && mask->sa_family == AF_INET6)
        memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)mask)->sin6_addr, 16);
    while (bits < 128 && bytes[bits / 8] & (0x80 >> bits % 8))
        bits++;
    return bits;
}

static void add_addresses(const struct ifaddrs *all, const char *name, struct text_buffer *list)
{
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        char text[INET6_ADDRSTRLEN];
        const void *bytes = NULL;
        if (!a->ifa_addr || strcmp(a->ifa_name, name) != 0)
            continue;
        if (a->ifa_addr->sa_family == AF_INET)
            bytes = &((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr;
        else if (a->ifa_addr->sa_family == AF_INET6)
            bytes = &((const struct sockaddr_in6 *)(const void *)a->ifa_addr)->sin6_addr;
        if (bytes && inet_ntop(a->ifa_addr->sa_family, bytes, text, sizeof text)) {
            network_line(list, text);
            text_buffer_format(list, "/%d", prefix_of(a->ifa_netmask));
        }
    }
}

/* Calls `each` for every line of a text file. A missing file is treated as having no lines. */
static void each_line(const char *path, void (*each)(void *user, const char *line), void *user)
{
    struct kernel_file *f = NULL;
    const char *text;
    size_t size;
    if (SUCCEEDED(kernel_file_open(path, &f)) && SUCCEEDED(kernel_file_read(f, &text, &size)))
        for (const char *at = text; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n'))
            each(user, at);
    kernel_file_close(f);
}

struct routes {
    const char *name;
    struct text_buffer *list;
};

/* Parses a line of /proc/net/route, "eth0 00000000 0100A8C0 0003 ...": interface, destination, gateway, flags. */
static void route_4(void *user, const char *line)
{
    const struct routes *r = user;
    char name[IF_NAMESIZE], text[INET_ADDRSTRLEN];
    unsigned destination, gateway;
    if (sscanf(line, "%15s %x %x", name, &destination, &gateway) != 3 || destination || !gateway ||
        strcmp(name, r->name) != 0)
        return;
    const struct in_addr address = {.s_addr = gateway};
    if (inet_ntop(AF_INET, &address, text, sizeof text))
        network_line(r->list, text);
}

/* Parses a line of /proc/net/ipv6_route: destination and its prefix length, source and its prefix length, next hop,
   metric, two counts, flags, interface. */
static void route_6(void *user, const char *line)
{
    const struct routes *r = user;
    char destination[33], hop[33], name[IF_NAMESIZE], text[INET6_ADDRSTRLEN];
    unsigned prefix, flags;
    struct in6_addr address;
    if (sscanf(line, "%32s %x %*s %*x %32s %*x %*x %*x %x %15s", destination, &prefix, hop, &flags, name) != 5 ||
        prefix || !(flags & 2 /* RTF_GATEWAY */) || strcmp(name, r->name) != 0 || strlen(hop) != 32)
        return;
    for (int i = 0; i < 16; i++) {
        unsigned byte;
        if (sscanf(hop + 2 * i, "%2x", &byte) != 1)
            return;
        address.s6_addr[i] = (uint8_t)byte;
    }
    if (inet_ntop(AF_INET6, &address, text, sizeof text))
        network_line(r->list, text);
}

static void name_server(void *user, const char *line)
{
    char text[128];
    if (sscanf(line, "nameserver %127s", text) == 1)
        network_line(user, text);
}

static void add_offload(const char *name, struct text_buffer *list)
{
    static const struct {
        uint32_t question;
        const char *name;
    } features[] = {{ETHTOOL_GRXCSUM, "rx-checksumming"},
                    {ETHTOOL_GTXCSUM, "tx-checksumming"},
                    {ETHTOOL_GSG, "scatter-gather"},
                    {ETHTOOL_GTSO, "tcp-segmentation-offload"},
                    {ETHTOOL_GGSO, "generic-segmentation-offload"},
                    {ETHTOOL_GGRO, "generic-receive-offload"}};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (size_t i = 0; fd >= 0 && i < sizeof features / sizeof *features; i++) {
        struct ethtool_value value = {.cmd = features[i].question};
        struct ifreq request = {.ifr_data = (char *)&value};
        text_fit(request.ifr_name, sizeof request.ifr_name, name);
        if (ioctl(fd, SIOCETHTOOL, &request) == 0) {
            network_line(list, features[i].name);
            text_buffer_format(list, "=%u", value.data ? 1U : 0U);
        }
    }
    if (fd >= 0)
        close(fd);
}

/* Returns IANA's number for the interface's type. Linux has other numbers for these types. */
static uint32_t type_of(const char *name)
{
    char *path = text_format("/sys/class/net/%s/wireless", name);
    const uint64_t hardware = interface_read_number(name, "type");
    const bool wireless = path && folder_exists(path);
    memory_free(path);
    return wireless ? 71 : hardware == 1 ? 6 : hardware == 772 ? 24 : hardware == 512 ? 23 : hardware == 768 ? 131 : 1;
}

static HRESULT interface_describe(const struct ifaddrs *all, const char *name, struct network_adapter *out)
{
    const uint64_t megabits = interface_read_number(name, "speed");
    struct routes gateways = {name, &out->gateways};
    *out = (struct network_adapter){.mtu = (uint32_t)interface_read_number(name, "mtu")};
    out->name = text_copy(name);
    out->caption = text_copy(name);
    out->description = interface_read_file(name, "ifalias");
    out->dns_suffix = text_copy("");
    out->physical_address = physical_of(name);
    network_set_type(out, type_of(name));
    out->status = status_of(name);
    /* Interfaces without a speed report -1, or 2^32-1. */
    out->transmit = out->receive = megabits < UINT32_MAX ? megabits * 1000000 : 0;
    out->dhcp = "";
    add_addresses(all, name, &out->addresses);
    each_line("/proc/net/route", route_4, &gateways);
    each_line("/proc/net/ipv6_route", route_6, &gateways);
    each_line("/etc/resolv.conf", name_server, &out->dns_servers);
    add_offload(name, &out->offload);
    return network_adapter_whole(out) ? S_OK : E_OUTOFMEMORY;
}

HRESULT network_adapters(HRESULT (*each)(void *user, const struct network_adapter *adapter), void *user)
{
    struct texts names = {0};
    struct ifaddrs *all;
    if (getifaddrs(&all))
        return posix_failed(errno, "network interfaces");
    HRESULT hr = kernel_folder_names("/sys/class/net", &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++) {
        struct network_adapter adapter;
        hr = interface_describe(all, names.items[i], &adapter);
        if (SUCCEEDED(hr))
            hr = each(user, &adapter);
        network_adapter_free(&adapter);
    }
    texts_free(&names);
    freeifaddrs(all);
    return hr;
}
