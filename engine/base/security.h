/* SPDX-License-Identifier: MIT */
/* Callers and their accounts, access checks, security descriptors, secrets and logons. */
#ifndef OPENPLA_SECURITY_H
#define OPENPLA_SECURITY_H

#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/base/wintypes.h"

/* ---- callers: the process that calls a verb, and its account ---- */

/* An account described by its SIDs, for cases without a token: in the native build, and for a remote client whose logon
   was checked. */
struct account_sids {
    const char *name; /* for events */
    const char *user;
    const char *const *groups;    /* ends with NULL; a NULL pointer means no groups */
    const char *const *deny_only; /* groups that count only for deny entries */
};
struct caller {
    bool in_process;  /* this process itself, which has every right */
    uint32_t process; /* id of another process; 0: it is on another machine, or unknown */
    /* Opens the token of the account for which the running call acts; NULL: the process's token. Windows only. */
    HRESULT (*token)(void **out);
    /* The account to use instead of the token. NULL: use the token; in the native build, the account is unknown. */
    const struct account_sids *account;
};
/* The caller of work that this process does for itself. */
extern const struct caller caller_self;

/* Returns DOMAIN\user, or the SID's string if the account has no name, or "" if it is unknown. From memory_alloc; NULL:
   out of memory. Can be used only while the caller's call runs. */
char *caller_account(const struct caller *caller);
/* Returns the SID's string, or "" if the SID is unknown. In the native build, the SID of this process itself is
   unknown. From memory_alloc; NULL: out of memory. Can be used only while the caller's call runs. */
char *caller_sid(const struct caller *caller);

/* ---- access checks ---- */

/* The rights of one kind of object: the specific rights that each generic right stands for, and all rights together. */
struct access_rights {
    uint32_t read, write, execute, all;
};
/* Maps the generic rights of an entry to specific rights. */
static inline uint32_t access_map(uint32_t rights, const struct access_rights *kind)
{
    return ((rights & 0x80000000u ? kind->read : 0) | (rights & 0x40000000u ? kind->write : 0) |
            (rights & 0x20000000u ? kind->execute : 0) | (rights & 0x10000000u ? kind->all : 0) | rights) &
           kind->all;
}

/* The caller of one call: opened for each call, never kept. */
struct access_subject;
/* Opens the caller for access checks. Fails with E_ACCESSDENIED and an error text if the caller's account cannot be
   determined. */
HRESULT access_open(const struct caller *caller, struct access_subject **out);
void access_close(struct access_subject *subject); /* NULL is allowed */
/* Whether the descriptor, in SDDL, grants all of these rights. This process itself always has all rights. Otherwise the
   entries that apply to the caller are evaluated in order, and the owner has its implicit rights. A descriptor grants
   nothing if it is malformed, or if it denies something to an account that this computer does not know. */
HRESULT access_allows(const struct access_subject *subject, const char *descriptor, const struct access_rights *kind,
                      uint32_t rights, bool *allowed);

/* The first function checks whether the caller is an administrator or the system. The second function checks whether
   the caller is the account with this SID, or a member of the group with this SID. Both functions return true for this
   process itself, and false if the answer is unknown. */
bool access_is_administrator(const struct caller *caller);
bool access_is_account(const struct caller *caller, const char *sid);

/* ---- security descriptors read from SDDL (MS-DTYP 2.5.1) ---- */

/* A SID in parsed form. The SID's account need not exist on this machine. */
struct sid {
    char alias[3]; /* two letters for an account whose SID depends on its machine or domain; otherwise "" */
    uint8_t count;
    uint64_t authority;
    uint32_t parts[15];
};
/* Parses `length` bytes: S-1-... or a two-letter alias. */
bool sid_read(const char *text, size_t length, struct sid *out);
bool sid_equal(const struct sid *a, const struct sid *b);

