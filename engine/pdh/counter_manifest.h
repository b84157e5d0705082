/* SPDX-License-Identifier: MIT */
/* Counter manifests: the element counters (of the namespace http://schemas.microsoft.com/win/2005/12/counters) of an
   instrumentation manifest, as it is written for ctrpp and lodctr. */
#ifndef OPENPLA_PDH_COUNTER_MANIFEST_H
#define OPENPLA_PDH_COUNTER_MANIFEST_H

#include "engine/pdh/perflib/counterset_registration.h"

struct counter_manifest {
    struct registered_countersets providers;
    bool has_events; /* event providers too, which are for manifest_xml_read */
};

/* All providers of counters of a manifest, which may have none. Texts are English where the manifest has that culture.
   MANIFEST_INVALID with a text that names line, element, attribute and value. `remarks` (NULL: nobody wants them) gets
   a text for each element and attribute that is passed over. *out is empty on failure. */
HRESULT counter_manifest_read(const void *xml, size_t size, struct texts *remarks, struct counter_manifest *out);
/* The same of a file, whose name then stands before the text of an error. */
HRESULT counter_manifest_load(const char *path, struct texts *remarks, struct counter_manifest *out);
void counter_manifest_free(struct counter_manifest *m);

#endif
