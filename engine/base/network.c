/* SPDX-License-Identifier: MIT */
/* Network functions that are the same on every host OS: strings of network adapters, and checks whether a name or
   address belongs to this computer. */
#include "engine/base/network.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <stdio.h>
#include <string.h>

void network_adapter_free(struct network_adapter *a)
{
    memory_free(a->name);
    memory_free(a->description);
    memory_free(a->caption);
    memory_free(a->physical_address);
    memory_free(a->dns_suffix);
    text_buffer_free(&a->addresses);
    text_buffer_free(&a->gateways);
    text_buffer_free(&a->dns_servers);
    text_buffer_free(&a->offload);
    *a = (struct network_adapter){.mtu = 0};
}

bool network_adapter_whole(const struct network_adapter *a)
{
    return a->name && a->description && a->caption && a->physical_address && a->dns_suffix && !a->addresses.failed &&
           !a->gateways.failed && !a->dns_servers.failed && !a->offload.failed;
}

void network_line(struct text_buffer *list, const char *text)
{
    if (list->length)
        text_buffer_add(list, "\n");
    text_buffer_add(list, text);
}

char *network_physical_address(const uint8_t *bytes, size_t count)
{
    struct text_buffer b = {.length = 0};
    text_buffer_add(&b, "");
    for (size_t i = 0; i < count; i++)
        text_buffer_format(&b, i ? "-%02X" : "%02X", bytes[i]);
    return text_buffer_take(&b);
}

void network_set_type(struct network_adapter *a, uint32_t type)
{
    static const struct {
        uint32_t type;
        const char *name;
    } types[] = {{6, "ethernet"}, {9, "tokenring"}, {23, "ppp"}, {24, "loopback"}, {71, "wireless"}, {131, "tunnel"}};
    snprintf(a->type_number, sizeof a->type_number, "%u", (unsigned)type);
    a->type = a->type_number;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            a->type = types[i].name;
}

/* ---- names of this computer ----
   The checks query no name server, because a query can take seconds and every counter path is checked (DECISIONS
   129). */

/* The list of own addresses is read again after this time, because interfaces appear and disappear. */
#define KNOWN_MS 5000

static void address_set(struct ip_address *a, const uint8_t *bytes, size_t length)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    if (length == 16 && !memcmp(bytes, mapped, sizeof mapped)) {
        bytes += sizeof mapped;
        length = 4;
    }
    *a = (struct ip_address){.length = (uint8_t)length};
    memcpy(a->bytes, bytes, length);
}

HRESULT ip_addresses_add(struct ip_addresses *list, const uint8_t *bytes, size_t length)
{
    void *items = list->items;
    if (!memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items))
        return E_OUTOFMEMORY;
    list->items = items;
    address_set(&list->items[list->count++], bytes, length);
    return S_OK;
}

static bool is_loopback(const struct ip_address *a)
{
    static const uint8_t six[16] = {[15] = 1};
    return a->length == 4 ? a->bytes[0] == 127 : !memcmp(a->bytes, six, sizeof six);
}

static HRESULT is_own_address(const struct ip_address *a, bool *own)
{
    static struct lock lock = LOCK_INIT;
    static struct ip_addresses known;
    static uint64_t read_at; /* time of the latest read: clock_monotonic_ms() + 1; 0: never */
    HRESULT hr = S_OK;
    *own = is_loopback(a);
    if (*own)
        return S_OK;
    lock_enter(&lock);
    const uint64_t now = clock_monotonic_ms();
    if (!read_at || clock_passed_ms(read_at - 1, now) >= KNOWN_MS) {
        struct ip_addresses all = {0};
        hr = ip_addresses_own(&all);
        if (SUCCEEDED(hr)) {
            memory_free(known.items);
            known = all;
            read_at = now + 1;
        } else {
            memory_free(all.items);
        }
    }
    for (size_t i = 0; SUCCEEDED(hr) && !*own && i < known.count; i++)
        *own = known.items[i].length == a->length && !memcmp(known.items[i].bytes, a->bytes, a->length);
    lock_leave(&lock);
    return hr;
}

/* Parses `name` as an address. Ignores brackets and the zone of a link-local address ("fe80::1%3"). */
static bool read_address(const char *name, struct ip_address *out)
{
    char text[64];
    const size_t brackets = *name == '[', length = strlen(name);
    if (length >= sizeof text || (brackets && name[length - 1] != ']'))
        return false;
    memcpy(text, name + brackets, length + 1 - brackets);
    text[strcspn(text, brackets ? "%]" : "%")] = 0;
    struct ip_address read;
    if (!ip_address_read(text, &read))
        return false;
    address_set(out, read.bytes, read.length);
    return true;
}

HRESULT os_is_own_name(const char *name, bool *own)
{
    struct ip_address address;
    char full[OS_DNS_NAME_BYTES];
    name = name ? name + strspn(name, "\\") : "";
    *own = !*name || !strcmp(name, ".") || text_equal_nocase(name, "localhost");
    if (*own)
        return S_OK;
    if (read_address(name, &address))
        return is_own_address(&address, own);
    os_dns_name(full);
    *own = text_equal_nocase(name, full);
    if (*own)
        return S_OK;
    char *dot = strchr(full, '.');
    const bool has_domain = dot != NULL;
    if (dot)
        *dot = 0;
    char *computer = os_computer_name(), *first = text_copy_n(name, strcspn(name, "."));
    /* If this computer does not know its domain, any domain matches. */
    if (computer && first)
        *own = (text_equal_nocase(first, computer) || text_equal_nocase(first, full)) &&
               (!name[strlen(first)] || !has_domain);
    const HRESULT hr = computer && first ? S_OK : E_OUTOFMEMORY;
    memory_free(computer);
    memory_free(first);
    return hr;
}

bool ip_address_matches(const char *address, const char *patterns)
{
    static const char between[] = " ,;\t";
    for (size_t length; *(patterns += strspn(patterns, between)); patterns += length) {
        char pattern[SOCKET_ADDRESS_BYTES];
        length = strcspn(patterns, between);
        if (length >= sizeof pattern)
            continue;
        memcpy(pattern, patterns, length);
        pattern[length] = 0;
        if (text_matches(pattern, address))
            return true;
    }
    return false;
}

/* Returns the colon before the port. NULL: the text has no port. */
static const char *host_find_colon(const char *text)
{
    const char *colon = strchr(text, ':'), *bracket = strchr(text, ']');
    if (*text == '[')
        return bracket && bracket[1] == ':' ? bracket + 1 : NULL;
    return colon && !strchr(colon + 1, ':') ? colon : NULL;
}

HRESULT host_split(const char *text, char **host, char **port)
{
    const char *colon = host_find_colon(text);
    const bool has_brackets = *text == '[' && colon;
    const char *begin = text + has_brackets, *end = colon ? colon - has_brackets : text + strlen(text);
    uint64_t number = 0;
    *host = text_copy_n(begin, (size_t)(end - begin));
    *port = colon ? text_copy(colon + 1) : NULL;
    HRESULT hr = !*host || (colon && !*port) ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr) && colon && (!text_to_u64(*port, &number) || number < 1 || number > UINT16_MAX))
        hr =
            error_set(E_INVALIDARG, "computer '%s': invalid port '%s': expected a number from 1 to 65535", text, *port);
    if (FAILED(hr)) {
        memory_free(*host);
        memory_free(*port);
        *host = *port = NULL;
    }
    return hr;
}
