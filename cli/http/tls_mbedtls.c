/* SPDX-License-Identifier: MIT */
/* Implements TLS with Mbed TLS, which is built into programs that cannot load a library by name: the programs for
   Windows and the static program. bundled/mbedtls_settings.h selects the parts of Mbed TLS. */
#include "cli/http/tls.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <mbedtls/error.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/threading.h>
#include <mbedtls/x509_crt.h>
#include <psa/crypto.h>
#include <string.h>

enum { MOST_PEM_BYTES = 1 << 20 };

struct tls_server {
    mbedtls_ssl_config config;
    mbedtls_x509_crt chain, clients; /* the server's certificates, and the certificates that sign clients'
                                        certificates */
    mbedtls_pk_context key;
    enum web_client_certificate client_certificate;
};

struct tls_session {
    struct tls_server *server;
    struct socket_end *socket;
    mbedtls_ssl_context ssl;
    uint64_t deadline; /* deadline of the current call, clock_monotonic_ms() */
};

/* ---- what the library needs from the host OS ---- */

static void mutex_init(mbedtls_threading_mutex_t *mutex)
{
    *mutex = (struct lock)LOCK_INIT;
}

static void mutex_free(mbedtls_threading_mutex_t *mutex)
{
    (void)mutex;
}

static int mutex_lock(mbedtls_threading_mutex_t *mutex)
{
    lock_enter(mutex);
    return 0;
}

static int mutex_unlock(mbedtls_threading_mutex_t *mutex)
{
    lock_leave(mutex);
    return 0;
}

static int random_fill(void *user, unsigned char *out, size_t size)
{
    (void)user;
    return SUCCEEDED(os_random(out, size)) ? 0 : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

psa_status_t mbedtls_psa_external_get_random(mbedtls_psa_external_random_context_t *context, uint8_t *output,
                                             size_t output_size, size_t *output_length)
{
    (void)context;
    *output_length = output_size;
    return SUCCEEDED(os_random(output, output_size)) ? PSA_SUCCESS : PSA_ERROR_INSUFFICIENT_ENTROPY;
}

/* Prepares the library. The first call is before the server's threads run; later calls do nothing. */
static HRESULT tls_prepare(void)
{
    static bool prepared;
    if (prepared)
        return S_OK;
    mbedtls_threading_set_alt(mutex_init, mutex_free, mutex_lock, mutex_unlock);
    if (psa_crypto_init() != PSA_SUCCESS)
        return E_OUTOFMEMORY;
    prepared = true;
    return S_OK;
}

/* ---- the server's certificate ---- */

static HRESULT file_failed(int error, const char *what, const char *path)
{
    char why[128];
    if (error == MBEDTLS_ERR_X509_ALLOC_FAILED || error == MBEDTLS_ERR_PK_ALLOC_FAILED)
        return E_OUTOFMEMORY;
    if (error < 0)
        mbedtls_strerror(error, why, sizeof why);
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "cannot use %s '%s': %s", what, path,
                     error < 0 ? why : "one of its certificates is malformed");
}

static HRESULT certificates_load(const char *what, const char *path, mbedtls_x509_crt *out)
{
    char *text;
    size_t size;
    const HRESULT hr = file_load(path, MOST_PEM_BYTES, &text, &size);
    if (FAILED(hr))
        return hr;
    const int error = mbedtls_x509_crt_parse(out, (const unsigned char *)text, size + 1);
    memory_free(text);
    return error == 0 ? S_OK : file_failed(error, what, path);
}

static HRESULT key_load(const char *path, mbedtls_pk_context *out)
{
    char *text;
    size_t size;
    const HRESULT hr = file_load(path, MOST_PEM_BYTES, &text, &size);
    if (FAILED(hr))
        return hr;
    const int error = mbedtls_pk_parse_key(out, (const unsigned char *)text, size + 1, NULL, 0, random_fill, NULL);
    memory_wipe(text, size);
    memory_free(text);
    return error == 0 ? S_OK : file_failed(error, "key", path);
}

