/* SPDX-License-Identifier: MIT */
/* Where manifests come from as sources of schemas: files, the providers registered on this computer, and traces of
   .NET. `languages`: the preferred ones, as message_tables_find takes them; NULL: those of this host's user. */
#ifndef OPENPLA_MANIFEST_ORIGINS_H
#define OPENPLA_MANIFEST_ORIGINS_H

#include "engine/etw/decode/event_schema.h"
#include "engine/etw/provider_manifest.h"

/* Takes the providers over, also when it fails. */
HRESULT manifests_origin(struct provider_manifests *list, const char *languages, struct schema_origin *out);
/* Of an instrumentation manifest. What manifest_xml_read says, with the path before. */
HRESULT manifest_file_origin(const char *path, const char *languages, struct schema_origin *out);
/* Of a program or DLL with a WEVT_TEMPLATE resource: S_FALSE: it has none. */
HRESULT manifest_binary_origin(const char *path, const char *languages, struct schema_origin *out);
/* Of the programs and DLLs of a folder; files that are none, or are damaged, are left out, with a text in `remarks`
   (may be NULL) for the latter. */
HRESULT manifest_folder_origin(const char *folder, const char *languages, struct texts *warnings,
                               struct schema_origin *out);
/* Of the providers that are registered on this computer, each read when it is asked for first. */
HRESULT registered_manifests_origin(const char *languages, struct schema_origin *out);

/* The manifest that a path says, which is XML, or a program or DLL. */
HRESULT manifest_file_load(const char *path, struct texts *warnings, struct provider_manifests *out);

/* The providers that are registered on this computer: below HKEY_LOCAL_MACHINE, SOFTWARE\Microsoft\Windows\
   CurrentVersion\WINEVT\Publishers, as wevtutil and `openpla manifest add` put them there. */
/* Adds all that have a name. */
HRESULT registered_providers_list(struct known_providers *list);
/* What a provider's files say, with the messages of its files and, of the languages wanted (NULL: none), of their MUI
   files. S_FALSE: it is not registered. ERROR_FILE_NOT_FOUND's HRESULT: its resource file is not there;
   ERROR_RESOURCE_TYPE_NOT_FOUND's: that has no template of it. */
HRESULT registered_manifest_load(const GUID *guid, const char *languages, struct provider_manifest **out);

/* ---- registering ---- */

struct manifest_files {
    const char *resource, *message, *parameter; /* in the place of those that the manifest says; NULL: those */
};
/* Takes the provider into the registry, with its channels. Its resource file is what the manifest, or `files`, says,
   where that is there and has its template; else one that is compiled from the manifest into the folder `manifests` of
   our data. One that we registered before is replaced. ERROR_ALREADY_EXISTS's HRESULT: another one has registered it,
   and it is not to be replaced (`force`). `path` (of the manifest) is kept for who asks where it came from. */
HRESULT manifest_register(const struct provider_manifest *m, const char *path, const struct manifest_files *files,
                          bool force);
/* With its channels and its compiled file. S_FALSE: it is not registered. ERROR_ACCESS_DENIED's HRESULT: another one
   has registered it, unless `force`. */
HRESULT manifest_unregister(const GUID *guid, bool force);
/* The manifest that `manifest add` made it of, from memory_alloc. S_FALSE: we did not register it. */
HRESULT manifest_registered_from(const GUID *guid, char **path);

/* ---- manifests that .NET's EventSource writes into a trace, piece by piece, as its events 65534 ---- */

struct inband_manifests;
/* NULL when out of memory. `languages` as of manifest_origins.h. */
struct inband_manifests *inband_manifests_create(const char *languages);
void inband_manifests_free(struct inband_manifests *all); /* before the schemas; NULL is allowed */
/* Is this a piece of a manifest? */
bool inband_manifest_event(const EVENT_RECORD *event);
/* Takes a piece. With the last one the manifest joins the schemas, in the place of an earlier one of the provider, and
   its events are decoded from then on. S_OK; S_FALSE: it cannot be used, and error_text(S_FALSE) says why (pieces that
   do not fit, a manifest that is wrong, or another provider's). E_OUTOFMEMORY. */
HRESULT inband_manifests_take(struct inband_manifests *all, const EVENT_RECORD *event, struct event_schemas *schemas);

#endif
