/* SPDX-License-Identifier: MIT */
/* Creates events when disk requests start and when they complete, and finds the thread that issued each request. Also
   creates events for TCP and UDP traffic of programs. Disks are numbered in the order of their names. Devices built on
   other devices (dm, md) or on nothing (loop, ram) are not treated as disks. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/etw/kernel/tracepoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

enum { START_DEVICE, START_SECTOR, START_BYTES, START_KIND };
enum { DONE_DEVICE, DONE_SECTOR, DONE_SECTORS, DONE_KIND };
enum { DISK_VERSION = 3, SECTOR_BYTES = 512 };
/* The IrpFlags that are most frequent in traces from Windows. */
enum { FLAGS_OF_TRANSFER = 0x60043, FLAGS_OF_FLUSH = 0x60000 };
#define FLUSH_SECTOR ((UINT64_C(1) << 56) - 1)

struct disk_request {
    uint64_t started, number;
    uint32_t thread, bytes;
};

/* ---- disks ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_disk(const char *name)
{
    static const char *const others[] = {"loop", "ram", "zram", "dm-", "md"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

/* Returns the kernel's number of the device, (major << 20) | minor; 0 if it is unknown. */
static uint32_t device_number(const char *name)
{
    char path[96];
    char *text;
    unsigned major = 0, minor = 0;
    if (snprintf(path, sizeof path, "/sys/block/%s/dev", name) >= (int)sizeof path ||
        FAILED(kernel_file_text(path, &text, NULL)))
        return 0;
    const bool read = sscanf(text, "%u:%u", &major, &minor) == 2;
    memory_free(text);
    return read ? major << 20 | (minor & 0xFFFFF) : 0;
}

HRESULT disk_names(struct texts *names)
{
    struct texts all = {0};
    HRESULT hr = kernel_folder_names("/sys/block", &all);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        hr = S_OK;
    if (all.count != 0)
        qsort(all.items, all.count, sizeof *all.items, by_name);
    for (size_t i = 0; SUCCEEDED(hr) && i < all.count && names->count < KERNEL_MOST_DISKS; i++)
        if (is_disk(all.items[i]))
            hr = texts_add(names, all.items[i]);
    texts_free(&all);
    return hr;
}

/* Lists the disks. Without /sys there are no disks and no disk events. */
void disk_begin(struct kernel_tracer *k, size_t most)
{
    struct texts names = {0};
    k->requests = (struct id_map){.item_size = sizeof(struct disk_request), .most = most};
    if (kernel_wants(k, FLAG_DISK | FLAG_DISK_INIT) && SUCCEEDED(disk_names(&names)))
        for (size_t i = 0; i < names.count; i++)
            k->disks[k->disk_count++] = device_number(names.items[i]);
    texts_free(&names);
}

static bool disk_of(const struct kernel_tracer *k, uint32_t device, uint32_t *disk)
{
    for (*disk = 0; *disk < k->disk_count; ++*disk)
        if (k->disks[*disk] == device)
            return device != 0;
    return false;
}

static uint64_t request_key(uint32_t disk, uint64_t sector)
{
    return (uint64_t)(disk + 1) << 56 | (sector & FLUSH_SECTOR);
}

/* ---- requests ---- */

/* Returns the letter of the operation: 'R', 'W', 'D' and so on. A leading 'F' means that a flush comes before the
   operation. */
static char kind_of(const struct tracepoint_event *e, int field)
{
    char kind[12];
    ring_text(e->event, &e->fields[field], kind, sizeof kind);
    return kind[0] == 'F' ? kind[1] : kind[0];
}

static HRESULT emit_start(struct kernel_tracer *k, const struct tracepoint_event *e, const struct disk_request *r,
                          char kind)
{
    const enum kernel_hook hook = r->bytes == 0 ? HOOK_DISK_FLUSH_INIT
                                  : kind == 'W' ? HOOK_DISK_WRITE_INIT
                                                : HOOK_DISK_READ_INIT;
    kernel_data_clear(&k->data);
    kernel_data_u64(&k->data, r->number);
    kernel_data_u32(&k->data, kernel_thread_id(k, r->thread));
    return kernel_emit_of(k, e, hook, DISK_VERSION, kernel_process_of(k, r->thread), r->thread);
}

/* Handles the start of a request. block_io_start runs in the thread that requests the data. A kernel without
   block_io_start shows only the thread that queues the request. */
