/* SPDX-License-Identifier: MIT */
/* The accounts with which this user logs on to other computers: given to this process, or stored. Passwords are kept as
   the hash that NTLM uses. The hash must be protected like the password. */
#ifndef OPENPLA_RPC_REMOTE_ACCOUNT_H
#define OPENPLA_RPC_REMOTE_ACCOUNT_H

#include "engine/base/text.h"
#include "engine/rpc/auth.h"

#define REMOTE_ACCOUNT_ANY_HOST "*"

struct remote_account {
    char *user, *domain; /* domain "": an account of the server's computer */
    uint8_t hash[AUTH_HASH_BYTES];
};
/* Creates an account. `name` has the form user, DOMAIN\user or user@domain. Fails with E_INVALIDARG if the name is
   empty, too long or contains tabs or line ends (the message names the account), or if the password is not valid
   UTF-8. */
HRESULT remote_account_make(const char *name, const char *password, struct remote_account *out);
void remote_account_free(struct remote_account *a); /* wipes and empties it */
/* Borrowed from the account. */
struct auth_credentials remote_account_credentials(const struct remote_account *a);

/* Finds the account for a computer ("name", "name:port" or "\\name"): an account given to this process for the
   computer, otherwise an account given for any host, otherwise a stored account. An account for the name with its port
   takes precedence over an account for the name alone. S_FALSE: no account matches. */
HRESULT remote_account_find(const char *host, struct remote_account *out);
/* From now on, this process logs on to the computer (or to any host: REMOTE_ACCOUNT_ANY_HOST) with a copy of the
   account. */
HRESULT remote_account_give(const char *host, const struct remote_account *a);
/* Like remote_account_give, with an account that remote_account_make creates. */
HRESULT remote_account_give_password(const char *host, const char *name, const char *password);
void remote_account_forget_given(void);

/* Stores an account for this user of this computer (secret_store); all accounts are in one secret. Fails with
   E_INVALIDARG if the host has more than 255 bytes or contains whitespace, or if there are too many accounts. */
HRESULT remote_account_store(const char *host, const struct remote_account *a);
HRESULT remote_account_remove(const char *host); /* S_FALSE: no account is stored for the host */
HRESULT remote_account_remove_all(void);         /* also removes a corrupt table of accounts */
/* Adds two strings for each stored account: the host, and the account as DOMAIN\user or user. */
HRESULT remote_account_list(struct texts *out);

#endif
