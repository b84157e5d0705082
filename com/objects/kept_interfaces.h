/* SPDX-License-Identifier: MIT */
/* Under Wine: the server's interfaces stay known to its RPC layer for the process' whole life. */
#ifndef OPENPLA_KEPT_INTERFACES_H
#define OPENPLA_KEPT_INTERFACES_H

#include <windows.h>

/* Wine takes an interface out of its RPC layer when the last object with it is released, holding a lock while it waits
   for calls of that interface to end; a call that needs the same lock then never ends, and the server answers nobody
   any more. So one object of no use keeps each interface in. In the multithreaded apartment; ends with the process. */
HRESULT kept_interfaces_begin(void);

#endif
