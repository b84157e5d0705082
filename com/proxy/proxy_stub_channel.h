/* SPDX-License-Identifier: MIT */
/* The channel that our proxies and stubs see: the real one, with zeroed buffers and requests of a multiple of 4 bytes.
 */
#ifndef OPENPLA_PROXY_STUB_CHANNEL_H
#define OPENPLA_PROXY_STUB_CHANNEL_H

#include <windows.h>
#include <ole2.h>

/* A channel over inner, of which it holds a reference, for a proxy or stub of the interface iid (which must outlive
   it); the caller releases it. NULL: out of memory. */
IRpcChannelBuffer *proxy_stub_channel(IRpcChannelBuffer *inner, const IID *iid);

#endif
