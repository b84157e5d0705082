/* SPDX-License-Identifier: MIT */
/* TDH's functions as programs call them: opentdh.def gives each its name, TdhGetProperty for tdh_get_property. They
   answer with system error codes; blocks are those of tdh_block.h. Addresses may be bad. */
#ifndef OPENPLA_TDH_H
#define OPENPLA_TDH_H

#include "engine/os/etw_provider_types.h"
#include "engine/tdh/schemas.h"

/* What this process knows: what is registered on the host, and what it has loaded. Lives as long as the process.
   E_OUTOFMEMORY, or why what is registered cannot be read. */
HRESULT tdh_schemas(struct event_schemas **out);

/* TDH_CONTEXT */
struct tdh_parameter {
    uint64_t value; /* a number, or an address */
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
    uint64_t name; /* address of UTF-16 */
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
/* Undocumented; what it answers is a guess: offset in UserData, and size. */
ULONG WINAPI tdh_get_property_offset_and_size(const EVENT_RECORD *event, ULONG count,
                                              const struct tdh_parameter *parameters, ULONG steps,
                                              const struct tdh_property_step *path, struct tdh_place *out);
ULONG WINAPI tdh_format_property(const void *info, const void *map, ULONG pointer_size, USHORT in, USHORT out,
                                 USHORT length, USHORT data_size, const uint8_t *data, ULONG *size, WCHAR *buffer,
                                 USHORT *used);

#endif
