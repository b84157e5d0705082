/* SPDX-License-Identifier: MIT */
/* The providers that are registered on this computer: below HKEY_LOCAL_MACHINE, SOFTWARE\Microsoft\Windows\
   CurrentVersion\WINEVT\Publishers, as wevtutil and `openpla manifest add` put them there. */
#ifndef OPENPLA_REGISTERED_MANIFESTS_H
#define OPENPLA_REGISTERED_MANIFESTS_H

#include "engine/etw/decode/manifest/manifest_xml.h"
#include "engine/etw/decode/schemas.h"

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

#endif
