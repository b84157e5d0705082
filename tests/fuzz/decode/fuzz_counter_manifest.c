/* SPDX-License-Identifier: MIT */
/* Counter manifests from untrusted authors: an accepted one has names, existing bases, and types. The input is placed
   within a provider, as most random inputs are not manifests. */
#include "engine/pdh/counter_manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct registered_set *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct registered_counter *c = &s->counters[i];
        if (!c->name || !*c->name || registered_counter_of(s, c->id) != c ||
            (c->base != COUNTER_NO_ID && !registered_counter_of(s, c->base)))
            __builtin_trap();
    }
}

static void read_one(const char *xml, size_t size)
{
    struct counter_manifest m;
    struct texts warnings = {0};
    if (SUCCEEDED(counter_manifest_read(xml, size, &warnings, &m)))
        for (size_t i = 0; i < m.providers.count; i++)
            for (size_t k = 0; k < m.providers.items[i].count; k++)
                check(&m.providers.items[i].sets[k]);
    counter_manifest_free(&m);
    texts_free(&warnings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'>"
                               "<instrumentation>"
                               "<counters xmlns='http://schemas.microsoft.com/win/2005/12/counters'>"
                               "<provider providerName='P' providerGuid='{6d3c1e52-84b7-4c0e-9a1f-3be27d605c18}'>"
                               "<counterSet name='S' guid='{b1f4a2c7-0d6e-4f39-8c55-7e0a92d1463b}'>"
                               "<counter id='1' name='C' type='perf_counter_rawcount' ";
    static const char tail[] = "</counterSet></provider></counters></instrumentation></instrumentationManifest>";
    struct text_buffer b = {0};
    read_one((const char *)data, size);
    text_buffer_add_n(&b, head, sizeof head - 1);
    text_buffer_add_n(&b, (const char *)data, size);
    text_buffer_add_n(&b, tail, sizeof tail - 1);
    if (!b.failed)
        read_one(b.text, b.length);
    text_buffer_free(&b);
    return 0;
}
