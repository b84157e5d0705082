/* SPDX-License-Identifier: MIT */
/* Access control of sessions and providers, stored in the registry: EventAccessControl, EventAccessQuery,
   EventAccessRemove, and the access checks. */
#define _EVNT_SOURCE_ /* declares the functions without dllimport */
#include "engine/base/memory.h"
#include "engine/base/win32/win32_call.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/etw_api.h"
#include "engine/etw/trace_properties.h"
#include "engine/logs/little_endian.h"

#include <stdatomic.h>
#include <sddl.h>
#include <string.h>

/* ---- descriptors ---- */

/* Wine checks only the revision of a descriptor, and functions that read a descriptor trust its contents. Therefore
   this file checks the contents of each descriptor. */
enum { HEAD = 20, ACL_HEAD = 8, ACE_HEAD = 4, ACE_MASK = 4, SID_HEAD = 8, SID_PARTS = 15 };

static bool is_sid(const uint8_t *at, size_t size)
{
    return size >= SID_HEAD && at[0] == SID_REVISION && at[1] <= SID_PARTS && size - SID_HEAD >= at[1] * 4u;
}

static bool is_acl(const uint8_t *at, size_t size)
{
    if (size < ACL_HEAD)
        return false;
    const size_t bytes = get_u16(at + 2), count = get_u16(at + 4);
    size_t offset = ACL_HEAD;
    if (bytes < ACL_HEAD || bytes > size || at[0] < ACL_REVISION || at[0] > ACL_REVISION_DS)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (bytes - offset < ACE_HEAD + ACE_MASK)
            return false;
        const size_t ace = get_u16(at + offset + 2);
        if (ace < ACE_HEAD + ACE_MASK || ace % 4 != 0 || ace > bytes - offset)
            return false;
        /* ACEs of the types allowed, denied and audit consist of a mask and a SID. Wine ignores ACEs of other types. */
        if (at[offset] <= SYSTEM_AUDIT_ACE_TYPE &&
            !is_sid(at + offset + ACE_HEAD + ACE_MASK, ace - ACE_HEAD - ACE_MASK))
            return false;
        offset += ace;
    }
    return true;
}

bool trace_is_descriptor(const uint8_t *bytes, size_t size)
{
    if (size < HEAD || bytes[0] != SECURITY_DESCRIPTOR_REVISION || (get_u16(bytes + 2) & SE_SELF_RELATIVE) == 0)
        return false;
    for (int i = 0; i < 4; i++) { /* owner, group, SACL, DACL */
        const uint32_t offset = get_u32(bytes + 4 + 4 * i);
        if (offset == 0)
            continue;
        if (offset < HEAD || offset >= size || offset % 4 != 0 ||
            !(i < 2 ? is_sid(bytes + offset, size - offset) : is_acl(bytes + offset, size - offset)))
            return false;
    }
    return true;
}

/* ---- the registry ---- */

/* The key's values are named by GUID, without braces. The descriptor of DefaultTraceSecurityGuid applies to GUIDs
   without their own descriptor. */
#define SECURITY_KEY     L"SYSTEM\\CurrentControlSet\\Control\\WMI\\Security"
#define SECURITY_DEFAULT L"0811c1af-7a07-4a06-82ed-869455cdf713"
/* The default descriptor that Windows documents: everyone may register; services, administrators and Performance Log
   Users (as a numeric SID, because Wine has no SDDL name for the group) have more rights. */
#define SECURITY_TEXT                                                                                                  \
    L"O:BAG:BAD:(A;;0x800;;;WD)(A;;0x120fff;;;SY)(A;;0x120fff;;;LS)(A;;0x120fff;;;NS)(A;;0x120fff;;;BA)"               \
    L"(A;;0xee5;;;S-1-5-32-559)"
/* The default descriptor of the kernel provider, whose events concern all users. */
#define SECURITY_KERNEL_TEXT L"O:BAG:BAD:(A;;0x120fff;;;SY)(A;;0x120fff;;;BA)"
#define DESCRIPTOR_MOST      (64u << 10) /* bytes; the maximum size of an ACL */
#define LOOK_AGAIN           1000        /* ms until an empty key is read again */

