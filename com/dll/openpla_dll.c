/* SPDX-License-Identifier: MIT */
/* The entry points of openpla.dll for COM and for the set host process. */
#include "com/dll/exports.h"
#include "com/proxy/proxy_stub.h"
#include "com/server/server.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/etw/directory.h"
#include "engine/pla/run.h"
#include "engine/pla/sets.h"
#include "reg/registration.h"

#include <libxml/parser.h>
#include <wchar.h>

#ifdef OPENPLA_BUNDLED_XML
/* DllMain must call this function of libxml2 if libxml2 is linked statically into a DLL. The function is declared here,
   because libxml2's header declares it only with HAVE_WIN32_THREADS. */
int XMLCALL xmlDllMain(void *instance, unsigned long reason, void *reserved);

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved);

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
    return xmlDllMain(instance, reason, reserved);
}
#endif

/* Whether objects of the class forward their verbs to the server. If the registration of the class led COM to this DLL,
   the server is registered too, so the objects forward their verbs. If the program's manifest led COM to this DLL, the
   server may be missing, so the objects do the work in this process. 32-bit programs always use the server (DECISIONS
   42). */
static bool is_registered_use(REFCLSID clsid)
{
    if (sizeof(void *) == 4)
        return true;
    ACTCTX_SECTION_KEYED_DATA found = {.cbSize = sizeof found};
    return !FindActCtxSectionGuid(0, NULL, ACTIVATION_CONTEXT_SECTION_COM_SERVER_REDIRECTION, clsid, &found);
}

STDAPI DllGetClassObject(REFCLSID clsid, REFIID iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    for (size_t i = 0; i < COM_CLASS_COUNT; i++) {
        CLSID id;
        IUnknown *factory = com_class_factory(i, is_registered_use(clsid), &id);
        if (IsEqualCLSID(clsid, &id))
            return IUnknown_QueryInterface(factory, iid, out);
        id = com_class_beside(&id);
        if (IsEqualCLSID(clsid, &id)) {
            HRESULT hr = com_use_own_proxies();
            return FAILED(hr) ? hr : IUnknown_QueryInterface(factory, iid, out);
        }
    }
    return proxy_stub_get_class_object(clsid, iid, out);
}

STDAPI DllCanUnloadNow(void)
{
    return server_object_count() ? S_FALSE : proxy_stub_can_unload();
}

#ifdef _WIN64 /* DECISIONS 42 */
int OpenPlaHost(int argc, WCHAR **argv)
{
    char *texts[3] = {NULL, NULL, NULL};
    HRESULT hr = argc == 4 ? S_OK : E_INVALIDARG;
    libraries_restrict();
    for (int i = 0; i < 3 && SUCCEEDED(hr); i++)
        hr = text_from_utf16(argv[i + 1], wcslen(argv[i + 1]), false, &texts[i]);
    if (SUCCEEDED(hr))
        hr = run_host_main(texts[0], texts[1], texts[2], data_manager_compile);
    for (int i = 0; i < 3; i++)
        memory_free(texts[i]);
    directory_leave();
    return hr;
}
#endif
