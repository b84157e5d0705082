/* SPDX-License-Identifier: MIT */
/* The parts of logman: what the options of lines change in sets, what query prints, help and advice. */
#ifndef OPENPLA_LOGMAN_H
#define OPENPLA_LOGMAN_H

#include "cli/logman/line.h"
#include "cli/output.h"
#include "engine/pla/model.h"

/* Of collectors of which logman has a word; 0: none. */
unsigned logman_adverb_of(const struct object *collector);

/* ---- what the options of a line make of a set and its collector (docs/user/logman.md) ---- */

/* Puts the properties. `session`: the set is a trace session's (-ets); `create`: what is not given gets logman's own
   defaults. Remarks of what was taken for something else are added to `remarks`. E_INVALIDARG with a text that names
   option and value; the objects may hold some of the line then. */
HRESULT logman_change(const struct logman_line *line, struct object *set, struct object *collector, bool session,
                      bool create, struct texts *remarks);

/* -p, --p and -pf: the providers of a trace collector.
   Adds, changes and removes what the line says. ERROR_NOT_FOUND's HRESULT for a name that nothing here knows (a GUID
   needs not be known), E_INVALIDARG for flags and levels that the provider has none of. */
HRESULT logman_put_providers(const struct logman_line *line, struct object *collector);
/* A provider as it is known here under the name or GUID text, a reference. ERROR_NOT_FOUND's HRESULT. */
HRESULT logman_known_provider(const char *name, struct object **out);
/* The Value of a value map's item as a number; 0 with a failure. */
HRESULT logman_item_number(struct object *item, uint64_t *out);

/* ---- what `logman query` prints, in the columns and words that scripts take apart ---- */

/* The table of sets. */
HRESULT logman_show_list(struct object *collection);
/* Each set of the collection as the next one. */
HRESULT logman_show_all_sets(struct object *collection, bool session);
/* One set: its own lines, and a block for each collector. */
HRESULT logman_show_set(struct object *set, bool session);
/* All providers that are known here, those of a process, or what one of them has: keywords, levels, processes. */
HRESULT logman_show_providers(const struct logman_line *line);

/* All providers that are known here, or with -pid those of the process; a reference to their collection. */
HRESULT logman_list_providers(const struct logman_line *line, struct object **out);
/* "Counter", "Trace" ... */
const char *logman_type_of(const struct object *collector);

/* `logman query --json`: the objects with their properties, under the names that MS-PLA gives them. Each writes a
   member of the object that is begun, "sets" or "providers". After a failure the brackets that were begun since are
   still open. Name, Status and Types of each. */
HRESULT logman_json_list(struct json *j, struct object *collection);
HRESULT logman_json_all_sets(struct json *j, struct object *collection);
HRESULT logman_json_set(struct json *j, struct object *set);
HRESULT logman_json_providers(struct json *j, const struct logman_line *line);

/* ---- help, and what to do about the mistakes that people make with logman again and again ---- */

/* What helps where the line ended with the code; NULL: nothing that is known. */
const char *logman_advice(const struct logman_line *line, HRESULT hr);
/* Adds what the set will not do as whoever wrote the line expects. E_OUTOFMEMORY. */
HRESULT logman_warn(const struct logman_line *line, struct object *set, struct object *collector,
                    struct texts *remarks);

/* Prints the help of the line's verb and adverb; of all where it names no verb. E_OUTOFMEMORY. */
HRESULT logman_show_help(const struct logman_line *line);
/* Tells the options of each verb and adverb to who asks (cli/cli.h). False: nobody does. */
bool logman_report_options(void);

#endif
