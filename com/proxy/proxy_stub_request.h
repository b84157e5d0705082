/* SPDX-License-Identifier: MIT */
/* Protects a method from invalid requests, and its caller from exceptions. Before unmarshalling, checks whether the
   request is long enough for the method's parameters; their size is computed from the format string. */
#ifndef OPENPLA_PROXY_STUB_REQUEST_H
#define OPENPLA_PROXY_STUB_REQUEST_H

#include <stdbool.h>
#include <windows.h>
#include <ole2.h>
#include <rpcproxy.h>

/* Returns the stub vtable that widl generated for the interface; it is writable. NULL for an unknown interface. */
CInterfaceStubVtbl *proxy_stub_interface(REFIID iid);

/* Returns S_OK, HRESULT_FROM_WIN32(RPC_S_PROCNUM_OUT_OF_RANGE) for an unknown opnum, or
   HRESULT_FROM_WIN32(RPC_X_BAD_STUB_DATA) for a request that is too short. A request is too short if it has fewer bytes
   than the method's [in] parameters take in their shortest form. A request is also too short if a BSTR extends past the
   end of the request; Wine's unmarshalling would read beyond this end. Methods of IDispatch are not checked, because
   their stub is part of oleaut32. In requests of peers with 4-byte enumerations, an enumeration is moved to the place
   where Wine expects it. */
HRESULT proxy_stub_check_request(const CInterfaceStubHeader *stub, unsigned opnum, BYTE *bytes, size_t size);

/* Calls rpcrt4's Invoke of a stub and catches exceptions. Returns what CStdStubBuffer_Invoke returns; after an
   exception it returns RPC_E_SERVERFAULT, or the Win32 error or HRESULT that rpcrt4 or oleaut32 raised as the
   exception. */
HRESULT proxy_stub_guarded_invoke(IRpcStubBuffer *stub, RPCOLEMESSAGE *message, IRpcChannelBuffer *channel);

#endif
