/* SPDX-License-Identifier: MIT */
/* The objects TCPv4 and TCPv6, from /proc/net/snmp, tcp and tcp6. */
#include "engine/pdh/core/table.h"

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
            "Failed connection attempts, by either side, since this computer started." BOTH)                           \
    COUNTER("Connections Reset", PERF_COUNTER_RAWCOUNT, 650, 0, SUM, "net/snmp.Tcp.EstabResets",                       \
            "Established connections that were reset since this computer started." BOTH)                               \
    COUNTER("Segments Received/sec", PERF_COUNTER_COUNTER, 652, 0, SUM, "net/snmp.Tcp.InSegs",                         \
            "Segments received, including those with errors." BOTH)                                                    \
    COUNTER("Segments Sent/sec", PERF_COUNTER_COUNTER, 654, 0, SUM, "net/snmp.Tcp.OutSegs",                            \
            "Segments sent, excluding retransmissions." BOTH)                                                          \
    COUNTER("Segments Retransmitted/sec", PERF_COUNTER_COUNTER, 656, 0, SUM, "net/snmp.Tcp.RetransSegs",               \
            "Segments retransmitted." BOTH)

/* TCPv6. The kernel has no other numbers of TCP over IPv6 alone. */
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
_Static_assert((int)CONNECTIONS == (int)CONNECTIONS6, "one gatherer serves both");

/* The tables of connections are expensive: for each reading the kernel walks all buckets of its hash table, some
   100,000. So they are read only if a number in net/snmp shows that a connection may have been opened or closed. */
enum { OPENS_ACTIVE, OPENS_PASSIVE, ESTABLISHED, FIGURES };
struct tcp_state {
    struct table_state table;
    struct kernel_keys figures;
    uint64_t before[FIGURES]; /* at the last reading of the tables */
    struct kernel_connections connections;
    bool settled; /* no connection can open or close without changing a number */
};

static void close_tcp(void *state)
{
    kernel_keys_free(&((struct tcp_state *)state)->figures);
}

/* Reads the numbers. S_FALSE if the kernel does not report all of them. */
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

/* S_FALSE if a table is missing. A connection to an IPv4 address may be in the IPv6 table. */
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
        /* a kernel without IPv6 has no IPv6 table, and no mapped addresses */
        bool missing_ipv6 = hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) && i == 1 && !want_ipv6;
        all &= missing_ipv6 || (SUCCEEDED(hr) && kernel_connections_add(text, size, c));
    }
    return all ? S_OK : S_FALSE;
}

/* Opening a connection increments one of two counts when it begins, and closing one changes the number of established
   connections. Newer kernels include connections in CLOSE_WAIT in that number, older ones do not. So if no connection
   is being opened or closed and no number has changed, the connections are the same. The numbers are read before the
   tables. */
static HRESULT count_connections(struct counter_object *o, struct source *source, bool want_ipv6, int64_t *count)
{
    struct tcp_state *s = o->state;
    uint64_t figures[FIGURES];
    HRESULT hr = read_figures(o, source, figures);
    if (FAILED(hr))
        return hr;
    bool has_figures = hr == S_OK;
    if (!has_figures || !s->settled || memcmp(figures, s->before, sizeof figures) != 0) {
        s->settled = false;
        hr = read_tables(o, source, want_ipv6, &s->connections);
        if (hr != S_OK)
            return hr == S_FALSE ? S_OK : hr;
        s->settled = has_figures && !s->connections.under_way;
        if (has_figures)
            memcpy(s->before, figures, sizeof figures);
    }
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
    "connections: the lines of /proc/net/tcp and tcp6 in state 01 or 08, those with mapped IPv4 addresses counted "    \
    "as IPv4; read when ActiveOpens, PassiveOpens or CurrEstab of /proc/net/snmp has changed"
const struct counter_object_type pdh_tcpv4 = {
    .name = "TCPv4",
    .index = 638,
    .help = "Connections and segments of TCP over IPv4.",
    TABLE_OBJECT(tcpv4, ALL_OF, struct tcp_state, gather_ipv4, close_tcp, ORIGIN)};
const struct counter_object_type pdh_tcpv6 = {
    .name = "TCPv6",
    .help = "Connections of TCP over IPv6.",
    TABLE_OBJECT(tcpv6, ALL_OF, struct tcp_state, gather_ipv6, close_tcp, ORIGIN)};
