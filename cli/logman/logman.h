/* SPDX-License-Identifier: MIT */
/* The parts of logman: options that change sets, the output of query, help and advice. */
#ifndef OPENPLA_LOGMAN_H
#define OPENPLA_LOGMAN_H

#include "cli/logman/line.h"
#include "cli/output.h"
#include "engine/pla/model.h"

/* Returns the adverb for a collector; 0 if logman has no adverb for it. */
unsigned logman_adverb_of(const struct object *collector);

/* ---- applying the options of a line to a set and its collector (docs/user/logman.md) ---- */

/* Sets the properties. `session` means that the set belongs to a trace session (-ets); `create` means that missing
   options get logman's defaults. Adds to `warnings` a warning for each word that was not interpreted as written. Fails
   with E_INVALIDARG and a message that names option and value; the objects may then be partly changed. */
HRESULT logman_change(const struct logman_line *line, struct object *set, struct object *collector, bool session,
                      bool create, struct texts *warnings);

/* Adds, changes and removes the event providers of a trace collector, for -p, --p and -pf. Fails with
   HRESULT_FROM_WIN32(ERROR_NOT_FOUND) for an unknown name (a GUID need not be known), or with E_INVALIDARG for unknown
   flags and levels. */
HRESULT logman_put_providers(const struct logman_line *line, struct object *collector);
/* Returns a reference to the event provider with the name or GUID. Fails with HRESULT_FROM_WIN32(ERROR_NOT_FOUND). */
HRESULT logman_known_provider(const char *name, struct object **out);
/* Returns the Value of a value map's item as a number; 0 after a failure. */
HRESULT logman_item_number(struct object *item, uint64_t *out);

/* ---- the output of `logman query`, with the columns and words that scripts parse ---- */

/* Prints the table of sets. */
HRESULT logman_show_list(struct object *collection);
/* Prints each set of the collection. */
HRESULT logman_show_all_sets(struct object *collection, bool session);
/* Prints one set: its lines, and a block for each collector. */
HRESULT logman_show_set(struct object *set, bool session);
/* Prints one of these: all known event providers; the event providers of a process; or the keywords, levels and
   processes of one event provider. */
HRESULT logman_show_providers(const struct logman_line *line);

/* Finds the event provider that the command line names. *processes becomes a value map of the processes that have
   registered this event provider. */
HRESULT logman_find_provider(const struct logman_line *line, struct object **out, struct object **processes);
/* Returns a reference to a collection of all known event providers, or, with -pid, of the process's event providers. */
HRESULT logman_list_providers(const struct logman_line *line, struct object **out);
/* Returns a name such as "Counter" or "Trace". */
const char *logman_type_of(const struct object *collector);

/* `logman query --json`: writes the objects with their properties, under the names in MS-PLA. Each function writes a
   member to the current JSON object. The member is "sets" or "providers". After a failure the member's brackets are
   still open. logman_json_list writes only Name, Status and Types of each set. */
HRESULT logman_json_list(struct json *j, struct object *collection);
HRESULT logman_json_all_sets(struct json *j, struct object *collection);
HRESULT logman_json_set(struct json *j, struct object *set);
HRESULT logman_json_providers(struct json *j, const struct logman_line *line);

/* ---- help, and advice for common mistakes ---- */

/* Returns advice for a command line that failed with the code, or NULL if there is no advice. */
const char *logman_advice(const struct logman_line *line, HRESULT hr);
/* Adds warnings about how the set will differ from what users expect. Fails with E_OUTOFMEMORY. */
HRESULT logman_warn(const struct logman_line *line, struct object *set, struct object *collector,
                    struct texts *warnings);

/* Prints the help of the line's verb and adverb, or of all verbs. Fails with E_OUTOFMEMORY. */
HRESULT logman_show_help(const struct logman_line *line);
/* Reports the options of each verb and adverb if options_ask (cli/cli.h) requested them; otherwise returns false. */
bool logman_report_options(void);

#endif
