/* SPDX-License-Identifier: MIT */
/* Callers and their accounts, access checks, security descriptors, secrets and logons. */
#ifndef OPENPLA_SECURITY_H
#define OPENPLA_SECURITY_H

#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/base/wintypes.h"

/* ---- callers: the process that calls a verb, and its account ---- */

/* An account by its SIDs, where there are no tokens. */
struct account_sids {
    const char *name; /* for events */
    const char *user;
    const char *const *groups;    /* NULL at the end; NULL: none */
    const char *const *deny_only; /* groups that only what is denied holds for */
};
struct caller {
    bool in_process;  /* this process itself: nothing can be kept from it */
    uint32_t process; /* id of another one; 0: it is on another machine, or unknown */
    /* Opens the token of the account that the running call acts for; NULL: the process's own. Windows alone. */
    HRESULT (*token)(void **out);
    const struct account_sids *account; /* natively alone: who it is; NULL: unknown */
};
/* The caller for the work of this process itself. */
extern const struct caller caller_self;

/* DOMAIN\user, the SID's text where the account has no name, "" if it is unknown. From memory_alloc, NULL when
   out of memory. To be asked for as long as the call runs. */
char *caller_account(const struct caller *caller);
/* Its SID's text, "" if it is unknown and natively for this process itself. The same. */
char *caller_sid(const struct caller *caller);

/* ---- access checks ---- */

/* What the generic rights mean for a sort of things, and all rights there are. */
struct access_rights {
    uint32_t read, write, execute, all;
};
/* The rights that an entry means. */
static inline uint32_t access_map(uint32_t rights, const struct access_rights *kind)
{
    return ((rights & 0x80000000u ? kind->read : 0) | (rights & 0x40000000u ? kind->write : 0) |
            (rights & 0x20000000u ? kind->execute : 0) | (rights & 0x10000000u ? kind->all : 0) | rights) &
           kind->all;
}

/* The caller of one call: opened for each call, never kept. */
struct access_subject;
/* E_ACCESSDENIED, with a text: the account of the caller cannot be determined. */
HRESULT access_open(const struct caller *caller, struct access_subject **out);
void access_close(struct access_subject *subject); /* NULL is allowed */
/* Whether the descriptor, an SDDL text, gives all of these rights: to this process itself always, else by the entries
   that hold for the caller, in their order, and by what its owner always has. Nothing is given by a text that is no
   descriptor, or that denies something to an account that is unknown here. */
HRESULT access_allows(const struct access_subject *subject, const char *descriptor, const struct access_rights *kind,
                      uint32_t rights, bool *allowed);

/* Whether the caller is an administrator or the system, and is that account (SID text) or a member of it; this process
   itself is both. false if it is unknown. */
bool access_is_administrator(const struct caller *caller);
bool access_is_account(const struct caller *caller, const char *sid);

/* ---- security descriptors read from SDDL (MS-DTYP 2.5.1) ---- */

/* An account by its number. It need not be one of this machine. */
struct sid {
    char alias[3]; /* two letters of an account whose number only its machine or domain knows; else "" */
    uint8_t count;
    uint64_t authority;
    uint32_t parts[15];
};
/* S-1-... or an alias of two letters, of `length` bytes. */
bool sid_read(const char *text, size_t length, struct sid *out);
bool sid_equal(const struct sid *a, const struct sid *b);

struct sddl_entry {
    bool denies;
    bool blind; /* holds for an object or on a condition, which is not evaluated here */
    uint32_t rights;
    struct sid account;
};
/* The DACL with its owner; what is for heirs alone and what audits is left out. */
struct sddl {
    bool has_owner, has_group;
    struct sid owner, group;
    size_t count, capacity;
    struct sddl_entry *entries;
};
/* E_INVALIDARG, *why says why (static): for a malformed text, for one without a DACL or with one that restricts
   anybody (NO_ACCESS_CONTROL), for rights, flags or accounts that are not known. sddl_free also on failure. */
HRESULT sddl_read(const char *text, struct sddl *out, const char **why);
void sddl_free(struct sddl *descriptor);

/* ---- secrets, and the accounts that processes run under ----
   A secret is a string under a random key (shared_new_key): on Windows private data of the LSA, which administrators
   and the system alone can ask for; where a program may not use that, and under Wine, a file in <data folder>/secrets
   that CryptProtectData has encrypted for the account (DECISIONS 68 says what that is worth under Wine); natively a
   file that its owner alone can open. */

enum {
    SECRET_MOST = 30000 /* UTF-16 units: what the LSA takes of one */
};
/* Keeps the text under a key that has none yet. E_INVALIDARG for one that is longer than SECRET_MOST; failures name
   neither key nor text. */
HRESULT secret_store(const char *key, const char *text);
/* *text for memory_free_secret. S_FALSE, and NULL: it does not exist, or `key` is malformed. HRESULT of
   ERROR_INVALID_DATA: it is corrupt, or another account, computer or prefix has encrypted it. */
HRESULT secret_load(const char *key, char **text);
HRESULT secret_delete(const char *key);  /* S_FALSE: it does not exist */
bool secret_key_is_one(const char *key); /* whether the text can be a key */

/* A text in a form that has nothing of it to be read, for the hands of others, which leave copies behind (RPC's
   buffers, what CryptProtectData works with): a random key and the text under it, as hexadecimal digits. It hides the
   text from a search of the memory, but not from a reader who knows the form. From memory_alloc. */
HRESULT secret_mask(const char *text, char **masked);
/* *text for memory_free_secret. E_INVALIDARG: it is not in that form, or not UTF-8. */
HRESULT secret_unmask(const char *masked, char **text);

/* How to get an account's token. Tests replace it. */
struct logon {
    /* `account`: domain\user, user@domain, or the name of a service's account, whose password is "". *token is what a
       process can be started with (process_start). HRESULT of ERROR_LOGON_FAILURE and the like, with the account's name
       in the text. */
    HRESULT (*log_on)(const char *account, const char *password, void **token);
    /* That of the caller, while the call runs: PLA_E_CREDENTIALS_REQUIRED if the client allows its account to be
       identified but not impersonated. */
    HRESULT (*of_caller)(const struct caller *caller, void **token);
    void (*close)(void *token);
    /* The text of the token's SID, from memory_alloc. */
    HRESULT (*sid)(void *token, char **out);
};
/* NULL: this host has one account for all that runs, and cannot tell a right password from a wrong one: natively, and
   under Wine, whose LogonUser takes any name and password and gives a token that nothing can be done with. */
const struct logon *os_logon(void);
/* Fault injection, called only by tests: logs on by `instead` from now on; NULL: by the host OS again. */
void os_logon_use(const struct logon *instead);
/* Whether a name is one of the system's own accounts, which have no password: LocalSystem (*is_system), LocalService,
   NetworkService, in any of the spellings that Windows takes in English. */
bool account_is_service(const char *account, bool *is_system);
/* Why a text can be no account's name; static text; NULL: nothing is wrong. */
const char *account_name_fault(const char *account);

#endif
