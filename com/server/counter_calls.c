/* SPDX-License-Identifier: MIT */
/* The eight calls of MS-PCQ. The names and parameters come from idl/perflib.idl. szMachine is not used: it is for
   counter providers that represent several computers. */
#include "com/server/counter_server.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "perflib_server.h"

#include <stdio.h>
#include <string.h>

static const struct pcq_settings *rules;
static struct pcq_server *server;

HRESULT counter_calls_begin(const struct pcq_settings *settings, struct pcq_server **out)
{
    struct catalogue *catalogue;
    PDH_STATUS status = catalogue_open_real_time(&catalogue);
    rules = settings;
    HRESULT hr = status != ERROR_SUCCESS ? E_OUTOFMEMORY : pcq_server_open(catalogue, &server);
    *out = server;
    return hr;
}

/* The limit for the buffers of all calls together. The limit is needed because a client can request a buffer of 1 GB,
   which RPC allocates before this code runs. No answer exceeds 64 MB. */
#define MOST_BYTES ((LONGLONG)256 << 20)
static volatile LONGLONG held;

void __RPC_FAR *__RPC_USER MIDL_user_allocate(size_t size)
{
    LONGLONG all = InterlockedAdd64(&held, (LONGLONG)size);
    size_t *p = size <= (size_t)MOST_BYTES && all <= MOST_BYTES ? memory_alloc(size + 2 * sizeof *p) : NULL;
    if (!p) {
        InterlockedAdd64(&held, -(LONGLONG)size);
        return NULL;
    }
    *p = size;
    return p + 2; /* stubs rely on an alignment of 16 bytes */
}

void __RPC_USER MIDL_user_free(void __RPC_FAR *bytes)
{
    size_t *p = bytes;
    if (p) {
        InterlockedAdd64(&held, -(LONGLONG)p[-2]);
        memory_free(p - 2);
    }
}

/* ---- the caller ---- */

enum { ADDRESS = 64 };
/* Parses the origin of a call from its binding ("ncacn_ip_tcp:127.0.0.1[49170]"). Returns true for a pipe. `address`
   becomes "" for a pipe or a local call, and "unknown" if the binding contains no address. */
static bool read_origin(char address[ADDRESS])
{
    static const char tcp[] = "ncacn_ip_tcp:", pipe[] = "ncacn_np:", local[] = "ncalrpc:";
    RPC_BINDING_HANDLE binding = NULL;
    RPC_CSTR text = NULL;
    bool by_pipe = false;
    snprintf(address, ADDRESS, "unknown");
    if (RpcBindingServerFromClient(NULL, &binding) == RPC_S_OK) {
        if (RpcBindingToStringBindingA(binding, &text) == RPC_S_OK) {
            const char *from = (const char *)text, *at = strstr(from, tcp);
            by_pipe = strstr(from, pipe) != NULL;
            if (at && at[strlen(tcp)])
                snprintf(address, ADDRESS, "%.*s", (int)strcspn(at + strlen(tcp), "["), at + strlen(tcp));
            else if (!at && (by_pipe || strstr(from, local)))
                *address = 0;
            RpcStringFreeA(&text);
        }
        RpcBindingFree(&binding);
    }
    return by_pipe;
}

/* Returns the token that the call impersonates. */
static HRESULT call_token(void **out)
{
    RPC_STATUS status = RpcImpersonateClient(NULL);
    *out = NULL;
    if (status != RPC_S_OK)
        return HRESULT_FROM_WIN32((DWORD)status);
    HRESULT hr =
        OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, TRUE, out) ? S_OK : HRESULT_FROM_WIN32(GetLastError());
    RpcRevertToSelf();
    return hr;
}

/* Checks the access of the current call; a description of the client is stored in `client`. */
static DWORD call_check_access(char *client, size_t room)
{
    char address[ADDRESS];
    ULONG process = 0;
    unsigned long level = 0;
    bool wine = os_is_wine(), by_pipe = read_origin(address);
    RPC_STATUS local = *address || by_pipe ? RPC_S_INVALID_BINDING : I_RpcBindingInqLocalClientPID(NULL, &process);
    struct pcq_call call = {
        .level_known = !wine, .level = RPC_C_AUTHN_LEVEL_NONE, .address = *address ? address : NULL};
    /* Wine does not report the process of a client on a pipe. The client is treated as this process, because only
       programs in the prefix can open the pipe, and all of them have the same account. */
    call.caller.in_process = (wine && by_pipe && !*address) || (local == RPC_S_OK && process == GetCurrentProcessId());
    call.caller.process = local == RPC_S_OK ? process : 0;
    call.caller.token = wine ? NULL : call_token;
    /* A call without authentication has no authentication level. */
    if (RpcBindingInqAuthClientA(NULL, NULL, NULL, &level, NULL, NULL) == RPC_S_OK)
        call.level = level;
    snprintf(client, room, "%s %lu", address, process);
    TRACE_STEP(rpc, "call to the counter server from client %s", client);
    return pcq_access_check(&call, rules);
}

