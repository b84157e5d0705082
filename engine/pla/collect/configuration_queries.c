/* SPDX-License-Identifier: MIT */
/* Three sources of a configuration collector (MS-PLA 3.2.4.7): WMI queries (ManagementQueries, DECISIONS 62), network
   adapters (QueryNetworkAdapters), and a snapshot of the kernel's in-memory trace session (SystemStateFile). */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/windows_services.h"
#include "engine/etw/etw_types.h"
#include "engine/pla/collect/configuration_source.h"
#include "engine/pla/collect/trace_session.h"

#include <stdio.h>
#include <ctype.h>
#include <string.h>

#define LIMIT_S     60
/* U+2028, replaces a line end within an array element, because line ends separate the elements. */
#define LINE_WITHIN "\xE2\x80\xA8"

struct query {
    char *namespace_path, *text;
};

static void query_free(void *user)
{
    struct query *q = user;
    memory_free(q->namespace_path);
    memory_free(q->text);
    memory_free(q);
}

static HRESULT give_row(void *user, struct management_row *row)
{
    return slow_work_give(user, row);
}

static void free_row(void *row)
{
    management_row_free(row);
}

static HRESULT run_query(void *user, struct slow_work *p)
{
    const struct query *q = user;
    return management_query(q->namespace_path, q->text, give_row, p);
}

/* Splits "namespace:WQL". A namespace contains no colon. */
static HRESULT read_query(const char *text, struct query **out)
{
    const char *colon = strchr(text, ':'), *wql = colon ? colon + 1 : "";
    while (*wql == ' ')
        wql++;
    *out = NULL;
    if (!colon || colon == text || !*wql)
        return error_set(E_INVALIDARG, "ManagementQueries: '%.600s' is not of the form namespace:query", text);
    struct query *q = memory_zero(1, sizeof *q);
    if (q && (q->namespace_path = text_copy_n(text, (size_t)(colon - text))) && (q->text = text_copy(wql))) {
        *out = q;
        return S_OK;
    }
    if (q)
        query_free(q);
    return E_OUTOFMEMORY;
}

/* ---- rows ---- */

/* Converts 20260102030405.123456+060 to 2026-01-02T03:04:05.123456+01:00. False: the string has another form, such as
   an interval or a time with asterisks. */
static bool iso_time(const char *cim, char iso[40])
{
    if (strlen(cim) != 25 || cim[14] != '.' || (cim[21] != '+' && cim[21] != '-'))
        return false;
    for (int i = 0; i < 25; i++)
        if (i != 14 && i != 21 && !isdigit((unsigned char)cim[i]))
            return false;
    const int bias = (cim[22] - '0') * 100 + (cim[23] - '0') * 10 + (cim[24] - '0');
    snprintf(iso, 40, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s.%.6s%c%02d:%02d", cim, cim + 4, cim + 6, cim + 8, cim + 10,
             cim + 12, cim + 15, cim[21], bias / 60, bias % 60);
    return true;
}

/* Joins the strings, one per line. */
static char *lines_of(const struct texts *texts)
{
    struct text_buffer b = {.length = 0};
    text_buffer_add(&b, "");
    for (size_t i = 0; i < texts->count; i++) {
        if (i)
            text_buffer_add(&b, "\n");
        for (const char *at = texts->items[i]; *at;) {
            const size_t bytes = strcspn(at, "\r\n");
            text_buffer_add_n(&b, at, bytes);
            at += bytes;
            if (*at) {
                text_buffer_add(&b, LINE_WITHIN);
                at += at[0] == '\r' && at[1] == '\n' ? 2 : 1;
            }
        }
    }
    return text_buffer_take(&b);
}

static HRESULT put_value(struct configuration_document *d, const struct management_value *v)
{
    char iso[40];
    if (v->null) {
        configuration_data(d, v->name, "null", "");
    } else if (v->array) {
        char *lines = lines_of(&v->texts);
        if (!lines)
            return E_OUTOFMEMORY;
        configuration_data(d, v->name, v->type, lines);
        memory_free(lines);
    } else {
        const char *text = v->texts.count ? v->texts.items[0] : "";
        configuration_data(d, v->name, v->type, !strcmp(v->type, "datetime") && iso_time(text, iso) ? iso : text);
    }
    return S_OK;
}

/* The columns of the open table. A query can return rows of several classes, each with its own table. */
struct shape {
    bool open;
    struct texts names;
};

static bool shape_fits_row(const struct shape *s, const struct management_row *row)
{
    if (!s->open || s->names.count != row->count)
        return false;
    for (size_t i = 0; i < row->count; i++)
        if (strcmp(s->names.items[i], row->values[i].name) != 0)
            return false;
    return true;
}

