/* SPDX-License-Identifier: MIT */
/* Counts what is in an event trace. */
#include "cli/trace/trace_statistics.h"

#include "engine/base/memory.h"
#include "engine/logs/blg_records.h"

#include <stdlib.h>
#include <string.h>

enum {
    HOOK_CPU =
        0x0B0A, /* SystemConfig, CPU: MHz, processors, memory, page size, granularity, then the computer's name */
    COMPUTER_AT = 20,
    COMPUTER_BYTES = 512,
    MOST_DAMAGE = 100, /* remarks */
};

static void take_remark(void *context, const char *text)
{
    struct trace_statistics *s = context;
    if (s->damage.count < MOST_DAMAGE)
        (void)texts_add(&s->damage, text); /* a damaged trace is not read less for want of memory */
}

/* Where the provider is among those that are sorted by GUID, or would be. */
static size_t place_of(const struct trace_statistics *s, const GUID *provider)
{
    size_t low = 0, high = s->provider_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (memcmp(&s->providers[middle].provider, provider, sizeof *provider) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static HRESULT count_event(struct trace_statistics *s, const struct etl_record *e, size_t *newest)
{
    const GUID provider = etl_record_provider(e);
    size_t at = *newest;
    if (at >= s->provider_count || !guid_equal(&s->providers[at].provider, &provider)) {
        at = place_of(s, &provider);
        if (at == s->provider_count || !guid_equal(&s->providers[at].provider, &provider)) {
            void *grown = s->providers;
            if (!memory_grow(&grown, &s->provider_capacity, s->provider_count + 1, sizeof *s->providers))
                return E_OUTOFMEMORY;
            s->providers = grown;
            memmove(s->providers + at + 1, s->providers + at, (s->provider_count - at) * sizeof *s->providers);
            s->providers[at] = (struct provider_events){provider, 0};
            s->provider_count++;
        }
    }
    *newest = at;
    s->providers[at].events++;
    s->first = s->events == 0 || e->utc < s->first ? e->utc : s->first;
    s->last = s->events == 0 || e->utc > s->last ? e->utc : s->last;
    s->events++;
    s->unknown += e->kind == ETL_RECORD_OTHER;
    s->counter_samples += e->kind == ETL_RECORD_CLASSIC && memcmp(e->event + 0x18, blg_class, sizeof blg_class) == 0;
    if (!s->computer && e->kind == ETL_RECORD_SYSTEM && e->id == HOOK_CPU && e->data_size > COMPUTER_AT) {
        const uint32_t rest = e->data_size - COMPUTER_AT;
        size_t units;
        if (etl_text_length(e->data + COMPUTER_AT, rest < COMPUTER_BYTES ? rest : COMPUTER_BYTES, &units))
            s->computer = etl_text(e->data + COMPUTER_AT, units);
    }
    return S_OK;
}

static int by_events(const void *a, const void *b)
{
    const struct provider_events *x = a, *y = b;
    if (x->events != y->events)
        return x->events > y->events ? -1 : 1;
    return memcmp(&x->provider, &y->provider, sizeof x->provider);
}

HRESULT trace_statistics_read(const char *path, struct cli_progress *progress, struct trace_statistics *out,
                              struct etl_reader **reader)
{
    struct etl_record e;
    uint64_t done;
    size_t newest = 0;
    bool header = true;
    *out = (struct trace_statistics){0};
    HRESULT hr = etl_reader_open(path, take_remark, out, reader);
    if (FAILED(hr)) {
        *reader = NULL;
        return hr;
    }
    while ((hr = etl_reader_next(*reader, &e)) == S_OK) {
        hr = header ? S_OK : count_event(out, &e, &newest);
        if (FAILED(hr))
            break;
        header = false;
        out->buffers += e.last;
        if (e.last) {
            etl_reader_progress(*reader, &done, &out->bytes);
            cli_progress_show(progress, done, out->bytes);
        }
    }
    etl_reader_progress(*reader, &done, &out->bytes);
    if (out->provider_count != 0)
        qsort(out->providers, out->provider_count, sizeof *out->providers, by_events);
    return FAILED(hr) ? hr : S_OK;
}

void trace_statistics_free(struct trace_statistics *s)
{
    memory_free(s->providers);
    memory_free(s->computer);
    texts_free(&s->damage);
}
