/* SPDX-License-Identifier: MIT */
/* The process that serves counters, and the code in the service that starts it. */
#include "com/server/counter_server.h"

#include "com/server/dcom_journal.h"
#include "com/server/dcom_settings.h"
#include "com/server/server.h"
#include "engine/base/clock.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/pdh/pcq_server.h"

#include <stdio.h>
#include <wchar.h>

#define PIPE           "\\pipe\\winreg" /* MS-PCQ 2.1 */
#define LOCAL_ENDPOINT "OpenPLACounters"
#define WAITING        20         /* pending connections */
#define MOST_FRAGMENT  (1u << 20) /* maximum size of a call in bytes */
#define START_AGAIN_MS 500
#define MOST_PAUSE_MS  30000 /* maximum delay between failed starts, for example while the port is in use */
#define LIVED_MS       10000 /* a child that ran this long counts as started successfully */
#define LOOK_MS        200

static bool listener_report(long error, const char *protocol, const char *endpoint)
{
    if (error)
        fprintf(stderr, "openplasrv: error %ld: %s:%s\n", error, protocol, endpoint);
    else
        fprintf(stderr, "openplasrv: counters are served at %s:%s\n", protocol, endpoint);
    fflush(stderr);
    return !error;
}

/* Listens at the endpoint. True: it succeeded. */
static bool offer(const char *protocol, const char *endpoint)
{
    return listener_report((long)RpcServerUseProtseqEpA((RPC_CSTR)protocol, WAITING, (RPC_CSTR)endpoint, NULL),
                           protocol, endpoint);
}

#ifdef _WIN64
static void journal_report(const struct rpc_port_event *e)
{
    dcom_event_report("counters", e);
}
#endif

/* Listens at the TCP port. Under Wine this uses OpenPLA's own RPC, because Wine's RPC runtime occasionally hangs
   (DECISIONS 110). In Wine's RPC runtime, one thread waits for a connection's next call while another thread still
   sends an answer. Both threads use the same event of the connection, and sometimes both wait forever. */
static bool offer_port(struct pcq_server *server, const struct pcq_settings *settings, const char *port)
{
    if (!os_is_wine())
        return offer("ncacn_ip_tcp", port);
    static struct auth_accounts accounts;
#ifdef _WIN64 /* no server is a 32-bit program (DECISIONS 42) */
    void (*const report)(const struct rpc_port_event *) = journal_report;
    HRESULT hr = dcom_auth_accounts(&accounts);
#else
    void (*const report)(const struct rpc_port_event *) = NULL;
    HRESULT hr = E_NOTIMPL;
#endif
    if (SUCCEEDED(hr))
        hr = counter_port_open(server, settings, &accounts, report);
    return listener_report(FAILED(hr) ? (long)HRESULT_CODE(hr) : 0, "ncacn_ip_tcp", port);
}

static HRESULT listen_by(struct pcq_server *server, const struct pcq_settings *settings)
{
    char port[8];
    /* Under Wine no call is authenticated, so this flag would reject all calls. */
    unsigned flags = os_is_wine() ? 0 : RPC_IF_ALLOW_SECURE_ONLY;
    RPC_STATUS status = RPC_S_OK;
    if (!os_is_wine())
        status = RpcServerRegisterAuthInfoA(NULL, RPC_C_AUTHN_GSS_NEGOTIATE, NULL, NULL);
    if (status == RPC_S_OK)
        status = RpcServerRegisterIf2(PerflibV2_v1_0_s_ifspec, NULL, NULL, flags, RPC_C_LISTEN_MAX_CALLS_DEFAULT,
                                      MOST_FRAGMENT, NULL);
    if (status != RPC_S_OK)
        return HRESULT_FROM_WIN32((DWORD)status);
    snprintf(port, sizeof port, "%u", settings->port);
    bool any = offer("ncacn_np", PIPE);
    any = offer("ncalrpc", LOCAL_ENDPOINT) || any;
    if (settings->port && !offer_port(server, settings, port))
        any = false; /* a configured port is required, even if clients can use the other endpoints */
    if (!any)
        return error_set(HRESULT_FROM_WIN32(RPC_S_NO_ENDPOINT_FOUND),
                         "cannot serve counters on the port in " PCQ_PORT_VALUE ": %s", port);
    status = RpcServerListen(1, RPC_C_LISTEN_MAX_CALLS_DEFAULT, TRUE);
    return status == RPC_S_OK ? S_OK : HRESULT_FROM_WIN32((DWORD)status);
}

int counter_server_main(const WCHAR *parent)
{
    static struct pcq_settings settings;
    struct pcq_server *server;
    HANDLE process = parent ? OpenProcess(SYNCHRONIZE, FALSE, wcstoul(parent, NULL, 10)) : NULL;
    HRESULT hr = parent && !process ? HRESULT_FROM_WIN32(GetLastError()) : pcq_settings_read(&settings);
    if (hr == S_FALSE)
        hr = error_set(E_INVALIDARG, "missing setting: " PCQ_PORT_VALUE);
    if (SUCCEEDED(hr))
        hr = counter_calls_begin(&settings, &server);
    if (SUCCEEDED(hr))
        hr = listen_by(server, &settings);
    if (FAILED(hr)) {
        fprintf(stderr, "openplasrv: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
        return 1;
    }
    WaitForSingleObject(process ? process : GetCurrentProcess(), INFINITE);
    /* A normal exit would not wait for running calls. */
    TerminateProcess(GetCurrentProcess(), 0);
    return 0;
}

/* ---- the service's side ---- */

static struct thread *keeper;
static struct wakeup *end;
static struct process *idle; /* without this process, Wine would stop the service when the last other program exits */

/* Keeps one child process running until the service stops. */
static void child_keep_running(void *user)
{
    uint32_t pause = START_AGAIN_MS;
    (void)user;
    for (bool over = false; !over;) {
        struct process *child;
        uint64_t started = clock_monotonic_ms();
        HRESULT hr = server_child_start("/counters", &child);
        while (SUCCEEDED(hr) && !over && process_wait(child, LOOK_MS, NULL) == S_FALSE)
            over = wakeup_wait(end, 0);
        if (over)
            idle_child_end(child);
        else
            process_close(child);
        if (clock_passed_ms(started, clock_monotonic_ms()) >= LIVED_MS)
            pause = START_AGAIN_MS;
        over = over || wakeup_wait(end, pause);
        pause = pause * 2 < MOST_PAUSE_MS ? pause * 2 : MOST_PAUSE_MS;
    }
    idle_child_end(idle);
}

void counter_child_begin(void)
{
    struct pcq_settings settings;
    HRESULT hr = pcq_settings_read(&settings);
    pcq_settings_free(&settings);
    if (hr == S_OK)
        hr = wakeup_create(&end);
    if (hr == S_OK && os_is_wine())
        idle_child_start(&idle);
    if (hr == S_OK)
        hr = thread_start(child_keep_running, NULL, &keeper);
    if (FAILED(hr))
        fprintf(stderr, "openplasrv: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
}

void counter_child_end(void)
{
    if (keeper) {
        wakeup_set(end);
        thread_wait(keeper, UINT32_MAX);
    }
}
