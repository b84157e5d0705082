/* SPDX-License-Identifier: MIT */
/* ETW as the engine uses it: the table of functions by which the host's ETW or ours is chosen at run time, and the
   event providers that are registered on this host. */
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
/* The ETW functions of this host: the system's on Windows, our own under Wine, whose are empty, and natively. Chosen
   once. */
const struct etw_api *host_etw(void);

/* All that the host's ETW names, those that call themselves something by their traits, and behind them those that a
   process has registered now without a name here: their GUIDs are their names. Each once. *out is empty on failure. */
HRESULT event_providers_list(const struct etw_api *etw, struct event_providers *out);
/* Takes the name over; NULL counts as out of memory. */
HRESULT event_providers_add(struct event_providers *list, const GUID *guid, char *name);
/* NULL: it is not among them. */
const struct event_provider *event_providers_find(const struct event_providers *list, const GUID *guid);
void event_providers_free(struct event_providers *providers);

/* A process that has a provider registered. */
struct event_registration {
    GUID guid;
    uint32_t process;
};
struct event_registrations {
    struct event_registration *items;
    size_t count, capacity;
};
/* Who has the provider (NULL: any) registered now, each pair once; groups of providers are none. *out is empty on
   failure. ERROR_NOT_SUPPORTED's HRESULT in 32-bit programs under Wine. */
HRESULT event_registrations_list(const struct etw_api *etw, const GUID *guid, struct event_registrations *out);
HRESULT event_registrations_add(struct event_registrations *list, const GUID *guid, uint32_t process);
void event_registrations_free(struct event_registrations *registrations);

/* A level or keyword that a provider defines. */
struct event_field {
    char *name, *description;
    uint64_t value;
};
struct event_fields {
    struct event_field *items;
    size_t count, capacity;
};
/* The levels or the keywords of a provider; S_FALSE with *out empty: nothing on this host knows them. */
HRESULT event_provider_fields(const struct etw_api *etw, const GUID *guid, bool keywords, struct event_fields *out);
void event_fields_free(struct event_fields *fields);

/* The provider's security descriptor as SDDL: what is registered for it, else the host's default for providers, else
   Windows' own. `parts`: SECURITY_INFORMATION bits (MS-DTYP 2.4.7; 1 owner, 2 group, 4 DACL, 8 SACL). *sddl from
   memory_alloc. ERROR_NOT_SUPPORTED's HRESULT natively. */
HRESULT event_provider_get_security(const GUID *guid, uint32_t parts, char **sddl);
/* E_INVALIDARG for what is no SDDL; E_ACCESSDENIED. */
HRESULT event_provider_set_security(const GUID *guid, const char *sddl);

/* ---- the table of functions ---- */

/* X(DLL that has it on Windows, name, parameter list). A loader walks the list with #name. */
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
    ULONG (*open_trace)(EVENT_TRACE_LOGFILEW *logfile, TRACEHANDLE *handle); /* OpenTraceW, with its last error */
    /* Of our own ETW, beside what Windows has; NULL in the system's. They add to a list: providers that call themselves
       something by their traits, which TDH does not list, and all registrations at once, those of a provider together.
     */
    HRESULT (*seen_providers)(struct event_providers *list);
    HRESULT (*registrations)(struct event_registrations *list);
};
#undef ETW_API_MEMBER

/* ---- our own ETW, for hosts whose ETW is empty ---- */

/* 32-bit programs have no sessions of ours: the functions for them are NULL there. */
extern const struct etw_api openetw_api;

/* As TdhEnumerateProviders gives a list: ERROR_INSUFFICIENT_BUFFER with the *size that is needed;
   ERROR_NOT_ENOUGH_MEMORY. */
ULONG openetw_pack_providers(const struct event_providers *list, PROVIDER_ENUMERATION_INFO *buffer, ULONG *size);

/* Those whose manifests are registered (engine/etw/manifest_origins.h). Added to *out. */
HRESULT registered_providers(struct event_providers *out);

#endif
