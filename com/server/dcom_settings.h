/* SPDX-License-Identifier: MIT */
/* Settings of remote DCOM clients under Wine, and the accounts with which they log on. Settings and accounts are values
   below HKLM\Software\OpenPLA\Dcom; the secrets store contains the password hash that NTLM uses. Portable. */
#ifndef OPENPLA_DCOM_SETTINGS_H
#define OPENPLA_DCOM_SETTINGS_H

#include "engine/base/security.h"
#include "engine/rpc/auth.h"

#define DCOM_KEY           "Software\\OpenPLA\\Dcom"
#define DCOM_PORT          135 /* clients query only this port unless they are configured otherwise */
#define DCOM_LOOPBACK      "127.0.0.1"
#define DCOM_ALL_ADDRESSES "*"

enum dcom_limit {
#define DCOM_LIMIT(name, number, most, of) DCOM_LIMIT_##name,
#include "com/server/dcom_limits.def"
#undef DCOM_LIMIT
    DCOM_LIMITS
};

struct dcom_settings {
    bool is_on;
    uint16_t port;
    uint16_t advertised_port; /* the port that clients receive in object references; differs from `port` if the host's
                                 firewall redirects the port. 0: the same as `port` */
    char *address; /* the address to listen at, in digits; DCOM_ALL_ADDRESSES: all addresses of this computer */
    char *from;    /* patterns of addresses that may connect (ip_address_matches) */
    uint32_t limits[DCOM_LIMITS];
};
/* Reads the settings. Missing settings get their defaults; by default DCOM is off. Fails with E_INVALIDARG if a value
   is invalid; the message names the value. After any failure *out is empty. */
HRESULT dcom_settings_read(struct dcom_settings *out);
/* Checks and writes the settings. Fails with E_INVALIDARG and a message if a setting is invalid. The settings are also
   invalid if the port is open to other computers but `from` admits none of these computers. */
HRESULT dcom_settings_write(const struct dcom_settings *s);
void dcom_settings_free(struct dcom_settings *s);
/* Changes only the limits that the string names, such as "connections=64;idle_seconds=60". Fails with E_INVALIDARG if a
   part of the string is invalid; the message names this part, and `limits` stays unchanged. */
HRESULT dcom_limits_read(const char *text, uint32_t limits[DCOM_LIMITS]);
const char *dcom_limit_name(enum dcom_limit limit);
uint32_t dcom_limit_default(enum dcom_limit limit);

/* ---- accounts ---- */

enum dcom_role { DCOM_ROLE_USERS, DCOM_ROLE_ADMINISTRATORS }; /* Performance Log Users, Administrators */
/* The minimum length of a password in characters, and the maximum length of a name in bytes. */
enum { DCOM_PASSWORD_LEAST = 12, DCOM_ACCOUNT_MOST = 64 };

struct dcom_account {
    char *name;
    enum dcom_role role;
    char *sid; /* random: a new account with a deleted account's name must not own the sets of the deleted one */
    char *key; /* key of the hash in the secrets store */
};
struct dcom_accounts {
    struct dcom_account *items;
    size_t count, capacity;
};
/* Skips entries that are malformed. */
HRESULT dcom_accounts_read(struct dcom_accounts *out);
void dcom_accounts_free(struct dcom_accounts *a);
const struct dcom_account *dcom_account_named(const struct dcom_accounts *a, const char *name); /* NULL: none */
/* Creates the account, or with `replace` changes the password and role of an existing account. Fails with E_INVALIDARG
   if the name is invalid or the password is too short. Without `replace`, fails with
   HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if the account exists. */
HRESULT dcom_account_add(const char *name, enum dcom_role role, const char *password, bool replace);
HRESULT dcom_account_remove(const char *name); /* S_FALSE: it does not exist */

/* An account for access checks; strings are borrowed from the account. */
struct dcom_identity {
    struct account_sids sids;
    const char *groups[6];
    char name[AUTH_NAME_BYTES + 8];
};
void dcom_identity_of(const struct dcom_account *a, struct dcom_identity *out);

/* Returns the accounts in the form that NTLM's acceptor requires. The accounts are read at each logon, so a change
   takes effect immediately. */
HRESULT dcom_auth_accounts(struct auth_accounts *out);

#endif
