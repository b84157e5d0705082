/* SPDX-License-Identifier: MIT */
/* Counter manifests: the element `counters` (namespace http://schemas.microsoft.com/win/2005/12/counters) of an
   instrumentation manifest, as written for ctrpp and lodctr. */
#ifndef OPENPLA_PDH_COUNTER_MANIFEST_H
#define OPENPLA_PDH_COUNTER_MANIFEST_H

#include "engine/pdh/perflib/counterset_registration.h"

struct counter_manifest {
    struct registered_countersets providers;
    bool has_events; /* the manifest also has event providers, which manifest_xml_read reads */
};

/* Reads all Perflib providers of a manifest, possibly none. Names and help are in English if the manifest has English
   strings. Fails with MANIFEST_INVALID and a message that names line, element, attribute and value; *out is then empty.
   Adds a warning to `warnings` (may be NULL) for each ignored element or attribute. */
HRESULT counter_manifest_read(const void *xml, size_t size, struct texts *warnings, struct counter_manifest *out);
/* Like counter_manifest_read, for a file. The error message begins with the path. */
HRESULT counter_manifest_load(const char *path, struct texts *warnings, struct counter_manifest *out);
void counter_manifest_free(struct counter_manifest *m);

#endif
