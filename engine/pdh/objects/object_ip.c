/* SPDX-License-Identifier: MIT */
/* The objects IPv4, IPv6, ICMP, ICMPv6, UDPv4 and UDPv6, from /proc/net/snmp and snmp6. */
#include "engine/pdh/core/table.h"

/* IPv4 and IPv6. The macro is expanded for each protocol, with IP (the protocol's name), KEY(protocol, name) (a number
   in the kernel's file) and FORWARDED (the kernel's name for forwarded datagrams). */
#define IP_ROWS                                                                                                        \
    COUNTER("Datagrams/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Ip", "InReceives") " + " KEY("Ip", "OutRequests"),  \
            IP " datagrams received from and passed to the interfaces.")                                               \
    COUNTER("Datagrams Received/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Ip", "InReceives"),                        \
            IP " datagrams received from the interfaces, including those with errors.")                                \
    COUNTER("Datagrams Received Header Errors", PERF_COUNTER_RAWCOUNT, 552, 0, SUM, KEY("Ip", "InHdrErrors"),          \
            "Received datagrams discarded because of errors in their headers, since the computer started.")            \
    COUNTER("Datagrams Received Address Errors", PERF_COUNTER_RAWCOUNT, 554, 0, SUM, KEY("Ip", "InAddrErrors"),        \
            "Received datagrams discarded because their destination address was not valid for this computer, since "   \
            "it started.")                                                                                             \
    COUNTER("Datagrams Forwarded/sec", PERF_COUNTER_COUNTER, 556, 0, SUM, KEY("Ip", FORWARDED),                        \
            "Datagrams forwarded to other computers.")                                                                 \
    COUNTER("Datagrams Received Unknown Protocol", PERF_COUNTER_RAWCOUNT, 558, 0, SUM, KEY("Ip", "InUnknownProtos"),   \
            "Received datagrams discarded because their protocol is unknown or not supported, since the computer "     \
            "started.")                                                                                                \
    COUNTER("Datagrams Received Discarded", PERF_COUNTER_RAWCOUNT, 560, 0, SUM, KEY("Ip", "InDiscards"),               \
            "Error-free received datagrams that were discarded, for example for lack of memory, since the computer "   \
            "started.")                                                                                                \
    COUNTER("Datagrams Received Delivered/sec", PERF_COUNTER_COUNTER, 562, 0, SUM, KEY("Ip", "InDelivers"),            \
            "Datagrams delivered to the upper-layer protocols.")                                                       \
    COUNTER("Datagrams Sent/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Ip", "OutRequests"),                           \
            "Datagrams that the upper-layer protocols asked to send. Forwarded datagrams are not counted.")            \
    COUNTER("Datagrams Outbound Discarded", PERF_COUNTER_RAWCOUNT, 564, 0, SUM, KEY("Ip", "OutDiscards"),              \
            "Error-free outgoing datagrams that were discarded, since the computer started.")                          \
    COUNTER("Datagrams Outbound No Route", PERF_COUNTER_RAWCOUNT, 566, 0, SUM, KEY("Ip", "OutNoRoutes"),               \
            "Datagrams discarded because no route to their destination was found, since the computer started.")        \
    COUNTER("Fragments Received/sec", PERF_COUNTER_COUNTER, 568, 0, SUM, KEY("Ip", "ReasmReqds"),                      \
            "Fragments received that needed reassembly.")                                                              \
    COUNTER("Fragments Re-assembled/sec", PERF_COUNTER_COUNTER, 570, 0, SUM, KEY("Ip", "ReasmOKs"),                    \
            "Datagrams reassembled from fragments.")                                                                   \
    COUNTER("Fragment Re-assembly Failures", PERF_COUNTER_RAWCOUNT, 572, 0, SUM, KEY("Ip", "ReasmFails"),              \
            "Failed reassemblies of fragments, since the computer started.")                                           \
    COUNTER("Fragmented Datagrams/sec", PERF_COUNTER_COUNTER, 574, 0, SUM, KEY("Ip", "FragOKs"),                       \
            "Datagrams that were fragmented.")                                                                         \
    COUNTER("Fragmentation Failures", PERF_COUNTER_RAWCOUNT, 576, 0, SUM, KEY("Ip", "FragFails"),                      \
            "Datagrams that needed fragmentation and could not be fragmented, since the computer started.")            \
    COUNTER("Fragments Created/sec", PERF_COUNTER_COUNTER, 578, 0, SUM, KEY("Ip", "FragCreates"),                      \
            "Fragments created from datagrams.")

