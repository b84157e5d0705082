/* SPDX-License-Identifier: MIT */
/* rpcrt4's Invoke of a stub, from which no exception comes out. */
#ifndef OPENPLA_PROXY_STUB_GUARD_H
#define OPENPLA_PROXY_STUB_GUARD_H

#include <windows.h>
#include <ole2.h>

/* What CStdStubBuffer_Invoke returns; after an exception the Win32 error or HRESULT that was raised as one (as rpcrt4
   and oleaut32 do), and else RPC_E_SERVERFAULT. */
HRESULT proxy_stub_guarded_invoke(IRpcStubBuffer *stub, RPCOLEMESSAGE *message, IRpcChannelBuffer *channel);

#endif
