/* SPDX-License-Identifier: MIT */
/* The gate. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

#include <string.h>

#define ADMINISTRATORS "D:(A;;0x1f01ff;;;SY)(A;;0x1f01ff;;;BA)"
#define CREATORS       ADMINISTRATORS "(A;;0x1f01ff;;;S-1-5-32-559)" /* Performance Log Users */
/* What ETW documents for sessions of which nothing is registered. */
#define SESSIONS                                                                                                       \
    "O:BAG:BAD:(A;;0x800;;;WD)(A;;0x1f0fff;;;SY)(A;;0x120fff;;;LS)(A;;0x120fff;;;NS)(A;;0x1f0fff;;;BA)"                \
    "(A;;0xee5;;;S-1-5-32-559)"

static const struct access_rights file_rights = {0x120089, 0x120116, 0x1200A0, 0x1F01FF};
static const struct access_rights session_rights = {0xD, 0x62, 0xE90, 0x1F0FFF};

static const struct {
    const char *name;
    uint32_t of_set, of_session;
    bool mends;
} verbs[GATE_VERBS] = {
#define GATE(verb, text, set_rights, session_rights, mends) [GATE_##verb] = {text, set_rights, session_rights, mends},
#include "engine/pla/store/gate_verbs.def"
#undef GATE
    [GATE_CREATE] = {"Commit of a new set", 1, 1, true},
};

const char *gate_security(const char *security)
{
    return *security ? security : SET_DEFAULT_SECURITY;
}

char *gate_creator_security(const char *sid)
{
    return text_format("O:%sG:DUD:(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;%s)(A;;0x1200a9;;;S-1-5-32-559)", sid, sid);
}

static HRESULT is_administrator(const struct access_subject *who, bool *is)
{
    return access_allows(who, ADMINISTRATORS, &file_rights, 1, is);
}

/* By the text alone, which must not be NULL. */
static HRESULT allows(const struct access_subject *who, enum gate_verb verb, const char *security, bool session,
                      bool *allowed)
{
    if (session)
        return access_allows(who, *security && strcmp(security, SET_DEFAULT_SECURITY) != 0 ? security : SESSIONS,
                             &session_rights, verbs[verb].of_session, allowed);
    return access_allows(who, gate_security(security), &file_rights, verbs[verb].of_set, allowed);
}

static HRESULT may(const struct access_subject *who, enum gate_verb verb, const struct gate_set *set, bool *allowed)
{
    *allowed = false;
    HRESULT hr = set->security ? allows(who, verb, set->security, set->session, allowed) : S_OK;
    if (FAILED(hr) || *allowed || (set->security && !verbs[verb].mends))
        return hr;
    return is_administrator(who, allowed);
}

static HRESULT refuse(enum gate_verb verb, const struct gate_set *set)
{
    return error_set(GATE_REFUSED, "%s: the Security of \"%s\\%.300s\" gives you no right to do this (it needs 0x%X)",
                     verbs[verb].name, set->space, set->name,
                     (unsigned)(set->session ? verbs[verb].of_session : verbs[verb].of_set));
}

HRESULT gate_check(const struct access_subject *who, enum gate_verb verb, const struct gate_set *set)
{
    bool allowed;
    HRESULT hr = may(who, verb, set, &allowed);
    return FAILED(hr) || allowed ? hr : refuse(verb, set);
}

HRESULT gate_check_change(const struct access_subject *who, const struct gate_set *set, const char *security)
{
    const bool same = set->security && !strcmp(gate_security(set->security), gate_security(security));
    bool change = false, put = false;
    HRESULT hr = may(who, GATE_COMMIT, set, &change);
    if (SUCCEEDED(hr) && !same)
        hr = may(who, GATE_SECURITY, set, &put);
    if (FAILED(hr) || (same && change))
        return hr;
    if (same || !put)
        return refuse(same ? GATE_COMMIT : GATE_SECURITY, set);
    if (!change)
        hr = allows(who, GATE_COMMIT, security, set->session, &change);
    return FAILED(hr) || change ? hr : refuse(GATE_COMMIT, set);
}

HRESULT gate_check_create(const struct access_subject *who, const struct gate_set *set, bool boot)
{
    bool allowed;
    HRESULT hr = access_allows(who, boot ? ADMINISTRATORS : CREATORS, &file_rights, 1, &allowed);
    return FAILED(hr) || allowed ? hr
           : boot
               ? error_set(GATE_REFUSED, "Commit: \"%s\\%.300s\" begins with the system: only administrators make such",
                           set->space, set->name)
               : error_set(GATE_REFUSED,
                           "Commit: only administrators and Performance Log Users make sets, such as \"%s\\%.300s\"",
                           set->space, set->name);
}

HRESULT gate_ask(const struct caller *caller, enum gate_verb verb, const struct gate_set *set)
{
    struct access_subject *who;
    if (caller->in_process)
        return S_OK;
    HRESULT hr = access_open(caller, &who);
    if (SUCCEEDED(hr))
        hr = gate_check(who, verb, set);
    else if (hr == E_ACCESSDENIED)
        hr = error_set(GATE_REFUSED, "%s: \"%s\\%.300s\": who asks cannot be told", verbs[verb].name, set->space,
                       set->name);
    access_close(who);
    return hr;
}
