/* SPDX-License-Identifier: MIT */
/* opentdh.dll: TDH for hosts without one; openetw.dll forwards TDH's names to it, and a copy named tdh.dll serves
   programs that load that. An own DLL, so that no program that writes events loads what only decoding needs. */
#include <windows.h>
#include <libxml/parser.h>

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved);

#ifdef OPENPLA_BUNDLED_XML
/* libxml2's hook for static linking into a DLL; its header shows it only with HAVE_WIN32_THREADS. */
int XMLCALL xmlDllMain(void *instance, unsigned long reason, void *reserved);
#endif

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
#ifdef OPENPLA_BUNDLED_XML
    return xmlDllMain(instance, reason, reserved);
#else
    (void)instance, (void)reason, (void)reserved;
    return TRUE;
#endif
}
