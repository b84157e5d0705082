/* SPDX-License-Identifier: MIT */
/* Windows' services: Task Scheduler through its COM interfaces, and WMI. */
#include "engine/base/windows_services.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/base/win32/management_value.h"
#include "engine/base/win32/win32_call.h"

#include <objbase.h>
#include <stdlib.h>
#include <windows.h>
#include <ctype.h>
#include <oleauto.h>
#include <string.h>
#include <wbemcli.h>

/* ---- Task Scheduler ---- */

/* Only Task Scheduler's identifiers are defined here. If this object contained all COM identifiers, openetw.dll would
   contain them too, and would load ole32 because of a single one. */
#include <initguid.h>
#include <taskschd.h>

#define LOOK_MS        100
#define TASK_HAS_ENDED ((HRESULT)0x8004130B) /* SCHED_E_TASK_NOT_RUNNING */
#define IS_AT_WORK     0x00041301            /* SCHED_S_TASK_RUNNING, the result of a task with a running instance */
#define RUN_AS_SELF    1                     /* TASK_RUN_AS_SELF */

struct scheduled_task {
    IRegisteredTask *task;
    IRunningTask *instance;
    bool initialised; /* whether this code initialized COM on this thread */
};

static HRESULT text_to_bstr(const char *text, BSTR *out)
{
    WCHAR *wide;
    size_t units;
    *out = NULL;
    HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return hr;
    *out = SysAllocStringLen(wide, (UINT)units);
    memory_free(wide);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT task_find(const char *name, IRegisteredTask **out)
{
    VARIANT none;
    ITaskService *service = NULL;
    ITaskFolder *root = NULL;
    BSTR path = NULL, top = SysAllocString(L"\\");
    HRESULT hr = top ? text_to_bstr(name, &path) : E_OUTOFMEMORY;
    VariantInit(&none);
    if (SUCCEEDED(hr))
        hr = CoCreateInstance(&CLSID_TaskScheduler, NULL, CLSCTX_INPROC_SERVER, &IID_ITaskService, (void **)&service);
    if (SUCCEEDED(hr))
        hr = ITaskService_Connect(service, none, none, none, none);
    if (SUCCEEDED(hr))
        hr = ITaskService_GetFolder(service, top, &root);
    if (SUCCEEDED(hr))
        hr = ITaskFolder_GetTask(root, path, out);
    if (root)
        ITaskFolder_Release(root);
    if (service)
        ITaskService_Release(service);
    SysFreeString(path);
    SysFreeString(top);
    return hr;
}

static HRESULT task_build_parameters(const char *arguments, const char *directory, VARIANT *out)
{
    const char *const texts[] = {arguments, directory};
    SAFEARRAY *array = SafeArrayCreateVector(VT_BSTR, 0, 2);
    HRESULT hr = array ? S_OK : E_OUTOFMEMORY;
    for (LONG i = 0; SUCCEEDED(hr) && i < 2; i++) {
        BSTR text;
        hr = text_to_bstr(texts[i], &text);
        if (SUCCEEDED(hr))
            hr = SafeArrayPutElement(array, &i, text);
        SysFreeString(text);
    }
    VariantInit(out);
    if (FAILED(hr)) {
        SafeArrayDestroy(array);
        return hr;
    }
    out->vt = VT_ARRAY | VT_BSTR;
    out->parray = array;
    return S_OK;
}

static void close_task(struct scheduled_task *t)
{
    if (!t)
        return;
    if (t->instance)
        IRunningTask_Release(t->instance);
    if (t->task)
        IRegisteredTask_Release(t->task);
    if (t->initialised)
        CoUninitialize();
    memory_free(t);
}

static HRESULT start_task(const char *task, const char *arguments, const char *directory, bool as_self,
                          struct scheduled_task **out)
{
    VARIANT given;
    VariantInit(&given);
    *out = NULL;
    struct scheduled_task *t = memory_zero(1, sizeof *t);
    if (!t)
        return E_OUTOFMEMORY;
    t->initialised = SUCCEEDED(CoInitializeEx(NULL, COINIT_MULTITHREADED));
    HRESULT hr = task_find(task, &t->task);
    if (SUCCEEDED(hr))
        hr = task_build_parameters(arguments, directory, &given);
    if (SUCCEEDED(hr))
        hr = IRegisteredTask_RunEx(t->task, given, as_self ? RUN_AS_SELF : 0, 0, NULL, &t->instance);
    VariantClear(&given);
    if (FAILED(hr)) {
        close_task(t);
        return error_set(hr, "cannot run the task '%.300s' by Task Scheduler: %s", task, error_standard_text(hr));
    }
    *out = t;
    return S_OK;
}

static bool has_ended(struct scheduled_task *t)
{
    TASK_STATE state;
    if (!t->instance)
        return true;
    HRESULT hr = IRunningTask_Refresh(t->instance);
    return hr == TASK_HAS_ENDED || FAILED(IRunningTask_get_State(t->instance, &state)) ||
           (state != TASK_STATE_RUNNING && state != TASK_STATE_QUEUED);
}

static HRESULT wait_for_task(struct scheduled_task *t, uint32_t timeout_ms, uint32_t *exit_code)
{
    LONG result = 0;
    for (uint64_t since = clock_monotonic_ms(); !has_ended(t);) {
        uint64_t passed = clock_passed_ms(since, clock_monotonic_ms());
        if (passed >= timeout_ms)
            return S_FALSE;
        Sleep(timeout_ms - passed < LOOK_MS ? (DWORD)(timeout_ms - passed) : LOOK_MS);
    }
    HRESULT hr = IRegisteredTask_get_LastTaskResult(t->task, &result);
    /* The scheduler loses the result of this instance as soon as another instance starts. */
    *exit_code = result == IS_AT_WORK ? 0 : (uint32_t)result;
    return hr;
}

const struct task_scheduler *host_task_scheduler(void)
{
    static const struct task_scheduler windows = {start_task, wait_for_task, close_task};
    return os_is_wine() ? NULL : &windows;
}

/* ---- WMI: queries, in an apartment that lasts as long as the query ---- */

enum { MOST_PROPERTIES = 4096 };

/* The failures that users encounter; WMI does not publish their messages. */
static const struct {
    HRESULT hr;
    const char *means;
} meanings[] = {
    {(HRESULT)WBEM_E_FAILED, "WMI failed and gave no reason"},
    {(HRESULT)WBEM_E_NOT_FOUND, "the object does not exist"},
    {(HRESULT)WBEM_E_ACCESS_DENIED, "access is denied"},
    {(HRESULT)WBEM_E_PROVIDER_FAILURE, "the provider of the class failed"},
    {(HRESULT)WBEM_E_INVALID_PARAMETER, "WMI rejects a parameter"},
    {(HRESULT)WBEM_E_INVALID_NAMESPACE, "the namespace does not exist"},
    {(HRESULT)WBEM_E_INVALID_CLASS, "the class does not exist"},
    {(HRESULT)WBEM_E_PROVIDER_LOAD_FAILURE, "the provider of the class cannot be loaded"},
    {(HRESULT)WBEM_E_TRANSPORT_FAILURE, "the other computer cannot be reached"},
    {(HRESULT)WBEM_E_INVALID_QUERY, "the query is not valid WQL"},
    {(HRESULT)WBEM_E_INVALID_QUERY_TYPE, "the query language is not supported"},
};

static HRESULT wmi_failed(HRESULT hr, const char *where)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].hr == hr)
            return error_set(hr, "%.300s: %s", where, meanings[i].means);
    return error_set(hr, "%.300s: %s", where, error_standard_text(hr));
}

