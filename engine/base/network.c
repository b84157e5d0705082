/* SPDX-License-Identifier: MIT */
/* What descriptions of network adapters have on all hosts. */
#include "engine/base/network.h"

#include "engine/base/memory.h"

#include <stdio.h>

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
