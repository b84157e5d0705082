/* SPDX-License-Identifier: MIT */
#include "engine/etw/kernel/kernel_adapters.h"

#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

enum { MOST_NAME = 64 };

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

/* Each table of the kernel has it once. */
static bool has(const struct text_buffer *list, const char *address)
{
    const size_t length = strlen(address);
    for (const char *at = list->text; at && *at; at += strcspn(at, ";"), at += *at == ';')
        if (strcspn(at, ";") == length && strncmp(at, address, length) == 0)
            return true;
    return false;
}

static void add(struct text_buffer *out, const char *address)
{
    if (!has(out, address))
        text_buffer_format(out, "%s%s", out->length ? ";" : "", address);
}

/* ---- IPv4 ---- */

/* Bits of the narrowest route by the adapter to the address, in network order as the kernel writes them; -1: none. */
static int route_of(const char *routes, const char *name, uint32_t address)
{
    int best = -1;
    for (const char *line = routes; line && *line; line = next_line(line)) {
        char adapter[MOST_NAME];
        uint32_t destination, mask;
        if (sscanf(line, "%63s %" SCNx32 " %*x %*x %*u %*u %*d %" SCNx32, adapter, &destination, &mask) != 3 ||
            strcmp(adapter, name) != 0 || (address & mask) != destination)
            continue;
        int bits = 0;
        for (; mask; mask &= mask - 1)
            bits++;
        best = bits > best ? bits : best;
    }
    return best;
}

/* The first bytes of the number, as the kernel has them in memory. */
static uint32_t in_memory(const unsigned bytes[4])
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool is_its(const char *routes, const char *name, const unsigned bytes[4])
{
    if (bytes[0] == 127) /* no table of routes has it */
        return strcmp(name, "lo") == 0;
    return route_of(routes, name, in_memory(bytes)) > 0;
}

void adapter_ipv4(const char *trie, const char *routes, const char *name, struct text_buffer *out)
{
    unsigned bytes[4] = {0};
    char address[16];
    for (const char *line = trie; line && *line; line = next_line(line)) {
        unsigned read[4];
        const char *at = line + strspn(line, " ");
        if (sscanf(at, "|-- %3u.%3u.%3u.%3u", &read[0], &read[1], &read[2], &read[3]) == 4) {
            for (int i = 0; i < 4; i++)
                bytes[i] = read[i] & 0xFF;
            continue;
        }
        if (strncmp(at, "/32 host LOCAL", 14) != 0 || !is_its(routes, name, bytes))
            continue;
        snprintf(address, sizeof address, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
        add(out, address);
    }
}

/* ---- IPv6 ---- */

void adapter_ipv6(const char *table, const char *name, struct text_buffer *out)
{
    for (const char *line = table; line && *line; line = next_line(line)) {
        char digits[33], adapter[MOST_NAME], address[40];
        if (sscanf(line, "%32[0-9a-f] %*x %*x %*x %*x %63s", digits, adapter) != 2 || strlen(digits) != 32 ||
            strcmp(adapter, name) != 0)
            continue;
        char *to = address;
        for (int i = 0; i < 32; i++) {
            if (i != 0 && i % 4 == 0)
                *to++ = ':';
            *to++ = digits[i];
        }
        *to = 0;
        add(out, address);
    }
}

/* ---- of this host ---- */

static HRESULT take(struct text_buffer *b, char **out)
{
    text_buffer_add(b, "");
    *out = text_buffer_take(b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

HRESULT adapter_addresses(const char *name, char **out)
{
    char *trie, *routes, *table;
    struct text_buffer b = {0};
    (void)kernel_file_text("/proc/net/fib_trie", &trie, NULL);
    (void)kernel_file_text("/proc/net/route", &routes, NULL);
    (void)kernel_file_text("/proc/net/if_inet6", &table, NULL);
    adapter_ipv4(trie, routes, name, &b);
    adapter_ipv6(table, name, &b);
    memory_free(table);
    memory_free(routes);
    memory_free(trie);
    return take(&b, out);
}

HRESULT adapter_name_servers(char **out)
{
    char *text, server[64];
    struct text_buffer b = {0};
    (void)kernel_file_text("/etc/resolv.conf", &text, NULL);
    for (const char *line = text; line && *line; line = next_line(line))
        if (sscanf(line, "nameserver %63s", server) == 1)
            add(&b, server);
    memory_free(text);
    return take(&b, out);
}