static HRESULT to_bstr(const char *text, BSTR *out)
{
    WCHAR *wide;
    size_t units;
    *out = NULL;
    HRESULT hr = text_to_utf16(text, &wide, &units);
    if (FAILED(hr))
        return hr;
    *out = SysAllocStringLen(wide, (UINT)units);
    memory_free(wide);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Sets up the proxy so that calls through it use the account that runs the set. An object that is not a proxy needs no
   such settings. */
static void as_ourselves(IUnknown *proxy)
{
    CoSetProxyBlanket(proxy, RPC_C_AUTHN_DEFAULT, RPC_C_AUTHZ_NONE, NULL, RPC_C_AUTHN_LEVEL_CALL,
                      RPC_C_IMP_LEVEL_IMPERSONATE, NULL, EOAC_NONE);
}

static bool is_key(IWbemClassObject *object, BSTR name)
{
    IWbemQualifierSet *qualifiers;
    if (FAILED(IWbemClassObject_GetPropertyQualifierSet(object, name, &qualifiers)))
        return false;
    VARIANT v;
    VariantInit(&v);
    const HRESULT hr = IWbemQualifierSet_Get(qualifiers, L"key", 0, &v, NULL);
    const bool key = SUCCEEDED(hr) && V_VT(&v) == VT_BOOL && V_BOOL(&v);
    VariantClear(&v);
    IWbemQualifierSet_Release(qualifiers);
    return key;
}

static HRESULT add_value(struct management_row *row, IWbemClassObject *object, BSTR name, const VARIANT *v,
                         CIMTYPE type)
{
    struct management_value value = {.key = is_key(object, name)};
    HRESULT hr = text_from_utf16(name, SysStringLen(name), true, &value.name);
    if (SUCCEEDED(hr))
        hr = management_value_read(v, type, &value);
    if (SUCCEEDED(hr) && !memory_grow((void **)&row->values, &row->capacity, row->count + 1, sizeof value))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        row->values[row->count++] = value;
        return S_OK;
    }
    if (hr != E_OUTOFMEMORY)
        hr = error_prefix(hr, "%.200s", value.name ? value.name : "");
    texts_free(&value.texts);
    memory_free(value.name);
    return hr;
}

