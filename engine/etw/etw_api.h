/* SPDX-License-Identifier: MIT */
/* The ETW functions that the engine calls (the system's or openetw's, chosen at run time), and the event providers of
   this host OS. */
#ifndef OPENPLA_ETW_API_H
#define OPENPLA_ETW_API_H

#include "engine/base/text.h"
#include "engine/etw/etw_types.h"

struct event_provider {
    GUID guid;
    char *name;
};
struct event_providers {
    struct event_provider *items;
    size_t count, capacity;
};
struct etw_api;
/* Returns the ETW functions to use, which are selected once. On Windows, these are the system's functions. Elsewhere
   they are OpenPLA's functions, because the native build has no others and Wine's own functions are stubs. */
const struct etw_api *host_etw(void);

/* Lists each event provider once: first the providers that TDH lists, then those that set their name in their traits,
   then those that a process has registered and whose name is unknown. If the name is unknown, the GUID becomes the
   name. *out is empty on failure. */
HRESULT event_providers_list(const struct etw_api *etw, struct event_providers *out);
/* Appends an event provider. Takes ownership of `name`, even on failure. Returns E_OUTOFMEMORY if `name` is NULL or
   memory runs out. */
HRESULT event_providers_add(struct event_providers *list, const GUID *guid, char *name);
/* Finds an event provider by its GUID; NULL if it is not in the list. */
const struct event_provider *event_providers_find(const struct event_providers *list, const GUID *guid);
void event_providers_free(struct event_providers *providers);

/* A process that has registered an event provider. */
struct event_registration {
    GUID guid;
    uint32_t process;
};
struct event_registrations {
    struct event_registration *items;
    size_t count, capacity;
};
/* Lists the processes in which the provider is now registered (`guid` NULL: any provider). Each pair of provider and
   process is listed once; provider groups are not listed. *out is empty on failure. Returns
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) in 32-bit programs under Wine. */
HRESULT event_registrations_list(const struct etw_api *etw, const GUID *guid, struct event_registrations *out);
HRESULT event_registrations_add(struct event_registrations *list, const GUID *guid, uint32_t process);
void event_registrations_free(struct event_registrations *registrations);

/* A level or keyword that an event provider defines. */
struct event_field {
    char *name, *description;
    uint64_t value;
};
struct event_fields {
    struct event_field *items;
    size_t count, capacity;
};
/* Lists the levels or keywords of an event provider. If this computer has no description of the provider, returns
   S_FALSE, and *out is empty. */
HRESULT event_provider_fields(const struct etw_api *etw, const GUID *guid, bool keywords, struct event_fields *out);
void event_fields_free(struct event_fields *fields);

/* Returns the provider's security descriptor as SDDL: the registered one, otherwise the host OS's default for event
   providers, otherwise Windows' default. `parts`: SECURITY_INFORMATION bits (MS-DTYP 2.4.7; 1 owner, 2 group, 4 DACL, 8
   SACL). *sddl is from memory_alloc. In the native build, returns HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED). */
HRESULT event_provider_get_security(const GUID *guid, uint32_t parts, char **sddl);
/* Sets the provider's security descriptor. Returns E_INVALIDARG if the SDDL is invalid, and E_ACCESSDENIED if the
   caller lacks the right. */
HRESULT event_provider_set_security(const GUID *guid, const char *sddl);

/* ---- the table of functions ---- */

/* X(DLL that exports it on Windows, name, parameter list). A loader looks the functions up by #name. */
#define ETW_API_LIST(X)                                                                                                \
    X(tdh, TdhEnumerateProviders, (PROVIDER_ENUMERATION_INFO * buffer, ULONG * size))                                  \
    X(tdh, TdhEnumerateProviderFieldInformation,                                                                       \
      (GUID * guid, EVENT_FIELD_TYPE type, PROVIDER_FIELD_INFOARRAY * buffer, ULONG * size))                           \
    X(advapi32, StartTraceW, (TRACEHANDLE * handle, LPCWSTR name, EVENT_TRACE_PROPERTIES * properties))                \
    X(advapi32, ControlTraceW, (TRACEHANDLE handle, LPCWSTR name, EVENT_TRACE_PROPERTIES * properties, ULONG code))    \
    X(advapi32, QueryAllTracesW, (EVENT_TRACE_PROPERTIES * *list, ULONG room, ULONG * count))                          \
    X(advapi32, EnableTraceEx2,                                                                                        \
      (TRACEHANDLE handle, LPCGUID provider, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all, ULONG timeout,     \
       ENABLE_TRACE_PARAMETERS * parameters))                                                                          \
    X(advapi32, EnumerateTraceGuidsEx,                                                                                 \
      (TRACE_QUERY_INFO_CLASS what, void *in, ULONG in_bytes, void *out, ULONG out_bytes, ULONG *need))                \
    X(advapi32, TraceQueryInformation,                                                                                 \
      (TRACEHANDLE session, TRACE_INFO_CLASS what, void *out, ULONG bytes, ULONG *need))                               \
    X(advapi32, TraceSetInformation, (TRACEHANDLE session, TRACE_INFO_CLASS what, void *in, ULONG bytes))              \
    X(advapi32, ProcessTrace, (TRACEHANDLE * handles, ULONG count, FILETIME * start, FILETIME * end))                  \
    X(advapi32, CloseTrace, (TRACEHANDLE handle))

#define ETW_API_MEMBER(dll, name, parameters) ULONG(WINAPI *name) parameters;
struct event_providers;
struct event_registrations;
struct etw_api {
    ETW_API_LIST(ETW_API_MEMBER)
    /* Calls OpenTraceW. Returns ERROR_SUCCESS or, if OpenTraceW fails, its last error. */
    ULONG (*open_trace)(EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle);
    /* Only OpenPLA's ETW has these functions; in the system's table they are NULL. seen_providers appends the providers
       that set their name in their traits; TDH does not list these providers. registrations appends all registrations,
       grouped by provider. */
    HRESULT (*seen_providers)(struct event_providers *list);
    HRESULT (*registrations)(struct event_registrations *list);
};
#undef ETW_API_MEMBER

/* ---- openetw, for host OSs without a working ETW ---- */

/* In 32-bit programs the functions for sessions are NULL: openetw has no sessions there. */
extern const struct etw_api openetw_api;

/* Packs a list into the block that TdhEnumerateProviders returns. Returns ERROR_INSUFFICIENT_BUFFER, with the required
   size in *size, or ERROR_NOT_ENOUGH_MEMORY. */
ULONG openetw_pack_providers(const struct event_providers *list, PROVIDER_ENUMERATION_INFO *buffer, ULONG *size);

/* Appends the providers with registered manifests (engine/etw/manifest_origins.h). */
HRESULT registered_providers(struct event_providers *out);

#endif
