/* SPDX-License-Identifier: MIT */
/* Whether a request can hold the parameters of its method, told from the method's format string before anything is
   unmarshalled. */
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

#endif