static HRESULT read_row(IWbemClassObject *object, struct management_row **out)
{
    struct management_row *row = memory_zero(1, sizeof *row);
    HRESULT hr = row ? IWbemClassObject_BeginEnumeration(object, WBEM_FLAG_NONSYSTEM_ONLY) : E_OUTOFMEMORY;
    for (int i = 0; SUCCEEDED(hr) && i < MOST_PROPERTIES; i++) {
        BSTR name = NULL;
        CIMTYPE type = CIM_EMPTY;
        VARIANT v;
        VariantInit(&v);
        hr = IWbemClassObject_Next(object, 0, &name, &v, &type, NULL);
        if (hr == WBEM_S_NO_MORE_DATA)
            break;
        if (SUCCEEDED(hr))
            hr = add_value(row, object, name, &v, type);
        VariantClear(&v);
        SysFreeString(name);
    }
    IWbemClassObject_EndEnumeration(object);
    if (SUCCEEDED(hr)) {
        *out = row;
        return S_OK;
    }
    management_row_free(row);
    return hr;
}

/* Returns the class that a SELECT names. S_FALSE: the query names no class. */
static HRESULT class_of(const char *query, BSTR *out)
{
    const char *at = query;
    char quote = 0;
    *out = NULL;
    for (; *at; at++)
        if (quote)
            quote = *at == quote ? 0 : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (at > query && isspace((unsigned char)at[-1]) && (at[0] | 32) == 'f' && (at[1] | 32) == 'r' &&
                 (at[2] | 32) == 'o' && (at[3] | 32) == 'm' && isspace((unsigned char)at[4]))
            break;
    if (!*at)
        return S_FALSE;
    for (at += 4; isspace((unsigned char)*at);)
        at++;
    size_t bytes = 0;
    while (isalnum((unsigned char)at[bytes]) || at[bytes] == '_' || (at[bytes] & 0x80))
        bytes++;
    char *name = text_copy_n(at, bytes);
    HRESULT hr = name ? bytes ? to_bstr(name, out) : S_FALSE : E_OUTOFMEMORY;
    memory_free(name);
    return hr;
}

/* Checks that the query's class exists, because Wine returns no rows, and no error, for an unknown class. */
static HRESULT probe_class(IWbemServices *services, const char *query, const char *where)
{
    IWbemClassObject *object = NULL;
    BSTR name;
    HRESULT hr = class_of(query, &name);
    if (hr != S_OK)
        return hr;
    hr = IWbemServices_GetObject(services, name, 0, NULL, &object, NULL);
    SysFreeString(name);
    if (object)
        IWbemClassObject_Release(object);
    return hr == (HRESULT)WBEM_E_NOT_FOUND || hr == (HRESULT)WBEM_E_INVALID_CLASS
               ? wmi_failed((HRESULT)WBEM_E_INVALID_CLASS, where)
               : S_OK;
}

