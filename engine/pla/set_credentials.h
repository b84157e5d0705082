/* SPDX-License-Identifier: MIT */
/* The account of a set's host process and the passwords of a set: how Commit stores the values of SetCredentials and
   DataSourceName, and how a start uses them. MS-PLA 3.2.4.1.52, DECISIONS 68, 72.

   A processing instruction after the XML of a stored definition contains the account and the key of the set's secret.
   The XML and the instruction are written in one step. A client's XML cannot contain the instruction, so a client
   cannot choose an account with XML. */
#ifndef OPENPLA_SET_CREDENTIALS_H
#define OPENPLA_SET_CREDENTIALS_H

#include "engine/base/security.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* ---- Commit ---- */

/* The changes that a commit makes to accounts and secrets. Zero-initialise. */
struct set_credentials_change {
    struct set_account before, now;
    struct texts open, whole; /* the object's data sources, without and with their secrets */
    char *export;             /* value of OpenPLA.ExportCredentials that was removed from the object; NULL: none */
};
/* Determines the account that the set will run as, and stores the secrets. The account is the account that the client
   set, or else the stored account. Tests the password of a new account if the host OS supports logons. Removes the
   secrets from the object's data sources; a data source without secrets keeps its stored secrets if the caller has the
   rights of the stored account. Appends the instruction to *xml, the object's XML from memory_alloc. *security: the
   result of set_to_stored_xml_with_security. `before`: the stored definition of that name; NULL: none.
   PLA_E_CREDENTIALS_REQUIRED: no credentials were given, and the caller is neither an administrator (who may let a set
   run as LocalSystem), nor the user who set the account, nor the account itself. E_ACCESSDENIED: a non-administrator
   gave a service account. Also fails with the errors of the logon. A failure leaves object and store unchanged. */
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
/* Packs the secrets that another process needs in addition to the object's XML: the password, which may be NULL, and
   the secrets of data sources. Masks the result (secret_mask). *out is from memory_alloc; NULL: there are no secrets.
   *sources: whether data sources have secrets; set_to_commit_xml also writes these secrets. */
HRESULT set_credentials_pack(struct object *set, const char *password, bool *sources, char **out);
/* Unpacks the string in the other process, into the data sources of the object that was created from the XML.
   *password: free with memory_free_secret; NULL: the string has no password. E_INVALIDARG: the string was not created
   by set_credentials_pack. */
HRESULT set_credentials_unpack(struct object *set, const char *text, char **password);
/* Removes the secrets from the data sources and settings of an object that was committed by another process. */
void set_credentials_hide(struct object *set);
/* Deletes the secret of a deleted definition. */
void set_credentials_delete(const char *space, const char *name, const char *xml, size_t size);

/* ---- a start ---- */

/* The rights that a host process is started with. Zero-initialise. */
struct run_rights {
    void *token;         /* NULL: the account of the starting process */
    char *account, *sid; /* account of the token, and its SID */
    char *security;      /* SDDL for objects shared by host process and starter; NULL: both have the same account */
    char *secret;        /* the set's secret; NULL: none */
    char key[SHARED_KEY_DIGITS + 1];
    struct section *section; /* passes the secret to the host process */
};
/* Determines the rights from the stored definition. PLA_E_CREDENTIALS_REQUIRED: the account's password is missing. Also
   fails with the errors of the logon; the message names the account. */
HRESULT run_rights_of_definition(const char *space, const char *name, const char *xml, size_t size,
                                 struct run_rights *out);
/* Determines the rights for a System set, whose definition has no account. If the client set an account, this account
   is used. Otherwise an administrator's start uses the service's account, and any other caller's start uses the
   caller's own account (MS-PLA 3.2.1). `user` may be NULL. */
HRESULT run_rights_of_caller(const struct caller *caller, const char *user, const char *password,
                             struct run_rights *out);
/* Returns whether the definition still refers to the secret that these rights were created with. */
bool run_rights_are_of(const struct run_rights *r, const char *xml, size_t size);
/* Call before starting the host process: makes the secret available under the run key to the host process and its
   starter. */
HRESULT run_rights_offer(struct run_rights *r, const char *run_key);
void run_rights_free(struct run_rights *r);
/* Host process: takes the secret that is offered under the run key, and wipes the offered copy. */
void run_secret_take(const char *run_key);
void run_secret_forget(void);
/* Host process: if its set has a separate account, from now on this process may not start other sets, because they
   would run under the wrong account. */
void run_rights_confine(const char *space, const char *name);
/* Checks whether this process may start the set. PLA_E_CREDENTIALS_REQUIRED: run_rights_confine has forbidden the
   start. */
HRESULT run_rights_may_start(const char *space, const char *name);
/* Host process: copies the secret that run_secret_take took; free *text with memory_free_secret. S_FALSE: no secret was
   taken, or the key of the secret is not `key`. */
HRESULT run_secret_given(const char *key, char **text);
/* Host process: puts the passwords of the set's secret into the data sources of its collectors and into its
   settings. */
HRESULT set_credentials_restore(struct object *set, const char *space, const char *name, const char *xml, size_t size);

#endif
