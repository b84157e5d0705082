/* SPDX-License-Identifier: MIT */
/* Writes events to the event log, through the event provider of Windows' PLA. Windows contains the manifest of this
   event provider. Under Wine the calls have no effect. This code is in a separate file because it uses advapi32's
   EventRegister, which programs with OpenPLA's own event functions cannot link. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/win32/win32_call.h"
#include "engine/base/windows_services.h"

#include <windows.h>
#include <evntprov.h>

static const GUID provider = {0xE4D53F84, 0x7DE3, 0x11D8, {0x94, 0x35, 0x50, 0x50, 0x54, 0x50, 0x30, 0x30}};
#define CHANNEL_FIRST      16 /* number of the first channel; Operational is the only channel of this event provider */
#define KEYWORD_OF_CHANNEL 0x8000000000000000u

static HRESULT event_log_describe_field(const struct event_log_field *field, EVENT_DATA_DESCRIPTOR *out, WCHAR **wide)
{
    size_t units = 0;
    HRESULT hr = field->text ? text_to_utf16(field->text, wide, &units) : S_OK;
    if (FAILED(hr))
        return hr;
    if (field->text)
        EventDataDescCreate(out, *wide, (ULONG)((units + 1) * sizeof(WCHAR)));
    else
        EventDataDescCreate(out, &field->number, sizeof(field->number));
    return S_OK;
}

HRESULT event_log_write(uint32_t id, uint8_t level, const struct event_log_field *fields, size_t count)
{
    EVENT_DESCRIPTOR event = {
        .Id = (USHORT)id, .Channel = CHANNEL_FIRST, .Level = level, .Keyword = KEYWORD_OF_CHANNEL};
    EVENT_DATA_DESCRIPTOR data[EVENT_LOG_FIELDS_MAX];
    WCHAR *texts[EVENT_LOG_FIELDS_MAX] = {NULL};
    REGHANDLE handle = 0;
    HRESULT hr = count <= EVENT_LOG_FIELDS_MAX ? S_OK : E_INVALIDARG;
    ULONG code;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = event_log_describe_field(&fields[i], &data[i], &texts[i]);
    if (SUCCEEDED(hr)) {
        code = EventRegister(&provider, NULL, NULL, &handle);
        if (!code) {
            code = EventWrite(handle, &event, (ULONG)count, data);
            EventUnregister(handle);
        }
        hr = code ? win32_failed(code, "event log") : S_OK;
    }
    for (size_t i = 0; i < EVENT_LOG_FIELDS_MAX; i++)
        memory_free(texts[i]);
    return hr;
}
