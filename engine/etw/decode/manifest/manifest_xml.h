/* SPDX-License-Identifier: MIT */
/* Instrumentation manifests (instrumentationManifest of the namespace
   http://schemas.microsoft.com/win/2004/08/events), as they are written for mc, and as .NET puts them into traces. */
#ifndef OPENPLA_MANIFEST_XML_H
#define OPENPLA_MANIFEST_XML_H

#include "engine/etw/provider_manifest.h"

/* ERROR_XML_PARSE_ERROR, what TDH says of a manifest that it does not take. */
#define MANIFEST_INVALID        ((HRESULT)0x800705B9)
#define MANIFEST_MOST_BYTES     (16u << 20)
#define MANIFEST_MOST_PROVIDERS 256u

/* All providers of a manifest: UTF-8, or UTF-16 with its mark. MANIFEST_INVALID with a text that names line, element
   and value. `remarks` (NULL: nobody wants them) gets a text for each element that is passed over. *out is empty on
   failure. Message ids are given as mc gives them. */
HRESULT manifest_xml_read(const void *xml, size_t size, struct texts *remarks, struct provider_manifests *out);

#endif
