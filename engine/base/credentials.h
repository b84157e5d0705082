/* SPDX-License-Identifier: MIT */
/* What only the host's protected store may hold, and the accounts that processes run under.

   A secret is a text under a random key (shared_new_key): on Windows private data of the LSA, which administrators and
   the system alone can ask for; where a program may not use that, and under Wine, a file in <data folder>/secrets that
   CryptProtectData has encrypted for the account (DECISIONS 68 says what that is worth under Wine); natively a file
   that its owner alone can open. */
#ifndef OPENPLA_CREDENTIALS_H
#define OPENPLA_CREDENTIALS_H

#include "engine/base/caller.h"
#include "engine/base/process.h"

enum {
    SECRET_MOST = 30000 /* UTF-16 units: what the LSA takes of one */
};
/* Keeps the text under a key that has none yet. E_INVALIDARG for one that is longer than SECRET_MOST; failures name
   neither key nor text. */
HRESULT secret_store(const char *key, const char *text);
/* *text for memory_free_secret. S_FALSE, and NULL: there is none, or `key` is no key. HRESULT of ERROR_INVALID_DATA: it
   was damaged, or another account, computer or prefix has encrypted it. */
HRESULT secret_load(const char *key, char **text);
HRESULT secret_delete(const char *key);  /* S_FALSE: there is none */
bool secret_key_is_one(const char *key); /* whether the text can be a key */
/* The keys of what is in <data folder>/secrets; none where the LSA has them. *out is empty on failure. */
HRESULT secret_list(struct texts *out);

/* A text in a form that has nothing of it to be read, for the hands of others, which leave copies behind (RPC's
   buffers, what CryptProtectData works with): a random key and the text under it, as hexadecimal digits. It hides the
   text from who looks for it, and keeps it from nobody who knows the form. From memory_alloc. */
HRESULT secret_mask(const char *text, char **masked);
/* *text for memory_free_secret. E_INVALIDARG: it is no such form, or no UTF-8. */
HRESULT secret_unmask(const char *masked, char **text);

/* How an account's token is come by. Tests give one of their own. */
struct logon {
    /* `account`: domain\user, user@domain, or the name of a service's account, whose password is "". *token is what a
       process can be started with (process_start). HRESULT of ERROR_LOGON_FAILURE and the like, with the account's name
       in the text. */
    HRESULT (*log_on)(const char *account, const char *password, void **token);
    /* That of who calls, while the call runs: PLA_E_CREDENTIALS_REQUIRED where the client lets its account be told and
       no more. */
    HRESULT (*of_caller)(const struct caller *caller, void **token);
    void (*close)(void *token);
    /* The text of the token's SID, from memory_alloc. */
    HRESULT (*sid)(void *token, char **out);
};
/* NULL: this host has one account for all that runs, and cannot tell a right password from a wrong one: natively, and
   under Wine, whose LogonUser takes any name and password and gives a token that nothing can be done with. */
const struct logon *host_logon(void);
void host_logon_use(const struct logon *instead); /* tests; NULL: the host's own again */
/* Whether a name is one of the system's own accounts, which have no password: LocalSystem (*is_system), LocalService,
   NetworkService, in any of the spellings that Windows takes in English. */
bool account_is_service(const char *account, bool *is_system);
/* Why a text can be no account's name; static text; NULL: nothing is wrong. */
const char *account_name_fault(const char *account);

#endif
