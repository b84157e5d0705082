/* SPDX-License-Identifier: MIT */
/* The methods' parameters in NDR, one after another. Numbers are aligned to their size. A conformant array follows its
   count; a varying array follows its count, offset and length. */
#include "engine/pdh/remote/ndr.h"

#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/pcq_server.h"

#include <string.h>

static void put_number(struct byte_buffer *w, uint32_t value)
{
    size_t gap = (4 - w->size % 4) % 4;
    uint8_t *at = byte_buffer_add(w, gap + 4);
    if (at) {
        memset(at, 0, gap);
        put_u32(at + gap, value);
    }
}

static HRESULT put_text(struct byte_buffer *w, const char *text)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(text ? text : "", &wide, &units);
    if (FAILED(hr))
        return hr;
    put_number(w, (uint32_t)units + 1);
    put_number(w, 0);
    put_number(w, (uint32_t)units + 1);
    uint8_t *at = byte_buffer_add(w, (units + 1) * 2);
    for (size_t i = 0; at && i <= units; i++)
        put_u16(at + 2 * i, (uint16_t)wide[i]);
    memory_free(wide);
    return S_OK;
}

/* Encodes the parameters. *out is from memory_alloc. Fails with E_OUTOFMEMORY, or E_INVALIDARG if the machine's name is
   invalid UTF-8. */
static HRESULT ndr_write_request(const struct ndr_call *r, uint8_t **out, size_t *size)
{
    struct byte_buffer w = {0};
    const bool names_machine = r->method <= PCQ_OPEN_QUERY;
    HRESULT hr = names_machine ? put_text(&w, r->machine) : S_OK;
    if (names_machine && (r->method == PCQ_REGISTRATION_INFO || r->method == PCQ_ENUMERATE_INSTANCES)) {
        put_number(&w, r->set.Data1);
        byte_buffer_put(&w, &r->set.Data2, sizeof r->set - sizeof r->set.Data1);
    }
    if (!names_machine)
        byte_buffer_put(&w, r->handle, NDR_HANDLE_BYTES);
    if (r->method == PCQ_REGISTRATION_INFO) {
        put_number(&w, r->code);
        put_number(&w, r->language);
    }
    if (r->method == PCQ_VALIDATE_COUNTERS) {
        put_number(&w, r->size);
        put_number(&w, r->size);
        byte_buffer_put(&w, r->data, r->size);
        put_number(&w, r->add);
    } else if (r->method != PCQ_OPEN_QUERY && r->method != PCQ_CLOSE_QUERY) {
        put_number(&w, r->room);
    }
    if (SUCCEEDED(hr) && w.failed)
        hr = E_OUTOFMEMORY;
    if (FAILED(hr))
        memory_free(w.bytes);
    *out = FAILED(hr) ? NULL : w.bytes;
    *size = FAILED(hr) ? 0 : w.size;
    return hr;
}

struct reader {
    const uint8_t *bytes;
    size_t size, at;
    bool failed;
};

static struct reader reader_over(const uint8_t *bytes, size_t size)
{
    assert(bytes || !size);
    return (struct reader){.bytes = bytes, .size = size};
}

static uint32_t take_number(struct reader *r)
{
    size_t at = (r->at + 3) & ~(size_t)3;
    r->failed = r->failed || at > r->size || r->size - at < 4;
    if (r->failed)
        return 0;
    r->at = at + 4;
    return get_u32(r->bytes + at);
}

static const uint8_t *take_bytes(struct reader *r, size_t size)
{
    r->failed = r->failed || r->size - r->at < size;
    if (r->failed)
        return NULL;
    const uint8_t *at = r->bytes + r->at;
    r->at += size;
    return at;
}

static size_t unit_of(enum pcq_method method)
{
    return method == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1;
}

/* Reads pdwOutSize, pdwRtnSize and the array, which is at most as large as requested. */
static void take_sized(struct reader *in, const struct ndr_call *r, struct ndr_reply *out)
{
    uint32_t written = take_number(in);
    out->needed = take_number(in);
    uint32_t most = take_number(in), offset = take_number(in), length = take_number(in);
    in->failed = in->failed || most != r->room || offset != 0 || length > most || length != written;
    out->size = in->failed ? 0 : (size_t)length * unit_of(r->method);
    out->data = take_bytes(in, out->size);
}

/* Parses the reply to `r`. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) and a zeroed *out if the reply is invalid
   or larger than requested. */
static HRESULT ndr_read_reply(const struct ndr_call *r, const uint8_t *bytes, size_t size, struct ndr_reply *out)
{
    struct reader in = reader_over(bytes, size);
    *out = (struct ndr_reply){0};
    if (r->method == PCQ_OPEN_QUERY || r->method == PCQ_CLOSE_QUERY) {
        const uint8_t *handle = take_bytes(&in, NDR_HANDLE_BYTES);
        if (handle)
            memcpy(out->handle, handle, NDR_HANDLE_BYTES);
    } else if (r->method == PCQ_VALIDATE_COUNTERS) {
        in.failed = take_number(&in) != r->size || in.failed;
        out->size = in.failed ? 0 : r->size;
        out->data = take_bytes(&in, out->size);
    } else {
        take_sized(&in, r, out);
    }
    out->status = take_number(&in);
    if (in.failed) {
        *out = (struct ndr_reply){0};
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    }
    return S_OK;
}

/* ---- the server's side ---- */