static HRESULT take_rows(IEnumWbemClassObject *rows, const char *where,
                         HRESULT (*take)(void *user, struct management_row *row), void *user, size_t *count)
{
    for (;;) {
        IWbemClassObject *object = NULL;
        struct management_row *row;
        ULONG got = 0;
        HRESULT hr = IEnumWbemClassObject_Next(rows, (LONG)WBEM_INFINITE, 1, &object, &got);
        if (FAILED(hr))
            return wmi_failed(hr, where);
        if (!got || !object)
            return S_OK;
        ++*count;
        hr = read_row(object, &row);
        IWbemClassObject_Release(object);
        if (FAILED(hr))
            return hr == E_OUTOFMEMORY ? hr : error_prefix(hr, "%.300s", where);
        hr = take(user, row);
        if (FAILED(hr))
            return hr;
    }
}

static HRESULT run_query(IWbemServices *services, const char *query, const char *where,
                         HRESULT (*take)(void *user, struct management_row *row), void *user)
{
    IEnumWbemClassObject *rows = NULL;
    BSTR language = SysAllocString(L"WQL"), text;
    size_t count = 0;
    HRESULT hr = to_bstr(query, &text);
    if (SUCCEEDED(hr) && !language)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        hr = IWbemServices_ExecQuery(services, language, text, WBEM_FLAG_FORWARD_ONLY | WBEM_FLAG_RETURN_IMMEDIATELY,
                                     NULL, &rows);
        if (FAILED(hr))
            hr = wmi_failed(hr, where);
    }
    SysFreeString(text);
    SysFreeString(language);
    if (FAILED(hr))
        return hr;
    as_ourselves((IUnknown *)rows);
    hr = take_rows(rows, where, take, user, &count);
    IEnumWbemClassObject_Release(rows);
    return SUCCEEDED(hr) && !count ? probe_class(services, query, where) : hr;
}

/* Removes this computer's name from the namespace: "\\127.0.0.1\root\cimv2" becomes "root\cimv2". */
static HRESULT own_namespace(const char *path, const char **out)
{
    static const char separators[] = "\\/";
    const size_t begin = strspn(path, separators), name = strcspn(path + begin, separators);
    bool own = false;
    *out = path;
    if (begin != 2 || !path[begin + name])
        return S_OK;
    char *machine = text_copy_n(path + begin, name);
    const HRESULT hr = machine ? os_is_own_name(machine, &own) : E_OUTOFMEMORY;
    if (own)
        *out = path + begin + name + 1;
    memory_free(machine);
    return hr;
}

static HRESULT wmi_connect(const char *namespace_path, IWbemServices **out)
{
    IWbemLocator *locator;
    BSTR path;
    const char *here;
    HRESULT hr = own_namespace(namespace_path, &here);
    if (FAILED(hr))
        return hr;
    hr = CoCreateInstance(&CLSID_WbemLocator, NULL, CLSCTX_INPROC_SERVER, &IID_IWbemLocator, (void **)&locator);
    if (FAILED(hr))
        return wmi_failed(hr, namespace_path);
    hr = to_bstr(here, &path);
    if (SUCCEEDED(hr)) {
        hr = IWbemLocator_ConnectServer(locator, path, NULL, NULL, NULL, WBEM_FLAG_CONNECT_USE_MAX_WAIT, NULL, NULL,
                                        out);
        if (FAILED(hr))
            hr = wmi_failed(hr, namespace_path);
    }
    SysFreeString(path);
    IWbemLocator_Release(locator);
    return hr;
}

HRESULT management_query(const char *namespace_path, const char *query,
                         HRESULT (*take)(void *user, struct management_row *row), void *user)
{
    IWbemServices *services = NULL;
    HRESULT hr = CoInitializeEx(NULL, COINIT_MULTITHREADED);
    if (FAILED(hr))
        return wmi_failed(hr, namespace_path);
    hr = wmi_connect(namespace_path, &services);
    if (services) {
        as_ourselves((IUnknown *)services);
        hr = run_query(services, query, namespace_path, take, user);
        IWbemServices_Release(services);
    }
    struct error_kept why = error_keep(hr);
    CoUninitialize();
    return error_restore(&why);
}