/* EVENTSECURITYOPERATION */
enum { SET_DACL, SET_SACL, ADD_DACL, ADD_SACL };

/* ---- the store ---- */

static void value_name(const GUID *guid, WCHAR name[37])
{
    char braced[39];
    text_from_guid(guid, braced);
    for (int i = 0; i < 36; i++)
        name[i] = (WCHAR)(unsigned char)(braced[i + 1] | (braced[i + 1] >= 'A' && braced[i + 1] <= 'Z' ? 0x20 : 0));
    name[36] = 0;
}

/* Reads a descriptor from the registry. *out is from memory_alloc. Returns S_FALSE if no descriptor is stored. */
static HRESULT load_descriptor(const WCHAR *name, PSECURITY_DESCRIPTOR *out, DWORD *size)
{
    DWORD bytes = 0;
    LSTATUS status = RegGetValueW(HKEY_LOCAL_MACHINE, SECURITY_KEY, name, RRF_RT_REG_BINARY, NULL, NULL, &bytes);
    *out = NULL;
    if (status == ERROR_FILE_NOT_FOUND)
        return S_FALSE;
    if (!status && bytes <= DESCRIPTOR_MOST) {
        *out = memory_zero(1, bytes);
        if (!*out)
            return E_OUTOFMEMORY;
        status = RegGetValueW(HKEY_LOCAL_MACHINE, SECURITY_KEY, name, RRF_RT_REG_BINARY, NULL, *out, &bytes);
    }
    *size = bytes;
    if (!status && *out && trace_is_descriptor(*out, bytes))
        return S_OK;
    memory_free(*out);
    *out = NULL;
    return win32_failed(status ? (DWORD)status : ERROR_INVALID_SECURITY_DESCR, "WMI\\Security");
}

/* Returns the registered descriptor of the GUID, otherwise the registered default. Returns S_FALSE if neither is
   registered. */
static HRESULT registered_descriptor(const GUID *guid, PSECURITY_DESCRIPTOR *out, DWORD *size)
{
    WCHAR name[37];
    value_name(guid, name);
    HRESULT hr = load_descriptor(name, out, size);
    return hr == S_FALSE ? load_descriptor(SECURITY_DEFAULT, out, size) : hr;
}

/* Like registered_descriptor, but returns Windows' default if there is no registered descriptor. The kernel provider
   has its own default, which applies even if a general default is registered. */
static HRESULT descriptor_of(const GUID *guid, PSECURITY_DESCRIPTOR *out, DWORD *size)
{
    const bool kernel = guid_equal(guid, &trace_kernel_guid);
    PSECURITY_DESCRIPTOR made;
    WCHAR name[37];
    value_name(guid, name);
    HRESULT hr = kernel ? load_descriptor(name, out, size) : registered_descriptor(guid, out, size);
    if (hr != S_FALSE)
        return hr;
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(kernel ? SECURITY_KERNEL_TEXT : SECURITY_TEXT,
                                                              SDDL_REVISION_1, &made, NULL))
        return win32_failed(GetLastError(), "default security");
    *size = GetSecurityDescriptorLength(made);
    *out = memory_copy(made, *size);
    LocalFree(made);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static _Atomic uint64_t empty_until; /* until this value of GetTickCount64, the store counts as empty */

static LSTATUS open_store(REGSAM access, HKEY *key)
{
    return RegCreateKeyExW(HKEY_LOCAL_MACHINE, SECURITY_KEY, 0, NULL, 0, access | KEY_WOW64_64KEY, NULL, key, NULL);
}

static HRESULT security_store(const GUID *guid, PSECURITY_DESCRIPTOR descriptor)
{
    WCHAR name[37];
    HKEY key;
    value_name(guid, name);
    LSTATUS status = open_store(KEY_SET_VALUE, &key);
    if (!status) {
        status = RegSetValueExW(key, name, 0, REG_BINARY, descriptor, GetSecurityDescriptorLength(descriptor));
        RegCloseKey(key);
    }
    atomic_store(&empty_until, 0);
    return status ? win32_failed((DWORD)status, "WMI\\Security") : S_OK;
}

