/* SPDX-License-Identifier: MIT */
/* The rights with which a host process is started: the token of its set's account, and the set's secret. */
#include "engine/base/memory.h"
#include "engine/base/security.h"
#include "engine/pla/definition.h"
#include "engine/pla/set_credentials.h"
#include "engine/pla/sets/set_secret.h"

#include <stdatomic.h>
#include <string.h>

/* ---- starter ---- */

/* The data that the host process finds under the run key. */
struct offered {
    char key[SHARED_KEY_DIGITS + 1];
    char text[SECRET_MOST * 3 + 1];
};

/* Reads the account of the token and builds the descriptor that lets it access shared objects. */
static HRESULT know_token(const struct logon *logon, struct run_rights *out)
{
    HRESULT hr = logon->sid(out->token, &out->sid);
    char *own = SUCCEEDED(hr) ? process_own_sid() : NULL;
    if (SUCCEEDED(hr) && !own)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && *own) /* the native build has no descriptors */
        out->security = text_format("D:P(A;;GA;;;SY)(A;;GA;;;%s)(A;;GA;;;%s)", own, out->sid);
    if (SUCCEEDED(hr) && *own && !out->security)
        hr = E_OUTOFMEMORY;
    memory_free(own);
    return hr;
}

static HRESULT log_on(const char *user, const char *password, struct run_rights *out)
{
    const struct logon *logon = os_logon();
    if (!logon) /* all processes run under one account (behaviour 21) */
        return S_OK;
    out->account = text_copy(user);
    HRESULT hr = out->account ? logon->log_on(user, password, &out->token) : E_OUTOFMEMORY;
    return SUCCEEDED(hr) ? know_token(logon, out) : hr;
}

HRESULT run_rights_of_definition(const char *space, const char *name, const char *xml, size_t size,
                                 struct run_rights *out)
{
    struct set_account a;
    struct set_secret secret = {0};
    *out = (struct run_rights){.token = NULL};
    HRESULT hr = set_account_read(xml, size, &a);
    if (SUCCEEDED(hr) && *a.key) {
        memcpy(out->key, a.key, sizeof out->key);
        hr = set_secret_load(a.key, space, name, &secret);
    }
    if (SUCCEEDED(hr) && *a.user && !secret.password)
        hr = error_set(PLA_E_CREDENTIALS_REQUIRED,
                       "UserAccount: the password of '%s' is missing (give it with SetCredentials and commit the set)",
                       a.user);
    if (SUCCEEDED(hr) && *a.user)
        hr = log_on(a.user, secret.password, out);
    if (SUCCEEDED(hr) && secret.sources.count) {
        /* The host process connects to databases but does not need its account's password. */
        memory_free_secret(secret.password);
        secret.password = NULL;
        hr = set_secret_text(&secret, &out->secret);
    }
    set_secret_free(&secret);
    set_account_free(&a);
    if (FAILED(hr))
        run_rights_free(out);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT run_rights_of_caller(const struct caller *caller, const char *user, const char *password,
                             struct run_rights *out)
{
    const struct logon *logon = os_logon();
    HRESULT hr = S_OK;
    *out = (struct run_rights){.token = NULL};
    if (user && *user) {
        hr = log_on(user, password, out);
    } else if (logon && !caller->in_process && !access_is_administrator(caller)) {
        out->account = caller_account(caller);
        hr = out->account ? logon->of_caller(caller, &out->token) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr = know_token(logon, out);
    }
    if (FAILED(hr))
        run_rights_free(out);
    return hr;
}

bool run_rights_are_of(const struct run_rights *r, const char *xml, size_t size)
{
    struct set_account a;
    bool same = SUCCEEDED(set_account_read(xml, size, &a)) && !strcmp(a.key, r->key);
    set_account_free(&a);
    return same;
}

HRESULT run_rights_offer(struct run_rights *r, const char *run_key)
{
    if (!r->secret)
        return S_OK;
    char *name = text_format("openpla-secret-%s", run_key);
    HRESULT hr = name && strlen(r->secret) < sizeof((struct offered *)0)->text ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = section_open(&(struct shared){.name = name, .create = true, .fresh = true, .security = r->security},
                          sizeof(struct offered), &r->section);
    if (SUCCEEDED(hr)) {
        struct offered *o = section_memory(r->section);
        memcpy(o->text, r->secret, strlen(r->secret) + 1);
        memcpy(o->key, r->key, sizeof o->key);
        memory_free_secret(r->secret);
        r->secret = NULL;
    }
    memory_free(name);
    return hr;
}

void run_rights_free(struct run_rights *r)
{
    if (r->section) {
        memory_wipe(section_memory(r->section), sizeof(struct offered));
        section_close(r->section);
    }
    if (r->token)
        os_logon()->close(r->token);
    memory_free(r->account);
    memory_free(r->sid);
    memory_free(r->security);
    memory_free_secret(r->secret);
    *r = (struct run_rights){.token = NULL};
}

/* ---- host process ---- */

/* The secret that this host process was given. It is kept until the process exits, because reconnecting to a database
   and applying a new definition need the passwords. The secret is written before the run's first thread starts;
   afterwards it is only read. */
static struct {
    char key[SHARED_KEY_DIGITS + 1];
    char *text;
} given;

static atomic_bool confined;

void run_rights_confine(const char *space, const char *name)
{
    struct set_account a;
    char *xml = NULL;
    size_t size;
    if (!os_logon())
        return;
    /* If the definition cannot be read, assume a separate account. */
    bool own = SUCCEEDED(definition_load(&caller_self, space, name, &xml, &size)) &&
               SUCCEEDED(set_account_read(xml, size, &a));
    atomic_store(&confined, !own || *a.user);
    if (own)
        set_account_free(&a);
    memory_free(xml);
    error_clear();
}

HRESULT run_rights_may_start(const char *space, const char *name)
{
    return atomic_load(&confined)
               ? error_set(PLA_E_CREDENTIALS_REQUIRED,
                           "the set '%s\\%s' cannot be started by a set that runs under a separate account", space,
                           name)
               : S_OK;
}

void run_secret_take(const char *run_key)
{
    struct section *section;
    char *name = text_format("openpla-secret-%s", run_key);
    if (!name)
        return;
    if (SUCCEEDED(section_open(&(struct shared){.name = name}, sizeof(struct offered), &section))) {
        struct offered *o = section_memory(section);
        char *text = memory_alloc(sizeof o->text);
        if (text) {
            memcpy(text, o->text, sizeof o->text);
            text[sizeof o->text - 1] = 0;
            memcpy(given.key, o->key, sizeof given.key - 1);
            given.text = text_copy(text);
            memory_wipe(text, sizeof o->text);
            memory_free(text);
        }
        memory_wipe(o, sizeof *o);
        section_close(section);
    } else {
        error_clear(); /* no secret was offered */
    }
    memory_free(name);
}

void run_secret_forget(void)
{
    memory_free_secret(given.text);
    given.text = NULL;
    given.key[0] = 0;
    atomic_store(&confined, false);
}

HRESULT run_secret_given(const char *key, char **text)
{
    *text = NULL;
    if (!given.text || strcmp(given.key, key) != 0)
        return S_FALSE;
    *text = text_copy(given.text);
    return *text ? S_OK : E_OUTOFMEMORY;
}
