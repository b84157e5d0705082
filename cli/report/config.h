/* SPDX-License-Identifier: MIT */
/* The parts of "openpla config". */
#ifndef OPENPLA_CLI_CONFIG_H
#define OPENPLA_CLI_CONFIG_H

#include "cli/output.h"
#include "engine/report/report_reader.h"

#define CONFIG_VERB "config"

/* Shows a file as it is read; `tables`: patterns of the sections' tables that are shown, none: all. */
HRESULT config_show_text(const char *path, const struct texts *tables, struct texts *remarks);
/* The same as one object; also after a failure it is whole, with the reason as `error`. */
HRESULT config_show_json(const char *path, const struct texts *tables, struct json *j, struct texts *remarks);
/* A fact, and a cell whose text was of that type ("" or NULL: it says none): numbers where that tells that they are. */
void config_put_fact(struct json *j, const struct report_data *fact);
void config_put_typed(struct json *j, const char *name, const char *text, const char *type);
/* Whether a table is one of those. */
bool config_is_chosen(const struct texts *tables, const char *table);

#endif
