/* SPDX-License-Identifier: MIT */
/* A member of a segment: one collector of the set at work. */
#ifndef OPENPLA_MEMBER_H
#define OPENPLA_MEMBER_H

#include "engine/pla/collect/collect.h"
#include "engine/pla/run/alert_settings.h"
#include "engine/pla/run/run_set.h"
#include "engine/pla/run/tick_grid.h"

#include <stdatomic.h>

struct name_context;
/* A collector of the set in one segment. */
struct member {
    struct object *model;        /* a reference */
    struct run_set *set;         /* borrowed */
    struct collector *collector; /* NULL: not open */
    char *file;                  /* full path of what it writes, "" for a kind that writes none */
    bool created;                /* that file was not there before */
    atomic_bool woken;           /* it has called */
    bool done, failed;           /* what poll has said */
    int64_t looked;              /* tick_clock of the latest poll */
    struct alert_settings alert; /* of an alert collector */
    struct tick_grid grid;       /* of its samples */
};
/* What the collector is to write in `folder`. `follows`, and errors: as output_file. */
HRESULT member_choose_file(struct member *m, const char *folder, const struct name_context *context, bool follows);
/* Opens the collector to write the file that was chosen, which may not be outside `root`. previous: the member of the
   segment before, whose counters and grid go on; NULL: none. What collector_open says. */
HRESULT member_open(struct member *m, const char *root, struct member *previous);
/* When it wants to be polled although it has not called; TICK_NEVER. */
int64_t member_next_look(const struct member *m);
const char *member_name(const struct member *m);
/* Takes up what the set, as it is now, says of alerts. E_OUTOFMEMORY. */
HRESULT member_read_alert(struct member *m);
void member_free(struct member *m);
/* collect_context's: what a crossing sets off, and the rules for it. */
char *member_alert(void *member, const struct crossing *crossing);
void member_alert_rules(void *member, struct alert_rules *out);
/* Puts a failure of the collector, error_text(hr), into the run's diagnostics. */
void member_note(struct member *m, HRESULT hr);

#endif
