/* SPDX-License-Identifier: MIT */
/* What programs send and receive by TCP and UDP, call by call, and connections. Linux tells addresses when a connection
   changes its state, and sizes without them, so each socket is remembered by its address in the kernel. */
#include "engine/etw/kernel/tracepoint.h"

#include <string.h>

enum {
    STATE_KEY,
    STATE_OLD,
    STATE_NEW,
    STATE_FROM_PORT,
    STATE_TO_PORT,
    STATE_FAMILY,
    STATE_FROM,
    STATE_TO,
    STATE_FROM_6,
    STATE_TO_6
};
enum { LENGTH_KEY, LENGTH_FAMILY, LENGTH_PROTOCOL, LENGTH_RESULT, LENGTH_FLAGS };
enum { AGAIN_KEY, AGAIN_FAMILY };
enum {
    FAMILY_4 = 2,
    FAMILY_6 = 10,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    PROTOCOL_MPTCP = 262,
    PEEKED = 2,
    NET_VERSION = 2
};
/* Of a TCP connection. */
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_SYN_RECEIVED = 3, TCP_CLOSED = 7, TCP_LISTENS = 10 };

struct kernel_socket {
    uint32_t thread;                     /* who used it last; 0: not known */
    uint16_t family, from_port, to_port; /* ports in the host's order */
    uint8_t from[16], to[16];
};

void network_begin(struct kernel_tracer *k, size_t most)
{
    k->sockets = (struct id_map){.item_size = sizeof(struct kernel_socket), .most = most};
}

static void copy(const struct tracepoint_event *e, int field, uint8_t *to, size_t size)
{
    uint32_t length;
    const uint8_t *bytes = ring_bytes(e->event, &e->fields[field], &length);
    if (bytes && length == size)
        memcpy(to, bytes, size);
}

static void put_port(struct kernel_data *d, uint16_t port)
{
    kernel_data_u8(d, (uint8_t)(port >> 8)); /* network order */
    kernel_data_u8(d, (uint8_t)port);
}

static HRESULT emit(struct kernel_tracer *k, const struct tracepoint_event *e, const struct kernel_socket *s,
                    enum kernel_hook group, uint32_t type, uint32_t size)
{
    struct kernel_data *d = &k->data;
    const size_t address = s->family == FAMILY_6 ? 16 : 4;
    const uint32_t thread = s->thread ? s->thread : e->thread;
    kernel_data_clear(d);
    kernel_data_u32(d, kernel_process_id(k, kernel_process_of(k, thread)));
    kernel_data_u32(d, size);
    kernel_data_bytes(d, s->to, address);
    kernel_data_bytes(d, s->from, address);
    put_port(d, s->to_port);
    put_port(d, s->from_port);
    if (group == HOOK_TCP && type == NET_SEND) {
        kernel_data_u32(d, 0); /* start and end of sending, of which Linux tells the end alone: the event's own time */
        kernel_data_u32(d, 0);
    } else if (type == NET_CONNECT || type == NET_ACCEPT) {
        for (int option = 0; option < 4; option++)
            kernel_data_u16(d, 0); /* segment size, selective acknowledgements, time stamps, window scale */
        kernel_data_u32(d, 0);     /* window */
        kernel_data_u16(d, 0);     /* scales */
        kernel_data_u16(d, 0);
    }
    kernel_data_u32(d, 0); /* sequence number */
    kernel_data_u64(d, 0); /* connection */
    return kernel_emit(k, e, (enum kernel_hook)((uint32_t)group + type + (s->family == FAMILY_6 ? NET_V6 : 0)),
                       NET_VERSION);
}

/* Key 0 is no address. */
static struct kernel_socket *socket_of(struct kernel_tracer *k, const struct tracepoint_event *e, int key, int family)
{
    const uint16_t number = (uint16_t)tracepoint_number(e, family);
    struct kernel_socket *s = NULL;
    if (number == FAMILY_4 || number == FAMILY_6)
        s = id_map_put(&k->sockets, (uint64_t)tracepoint_number(e, key));
    if (s)
        s->family = number;
    return s;
}

