/* SPDX-License-Identifier: MIT */
/* QueryNetworkAdapters of a configuration collector: the table networkInformation. MS-PLA 3.2.4.7. */
#include "engine/base/network.h"
#include "engine/pla/collect/configuration_source.h"

static void put_number(struct configuration_document *d, const char *column, uint64_t n)
{
    if (n)
        configuration_data_number(d, column, NULL, n);
}

static void put_list(struct configuration_document *d, const char *column, const struct text_buffer *list)
{
    configuration_data(d, column, NULL, list->length ? list->text : "");
}

static HRESULT put_adapter(void *user, const struct network_adapter *a)
{
    const struct configuration_source_context *c = user;
    struct configuration_document *d = c->document;
    if (configuration_stopped(c))
        return S_OK;
    configuration_begin_item(d);
    configuration_data(d, "name", NULL, a->name);
    configuration_data(d, "caption", NULL, a->caption);
    configuration_data(d, "description", NULL, a->description);
    configuration_data(d, "type", NULL, a->type);
    configuration_data(d, "status", NULL, a->status);
    configuration_data(d, "physicalAddress", NULL, a->physical_address);
    put_list(d, "addresses", &a->addresses);
    put_list(d, "gateways", &a->gateways);
    put_list(d, "dnsServers", &a->dns_servers);
    configuration_data(d, "dnsSuffix", NULL, a->dns_suffix);
    configuration_data(d, "dhcp", NULL, a->dhcp);
    put_number(d, "mtu", a->mtu);
    put_number(d, "transmitSpeed", a->transmit);
    put_number(d, "receiveSpeed", a->receive);
    put_list(d, "offload", &a->offload);
    return configuration_end_item(d);
}

HRESULT configuration_collect_network(const struct configuration_source_context *c)
{
    static const struct configuration_column columns[] = {{"name", COLUMN_KEY},
                                                          {"caption", COLUMN_PLAIN},
                                                          {"description", COLUMN_PLAIN},
                                                          {"type", COLUMN_PLAIN},
                                                          {"status", COLUMN_PLAIN},
                                                          {"physicalAddress", COLUMN_PLAIN},
                                                          {"addresses", COLUMN_PLAIN},
                                                          {"gateways", COLUMN_PLAIN},
                                                          {"dnsServers", COLUMN_PLAIN},
                                                          {"dnsSuffix", COLUMN_PLAIN},
                                                          {"dhcp", COLUMN_PLAIN},
                                                          {"mtu", COLUMN_PLAIN},
                                                          {"transmitSpeed", COLUMN_PLAIN},
                                                          {"receiveSpeed", COLUMN_PLAIN},
                                                          {"offload", COLUMN_PLAIN}};
    struct configuration_document *d = c->document;
    if (!c->request->network_adapters)
        return S_OK;
    configuration_begin_section(d, "network");
    configuration_begin_table(d, "networkInformation", NULL, columns, sizeof columns / sizeof *columns);
    HRESULT hr = configuration_status(d);
    if (SUCCEEDED(hr))
        hr = network_adapters(put_adapter, (void *)(uintptr_t)c);
    if (hr == E_OUTOFMEMORY || FAILED(configuration_status(d)))
        return hr;
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        configuration_begin_item(d);
        configuration_data_error(d, error_restore(&why));
        configuration_end_item(d);
    }
    configuration_end_table(d);
    return configuration_end_section(d);
}