/* ---- WMI: values ----
   A property's type is more precise than its VARIANT: unsigned 32-bit numbers arrive as VT_I4, and 64-bit numbers as
   strings. */

static const struct {
    LONG type;
    const char *name, *of_array;
    int unsigned_bits; /* 0: it is signed, or not an integer */
} cim_types[] = {
    {CIM_SINT8, "sint8", "sint8[]", 0},          {CIM_UINT8, "uint8", "uint8[]", 8},
    {CIM_SINT16, "sint16", "sint16[]", 0},       {CIM_UINT16, "uint16", "uint16[]", 16},
    {CIM_SINT32, "sint32", "sint32[]", 0},       {CIM_UINT32, "uint32", "uint32[]", 32},
    {CIM_SINT64, "sint64", "sint64[]", 0},       {CIM_UINT64, "uint64", "uint64[]", 64},
    {CIM_REAL32, "real32", "real32[]", 0},       {CIM_REAL64, "real64", "real64[]", 0},
    {CIM_BOOLEAN, "boolean", "boolean[]", 0},    {CIM_STRING, "string", "string[]", 0},
    {CIM_DATETIME, "datetime", "datetime[]", 0}, {CIM_REFERENCE, "reference", "reference[]", 0},
    {CIM_CHAR16, "char16", "char16[]", 16},      {CIM_OBJECT, "object", "object[]", 0},
};
enum { CIM_TYPES = sizeof cim_types / sizeof *cim_types };

static size_t row_of(LONG cim_type)
{
    size_t i = 0;
    while (i < CIM_TYPES && cim_types[i].type != (cim_type & ~CIM_FLAG_ARRAY))
        i++;
    return i;
}

/* Returns CIM's name for a CIMTYPE. Static text. */
static const char *management_type_name(LONG cim_type)
{
    const size_t i = row_of(cim_type);
    return i == CIM_TYPES ? "unknown" : cim_type & CIM_FLAG_ARRAY ? cim_types[i].of_array : cim_types[i].name;
}

static HRESULT bstr_text(BSTR text, char **out)
{
    return text_from_utf16(text ? text : L"", SysStringLen(text), true, out);
}

/* Returns the shortest decimal form that reads back as the same number. */
static char *real_text(double value, int most)
{
    char *text = NULL;
    for (int digits = 6; digits <= most; digits++) {
        memory_free(text);
        text = text_format("%.*g", digits, value);
        if (!text || (most > 9 ? strtod(text, NULL) == value : strtof(text, NULL) == (float)value))
            break;
    }
    return text;
}

