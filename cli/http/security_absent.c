/* SPDX-License-Identifier: MIT */
/* Defines the functions for TLS and bcrypt in a build without TLS and bcrypt (OPENPLA_TLS=OFF). */
#include "cli/http/security.h"

HRESULT password_library_load(void)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "this program was built without bcrypt, which basic_auth_users requires (use bearer_token_file)");
}

bool password_hash(const char *password, const char *other, char out[PASSWORD_HASH_BYTES])
{
    (void)password;
    (void)other;
    (void)out;
    return false;
}

HRESULT tls_server_open(const struct web_config *config, struct tls_server **out)
{
    (void)config;
    *out = NULL;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "this program was built without TLS (use a reverse proxy or a tunnel)");
}

void tls_server_close(struct tls_server *s)
{
    (void)s;
}

/* Is never called, because no server can be opened. */
HRESULT tls_session_open(struct tls_server *server, struct socket_end *socket, struct tls_session **out)
{
    (void)server;
    (void)socket;
    *out = NULL;
    return E_UNEXPECTED;
}

HRESULT tls_handshake(struct tls_session *s, uint32_t timeout_ms)
{
    (void)s;
    (void)timeout_ms;
    return E_UNEXPECTED;
}

HRESULT tls_send(struct tls_session *s, const void *bytes, size_t size)
{
    (void)s;
    (void)bytes;
    (void)size;
    return E_UNEXPECTED;
}

HRESULT tls_receive_some(struct tls_session *s, void *bytes, size_t size, uint32_t timeout_ms, size_t *got)
{
    (void)s;
    (void)bytes;
    (void)size;
    (void)timeout_ms;
    *got = 0;
    return E_UNEXPECTED;
}

void tls_session_close(struct tls_session *s)
{
    (void)s;
}