static HRESULT begin_table(struct configuration_document *d, struct shape *s, const char *text,
                           const struct management_row *row)
{
    struct configuration_column *columns = memory_zero(row->count + 1, sizeof *columns);
    HRESULT hr = columns ? S_OK : E_OUTOFMEMORY;
    if (s->open)
        configuration_end_table(d);
    s->open = false;
    texts_free(&s->names);
    for (size_t i = 0; SUCCEEDED(hr) && i < row->count; i++) {
        columns[i].name = row->values[i].name;
        columns[i].use = row->values[i].key ? COLUMN_KEY : COLUMN_PLAIN;
        hr = texts_add(&s->names, row->values[i].name);
    }
    if (SUCCEEDED(hr)) {
        configuration_begin_table(d, "managementQuery", text, columns, row->count);
        s->open = true;
    }
    memory_free(columns);
    return hr;
}

static HRESULT put_row(struct configuration_document *d, struct shape *s, const char *text,
                       const struct management_row *row)
{
    HRESULT hr = shape_fits_row(s, row) ? S_OK : begin_table(d, s, text, row);
    if (SUCCEEDED(hr))
        configuration_begin_item(d);
    for (size_t i = 0; SUCCEEDED(hr) && i < row->count; i++)
        hr = put_value(d, &row->values[i]);
    return SUCCEEDED(hr) ? configuration_end_item(d) : hr;
}

/* Ends the query's table. A failure becomes the last row. */
static HRESULT end_query(struct configuration_document *d, struct shape *s, const char *text, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    if (!s->open)
        configuration_begin_table(d, "managementQuery", text, NULL, 0);
    if (FAILED(why.hr)) {
        configuration_begin_item(d);
        configuration_data_error(d, error_restore(&why));
        configuration_end_item(d);
    }
    texts_free(&s->names);
    return configuration_end_table(d);
}

static HRESULT put_rows(const struct configuration_source_context *c, struct slow_work *p, const char *text,
                        struct shape *shape)
{
    const uint32_t seconds = c->request->query_limit_s ? c->request->query_limit_s : LIMIT_S;
    const uint32_t limit_ms = seconds < UINT32_MAX / 1000 ? seconds * 1000 : UINT32_MAX;
    for (;;) {
        void *row;
        HRESULT hr = slow_work_take(p, c->stop, limit_ms, text, &row);
        if (hr != S_OK)
            return hr;
        hr = put_row(c->document, shape, text, row);
        management_row_free(row);
        if (FAILED(hr))
            return hr;
    }
}

static HRESULT put_query(const struct configuration_source_context *c, const char *text)
{
    static const struct slow_work_kind kind = {run_query, free_row, query_free};
    struct shape shape = {.open = false};
    struct slow_work *p = NULL;
    struct query *q;
    HRESULT hr = read_query(text, &q);
    if (SUCCEEDED(hr))
        hr = slow_work_start(&kind, q, &p);
    if (SUCCEEDED(hr)) {
        configuration_put_out(c->document);
        hr = put_rows(c, p, text, &shape);
        slow_work_abandon(p);
    }
    const HRESULT of_document = configuration_status(c->document);
    if (hr == E_OUTOFMEMORY || FAILED(of_document)) {
        texts_free(&shape.names);
        return FAILED(of_document) ? of_document : hr;
    }
    return end_query(c->document, &shape, text, hr);
}

HRESULT configuration_collect_queries(const struct configuration_source_context *c)
{
    const struct texts *queries = &c->request->queries;
    if (!queries->count)
        return S_OK;
    configuration_begin_section(c->document, "management");
    HRESULT hr = configuration_status(c->document);
    for (size_t i = 0; SUCCEEDED(hr) && i < queries->count && !configuration_stopped(c); i++)
        hr = put_query(c, queries->items[i]);
    return SUCCEEDED(hr) ? configuration_end_section(c->document) : hr;
}

/* ---- QueryNetworkAdapters: the table networkInformation ---- */

static void put_number(struct configuration_document *d, const char *column, uint64_t n)
{
    if (n)
        configuration_data_number(d, column, NULL, n);
}

static void put_list(struct configuration_document *d, const char *column, const struct text_buffer *list)
{
    configuration_data(d, column, NULL, list->length ? list->text : "");
}

