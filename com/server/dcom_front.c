/* SPDX-License-Identifier: MIT */
/* The process to which remote clients connect. This process contains the listener, and a thread for each busy
   connection:

       client ── rpc_port ── front_session ──┬── pipe ──> the service
                                             └── waits <── pipe ── answers, by the session's number

   One of the threads that wait for answers reads the pipe for all of them. If only one client makes calls, its thread
   therefore waits for no other thread. This process has the password hashes and parses everything that arrives before a
   logon. If the process crashes, the connections are lost, and the service starts the process again. */
#include "com/remote/calls.h"
#include "com/server/dcom.h"
#include "com/server/dcom_journal.h"
#include "com/server/dcom_link.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/rpc/port.h"

#include <stdio.h>
#include <string.h>

enum { SESSION_BUCKETS = 64 };

struct front_session {
    struct front_session *next;
    uint32_t id;
    char address[LINK_ADDRESS_BYTES], own[LINK_ADDRESS_BYTES];
    bool is_open; /* the service knows the session: it receives LINK_OPEN only before the first call, so that silent
                     connections cost nothing */
    /* Protected by front.lock: */
    struct front_session *next_waiting, **waiting_at; /* waiting_at: the list's pointer to this session, or NULL */
    struct thread_condition answered; /* an answer has arrived, or the session's thread must read the answers */
    bool has_answer;
    struct link_header header;
    uint8_t *body;
};

static struct {
    HANDLE to_service, service;
    struct lock write_lock; /* protects to_service, so that messages are written as a whole */
    struct lock lock;       /* protects the sessions and their answers */
    struct front_session *sessions[SESSION_BUCKETS];
    struct front_session *waiting; /* sessions that wait for an answer */
    bool is_reading;               /* a waiting thread reads from_service */
    struct dcom_input from_service;
    uint32_t last_id;
    struct orpc_server *names; /* used only to determine which interfaces exist */
    struct dual_strings bindings;
    uint16_t port; /* the port that clients receive in object references */
} front = {.lock = LOCK_INIT, .write_lock = LOCK_INIT};

/* Ends this process. Called if the service has ended or the pipe is broken, because no call can be answered any
   more. */
static void front_exit(void)
{
    TerminateProcess(GetCurrentProcess(), 0);
}

static void front_send(struct ndr_writer *message)
{
    lock_enter(&front.write_lock);
    const bool sent = message->failed || dcom_bytes_write(front.to_service, message->bytes, message->size);
    lock_leave(&front.write_lock);
    if (message->bytes)
        memory_wipe(message->bytes, message->size);
    ndr_writer_free(message);
    if (!sent)
        front_exit();
}

/* ---- sessions ---- */

static struct front_session **front_bucket(uint32_t id)
{
    return &front.sessions[id % SESSION_BUCKETS];
}

/* The caller must hold the lock. */
static struct front_session *front_find(uint32_t id)
{
    struct front_session *s = *front_bucket(id);
    while (s && s->id != id)
        s = s->next;
    return s;
}

static void binding_set(struct dual_strings *bindings, size_t at, const char *host)
{
    char *out = bindings->addresses[at];
    if (front.port == DCOM_PORT)
        text_fit(out, BINDING_BYTES, host);
    else
        snprintf(out, BINDING_BYTES, "%.200s[%u]", host, (unsigned)front.port);
}

static HRESULT session_open(void *user, const char *address, const char *own, void **session)
{
    struct front_session *s = memory_zero(1, sizeof *s);
    (void)user;
    *session = s;
    if (!s)
        return E_OUTOFMEMORY;
    text_fit(s->address, sizeof s->address, address);
    text_fit(s->own, sizeof s->own, own);
    lock_enter(&front.lock);
    do
        s->id = ++front.last_id;
    while (front_find(s->id));
    s->next = *front_bucket(s->id);
    *front_bucket(s->id) = s;
    lock_leave(&front.lock);
    return S_OK;
}

static void session_announce(struct front_session *s)
{
    struct dual_strings bindings = front.bindings;
    struct ndr_writer message = {0};
    if (s->is_open)
        return;
    binding_set(&bindings, 0, s->own); /* the address to which this client connected comes first, because impacket uses
                                          the first binding that contains the name or address that its user entered */
    link_write_open(&message, s->id, s->address, &bindings);
    front_send(&message);
    s->is_open = true;
}

static void session_close(void *user, void *session)
{
    struct front_session *s = session;
    struct ndr_writer message = {0};
    (void)user;
    if (s->is_open) {
        link_write_close(&message, s->id);
        front_send(&message);
    }
    lock_enter(&front.lock);
    struct front_session **at = front_bucket(s->id);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    lock_leave(&front.lock);
    memory_free(s);
}

/* ---- answers ---- */

/* Call the next four functions while holding the lock. */
static void waiting_add(struct front_session *s)
{
    s->next_waiting = front.waiting;
    s->waiting_at = &front.waiting;
    if (s->next_waiting)
        s->next_waiting->waiting_at = &s->next_waiting;
    front.waiting = s;
}

static void waiting_remove(struct front_session *s)
{
    if (!s->waiting_at)
        return;
    *s->waiting_at = s->next_waiting;
    if (s->next_waiting)
        s->next_waiting->waiting_at = s->waiting_at;
    s->waiting_at = NULL;
}

/* Passes an answer to its session, and takes ownership of the body. False: no session expects the answer, and the
   caller keeps the body. */
static bool answer_deliver(const struct link_header *header, uint8_t *body)
{
    struct front_session *s = header->kind == LINK_ANSWER ? front_find(header->session) : NULL;
    if (!s || s->has_answer)
        return false;
    s->header = *header;
    s->body = body;
    s->has_answer = true;
    waiting_remove(s);
    thread_condition_wake(&s->answered);
    return true;
}

