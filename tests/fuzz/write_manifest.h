/* SPDX-License-Identifier: MIT */
/* A provider that was read from any bytes, written as a manifest again. */
#ifndef OPENPLA_TEST_WRITE_MANIFEST_H
#define OPENPLA_TEST_WRITE_MANIFEST_H

#include "engine/etw/provider_manifest.h"

/* Aborts when that fails, or when what was written has another number of events than it can have. */
void write_manifest(const struct provider_manifest *m);

#endif
