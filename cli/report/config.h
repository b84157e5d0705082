/* SPDX-License-Identifier: MIT */
/* The parts of "openpla config". */
#ifndef OPENPLA_CLI_CONFIG_H
#define OPENPLA_CLI_CONFIG_H

#include "cli/output.h"
#include "engine/report/report_reader.h"

#define CONFIG_VERB "config"

/* Shows a file while it is being read. `tables` has patterns of the tables to show; empty: all tables. */
HRESULT config_show_text(const char *path, const struct texts *tables, struct texts *warnings);
/* Shows the file as one JSON object. After a failure, the object is still valid JSON, and its member `error` contains
   the reason. */
HRESULT config_show_json(const char *path, const struct texts *tables, struct json *j, struct texts *warnings);
/* Write a cell as a number or a string, depending on its type. The type is "" or NULL if it is unknown. */
void config_put_fact(struct json *j, const struct report_data *fact);
void config_put_typed(struct json *j, const char *name, const char *text, const char *type);
/* Returns true if a table matches one of the patterns, or if there are no patterns. */
bool config_is_chosen(const struct texts *tables, const char *table);

#endif