static HRESULT put_adapter(void *user, const struct network_adapter *a)
{
    const struct configuration_source_context *c = user;
    struct configuration_document *d = c->document;
    if (configuration_stopped(c))
        return S_OK;
    configuration_begin_item(d);
    configuration_data(d, "name", NULL, a->name);
    configuration_data(d, "caption", NULL, a->caption);
    configuration_data(d, "description", NULL, a->description);
    configuration_data(d, "type", NULL, a->type);
    configuration_data(d, "status", NULL, a->status);
    configuration_data(d, "physicalAddress", NULL, a->physical_address);
    put_list(d, "addresses", &a->addresses);
    put_list(d, "gateways", &a->gateways);
    put_list(d, "dnsServers", &a->dns_servers);
    configuration_data(d, "dnsSuffix", NULL, a->dns_suffix);
    configuration_data(d, "dhcp", NULL, a->dhcp);
    put_number(d, "mtu", a->mtu);
    put_number(d, "transmitSpeed", a->transmit);
    put_number(d, "receiveSpeed", a->receive);
    put_list(d, "offload", &a->offload);
    return configuration_end_item(d);
}

HRESULT configuration_collect_network(const struct configuration_source_context *c)
{
    static const struct configuration_column columns[] = {{"name", COLUMN_KEY},
                                                          {"caption", COLUMN_PLAIN},
                                                          {"description", COLUMN_PLAIN},
                                                          {"type", COLUMN_PLAIN},
                                                          {"status", COLUMN_PLAIN},
                                                          {"physicalAddress", COLUMN_PLAIN},
                                                          {"addresses", COLUMN_PLAIN},
                                                          {"gateways", COLUMN_PLAIN},
                                                          {"dnsServers", COLUMN_PLAIN},
                                                          {"dnsSuffix", COLUMN_PLAIN},
                                                          {"dhcp", COLUMN_PLAIN},
                                                          {"mtu", COLUMN_PLAIN},
                                                          {"transmitSpeed", COLUMN_PLAIN},
                                                          {"receiveSpeed", COLUMN_PLAIN},
                                                          {"offload", COLUMN_PLAIN}};
    struct configuration_document *d = c->document;
    if (!c->request->network_adapters)
        return S_OK;
    configuration_begin_section(d, "network");
    configuration_begin_table(d, "networkInformation", NULL, columns, sizeof columns / sizeof *columns);
    HRESULT hr = configuration_status(d);
    if (SUCCEEDED(hr))
        hr = network_adapters(put_adapter, (void *)(uintptr_t)c);
    if (hr == E_OUTOFMEMORY || FAILED(configuration_status(d)))
        return hr;
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        configuration_begin_item(d);
        configuration_data_error(d, error_restore(&why));
        configuration_end_item(d);
    }
    configuration_end_table(d);
    return configuration_end_section(d);
}

/* ---- SystemStateFile: a snapshot of the kernel's in-memory trace session, beside the XML file ---- */

#define SESSION "Circular Kernel Context Logger"

static const struct configuration_column columns[] = {{"session", COLUMN_KEY}, {"file", COLUMN_PLAIN}};

static HRESULT take_snapshot(const struct configuration_source_context *c, const char *path)
{
    struct trace_target t = {.name = SESSION};
    struct trace_session s;
    HRESULT hr = trace_session_query(&t, &s);
    if (hr == HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND))
        return error_set(hr, "SystemStateFile: '%s': the session \"" SESSION "\" does not exist",
                         c->request->state_file);
    if (FAILED(hr))
        return hr;
    t.handle = s.handle;
    if (s.is.mode & TRACE_MODE_BUFFERING)
        hr = trace_file_check(c->output_base, path, c->request->overwrite);
    else
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                       "SystemStateFile: the session \"" SESSION "\" does not buffer in memory (LogFileMode 0x%X)",
                       (unsigned)s.is.mode);
    if (SUCCEEDED(hr) && c->made)
        c->made(c->output_base, c->output_folder, path);
    if (SUCCEEDED(hr))
        hr = trace_session_flush(&t, path);
    trace_session_free(&s);
    return hr;
}

HRESULT configuration_collect_state(const struct configuration_source_context *c)
{
    const char *file = c->request->state_file;
    struct configuration_document *d = c->document;
    if (!*file)
        return S_OK;
    char *name = *path_extension(file) ? text_copy(file) : text_format("%s.etl", file);
    char *path = name ? path_join(c->output_folder, name) : NULL;
    HRESULT hr = path ? take_snapshot(c, path) : E_OUTOFMEMORY;
    if (hr != E_OUTOFMEMORY) {
        struct error_kept why = error_keep(hr);
        configuration_begin_section(d, "systemState");
        configuration_begin_table(d, "systemState", NULL, columns, sizeof columns / sizeof *columns);
        configuration_begin_item(d);
        configuration_data(d, "session", NULL, SESSION);
        configuration_data(d, "file", NULL, SUCCEEDED(hr) ? name : "");
        if (FAILED(hr))
            configuration_data_error(d, error_restore(&why));
        configuration_end_item(d);
        configuration_end_table(d);
        hr = configuration_end_section(d);
    }
    memory_free(path);
    memory_free(name);
    return hr;
}
