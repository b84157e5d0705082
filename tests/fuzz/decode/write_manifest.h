/* SPDX-License-Identifier: MIT */
/* Writes a manifest from a provider that was read from arbitrary bytes. */
#ifndef OPENPLA_TEST_WRITE_MANIFEST_H
#define OPENPLA_TEST_WRITE_MANIFEST_H

#include "engine/etw/provider_manifest.h"

/* Aborts if that fails or if the result has an impossible number of events. */
void write_manifest(const struct provider_manifest *m);

#endif