static HRESULT take_start(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const uint32_t bytes = (uint32_t)tracepoint_number(e, START_BYTES);
    const uint64_t sector = bytes == 0 ? FLUSH_SECTOR : (uint64_t)tracepoint_number(e, START_SECTOR);
    const char kind = kind_of(e, START_KIND);
    uint32_t disk;
    fault_waits(k, e->thread, kind == 'R' ? bytes : 0);
    if (!kernel_wants(k, FLAG_DISK | FLAG_DISK_INIT) ||
        !disk_of(k, (uint32_t)tracepoint_number(e, START_DEVICE), &disk) || (kind != 'R' && kind != 'W' && bytes != 0))
        return S_OK;
    struct disk_request *r = id_map_put(&k->requests, request_key(disk, sector));
    if (!r)
        return E_OUTOFMEMORY;
    *r = (struct disk_request){e->time, ++k->request_number, e->thread, bytes};
    return kernel_wants(k, FLAG_DISK_INIT) ? emit_start(k, e, r, kind) : S_OK;
}

/* Handles a request that is queued or issued. If block_io_start has not reported the request, the thread that queues
   the request counts as the thread that requested the data. */
static HRESULT take_insert(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const uint32_t bytes = (uint32_t)tracepoint_number(e, START_BYTES);
    const uint64_t sector = bytes == 0 ? FLUSH_SECTOR : (uint64_t)tracepoint_number(e, START_SECTOR);
    uint32_t disk;
    if (disk_of(k, (uint32_t)tracepoint_number(e, START_DEVICE), &disk) &&
        id_map_find(&k->requests, request_key(disk, sector)))
        return S_OK;
    return take_start(k, e);
}

static HRESULT emit_flush(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t disk,
                          const struct disk_request *r)
{
    kernel_data_clear(&k->data);
    kernel_data_u32(&k->data, disk);
    kernel_data_u32(&k->data, FLAGS_OF_FLUSH);
    kernel_data_u64(&k->data, e->time - r->started);
    kernel_data_u64(&k->data, r->number);
    kernel_data_u32(&k->data, kernel_thread_id(k, r->thread));
    return kernel_emit(k, e, HOOK_DISK_FLUSH, DISK_VERSION);
}

static HRESULT emit_transfer(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t disk,
                             const struct disk_request *r, uint64_t sector, uint32_t bytes, char kind)
{
    struct kernel_data *d = &k->data;
    kernel_data_clear(d);
    kernel_data_u32(d, disk);
    kernel_data_u32(d, FLAGS_OF_TRANSFER);
    kernel_data_u32(d, bytes);
    kernel_data_u32(d, 0);
    kernel_data_u64(d, sector * SECTOR_BYTES);
    kernel_data_u64(d, 0); /* file */
    kernel_data_u64(d, r->number);
    kernel_data_u64(d, e->time - r->started);
    kernel_data_u32(d, kernel_thread_id(k, r->thread));
    return kernel_emit(k, e, kind == 'W' ? HOOK_DISK_WRITE : HOOK_DISK_READ, DISK_VERSION);
}

static HRESULT take_done(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const uint32_t sectors = (uint32_t)tracepoint_number(e, DONE_SECTORS);
    const uint64_t sector = (uint64_t)tracepoint_number(e, DONE_SECTOR);
    const char kind = kind_of(e, DONE_KIND);
    uint32_t disk;
    if (!disk_of(k, (uint32_t)tracepoint_number(e, DONE_DEVICE), &disk) || (sectors == 0 && kind != 'F'))
        return S_OK;
    const uint64_t key = request_key(disk, sectors == 0 ? FLUSH_SECTOR : sector);
    const struct disk_request *found = id_map_find(&k->requests, key);
    if (!found || e->time < found->started)
        return S_OK; /* the start of the request is unknown, because it was before the session */
    const struct disk_request r = *found;
    id_map_remove(&k->requests, key);
    if (!kernel_wants(k, FLAG_DISK))
        return S_OK;
    return sectors == 0 ? emit_flush(k, e, disk, &r)
                        : emit_transfer(k, e, disk, &r, sector, sectors * SECTOR_BYTES, kind);
}

#define OF_START                                                                                                       \
    {                                                                                                                  \
        [START_DEVICE] = "dev", [START_SECTOR] = "sector", [START_BYTES] = "bytes", [START_KIND] = "rwbs"              \
    }

