/* SPDX-License-Identifier: MIT */
/* openplasrv.exe: the COM server and service. The code is in openpla.dll. */
#include "com/server/server.h"

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    return OpenPlaServer(argc, argv);
}
