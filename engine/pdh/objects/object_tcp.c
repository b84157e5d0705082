/* SPDX-License-Identifier: MIT */
/* The objects TCPv4 and TCPv6, from /proc/net/snmp, tcp and tcp6. */
#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

/* TCPv4. */
#define BOTH " The kernel counts connections over IPv4 and IPv6 together."
#define TCPV4_ROWS                                                                                                     \
    COLUMN(CONNECTIONS, "connections")                                                                                 \
    COUNTER("Segments/sec", PERF_COUNTER_COUNTER, 640, 0, SUM, "net/snmp.Tcp.InSegs + net/snmp.Tcp.OutSegs",           \
            "Segments received and sent." BOTH)                                                                        \
    COUNTER("Connections Established", PERF_COUNTER_RAWCOUNT, 642, 0, SUM, "connections",                              \
            "IPv4 connections that are established, or that wait for this computer to close them.")                    \
    COUNTER("Connections Active", PERF_COUNTER_RAWCOUNT, 644, 0, SUM, "net/snmp.Tcp.ActiveOpens",                      \
            "Connections that this computer has opened to other computers since it started." BOTH)                     \
    COUNTER("Connections Passive", PERF_COUNTER_RAWCOUNT, 646, 0, SUM, "net/snmp.Tcp.PassiveOpens",                    \
            "Connections that other computers have opened to this one since it started." BOTH)                         \
    COUNTER("Connection Failures", PERF_COUNTER_RAWCOUNT, 648, 0, SUM, "net/snmp.Tcp.AttemptFails",                    \
            "Connection attempts of either side that have failed since this computer started." BOTH)                   \
    COUNTER("Connections Reset", PERF_COUNTER_RAWCOUNT, 650, 0, SUM, "net/snmp.Tcp.EstabResets",                       \
            "Established connections that were reset since this computer started." BOTH)                               \
    COUNTER("Segments Received/sec", PERF_COUNTER_COUNTER, 652, 0, SUM, "net/snmp.Tcp.InSegs",                         \
            "Segments received, including those with errors." BOTH)                                                    \
    COUNTER("Segments Sent/sec", PERF_COUNTER_COUNTER, 654, 0, SUM, "net/snmp.Tcp.OutSegs",                            \
            "Segments sent, excluding retransmissions." BOTH)                                                          \
    COUNTER("Segments Retransmitted/sec", PERF_COUNTER_COUNTER, 656, 0, SUM, "net/snmp.Tcp.RetransSegs",               \
            "Segments retransmitted." BOTH)

/* TCPv6. The kernel has no other numbers for TCP over IPv6 alone. */
#define TCPV6_ROWS                                                                                                     \
    COLUMN(CONNECTIONS6, "connections")                                                                                \
    COUNTER("Connections Established", PERF_COUNTER_RAWCOUNT, 642, 0, SUM, "connections",                              \
            "IPv6 connections that are established, or that wait for this computer to close them.")

#define OBJECT tcpv4
#define ROWS   TCPV4_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT tcpv6
#define ROWS   TCPV6_ROWS
#include "engine/pdh/core/counter_rows.inc"
_Static_assert((int)CONNECTIONS == (int)CONNECTIONS6, "both objects use the same column numbers");

/* The tables of connections are expensive: for each reading the kernel walks all buckets of its hash table (about
   100,000), which takes milliseconds. Therefore the tables are read only if a number in net/snmp shows that a
   connection may have been opened or closed, and the kernel's other numbers do not show whether that connection uses
   IPv4 or IPv6.

   CurrEstab counts the connections of both versions of IP; sockstat counts the sockets in use of each version. Since
   Linux 6.10 CurrEstab includes connections in CLOSE_WAIT.
   - If there is no IPv6 socket, CurrEstab is the number of IPv4 connections.
   - If CurrEstab and the number of IPv4 sockets have changed by the same amount, and the number of IPv6 sockets has not
     changed, then IPv4 connections were opened or closed. Any other new or closed socket, and a connection that enters
     or leaves a state that CurrEstab does not count, makes the two changes differ. The effects of several such events
     on the two changes might cancel each other out. Therefore the tables are read again at least every half minute if
     something changes. */
enum { OPENS_ACTIVE, OPENS_PASSIVE, ESTABLISHED, FIGURES };
#define TABLES_AGAIN_MS 30000

