/* SPDX-License-Identifier: MIT */
/* The Windows service OpenPLA: created, updated and deleted through the service control manager. */
#include "reg/service.h"

#include "engine/os/memory.h"

#include <windows.h>
#include <wchar.h>

#define ACCOUNT       L"LocalSystem" /* what a set without credentials runs as; others need its rights too */
#define STOP_WAIT_MS  30000
#define START_WAIT_MS 30000
#define START_POLL_MS 50

/* "<server>" /service: quoted, since a path may hold blanks. */
static WCHAR *service_command(const char *server)
{
    char *text = text_format("\"%s\" /service", server);
    WCHAR *wide = NULL;
    if (text && FAILED(text_to_utf16(text, &wide, NULL)))
        wide = NULL;
    memory_free(text);
    return wide;
}

static HRESULT service_error(const char *doing)
{
    HRESULT hr = HRESULT_FROM_WIN32(GetLastError());
    return error_set(FAILED(hr) ? hr : E_FAIL, "%s service OpenPLA: %s", doing, error_standard_text(hr));
}

struct connection {
    WCHAR *command;
    SC_HANDLE manager, service; /* NULL: there is none */
};

/* For service_close in any case. S_FALSE: there is no such service. */
static HRESULT service_open(const char *server, DWORD manager_access, DWORD access, struct connection *out)
{
    *out = (struct connection){.command = service_command(server)};
    if (!out->command)
        return E_OUTOFMEMORY;
    out->manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT | manager_access);
    if (!out->manager)
        return service_error("connecting to the service control manager for");
    out->service = OpenServiceW(out->manager, OPENPLA_SERVICE_NAME, access);
    if (out->service)
        return S_OK;
    return GetLastError() == ERROR_SERVICE_DOES_NOT_EXIST ? S_FALSE : service_error("opening");
}

static void service_close(struct connection *c)
{
    if (c->service)
        CloseServiceHandle(c->service);
    if (c->manager)
        CloseServiceHandle(c->manager);
    memory_free(c->command);
}

/* The present configuration, from memory_alloc; NULL with the last error set. */
static QUERY_SERVICE_CONFIGW *query_config(SC_HANDLE service)
{
    QUERY_SERVICE_CONFIGW *config = NULL;
    DWORD size = 0;
    QueryServiceConfigW(service, NULL, 0, &size);
    if (GetLastError() != ERROR_INSUFFICIENT_BUFFER)
        return NULL;
    config = memory_alloc(size);
    if (!config) {
        SetLastError(ERROR_OUTOFMEMORY);
    } else if (!QueryServiceConfigW(service, config, size, &size)) {
        memory_free(config);
        config = NULL;
    }
    return config;
}

static BOOL describe(SC_HANDLE service)
{
    SERVICE_DESCRIPTIONW description = {(WCHAR *)OPENPLA_SERVICE_DESCRIPTION};
    return ChangeServiceConfig2W(service, SERVICE_CONFIG_DESCRIPTION, &description);
}

static HRESULT service_update(SC_HANDLE service, const WCHAR *command)
{
    QUERY_SERVICE_CONFIGW *earlier = query_config(service);
    HRESULT hr = S_OK;
    if (!earlier)
        return service_error("reading");
    if (!ChangeServiceConfigW(service, SERVICE_WIN32_OWN_PROCESS, SERVICE_AUTO_START, SERVICE_ERROR_NORMAL, command,
                              NULL, NULL, NULL, ACCOUNT, NULL, OPENPLA_SERVICE_DISPLAY_NAME)) {
        hr = service_error("changing");
    } else if (!describe(service)) {
        hr = service_error("describing");
        ChangeServiceConfigW(service, earlier->dwServiceType, earlier->dwStartType, earlier->dwErrorControl,
                             earlier->lpBinaryPathName, NULL, NULL, NULL, earlier->lpServiceStartName, NULL,
                             earlier->lpDisplayName);
    }
    memory_free(earlier);
    return hr;
}

static HRESULT service_create(struct connection *c)
{
    c->service = CreateServiceW(c->manager, OPENPLA_SERVICE_NAME, OPENPLA_SERVICE_DISPLAY_NAME,
                                SERVICE_CHANGE_CONFIG | DELETE, SERVICE_WIN32_OWN_PROCESS, SERVICE_AUTO_START,
                                SERVICE_ERROR_NORMAL, c->command, NULL, NULL, NULL, ACCOUNT, NULL);
    if (!c->service)
        return service_error("creating");
    if (describe(c->service))
        return S_OK;
    HRESULT hr = service_error("describing");
    DeleteService(c->service);
    return hr;
}