/* The messages of ICMP: MESSAGE(name, type, name in the kernel's file, description). */
#define ICMP_MESSAGES(MESSAGE)                                                                                         \
    MESSAGE("Time Exceeded", PERF_COUNTER_RAWCOUNT, "TimeExcds",                                                       \
            "that report an expired time to live, since the computer started.")                                        \
    MESSAGE("Parameter Problem", PERF_COUNTER_RAWCOUNT, "ParmProbs",                                                   \
            "that report a problem in a datagram's header, since the computer started.")                               \
    MESSAGE("Source Quench", PERF_COUNTER_RAWCOUNT, "SrcQuenchs",                                                      \
            "that ask to reduce the sending rate, since the computer started.")                                        \
    MESSAGE("Redirect/sec", PERF_COUNTER_COUNTER, "Redirects", "that redirect to a better route.")                     \
    MESSAGE("Echo/sec", PERF_COUNTER_COUNTER, "Echos", "that request an echo.")                                        \
    MESSAGE("Echo Reply/sec", PERF_COUNTER_COUNTER, "EchoReps", "that reply to an echo request.")                      \
    MESSAGE("Timestamp/sec", PERF_COUNTER_COUNTER, "Timestamps", "that request a timestamp.")                          \
    MESSAGE("Timestamp Reply/sec", PERF_COUNTER_COUNTER, "TimestampReps", "that reply to a timestamp request.")        \
    MESSAGE("Address Mask", PERF_COUNTER_RAWCOUNT, "AddrMasks",                                                        \
            "that request an address mask, since the computer started.")                                               \
    MESSAGE("Address Mask Reply", PERF_COUNTER_RAWCOUNT, "AddrMaskReps",                                               \
            "that reply to an address mask request, since the computer started.")
/* The messages of ICMPv6: MESSAGE(name, type, name in the kernel's file, description). */
#define ICMP6_MESSAGES(MESSAGE)                                                                                        \
    MESSAGE("Packet Too Big", PERF_COUNTER_RAWCOUNT, "PktTooBigs",                                                     \
            "that report a packet too big for a link, since the computer started.")                                    \
    MESSAGE("Time Exceeded", PERF_COUNTER_RAWCOUNT, "TimeExcds",                                                       \
            "that report an exceeded hop limit, since the computer started.")                                          \
    MESSAGE("Parameter Problem", PERF_COUNTER_RAWCOUNT, "ParmProblems",                                                \
            "that report a problem in a packet's header, since the computer started.")                                 \
    MESSAGE("Echo/sec", PERF_COUNTER_COUNTER, "Echos", "that request an echo.")                                        \
    MESSAGE("Echo Reply/sec", PERF_COUNTER_COUNTER, "EchoReplies", "that reply to an echo request.")                   \
    MESSAGE("Membership Query", PERF_COUNTER_RAWCOUNT, "GroupMembQueries",                                             \
            "that query the members of a multicast group, since the computer started.")                                \
    MESSAGE("Membership Report", PERF_COUNTER_RAWCOUNT, "GroupMembResponses",                                          \
            "that report a member of a multicast group, since the computer started.")                                  \
    MESSAGE("Membership Reduction", PERF_COUNTER_RAWCOUNT, "GroupMembReductions",                                      \
            "that report a member leaving a multicast group, since the computer started.")                             \
    MESSAGE("Router Solicit", PERF_COUNTER_RAWCOUNT, "RouterSolicits",                                                 \
            "that solicit routers, since the computer started.")                                                       \
    MESSAGE("Router Advert", PERF_COUNTER_RAWCOUNT, "RouterAdvertisements",                                            \
            "that advertise a router, since the computer started.")                                                    \
    MESSAGE("Neighbor Solicit", PERF_COUNTER_RAWCOUNT, "NeighborSolicits",                                             \
            "that solicit a neighbour's address, since the computer started.")                                         \
    MESSAGE("Neighbor Advert", PERF_COUNTER_RAWCOUNT, "NeighborAdvertisements",                                        \
            "that advertise a neighbour's address, since the computer started.")                                       \
    MESSAGE("Redirect/sec", PERF_COUNTER_COUNTER, "Redirects", "that redirect to a better route.")

/* ICMP and ICMPv6. The macro is expanded for each protocol, with ICMP (the protocol's name), KEY(protocol, name) (a
   number in the kernel's file) and MESSAGES (its messages, each received and sent). */
#define RECEIVED(name, type, key, text)                                                                                \
    COUNTER("Received " name, type, 0, 0, SUM, KEY("Icmp", "In" key), "Messages received " text)
#define SENT(name, type, key, text)                                                                                    \
    COUNTER("Sent " name, type, 0, 0, SUM, KEY("Icmp", "Out" key), "Messages sent " text)
