/* SPDX-License-Identifier: MIT */
/* The objects IPv4, IPv6, ICMP, ICMPv6, UDPv4 and UDPv6, from /proc/net/snmp and snmp6. */
#include "engine/pdh/core/table.h"

/* IPv4 and IPv6, expanded for each with IP, the protocol's name; KEY(protocol, name), a figure in the kernel's file;
   FORWARDED, the name there of the forwarded datagrams. */
#define IP_ROWS                                                                                                        \
    COUNTER("Datagrams/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Ip", "InReceives") " + " KEY("Ip", "OutRequests"),  \
            IP " datagrams received from interfaces and handed to them.")                                              \
    COUNTER("Datagrams Received/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Ip", "InReceives"),                        \
            IP " datagrams received from interfaces, those with errors too.")                                          \
    COUNTER("Datagrams Received Header Errors", PERF_COUNTER_RAWCOUNT, 552, 0, SUM, KEY("Ip", "InHdrErrors"),          \
            "Received datagrams dropped for an error in their header so far.")                                         \
    COUNTER("Datagrams Received Address Errors", PERF_COUNTER_RAWCOUNT, 554, 0, SUM, KEY("Ip", "InAddrErrors"),        \
            "Received datagrams dropped because their address was not valid here so far.")                             \
    COUNTER("Datagrams Forwarded/sec", PERF_COUNTER_COUNTER, 556, 0, SUM, KEY("Ip", FORWARDED),                        \
            "Datagrams for others that were sent on.")                                                                 \
    COUNTER("Datagrams Received Unknown Protocol", PERF_COUNTER_RAWCOUNT, 558, 0, SUM, KEY("Ip", "InUnknownProtos"),   \
            "Received datagrams dropped for a protocol that is not known here so far.")                                \
    COUNTER("Datagrams Received Discarded", PERF_COUNTER_RAWCOUNT, 560, 0, SUM, KEY("Ip", "InDiscards"),               \
            "Received datagrams without a fault that were dropped, for lack of memory for example, so far.")           \
    COUNTER("Datagrams Received Delivered/sec", PERF_COUNTER_COUNTER, 562, 0, SUM, KEY("Ip", "InDelivers"),            \
            "Datagrams handed to the protocols above.")                                                                \
    COUNTER("Datagrams Sent/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Ip", "OutRequests"),                           \
            "Datagrams that the protocols above wanted to send. Those forwarded are not among them.")                  \
    COUNTER("Datagrams Outbound Discarded", PERF_COUNTER_RAWCOUNT, 564, 0, SUM, KEY("Ip", "OutDiscards"),              \
            "Datagrams without a fault that were dropped in place of being sent so far.")                              \
    COUNTER("Datagrams Outbound No Route", PERF_COUNTER_RAWCOUNT, 566, 0, SUM, KEY("Ip", "OutNoRoutes"),               \
            "Datagrams dropped because no route led to their receiver so far.")                                        \
    COUNTER("Fragments Received/sec", PERF_COUNTER_COUNTER, 568, 0, SUM, KEY("Ip", "ReasmReqds"),                      \
            "Fragments received that had to be put together here.")                                                    \
    COUNTER("Fragments Re-assembled/sec", PERF_COUNTER_COUNTER, 570, 0, SUM, KEY("Ip", "ReasmOKs"),                    \
            "Datagrams put together from fragments.")                                                                  \
    COUNTER("Fragment Re-assembly Failures", PERF_COUNTER_RAWCOUNT, 572, 0, SUM, KEY("Ip", "ReasmFails"),              \
            "Datagrams that could not be put together from fragments so far.")                                         \
    COUNTER("Fragmented Datagrams/sec", PERF_COUNTER_COUNTER, 574, 0, SUM, KEY("Ip", "FragOKs"),                       \
            "Datagrams that were cut into fragments.")                                                                 \
    COUNTER("Fragmentation Failures", PERF_COUNTER_RAWCOUNT, 576, 0, SUM, KEY("Ip", "FragFails"),                      \
            "Datagrams that had to be cut into fragments and could not be, so far.")                                   \
    COUNTER("Fragments Created/sec", PERF_COUNTER_COUNTER, 578, 0, SUM, KEY("Ip", "FragCreates"),                      \
            "Fragments made from datagrams.")

