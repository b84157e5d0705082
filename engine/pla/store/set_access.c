/* SPDX-License-Identifier: MIT */
/* Checks access to sets: the Security of a set determines what each account may do. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

#include <string.h>

#define ADMINISTRATORS "D:(A;;0x1f01ff;;;SY)(A;;0x1f01ff;;;BA)"
#define CREATORS       ADMINISTRATORS "(A;;0x1f01ff;;;S-1-5-32-559)" /* Performance Log Users */
/* The default security of trace sessions, as documented for ETW. */
#define SESSIONS                                                                                                       \
    "O:BAG:BAD:(A;;0x800;;;WD)(A;;0x1f0fff;;;SY)(A;;0x120fff;;;LS)(A;;0x120fff;;;NS)(A;;0x1f0fff;;;BA)"                \
    "(A;;0xee5;;;S-1-5-32-559)"

static const struct access_rights file_rights = {0x120089, 0x120116, 0x1200A0, 0x1F01FF};
static const struct access_rights session_rights = {0xD, 0x62, 0xE90, 0x1F0FFF};

static const struct {
    const char *name;
    uint32_t of_set, of_session;
    bool administrators;
} verbs[SET_ACCESS_VERBS] = {
#define SET_ACCESS(verb, text, set_rights, session_rights, administrators)                                             \
    [SET_ACCESS_##verb] = {text, set_rights, session_rights, administrators},
#include "engine/pla/store/access_verbs.def"
#undef SET_ACCESS
    [SET_ACCESS_CREATE] = {"Commit of a new set", 1, 1, true},
};

const char *set_access_security(const char *security)
{
    return *security ? security : SET_DEFAULT_SECURITY;
}

char *set_access_creator_security(const char *sid)
{
    return text_format("O:%sG:DUD:(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;%s)(A;;0x1200a9;;;S-1-5-32-559)", sid, sid);
}

static HRESULT is_administrator(const struct access_subject *who, bool *is)
{
    return access_allows(who, ADMINISTRATORS, &file_rights, 1, is);
}

/* Checks whether the descriptor `security` grants the right. Does not check the rights of administrators. `security`
   must not be NULL. */
static HRESULT security_allows(const struct access_subject *who, enum set_access_verb verb, const char *security,
                               bool session, bool *allowed)
{
    if (session)
        return access_allows(who, *security && strcmp(security, SET_DEFAULT_SECURITY) != 0 ? security : SESSIONS,
                             &session_rights, verbs[verb].of_session, allowed);
    return access_allows(who, set_access_security(security), &file_rights, verbs[verb].of_set, allowed);
}

static HRESULT verb_allowed(const struct access_subject *who, enum set_access_verb verb,
                            const struct set_access_object *set, bool *allowed)
{
    *allowed = false;
    HRESULT hr = set->security ? security_allows(who, verb, set->security, set->session, allowed) : S_OK;
    if (FAILED(hr) || *allowed || (set->security && !verbs[verb].administrators))
        return hr;
    return is_administrator(who, allowed);
}

static HRESULT verb_refuse(enum set_access_verb verb, const struct set_access_object *set)
{
    return error_set(SET_ACCESS_REFUSED, "%s: access to '%s\\%.300s' denied by its Security (0x%X is required)",
                     verbs[verb].name, set->space, set->name,
                     (unsigned)(set->session ? verbs[verb].of_session : verbs[verb].of_set));
}

HRESULT set_access_check(const struct access_subject *who, enum set_access_verb verb,
                         const struct set_access_object *set)
{
    bool allowed;
    HRESULT hr = verb_allowed(who, verb, set, &allowed);
    return FAILED(hr) || allowed ? hr : verb_refuse(verb, set);
}

HRESULT set_access_check_change(const struct access_subject *who, const struct set_access_object *set,
                                const char *security)
{
    const bool same = set->security && !strcmp(set_access_security(set->security), set_access_security(security));
    bool change = false, put = false;
    HRESULT hr = verb_allowed(who, SET_ACCESS_COMMIT, set, &change);
    if (SUCCEEDED(hr) && !same)
        hr = verb_allowed(who, SET_ACCESS_SECURITY, set, &put);
    if (FAILED(hr) || (same && change))
        return hr;
    if (same || !put)
        return verb_refuse(same ? SET_ACCESS_COMMIT : SET_ACCESS_SECURITY, set);
    if (!change)
        hr = security_allows(who, SET_ACCESS_COMMIT, security, set->session, &change);
    return FAILED(hr) || change ? hr : verb_refuse(SET_ACCESS_COMMIT, set);
}

HRESULT set_access_check_create(const struct access_subject *who, const struct set_access_object *set, bool boot)
{
    bool allowed;
    HRESULT hr = access_allows(who, boot ? ADMINISTRATORS : CREATORS, &file_rights, 1, &allowed);
    return FAILED(hr) || allowed ? hr
           : boot                ? error_set(SET_ACCESS_REFUSED,
                                             "Commit: '%s\\%.300s' starts with the system: only administrators may create such a set",
                                             set->space, set->name)
                                 : error_set(SET_ACCESS_REFUSED,
                                             "Commit: '%s\\%.300s': only administrators and Performance Log Users may create sets",
                                             set->space, set->name);
}

HRESULT set_access_check_caller(const struct caller *caller, enum set_access_verb verb,
                                const struct set_access_object *set)
{
    struct access_subject *who;
    if (caller->in_process)
        return S_OK;
    HRESULT hr = access_open(caller, &who);
    if (SUCCEEDED(hr))
        hr = set_access_check(who, verb, set);
    else if (hr == E_ACCESSDENIED)
        hr = error_set(SET_ACCESS_REFUSED, "%s: '%s\\%.300s': cannot identify the caller", verbs[verb].name, set->space,
                       set->name);
    access_close(who);
    return hr;
}