/* ---- descriptors as SDDL ---- */

HRESULT event_provider_get_security(const GUID *guid, uint32_t parts, char **sddl)
{
    PSECURITY_DESCRIPTOR descriptor;
    WCHAR *text;
    DWORD size;
    ULONG units;
    *sddl = NULL;
    HRESULT hr = descriptor_of(guid, &descriptor, &size);
    if (FAILED(hr))
        return hr;
    if (ConvertSecurityDescriptorToStringSecurityDescriptorW(descriptor, SDDL_REVISION_1, parts, &text, &units)) {
        hr = text_from_utf16(text, wcslen(text), true, sddl);
        LocalFree(text);
    } else {
        hr = win32_failed(GetLastError(), "security descriptor");
    }
    memory_free(descriptor);
    return hr;
}

HRESULT event_provider_set_security(const GUID *guid, const char *sddl)
{
    PSECURITY_DESCRIPTOR descriptor;
    HRESULT hr = win32_descriptor(sddl, &descriptor);
    if (FAILED(hr))
        return hr;
    hr = security_store(guid, descriptor);
    LocalFree(descriptor);
    return hr;
}

/* ---- Windows' functions ---- */

static ULONG code_of(HRESULT hr)
{
    return SUCCEEDED(hr)                                 ? ERROR_SUCCESS
           : hr == E_OUTOFMEMORY                         ? ERROR_NOT_ENOUGH_MEMORY
           : ((uint32_t)hr & 0xFFFF0000u) == 0x80070000u ? (ULONG)hr & 0xFFFF
                                                         : ERROR_GEN_FAILURE;
}

struct ace {
    PSID sid;
    DWORD rights;
    bool audit, allow;
};

static BOOL add_ace(ACL *acl, DWORD revision, const struct ace *a)
{
    return a->audit   ? AddAuditAccessAceEx(acl, revision, 0, a->rights, a->sid, TRUE, TRUE)
           : a->allow ? AddAccessAllowedAceEx(acl, revision, 0, a->rights, a->sid)
                      : AddAccessDeniedAceEx(acl, revision, 0, a->rights, a->sid);
}

/* Copies `old` (NULL: empty) and adds one ACE: a denying ACE at the beginning, others at the end. *out is from
   memory_alloc. */
static HRESULT more_acl(const ACL *old, const struct ace *a, ACL **out)
{
    const DWORD revision = old && old->AclRevision > ACL_REVISION ? old->AclRevision : ACL_REVISION;
    const size_t bytes = (old ? old->AclSize : sizeof(ACL)) + sizeof(ACCESS_ALLOWED_ACE) + GetLengthSid(a->sid);
    ACL *acl = bytes <= DESCRIPTOR_MOST - sizeof(DWORD) ? memory_zero(1, bytes) : NULL;
    const bool first = !a->audit && !a->allow;
    *out = acl;
    if (!acl)
        return bytes > DESCRIPTOR_MOST - sizeof(DWORD) ? win32_failed(ERROR_INVALID_ACL, "WMI\\Security")
                                                       : E_OUTOFMEMORY;
    BOOL ok = InitializeAcl(acl, (DWORD)bytes, revision) && (!first || add_ace(acl, revision, a));
    for (DWORD i = 0; ok && old && i < old->AceCount; i++) {
        void *ace;
        ok = GetAce((ACL *)old, i, &ace) && AddAce(acl, revision, MAXDWORD, ace, ((ACE_HEADER *)ace)->AceSize);
    }
    if (ok && !first)
        ok = add_ace(acl, revision, a);
    return ok ? S_OK : win32_failed(GetLastError(), "WMI\\Security");
}

