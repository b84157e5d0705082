/* SPDX-License-Identifier: MIT */
/* The security of the server process: who may call it, and what it lets those do that it calls. */
#ifndef OPENPLA_SERVER_SECURITY_H
#define OPENPLA_SERVER_SECURITY_H

#include <objbase.h>
#include <windows.h>

typedef HRESULT WINAPI initialize_security(PSECURITY_DESCRIPTOR descriptor, LONG services,
                                           SOLE_AUTHENTICATION_SERVICE *service, void *reserved, DWORD authentication,
                                           DWORD impersonation, void *list, DWORD capabilities, void *reserved_too);

/* Calls CoInitializeSecurity, which is the argument. MS-PLA 2.1: packet privacy. Whoever the server calls (objects of
   clients, among them QueryInterface and Release) may learn who it is, and not act for it; no object of a client comes
   with marshalling code of its own; no server is started in a client's name. */
HRESULT server_secure(initialize_security *initialize);

#endif
