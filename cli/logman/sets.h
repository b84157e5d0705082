/* SPDX-License-Identifier: MIT */
/* The sets that logman's lines are about: where they come from, how they are named, their one collector. */
#ifndef OPENPLA_LOGMAN_SETS_H
#define OPENPLA_LOGMAN_SETS_H

#include "cli/logman/line.h"
#include "engine/pla/model.h"

/* A set that the line's name is bound to or is to be. */
struct logman_target {
    struct object *set;       /* a reference */
    struct object *collector; /* a reference; NULL: not chosen yet */
    char *name;               /* with its namespace where it has one */
    char *short_name;         /* without */
    char *collector_name;     /* of "Set\Collector"; NULL */
    const char *server;       /* borrowed; NULL: this machine */
    bool session;             /* of the namespace Session */
    bool found;               /* there is one of the name, and the set holds it */
};
/* With -ets a name means a session unless it names its namespace; to query and to update it may name a collector too.
   E_INVALIDARG without a name. Asks for the set; that there is none is told by `found` alone. */
HRESULT logman_target_open(const struct logman_line *line, struct logman_target *t);
void logman_target_free(struct logman_target *t);
/* Adds a collector of the set's name: PLA_E_DC_ALREADY_EXISTS. */
HRESULT logman_target_add(struct logman_target *t, unsigned adverb);
/* Chooses the collector that an update means: the one that is named, the one of the set's name, else the only one of
   the kind (adverb 0: of any). E_INVALIDARG when several fit. */
HRESULT logman_target_choose(struct logman_target *t, unsigned adverb);
/* All sets that are stored, or all sessions. A reference. */
HRESULT logman_list(const char *server, bool sessions, struct object **collection);
/* Of collectors of which logman has a word; 0: none. */
unsigned logman_adverb_of(const struct object *collector);

#endif