/* Returns an ACL that grants everyone all rights. The ACL is from memory_alloc. Returns NULL if memory runs out. */
static ACL *all_allowed(void)
{
    SID everybody = {SID_REVISION, 1, {SECURITY_WORLD_SID_AUTHORITY}, {SECURITY_WORLD_RID}};
    const DWORD bytes = sizeof(ACL) + sizeof(ACCESS_ALLOWED_ACE) + sizeof everybody;
    ACL *acl = memory_zero(1, bytes);
    if (acl && InitializeAcl(acl, bytes, ACL_REVISION) &&
        AddAccessAllowedAceEx(acl, ACL_REVISION, 0, TRACE_RIGHT_ALL, &everybody))
        return acl;
    memory_free(acl);
    return NULL;
}

/* Copies `old`, and replaces the SACL (`audit`) or the DACL in the copy. *out is from memory_alloc. */
static HRESULT with_acl(PSECURITY_DESCRIPTOR old, bool audit, ACL *acl, PSECURITY_DESCRIPTOR *out)
{
    SECURITY_DESCRIPTOR made;
    PSID owner = NULL, group = NULL;
    ACL *dacl = NULL, *sacl = NULL;
    BOOL has_dacl = FALSE, has_sacl = FALSE, defaulted;
    DWORD size = 0;
    *out = NULL;
    bool ok = GetSecurityDescriptorOwner(old, &owner, &defaulted) &&
              GetSecurityDescriptorGroup(old, &group, &defaulted) &&
              GetSecurityDescriptorDacl(old, &has_dacl, &dacl, &defaulted) &&
              GetSecurityDescriptorSacl(old, &has_sacl, &sacl, &defaulted) &&
              InitializeSecurityDescriptor(&made, SECURITY_DESCRIPTOR_REVISION) &&
              SetSecurityDescriptorOwner(&made, owner, FALSE) && SetSecurityDescriptorGroup(&made, group, FALSE) &&
              SetSecurityDescriptorDacl(&made, TRUE, audit ? dacl : acl, FALSE) &&
              (!(audit || has_sacl) || SetSecurityDescriptorSacl(&made, TRUE, audit ? acl : sacl, FALSE));
    if (ok) {
        MakeSelfRelativeSD(&made, NULL, &size);
        *out = memory_zero(1, size);
        if (!*out)
            return E_OUTOFMEMORY;
        ok = MakeSelfRelativeSD(&made, *out, &size);
    }
    if (ok)
        return S_OK;
    const DWORD code = GetLastError();
    memory_free(*out);
    *out = NULL;
    return win32_failed(code, "WMI\\Security");
}

ULONG WINAPI EventAccessControl(GUID *guid, ULONG operation, PSID sid, ULONG rights, BOOLEAN allow)
{
    const struct ace ace = {sid, rights, operation == SET_SACL || operation == ADD_SACL, allow != 0};
    PSECURITY_DESCRIPTOR old, made = NULL;
    ACL *kept = NULL, *acl = NULL;
    BOOL present = FALSE, defaulted;
    DWORD size;
    if (!guid || operation > ADD_SACL || !sid || !IsValidSid(sid))
        return ERROR_INVALID_PARAMETER;
    HRESULT hr = descriptor_of(guid, &old, &size);
    if (FAILED(hr))
        return code_of(hr);
    if (operation == ADD_DACL)
        (void)GetSecurityDescriptorDacl(old, &present, &kept, &defaulted);
    else if (operation == ADD_SACL)
        (void)GetSecurityDescriptorSacl(old, &present, &kept, &defaulted);
    /* A descriptor without a DACL grants everyone all rights. A DACL with only the new ACE would remove these rights.
       Therefore the ACE is added to a DACL that grants everyone all rights. */
    const bool open_to_all = operation == ADD_DACL && (!present || !kept);
    if (open_to_all)
        kept = all_allowed();
    if (open_to_all && !kept)
        hr = E_OUTOFMEMORY;
    else
        hr = more_acl(present || open_to_all ? kept : NULL, &ace, &acl);
    if (SUCCEEDED(hr))
        hr = with_acl(old, ace.audit, acl, &made);
    if (open_to_all)
        memory_free(kept);
    if (SUCCEEDED(hr))
        hr = security_store(guid, made);
    memory_free(made);
    memory_free(acl);
    memory_free(old);
    return code_of(hr);
}

