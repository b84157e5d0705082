/* SPDX-License-Identifier: MIT */
/* The server process: its security, command line and class objects, and when it exits. */
#include "com/server/server.h"

#include "com/objects/wrapper.h"
#include "com/server/call_entry.h"
#include "com/server/counter_server.h"
#include "com/server/dcom.h"
#include "engine/base/debug_trace.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/quotas.h"
#include "engine/etw/directory.h"
#include "engine/pla/sets.h"
#include "engine/pla/store.h"
#include "reg/registration_check.h"
#include "reg/service.h"

#include <stdio.h>
#include <aclapi.h>
#include <sddl.h>
#include <wchar.h>

/* ---- security: which accounts may call the server, and what the objects that the server calls may do ---- */

static HRESULT security_error(const char *doing)
{
    HRESULT hr = HRESULT_FROM_WIN32(GetLastError());
    return error_set(FAILED(hr) ? hr : E_FAIL, "%s: %s", doing, error_standard_text(hr));
}

/* Builds the descriptor of the accounts that may call the server: the system, administrators, Performance Log Users
   (MS-PLA 1.5 note 1), LocalService, and the account of this process. Only administrators and Performance Log Users may
   call the server from another computer. In the descriptor, the access mask 3 means COM_RIGHTS_EXECUTE and
   COM_RIGHTS_EXECUTE_LOCAL; 7 also includes COM_RIGHTS_EXECUTE_REMOTE. From LocalAlloc. */
static HRESULT callers_descriptor(PSECURITY_DESCRIPTOR *out)
{
    union {
        TOKEN_USER user;
        BYTE bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } user;
    WCHAR text[512], *own = NULL;
    DWORD size;
    HANDLE token = NULL;
    BOOL ok = OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token);

    if (!ok)
        return security_error("cannot query the server's token");
    ok = GetTokenInformation(token, TokenUser, &user, sizeof(user), &size) &&
         ConvertSidToStringSidW(user.user.User.Sid, &own);
    CloseHandle(token);
    if (!ok)
        return security_error("cannot query the server's account");
    _snwprintf(text, ARRAYSIZE(text),
               L"O:BAG:BAD:(A;;0x3;;;SY)(A;;0x7;;;BA)(A;;0x7;;;S-1-5-32-559)(A;;0x3;;;LS)(A;;0x3;;;%ls)", own);
    LocalFree(own);
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, out, NULL))
        return security_error("cannot create the server's security descriptor");
    return S_OK;
}

HRESULT server_secure(initialize_security *initialize)
{
    SECURITY_DESCRIPTOR absolute;
    PSECURITY_DESCRIPTOR relative = NULL;
    PSID owner, group;
    PACL acl;
    BOOL present, defaulted;
    HRESULT hr = callers_descriptor(&relative);
    if (FAILED(hr))
        return hr;
    if (!InitializeSecurityDescriptor(&absolute, SECURITY_DESCRIPTOR_REVISION) ||
        !GetSecurityDescriptorOwner(relative, &owner, &defaulted) ||
        !SetSecurityDescriptorOwner(&absolute, owner, FALSE) ||
        !GetSecurityDescriptorGroup(relative, &group, &defaulted) ||
        !SetSecurityDescriptorGroup(&absolute, group, FALSE) ||
        !GetSecurityDescriptorDacl(relative, &present, &acl, &defaulted) ||
        !SetSecurityDescriptorDacl(&absolute, present, acl, FALSE)) {
        hr = security_error("cannot create the server's security descriptor");
    } else {
        hr = initialize(&absolute, -1, NULL, NULL, RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_IMP_LEVEL_IDENTIFY, NULL,
                        EOAC_NO_CUSTOM_MARSHAL | EOAC_DISABLE_AAA, NULL);
        if (FAILED(hr))
            hr = error_set(hr, "cannot initialise the server's security: %s", error_standard_text(hr));
    }
    LocalFree(relative);
    return hr;
}

/* ---- the process ---- */

/* A process that COM started waits this long for its first client. */
#define FIRST_CLIENT_MS 30000
/* After the last object is released, a process that COM started waits this long for the next client, because starting a
   new process takes about 1 s. */
#define GRACE_MS        5000
/* A client whose request was in transit when the classes were revoked arrives within this time. */
#define LATE_CLIENT_MS  200

/* The counts that keep the process running. The counts are for the whole module; DllCanUnloadNow and the server share
   them. */
static volatile LONG objects, work;
static HANDLE use_changed; /* auto-reset event, set by every change of either count; only in openplasrv.exe */
static bool note_clients;  /* whether this process records its client processes; true only under Wine, and only if COM
                              started this process */

static void use_change(volatile LONG *count, LONG by)
{
    InterlockedExchangeAdd(count, by);
    if (use_changed)
        SetEvent(use_changed);
}