/* Requests client certificates. If Mbed TLS requires a certificate, it refuses one that client_ca_file has not signed.
   Therefore Mbed TLS requires a certificate only for WEB_CLIENT_VERIFY. For WEB_CLIENT_REQUIRE, Mbed TLS only requests
   a certificate, and session_check_client checks that the client has presented one. */
static void server_request_certificates(struct tls_server *s)
{
    static const int modes[] = {[WEB_CLIENT_NONE] = MBEDTLS_SSL_VERIFY_NONE,
                                [WEB_CLIENT_REQUEST] = MBEDTLS_SSL_VERIFY_OPTIONAL,
                                [WEB_CLIENT_REQUIRE] = MBEDTLS_SSL_VERIFY_OPTIONAL,
                                [WEB_CLIENT_VERIFY_IF_GIVEN] = MBEDTLS_SSL_VERIFY_OPTIONAL,
                                [WEB_CLIENT_VERIFY] = MBEDTLS_SSL_VERIFY_REQUIRED};
    mbedtls_ssl_conf_authmode(&s->config, modes[s->client_certificate]);
}

static HRESULT server_fill(struct tls_server *s, const struct web_config *config)
{
    HRESULT hr = certificates_load("certificate", config->cert_file, &s->chain);
    if (SUCCEEDED(hr))
        hr = key_load(config->key_file, &s->key);
    if (SUCCEEDED(hr) && mbedtls_pk_check_pair(&s->chain.pk, &s->key, random_fill, NULL) != 0)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                       "cannot use certificate '%s' with key '%s': the key belongs to another certificate",
                       config->cert_file, config->key_file);
    if (SUCCEEDED(hr) && config->client_ca_file)
        hr = certificates_load("client_ca_file", config->client_ca_file, &s->clients);
    if (FAILED(hr))
        return hr;
    if (mbedtls_ssl_config_defaults(&s->config, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM,
                                    MBEDTLS_SSL_PRESET_DEFAULT) != 0)
        return E_OUTOFMEMORY;
    mbedtls_ssl_conf_rng(&s->config, random_fill, NULL);
    mbedtls_ssl_conf_min_tls_version(&s->config, config->min_version >= 13 ? MBEDTLS_SSL_VERSION_TLS1_3
                                                                           : MBEDTLS_SSL_VERSION_TLS1_2);
    mbedtls_ssl_conf_max_tls_version(&s->config, config->max_version >= 13 ? MBEDTLS_SSL_VERSION_TLS1_3
                                                                           : MBEDTLS_SSL_VERSION_TLS1_2);
    if (config->client_ca_file)
        mbedtls_ssl_conf_ca_chain(&s->config, &s->clients, NULL);
    server_request_certificates(s);
    return mbedtls_ssl_conf_own_cert(&s->config, &s->chain, &s->key) == 0 ? S_OK : E_OUTOFMEMORY;
}

HRESULT tls_server_open(const struct web_config *config, struct tls_server **out)
{
    HRESULT hr = tls_prepare();
    struct tls_server *s = SUCCEEDED(hr) ? memory_zero(1, sizeof *s) : NULL;
    *out = s;
    if (!s)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    mbedtls_ssl_config_init(&s->config);
    mbedtls_x509_crt_init(&s->chain);
    mbedtls_x509_crt_init(&s->clients);
    mbedtls_pk_init(&s->key);
    s->client_certificate = config->client_certificate;
    hr = server_fill(s, config);
    if (SUCCEEDED(hr))
        return S_OK;
    const struct error_kept why = error_keep(hr);
    tls_server_close(s);
    *out = NULL;
    return error_restore(&why);
}

void tls_server_close(struct tls_server *s)
{
    if (!s)
        return;
    mbedtls_ssl_config_free(&s->config);
    mbedtls_x509_crt_free(&s->chain);
    mbedtls_x509_crt_free(&s->clients);
    mbedtls_pk_free(&s->key);
    memory_free(s);
}

/* ---- sessions ---- */

