/* SPDX-License-Identifier: MIT */
/* Any bytes as a browser's request: no crash, and an incomplete request is not rejected. */
#include "cli/live/live_http.h"
#include "cli/serve/serve.h"
#include "engine/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

/* Bytes below the number of pieces select pieces; other bytes are copied. */
static char *request_of(const uint8_t *data, size_t size)
{
    static const char *const pieces[] = {
        "GET ",
        "HEAD ",
        " HTTP/1.1\r\n",
        "Host: localhost\r\n",
        "\r\n",
        "\r\n\r\n",
        "/samples?since=",
        "/counters",
        "Host: [::1",
        "]",
        "Accept: application/openmetrics-text;version=1.0.0;q=0.5,",
        "Host: 127.0.0.1:8080",
        ":",
        "Connection: close, TE\r\n",
        "HTTP/1.",
        " ",
        "Accept-Encoding: ",
        "gzip",
        ";q=0.5,",
        "*",
    };
    struct text_buffer b = {0};
    for (size_t i = 0; i < size; i++)
        if (data[i] < sizeof pieces / sizeof *pieces)
            text_buffer_add(&b, pieces[data[i]]);
        else
            text_buffer_add_n(&b, (const char *)&data[i], 1);
    return text_buffer_take(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_request request;
    struct live_request live;
    const unsigned raw = http_request_read((const char *)data, size, "HOST", &request);
    must(raw == 0 || *http_status_text(raw));
    char *text = request_of(data, size);
    if (!text)
        return 0;
    const size_t length = strlen(text);
    const unsigned whole = http_request_read(text, length, "HOST", &request);
    must(whole != 200 ||
         (request.size >= 4 && request.size <= length && memcmp(text + request.size - 4, "\r\n\r\n", 4) == 0));
    if (whole == 200) {
        (void)page_wants_openmetrics(request.accept);
        (void)http_accepts_gzip(request.encodings);
    }
    must(whole != 200 || live_request_read(&request, &live) != 200 || live.resource <= LIVE_SAMPLES);
    /* Each shorter part of an incomplete request is incomplete, too. */
    for (size_t part = 0; whole == 0 && part < length && length < 256; part++)
        must(http_request_read(text, part, "HOST", &request) == 0);
    memory_free(text);
    return 0;
}
