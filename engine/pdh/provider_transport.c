/* SPDX-License-Identifier: MIT */
/* The objects TCPv4, TCPv6, UDPv4 and UDPv6, from /proc/net/snmp, snmp6, tcp and tcp6. */
#include "engine/pdh/providers.h"

static const struct counter_schema tcpv4[] = {
    {.name = "Segments/sec",
     .help = "Segments received and sent. The kernel counts connections over IPv4 and IPv6 together.",
     .type = PERF_COUNTER_COUNTER,
     .index = 640,
     .source = "net/snmp.Tcp.InSegs + net/snmp.Tcp.OutSegs"},
    {.name = "Connections Established",
     .help = "Connections over IPv4 that are established or wait for this computer to close them.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 642,
     .source = "connections"},
    {.name = "Connections Active",
     .help = "Connections that this computer has opened to others so far. The kernel counts connections over "
             "IPv4 and IPv6 together.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 644,
     .source = "net/snmp.Tcp.ActiveOpens"},
    {.name = "Connections Passive",
     .help = "Connections that others have opened to this computer so far. The kernel counts connections over "
             "IPv4 and IPv6 together.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 646,
     .source = "net/snmp.Tcp.PassiveOpens"},
    {.name = "Connection Failures",
     .help = "Attempts to connect, by either side, that have failed so far. The kernel counts connections over "
             "IPv4 and IPv6 together.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 648,
     .source = "net/snmp.Tcp.AttemptFails"},
    {.name = "Connections Reset",
     .help = "Established connections that have ended by a reset so far. The kernel counts connections over "
             "IPv4 and IPv6 together.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 650,
     .source = "net/snmp.Tcp.EstabResets"},
    {.name = "Segments Received/sec",
     .help = "Segments received, those with errors too. The kernel counts connections over IPv4 and IPv6 "
             "together.",
     .type = PERF_COUNTER_COUNTER,
     .index = 652,
     .source = "net/snmp.Tcp.InSegs"},
    {.name = "Segments Sent/sec",
     .help = "Segments sent, without those sent again. The kernel counts connections over IPv4 and IPv6 "
             "together.",
     .type = PERF_COUNTER_COUNTER,
     .index = 654,
     .source = "net/snmp.Tcp.OutSegs"},
    {.name = "Segments Retransmitted/sec",
     .help = "Segments sent again. The kernel counts connections over IPv4 and IPv6 together.",
     .type = PERF_COUNTER_COUNTER,
     .index = 656,
     .source = "net/snmp.Tcp.RetransSegs"},
};

/* The kernel knows no other figures of TCP over IPv6 alone. */
static const struct counter_schema tcpv6[] = {
    {.name = "Connections Established",
     .help = "Connections over IPv6 that are established or wait for this computer to close them.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 642,
     .source = "connections"},
};

static const struct counter_schema udpv4[] = {
    {.name = "Datagrams/sec",
     .help = "UDP datagrams received and sent over IPv4.",
     .type = PERF_COUNTER_COUNTER,
     .source = "net/snmp.Udp.InDatagrams + net/snmp.Udp.OutDatagrams"},
    {.name = "Datagrams Received/sec",
     .help = "UDP datagrams handed to programs.",
     .type = PERF_COUNTER_COUNTER,
     .source = "net/snmp.Udp.InDatagrams"},
    {.name = "Datagrams No Port/sec",
     .help = "Received datagrams for a port that no program listened on.",
     .type = PERF_COUNTER_COUNTER,
     .index = 664,
     .source = "net/snmp.Udp.NoPorts"},
    {.name = "Datagrams Received Errors",
     .help = "Received datagrams that could not be handed on for another reason so far.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 666,
     .source = "net/snmp.Udp.InErrors"},
    {.name = "Datagrams Sent/sec",
     .help = "UDP datagrams sent over IPv4.",
     .type = PERF_COUNTER_COUNTER,
     .source = "net/snmp.Udp.OutDatagrams"},
};

