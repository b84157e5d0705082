/* SPDX-License-Identifier: MIT */
/* Manifests as sources of schemas: files, the event providers registered on this computer, and traces written by .NET.
   `languages`: preferred languages as message_tables_find takes them; NULL: those of the user of this host OS. */
#ifndef OPENPLA_MANIFEST_ORIGINS_H
#define OPENPLA_MANIFEST_ORIGINS_H

#include "engine/etw/decode/event_schema.h"
#include "engine/etw/provider_manifest.h"

/* Creates an origin from event providers in memory; takes ownership of them, even on failure. */
HRESULT manifests_origin(struct provider_manifests *list, const char *languages, struct schema_origin *out);
/* Creates an origin from an instrumentation manifest. Errors: those of manifest_xml_read; the error text begins with
   the path. */
HRESULT manifest_file_origin(const char *path, const char *languages, struct schema_origin *out);
/* Creates an origin from a program or DLL with a WEVT_TEMPLATE resource. Returns S_FALSE if the file has no such
   resource. */
HRESULT manifest_binary_origin(const char *path, const char *languages, struct schema_origin *out);
/* Creates an origin from the programs and DLLs of a folder. Silently skips other files. For each corrupt file, adds an
   explanation to `warnings` (may be NULL) and skips the file. */
HRESULT manifest_folder_origin(const char *folder, const char *languages, struct texts *warnings,
                               struct schema_origin *out);
/* Creates an origin from the instrumentation manifests (.man, .xml, .manifest) of a folder; each manifest is read when
   its provider is needed. An index in OpenPLA's data folder records which file describes which provider. For each
   unusable file, adds an explanation to `warnings` (may be NULL) and skips the file. Returns
   HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if the folder has no manifest. */
HRESULT manifest_xml_folder_origin(const char *folder, const char *languages, struct texts *warnings,
                                   struct schema_origin *out);
/* Creates an origin from the event providers registered on this computer; the manifest of each is read when it is first
   needed. */
HRESULT registered_manifests_origin(const char *languages, struct schema_origin *out);

/* Moves the event providers of `from` to the end of `to`, and frees `from` even on failure. */
HRESULT provider_manifests_append(struct provider_manifests *to, struct provider_manifests *from);
/* Reads the event providers that a file defines: a manifest (XML), or a program or DLL with a WEVT_TEMPLATE
   resource. */
HRESULT manifest_file_load(const char *path, struct texts *warnings, struct provider_manifests *out);

/* The event providers registered on this computer. wevtutil and `openpla manifest add` register them under the key
   HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows\CurrentVersion\WINEVT\Publishers. */
/* Appends all providers that have a name. */
HRESULT registered_providers_list(struct known_providers *list);
/* Reads the resource file of a registered provider. Also reads the messages from its message files and from their MUI
   files for the preferred `languages` (NULL: none). Returns S_FALSE if the provider is not registered. Returns
   HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) if the resource file does not exist, and
   HRESULT_FROM_WIN32(ERROR_RESOURCE_TYPE_NOT_FOUND) if the file has no template of the provider. */
HRESULT registered_manifest_load(const GUID *guid, const char *languages, struct provider_manifest **out);

/* ---- registration ---- */

struct manifest_files {
    const char *resource, *message, *parameter; /* replace the files that the manifest names; NULL: no replacement */
};
/* Registers the event provider and its channels. A resource file in `files` must exist and contain the provider's
   template. If `files` names no resource file, uses the one that the manifest names. If that file does not exist or
   does not contain the template, compiles the manifest to a DLL in the folder `manifests` of OpenPLA's data. Replaces a
   provider that OpenPLA registered before. Returns HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if another program
   registered it and `force` is not set. `path` (of the manifest) is stored so that users can see where the provider
   came from. */
HRESULT manifest_register(const struct provider_manifest *m, const char *path, const struct manifest_files *files,
                          bool force);
/* Removes the event provider, its channels and its compiled file. Returns S_FALSE if the provider is not registered,
   and HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED) if another program registered the provider and `force` is not set. */
HRESULT manifest_unregister(const GUID *guid, bool force);
/* Returns the path of the manifest from which `openpla manifest add` registered the event provider. *path is from
   memory_alloc. Returns S_FALSE if OpenPLA did not register the provider. */
HRESULT manifest_registered_from(const GUID *guid, char **path);

/* ---- manifests that .NET's EventSource writes into a trace in pieces, as events 65534 ---- */

struct inband_manifests;
/* Returns NULL when out of memory. `languages`: as at the beginning of this file. */
struct inband_manifests *inband_manifests_create(const char *languages);
void inband_manifests_free(struct inband_manifests *all); /* call it before freeing the schemas; NULL is allowed */
/* Returns whether the event is a piece of a manifest. */
bool inband_manifest_event(const EVENT_RECORD *event);
/* Adds a piece of a manifest. After the last piece, adds the manifest to the schemas, where it replaces an earlier
   manifest of the same provider. Later events of that provider are decoded with the new manifest. Returns S_OK,
   E_OUTOFMEMORY, or S_FALSE with the reason in error_text(S_FALSE) if the manifest cannot be used (pieces that do not
   fit together, an invalid manifest, or one of another provider). */
HRESULT inband_manifests_take(struct inband_manifests *all, const EVENT_RECORD *event, struct event_schemas *schemas);

#endif