/* Reads one answer, for any session. Releases the lock while it reads. */
static void answer_read(void)
{
    struct link_header header;
    uint8_t *body;
    front.is_reading = true;
    lock_leave(&front.lock);
    if (!dcom_message_read(&front.from_service, &header, &body))
        front_exit();
    lock_enter(&front.lock);
    front.is_reading = false;
    if (!answer_deliver(&header, body))
        dcom_message_free(&header, body);
}

static void session_await(struct front_session *s)
{
    lock_enter(&front.lock);
    if (!s->has_answer)
        waiting_add(s);
    while (!s->has_answer)
        if (front.is_reading)
            thread_condition_wait(&s->answered, &front.lock, UINT32_MAX);
        else
            answer_read();
    s->has_answer = false;
    if (!front.is_reading && front.waiting) /* another thread continues to read */
        thread_condition_wake(&front.waiting->answered);
    lock_leave(&front.lock);
}

static uint32_t session_call(void *user, void *session, const struct rpc_call *call, struct ndr_writer *stub)
{
    struct front_session *s = session;
    struct ndr_writer message = {.most = LINK_MESSAGE_MOST};
    const uint8_t *bytes;
    size_t size;
    uint32_t fault;
    (void)user;
    session_announce(s);
    link_write_call(&message, s->id, call);
    if (message.failed) {
        ndr_writer_free(&message);
        return RPC_FAULT_NO_MEMORY;
    }
    front_send(&message);
    session_await(s);
    if (!link_read_answer(s->body, s->header.size, &fault, &bytes, &size))
        fault = RPC_FAULT_PROTOCOL;
    if (!fault)
        ndr_write_bytes(stub, bytes, size);
    dcom_message_free(&s->header, s->body);
    s->body = NULL;
    return stub->failed ? RPC_FAULT_NO_MEMORY : fault;
}

/* ---- events ---- */

static void session_report(void *user, const struct rpc_port_event *e)
{
    (void)user;
    dcom_event_report(NULL, e);
}

/* ---- main ---- */

static bool front_serves(void *user, const GUID *iid, uint32_t version)
{
    (void)user;
    return orpc_server_serves(front.names, iid, version);
}

static struct rpc_port_settings port_settings_of(const struct dcom_settings *s)
{
    const uint32_t *limits = s->limits;
    return (struct rpc_port_settings){.address = strcmp(s->address, DCOM_ALL_ADDRESSES) == 0 ? NULL : s->address,
                                      .port = s->port,
                                      .from = s->from,
                                      .limits = {.connections = limits[DCOM_LIMIT_connections],
                                                 .connections_of_address = limits[DCOM_LIMIT_connections_of_address],
                                                 .delay_ms = limits[DCOM_LIMIT_logon_delay_ms],
                                                 .failures = limits[DCOM_LIMIT_logon_failures],
                                                 .block_ms = limits[DCOM_LIMIT_block_seconds] * 1000},
                                      .rpc_limits = {.request = limits[DCOM_LIMIT_request_bytes],
                                                     .response = limits[DCOM_LIMIT_response_bytes],
                                                     .logon_ms = limits[DCOM_LIMIT_logon_seconds] * 1000,
                                                     .silence_ms = limits[DCOM_LIMIT_idle_seconds] * 1000}};
}

static HRESULT front_open(const struct dcom_settings *s)
{
    static struct rpc_port_settings settings;
    static struct auth_accounts accounts;
    const struct rpc_port_handler handler = {
        .open = session_open, .call = session_call, .close = session_close, .report = session_report};
    char name[OS_DNS_NAME_BYTES];
    uint16_t port;
    settings = port_settings_of(s);
    front.port = s->advertised_port ? s->advertised_port : s->port;
    os_dns_name(name);
    front.bindings.count = *name ? 2 : 1;
    binding_set(&front.bindings, 1, name);
    HRESULT hr = dcom_auth_accounts(&accounts);
    if (SUCCEEDED(hr))
        hr = orpc_server_open(&remote_handler, NULL, &front.names);
    if (SUCCEEDED(hr))
        hr = rpc_port_open(&settings, &accounts, front_serves, &handler, &port);
    char *address = text_format("%s port %u", s->address, (unsigned)s->port);
    dcom_event_write(SUCCEEDED(hr) ? DCOM_OPENED : DCOM_NOT_OPENED,
                     &(struct dcom_event_facts){.address = address, .error = hr});
    memory_free(address);
    return hr;
}

static HANDLE handle_of(const WCHAR *text)
{
    return (HANDLE)(uintptr_t)_wcstoui64(text, NULL, 10);
}

int dcom_front_main(const WCHAR *read_handle, const WCHAR *write_handle, const WCHAR *service_handle)
{
    static struct dcom_settings settings;
    front.from_service.pipe = handle_of(read_handle);
    front.to_service = handle_of(write_handle);
    front.service = handle_of(service_handle);
    HRESULT hr = dcom_settings_read(&settings);
    if (SUCCEEDED(hr) && GetFileType(front.from_service.pipe) != FILE_TYPE_PIPE)
        hr = error_set(E_INVALIDARG, "/dcom is only for the service OpenPLA, which passes the handles of two pipes");
    if (SUCCEEDED(hr))
        hr = front_open(&settings);
    if (FAILED(hr)) {
        fprintf(stderr, "openplasrv: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
        return 1;
    }
    /* While no call waits, no thread reads the pipe, so the end of the service must be detected here. */
    WaitForSingleObject(front.service, INFINITE);
    front_exit();
    return 0;
}
