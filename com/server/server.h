/* SPDX-License-Identifier: MIT */
/* The server process: counts what keeps it alive, registers its program, and serves the classes. */
#ifndef OPENPLA_SERVER_H
#define OPENPLA_SERVER_H

#include <objbase.h>
#include <stdbool.h>
#include <stddef.h>
#include <windows.h>

/* Every COM object of ours, and every LockServer(TRUE), counts from its creation to its end. In process this is the
   count for DllCanUnloadNow; in openplasrv.exe started by COM the last end begins the grace period. */
void server_object_created(void);
void server_object_destroyed(void);
LONG server_object_count(void);

/* The classes that are served; in com/objects/factory.c. `for_client`: the objects are made in a client's process and
   leave the work to the server. The factory lives as long as the module. */
enum {
#define CLASS(name, guid, title, create, category)    COM_CLASS_##name,
#define FACADE(name, guid, title, create, for_client) COM_CLASS_##name,
#include "reg/classes.def"
#undef FACADE
#undef CLASS
    COM_CLASS_COUNT
};
IUnknown *com_class_factory(size_t index, bool for_client, CLSID *clsid);
/* The class of OpenPLA's own that stands beside this one of Windows' (reg/registration_table.h). */
CLSID com_class_beside(const CLSID *clsid);
/* Tells COM in this process that our proxies and stubs serve the interfaces, which no registration says beside Windows'
   own PLA. Once is enough. */
HRESULT com_use_own_proxies(void);

/* Whether a set of any namespace runs now; in com/server/running_sets.c. */
bool server_set_is_running(void);
/* Prints the sets that run, or stops each and prints that; true: some still run, or that could not be told, of which it
   says why on stderr. */
bool server_tell_sets(bool stop_them);

/* openplasrv.exe's main program; exported. Exit code 0 or 1. Without an argument that it knows it prints them. */
int OpenPlaServer(int argc, WCHAR **argv);

#endif
