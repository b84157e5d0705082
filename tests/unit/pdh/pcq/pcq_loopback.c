/* SPDX-License-Identifier: MIT */
#include "pcq_loopback.h"

#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/pcq_server.h"
#include "engine/pdh/remote/pcq_internal.h"

#include <string.h>

#define HANDLE_BYTES 20

struct loopback loopback;
static struct pcq_server *server;
static struct pcq_query *queries[PCQ_QUERIES_OF_CLIENT]; /* indexed by the number in a handle */

void loopback_end(void)
{
    for (size_t i = 0; i < PCQ_QUERIES_OF_CLIENT; i++) {
        pcq_close_query(queries[i]);
        queries[i] = NULL;
    }
    pcq_server_close(server);
    server = NULL;
}

static HRESULT unavailable(void)
{
    return HRESULT_FROM_WIN32(1722); /* RPC_S_SERVER_UNAVAILABLE */
}

static HRESULT open_loopback(const char *machine, struct link **out)
{
    (void)machine;
    *out = NULL;
    if (loopback.down)
        return unavailable();
    struct link *l = memory_alloc(sizeof *l);
    if (!l)
        return E_OUTOFMEMORY;
    l->kind = &loopback_links;
    *out = l;
    loopback.opened++;
    return S_OK;
}

static void close_loopback(struct link *l)
{
    memory_free(l);
}

struct request {
    const uint8_t *at, *end;
    bool bad;
};

static const uint8_t *take(struct request *r, size_t size)
{
    const uint8_t *at = r->at;
    r->bad = r->bad || (size_t)(r->end - at) < size;
    if (r->bad)
        return NULL;
    r->at += size;
    return at;
}

static uint32_t number(struct request *r, const uint8_t *begin)
{
    const uint8_t *gap = take(r, (4 - (size_t)(r->at - begin) % 4) % 4), *at = gap ? take(r, 4) : NULL;
    return at ? get_u32(at) : 0;
}

static void skip_text(struct request *r, const uint8_t *begin)
{
    uint32_t most = number(r, begin), offset = number(r, begin), units = number(r, begin);
    const uint8_t *text = units == most && offset == 0 && units > 0 ? take(r, (size_t)units * 2) : NULL;
    r->bad = r->bad || !text || get_u16(text + 2 * (units - 1)) != 0;
}

struct reply {
    uint8_t *bytes;
    size_t size;
};

static uint8_t *put(struct reply *r, size_t size)
{
    uint8_t *at = r->bytes + r->size;
    r->size += size;
    return at;
}

/* Writes pdwOutSize, pdwRtnSize, the array and the error, and frees `b`. */
static void put_sized(struct reply *r, struct pcq_buffer *b, size_t unit, DWORD error)
{
    put_u32(put(r, 4), b->written);
    put_u32(put(r, 4), b->needed);
    put_u32(put(r, 4), b->room);
    put_u32(put(r, 4), 0);
    put_u32(put(r, 4), b->written);
    if (b->written)
        memcpy(put(r, b->written * unit), b->bytes, b->written * unit);
    r->size = (r->size + 3) & ~(size_t)3;
    put_u32(put(r, 4), error);
    memory_free(b->bytes);
}

static struct pcq_query *query_of(const uint8_t *handle)
{
    uint32_t n = handle ? get_u32(handle + 4) : 0;
    return n > 0 && n <= PCQ_QUERIES_OF_CLIENT ? queries[n - 1] : NULL;
}

static void open_query(struct reply *r)
{
    size_t n = 0;
    while (n < PCQ_QUERIES_OF_CLIENT - 1 && queries[n])
        n++;
    DWORD error = queries[n] ? PCQ_NO_RESOURCES : pcq_open_query(server, "loopback", &queries[n]);
    uint8_t *handle = put(r, HANDLE_BYTES);
    memset(handle, 0, HANDLE_BYTES);
    put_u32(handle + 4, error ? 0 : (uint32_t)n + 1);
    put_u32(put(r, 4), error);
}

static void close_query(struct reply *r, const uint8_t *handle)
{
    pcq_close_query(query_of(handle));
    queries[get_u32(handle + 4) - 1] = NULL;
    memset(put(r, HANDLE_BYTES), 0, HANDLE_BYTES);
    put_u32(put(r, 4), 0);
}

static void validate(struct reply *r, struct request *in, const uint8_t *begin, struct pcq_query *q)
{
    uint32_t size = number(in, begin), most = number(in, begin);
    const uint8_t *data = size == most ? take(in, size) : NULL;
    bool add = number(in, begin) != 0;
    in->bad = in->bad || !data;
    if (in->bad)
        return;
    put_u32(put(r, 4), size);
    uint8_t *at = put(r, size);
    memcpy(at, data, size);
    DWORD error = pcq_validate_counters(q, at, size, add);
    r->size = (r->size + 3) & ~(size_t)3;
    put_u32(put(r, 4), error);
}

