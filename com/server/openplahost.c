/* SPDX-License-Identifier: MIT */
/* openplahost.exe <namespace> <name> <run key>: runs one set. The code is in openpla.dll. */
#include "com/dll/exports.h"

int wmain(int argc, WCHAR **argv);

int wmain(int argc, WCHAR **argv)
{
    return OpenPlaHost(argc, argv);
}