HRESULT service_install(const char *server)
{
    struct connection c;
    HRESULT hr = service_open(server, SC_MANAGER_CREATE_SERVICE, SERVICE_QUERY_CONFIG | SERVICE_CHANGE_CONFIG, &c);
    if (hr == S_OK)
        hr = service_update(c.service, c.command);
    else if (hr == S_FALSE)
        hr = service_create(&c);
    service_close(&c);
    return hr;
}

static void service_stop(SC_HANDLE service)
{
    SERVICE_STATUS_PROCESS status = {0};
    DWORD size;
    if (!QueryServiceStatusEx(service, SC_STATUS_PROCESS_INFO, (BYTE *)&status, sizeof(status), &size) ||
        status.dwCurrentState == SERVICE_STOPPED)
        return;
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, status.dwProcessId);
    /* The control fails when the process died; Wine's manager shows it as running all the same. */
    if (process && ControlService(service, SERVICE_CONTROL_STOP, (SERVICE_STATUS *)&status))
        WaitForSingleObject(process, STOP_WAIT_MS);
    if (process)
        CloseHandle(process);
}

static HRESULT service_delete(SC_HANDLE service, const WCHAR *command)
{
    QUERY_SERVICE_CONFIGW *config = query_config(service);
    HRESULT hr = S_OK;
    if (!config)
        return service_error("reading");
    if (_wcsicmp(config->lpBinaryPathName, command)) {
        hr = S_FALSE;
    } else {
        service_stop(service);
        if (!DeleteService(service) && GetLastError() != ERROR_SERVICE_MARKED_FOR_DELETE)
            hr = service_error("deleting");
    }
    memory_free(config);
    return hr;
}

HRESULT service_remove(const char *server)
{
    struct connection c;
    HRESULT hr = service_open(server, 0, SERVICE_QUERY_CONFIG | SERVICE_QUERY_STATUS | SERVICE_STOP | DELETE, &c);
    if (hr == S_OK)
        hr = service_delete(c.service, c.command);
    service_close(&c);
    return hr;
}

HRESULT service_start(void)
{
    struct connection c;
    SERVICE_STATUS status = {.dwCurrentState = SERVICE_START_PENDING};
    HRESULT hr = service_open("", 0, SERVICE_START | SERVICE_QUERY_STATUS, &c);
    if (hr == S_FALSE)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_SERVICE_DOES_NOT_EXIST), "there is no service OpenPLA");
    if (SUCCEEDED(hr) && !StartServiceW(c.service, 0, NULL) && GetLastError() != ERROR_SERVICE_ALREADY_RUNNING)
        hr = service_error("starting");
    for (DWORD waited = 0; SUCCEEDED(hr) && status.dwCurrentState == SERVICE_START_PENDING; waited += START_POLL_MS) {
        if (waited)
            Sleep(START_POLL_MS);
        if (!QueryServiceStatus(c.service, &status))
            hr = service_error("asking");
        else if (waited > START_WAIT_MS)
            break;
    }
    if (SUCCEEDED(hr) && status.dwCurrentState != SERVICE_RUNNING) {
        SetLastError(status.dwCurrentState == SERVICE_STOPPED && status.dwWin32ExitCode
                         ? status.dwWin32ExitCode
                         : ERROR_SERVICE_REQUEST_TIMEOUT);
        hr = service_error("starting");
    }
    service_close(&c);
    return hr;
}

HRESULT service_look(struct service_seen *out)
{
    struct connection c;
    SERVICE_STATUS_PROCESS status = {0};
    DWORD size;
    *out = (struct service_seen){0};
    HRESULT hr = service_open("", 0, SERVICE_QUERY_CONFIG | SERVICE_QUERY_STATUS, &c);
    QUERY_SERVICE_CONFIGW *config = hr == S_OK ? query_config(c.service) : NULL;
    if (hr == S_OK &&
        (!config || !QueryServiceStatusEx(c.service, SC_STATUS_PROCESS_INFO, (BYTE *)&status, sizeof status, &size)))
        hr = service_error("reading");
    if (hr == S_OK)
        hr = text_from_utf16(config->lpBinaryPathName, wcslen(config->lpBinaryPathName), true, &out->command);
    if (hr == S_OK) {
        out->disabled = config->dwStartType == SERVICE_DISABLED;
        out->running = status.dwCurrentState != SERVICE_STOPPED && status.dwCurrentState != SERVICE_STOP_PENDING;
        out->process = status.dwProcessId;
    }
    memory_free(config);
    service_close(&c);
    return hr;
}