/* Executes the request. Returns false if it is invalid. `out` must have room for a reply as large as the client's
   buffer. */
static bool serve(unsigned opnum, struct request *in, struct reply *out)
{
    const uint8_t *begin = in->at, *guid_at = NULL, *handle = NULL;
    uint32_t code = 0, language = 0, room = 0;
    GUID guid;
    if (opnum <= PCQ_OPEN_QUERY)
        skip_text(in, begin);
    else
        handle = take(in, HANDLE_BYTES);
    if (opnum == PCQ_REGISTRATION_INFO || opnum == PCQ_ENUMERATE_INSTANCES) {
        take(in, (4 - (size_t)(in->at - begin) % 4) % 4);
        guid_at = take(in, sizeof guid);
        if (guid_at)
            memcpy(&guid, guid_at, sizeof guid);
    }
    if (opnum == PCQ_REGISTRATION_INFO) {
        code = number(in, begin);
        language = number(in, begin);
    }
    if (opnum != PCQ_OPEN_QUERY && opnum != PCQ_CLOSE_QUERY && opnum != PCQ_VALIDATE_COUNTERS)
        room = number(in, begin);
    struct pcq_query *q = query_of(handle);
    if (in->bad || (handle && !q) || room > 1u << 27)
        return false;
    struct pcq_buffer b = {.room = room, .bytes = memory_alloc((size_t)room * (opnum ? 1 : sizeof(GUID)))};
    out->bytes = memory_alloc((size_t)room * (opnum ? 1 : sizeof(GUID)) + (size_t)(in->end - begin) + 64);
    if (!b.bytes || !out->bytes) {
        memory_free(b.bytes);
        return false;
    }
    if (opnum == PCQ_ENUMERATE_SETS)
        put_sized(out, &b, sizeof(GUID), pcq_enumerate_sets(server, &b));
    else if (opnum == PCQ_REGISTRATION_INFO)
        put_sized(out, &b, 1, pcq_registration_info(server, &guid, code, language, &b));
    else if (opnum == PCQ_ENUMERATE_INSTANCES)
        put_sized(out, &b, 1, pcq_enumerate_instances(server, &guid, &b));
    else if (opnum == PCQ_QUERY_INFO)
        put_sized(out, &b, 1, pcq_query_info(q, &b));
    else if (opnum == PCQ_QUERY_DATA)
        put_sized(out, &b, 1, pcq_query_data(q, &b));
    else
        memory_free(b.bytes);
    if (opnum == PCQ_OPEN_QUERY)
        open_query(out);
    else if (opnum == PCQ_CLOSE_QUERY)
        close_query(out, handle);
    else if (opnum == PCQ_VALIDATE_COUNTERS)
        validate(out, in, begin, q);
    return !in->bad && in->at == in->end;
}

static HRESULT make_server(void)
{
    struct catalogue *catalogue;
    if (server)
        return S_OK;
    return catalogue_open_real_time(&catalogue) == ERROR_SUCCESS ? pcq_server_open(catalogue, &server) : E_OUTOFMEMORY;
}

static HRESULT call_loopback(struct link *l, unsigned opnum, const uint8_t *bytes, size_t size, uint8_t **reply,
                             size_t *reply_size)
{
    (void)l;
    *reply = NULL;
    *reply_size = 0;
    loopback.calls++;
    struct wakeup *go = loopback.hangs;
    if (go)
        wakeup_wait(go, UINT32_MAX);
    if (loopback.down || loopback.forgets) {
        loopback.forgets = false;
        return unavailable();
    }
    if (loopback.rubbish) {
        *reply = memory_copy(loopback.rubbish, loopback.rubbish_size);
        *reply_size = loopback.rubbish_size;
        return *reply ? S_OK : E_OUTOFMEMORY;
    }
    HRESULT hr = make_server();
    struct request in = {bytes, bytes + size, false};
    struct reply out = {0};
    if (SUCCEEDED(hr) && !serve(opnum, &in, &out))
        hr = out.bytes ? HRESULT_FROM_WIN32(1783) : E_OUTOFMEMORY; /* RPC_X_BAD_STUB_DATA */
    if (FAILED(hr)) {
        memory_free(out.bytes);
        return hr;
    }
    if (loopback.denies)
        put_u32(out.bytes + out.size - 4, ERROR_ACCESS_DENIED);
    loopback.bytes += out.size;
    *reply = out.bytes;
    *reply_size = out.size;
    return S_OK;
}

const struct link_kind loopback_links = {open_loopback, call_loopback, close_loopback};
