/* SPDX-License-Identifier: MIT */
/* Parameters of the methods, one after the other: numbers at multiples of their size, a conformant array behind its
   count, one that varies behind count, offset and length. */
#include "engine/pcq/ndr.h"

#include "engine/log/little_endian.h"
#include "engine/os/memory.h"

#include <string.h>

struct writer {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};

static uint8_t *reserve(struct writer *w, size_t size)
{
    void *bytes = w->bytes;
    w->failed = w->failed || !memory_grow(&bytes, &w->capacity, w->size + size, 1);
    w->bytes = bytes;
    if (w->failed)
        return NULL;
    uint8_t *at = w->bytes + w->size;
    w->size += size;
    return at;
}

static void put_number(struct writer *w, uint32_t value)
{
    size_t gap = (4 - w->size % 4) % 4;
    uint8_t *at = reserve(w, gap + 4);
    if (at) {
        memset(at, 0, gap);
        put_u32(at + gap, value);
    }
}

static void put_bytes(struct writer *w, const void *from, size_t size)
{
    uint8_t *at = reserve(w, size);
    if (at)
        memcpy(at, from, size);
}

static HRESULT put_text(struct writer *w, const char *text)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(text ? text : "", &wide, &units);
    if (FAILED(hr))
        return hr;
    put_number(w, (uint32_t)units + 1);
    put_number(w, 0);
    put_number(w, (uint32_t)units + 1);
    uint8_t *at = reserve(w, (units + 1) * 2);
    for (size_t i = 0; at && i <= units; i++)
        put_u16(at + 2 * i, (uint16_t)wide[i]);
    memory_free(wide);
    return S_OK;
}

HRESULT ndr_write_request(const struct ndr_call *r, uint8_t **out, size_t *size)
{
    struct writer w = {0};
    const bool names_machine = r->method <= PCQ_OPEN_QUERY;
    HRESULT hr = names_machine ? put_text(&w, r->machine) : S_OK;
    if (names_machine && (r->method == PCQ_REGISTRATION_INFO || r->method == PCQ_ENUMERATE_INSTANCES)) {
        put_number(&w, r->set.Data1);
        put_bytes(&w, &r->set.Data2, sizeof r->set - sizeof r->set.Data1);
    }
    if (!names_machine)
        put_bytes(&w, r->handle, NDR_HANDLE_BYTES);
    if (r->method == PCQ_REGISTRATION_INFO) {
        put_number(&w, r->code);
        put_number(&w, r->language);
    }
    if (r->method == PCQ_VALIDATE_COUNTERS) {
        put_number(&w, r->size);
        put_number(&w, r->size);
        put_bytes(&w, r->data, r->size);
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

/* pdwOutSize, pdwRtnSize and the array that has room for what was asked, as much of it as there is. */
static void take_sized(struct reader *in, const struct ndr_call *r, struct ndr_reply *out)
{
    const size_t unit = r->method == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1;
    uint32_t written = take_number(in);
    out->needed = take_number(in);
    uint32_t most = take_number(in), offset = take_number(in), length = take_number(in);
    in->failed = in->failed || most != r->room || offset != 0 || length > most || length != written;
    out->size = in->failed ? 0 : (size_t)length * unit;
    out->data = take_bytes(in, out->size);
}

HRESULT ndr_read_reply(const struct ndr_call *r, const uint8_t *bytes, size_t size, struct ndr_reply *out)
{
    struct reader in = {.bytes = bytes, .size = size};
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
