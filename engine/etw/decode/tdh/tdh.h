/* SPDX-License-Identifier: MIT */
/* Declares TDH's functions as programs call them, and the layout of the blocks that they return. opentdh.def exports
   tdh_get_property as TdhGetProperty, and so on. The functions return Windows error codes. Addresses from programs may
   be invalid. */
#ifndef OPENPLA_TDH_H
#define OPENPLA_TDH_H

#include "engine/etw/decode/event_schema.h"
#include "engine/etw/etw_types.h"

/* Returns the schemas of this process: those registered on the host OS and those that the process has loaded. The
   schemas live as long as the process. Returns E_OUTOFMEMORY, or the reason why the registered schemas cannot be
   read. */
HRESULT tdh_schemas(struct event_schemas **out);
struct tmf_property;
/* Converts a property of a message to TDH's form: UTF-16 string, number, GUID or SYSTEMTIME. *bytes is from
   memory_alloc. */
HRESULT tdh_wpp_value(const struct tmf_property *property, void **bytes, size_t *size);
/* Adds TMF files (or folders, if `folders` is set) for all later calls of this process. `paths` is a list separated by
   `;`. */
HRESULT tdh_add_tmf(const char *paths, bool folders);
/* Processes events that define other events: a piece of a manifest that .NET wrote into the trace, or a definition
   written by a program that merges traces. Ignores all other events. */
void tdh_take_inband(const EVENT_RECORD *event);

/* TDH_CONTEXT */
struct tdh_parameter {
    uint64_t value; /* number or address */
    uint32_t type;  /* TDH_CONTEXT_TYPE */
    uint32_t size;
};
enum tdh_parameter_type {
    TDH_PARAMETER_TMF_FILE,
    TDH_PARAMETER_TMF_SEARCH_PATH,
    TDH_PARAMETER_GMT,
    TDH_PARAMETER_POINTER_SIZE,
    TDH_PARAMETER_PDB_PATH,
    TDH_PARAMETERS,
};
/* PROPERTY_DATA_DESCRIPTOR */
struct tdh_property_step {
    uint64_t name; /* address of a UTF-16 string */
    uint32_t element, reserved;
};
struct tdh_place {
    uint32_t offset, size;
};

ULONG WINAPI tdh_get_event_information(const EVENT_RECORD *event, ULONG count, const struct tdh_parameter *parameters,
                                       void *buffer, ULONG *size);
ULONG WINAPI tdh_get_event_map_information(const EVENT_RECORD *event, const WCHAR *name, void *buffer, ULONG *size);
ULONG WINAPI tdh_get_all_events_information(const EVENT_RECORD *event, void *service, ULONG *index, ULONG *count,
                                            void *buffer, ULONG *size);
ULONG WINAPI tdh_get_property_size(const EVENT_RECORD *event, ULONG count, const struct tdh_parameter *parameters,
                                   ULONG steps, const struct tdh_property_step *path, ULONG *size);
ULONG WINAPI tdh_get_property(const EVENT_RECORD *event, ULONG count, const struct tdh_parameter *parameters,
                              ULONG steps, const struct tdh_property_step *path, ULONG size, void *buffer);
/* Undocumented; the name suggests that it returns the offset and the size of the property in UserData. */
ULONG WINAPI tdh_get_property_offset_and_size(const EVENT_RECORD *event, ULONG count,
                                              const struct tdh_parameter *parameters, ULONG steps,
                                              const struct tdh_property_step *path, struct tdh_place *out);
ULONG WINAPI tdh_format_property(const void *info, const void *map, ULONG pointer_size, USHORT in, USHORT out,
                                 USHORT length, USHORT data_size, const uint8_t *data, ULONG *size, WCHAR *buffer,
                                 USHORT *used);

/* ---- event providers ---- */

ULONG WINAPI tdh_enumerate_providers(void *buffer, ULONG *size);
ULONG WINAPI tdh_enumerate_providers_for_decoding_source(ULONG source, void *buffer, ULONG size, ULONG *need);
ULONG WINAPI tdh_enumerate_provider_field_information(const GUID *provider, ULONG kind, void *buffer, ULONG *size);
ULONG WINAPI tdh_query_provider_field_information(const GUID *provider, ULONGLONG value, ULONG kind, void *buffer,
                                                  ULONG *size);
ULONG WINAPI tdh_enumerate_provider_filters(const GUID *provider, ULONG count, const struct tdh_parameter *parameters,
                                            ULONG *filter_count, void *buffer, ULONG *size);
ULONG WINAPI tdh_enumerate_manifest_provider_events(const GUID *provider, void *buffer, ULONG *size);
ULONG WINAPI tdh_get_manifest_event_information(const GUID *provider, const EVENT_DESCRIPTOR *descriptor, void *buffer,
                                                ULONG *size);

/* Queries WMI for the MOF classes of a computer. Only this computer is supported; for other computers, returns
   ERROR_WMI_SERVER_UNAVAILABLE. Undocumented: the parameters after the computer's name are those of the local
   functions. */
