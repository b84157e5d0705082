/* SPDX-License-Identifier: MIT */
/* What providers of manifests define, on stdout. */
#ifndef OPENPLA_CLI_MANIFEST_SHOW_H
#define OPENPLA_CLI_MANIFEST_SHOW_H

#include "cli/json.h"
#include "engine/etw/provider_manifest.h"

HRESULT manifest_show_text(const struct provider_manifests *all, const char *languages);
/* An object each, in the array that was begun. */
HRESULT manifest_show_json(const struct provider_manifests *all, const char *languages, struct json *j);

#endif
