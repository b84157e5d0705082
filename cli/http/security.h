/* SPDX-License-Identifier: MIT */
/* Who may use a server: TLS and accounts by the file of -web, read again when it or a file that it names changes. */
#ifndef OPENPLA_HTTP_SECURITY_H
#define OPENPLA_HTTP_SECURITY_H

#include "cli/http/http.h"
#include "cli/http/tls.h"
#include "cli/http/web_config.h"

struct http_security;
/* Loads the file. Fails with a message that names it, also if this computer lacks a library that it needs. */
HRESULT http_security_open(const char *path, struct http_security **out);
void http_security_close(struct http_security *s); /* no state may be held; NULL is allowed */
/* Whether clients connect by TLS, and whether they must log on or show a certificate. */
bool http_security_has_tls(const struct http_security *s);
bool http_security_has_accounts(const struct http_security *s);

/* The contents of the files when a connection began, which uses them to its end. */
struct http_security_state;
/* Reads the files again if the last time was a while ago and one of them has changed. Files that cannot be used are
   reported on stderr, and the previous ones stay in use. */
struct http_security_state *http_security_take(struct http_security *s);
void http_security_release(struct http_security_state *state); /* NULL is allowed */
/* Whether no later state has been loaded. */
bool http_security_is_current(struct http_security *s, const struct http_security_state *state);
struct tls_server *http_security_tls(const struct http_security_state *state); /* NULL: without TLS */
/* Whether the request's Authorization header names an account; true without any account. */
bool http_security_accepts(struct http_security_state *state, const struct http_request *request);
/* The header lines of an answer with status 401. */
const char *http_security_challenge(const struct http_security_state *state);

/* ---- password_crypt.c, bundled_bcrypt.c or security_absent.c ---- */

enum { PASSWORD_HASH_BYTES = 61 }; /* a bcrypt hash with its NUL */
/* Loads what the function below needs. ERROR_MOD_NOT_FOUND's HRESULT with a message that names the missing package. */
HRESULT password_library_load(void);
/* The bcrypt hash of the password with the salt and the cost of another hash, which has 60 characters. Takes some 0.1
   s, as that cost says. */
bool password_hash(const char *password, const char *other, char out[PASSWORD_HASH_BYTES]);

#endif
