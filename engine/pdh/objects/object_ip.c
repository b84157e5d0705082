/* SPDX-License-Identifier: MIT */
/* The objects IPv4, IPv6, ICMP, ICMPv6, UDPv4 and UDPv6, from /proc/net/snmp and snmp6. */
#include "engine/pdh/objects/providers.h"

#define IP                  "IPv4"
#define ICMP                "ICMP"
#define MESSAGE_ROWS        "engine/pdh/objects/icmp_messages.def"
#define FORWARDED           "ForwDatagrams"
#define KEY(protocol, name) "net/snmp." protocol "." name
#define OBJECT              ipv4
#define ROWS                "engine/pdh/objects/ip_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT icmp
#define ROWS   "engine/pdh/objects/icmp_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT udpv4
#define ROWS   "engine/pdh/objects/udp_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#undef IP
#undef ICMP
#undef MESSAGE_ROWS
#undef FORWARDED
#undef KEY

#define IP                  "IPv6"
#define ICMP                "ICMPv6"
#define MESSAGE_ROWS        "engine/pdh/objects/icmp6_messages.def"
#define FORWARDED           "OutForwDatagrams"
#define KEY(protocol, name) "net/snmp6." protocol "6" name
#define OBJECT              ipv6
#define ROWS                "engine/pdh/objects/ip_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT icmp6
#define ROWS   "engine/pdh/objects/icmp_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT udpv6
#define ROWS   "engine/pdh/objects/udp_counters.def"
#include "engine/pdh/core/counter_rows.inc"

const struct provider pdh_ipv4 = {.name = "IPv4", .index = 546, .help = "Datagrams of IPv4.", KEYS_PROVIDER(ipv4)};
const struct provider pdh_ipv6 = {.name = "IPv6", .index = 548, .help = "Datagrams of IPv6.", KEYS_PROVIDER(ipv6)};
const struct provider pdh_icmp = {.name = "ICMP", .index = 582, .help = "Messages of ICMP.", KEYS_PROVIDER(icmp)};
const struct provider pdh_icmp6 = {.name = "ICMPv6", .help = "Messages of ICMPv6.", KEYS_PROVIDER(icmp6)};
const struct provider pdh_udpv4 = {
    .name = "UDPv4", .index = 658, .help = "Datagrams of UDP over IPv4.", KEYS_PROVIDER(udpv4)};
const struct provider pdh_udpv6 = {.name = "UDPv6", .help = "Datagrams of UDP over IPv6.", KEYS_PROVIDER(udpv6)};