const struct tracepoint disk_tracepoints[] = {
    {"block", "block_io_start", NULL, FLAG_DISK | FLAG_DISK_INIT | FLAG_HARD_FAULTS | FLAG_PAGE_FAULTS, FLAG_DISK_INIT,
     take_start, OF_START},
    {"block", "block_rq_insert", NULL, FLAG_DISK | FLAG_DISK_INIT | FLAG_HARD_FAULTS | FLAG_PAGE_FAULTS, 0, take_insert,
     OF_START},
    {"block", "block_rq_issue", NULL, FLAG_DISK | FLAG_DISK_INIT, FLAG_DISK_INIT, take_insert, OF_START},
    {"block",
     "block_rq_complete",
     NULL,
     FLAG_DISK | FLAG_DISK_INIT,
     FLAG_DISK,
     take_done,
     {[DONE_DEVICE] = "dev", [DONE_SECTOR] = "sector", [DONE_SECTORS] = "nr_sector", [DONE_KIND] = "rwbs"}},
    {0},
};

/* ---- network ---- */

/* Creates events for TCP and UDP: for connections, and for calls that send or receive data. Linux reports IP addresses
   only when a connection changes its state, and it reports sizes without IP addresses. Therefore k->sockets keeps the
   IP addresses of each socket; its key is the kernel's pointer to the socket. */

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
/* States of a TCP connection. */
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_SYN_RECEIVED = 3, TCP_CLOSED = 7, TCP_LISTENS = 10 };

struct kernel_socket {
    uint32_t thread;                     /* the last thread that used the socket; 0: unknown */
    uint16_t family, from_port, to_port; /* ports in host byte order */
    uint8_t from[16], to[16];
};

void network_begin(struct kernel_tracer *k, size_t most)
{
    k->sockets = (struct id_map){.item_size = sizeof(struct kernel_socket), .most = most};
}

static void address_copy(const struct tracepoint_event *e, int field, uint8_t *to, size_t size)
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

static HRESULT socket_emit(struct kernel_tracer *k, const struct tracepoint_event *e, const struct kernel_socket *s,
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
        /* Start and end of sending. Both are 0, because Linux reports only the end, as the time of the event. */
        kernel_data_u32(d, 0);
        kernel_data_u32(d, 0);
    } else if (type == NET_CONNECT || type == NET_ACCEPT) {
        for (int option = 0; option < 4; option++)
            kernel_data_u16(d, 0); /* unknown: segment size, selective acknowledgements, time stamps, window scale */
        kernel_data_u32(d, 0);     /* window */
        kernel_data_u16(d, 0);     /* scales */
        kernel_data_u16(d, 0);
    }
    kernel_data_u32(d, 0); /* sequence number */
    kernel_data_u64(d, 0); /* connection */
    return kernel_emit(k, e, (enum kernel_hook)((uint32_t)group + type + (s->family == FAMILY_6 ? NET_V6 : 0)),
                       NET_VERSION);
}

/* Returns the entry of the event's socket, and adds it if it is missing. Returns NULL if the event has no pointer to a
   socket, if the family is neither IPv4 nor IPv6, or if memory runs out. */
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
    address_copy(e, s->family == FAMILY_6 ? STATE_FROM_6 : STATE_FROM, s->from, s->family == FAMILY_6 ? 16 : 4);
    address_copy(e, s->family == FAMILY_6 ? STATE_TO_6 : STATE_TO, s->to, s->family == FAMILY_6 ? 16 : 4);
    if (new == TCP_SYN_SENT)
        s->thread = e->thread;
    if (new == TCP_ESTABLISHED && (old == TCP_SYN_SENT || old == TCP_SYN_RECEIVED))
        hr = socket_emit(k, e, s, HOOK_TCP, old == TCP_SYN_SENT ? NET_CONNECT : NET_ACCEPT, 0);
    if (new == TCP_CLOSED) {
        if (old != TCP_SYN_SENT && old != TCP_LISTENS)
            hr = socket_emit(k, e, s, HOOK_TCP, NET_DISCONNECT, 0);
        id_map_remove(&k->sockets, (uint64_t)tracepoint_number(e, STATE_KEY));
    }
    return hr;
}

/* Handles received or sent data. Wine's server peeks at received data, that is, reads the data without consuming them;
   such a call does not count as receiving. */
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
    return socket_emit(k, e, s, protocol == PROTOCOL_UDP ? HOOK_UDP : HOOK_TCP, type, (uint32_t)bytes);
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
    return s ? socket_emit(k, e, s, HOOK_TCP, NET_RETRANSMIT, 0) : S_OK;
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
