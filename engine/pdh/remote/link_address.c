/* SPDX-License-Identifier: MIT */
#include "engine/pdh/remote/link_address.h"

#include "engine/base/environment.h"
#include "engine/base/memory.h"

#include <string.h>

void link_address_free(struct link_address *a)
{
    memory_free(a->host);
    memory_free(a->port);
    *a = (struct link_address){0};
}

/* What stands behind "machine=" in the list, without blanks around; NULL: it is not named. */
static const char *find_named(const char *hosts, const char *machine, size_t *length)
{
    const size_t named = strlen(machine);
    for (const char *at = hosts; at && *at; at += strspn(at, ";")) {
        at += strspn(at, " ");
        const size_t entry = strcspn(at, ";");
        const char *equals = memchr(at, '=', entry);
        char *name = equals ? text_copy_n(at, (size_t)(equals - at)) : NULL;
        bool same = name && strlen(name) >= named && text_equal_nocase(name, machine);
        memory_free(name);
        if (same) {
            equals += 1 + strspn(equals + 1, " ");
            *length = (size_t)(at + entry - equals);
            return equals;
        }
        at += entry;
    }
    return NULL;
}

/* The colon before the port; those of an address without brackets are its own. */
static const char *find_colon(const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length), *bracket = memchr(text, ']', length);
    if (*text == '[')
        return bracket && bracket + 1 < text + length && bracket[1] == ':' ? bracket + 1 : NULL;
    return colon && !memchr(colon + 1, ':', (size_t)(text + length - colon - 1)) ? colon : NULL;
}

HRESULT link_address_find(const char *machine, const char *hosts, struct link_address *out)
{
    size_t length = strlen(machine);
    const char *named = find_named(hosts, machine, &length), *text = named ? named : machine;
    const char *colon = find_colon(text, length);
    const bool brackets = *text == '[' && colon;
    const char *host = text + brackets, *end = colon ? colon - brackets : text + length;
    *out = (struct link_address){0};
    out->host = text_copy_n(host, (size_t)(end - host));
    if (out->host && colon)
        out->port = text_copy_n(colon + 1, (size_t)(text + length - colon - 1));
    uint64_t port = 0;
    HRESULT hr = !out->host || (colon && !out->port) ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr) && colon && (!text_to_u64(out->port, &port) || port < 1 || port > 65535))
        hr = error_set(E_INVALIDARG, "%s: \"%s\" is no port", machine, out->port);
    if (FAILED(hr))
        link_address_free(out);
    return hr;
}

HRESULT link_address_of(const char *machine, struct link_address *out)
{
    char *hosts = environment_setting("OPENPLA_COUNTER_HOSTS", "CounterHosts");
    HRESULT hr = link_address_find(machine, hosts, out);
    memory_free(hosts);
    return hr;
}
