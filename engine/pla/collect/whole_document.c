/* SPDX-License-Identifier: MIT */
/* Writes of one page each where it counts, and room for them beforehand. */
#include "engine/pla/collect/whole_document.h"

#include "engine/base/file.h"

#include <string.h>

#define PAGE       WHOLE_DOCUMENT_PAGE
#define ROOM_STEP  (16 * PAGE)
#define REST_BEGIN "<?rest "
#define REST_END   "<?end ?>"
enum { BEGIN_BYTES = sizeof REST_BEGIN - 1, END_BYTES = sizeof REST_END - 1 };

static uint64_t page_end(uint64_t at)
{
    return at - at % PAGE + PAGE;
}

static HRESULT write_blanks(struct whole_document *w, uint64_t at, uint64_t count)
{
    char blanks[PAGE];
    HRESULT hr = S_OK;
    memset(blanks, ' ', sizeof blanks);
    while (SUCCEEDED(hr) && count) {
        size_t n = page_end(at) - at < count ? (size_t)(page_end(at) - at) : (size_t)count;
        hr = file_write_at(w->file, at, blanks, n);
        if (FAILED(hr))
            break;
        at += n;
        count -= n;
        if (at > w->size)
            w->size = at;
    }
    return hr;
}

/* Room as far as `end`, with the end of an instruction behind it, and none in it. */
static HRESULT make_room(struct whole_document *w, uint64_t end)
{
    if (w->stop >= end)
        return S_OK;
    uint64_t size = (end + END_BYTES + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP, old = w->stop;
    HRESULT hr = size > w->size ? write_blanks(w, w->size, size - w->size) : S_OK;
    if (SUCCEEDED(hr))
        hr = file_write_at(w->file, size - END_BYTES, REST_END, END_BYTES);
    if (FAILED(hr))
        return hr;
    w->stop = size - END_BYTES;
    return old ? write_blanks(w, old, END_BYTES) : S_OK;
}

static bool add_blanks(struct text_buffer *text, size_t count)
{
    char *at = text_buffer_reserve(text, count);
    if (!at)
        return false;
    memset(at, ' ', count);
    at[count] = 0;
    text->length += count;
    return true;
}

HRESULT whole_document_begin(struct whole_document *w, struct file *file, const char *head, const char *closing)
{
    char text[PAGE / 2 + 1];
    size_t n = strlen(head), m = strlen(closing);
    if (n + m >= sizeof text)
        return E_INVALIDARG;
    memcpy(text, head, n);
    memcpy(text + n, closing, m + 1);
    *w = (struct whole_document){.file = file, .end = n, .size = n + m, .closing = m};
    return file_write_at(file, 0, text, n + m);
}

HRESULT whole_document_add(struct whole_document *w, struct text_buffer *text, const char *closing)
{
    const size_t m = strlen(closing);
    const uint64_t end = w->end + text->length, left = page_end(end) - end;
    /* The closing tags, and the beginning of an instruction behind them, are to be in one page. */
    const size_t blanks = left < m + BEGIN_BYTES ? (size_t)left : 0;
    if (blanks && !add_blanks(text, blanks))
        return E_OUTOFMEMORY;
    const size_t contents = text->length;
    text_buffer_add(text, closing);
    if (!text->failed && text->length < w->closing) /* else the end of the old ones would be left */
        add_blanks(text, w->closing - text->length);
    if (text->failed)
        return E_OUTOFMEMORY;
    HRESULT hr = make_room(w, w->end + text->length);
    const uint64_t within = page_end(w->end) - w->end;
    if (SUCCEEDED(hr) && text->length > within) {
        hr = file_write_at(w->file, w->end + w->closing, REST_BEGIN, BEGIN_BYTES);
        if (SUCCEEDED(hr))
            hr = file_write_at(w->file, w->end + within, text->text + within, text->length - (size_t)within);
    }
    if (SUCCEEDED(hr))
        hr = file_write_at(w->file, w->end, text->text, text->length < within ? text->length : (size_t)within);
    if (FAILED(hr))
        return hr;
    w->end += contents;
    w->closing = m;
    text->length = 0;
    return S_OK;
}

HRESULT whole_document_close(struct whole_document *w)
{
    return w->file ? file_set_size(w->file, w->end + w->closing) : S_OK;
}