ULONG WINAPI EventAccessQuery(GUID *guid, PSECURITY_DESCRIPTOR buffer, ULONG *size)
{
    PSECURITY_DESCRIPTOR descriptor;
    DWORD bytes;
    if (!guid || !size || (!buffer && *size != 0))
        return ERROR_INVALID_PARAMETER;
    const HRESULT hr = descriptor_of(guid, &descriptor, &bytes);
    if (FAILED(hr))
        return code_of(hr);
    const bool fits = bytes <= *size;
    *size = bytes;
    if (fits)
        memcpy(buffer, descriptor, bytes);
    memory_free(descriptor);
    return fits ? ERROR_SUCCESS : ERROR_MORE_DATA;
}

ULONG WINAPI EventAccessRemove(GUID *guid)
{
    WCHAR name[37];
    HKEY key;
    if (!guid)
        return ERROR_INVALID_PARAMETER;
    value_name(guid, name);
    LSTATUS status = open_store(KEY_SET_VALUE, &key);
    if (status)
        return (ULONG)status;
    status = RegDeleteValueW(key, name);
    RegCloseKey(key);
    return status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : (ULONG)status;
}

/* ---- rights ---- */

static bool store_is_empty(void)
{
    const uint64_t now = GetTickCount64();
    DWORD values = 0;
    HKEY key;
    if (now < atomic_load(&empty_until))
        return true;
    LSTATUS status = RegOpenKeyExW(HKEY_LOCAL_MACHINE, SECURITY_KEY, 0, KEY_READ | KEY_WOW64_64KEY, &key);
    if (!status) {
        status = RegQueryInfoKeyW(key, NULL, NULL, NULL, NULL, NULL, NULL, &values, NULL, NULL, NULL, NULL);
        RegCloseKey(key);
    }
    const bool empty = status == ERROR_FILE_NOT_FOUND || (!status && values == 0);
    if (empty)
        atomic_store(&empty_until, now + LOOK_AGAIN);
    return empty;
}

static HRESULT own_token(HANDLE *out)
{
    HANDLE process;
    if (OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, TRUE, out))
        return S_OK;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_DUPLICATE | TOKEN_QUERY, &process))
        return win32_failed(GetLastError(), "token");
    const BOOL ok = DuplicateToken(process, SecurityImpersonation, out);
    const DWORD code = GetLastError();
    CloseHandle(process);
    return ok ? S_OK : win32_failed(code, "token");
}

static HRESULT security_check(PSECURITY_DESCRIPTOR descriptor, uint32_t rights, bool *allowed)
{
    const GENERIC_MAPPING mapping = {0xD, 0x62, 0xE90, TRACE_RIGHT_ALL};
    HANDLE token;
    HRESULT hr = own_token(&token);
    if (FAILED(hr))
        return hr;
    hr = win32_access_check(descriptor, token, rights, &mapping, allowed);
    CloseHandle(token);
    return hr;
}

ULONG trace_allowed(const GUID *guid, uint32_t rights)
{
    PSECURITY_DESCRIPTOR descriptor;
    DWORD size;
    char text[39];
    bool allowed = false;
    if (store_is_empty())
        return ERROR_SUCCESS;
    HRESULT hr = registered_descriptor(guid, &descriptor, &size);
    if (hr == S_FALSE)
        return ERROR_SUCCESS;
    if (SUCCEEDED(hr)) {
        hr = security_check(descriptor, rights, &allowed);
        memory_free(descriptor);
    }
    if (allowed)
        return ERROR_SUCCESS;
    text_from_guid(guid, text);
    if (hr == E_OUTOFMEMORY)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (FAILED(hr))
        error_prefix(hr, "rights 0x%X on %s", (unsigned)rights, text);
    else
        error_set(E_ACCESSDENIED, "access to %s denied: its security descriptor does not grant the rights 0x%X", text,
                  (unsigned)rights);
    return ERROR_ACCESS_DENIED;
}