#define ICMP_ROWS                                                                                                      \
    COUNTER("Messages/sec", PERF_COUNTER_COUNTER, 584, 0, SUM, KEY("Icmp", "InMsgs") " + " KEY("Icmp", "OutMsgs"),     \
            ICMP " messages received and sent.")                                                                       \
    COUNTER("Messages Received/sec", PERF_COUNTER_COUNTER, 586, 0, SUM, KEY("Icmp", "InMsgs"),                         \
            ICMP " messages received, including those with errors.")                                                   \
    COUNTER("Messages Received Errors", PERF_COUNTER_RAWCOUNT, 588, 0, SUM, KEY("Icmp", "InErrors"),                   \
            ICMP " messages received with errors, since the computer started.")                                        \
    COUNTER("Received Dest. Unreachable", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, KEY("Icmp", "InDestUnreachs"),             \
            "Messages received that report an unreachable destination, since the computer started.")                   \
    MESSAGES(RECEIVED)                                                                                                 \
    COUNTER("Messages Sent/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Icmp", "OutMsgs"),                              \
            ICMP " messages that were to be sent, including those with errors.")                                       \
    COUNTER("Messages Outbound Errors", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, KEY("Icmp", "OutErrors"),                    \
            ICMP " messages that could not be sent, since the computer started.")                                      \
    COUNTER("Sent Destination Unreachable", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, KEY("Icmp", "OutDestUnreachs"),          \
            "Messages sent that report an unreachable destination, since the computer started.")                       \
    MESSAGES(SENT)

/* UDPv4 and UDPv6. The macro is expanded for each protocol, with IP (the lower protocol) and KEY(protocol, name) (a
   number in the kernel's file). */
#define UDP_ROWS                                                                                                       \
    COUNTER("Datagrams/sec", PERF_COUNTER_COUNTER, 0, 0, SUM,                                                          \
            KEY("Udp", "InDatagrams") " + " KEY("Udp", "OutDatagrams"),                                                \
            "UDP datagrams received and sent over " IP ".")                                                            \
    COUNTER("Datagrams Received/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Udp", "InDatagrams"),                      \
            "UDP datagrams delivered to programs.")                                                                    \
    COUNTER("Datagrams No Port/sec", PERF_COUNTER_COUNTER, 664, 0, SUM, KEY("Udp", "NoPorts"),                         \
            "Datagrams received for a port without a listening program.")                                              \
    COUNTER("Datagrams Received Errors", PERF_COUNTER_RAWCOUNT, 666, 0, SUM, KEY("Udp", "InErrors"),                   \
            "Received datagrams that could not be delivered, except those without a listening program, since the "     \
            "computer started.")                                                                                       \
    COUNTER("Datagrams Sent/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Udp", "OutDatagrams"),                         \
            "UDP datagrams sent over " IP ".")

#define IP                  "IPv4"
#define ICMP                "ICMP"
#define MESSAGES            ICMP_MESSAGES
#define FORWARDED           "ForwDatagrams"
#define KEY(protocol, name) "net/snmp." protocol "." name
#define OBJECT              ipv4
#define ROWS                IP_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT icmp
#define ROWS   ICMP_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT udpv4
#define ROWS   UDP_ROWS
#include "engine/pdh/core/counter_rows.inc"
#undef IP
#undef ICMP
#undef MESSAGES
#undef FORWARDED
#undef KEY

#define IP                  "IPv6"
#define ICMP                "ICMPv6"
#define MESSAGES            ICMP6_MESSAGES
#define FORWARDED           "OutForwDatagrams"
#define KEY(protocol, name) "net/snmp6." protocol "6" name
#define OBJECT              ipv6
#define ROWS                IP_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT icmp6
#define ROWS   ICMP_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT udpv6
#define ROWS   UDP_ROWS
#include "engine/pdh/core/counter_rows.inc"

const struct counter_object_type pdh_ipv4 = {
    .name = "IPv4", .index = 546, .help = "Statistics of IPv4 datagrams.", KERNEL_FILE_OBJECT(ipv4)};
const struct counter_object_type pdh_ipv6 = {
    .name = "IPv6", .index = 548, .help = "Statistics of IPv6 datagrams.", KERNEL_FILE_OBJECT(ipv6)};
const struct counter_object_type pdh_icmp = {
    .name = "ICMP", .index = 582, .help = "Statistics of ICMP messages.", KERNEL_FILE_OBJECT(icmp)};
const struct counter_object_type pdh_icmp6 = {
    .name = "ICMPv6", .help = "Statistics of ICMPv6 messages.", KERNEL_FILE_OBJECT(icmp6)};
const struct counter_object_type pdh_udpv4 = {
    .name = "UDPv4", .index = 658, .help = "Statistics of UDP datagrams over IPv4.", KERNEL_FILE_OBJECT(udpv4)};
const struct counter_object_type pdh_udpv6 = {
    .name = "UDPv6", .help = "Statistics of UDP datagrams over IPv6.", KERNEL_FILE_OBJECT(udpv6)};
