/* SPDX-License-Identifier: MIT */
/* The gate before the sets of the store: what their files say of who may do what. Under the store's lock. */
#ifndef OPENPLA_SET_GATE_H
#define OPENPLA_SET_GATE_H

#include "engine/pla/gate.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"

/* Before something is done with the set that is there. `at` is open. PLA_E_DCS_NOT_FOUND; what gate_check answers. */
HRESULT set_gate_pass(const struct caller *caller, enum gate_verb verb, const struct set_file *at);
/* Before a definition that says `security` (NULL: that cannot be told) is written: in place of one, or as a new set. */
HRESULT set_gate_save(const struct caller *caller, const struct set_file *at, bool exists, const char *security);
/* The same as set_gate_pass for a definition that has been loaded, with its line of the security cut off. */
HRESULT set_gate_loaded(const struct caller *caller, enum gate_verb verb, const struct set_file *at, const char *xml,
                        size_t size, const char *security);
/* Security of the set as it was read; *out NULL: it cannot be told. Borrowed, and kept with the set. E_OUTOFMEMORY. */
HRESULT stored_set_security(struct stored_set *set, const char **out);

/* Which sets of a list a caller may see. Zero-initialise `known`. */
struct set_sight {
    struct access_subject *who; /* NULL: this process itself, which sees all */
    const char *space;
    struct {
        char *security;
        bool seen;
    } known[8]; /* most sets of a list say the same */
    size_t count;
};
HRESULT set_sight_open(const struct caller *caller, const char *space, struct set_sight *out);
HRESULT set_sight_look(struct set_sight *sight, struct stored_set *set, bool *seen);
void set_sight_close(struct set_sight *sight);

#endif
