/* SPDX-License-Identifier: MIT */
/* There is no system here whose texts these were: what our own errors say. */
#include "engine/base/system_message.h"

#include "engine/base/text.h"

#include <string.h>

/* MS-ERREF 2.3.1 */
static const struct {
    uint32_t status;
    HRESULT same;
} statuses[] = {
    {0xC0000005, HRESULT_FROM_WIN32(998)}, {0xC0000008, HRESULT_FROM_WIN32(6)},  {0xC000000D, E_INVALIDARG},
    {0xC000000F, HRESULT_FROM_WIN32(2)},   {0xC0000017, E_OUTOFMEMORY},          {0xC0000022, E_ACCESSDENIED},
    {0xC0000034, HRESULT_FROM_WIN32(2)},   {0xC000003A, HRESULT_FROM_WIN32(3)},  {0xC0000043, HRESULT_FROM_WIN32(32)},
    {0xC000007F, HRESULT_FROM_WIN32(112)}, {0xC00000BB, HRESULT_FROM_WIN32(50)}, {0, S_OK},
};

char *system_message(enum system_message kind, uint32_t code)
{
    HRESULT hr = (HRESULT)code;
    if (kind == SYSTEM_MESSAGE_WIN32)
        hr = code <= UINT16_MAX ? HRESULT_FROM_WIN32((int32_t)code) : E_UNEXPECTED;
    size_t i = 0;
    if (kind == SYSTEM_MESSAGE_NTSTATUS) {
        while (i < sizeof statuses / sizeof statuses[0] && statuses[i].status != code)
            i++;
        if (i == sizeof statuses / sizeof statuses[0])
            return NULL;
        hr = statuses[i].same;
    }
    const char *text = error_standard_text(hr);
    return strncmp(text, "error 0x", 8) == 0 || (kind == SYSTEM_MESSAGE_WIN32 && hr == E_UNEXPECTED) ? NULL
                                                                                                     : text_copy(text);
}