/* The kinds of messages of ICMP: MESSAGE(name, type, name in the kernel's file, which those are). */
#define ICMP_MESSAGES(MESSAGE)                                                                                         \
    MESSAGE("Time Exceeded", PERF_COUNTER_RAWCOUNT, "TimeExcds",                                                       \
            "that say that a datagram was under way too long, so far.")                                                \
    MESSAGE("Parameter Problem", PERF_COUNTER_RAWCOUNT, "ParmProbs",                                                   \
            "that say that a datagram's header was wrong, so far.")                                                    \
    MESSAGE("Source Quench", PERF_COUNTER_RAWCOUNT, "SrcQuenchs", "that ask to send less, so far.")                    \
    MESSAGE("Redirect/sec", PERF_COUNTER_COUNTER, "Redirects", "that name a better route.")                            \
    MESSAGE("Echo/sec", PERF_COUNTER_COUNTER, "Echos", "that ask for an echo.")                                        \
    MESSAGE("Echo Reply/sec", PERF_COUNTER_COUNTER, "EchoReps", "that answer an echo request.")                        \
    MESSAGE("Timestamp/sec", PERF_COUNTER_COUNTER, "Timestamps", "that ask for the time.")                             \
    MESSAGE("Timestamp Reply/sec", PERF_COUNTER_COUNTER, "TimestampReps", "that answer a request for the time.")       \
    MESSAGE("Address Mask", PERF_COUNTER_RAWCOUNT, "AddrMasks", "that ask for an address mask, so far.")               \
    MESSAGE("Address Mask Reply", PERF_COUNTER_RAWCOUNT, "AddrMaskReps",                                               \
            "that answer a request for an address mask, so far.")
/* The kinds of messages of ICMPv6: MESSAGE(name, type, name in the kernel's file, which those are). */
#define ICMP6_MESSAGES(MESSAGE)                                                                                        \
    MESSAGE("Packet Too Big", PERF_COUNTER_RAWCOUNT, "PktTooBigs",                                                     \
            "that say that a packet was too big for a link, so far.")                                                  \
    MESSAGE("Time Exceeded", PERF_COUNTER_RAWCOUNT, "TimeExcds",                                                       \
            "that say that a packet was under way too long, so far.")                                                  \
    MESSAGE("Parameter Problem", PERF_COUNTER_RAWCOUNT, "ParmProblems",                                                \
            "that say that a packet's header was wrong, so far.")                                                      \
    MESSAGE("Echo/sec", PERF_COUNTER_COUNTER, "Echos", "that ask for an echo.")                                        \
    MESSAGE("Echo Reply/sec", PERF_COUNTER_COUNTER, "EchoReplies", "that answer an echo request.")                     \
    MESSAGE("Membership Query", PERF_COUNTER_RAWCOUNT, "GroupMembQueries",                                             \
            "that ask for members of a multicast group, so far.")                                                      \
    MESSAGE("Membership Report", PERF_COUNTER_RAWCOUNT, "GroupMembResponses",                                          \
            "that tell of a member of a multicast group, so far.")                                                     \
    MESSAGE("Membership Reduction", PERF_COUNTER_RAWCOUNT, "GroupMembReductions",                                      \
            "that tell that a member has left a multicast group, so far.")                                             \
    MESSAGE("Router Solicit", PERF_COUNTER_RAWCOUNT, "RouterSolicits", "that ask for routers, so far.")                \
    MESSAGE("Router Advert", PERF_COUNTER_RAWCOUNT, "RouterAdvertisements", "that tell of a router, so far.")          \
    MESSAGE("Neighbor Solicit", PERF_COUNTER_RAWCOUNT, "NeighborSolicits",                                             \
            "that ask for a neighbour's address, so far.")                                                             \
    MESSAGE("Neighbor Advert", PERF_COUNTER_RAWCOUNT, "NeighborAdvertisements",                                        \
            "that tell of a neighbour's address, so far.")                                                             \
    MESSAGE("Redirect/sec", PERF_COUNTER_COUNTER, "Redirects", "that name a better route.")

/* ICMP and ICMPv6, expanded for each with ICMP, the protocol's name; KEY(protocol, name), a figure in the kernel's
   file; MESSAGES, its kinds of messages, each of which is received and sent. */