struct sockets {
    uint64_t ipv4, ipv6;
    bool known;
};
struct tcp_state {
    struct table_state table;
    struct kernel_keys figures;
    uint64_t before[FIGURES]; /* the numbers when `connections` was determined */
    struct sockets sockets;   /* the numbers of sockets when `connections` was determined */
    struct kernel_connections connections;
    uint64_t read_at;                               /* clock_monotonic_ms() of the last reading of the tables */
    enum { UNKNOWN, NOT_COUNTED, COUNTED } waiting; /* whether CurrEstab includes CLOSE_WAIT */
    bool settled;                                   /* no connection is being opened or closed, so from now on every
                                                       opening or closing changes a number */
    bool agrees; /* CurrEstab was equal to the total of `connections`, so none was opened or closed during the
                    reading */
};

static void close_tcp(void *state)
{
    kernel_keys_free(&((struct tcp_state *)state)->figures);
}

/* Reads the numbers that `names` lists. S_FALSE if the kernel does not report all these numbers. */
static HRESULT read_figures(struct counter_object *o, struct source *source, uint64_t figures[FIGURES])
{
    static const char *const names[] = {"Tcp.ActiveOpens", "Tcp.PassiveOpens", "Tcp.CurrEstab"};
    struct tcp_state *s = o->state;
    const char *text;
    size_t size, slot;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < FIGURES; i++)
        hr = kernel_keys_add(&s->figures, names[i], strlen(names[i]), &slot);
    if (SUCCEEDED(hr))
        hr = source_text(source, &o->hold, SOURCE_SNMP, &text, &size, &o->time);
    if (SUCCEEDED(hr))
        hr = kernel_keys_parse(text, size, &s->figures);
    if (hr == E_OUTOFMEMORY)
        return hr;
    bool all = SUCCEEDED(hr);
    for (size_t i = 0; all && i < FIGURES; i++) {
        all = s->figures.keys[i].has;
        figures[i] = s->figures.keys[i].value;
    }
    return all ? S_OK : S_FALSE;
}

static bool read_sockets_of(struct counter_object *o, struct source *source, enum source_part part,
                            const char *protocol, uint64_t *count)
{
    const char *text;
    size_t size;
    return SUCCEEDED(source_text(source, &o->hold, part, &text, &size, NULL)) &&
           kernel_sockets_in_use(text, size, protocol, count);
}

static struct sockets read_sockets(struct counter_object *o, struct source *source)
{
    struct sockets s = {0};
    s.known = read_sockets_of(o, source, SOURCE_SOCKETS, "TCP", &s.ipv4) &&
              read_sockets_of(o, source, SOURCE_SOCKETS6, "TCP6", &s.ipv6);
    return s;
}

/* Returns true if CurrEstab includes CLOSE_WAIT. The function checks the kernel's release, such as "6.10.3-amd64". */
static bool kernel_counts_waiting(struct tcp_state *s, const char *root)
{
    if (s->waiting == UNKNOWN) {
        char path[512], *text = NULL;
        size_t size = 0;
        uint64_t major = 0, minor = 0;
        snprintf(path, sizeof path, "%s/proc/sys/kernel/osrelease", root);
        (void)kernel_file_text(path, &text, &size);
        const char *p = text ? kernel_number(text, text + size, &major) : NULL;
        const bool is_new =
            p && *p == '.' && kernel_number(p + 1, text + size, &minor) && (major > 6 || (major == 6 && minor >= 10));
        s->waiting = is_new ? COUNTED : NOT_COUNTED;
        memory_free(text);
    }
    return s->waiting == COUNTED;
}

/* Counts the connections without reading the tables. False: there may be IPv6 connections. */
static bool connections_count_ipv4(struct tcp_state *s, const char *root, const uint64_t figures[FIGURES],
                                   const struct sockets *sockets)
{
    if (!sockets->known || sockets->ipv6 || figures[ESTABLISHED] > sockets->ipv4 || !kernel_counts_waiting(s, root))
        return false;
    s->connections = (struct kernel_connections){.ipv4 = figures[ESTABLISHED]};
    s->settled = s->agrees = true;
    s->read_at = clock_monotonic_ms();
    return true;
}

/* Derives the connections from the change of the numbers, without reading the tables. False: the tables must be
   read. */
static bool connections_follow(struct tcp_state *s, const uint64_t figures[FIGURES], const struct sockets *sockets)
{
    const uint64_t opened = figures[ESTABLISHED] - s->before[ESTABLISHED];
    if (!s->settled || !s->agrees || !s->sockets.known || !sockets->known || sockets->ipv6 != s->sockets.ipv6 ||
        sockets->ipv4 - s->sockets.ipv4 != opened || s->connections.ipv4 + opened > sockets->ipv4 ||
        clock_passed_ms(s->read_at, clock_monotonic_ms()) >= TABLES_AGAIN_MS)
        return false;
    s->connections.ipv4 += opened;
    return true;
}

