/* SPDX-License-Identifier: MIT */
/* Parses a client's request. Any client can send a request, so the request's bytes are checked in a single pass, and
   none of them become part of a path. */
#include "cli/http/http.h"
#include "engine/base/network.h"
#include "engine/base/text.h"

#include <string.h>

bool http_span_is(struct http_span s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.at, text, s.size) == 0;
}

bool http_span_equals(struct http_span s, const char *text)
{
    char copy[64];
    return http_span_fits(s, copy, sizeof copy) && text_equal_nocase(copy, text);
}

bool http_span_fits(struct http_span s, char *out, size_t room)
{
    if (s.size == 0 || s.size >= room)
        return false;
    memcpy(out, s.at, s.size);
    out[s.size] = 0;
    return true;
}

bool http_span_split(struct http_span *from, char end, struct http_span *out)
{
    const char *found = memchr(from->at, end, from->size);
    if (!found)
        return false;
    *out = (struct http_span){from->at, (size_t)(found - from->at)};
    from->at = found + 1;
    from->size -= out->size + 1;
    return true;
}

bool http_span_is_digits(struct http_span s)
{
    for (size_t i = 0; i < s.size; i++)
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
    return s.size > 0;
}

/* Returns the next line without its CR LF. Returns false if the line contains a CR or another control character, which
   makes the request malformed. */
static bool next_line(struct http_span *from, struct http_span *line)
{
    if (!http_span_split(from, '\n', line) || line->size == 0 || line->at[line->size - 1] != '\r')
        return false;
    line->size--;
    for (size_t i = 0; i < line->size; i++)
        if ((unsigned char)line->at[i] < ' ' && line->at[i] != '\t')
            return false;
    return true;
}

/* Removes a port such as ":8080". Returns false if the text after the colon is not a port. */
static bool strip_port(struct http_span *host)
{
    const char *colon = memchr(host->at, ':', host->size);
    if (host->size > 0 && host->at[0] == '[') {
        const char *end = memchr(host->at, ']', host->size);
        if (!end)
            return false;
        const size_t behind = host->size - (size_t)(end + 1 - host->at);
        colon = behind > 0 ? end + 1 : NULL;
        if (colon && *colon != ':')
            return false;
    }
    if (!colon)
        return true;
    const struct http_span port = {colon + 1, host->size - (size_t)(colon + 1 - host->at)};
    host->size = (size_t)(colon - host->at);
    return http_span_is_digits(port) && port.size <= 5;
}

/* Checks the Host header. A page of another site can make a browser send requests to this server. In such a request,
   Host is the name of that site, never an address or this computer's name. */
static unsigned check_host(struct http_span host, const char *own_name)
{
    char name[256];
    struct ip_address address;
    if (!strip_port(&host))
        return 400;
    if (host.size > 2 && host.at[0] == '[')
        host = (struct http_span){host.at + 1, host.size - 2};
    if (!http_span_fits(host, name, sizeof name))
        return 400;
    const bool ours = !own_name || text_equal_nocase(name, "localhost") || text_equal_nocase(name, own_name) ||
                      ip_address_read(name, &address);
    return ours ? 200 : 403;
}

struct http_span http_span_trim(struct http_span s)
{
    while (s.size > 0 && (*s.at == ' ' || *s.at == '\t'))
        s = (struct http_span){s.at + 1, s.size - 1};
    while (s.size > 0 && (s.at[s.size - 1] == ' ' || s.at[s.size - 1] == '\t'))
        s.size--;
    return s;
}

/* Returns true if a list such as "TE, close" contains "close". */
static bool names_close(struct http_span list)
{
    struct http_span token;
    while (http_span_split(&list, ',', &token))
        if (http_span_equals(http_span_trim(token), "close"))
            return true;
    return http_span_equals(http_span_trim(list), "close");
}

/* Stores a header that the server uses. Returns false if the header must occur only once, but occurs twice. */
static bool take_header(struct http_span name, struct http_span value, struct http_request *out)
{
    if (http_span_equals(name, "Authorization")) {
        if (out->credentials.at)
            return false;
        out->credentials = value;
    } else if (http_span_equals(name, "Accept") && !out->accept.at) {
        out->accept = value;
    } else if (http_span_equals(name, "Accept-Encoding") && !out->encodings.at) {
        out->encodings = value;
    } else if (http_span_equals(name, "Connection")) {
        out->keep_alive &= !names_close(value);
    }
    return true;
}

static unsigned read_headers(struct http_span from, const char *own_name, struct http_request *out)
{
    struct http_span line, name;
    unsigned host = 0;
    while (next_line(&from, &line) && line.size > 0) {
        if (!http_span_split(&line, ':', &name) || name.size == 0)
            return 400;
        for (size_t i = 0; i < name.size; i++)
            if (name.at[i] <= ' ' || name.at[i] > '~')
                return 400;
        line = http_span_trim(line);
        if (http_span_equals(name, "Transfer-Encoding") ||
            (http_span_equals(name, "Content-Length") && !http_span_is(line, "0")) || !take_header(name, line, out))
            return 400;
        if (!http_span_equals(name, "Host"))
            continue;
        if (host != 0)
            return 400;
        host = check_host(line, own_name);
        if (host != 200)
            return host;
    }
    /* The loop ends at the empty last line, or at a malformed line. */
    return from.size == 0 && line.size == 0 && host != 0 ? host : 400;
}

/* Returns the position after the empty line that ends the request, or 0 if this line has not arrived yet. */
static size_t request_end(const char *bytes, size_t size)
{
    for (size_t i = 0; i + 4 <= size; i++)
        if (memcmp(bytes + i, "\r\n\r\n", 4) == 0)
            return i + 4;
    return 0;
}

unsigned http_request_read(const char *bytes, size_t size, const char *own_name, struct http_request *out)
{
    const size_t end = request_end(bytes, size);
    struct http_span from = {bytes, end}, line, method, target;
    *out = (struct http_request){.head = false};
    if (end == 0)
        return size >= HTTP_REQUEST_BYTES ? 431 : 0;
    if (end > HTTP_REQUEST_BYTES)
        return 431;
    if (!next_line(&from, &line) || !http_span_split(&line, ' ', &method) || !http_span_split(&line, ' ', &target))
        return 400;
    if (line.size != 8 || memcmp(line.at, "HTTP/", 5) != 0)
        return 400;
    if (!http_span_is(line, "HTTP/1.1") && !http_span_is(line, "HTTP/1.0"))
        return 505;
    out->size = end;
    out->keep_alive = http_span_is(line, "HTTP/1.1");
    const unsigned headers = read_headers(from, own_name, out);
    if (headers != 200)
        return headers;
    out->head = http_span_is(method, "HEAD");
    if (!out->head && !http_span_is(method, "GET"))
        return 405;
    out->query = target;
    if (!http_span_split(&out->query, '?', &out->path)) {
        out->path = target;
        out->query = (struct http_span){target.at + target.size, 0};
    }
    return 200;
}

const char *http_status_text(unsigned status)
{
    switch (status) {
    case 200:
        return "OK";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 431:
        return "Request Header Fields Too Large";
    case 500:
        return "Internal Server Error";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Bad Request";
    }
}