void server_object_created(void)
{
    if (note_clients)
        clients_note_caller();
    use_change(&objects, 1);
}

void server_object_destroyed(void)
{
    use_change(&objects, -1);
}

LONG server_object_count(void)
{
    return InterlockedCompareExchange(&objects, 0, 0);
}

static bool has_work(void)
{
    return InterlockedCompareExchange(&work, 0, 0) > 0;
}

static struct supervisor *supervisor;

/* Work without a waiting client: an enabled schedule, or a pending start. While there is such work, a server started by
   COM does not exit. Under Wine, a service keeps a child process during this time (idle_child_start); without the
   child, Wine would stop the service. A running set does not need this, because its set host process is a separate
   program. */
static void work_changed(void *user, bool any)
{
    (void)user;
    use_change(&work, any ? 1 : -1);
}

/* ---- class objects ---- */

static HRESULT last_error(const char *doing)
{
    HRESULT hr = HRESULT_FROM_WIN32(GetLastError());
    return error_set(FAILED(hr) ? hr : E_FAIL, "%s: %s", doing, error_standard_text(hr));
}

/* Space for Windows' classes and for OpenPLA's separate classes (com_class_beside). If Windows' own PLA stays
   registered, only OpenPLA's separate classes are registered. */
static DWORD class_cookies[2 * COM_CLASS_COUNT];
static size_t classes_registered;

static void revoke_classes(void)
{
    while (classes_registered)
        CoRevokeClassObject(class_cookies[--classes_registered]);
}

static HRESULT register_class(size_t index, bool beside)
{
    CLSID clsid;
    IUnknown *factory = com_class_factory(index, false, &clsid);
    if (beside)
        clsid = com_class_beside(&clsid);
    HRESULT hr = CoRegisterClassObject(&clsid, factory, CLSCTX_LOCAL_SERVER, REGCLS_MULTIPLEUSE | REGCLS_SUSPENDED,
                                       &class_cookies[classes_registered]);
    if (SUCCEEDED(hr))
        classes_registered++;
    return hr;
}

/* Whether the server that is registered for this mode is in this program's folder. */
static bool class_is_served(enum registration_mode mode)
{
    char *server = NULL, *own = os_module_folder(), *folder = NULL;
    if (own && registration_find_server(mode, &server) == S_OK)
        folder = path_folder(server);
    const bool is = folder && text_equal_nocase(folder, own);
    memory_free(folder);
    memory_free(server);
    memory_free(own);
    return is;
}

/* Registers every class. Clients can connect immediately. */
static HRESULT register_classes(void)
{
    const bool beside = class_is_served(REGISTRATION_BESIDE), dropin = !beside || class_is_served(REGISTRATION_DROPIN);
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < COM_CLASS_COUNT; i++) {
        if (dropin)
            hr = register_class(i, false);
        if (SUCCEEDED(hr) && beside)
            hr = register_class(i, true);
    }
    if (SUCCEEDED(hr))
        hr = CoResumeClassObjects();
    if (SUCCEEDED(hr))
        return S_OK;
    revoke_classes();
    return error_prefix(hr, "cannot register the classes");
}

static HRESULT open_server(void)
{
    use_changed = CreateEventW(NULL, FALSE, FALSE, NULL);
    if (!use_changed)
        return last_error("cannot create the server's event");
    HRESULT hr = quotas_read();
    if (SUCCEEDED(hr))
        hr = CoInitializeEx(NULL, COINIT_MULTITHREADED);
    call_entry_guard();
    if (SUCCEEDED(hr))
        hr = server_secure(CoInitializeSecurity);
    if (SUCCEEDED(hr) && class_is_served(REGISTRATION_BESIDE))
        hr = com_use_own_proxies();
    if (SUCCEEDED(hr) && os_is_wine())
        hr = kept_interfaces_begin();
    store_keep_definitions(true);
    if (SUCCEEDED(hr))
        hr = register_classes();
    if (SUCCEEDED(hr))
        hr = supervisor_start(work_changed, NULL, &supervisor);
    return hr;
}

/* Ends the process. The classes must be revoked first. Under Wine CoUninitialize can hang, and with it a normal
   exit. */
static void process_leave(int code)
{
    supervisor_stop(supervisor);
    fflush(NULL);
    if (os_is_wine())
        TerminateProcess(GetCurrentProcess(), (UINT)code);
    CoUninitialize();
}

/* ---- a server that COM started ---- */

static bool in_use(void)
{
    return has_work() || (server_object_count() > 0 && (!note_clients || clients_alive()));
}

