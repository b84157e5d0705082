/* SPDX-License-Identifier: MIT */
/* Connects an exporter, a format and a sender. */
#include "engine/export/feed.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/export/formats/influx.h"
#include "engine/export/formats/otlp.h"

struct feed {
    struct exporter *exporter;
    struct push *push;
    struct otlp *otlp;     /* NULL: Influx */
    struct influx *influx; /* NULL: OTLP */
};

static HRESULT feed_give(void *user, const char *bytes, size_t size, uint32_t points, int64_t first)
{
    struct feed *f = user;
    char *copy = memory_copy(bytes, size);
    return copy ? push_give(f->push, copy, size, points, first) : E_OUTOFMEMORY;
}

HRESULT feed_open(enum push_kind kind, const char *service, struct exporter *e, struct push *p, struct feed **out)
{
    struct feed *f = memory_zero(1, sizeof *f);
    char *host = os_computer_name();
    HRESULT hr = f && host ? S_OK : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr)) {
        f->exporter = e;
        f->push = p;
        hr = kind == PUSH_OTLP
                 ? otlp_open(&(struct otlp_settings){.host = host, .service = service, .give = feed_give, .user = f},
                             &f->otlp)
                 : influx_open(feed_give, f, &f->influx);
    }
    memory_free(host);
    if (FAILED(hr)) {
        feed_close(f);
        return hr;
    }
    *out = f;
    return S_OK;
}

static struct metric_sink feed_begin(struct feed *f, const int64_t *utc)
{
    return f->otlp ? otlp_begin(f->otlp, utc) : influx_begin(f->influx, utc);
}

static HRESULT feed_end(struct feed *f, bool flush)
{
    return f->otlp ? otlp_end(f->otlp, flush) : influx_end(f->influx, flush);
}

HRESULT feed_sample(struct feed *f)
{
    int64_t utc = 0;
    const struct metric_sink sink = feed_begin(f, &utc);
    const HRESULT hr = exporter_sample(f->exporter, NULL, &sink, &utc);
    const HRESULT ended = feed_end(f, true);
    return FAILED(hr) ? hr : ended;
}

HRESULT feed_next(struct feed *f)
{
    int64_t utc = 0;
    const struct metric_sink sink = feed_begin(f, &utc);
    const HRESULT hr = exporter_next(f->exporter, &sink, &utc);
    const HRESULT ended = SUCCEEDED(hr) ? feed_end(f, hr == S_FALSE) : S_OK;
    return FAILED(ended) ? ended : hr;
}

HRESULT feed_flush(struct feed *f)
{
    return feed_end(f, true);
}

void feed_close(struct feed *f)
{
    if (!f)
        return;
    otlp_close(f->otlp);
    influx_close(f->influx);
    memory_free(f);
}