static int session_push(void *user, const unsigned char *bytes, size_t size)
{
    const struct tls_session *s = user;
    return SUCCEEDED(socket_send(s->socket, bytes, size)) ? (int)size : MBEDTLS_ERR_NET_CONN_RESET;
}

static int session_pull(void *user, unsigned char *bytes, size_t size)
{
    const struct tls_session *s = user;
    size_t got;
    const HRESULT hr = tls_bytes_receive(s->socket, s->deadline, bytes, size, &got);
    if (hr == S_OK)
        return (int)got;
    if (hr == S_FALSE)
        return 0;
    return hr == HRESULT_FROM_WIN32(ERROR_TIMEOUT) ? MBEDTLS_ERR_SSL_WANT_READ : MBEDTLS_ERR_NET_CONN_RESET;
}

HRESULT tls_session_open(struct tls_server *server, struct socket_end *socket, struct tls_session **out)
{
    struct tls_session *s = memory_zero(1, sizeof *s);
    *out = s;
    if (!s)
        return E_OUTOFMEMORY;
    s->server = server;
    s->socket = socket;
    mbedtls_ssl_init(&s->ssl);
    if (mbedtls_ssl_setup(&s->ssl, &server->config) != 0) {
        tls_session_close(s);
        *out = NULL;
        return E_OUTOFMEMORY;
    }
    mbedtls_ssl_set_bio(&s->ssl, s, session_push, session_pull, NULL);
    return S_OK;
}

static HRESULT session_result(int error)
{
    char why[128];
    if (error == MBEDTLS_ERR_SSL_WANT_READ || error == MBEDTLS_ERR_SSL_WANT_WRITE)
        return HRESULT_FROM_WIN32(ERROR_TIMEOUT);
    mbedtls_strerror(error, why, sizeof why);
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "TLS: %s", why);
}

/* Checks the client's certificate. Mbed TLS has already checked the certificate's issuers and dates. If the certificate
   lists its purposes, Mbed TLS has also checked that client authentication is one of them. */
static HRESULT session_check_client(const struct tls_session *s)
{
    const enum web_client_certificate kind = s->server->client_certificate;
    const bool given = mbedtls_ssl_get_peer_cert(&s->ssl) != NULL;
    if (kind == WEB_CLIENT_NONE || kind == WEB_CLIENT_REQUEST || (kind == WEB_CLIENT_VERIFY_IF_GIVEN && !given))
        return S_OK;
    if (!given || (kind >= WEB_CLIENT_VERIFY_IF_GIVEN && mbedtls_ssl_get_verify_result(&s->ssl) != 0))
        return E_ACCESSDENIED;
    return S_OK;
}

HRESULT tls_handshake(struct tls_session *s, uint32_t timeout_ms)
{
    s->deadline = clock_monotonic_ms() + timeout_ms;
    const int error = mbedtls_ssl_handshake(&s->ssl);
    return error == 0 ? session_check_client(s) : session_result(error);
}

HRESULT tls_send(struct tls_session *s, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const int sent = mbedtls_ssl_write(&s->ssl, (const unsigned char *)bytes + at, size - at);
        if (sent < 0)
            return session_result(sent);
        at += (size_t)sent;
    }
    return S_OK;
}

HRESULT tls_receive_some(struct tls_session *s, void *bytes, size_t size, uint32_t timeout_ms, size_t *got)
{
    s->deadline = clock_monotonic_ms() + timeout_ms;
    const int received = mbedtls_ssl_read(&s->ssl, bytes, size);
    *got = received > 0 ? (size_t)received : 0;
    if (received > 0)
        return S_OK;
    if (received == 0 || received == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY || received == MBEDTLS_ERR_SSL_CONN_EOF)
        return S_FALSE;
    return session_result(received);
}

void tls_session_close(struct tls_session *s)
{
    if (!s)
        return;
    s->deadline = 0;
    if (mbedtls_ssl_is_handshake_over(&s->ssl))
        (void)mbedtls_ssl_close_notify(&s->ssl); /* the client may have disconnected */
    mbedtls_ssl_free(&s->ssl);
    memory_free(s);
}