/* Checks the access, and runs the method with a buffer. */
#define ANSWER(method)                                                                                                 \
    do {                                                                                                               \
        struct pcq_buffer out = {.bytes = lpData, .room = dwInSize};                                                   \
        char client[128];                                                                                              \
        DWORD error = call_check_access(client, sizeof client);                                                        \
        if (error == ERROR_SUCCESS)                                                                                    \
            error = method;                                                                                            \
        *pdwOutSize = out.written;                                                                                     \
        *pdwRtnSize = out.needed;                                                                                      \
        return error;                                                                                                  \
    } while (0)

/* Raises a fault for a NULL handle. If a client sends a handle of zeros, Wine passes NULL (behaviour 25). According to
   C706, a handle of zeros causes a fault, as any unknown handle does. */
static void expect_query(RPC_HQUERY query)
{
    if (!query)
        RpcRaiseException(RPC_X_SS_CONTEXT_MISMATCH);
}

static GUID guid_of(const PERFLIB_GUID *g)
{
    GUID guid;
    memcpy(&guid, g, sizeof guid);
    return guid;
}

error_status_t PerflibV2EnumerateCounterSet(wchar_t *szMachine, ULONG dwInSize, ULONG *pdwOutSize, ULONG *pdwRtnSize,
                                            PERFLIB_GUID *lpData)
{
    (void)szMachine;
    ANSWER(pcq_enumerate_sets(server, &out));
}

error_status_t PerflibV2QueryCounterSetRegistrationInfo(wchar_t *szMachine, PERFLIB_GUID *CounterSetGuid,
                                                        ULONG RequestCode, ULONG RequestLCID, ULONG dwInSize,
                                                        ULONG *pdwOutSize, ULONG *pdwRtnSize, unsigned char *lpData)
{
    GUID guid = guid_of(CounterSetGuid);
    (void)szMachine;
    ANSWER(pcq_registration_info(server, &guid, RequestCode, RequestLCID, &out));
}

error_status_t PerflibV2EnumerateCounterSetInstances(wchar_t *szMachine, PERFLIB_GUID *CounterSetGuid, ULONG dwInSize,
                                                     ULONG *pdwOutSize, ULONG *pdwRtnSize, unsigned char *lpData)
{
    GUID guid = guid_of(CounterSetGuid);
    (void)szMachine;
    ANSWER(pcq_enumerate_instances(server, &guid, &out));
}

error_status_t PerflibV2OpenQueryHandle(wchar_t *szMachine, PRPC_HQUERY phQuery)
{
    struct pcq_query *query = NULL;
    char client[128];
    (void)szMachine;
    DWORD error = call_check_access(client, sizeof client);
    if (error == ERROR_SUCCESS)
        error = pcq_open_query(server, client, &query);
    *phQuery = query;
    return error;
}

error_status_t PerflibV2CloseQueryHandle(PRPC_HQUERY phQuery)
{
    char client[128];
    DWORD error = call_check_access(client, sizeof client);
    if (error == ERROR_SUCCESS) {
        pcq_close_query(*phQuery);
        *phQuery = NULL;
    }
    return error;
}

error_status_t PerflibV2QueryCounterInfo(RPC_HQUERY hQuery, ULONG dwInSize, ULONG *pdwOutSize, ULONG *pdwRtnSize,
                                         unsigned char *lpData)
{
    expect_query(hQuery);
    ANSWER(pcq_query_info(hQuery, &out));
}

error_status_t PerflibV2QueryCounterData(RPC_HQUERY hQuery, ULONG dwInSize, ULONG *pdwOutSize, ULONG *pdwRtnSize,
                                         unsigned char *lpData)
{
    expect_query(hQuery);
    ANSWER(pcq_query_data(hQuery, &out));
}

error_status_t PerflibV2ValidateCounters(RPC_HQUERY hQuery, ULONG dwInSize, unsigned char *lpData, ULONG dwAdd)
{
    char client[128];
    expect_query(hQuery);
    DWORD error = call_check_access(client, sizeof client);
    return error == ERROR_SUCCESS ? pcq_validate_counters(hQuery, lpData, dwInSize, dwAdd != 0) : error;
}

/* Called if a client has disconnected without closing its query. */
void __RPC_USER RPC_HQUERY_rundown(RPC_HQUERY query)
{
    pcq_close_query(query);
}
