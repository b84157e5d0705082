/* SPDX-License-Identifier: MIT */
/* Authenticates RPC connections with NTLMv2 (MS-NLMP), plain or inside SPNEGO (RFC 4178, MS-SPNG), as acceptor or
   initiator. A context first exchanges tokens with the peer, and then signs and encrypts PDUs. LM, NTLMv1 and anonymous
   logons are rejected, and so are sessions that lack 128-bit keys, key exchange or signatures. */
#ifndef OPENPLA_RPC_AUTH_H
#define OPENPLA_RPC_AUTH_H

#include "engine/base/error.h"

/* MS-RPCE 2.2.1.1.7 and 2.2.1.1.8. */
enum auth_type { AUTH_SPNEGO = 9, AUTH_NTLM = 10 };
enum auth_level { AUTH_LEVEL_NONE = 1, AUTH_LEVEL_CONNECT = 2, AUTH_LEVEL_INTEGRITY = 5, AUTH_LEVEL_PRIVACY = 6 };

#define AUTH_HASH_BYTES      16
#define AUTH_SIGNATURE_BYTES 16
#define AUTH_NAME_BYTES      192  /* size of a user name in UTF-8, including the NUL */
#define AUTH_TOKEN_BYTES     4096 /* longer tokens are rejected */

/* Computes MD4 of the password in UTF-16. NTLM needs only this hash, so the hash must be protected like the password.
   Fails with E_OUTOFMEMORY, or with E_INVALIDARG if the password is not valid UTF-8. */
HRESULT auth_hash_password(const char *password, uint8_t hash[AUTH_HASH_BYTES]);

/* The accounts that can log on to an acceptor. */
struct auth_accounts {
    const char *computer_name; /* shown to clients in the challenge; UTF-8, 1 to 63 UTF-16 units */
    void *user;
    /* Returns whether the account exists, and its hash, which the caller wipes. Names must be compared ignoring case;
       the domain may be ignored if all accounts belong to this computer. `account` receives the name that identifies
       the account from now on. */
    bool (*find)(void *user, const char *name, const char *domain, uint8_t hash[AUTH_HASH_BYTES],
                 char account[AUTH_NAME_BYTES]);
};

/* The credentials of an initiator; borrowed until the context is closed. */
struct auth_credentials {
    const char *user, *domain; /* UTF-8; domain "" for an account of the acceptor's computer */
    uint8_t hash[AUTH_HASH_BYTES];
};

struct auth_context;
/* `accounts` is borrowed until the context is closed. */
HRESULT auth_accept(enum auth_type type, const struct auth_accounts *accounts, struct auth_context **out);
HRESULT auth_initiate(enum auth_type type, const struct auth_credentials *credentials, struct auth_context **out);
void auth_close(struct auth_context *a); /* wipes the keys; NULL is allowed */

/* Processes the peer's token. In an initiator's first call, `token` is NULL and `size` is 0. *answer is the next token
   to send, from memory_alloc (NULL: nothing to send). S_OK: this side has finished. S_FALSE: this side expects another
   token. E_ACCESSDENIED: the token was rejected, auth_refusal returns the reason, and the context can only be closed.
   The function also fails if memory or random bytes are not available. */
HRESULT auth_step(struct auth_context *a, const uint8_t *token, size_t size, uint8_t **answer, size_t *answer_size);
bool auth_is_done(const struct auth_context *a);
/* Returns why a token was rejected, for a log and never for the peer; static text, "" if nothing was rejected. */
const char *auth_refusal(const struct auth_context *a);
/* Returns the name that the client sent; after auth_is_done, the account. */
const char *auth_account(const struct auth_context *a);
/* Whether the peer offered encryption, which AUTH_LEVEL_PRIVACY requires. */
bool auth_can_seal(const struct auth_context *a);

/* These functions require auth_is_done. `whole` is the part that the signature covers: a PDU in plain text up to the
   signature. `data` is the part of `whole` that is encrypted or decrypted in place. If `data` is NULL and `size` is 0,
   the functions only check or compute the signature. Each direction counts its messages, so every message must be
   passed exactly once and in order. False: the signature is wrong, and the context can only be closed. */
bool auth_unseal(struct auth_context *a, uint8_t *data, size_t size, const uint8_t *whole, size_t whole_size,
                 const uint8_t signature[AUTH_SIGNATURE_BYTES]);
void auth_seal(struct auth_context *a, uint8_t *data, size_t size, const uint8_t *whole, size_t whole_size,
               uint8_t signature[AUTH_SIGNATURE_BYTES]);

#endif