static const struct counter_schema udpv6[] = {
    {.name = "Datagrams/sec",
     .help = "UDP datagrams received and sent over IPv6.",
     .type = PERF_COUNTER_COUNTER,
     .source = "net/snmp6.Udp6InDatagrams + net/snmp6.Udp6OutDatagrams"},
    {.name = "Datagrams Received/sec",
     .help = "UDP datagrams handed to programs.",
     .type = PERF_COUNTER_COUNTER,
     .source = "net/snmp6.Udp6InDatagrams"},
    {.name = "Datagrams No Port/sec",
     .help = "Received datagrams for a port that no program listened on.",
     .type = PERF_COUNTER_COUNTER,
     .index = 664,
     .source = "net/snmp6.Udp6NoPorts"},
    {.name = "Datagrams Received Errors",
     .help = "Received datagrams that could not be handed on for another reason so far.",
     .type = PERF_COUNTER_RAWCOUNT,
     .index = 666,
     .source = "net/snmp6.Udp6InErrors"},
    {.name = "Datagrams Sent/sec",
     .help = "UDP datagrams sent over IPv6.",
     .type = PERF_COUNTER_COUNTER,
     .source = "net/snmp6.Udp6OutDatagrams"},
};

static const char *const columns[] = {"connections"};

/* A connection to an IPv4 address may belong to a socket of the other table. */
static HRESULT gather(struct object *o, struct source *source, uint64_t wanted, bool want_ipv6)
{
    static const enum source_part parts[] = {SOURCE_TCP, SOURCE_TCP6};
    int64_t *cells = table_add(o->state, ROW_PLAIN, NULL, "", 0, 0);
    uint64_t ipv4 = 0, ipv6 = 0;
    bool all = (wanted & 1) != 0;
    for (size_t i = 0; cells && (wanted & 1) && i < 2; i++) {
        const char *text;
        size_t size;
        HRESULT hr = source_text(source, &o->hold, parts[i], &text, &size, &o->time);
        if (hr == E_OUTOFMEMORY) {
            return hr;
        }
        /* A kernel without IPv6 has no table of it, and no mapped addresses. */
        bool missing_ipv6 = hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) && i == 1 && !want_ipv6;
        all &= missing_ipv6 || (SUCCEEDED(hr) && kernel_connections_add(text, size, &ipv4, &ipv6));
    }
    if (cells && all) {
        cells[0] = (int64_t)(want_ipv6 ? ipv6 : ipv4);
    }
    return cells ? S_OK : E_OUTOFMEMORY;
}

static HRESULT gather_ipv4(struct object *o, struct source *source, uint64_t wanted)
{
    return gather(o, source, wanted, false);
}

static HRESULT gather_ipv6(struct object *o, struct source *source, uint64_t wanted)
{
    return gather(o, source, wanted, true);
}

#define ORIGIN                                                                                                         \
    "connections: the lines of /proc/net/tcp and tcp6 in state 01 or 08, those with mapped IPv4 addresses counted "    \
    "as IPv4"
static const struct table tcpv4_table = {ORIGIN, columns, 1, gather_ipv4, NULL};
static const struct table tcpv6_table = {ORIGIN, columns, 1, gather_ipv6, NULL};
static const struct table plain = {0};

const struct provider pdh_tcpv4 = {
    .name = "TCPv4",
    .help = "Connections and segments of TCP over IPv4.",
    .index = 638,
    TABLE_PROVIDER(tcpv4, sizeof tcpv4 / sizeof *tcpv4, tcpv4_table, struct table_state)};

const struct provider pdh_tcpv6 = {
    .name = "TCPv6",
    .help = "Connections of TCP over IPv6.",
    TABLE_PROVIDER(tcpv6, sizeof tcpv6 / sizeof *tcpv6, tcpv6_table, struct table_state)};

const struct provider pdh_udpv4 = {.name = "UDPv4",
                                   .help = "Datagrams of UDP over IPv4.",
                                   .index = 658,
                                   TABLE_PROVIDER(udpv4, sizeof udpv4 / sizeof *udpv4, plain, struct table_state)};

const struct provider pdh_udpv6 = {.name = "UDPv6",
                                   .help = "Datagrams of UDP over IPv6.",
                                   TABLE_PROVIDER(udpv6, sizeof udpv6 / sizeof *udpv6, plain, struct table_state)};
