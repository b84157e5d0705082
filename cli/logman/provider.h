/* SPDX-License-Identifier: MIT */
/* -p, --p and -pf: the providers of a trace collector. */
#ifndef OPENPLA_LOGMAN_PROVIDER_H
#define OPENPLA_LOGMAN_PROVIDER_H

#include "cli/logman/line.h"
#include "engine/pla/model.h"

/* Adds, changes and removes what the line says. ERROR_NOT_FOUND's HRESULT for a name that nothing here knows (a GUID
   needs not be known), E_INVALIDARG for flags and levels that the provider has none of. */
HRESULT logman_put_providers(const struct logman_line *line, struct object *collector);
/* A provider as it is known here under the name or GUID text, a reference. ERROR_NOT_FOUND's HRESULT. */
HRESULT logman_known_provider(const char *name, struct object **out);
/* The Value of a value map's item as a number; 0 with a failure. */
HRESULT logman_item_number(struct object *item, uint64_t *out);

#endif
