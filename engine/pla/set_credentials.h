/* SPDX-License-Identifier: MIT */
/* The account of a set's host process and the passwords of a set: how Commit stores the values of SetCredentials and
   DataSourceName, and how a start uses them. MS-PLA 3.2.4.1.52, DECISIONS 68, 72.

   A processing instruction after the XML of a stored definition contains the account and the key of the set's
   secret, and is written together with it. Definitions from clients have none, so XML cannot choose an account. */
#ifndef OPENPLA_SET_CREDENTIALS_H
#define OPENPLA_SET_CREDENTIALS_H

#include "engine/base/security.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* ---- Commit ---- */

/* The changes that a commit makes to accounts and secrets. Zero-initialise. */
struct set_credentials_change {
    struct set_account before, now;
    struct texts open, whole; /* data sources taken out of the object, without and with their secrets */
    char *export;             /* OpenPLA.ExportCredentials that was taken out; NULL: none */
};
/* Determines the account that the set will run as, and stores the secrets. The account is the one that the client set,
   otherwise the stored one. The password of a new account is tested if the host OS supports that. Removes the secrets
   from the object's data sources (a source without any keeps the stored ones if the stored account stays), and appends
   the instruction to *xml, the object's XML from memory_alloc. *security: that of set_to_stored_xml_with_security.
   `before`: the stored definition of that name; NULL: none. PLA_E_CREDENTIALS_REQUIRED: no credentials were given, and
   the caller is neither an administrator (who may let a set run as LocalSystem), nor the user who set the account, nor
   that account itself. E_ACCESSDENIED: a service's account from a non-administrator. Errors of the logon. On failure
   the object and the store are unchanged. */
HRESULT set_credentials_commit(struct object *set, const struct caller *caller, const char *space, const char *name,
                               const char *before, size_t before_size, char **xml, size_t *size, char **security,
                               struct set_credentials_change *out);
/* After the definition was stored: deletes the previous secret and clears the object's password. */
void set_credentials_committed(struct object *set, const char *space, const char *name,
                               struct set_credentials_change *c);
/* After a failed commit: deletes the new secret, unless the new definition was stored anyway, and restores the
   object's data sources. Preserves the thread's error text; returns hr. */
HRESULT set_credentials_rollback(struct object *set, const char *space, const char *name,
                                 struct set_credentials_change *c, HRESULT hr);
/* Packs the secrets that another process needs with the object's XML, masked (secret_mask): the password (may be
   NULL) and the secrets of data sources. *out from memory_alloc, NULL if empty. *sources: data sources have
   secrets, which set_to_commit_xml writes too. */
HRESULT set_credentials_pack(struct object *set, const char *password, bool *sources, char **out);
/* In that process: stores the secrets in the data sources of the object created from the XML. *password is for
   memory_free_secret; NULL if it has none. E_INVALIDARG: not such a string. */
HRESULT set_credentials_unpack(struct object *set, const char *text, char **password);
/* Removes the secrets from the data sources and settings of an object that was committed by another process. */
void set_credentials_hide(struct object *set);
/* Deletes the secret of a deleted definition. */
void set_credentials_delete(const char *space, const char *name, const char *xml, size_t size);

/* ---- a start ---- */

/* The rights that a host process is started with. Zero-initialise. */
struct run_rights {
    void *token;         /* NULL: the account of the starting process */
    char *account, *sid; /* of the token */
    char *security;      /* SDDL for objects shared by host process and starter; NULL: they have one account */
    char *secret;        /* of the set; NULL: none */
    char key[SHARED_KEY_DIGITS + 1];
    struct section *section; /* passes the secret to the host process */
};
/* By the stored definition. Errors of the logon, with the account's name; PLA_E_CREDENTIALS_REQUIRED: its password
   is missing. */
HRESULT run_rights_of_definition(const char *space, const char *name, const char *xml, size_t size,
                                 struct run_rights *out);
/* For a System set, whose definition has no account: the account that the client set, with its password; otherwise the
   service's account for an administrator, or the caller's account. MS-PLA 3.2.1. `user` may be NULL. */
HRESULT run_rights_of_caller(const struct caller *caller, const char *user, const char *password,
                             struct run_rights *out);
/* Whether the definition still has the secret that these rights contain. */
bool run_rights_are_of(const struct run_rights *r, const char *xml, size_t size);
/* Before the host process is started: makes the secret available under the run key to that process and to its
   starter. */
HRESULT run_rights_offer(struct run_rights *r, const char *run_key);
void run_rights_free(struct run_rights *r);
/* Host process: takes the secret offered under the run key; no other process can take it afterwards. */
void run_secret_take(const char *run_key);
void run_secret_forget(void);
/* Host process: if its set has a separate account, it may not start another set from now on, because that set would run
   under the wrong account. */
void run_rights_confine(const char *space, const char *name);
/* PLA_E_CREDENTIALS_REQUIRED: it may not. */
HRESULT run_rights_may_start(const char *space, const char *name);
/* A copy of the secret, for memory_free_secret. S_FALSE: none was given, or its key differs. */
HRESULT run_secret_given(const char *key, char **text);
/* Host process: puts the passwords of the set's secret into the data sources of its collectors and into its
   settings. */
HRESULT set_credentials_restore(struct object *set, const char *space, const char *name, const char *xml, size_t size);

#endif