static HRESULT integer_text(int64_t value, LONG cim_type, char **out)
{
    const size_t row = row_of(cim_type);
    const int bits = row < CIM_TYPES ? cim_types[row].unsigned_bits : 0;
    const WCHAR unit = (WCHAR)value;
    if ((cim_type & ~CIM_FLAG_ARRAY) == CIM_CHAR16)
        return text_from_utf16(&unit, 1, true, out);
    if (bits)
        *out = text_format("%llu", (unsigned long long)value & (bits == 64 ? UINT64_MAX : ((1ULL << bits) - 1)));
    else
        *out = text_format("%lld", (long long)value);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT object_text(IUnknown *unknown, char **out)
{
    IWbemClassObject *object;
    BSTR text = NULL;
    *out = NULL;
    HRESULT hr = unknown ? IUnknown_QueryInterface(unknown, &IID_IWbemClassObject, (void **)&object) : E_POINTER;
    if (FAILED(hr))
        return error_set(hr, "cannot read the properties of a WMI object");
    hr = IWbemClassObject_GetObjectText(object, 0, &text);
    if (SUCCEEDED(hr))
        hr = bstr_text(text, out);
    else
        hr = error_set(hr, "a WMI object does not report its properties");
    SysFreeString(text);
    IWbemClassObject_Release(object);
    return hr;
}

static HRESULT scalar_text(const VARIANT *v, LONG cim_type, char **out)
{
    *out = NULL;
    switch (V_VT(v)) {
    case VT_BSTR:
        return bstr_text(V_BSTR(v), out);
    case VT_BOOL:
        *out = text_copy(V_BOOL(v) ? "true" : "false");
        break;
    case VT_R4:
        *out = real_text(V_R4(v), 9);
        break;
    case VT_R8:
        *out = real_text(V_R8(v), 17);
        break;
    case VT_UNKNOWN:
    case VT_DISPATCH:
        return object_text(V_UNKNOWN(v), out);
    case VT_NULL:
    case VT_EMPTY:
        *out = text_copy("");
        break;
    case VT_I1:
        return integer_text(V_I1(v), cim_type, out);
    case VT_UI1:
        return integer_text(V_UI1(v), cim_type, out);
    case VT_I2:
        return integer_text(V_I2(v), cim_type, out);
    case VT_UI2:
        return integer_text(V_UI2(v), cim_type, out);
    case VT_I4:
    case VT_INT:
        return integer_text(V_I4(v), cim_type, out);
    case VT_UI4:
    case VT_UINT:
        return integer_text(V_UI4(v), cim_type, out);
    case VT_I8:
    case VT_UI8:
        return integer_text(V_I8(v), cim_type, out);
    default:
        return error_set(DISP_E_BADVARTYPE, "WMI returned a value of the unsupported VARIANT type 0x%X", V_VT(v));
    }
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT array_bytes(const uint8_t *bytes, size_t count, struct texts *out)
{
    struct text_buffer b = {.length = 0};
    text_buffer_add(&b, "");
    for (size_t i = 0; i < count; i++)
        text_buffer_format(&b, "%02X", bytes[i]);
    char *text = text_buffer_take(&b);
    return text ? texts_add_owned(out, text) : E_OUTOFMEMORY;
}

static HRESULT array_texts(SAFEARRAY *a, VARTYPE vt, LONG cim_type, struct texts *out)
{
    LONG low = 0, high = -1;
    if (!a || SafeArrayGetDim(a) != 1)
        return error_set(DISP_E_BADVARTYPE, "WMI returned an array of %u dimensions, but only one is supported",
                         a ? SafeArrayGetDim(a) : 0);
    HRESULT hr = SafeArrayGetLBound(a, 1, &low);
    if (SUCCEEDED(hr))
        hr = SafeArrayGetUBound(a, 1, &high);
    if (SUCCEEDED(hr) && vt == VT_UI1) {
        void *bytes;
        hr = SafeArrayAccessData(a, &bytes);
        if (SUCCEEDED(hr)) {
            hr = array_bytes(bytes, high < low ? 0 : (size_t)(high - low) + 1, out);
            SafeArrayUnaccessData(a);
        }
        return hr;
    }
    for (LONGLONG i = low; SUCCEEDED(hr) && i <= high; i++) {
        LONG at = (LONG)i;
        char *text;
        VARIANT v;
        VariantInit(&v);
        hr = SafeArrayGetElement(a, &at, vt == VT_VARIANT ? (void *)&v : (void *)&V_I8(&v));
        if (FAILED(hr))
            break;
        if (vt != VT_VARIANT)
            V_VT(&v) = vt;
        hr = scalar_text(&v, cim_type, &text);
        if (SUCCEEDED(hr))
            hr = texts_add_owned(out, text);
        VariantClear(&v);
    }
    return hr;
}

HRESULT management_value_read(const VARIANT *v, LONG cim_type, struct management_value *out)
{
    char *text;
    out->type = management_type_name(cim_type);
    out->array = (cim_type & CIM_FLAG_ARRAY) != 0;
    out->null = V_VT(v) == VT_NULL || V_VT(v) == VT_EMPTY;
    if (out->null)
        return S_OK;
    if (V_VT(v) & VT_BYREF)
        return error_set(DISP_E_BADVARTYPE, "WMI returned a value of the unsupported VARIANT type 0x%X", V_VT(v));
    if (V_VT(v) & VT_ARRAY)
        return array_texts(V_ARRAY(v), V_VT(v) & VT_TYPEMASK, cim_type, &out->texts);
    HRESULT hr = scalar_text(v, cim_type, &text);
    return SUCCEEDED(hr) ? texts_add_owned(&out->texts, text) : hr;
}
