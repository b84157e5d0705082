/* SPDX-License-Identifier: MIT */
/* The Windows service OpenPLA: created, updated and deleted through the service control manager. */
#include "reg/service.h"

#include "engine/base/memory.h"

#include <windows.h>
#include <wchar.h>

#define ACCOUNT       L"LocalSystem" /* sets without credentials run as this account; others need its rights too */
#define STOP_WAIT_MS  30000
#define START_WAIT_MS 30000
#define START_POLL_MS 50

/* Returns the command line "<server>" /service; the path is in quotes, because it may contain spaces. */
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
    SC_HANDLE manager, service; /* NULL: not open */
};

/* Opens the service; call service_close in any case. S_FALSE: the service does not exist. */
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

/* Returns the current configuration, from memory_alloc; NULL with the last error set. */
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

/* Returns the description, from memory_alloc; its text is NULL if the service has none. NULL with the last error
   set. */
static SERVICE_DESCRIPTIONW *query_description(SC_HANDLE service)
{
    SERVICE_DESCRIPTIONW *description = NULL;
    DWORD size = 0;
    if (!QueryServiceConfig2W(service, SERVICE_CONFIG_DESCRIPTION, NULL, 0, &size) &&
        GetLastError() != ERROR_INSUFFICIENT_BUFFER)
        return NULL;
    if (size < sizeof *description)
        size = sizeof *description;
    description = memory_alloc(size);
    if (!description) {
        SetLastError(ERROR_OUTOFMEMORY);
    } else if (!QueryServiceConfig2W(service, SERVICE_CONFIG_DESCRIPTION, (BYTE *)description, size, &size)) {
        memory_free(description);
        description = NULL;
    }
    return description;
}

static BOOL describe(SC_HANDLE service, const WCHAR *text)
{
    SERVICE_DESCRIPTIONW description = {(WCHAR *)text};
    return ChangeServiceConfig2W(service, SERVICE_CONFIG_DESCRIPTION, &description);
}

HRESULT service_keep(struct service_kept *out)
{
    struct connection c;
    *out = (struct service_kept){0};
    HRESULT hr = service_open("", 0, SERVICE_QUERY_CONFIG, &c);
    if (hr == S_OK) {
        out->config = query_config(c.service);
        out->description = out->config ? query_description(c.service) : NULL;
        if (!out->description)
            hr = service_error("reading");
    }
    service_close(&c);
    if (SUCCEEDED(hr))
        out->taken = true;
    else
        service_kept_free(out);
    return hr;
}

void service_kept_free(struct service_kept *kept)
{
    memory_free(kept->config);
    memory_free(kept->description);
    *kept = (struct service_kept){0};
}

static BOOL restore_config(SC_HANDLE service, const QUERY_SERVICE_CONFIGW *config, const WCHAR *account)
{
    return ChangeServiceConfigW(service, config->dwServiceType, config->dwStartType, config->dwErrorControl,
                                config->lpBinaryPathName, NULL, NULL, NULL, account, NULL, config->lpDisplayName);
}

HRESULT service_restore(const struct service_kept *kept, const char *server)
{
    struct connection c;
    if (!kept->taken)
        return S_OK;
    if (!kept->config)
        return service_remove(server);
    HRESULT hr = service_open(server, 0, SERVICE_CHANGE_CONFIG, &c);
    if (hr == S_FALSE)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_SERVICE_DOES_NOT_EXIST), "the service OpenPLA does not exist");
    /* Only the service manager knows an account's password: all other changes are undone without it. */
    if (SUCCEEDED(hr) && !restore_config(c.service, kept->config, kept->config->lpServiceStartName)) {
        hr = service_error("restoring");
        restore_config(c.service, kept->config, NULL);
    }
    if (c.service) {
        const WCHAR *text = kept->description->lpDescription;
        if (!describe(c.service, text ? text : L"") && SUCCEEDED(hr))
            hr = service_error("restoring");
    }
    service_close(&c);
    return hr;
}

static HRESULT service_update(SC_HANDLE service, const WCHAR *command)
{
    if (!ChangeServiceConfigW(service, SERVICE_WIN32_OWN_PROCESS, SERVICE_AUTO_START, SERVICE_ERROR_NORMAL, command,
                              NULL, NULL, NULL, ACCOUNT, NULL, OPENPLA_SERVICE_DISPLAY_NAME))
        return service_error("changing");
    return describe(service, OPENPLA_SERVICE_DESCRIPTION) ? S_OK : service_error("describing");
}

static HRESULT service_create(struct connection *c)
{
    c->service = CreateServiceW(c->manager, OPENPLA_SERVICE_NAME, OPENPLA_SERVICE_DISPLAY_NAME,
                                SERVICE_CHANGE_CONFIG | DELETE, SERVICE_WIN32_OWN_PROCESS, SERVICE_AUTO_START,
                                SERVICE_ERROR_NORMAL, c->command, NULL, NULL, NULL, ACCOUNT, NULL);
    if (!c->service)
        return service_error("creating");
    return describe(c->service, OPENPLA_SERVICE_DESCRIPTION) ? S_OK : service_error("describing");
}

