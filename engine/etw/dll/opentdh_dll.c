/* SPDX-License-Identifier: MIT */
/* opentdh.dll: TDH for host OSs that lack it. openetw.dll forwards TDH's names to this DLL, and a copy named tdh.dll
   serves programs that load tdh.dll. It is a separate DLL so that programs that only write events do not load the
   decoder. */
#include <windows.h>
#include <libxml/parser.h>

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved);

#ifdef OPENPLA_BUNDLED_XML
/* libxml2's hook for static linking into a DLL. libxml2's header declares this function only if HAVE_WIN32_THREADS is
   defined. */
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