struct sddl_entry {
    bool denies;
    bool blind; /* the entry applies only to one object type, or only under a condition; neither is evaluated here */
    uint32_t rights;
    struct sid account;
};
/* A DACL without inherit-only and audit entries, and the descriptor's owner and group. */
struct sddl {
    bool has_owner, has_group;
    struct sid owner, group;
    size_t count, capacity;
    struct sddl_entry *entries;
};
/* Parses SDDL. Fails with E_INVALIDARG if the text is malformed, has no DACL, or has a DACL that restricts nobody
   (NO_ACCESS_CONTROL). Also fails with E_INVALIDARG if a right, a flag or an account is unknown. In these cases *why is
   the reason, a static text. Call sddl_free even on failure. */
HRESULT sddl_read(const char *text, struct sddl *out, const char **why);
void sddl_free(struct sddl *descriptor);

/* ---- secrets, and the accounts that processes run under ----
   A secret is a string under a random key (shared_new_key). On Windows it is private data of the LSA, which only
   administrators and the system can read. Under Wine, and for programs without access to the LSA, it is a file in <data
   folder>/secrets that CryptProtectData has encrypted for the account (DECISIONS 68 describes what this protects under
   Wine). In the native build it is a file that only its owner can open. */

enum {
    SECRET_MOST = 30000 /* UTF-16 units: the LSA's maximum for one secret */
};
/* Stores the string under a new key. Fails with E_INVALIDARG if the string is longer than SECRET_MOST; error texts
   contain neither the key nor the string. */
HRESULT secret_store(const char *key, const char *text);
/* Loads a secret; free *text with memory_free_secret. S_FALSE: the secret does not exist, or `key` is malformed; *text
   is NULL. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the secret is corrupt, or if another account, computer
   or prefix encrypted the secret. */
HRESULT secret_load(const char *key, char **text);
HRESULT secret_delete(const char *key);  /* S_FALSE: it does not exist */
bool secret_key_is_one(const char *key); /* whether the string has the form of a key */
/* Keys of accounts of remote clients begin with these digits. No set refers to such a secret. */
#define SECRET_KEY_DCOM "64636f6d"

/* Masks a string before it is passed to code that leaves copies in memory (RPC's buffers, CryptProtectData's working
   memory). *masked consists of a random key and the string combined with that key, as hexadecimal digits. A search of
   the memory does not find the string, but a reader who knows the form can recover it. From memory_alloc. */
HRESULT secret_mask(const char *text, char **masked);
/* Reverses secret_mask; free *text with memory_free_secret. Fails with E_INVALIDARG if the string does not have
   secret_mask's form, or is not UTF-8. */
HRESULT secret_unmask(const char *masked, char **text);

/* Functions that return an account's token. Tests replace them. */
struct logon {
    /* Logs the account on. `account` is domain\user, user@domain, or the name of a service account, whose password is
       "". The token is suitable for process_start. If the logon is refused, the function fails with
       HRESULT_FROM_WIN32(ERROR_LOGON_FAILURE) or a similar error; the error text names the account. */
    HRESULT (*log_on)(const char *account, const char *password, void **token);
    /* Returns the caller's token. Can be used only while the caller's call runs. Fails with PLA_E_CREDENTIALS_REQUIRED
       if the client allows its account to be identified but not impersonated. */
    HRESULT (*of_caller)(const struct caller *caller, void **token);
    void (*close)(void *token);
    /* Returns the string of the token's SID, from memory_alloc. */
    HRESULT (*sid)(void *token, char **out);
};
/* Returns NULL if this host OS runs everything under one account and cannot check a password: in the native build, and
   under Wine, whose LogonUser accepts any name and password and returns an unusable token. */
const struct logon *os_logon(void);
/* Called only by tests: os_logon returns `instead` from now on; NULL restores the host OS's functions. */
void os_logon_use(const struct logon *instead);
/* Whether a name is one of the system's accounts, which have no password: LocalSystem (*is_system), LocalService or
   NetworkService, in any spelling that Windows accepts in English. */
bool account_is_service(const char *account, bool *is_system);
/* Returns why the string is not a valid account name (static text), or NULL if it is. */
const char *account_name_fault(const char *account);

#endif
