/* SPDX-License-Identifier: MIT */
/* The consumer functions of Perflib V2 (perflib.h) for programs that load them from openpdh.dll; MinGW's perflib.h has
   none of them. For this computer, the functions call the server's methods directly; for a remote computer, they use a
   link. Microsoft documents the behaviour and errors of these functions. This file also sets the type of link that
   openpdh.dll uses for remote computers. */
#include "engine/base/memory.h"
#include "engine/logs/counter_path.h"
#include "engine/pdh/core/query.h"
#include "engine/pdh/pcq_server.h"
#include "engine/pdh/remote/ndr.h"
#include "engine/pdh/remote/remote_computer.h"
#include "engine/rpc/remote_account.h"

#include <windows.h>
#include <string.h>

/* The object behind the HANDLE of PerfOpenQueryHandle. */
struct consumer_query {
    enum handle_kind kind; /* must be the first member */
    struct pcq_query *here;
    struct link *link; /* link to a remote computer, for one call at a time; NULL means this computer */
    struct lock lock;
    uint8_t handle[NDR_HANDLE_BYTES];
};

static struct lock server_lock = LOCK_INIT;
static struct pcq_server *server; /* this process's server, never closed */

__attribute__((constructor)) static void begin(void)
{
    remote_computer_links(&link_remote);
    catalogue_set_remote(&remote_catalogue_functions);
}

/* Makes this process log on to the remote computer `host` with the account `name` from now on (remote_account_give).
   Called by openpla.exe. */
HRESULT WINAPI PdhGiveRemoteAccount(const char *host, const char *name, const char *password);
HRESULT WINAPI PdhGiveRemoteAccount(const char *host, const char *name, const char *password)
{
    return remote_account_give_password(host, name, password);
}

static ULONG get_server(struct pcq_server **out)
{
    struct catalogue *catalogue;
    HRESULT hr = S_OK;
    lock_enter(&server_lock);
    if (!server)
        hr =
            catalogue_open_real_time(&catalogue) == ERROR_SUCCESS ? pcq_server_open(catalogue, &server) : E_OUTOFMEMORY;
    *out = server;
    lock_leave(&server_lock);
    return FAILED(hr) ? ERROR_OUTOFMEMORY : ERROR_SUCCESS;
}

static ULONG error_of(HRESULT hr)
{
    return HRESULT_FACILITY(hr) == FACILITY_WIN32 ? HRESULT_CODE(hr)
           : hr == E_INVALIDARG                   ? ERROR_INVALID_PARAMETER
                                                  : ERROR_INVALID_DATA;
}