/* Reads the tables. S_FALSE if a table is missing. A connection to an IPv4 address may be in the IPv6 table. */
static HRESULT read_tables(struct counter_object *o, struct source *source, bool want_ipv6,
                           struct kernel_connections *c)
{
    static const enum source_part parts[] = {SOURCE_TCP, SOURCE_TCP6};
    bool all = true;
    *c = (struct kernel_connections){0};
    for (size_t i = 0; i < 2; i++) {
        const char *text;
        size_t size;
        HRESULT hr = source_text(source, &o->hold, parts[i], &text, &size, &o->time);
        if (hr == E_OUTOFMEMORY)
            return hr;
        /* a kernel without IPv6 has no IPv6 table, and therefore no mapped addresses */
        bool missing_ipv6 = hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) && i == 1 && !want_ipv6;
        all &= missing_ipv6 || (SUCCEEDED(hr) && kernel_connections_add(text, size, c));
    }
    return all ? S_OK : S_FALSE;
}

/* Counts the connections. Opening a connection increments one of two counts when the opening begins. Closing a
   connection changes the number of established connections. On newer kernels, this number includes connections in
   CLOSE_WAIT. Therefore the connections are unchanged if no number has changed since the previous count and no
   connection was being opened or closed then. The numbers are read before the tables. */
static HRESULT count_connections(struct counter_object *o, struct source *source, bool want_ipv6, int64_t *count)
{
    struct tcp_state *s = o->state;
    uint64_t figures[FIGURES];
    HRESULT hr = read_figures(o, source, figures);
    if (FAILED(hr))
        return hr;
    const bool has_figures = hr == S_OK;
    const struct sockets sockets = read_sockets(o, source);
    const bool changed = !has_figures || !s->settled || memcmp(figures, s->before, sizeof figures) != 0;
    if (changed && !(has_figures && (connections_count_ipv4(s, source_root(source), figures, &sockets) ||
                                     connections_follow(s, figures, &sockets)))) {
        s->settled = false;
        hr = read_tables(o, source, want_ipv6, &s->connections);
        if (hr != S_OK)
            return hr == S_FALSE ? S_OK : hr;
        s->settled = has_figures && !s->connections.under_way;
        s->agrees = has_figures && s->connections.ipv4 + s->connections.ipv6 == figures[ESTABLISHED];
        s->read_at = clock_monotonic_ms();
    }
    if (has_figures)
        memcpy(s->before, figures, sizeof figures);
    s->sockets = sockets;
    *count = (int64_t)(want_ipv6 ? s->connections.ipv6 : s->connections.ipv4);
    return S_OK;
}

static HRESULT tcp_gather(struct counter_object *o, struct source *source, uint64_t wanted, bool want_ipv6)
{
    int64_t *cells = table_add(o->state, ROW_PLAIN, NULL, "", 0, 0);
    HRESULT hr = cells ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (wanted & 1ull << CONNECTIONS))
        hr = count_connections(o, source, want_ipv6, &cells[CONNECTIONS]);
    return hr;
}

static HRESULT gather_ipv4(struct counter_object *o, struct source *source, uint64_t wanted)
{
    return tcp_gather(o, source, wanted, false);
}

static HRESULT gather_ipv6(struct counter_object *o, struct source *source, uint64_t wanted)
{
    return tcp_gather(o, source, wanted, true);
}

#define ORIGIN                                                                                                         \
    "connections is the number of lines of /proc/net/tcp and tcp6 in state 01 or 08; lines with mapped IPv4 "          \
    "addresses count as "                                                                                              \
    "IPv4. These files are read if ActiveOpens, PassiveOpens or CurrEstab of /proc/net/snmp has changed, unless "      \
    "CurrEstab and the sockets in use in /proc/net/sockstat and sockstat6 give the numbers of connections"
const struct counter_object_type pdh_tcpv4 = {
    .name = "TCPv4",
    .index = 638,
    .help = "Connections and segments of TCP over IPv4.",
    .tries_at_once = true,
    TABLE_OBJECT(tcpv4, ALL_OF, struct tcp_state, gather_ipv4, close_tcp, ORIGIN)};
const struct counter_object_type pdh_tcpv6 = {
    .name = "TCPv6",
    .help = "Connections of TCP over IPv6.",
    .tries_at_once = true,
    TABLE_OBJECT(tcpv6, ALL_OF, struct tcp_state, gather_ipv6, close_tcp, ORIGIN)};
