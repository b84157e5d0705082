/* SPDX-License-Identifier: MIT */
/* The network provider of MS-PLA 2.2.11 and 4.1, as anybody writes one for Windows: it says what its enable callback
   was given, and writes an event for each thing that happens to a packet, but for addresses that the filter leaves
   out. */
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

/* Registers it. What the callback is given it prints, a line each. False: it could not, and said why. */
BOOL provider_begin(void);
void provider_end(void);
/* Until the callback said that the provider is enabled at this level. False: it did not within `milliseconds`. */
BOOL provider_wait(UCHAR level, DWORD milliseconds);
/* It was enabled and is no longer. */
BOOL provider_was_enabled(void);
/* One packet to the address and one from it: an error, the packet sent, its bytes, and the packet received. */
void provider_traffic(const char *address);

#endif