/* Skips a parameter that is [in, string]. */
static void skip_text(struct reader *in)
{
    uint32_t most = take_number(in), offset = take_number(in), units = take_number(in);
    in->failed = in->failed || offset != 0 || units == 0 || units > most;
    const uint8_t *text = in->failed ? NULL : take_bytes(in, (size_t)units * 2);
    in->failed = in->failed || !text || get_u16(text + 2 * ((size_t)units - 1)) != 0;
}

static void take_guid(struct reader *in, GUID *out)
{
    out->Data1 = take_number(in); /* after this number, `in` is aligned for the other members */
    const uint8_t *rest = take_bytes(in, sizeof *out - sizeof out->Data1);
    if (rest)
        memcpy(&out->Data2, rest, sizeof *out - sizeof out->Data1);
}

/* Returns the maximum size of a method's buffer, from the ranges of the IDL. */
static uint32_t most_room(enum pcq_method method)
{
    switch (method) {
    case PCQ_ENUMERATE_SETS:
        return PCQ_MOST_SETS;
    case PCQ_REGISTRATION_INFO:
        return PCQ_MOST_INFO;
    case PCQ_QUERY_DATA:
        return PCQ_MOST_DATA;
    default:
        return PCQ_MOST_IDENTIFIERS;
    }
}

HRESULT ndr_read_request(enum pcq_method method, const uint8_t *bytes, size_t size, struct ndr_call *out)
{
    struct reader in = reader_over(bytes, size);
    const uint8_t *handle = NULL;
    *out = (struct ndr_call){.method = method};
    if (method <= PCQ_OPEN_QUERY)
        skip_text(&in);
    else
        handle = take_bytes(&in, NDR_HANDLE_BYTES);
    if (handle)
        memcpy(out->handle, handle, NDR_HANDLE_BYTES);
    if (method == PCQ_REGISTRATION_INFO || method == PCQ_ENUMERATE_INSTANCES)
        take_guid(&in, &out->set);
    if (method == PCQ_REGISTRATION_INFO) {
        out->code = take_number(&in);
        out->language = take_number(&in);
    }
    if (method != PCQ_OPEN_QUERY && method != PCQ_CLOSE_QUERY)
        out->room = take_number(&in);
    if (!in.failed && out->room > most_room(method))
        return E_INVALIDARG;
    if (method == PCQ_VALIDATE_COUNTERS) {
        out->size = out->room;
        out->room = 0;
        in.failed = take_number(&in) != out->size || in.failed;
        out->data = in.failed ? NULL : take_bytes(&in, out->size);
        out->add = take_number(&in) != 0;
    }
    return in.failed ? HRESULT_FROM_WIN32(ERROR_INVALID_DATA) : S_OK;
}

HRESULT ndr_write_reply(const struct ndr_call *r, const struct ndr_reply *reply, uint8_t **out, size_t *size)
{
    struct byte_buffer w = {0};
    if (r->method == PCQ_OPEN_QUERY || r->method == PCQ_CLOSE_QUERY) {
        byte_buffer_put(&w, reply->handle, NDR_HANDLE_BYTES);
    } else if (r->method == PCQ_VALIDATE_COUNTERS) {
        put_number(&w, r->size);
        byte_buffer_put(&w, reply->data, r->size);
    } else {
        const uint32_t units = (uint32_t)(reply->size / unit_of(r->method));
        put_number(&w, units);
        put_number(&w, reply->needed);
        put_number(&w, r->room);
        put_number(&w, 0);
        put_number(&w, units);
        byte_buffer_put(&w, reply->data, reply->size);
    }
    put_number(&w, reply->status);
    if (w.failed)
        memory_free(w.bytes);
    *out = w.failed ? NULL : w.bytes;
    *size = w.failed ? 0 : w.size;
    return w.failed ? E_OUTOFMEMORY : S_OK;
}

/* ---- calls over a link, with enough room for their answers ---- */

#define USUAL_ROOM (64u * 1024)
/* Maximum size of an answer. OpenPLA does not allocate more memory, even if a computer announces a larger answer. */
#define MOST_ROOM  (64u * 1024 * 1024)
/* The size of the answer can grow between two tries. */
#define MOST_TRIES 4

void link_answer_free(struct link_answer *answer)
{
    memory_free(answer->reply);
    *answer = (struct link_answer){0};
}

HRESULT link_answer_result(const struct link_answer *answer)
{
    return answer->decoded.status ? HRESULT_FROM_WIN32(answer->decoded.status) : S_OK;
}

static HRESULT ask_once(struct link *l, const struct ndr_call *call, struct link_answer *answer)
{
    uint8_t *request;
    size_t size, reply_size = 0;
    link_answer_free(answer);
    HRESULT hr = ndr_write_request(call, &request, &size);
    if (FAILED(hr))
        return hr;
    hr = l->kind->call(l, call->method, request, size, &answer->reply, &reply_size);
    memory_free(request);
    if (SUCCEEDED(hr))
        hr = ndr_read_reply(call, answer->reply, reply_size, &answer->decoded);
    if (FAILED(hr))
        link_answer_free(answer);
    return hr;
}

HRESULT link_ask(struct link *l, struct ndr_call *call, struct link_answer *answer)
{
    const uint32_t unit = call->method == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1;
    HRESULT hr = S_OK;
    if (!call->room)
        call->room = call->method == PCQ_ENUMERATE_SETS ? PCQ_MOST_SETS : USUAL_ROOM;
    for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
        hr = ask_once(l, call, answer);
        if (FAILED(hr) || answer->decoded.status != PCQ_NOT_ENOUGH_MEMORY || unit > 1 ||
            answer->decoded.needed <= call->room || answer->decoded.needed > MOST_ROOM)
            break;
        call->room = answer->decoded.needed + answer->decoded.needed / 8;
    }
    return hr;
}
