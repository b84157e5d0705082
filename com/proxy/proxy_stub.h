/* SPDX-License-Identifier: MIT */
/* Proxies and stubs of the 18 interfaces, in openpla.dll. What widl generates does the marshalling; around it stands a
   layer that makes the wire the same for every peer and keeps bad requests from our objects:
   - requests end on a multiple of 4 bytes and every byte of padding, in requests and replies, is zero, so that a peer
     whose enumerations have 4 bytes reads the value that we wrote in 2; the mode of Commit, which can stand 2 bytes off
     a multiple of 4, is written for both and read from both;
   - a request whose opnum the interface lacks is RPC_S_PROCNUM_OUT_OF_RANGE, one that is too short for the method's
     [in] parameters is RPC_X_BAD_STUB_DATA, both as HRESULTs, and neither reaches the object;
   - an exception in a method is that call's error and nothing else. */
#ifndef OPENPLA_PROXY_STUB_H
#define OPENPLA_PROXY_STUB_H

#include <windows.h>
#include <ole2.h>

/* For DllGetClassObject: with OPENPLA_PROXY_CLSID (idl/proxy_clsid.h) an IPSFactoryBuffer or IUnknown in *object, which
   the caller releases. CLASS_E_CLASSNOTAVAILABLE for any other class, E_NOINTERFACE for any other interface. */
HRESULT proxy_stub_get_class_object(REFCLSID class_id, REFIID iid, void **object);

/* For DllCanUnloadNow: S_FALSE while a factory, proxy or stub is held, else S_OK. */
HRESULT proxy_stub_can_unload(void);

#endif
