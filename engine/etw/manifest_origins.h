/* SPDX-License-Identifier: MIT */
/* Manifests as origins of schemas (schemas.h). `languages`: the wanted ones, as message_tables_find has them; NULL:
   those of this host's user. */
#ifndef OPENPLA_MANIFEST_ORIGINS_H
#define OPENPLA_MANIFEST_ORIGINS_H

#include "engine/etw/decode/manifest/manifest_xml.h"
#include "engine/etw/decode/schemas.h"

/* Takes the providers over, also when it fails. */
HRESULT manifests_origin(struct provider_manifests *list, const char *languages, struct schema_origin *out);
/* Of an instrumentation manifest. What manifest_xml_read says, with the path before. */
HRESULT manifest_file_origin(const char *path, const char *languages, struct schema_origin *out);
/* Of a program or DLL with a WEVT_TEMPLATE resource: S_FALSE: it has none. */
HRESULT manifest_binary_origin(const char *path, const char *languages, struct schema_origin *out);
/* Of the programs and DLLs of a folder; files that are none, or are damaged, are left out, with a text in `remarks`
   (may be NULL) for the latter. */
HRESULT manifest_folder_origin(const char *folder, const char *languages, struct texts *remarks,
                               struct schema_origin *out);
/* Of the providers that are registered on this computer, each read when it is asked for first. */
HRESULT registered_manifests_origin(const char *languages, struct schema_origin *out);

/* The manifest that a path says, which is XML, or a program or DLL. */
HRESULT manifest_file_load(const char *path, struct texts *remarks, struct provider_manifests *out);

#endif
