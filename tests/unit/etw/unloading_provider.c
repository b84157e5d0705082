/* SPDX-License-Identifier: MIT */
/* A DLL that registers an event provider on load and unregisters it on unload, both in its DllMain. */
#include <windows.h>
#include <evntprov.h>

/* {55555555-0001-0002-0300-000000000000} */
static const GUID guid = {0x55555555, 1, 2, {3}};
static REGHANDLE provider;
static volatile LONG called;

__declspec(dllexport) ULONG write_event(void);
__declspec(dllexport) LONG callbacks(void);
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);

/* Sets the event with this name, if it exists. The program that loads the DLL creates the event to learn that the DLL
   has reached a certain point, and to delay it there. Returns whether the event exists. */
static BOOL named(const WCHAR *name)
{
    HANDLE event = OpenEventW(EVENT_MODIFY_STATE, FALSE, name);
    if (event) {
        SetEvent(event);
        CloseHandle(event);
    }
    return event != NULL;
}

/* Sleeps long enough for the DLL to be unloaded during the call. */
static VOID NTAPI run_slowly(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                             PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
    (void)source, (void)enabled, (void)level, (void)any, (void)all, (void)filter, (void)context;
    InterlockedIncrement(&called);
    Sleep(named(L"unloading-provider-stays") ? 60000 : 5);
}

/* Returns the number of callbacks that have begun. */
LONG callbacks(void)
{
    return called;
}

ULONG write_event(void)
{
    const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 4};
    return EventWrite(provider, &event, 0, NULL);
}

BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved)
{
    (void)module, (void)reserved;
    if (reason == DLL_PROCESS_ATTACH && named(L"unloading-provider-loads"))
        Sleep(500); /* by then, the other thread is in its own first registration */
    if (reason == DLL_PROCESS_ATTACH)
        return EventRegister(&guid, run_slowly, NULL, &provider) == ERROR_SUCCESS;
    if (reason == DLL_PROCESS_DETACH)
        EventUnregister(provider);
    return TRUE;
}