ULONG WINAPI tdh_enumerate_remote_wbem_providers(const WCHAR *computer, void *buffer, ULONG *size);
ULONG WINAPI tdh_enumerate_remote_wbem_provider_field_information(const WCHAR *computer, const GUID *provider,
                                                                  ULONG kind, void *buffer, ULONG *size);
ULONG WINAPI tdh_query_remote_wbem_provider_field_information(const WCHAR *computer, const GUID *provider,
                                                              ULONGLONG value, ULONG kind, void *buffer, ULONG *size);
/* Only the number of parameters of these functions is known. The parameters are ignored. ERROR_NOT_SUPPORTED. */
ULONG WINAPI tdh_unpublished_3(uintptr_t a, uintptr_t b, uintptr_t c);
ULONG WINAPI tdh_unpublished_4(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
ULONG WINAPI tdh_unpublished_7(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f,
                               uintptr_t g);

/* ---- manifests of this process ---- */

ULONG WINAPI tdh_load_manifest(const WCHAR *path);
ULONG WINAPI tdh_unload_manifest(const WCHAR *path);
ULONG WINAPI tdh_load_manifest_from_memory(const void *data, ULONG size);
ULONG WINAPI tdh_unload_manifest_from_memory(const void *data, ULONG size);
ULONG WINAPI tdh_load_manifest_from_binary(const WCHAR *path);

/* ---- payload filters ---- */

/* PAYLOAD_FILTER_PREDICATE */
struct tdh_condition {
    const WCHAR *field;
    USHORT operation;
    const WCHAR *value;
};
ULONG WINAPI tdh_create_payload_filter(const GUID *provider, const EVENT_DESCRIPTOR *descriptor, UCHAR any, ULONG count,
                                       const struct tdh_condition *conditions, void **filter);
ULONG WINAPI tdh_delete_payload_filter(void **filter);
ULONG WINAPI tdh_aggregate_payload_filters(ULONG count, void *const *filters, const UCHAR *all,
                                           EVENT_FILTER_DESCRIPTOR *descriptor);
ULONG WINAPI tdh_cleanup_payload_event_filter_descriptor(EVENT_FILTER_DESCRIPTOR *descriptor);

/* ---- messages of WPP ---- */

ULONG WINAPI tdh_open_decoding_handle(void **handle);
ULONG WINAPI tdh_close_decoding_handle(void *handle);
/* Sets a parameter: a list of TMF files or of folders (separated by `;`), whether times are UTC, or the pointer size.
   Fails with ERROR_NOT_SUPPORTED for PDB files. */
ULONG WINAPI tdh_set_decoding_parameter(void *handle, const struct tdh_parameter *parameter);
/* Returns a parameter by its type. A string belongs to the handle and is valid until the parameter is set again.
   ERROR_NOT_FOUND: the parameter was never set. */
ULONG WINAPI tdh_get_decoding_parameter(void *handle, struct tdh_parameter *parameter);
ULONG WINAPI tdh_get_wpp_property(void *handle, const EVENT_RECORD *event, const WCHAR *name, ULONG *size,
                                  void *buffer);
ULONG WINAPI tdh_get_wpp_message(void *handle, const EVENT_RECORD *event, ULONG *size, void *buffer);

/* ---- structures that TDH's functions return, identical on all host OSs ---- */
/* A block under construction: a fixed part, followed by UTF-16 strings. The fixed part contains the strings' offsets
   from the start of the block. Zero-initialise. After a failed allocation, all later additions fail too. */
struct tdh_block {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};
/* Adds zeroed bytes and returns their offset; 0 when out of memory. */
uint32_t tdh_block_add(struct tdh_block *b, size_t size);
/* Adds the string with its NUL and returns its offset. For NULL, returns 0, which means "no string". */
uint32_t tdh_block_text(struct tdh_block *b, const char *text);
void tdh_block_u32(struct tdh_block *b, uint32_t at, uint32_t value);
void tdh_block_put(struct tdh_block *b, uint32_t at, const void *bytes, size_t size);
void tdh_block_free(struct tdh_block *b);

/* Builds a TRACE_EVENT_INFO. `pointer_size` is the pointer size of the event, or 0 if there is no event. Errors:
   E_OUTOFMEMORY. */
HRESULT tdh_block_event(const struct event_schema *schema, uint32_t pointer_size, struct tdh_block *out);
/* Builds an EVENT_MAP_INFO. Errors: E_OUTOFMEMORY. */
HRESULT tdh_block_map(const struct event_map *map, struct tdh_block *out);
enum { TDH_EVENT_HEAD = 112, TDH_PROPERTY_SIZE = 24, TDH_MAP_HEAD = 16, TDH_MAP_ENTRY = 8 };
/* Writes the EVENT_PROPERTY_INFO of each property, beginning at `at`. Schemas have no length for most types with a
   fixed size; this function adds the length, because programs use it. */
void tdh_block_properties(struct tdh_block *b, uint32_t at, const struct event_schema *schema, uint32_t pointer_size);

#endif
