/* SPDX-License-Identifier: MIT */
/* The one place that decides whether a caller may do what a verb does with a set. It is asked with the descriptor that
   is stored, under the store's lock, before there is any effect. MS-PLA 3.2.1, 3.2.4.1 (Security); behaviour 5. */
#ifndef OPENPLA_GATE_H
#define OPENPLA_GATE_H

#include "engine/base/access.h"

enum gate_verb {
#define GATE(verb, text, set_rights, session_rights, mends) GATE_##verb,
#include "engine/pla/store/gate_verbs.def"
#undef GATE
    GATE_CREATE, /* there is no set yet: administrators and Performance Log Users */
    GATE_VERBS
};

/* Refused, with a text for the caller. Not E_ACCESSDENIED, which a damaged file may answer with as well: clients get
   that instead (engine/pla/refusal.h). */
#define GATE_REFUSED ((HRESULT)0xA0300011)

/* What is asked about. */
struct gate_set {
    const char *space, *name;
    const char *security; /* as it is stored, "" for the default; NULL: it cannot be told, and is administrators' */
    bool session;         /* a trace session, or what begins one */
};
/* S_OK, GATE_REFUSED, E_OUTOFMEMORY. For what this process does for itself always S_OK. */
HRESULT gate_check(const struct access_subject *who, enum gate_verb verb, const struct gate_set *set);
/* The same for a definition that takes the place of the set's, and says `security`. Who may put Security needs no right
   to change the set, if the new one gives it to him. */
HRESULT gate_check_change(const struct access_subject *who, const struct gate_set *set, const char *security);
/* For a new set. One that begins with the host (`boot`) is administrators' to make. */
HRESULT gate_check_create(const struct access_subject *who, const struct gate_set *set, bool boot);
/* The same for one question alone. */
HRESULT gate_ask(const struct caller *caller, enum gate_verb verb, const struct gate_set *set);

/* The descriptor that the text stands for: "" is the default. */
const char *gate_security(const char *security);
/* That of a set that the account makes, who is no administrator, and which says no other: the account may do everything
   with it. From memory_alloc. */
char *gate_creator_security(const char *sid);

#endif
