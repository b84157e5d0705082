/* SPDX-License-Identifier: MIT */
/* What `logman query --json` prints: the objects with their properties, under the names that MS-PLA gives them. */
#ifndef OPENPLA_CLI_LOGMAN_SHOW_JSON_H
#define OPENPLA_CLI_LOGMAN_SHOW_JSON_H

#include "cli/json.h"
#include "cli/logman/line.h"
#include "engine/pla/model.h"

/* Each writes a member of the object that is begun, "sets" or "providers". After a failure the brackets that were begun
   since are still open. */
/* Name, Status and Types of each. */
HRESULT logman_json_list(struct json *j, struct object *collection);
HRESULT logman_json_all_sets(struct json *j, struct object *collection);
HRESULT logman_json_set(struct json *j, struct object *set);
HRESULT logman_json_providers(struct json *j, const struct logman_line *line);

#endif
