/* SPDX-License-Identifier: MIT */
/* What stands between a request and the method: whether the request can hold the method's parameters, told from the
   format string before anything is unmarshalled, and the guard that lets no exception out. */
#ifndef OPENPLA_PROXY_STUB_REQUEST_H
#define OPENPLA_PROXY_STUB_REQUEST_H

#include <stdbool.h>
#include <windows.h>
#include <ole2.h>
#include <rpcproxy.h>

/* What widl generated for the stubs of the interface, which is no constant; NULL if it is none of ours. */
CInterfaceStubVtbl *proxy_stub_interface(REFIID iid);

/* S_OK, or the HRESULT of RPC_S_PROCNUM_OUT_OF_RANGE (no such opnum) or RPC_X_BAD_STUB_DATA (fewer bytes than the
   method's [in] parameters take in their shortest form, or a BSTR that reaches past the end: Wine's unmarshalling would
   read on). The methods of IDispatch are not looked into: their stub is oleaut32's. In a request of a peer with
   enumerations of 4 bytes an enumeration is moved to where one of 2 bytes stands. */
HRESULT proxy_stub_check_request(const CInterfaceStubHeader *stub, unsigned opnum, BYTE *bytes, size_t size);

/* rpcrt4's Invoke of a stub, from which no exception comes out: what CStdStubBuffer_Invoke returns; after an exception
   the Win32 error or HRESULT that was raised as one (as rpcrt4 and oleaut32 do), and else RPC_E_SERVERFAULT. */
HRESULT proxy_stub_guarded_invoke(IRpcStubBuffer *stub, RPCOLEMESSAGE *message, IRpcChannelBuffer *channel);

#endif
