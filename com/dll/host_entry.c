/* SPDX-License-Identifier: MIT */
/* The host's entry in openpla.dll: its arguments as the engine wants them. */
#include "com/dll/host_entry.h"

#include "engine/base/libraries.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pla/run.h"
#include "engine/pla/sets.h"

#include <wchar.h>

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
    return hr;
}