static HRESULT take_state(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const int64_t old = tracepoint_number(e, STATE_OLD), new = tracepoint_number(e, STATE_NEW);
    struct kernel_socket *s = socket_of(k, e, STATE_KEY, STATE_FAMILY);
    HRESULT hr = S_OK;
    if (!s)
        return S_OK;
    s->from_port = (uint16_t)tracepoint_number(e, STATE_FROM_PORT);
    s->to_port = (uint16_t)tracepoint_number(e, STATE_TO_PORT);
    copy(e, s->family == FAMILY_6 ? STATE_FROM_6 : STATE_FROM, s->from, s->family == FAMILY_6 ? 16 : 4);
    copy(e, s->family == FAMILY_6 ? STATE_TO_6 : STATE_TO, s->to, s->family == FAMILY_6 ? 16 : 4);
    if (new == TCP_SYN_SENT)
        s->thread = e->thread;
    if (new == TCP_ESTABLISHED && (old == TCP_SYN_SENT || old == TCP_SYN_RECEIVED))
        hr = emit(k, e, s, HOOK_TCP, old == TCP_SYN_SENT ? NET_CONNECT : NET_ACCEPT, 0);
    if (new == TCP_CLOSED) {
        if (old != TCP_SYN_SENT && old != TCP_LISTENS)
            hr = emit(k, e, s, HOOK_TCP, NET_DISCONNECT, 0);
        id_map_remove(&k->sockets, (uint64_t)tracepoint_number(e, STATE_KEY));
    }
    return hr;
}

/* Wine's server looks at what has come without taking it, which is no receiving. */
static HRESULT take_length(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t type)
{
    const int64_t bytes = tracepoint_number(e, LENGTH_RESULT);
    const int64_t protocol = tracepoint_number(e, LENGTH_PROTOCOL);
    if ((protocol != PROTOCOL_TCP && protocol != PROTOCOL_MPTCP && protocol != PROTOCOL_UDP) || bytes <= 0 ||
        (type == NET_RECEIVE && (tracepoint_number(e, LENGTH_FLAGS) & PEEKED) != 0))
        return S_OK;
    struct kernel_socket *s = socket_of(k, e, LENGTH_KEY, LENGTH_FAMILY);
    if (!s)
        return S_OK;
    s->thread = e->thread;
    return emit(k, e, s, protocol == PROTOCOL_UDP ? HOOK_UDP : HOOK_TCP, type, (uint32_t)bytes);
}

static HRESULT take_send(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    return take_length(k, e, NET_SEND);
}

static HRESULT take_receive(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    return take_length(k, e, NET_RECEIVE);
}

static HRESULT take_again(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const struct kernel_socket *s = socket_of(k, e, AGAIN_KEY, AGAIN_FAMILY);
    return s ? emit(k, e, s, HOOK_TCP, NET_RETRANSMIT, 0) : S_OK;
}

#define OF_LENGTH                                                                                                      \
    {                                                                                                                  \
        [LENGTH_KEY] = "sk", [LENGTH_FAMILY] = "family", [LENGTH_PROTOCOL] = "protocol", [LENGTH_RESULT] = "ret",      \
        [LENGTH_FLAGS] = "flags"                                                                                       \
    }

const struct tracepoint network_tracepoints[] = {
    {"sock",
     "inet_sock_set_state",
     NULL,
     FLAG_NETWORK,
     0,
     take_state,
     {[STATE_KEY] = "skaddr",
      [STATE_OLD] = "oldstate",
      [STATE_NEW] = "newstate",
      [STATE_FROM_PORT] = "sport",
      [STATE_TO_PORT] = "dport",
      [STATE_FAMILY] = "family",
      [STATE_FROM] = "saddr",
      [STATE_TO] = "daddr",
      [STATE_FROM_6] = "saddr_v6",
      [STATE_TO_6] = "daddr_v6"}},
    {"sock", "sock_send_length", "family == 2 || family == 10", FLAG_NETWORK, FLAG_NETWORK, take_send, OF_LENGTH},
    {"sock", "sock_recv_length", "family == 2 || family == 10", FLAG_NETWORK, 0, take_receive, OF_LENGTH},
    {"tcp",
     "tcp_retransmit_skb",
     NULL,
     FLAG_NETWORK,
     0,
     take_again,
     {[AGAIN_KEY] = "skaddr", [AGAIN_FAMILY] = "family"}},
    {0},
};
