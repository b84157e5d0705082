/* SPDX-License-Identifier: MIT */
#include "cli/template.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/quotas.h"

#include <string.h>

HRESULT template_load(const char *path, char **xml, size_t *size)
{
    static const char mark8[] = "\xEF\xBB\xBF", mark16[] = "\xFF\xFE";
    char *bytes;
    HRESULT hr = file_load(path, QUOTA_NUMBER_xml_bytes, &bytes, size);
    *xml = NULL;
    if (FAILED(hr))
        return hr;
    if (*size >= 2 && memcmp(bytes, mark16, 2) == 0) {
        hr = text_from_utf16((const WCHAR *)(const void *)(bytes + 2), (*size - 2) / sizeof(WCHAR), false, xml);
        *size = SUCCEEDED(hr) ? strlen(*xml) : 0;
        memory_free(bytes);
        return hr;
    }
    if (*size >= 3 && memcmp(bytes, mark8, 3) == 0)
        memmove(bytes, bytes + 3, *size -= 3);
    *xml = bytes;
    return S_OK;
}
