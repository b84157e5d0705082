/* SPDX-License-Identifier: MIT */
/* TLS and accounts of a server, as the -web file specifies them. The server reads the -web file again when this file,
   or a file to which it refers, changes. */
#ifndef OPENPLA_HTTP_SECURITY_H
#define OPENPLA_HTTP_SECURITY_H

#include "cli/http/http.h"
#include "cli/http/tls.h"
#include "cli/http/web_config.h"

struct http_security;
/* Loads the file. Fails with a message that names the file, also if a required library is missing on this computer. */
HRESULT http_security_open(const char *path, struct http_security **out);
void http_security_close(struct http_security *s); /* the caller must release all states first; `s` may be NULL */
/* http_security_has_tls returns true if clients connect by TLS. http_security_has_accounts returns true if clients must
   log on or present a certificate. */
bool http_security_has_tls(const struct http_security *s);
bool http_security_has_accounts(const struct http_security *s);

/* The contents of the files at one time. A TLS session keeps using the state with which its connection began. */
struct http_security_state;
/* Returns the current state. If the last check is not recent, checks first whether a file has changed, and if so, loads
   the files again. If the new files cannot be used, reports this on stderr and keeps the previous state. */
struct http_security_state *http_security_take(struct http_security *s);
void http_security_release(struct http_security_state *state); /* NULL is allowed */
/* Returns true if no newer state has been loaded. */
bool http_security_is_current(struct http_security *s, const struct http_security_state *state);
struct tls_server *http_security_tls(const struct http_security_state *state); /* NULL means no TLS */
/* Returns true if the request's Authorization header has the credentials of an account, or if there are no accounts. */
bool http_security_accepts(struct http_security_state *state, const struct http_request *request);
/* Returns the header lines of a response with status 401. */
const char *http_security_challenge(const struct http_security_state *state);

/* ---- password_crypt.c, bundled_bcrypt.c or security_absent.c ---- */

enum { PASSWORD_HASH_BYTES = 61 }; /* a bcrypt hash with its NUL */
/* Loads the library that password_hash needs. Fails with HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND) and a message that
   names the missing package. */
HRESULT password_library_load(void);
/* Computes the bcrypt hash of the password with the salt and cost of `other`, a hash of 60 characters. With a usual
   cost this takes about 0.1 s. */
bool password_hash(const char *password, const char *other, char out[PASSWORD_HASH_BYTES]);

#endif
