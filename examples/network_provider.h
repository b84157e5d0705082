/* SPDX-License-Identifier: MIT */
/* The network provider of MS-PLA 2.2.11 and 4.1, written only with Windows' headers. It prints what its enable callback
   receives, and writes an event for each step of a packet, except for addresses that the filter excludes. */
#ifndef OPENPLA_EXAMPLE_NETWORK_PROVIDER_H
#define OPENPLA_EXAMPLE_NETWORK_PROVIDER_H

#include <windows.h>
#include <evntprov.h>

/* {A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D} */
extern const GUID network_provider;
/* Its keywords, and its filter: the data are an address, without a NUL. */
enum { KEYWORD_SEND = 1, KEYWORD_RECEIVE = 2, FILTER_ADDRESS = 1 };
/* Its events; the data of each are the address, with a NUL. */
enum { PACKET_SENT = 1, PACKET_RECEIVED = 2, PACKET_ERROR = 3, PACKET_BYTES = 4 };
enum { LEVEL_ERROR = 2, LEVEL_INFORMATION = 4, LEVEL_VERBOSE = 5 };

/* Registers the provider. Prints each call of the callback on a line. False: failed, with a message printed. */
BOOL provider_begin(void);
void provider_end(void);
/* Waits until the callback has enabled the provider at this level. False: not within `milliseconds`. */
BOOL provider_wait(UCHAR level, DWORD milliseconds);
/* Whether it was enabled and is disabled now. */
BOOL provider_was_enabled(void);
/* One packet to the address and one from it: an error, the packet sent, its bytes, and the packet received. */
void provider_traffic(const char *address);

#endif