HRESULT service_install(const char *server)
{
    struct connection c;
    HRESULT hr = service_open(server, SC_MANAGER_CREATE_SERVICE, SERVICE_CHANGE_CONFIG, &c);
    if (hr == S_OK)
        hr = service_update(c.service, c.command);
    else if (hr == S_FALSE)
        hr = service_create(&c);
    service_close(&c);
    return hr;
}

/* Returns whether the service was running and is stopped now. */
static bool stop_and_wait(SC_HANDLE service)
{
    SERVICE_STATUS_PROCESS status = {0};
    DWORD size;
    if (!QueryServiceStatusEx(service, SC_STATUS_PROCESS_INFO, (BYTE *)&status, sizeof(status), &size) ||
        status.dwCurrentState == SERVICE_STOPPED)
        return false;
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, status.dwProcessId);
    /* The control fails if the process has died; Wine's manager still lists it as running. */
    const bool stopping = process && ControlService(service, SERVICE_CONTROL_STOP, (SERVICE_STATUS *)&status);
    if (stopping)
        WaitForSingleObject(process, STOP_WAIT_MS);
    if (process)
        CloseHandle(process);
    return stopping;
}

/* Whether the service runs `command`. S_FALSE: it runs another program. */
static HRESULT service_is_of(SC_HANDLE service, const WCHAR *command)
{
    QUERY_SERVICE_CONFIGW *config = query_config(service);
    if (!config)
        return service_error("reading");
    const bool is = !_wcsicmp(config->lpBinaryPathName, command);
    memory_free(config);
    return is ? S_OK : S_FALSE;
}

static HRESULT service_delete(SC_HANDLE service, const WCHAR *command)
{
    HRESULT hr = service_is_of(service, command);
    if (hr != S_OK)
        return hr;
    const bool ran = stop_and_wait(service);
    if (!DeleteService(service) && GetLastError() != ERROR_SERVICE_MARKED_FOR_DELETE) {
        hr = service_error("deleting");
        if (ran)
            StartServiceW(service, 0, NULL);
    }
    return hr;
}

HRESULT service_remove(const char *server)
{
    struct connection c;
    HRESULT hr = service_open(server, 0,
                              SERVICE_QUERY_CONFIG | SERVICE_QUERY_STATUS | SERVICE_STOP | SERVICE_START | DELETE, &c);
    if (hr == S_OK)
        hr = service_delete(c.service, c.command);
    service_close(&c);
    return hr;
}

HRESULT service_stop(const char *server)
{
    struct connection c;
    HRESULT hr = service_open(server, 0, SERVICE_QUERY_CONFIG | SERVICE_QUERY_STATUS | SERVICE_STOP, &c);
    if (hr == S_OK)
        hr = service_is_of(c.service, c.command);
    if (hr == S_OK)
        stop_and_wait(c.service);
    service_close(&c);
    return hr;
}

/* Starts the service and waits until it runs. False, with the last error set: it does not run. */
static bool start_and_wait(SC_HANDLE service)
{
    SERVICE_STATUS status = {.dwCurrentState = SERVICE_START_PENDING};
    if (!StartServiceW(service, 0, NULL) && GetLastError() != ERROR_SERVICE_ALREADY_RUNNING)
        return false;
    for (DWORD waited = 0; status.dwCurrentState == SERVICE_START_PENDING && waited <= START_WAIT_MS;
         waited += START_POLL_MS) {
        if (waited)
            Sleep(START_POLL_MS);
        if (!QueryServiceStatus(service, &status))
            return false;
    }
    if (status.dwCurrentState == SERVICE_RUNNING)
        return true;
    SetLastError(status.dwCurrentState == SERVICE_STOPPED && status.dwWin32ExitCode ? status.dwWin32ExitCode
                                                                                    : ERROR_SERVICE_REQUEST_TIMEOUT);
    return false;
}

HRESULT service_start(void)
{
    struct connection c;
    HRESULT hr = service_open("", 0, SERVICE_START | SERVICE_QUERY_STATUS, &c);
    if (hr == S_FALSE)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_SERVICE_DOES_NOT_EXIST), "the service OpenPLA does not exist");
    if (SUCCEEDED(hr) && !start_and_wait(c.service))
        hr = service_error("starting");
    service_close(&c);
    return hr;
}

HRESULT service_renew_rpcss(void)
{
    struct connection c;
    HRESULT hr = service_open("", 0, SERVICE_QUERY_STATUS | SERVICE_STOP, &c);
    const SC_HANDLE rpcss =
        SUCCEEDED(hr) ? OpenServiceW(c.manager, L"RpcSs", SERVICE_QUERY_STATUS | SERVICE_STOP | SERVICE_START) : NULL;
    if (rpcss) {
        if (c.service)
            (void)stop_and_wait(c.service);
        (void)stop_and_wait(rpcss);
    }
    if (SUCCEEDED(hr) && (!rpcss || !start_and_wait(rpcss))) {
        hr = HRESULT_FROM_WIN32(GetLastError());
        hr = error_set(FAILED(hr) ? hr : E_FAIL, "cannot restart the service 'RpcSs': %s", error_standard_text(hr));
    }
    if (rpcss)
        CloseServiceHandle(rpcss);
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