#define RECEIVED(name, type, key, text)                                                                                \
    COUNTER("Received " name, type, 0, 0, SUM, KEY("Icmp", "In" key), "Messages received " text)
#define SENT(name, type, key, text)                                                                                    \
    COUNTER("Sent " name, type, 0, 0, SUM, KEY("Icmp", "Out" key), "Messages sent " text)
#define ICMP_ROWS                                                                                                      \
    COUNTER("Messages/sec", PERF_COUNTER_COUNTER, 584, 0, SUM, KEY("Icmp", "InMsgs") " + " KEY("Icmp", "OutMsgs"),     \
            ICMP " messages received and sent.")                                                                       \
    COUNTER("Messages Received/sec", PERF_COUNTER_COUNTER, 586, 0, SUM, KEY("Icmp", "InMsgs"),                         \
            ICMP " messages received, those with errors too.")                                                         \
    COUNTER("Messages Received Errors", PERF_COUNTER_RAWCOUNT, 588, 0, SUM, KEY("Icmp", "InErrors"),                   \
            ICMP " messages received with an error so far.")                                                           \
    COUNTER("Received Dest. Unreachable", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, KEY("Icmp", "InDestUnreachs"),             \
            "Messages received that say that a destination cannot be reached, so far.")                                \
    MESSAGES(RECEIVED)                                                                                                 \
    COUNTER("Messages Sent/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Icmp", "OutMsgs"),                              \
            ICMP " messages that were to be sent, those with errors too.")                                             \
    COUNTER("Messages Outbound Errors", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, KEY("Icmp", "OutErrors"),                    \
            ICMP " messages that could not be sent, so far.")                                                          \
    COUNTER("Sent Destination Unreachable", PERF_COUNTER_RAWCOUNT, 0, 0, SUM, KEY("Icmp", "OutDestUnreachs"),          \
            "Messages sent that say that a destination cannot be reached, so far.")                                    \
    MESSAGES(SENT)

/* UDPv4 and UDPv6, expanded for each with IP, the protocol below, and KEY(protocol, name), a figure in the
   kernel's file. */
#define UDP_ROWS                                                                                                       \
    COUNTER("Datagrams/sec", PERF_COUNTER_COUNTER, 0, 0, SUM,                                                          \
            KEY("Udp", "InDatagrams") " + " KEY("Udp", "OutDatagrams"),                                                \
            "UDP datagrams received and sent over " IP ".")                                                            \
    COUNTER("Datagrams Received/sec", PERF_COUNTER_COUNTER, 0, 0, SUM, KEY("Udp", "InDatagrams"),                      \
            "UDP datagrams handed to programs.")                                                                       \
    COUNTER("Datagrams No Port/sec", PERF_COUNTER_COUNTER, 664, 0, SUM, KEY("Udp", "NoPorts"),                         \
            "Received datagrams for a port that no program listened on.")                                              \
    COUNTER("Datagrams Received Errors", PERF_COUNTER_RAWCOUNT, 666, 0, SUM, KEY("Udp", "InErrors"),                   \
            "Received datagrams that could not be handed on for another reason so far.")                               \
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
    .name = "IPv4", .index = 546, .help = "Datagrams of IPv4.", KERNEL_FILE_OBJECT(ipv4)};
const struct counter_object_type pdh_ipv6 = {
    .name = "IPv6", .index = 548, .help = "Datagrams of IPv6.", KERNEL_FILE_OBJECT(ipv6)};
const struct counter_object_type pdh_icmp = {
    .name = "ICMP", .index = 582, .help = "Messages of ICMP.", KERNEL_FILE_OBJECT(icmp)};
const struct counter_object_type pdh_icmp6 = {
    .name = "ICMPv6", .help = "Messages of ICMPv6.", KERNEL_FILE_OBJECT(icmp6)};
const struct counter_object_type pdh_udpv4 = {
    .name = "UDPv4", .index = 658, .help = "Datagrams of UDP over IPv4.", KERNEL_FILE_OBJECT(udpv4)};
const struct counter_object_type pdh_udpv6 = {
    .name = "UDPv6", .help = "Datagrams of UDP over IPv6.", KERNEL_FILE_OBJECT(udpv6)};