/* Converts the call's machine name to UTF-8 without backslashes. *here is set if it is this computer. */
static ULONG find_machine(LPCWSTR machine, char **name, bool *here)
{
    *name = NULL;
    *here = true;
    if (!machine || !*machine)
        return ERROR_SUCCESS;
    machine += wcsspn(machine, L"\\");
    HRESULT hr = text_from_utf16(machine, wcslen(machine), false, name);
    if (FAILED(hr))
        return error_of(hr);
    PDH_STATUS status = counter_path_machine_is_ours(*name);
    *here = status == ERROR_SUCCESS;
    if (status != (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE)
        return ERROR_SUCCESS;
    memory_free(*name);
    *name = NULL;
    return ERROR_OUTOFMEMORY;
}

static ULONG call_here(const struct ndr_call *call, struct pcq_query *q, struct pcq_buffer *out)
{
    struct pcq_server *s;
    ULONG error = get_server(&s);
    if (error)
        return error;
    if (call->method == PCQ_ENUMERATE_SETS)
        return pcq_enumerate_sets(s, out);
    if (call->method == PCQ_REGISTRATION_INFO)
        return pcq_registration_info(s, &call->set, call->code, call->language, out);
    if (call->method == PCQ_ENUMERATE_INSTANCES)
        return pcq_enumerate_instances(s, &call->set, out);
    return call->method == PCQ_QUERY_INFO ? pcq_query_info(q, out) : pcq_query_data(q, out);
}

/* Fetches the complete answer, then copies it if it fits in the caller's buffer. */
static ULONG call_there(struct link *l, struct ndr_call *call, struct pcq_buffer *out)
{
    const size_t unit = call->method == PCQ_ENUMERATE_SETS ? sizeof(GUID) : 1;
    struct link_answer answer = {0};
    HRESULT hr = link_ask(l, call, &answer);
    ULONG error = FAILED(hr) ? error_of(hr) : answer.decoded.status;
    if (SUCCEEDED(hr))
        out->needed = answer.decoded.needed;
    if (!error && answer.decoded.size > (size_t)out->room * unit)
        error = ERROR_NOT_ENOUGH_MEMORY;
    if (!error) {
        memcpy(out->bytes, answer.decoded.data, answer.decoded.size);
        out->written = (DWORD)(answer.decoded.size / unit);
    }
    link_answer_free(&answer);
    return error;
}

/* Calls a method that needs no query, over a new link. */
static ULONG consumer_ask_machine(LPCWSTR machine, struct ndr_call *call, void *bytes, DWORD room, LPDWORD actual)
{
    struct pcq_buffer out = {.bytes = bytes, .room = bytes ? room : 0};
    char *name;
    bool here;
    struct link *l = NULL;
    if (!actual)
        return ERROR_INVALID_PARAMETER;
    ULONG error = find_machine(machine, &name, &here);
    if (!error && here) {
        error = call_here(call, NULL, &out);
    } else if (!error) {
        HRESULT hr = link_remote.open(name, &l);
        call->machine = name;
        error = FAILED(hr) ? error_of(hr) : call_there(l, call, &out);
    }
    if (l)
        link_remote.close(l);
    memory_free(name);
    *actual = error ? out.needed : out.written;
    return error;
}

ULONG WINAPI PerfEnumerateCounterSet(LPCWSTR machine, LPGUID sets, DWORD count, LPDWORD actual);
ULONG WINAPI PerfEnumerateCounterSet(LPCWSTR machine, LPGUID sets, DWORD count, LPDWORD actual)
{
    struct ndr_call call = {.method = PCQ_ENUMERATE_SETS};
    return consumer_ask_machine(machine, &call, sets, count, actual);
}

ULONG WINAPI PerfEnumerateCounterSetInstances(LPCWSTR machine, LPCGUID set, struct pcq_instance *instances, DWORD bytes,
                                              LPDWORD actual);
ULONG WINAPI PerfEnumerateCounterSetInstances(LPCWSTR machine, LPCGUID set, struct pcq_instance *instances, DWORD bytes,
                                              LPDWORD actual)
{
    if (!set)
        return ERROR_INVALID_PARAMETER;
    struct ndr_call call = {.method = PCQ_ENUMERATE_INSTANCES, .set = *set};
    return consumer_ask_machine(machine, &call, instances, bytes, actual);
}

ULONG WINAPI PerfQueryCounterSetRegistrationInfo(LPCWSTR machine, LPCGUID set, DWORD code, DWORD language, BYTE *info,
                                                 DWORD bytes, LPDWORD actual);
ULONG WINAPI PerfQueryCounterSetRegistrationInfo(LPCWSTR machine, LPCGUID set, DWORD code, DWORD language, BYTE *info,
                                                 DWORD bytes, LPDWORD actual)
{
    if (!set)
        return ERROR_INVALID_PARAMETER;
    struct ndr_call call = {.method = PCQ_REGISTRATION_INFO, .set = *set, .code = code, .language = language};
    return consumer_ask_machine(machine, &call, info, bytes, actual);
}

static void free_query(struct consumer_query *q)
{
    handle_remove(q);
    pcq_close_query(q->here);
    if (q->link)
        link_remote.close(q->link);
    memory_free(q);
}

static ULONG open_there(struct consumer_query *q, const char *name)
{
    struct link_answer answer = {0};
    struct ndr_call call = {.method = PCQ_OPEN_QUERY, .machine = name};
    HRESULT hr = link_remote.open(name, &q->link);
    if (SUCCEEDED(hr))
        hr = link_ask(q->link, &call, &answer);
    ULONG error = FAILED(hr) ? error_of(hr) : answer.decoded.status;
    memcpy(q->handle, answer.decoded.handle, sizeof q->handle);
    link_answer_free(&answer);
    return error;
}

ULONG WINAPI PerfOpenQueryHandle(LPCWSTR machine, HANDLE *query);
ULONG WINAPI PerfOpenQueryHandle(LPCWSTR machine, HANDLE *query)
{
    char *name;
    bool here;
    struct pcq_server *s;
    if (!query)
        return ERROR_INVALID_PARAMETER;
    *query = NULL;
    ULONG error = find_machine(machine, &name, &here);
    if (error)
        return error;
    struct consumer_query *q = memory_zero(1, sizeof *q);
    error = q && handle_add(q) ? ERROR_SUCCESS : ERROR_OUTOFMEMORY;
    if (!error)
        q->kind = CONSUMER_HANDLE;
    if (!error && here) {
        error = get_server(&s);
        error = error ? error : pcq_open_query(s, "this process", &q->here);
    } else if (!error) {
        error = open_there(q, name);
    }
    memory_free(name);
    if (!error)
        *query = q;
    else if (q)
        free_query(q);
    return error;
}

static struct consumer_query *query_of(HANDLE handle)
{
    struct consumer_query *q = handle_is_alive(handle) ? handle : NULL;
    return q && q->kind == CONSUMER_HANDLE ? q : NULL;
}

ULONG WINAPI PerfCloseQueryHandle(HANDLE query);
ULONG WINAPI PerfCloseQueryHandle(HANDLE query)
{
    struct consumer_query *q = query_of(query);
    struct link_answer answer = {0};
    struct ndr_call call = {.method = PCQ_CLOSE_QUERY};
    if (!q)
        return ERROR_INVALID_HANDLE;
    memcpy(call.handle, q->handle, sizeof call.handle);
    if (q->link)
        link_ask(q->link, &call, &answer); /* a remote computer that has shut down has already closed the query */
    link_answer_free(&answer);
    free_query(q);
    return ERROR_SUCCESS;
}

static ULONG ask_query(HANDLE query, enum pcq_method method, void *bytes, DWORD room, LPDWORD actual)
{
    struct consumer_query *q = query_of(query);
    struct pcq_buffer out = {.bytes = bytes, .room = bytes ? room : 0};
    struct ndr_call call = {.method = method};
    if (!q)
        return ERROR_INVALID_HANDLE;
    if (!actual)
        return ERROR_INVALID_PARAMETER;
    memcpy(call.handle, q->handle, sizeof call.handle);
    lock_enter(&q->lock);
    ULONG error = q->link ? call_there(q->link, &call, &out) : call_here(&call, q->here, &out);
    lock_leave(&q->lock);
    *actual = error ? out.needed : out.written;
    return error;
}

ULONG WINAPI PerfQueryCounterInfo(HANDLE query, struct pcq_identifier *counters, DWORD bytes, LPDWORD actual);
ULONG WINAPI PerfQueryCounterInfo(HANDLE query, struct pcq_identifier *counters, DWORD bytes, LPDWORD actual)
{
    return ask_query(query, PCQ_QUERY_INFO, counters, bytes, actual);
}

ULONG WINAPI PerfQueryCounterData(HANDLE query, struct pcq_data *data, DWORD bytes, LPDWORD actual);
ULONG WINAPI PerfQueryCounterData(HANDLE query, struct pcq_data *data, DWORD bytes, LPDWORD actual)
{
    return ask_query(query, PCQ_QUERY_DATA, data, bytes, actual);
}

/* Adds or removes counters. The result for each counter is the status in its block. */
static ULONG consumer_change_counters(HANDLE query, struct pcq_identifier *counters, DWORD bytes, bool add)
{
    struct consumer_query *q = query_of(query);
    struct link_answer answer = {0};
    struct ndr_call call = {
        .method = PCQ_VALIDATE_COUNTERS, .data = (const uint8_t *)counters, .size = bytes, .add = add};
    if (!q)
        return ERROR_INVALID_HANDLE;
    if (!counters)
        return ERROR_INVALID_PARAMETER;
    if (!q->link)
        return pcq_validate_counters(q->here, counters, bytes, add);
    memcpy(call.handle, q->handle, sizeof call.handle);
    lock_enter(&q->lock);
    HRESULT hr = link_ask(q->link, &call, &answer);
    lock_leave(&q->lock);
    if (SUCCEEDED(hr))
        memcpy(counters, answer.decoded.data, answer.decoded.size); /* the answer has as many counters as the request */
    ULONG error = FAILED(hr) ? error_of(hr) : answer.decoded.status;
    link_answer_free(&answer);
    return error;
}

ULONG WINAPI PerfAddCounters(HANDLE query, struct pcq_identifier *counters, DWORD bytes);
ULONG WINAPI PerfAddCounters(HANDLE query, struct pcq_identifier *counters, DWORD bytes)
{
    return consumer_change_counters(query, counters, bytes, true);
}

ULONG WINAPI PerfDeleteCounters(HANDLE query, struct pcq_identifier *counters, DWORD bytes);
ULONG WINAPI PerfDeleteCounters(HANDLE query, struct pcq_identifier *counters, DWORD bytes)
{
    return consumer_change_counters(query, counters, bytes, false);
}
