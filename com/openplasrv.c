/* SPDX-License-Identifier: MIT */
/* openplasrv.exe: runs the server that is in openpla.dll (DECISIONS 19: one copy of the engine). */
#include "com/server.h"

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    return OpenPlaServer(argc, argv);
}
