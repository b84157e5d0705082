/* SPDX-License-Identifier: MIT */
/* Whose rights a set's host has, and the passwords that go with a set: what Commit makes of SetCredentials and of the
   secret attributes of DataSourceName, and what a start does with it. MS-PLA 3.2.4.1.52, DECISIONS 68, 72.

   Behind a stored definition's XML stands an instruction with the account and the key of the set's one secret, written
   with the definition in one change. A definition that a client gives has none: no XML becomes an account. */
#ifndef OPENPLA_SET_CREDENTIALS_H
#define OPENPLA_SET_CREDENTIALS_H

#include "engine/base/security.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* ---- Commit ---- */

/* What a commit does to accounts and secrets. Zero-initialise. */
struct set_credentials_change {
    struct set_account before, now;
    struct texts open, whole; /* data sources that have been taken out of the object, without and with their secrets */
};
/* Decides whose account the set is to run as, and writes down what is secret: the account that was put with its
   password, which is tried where the host can tell, else the one that is stored. Takes the secrets out of the object's
   data sources (to one that says none go the stored ones, if the stored account would be kept), and puts the
   instruction behind *xml, which is made of the object (from memory_alloc). `before`: what is stored under the name
   now; NULL: nothing is. PLA_E_CREDENTIALS_REQUIRED: none were given, and the caller is no administrator, who alone may
   have a set run as LocalSystem, nor one who has given or is that account. E_ACCESSDENIED: a service's account, by the
   same. What the logon says. The object and what is stored are as they were on failure. */
HRESULT set_credentials_commit(struct object *set, const struct caller *caller, const char *space, const char *name,
                               const char *before, size_t before_size, char **xml, size_t *size,
                               struct set_credentials_change *out);
/* The definition is stored: what it had before is deleted, and the object holds no password any more. */
void set_credentials_committed(struct object *set, const char *space, const char *name,
                               struct set_credentials_change *c);
/* The commit failed, for this reason: what was written down is deleted, unless the definition is the new one all the
   same, and the object has its data sources again. The thread's error text survives; returns hr. */
HRESULT set_credentials_rollback(struct object *set, const char *space, const char *name,
                                 struct set_credentials_change *c, HRESULT hr);
/* What goes to another process with the object's XML, masked (secret_mask): the password, NULL for none, and what is
   secret in its data sources. *out from memory_alloc, NULL when there is nothing. *sources: there is something in
   data sources, which set_to_commit_xml has too. */
HRESULT set_credentials_pack(struct object *set, const char *password, bool *sources, char **out);
/* There: puts the secrets into the data sources of the object that was made of the XML; *password, for
   memory_free_secret, is NULL for none. E_INVALIDARG for what is no such text. */
HRESULT set_credentials_unpack(struct object *set, const char *text, char **password);
/* Of an object whose set is committed elsewhere: it has no secrets in its data sources any more. */
void set_credentials_hide(struct object *set);
/* Of a definition that has been deleted. */
void set_credentials_delete(const char *space, const char *name, const char *xml, size_t size);

/* ---- a start ---- */

/* What a host is started with. Zero-initialise. */
struct run_rights {
    void *token;         /* NULL: the account of who starts it */
    char *account, *sid; /* of the token */
    char *security;      /* SDDL of what host and starter share; NULL: they have one account */
    char *secret;        /* of the set; NULL: it has none */
    char key[SHARED_KEY_DIGITS + 1];
    struct section *section; /* by which the host gets it */
};
/* By the stored definition. What the logon says, with the account's name; PLA_E_CREDENTIALS_REQUIRED when its password
   is not there any more. */
HRESULT run_rights_of_definition(const char *space, const char *name, const char *xml, size_t size,
                                 struct run_rights *out);
/* Of a System set, whose definition has no account: as that which was put, with its password, else as the service for
   an administrator, else as the caller himself. MS-PLA 3.2.1. `user` may be NULL. */
HRESULT run_rights_of_caller(const struct caller *caller, const char *user, const char *password,
                             struct run_rights *out);
/* Whether the definition, as it stands now, has the secret that these are of. */
bool run_rights_are_of(const struct run_rights *r, const char *xml, size_t size);
/* Before the host is started under the run key: it, and who starts it, may ask for the secret. */
HRESULT run_rights_offer(struct run_rights *r, const char *run_key);
void run_rights_free(struct run_rights *r);
/* Host: takes the secret that was offered under the run key, which nobody can after it. */
void run_secret_take(const char *run_key);
void run_secret_forget(void);
/* Host, where hosts have accounts: if that of its set is its own, this process starts no other set from now on, whose
   account it would not have. */
void run_rights_confine(const char *space, const char *name);
/* PLA_E_CREDENTIALS_REQUIRED: it does not. */
HRESULT run_rights_may_start(const char *space, const char *name);
/* A copy of it, for memory_free_secret. S_FALSE: none was given, or it is not of this key. */
HRESULT run_secret_given(const char *key, char **text);
/* Host: puts the passwords of the set's secret into the data sources of its collectors. */
HRESULT set_credentials_restore(struct object *set, const char *space, const char *name, const char *xml, size_t size);

#endif