/* Waits for a full grace period without objects, work or running sets. */
static void wait_until_unused(DWORD grace)
{
    for (;;) {
        bool used = in_use();
        TRACE_STEP(com, "%ld objects, %s", (long)server_object_count(), used ? "in use" : "unused");
        /* The exit of a client sets no event, so the server polls. */
        DWORD wait = !used ? grace : note_clients ? GRACE_MS : INFINITE;

        if (WaitForSingleObject(use_changed, wait) == WAIT_OBJECT_0 || used || in_use())
            grace = GRACE_MS;
        else if (!server_set_is_running())
            return;
    }
}

static int serve_for_com(void)
{
    DWORD grace = FIRST_CLIENT_MS;
    note_clients = os_is_wine();
    HRESULT hr = open_server();
    TRACE_STEP(com, "opening the server returned 0x%08X", (unsigned)hr);

    while (SUCCEEDED(hr)) {
        wait_until_unused(grace);
        revoke_classes();
        Sleep(LATE_CLIENT_MS);
        if (!in_use())
            break;
        grace = GRACE_MS;
        hr = register_classes();
    }
    if (FAILED(hr))
        fprintf(stderr, "openplasrv: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
    process_leave(FAILED(hr));
    return FAILED(hr);
}

/* ---- a server that runs as a service ---- */

static SERVICE_STATUS_HANDLE service_handle;
static HANDLE service_end;

static void report_state(DWORD state, DWORD wait_ms, HRESULT hr)
{
    SERVICE_STATUS status = {.dwServiceType = SERVICE_WIN32_OWN_PROCESS, .dwCurrentState = state};
    status.dwControlsAccepted = state == SERVICE_RUNNING ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN : 0;
    status.dwWaitHint = wait_ms;
    status.dwCheckPoint = wait_ms ? 1 : 0;
    if (FAILED(hr)) {
        status.dwWin32ExitCode = ERROR_SERVICE_SPECIFIC_ERROR;
        status.dwServiceSpecificExitCode = (DWORD)hr;
    }
    SetServiceStatus(service_handle, &status);
}

static DWORD WINAPI service_control(DWORD control, DWORD type, void *data, void *context)
{
    (void)type, (void)data, (void)context;
    switch (control) {
    case SERVICE_CONTROL_STOP:
    case SERVICE_CONTROL_SHUTDOWN:
        report_state(SERVICE_STOP_PENDING, 5000, S_OK);
        SetEvent(service_end);
        return NO_ERROR;
    case SERVICE_CONTROL_INTERROGATE:
        return NO_ERROR;
    default:
        return ERROR_CALL_NOT_IMPLEMENTED;
    }
}

/* Runs until the service is stopped. Under Wine, the function also keeps the idle child running while the service has
   work. */
static void serve_until_end(void)
{
    HANDLE events[] = {service_end, use_changed};
    struct process *child = NULL;
    bool wine = os_is_wine();
    do {
        if (wine && has_work() && !child) {
            idle_child_start(&child); /* keeps Wine from stopping the service */
        } else if (child && !has_work()) {
            idle_child_end(child);
            child = NULL;
        }
    } while (WaitForMultipleObjects(2, events, FALSE, INFINITE) != WAIT_OBJECT_0);
    idle_child_end(child);
}

static void WINAPI service_main(DWORD argc, WCHAR **argv)
{
    (void)argc, (void)argv;
    service_handle = RegisterServiceCtrlHandlerExW(OPENPLA_SERVICE_NAME, service_control, NULL);
    if (!service_handle)
        return;
    report_state(SERVICE_START_PENDING, 10000, S_OK);
    HRESULT hr = open_server();
    if (SUCCEEDED(hr)) {
        /* Wine stops services when the last other program has exited. The program that started this service may be the
           last one, and it exits when the service reports that it is running. The processes that keep the service alive
           are therefore started first. */
        counter_child_begin();
#ifdef _WIN64
        dcom_begin();
#endif
        report_state(SERVICE_RUNNING, 0, S_OK);
        serve_until_end();
        revoke_classes();
#ifdef _WIN64
        dcom_end();
#endif
        counter_child_end();
    }
    report_state(SERVICE_STOPPED, 0, hr);
    process_leave(FAILED(hr));
}

static int serve_as_service(void)
{
    static const SERVICE_TABLE_ENTRYW services[] = {{(WCHAR *)OPENPLA_SERVICE_NAME, service_main}, {NULL, NULL}};
    service_end = CreateEventW(NULL, TRUE, FALSE, NULL);
    sections_sweep();
    if (service_end && StartServiceCtrlDispatcherW(services))
        return 0;
    fprintf(stderr,
            "openplasrv: cannot start as a service: error %lu (only the service control manager uses /service)\n",
            GetLastError());
    return 1;
}

/* ---- the command line ---- */

/* The options that follow the verb on the command line. */
struct wish {
    bool noservice, dropin, beside, rows, start;
};

static HRESULT remove_registrations(struct registration *what, const struct wish *wish)
{
    HRESULT hr = S_OK;
    for (int mode = REGISTRATION_DROPIN; mode <= REGISTRATION_BESIDE; mode++) {
        if (mode == REGISTRATION_BESIDE ? wish->dropin : wish->beside)
            continue;
        what->mode = (enum registration_mode)mode;
        HRESULT removed = registration_remove(what);
        hr = FAILED(hr) ? hr : removed;
    }
    return hr;
}

static int change_registration(bool remove, const struct wish *wish)
{
    struct registration what = {.service = !wish->noservice, .rows_only = wish->rows, .start = wish->start};
    char *folder = os_module_folder();
    HRESULT hr = folder ? S_OK : E_OUTOFMEMORY;
    what.folder = folder;
    what.replace = wish->dropin || os_is_wine();
    /* Wine has no PLA that could be replaced. */
    what.mode = wish->beside || (!wish->dropin && !os_is_wine()) ? REGISTRATION_BESIDE : REGISTRATION_DROPIN;
    if (SUCCEEDED(hr))
        hr = remove ? remove_registrations(&what, wish) : registration_write(&what);
    if (FAILED(hr))
        fprintf(stderr, "openplasrv: 0x%08lX %s\n", (unsigned long)hr, error_text(hr));
    memory_free(folder);
    return FAILED(hr);
}

/* Reports running sets, or stops them, for installers that replace or remove the programs. The exit code is 1 if a set
   is still running. */
static int report_sets(bool stop_them)
{
    HRESULT hr = CoInitializeEx(NULL, COINIT_MULTITHREADED);
    if (FAILED(hr))
        return 1;
    const bool running = server_report_sets(stop_them);
    CoUninitialize();
    return running;
}

static bool is_option(const WCHAR *argument, const WCHAR *name)
{
    return (*argument == L'/' || *argument == L'-') && !_wcsicmp(argument + 1, name);
}

static int print_usage(void)
{
    fputs("openplasrv /regserver [/noservice] [/beside | /dropin]   register the classes and the service\n"
          "openplasrv /unregserver [/beside | /dropin]              remove what /regserver wrote\n"
          "  /noservice   COM starts the server when a client needs it; no service is created\n"
          "  /beside      separate classes, OpenPLA.DataCollectorSet; the default on Windows\n"
          "  /dropin      replace another PLA, which /unregserver restores; the default under Wine\n"
          "  /start       also start the service; if it does not start, nothing is registered\n"
          "  /rows        leave creating and deleting the service to an installer; /unregserver only stops it\n"
          "openplasrv /sets [/stop]   list or stop the running sets; exit code 1: some are still running\n"
          "openplasrv -Embedding                          serve the classes; used by COM\n"
          "openplasrv /service                            serve the classes as a service\n"
          "openplasrv /counters                           serve this computer's counters over RPC\n",
          stderr);
    return 1;
}

static int after_serving(int code)
{
    directory_leave();
    return code;
}

int OpenPlaServer(int argc, WCHAR **argv)
{
    struct wish wish = {0};
    libraries_restrict();
    /* The argument can occur twice, because COM appends it to LocalServer32's command line, which already contains
       it. */
    if (argc >= 2 && is_option(argv[1], L"Embedding"))
        return after_serving(serve_for_com());
    if (argc == 2 && is_option(argv[1], L"service"))
        return after_serving(serve_as_service());
    if (argc == 3 && is_option(argv[1], L"idle"))
        return idle_child_main(argv[2]);
    if ((argc == 2 || argc == 3) && is_option(argv[1], L"counters"))
        return counter_server_main(argc == 3 ? argv[2] : NULL);
#ifdef _WIN64
    if (argc == 5 && is_option(argv[1], L"dcom"))
        return dcom_front_main(argv[2], argv[3], argv[4]);
#endif
    if (argc >= 2 && argc <= 3 && is_option(argv[1], L"sets"))
        return argc == 2 || is_option(argv[2], L"stop") ? report_sets(argc == 3) : print_usage();
    const bool remove = argc >= 2 && is_option(argv[1], L"unregserver");
    if (argc < 2 || (!remove && !is_option(argv[1], L"regserver")))
        return print_usage();
    for (int i = 2; i < argc; i++)
        if (is_option(argv[i], L"noservice") && !remove)
            wish.noservice = true;
        else if (is_option(argv[i], L"start") && !remove)
            wish.start = true;
        else if (is_option(argv[i], L"dropin"))
            wish.dropin = true;
        else if (is_option(argv[i], L"beside"))
            wish.beside = true;
        else if (is_option(argv[i], L"rows"))
            wish.rows = true;
        else
            return print_usage();
    return wish.dropin && wish.beside ? print_usage() : change_registration(remove, &wish);
}
