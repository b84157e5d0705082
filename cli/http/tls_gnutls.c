/* SPDX-License-Identifier: MIT */
/* TLS with GnuTLS, which is loaded by name, so that the package does not depend on it. GnuTLS has had all functions and
   constants used here since version 3.3. */
#include "cli/http/tls.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"

#include <stdio.h>
#include <dlfcn.h>
#include <errno.h>

#define LIBRARY "libgnutls.so.30"

typedef void *gnutls_credentials;
typedef void *gnutls_session;

enum {
    GNUTLS_SERVER_NONBLOCK = 1 | 8,
    GNUTLS_CRD_CERTIFICATE = 1,
    GNUTLS_X509_FMT_PEM = 1,
    GNUTLS_SHUT_WR = 1,
    GNUTLS_DT_KEY_PURPOSE_OID = 2,
    GNUTLS_E_AGAIN = -28,
    GNUTLS_E_INTERRUPTED = -52,
    GNUTLS_E_PREMATURE_TERMINATION = -110,
};

struct gnutls_typed_data {
    int type;
    unsigned char *data;
    unsigned size;
};

#define GNUTLS_LIST(X)                                                                                                 \
    X(const char *, gnutls_strerror, (int error))                                                                      \
    X(int, gnutls_error_is_fatal, (int error))                                                                         \
    X(int, gnutls_certificate_allocate_credentials, (gnutls_credentials * out))                                        \
    X(void, gnutls_certificate_free_credentials, (gnutls_credentials c))                                               \
    X(int, gnutls_certificate_set_x509_key_file,                                                                       \
      (gnutls_credentials c, const char *cert, const char *key, int format))                                           \
    X(int, gnutls_certificate_set_x509_trust_file, (gnutls_credentials c, const char *file, int format))               \
    X(int, gnutls_priority_init, (void **out, const char *priorities, const char **at))                                \
    X(void, gnutls_priority_deinit, (void *priority))                                                                  \
    X(int, gnutls_init, (gnutls_session * out, unsigned flags))                                                        \
    X(void, gnutls_deinit, (gnutls_session s))                                                                         \
    X(int, gnutls_priority_set, (gnutls_session s, void *priority))                                                    \
    X(int, gnutls_credentials_set, (gnutls_session s, int type, void *credentials))                                    \
    X(void, gnutls_certificate_server_set_request, (gnutls_session s, int request))                                    \
    X(void, gnutls_transport_set_ptr, (gnutls_session s, void *user))                                                  \
    X(void, gnutls_transport_set_push_function, (gnutls_session s, gnutls_push * push))                                \
    X(void, gnutls_transport_set_pull_function, (gnutls_session s, gnutls_pull * pull))                                \
    X(void, gnutls_transport_set_errno, (gnutls_session s, int error))                                                 \
    X(int, gnutls_handshake, (gnutls_session s))                                                                       \
    X(const void *, gnutls_certificate_get_peers, (gnutls_session s, unsigned *count))                                 \
    X(int, gnutls_certificate_verify_peers,                                                                            \
      (gnutls_session s, struct gnutls_typed_data * data, unsigned count, unsigned *status))                           \
    X(ssize_t, gnutls_record_send, (gnutls_session s, const void *bytes, size_t size))                                 \
    X(ssize_t, gnutls_record_recv, (gnutls_session s, void *bytes, size_t size))                                       \
    X(int, gnutls_bye, (gnutls_session s, int how))

typedef ssize_t gnutls_push(void *user, const void *bytes, size_t size);
typedef ssize_t gnutls_pull(void *user, void *bytes, size_t size);

#define GNUTLS_MEMBER(type, name, parameters) type(*name) parameters;
static struct {
    GNUTLS_LIST(GNUTLS_MEMBER)
    bool loaded;
} tls;

struct tls_server {
    gnutls_credentials credentials;
    void *priority;
    enum web_client_certificate client_certificate;
};

struct tls_session {
    struct tls_server *server;
    struct socket_end *socket;
    gnutls_session handle;
    uint64_t deadline; /* deadline of the current call, clock_monotonic_ms() */
};

/* Loads the library. The first call is before the server's threads run; later calls do nothing. */
static HRESULT tls_load(void)
{
    if (tls.loaded)
        return S_OK;
#ifdef OPENPLA_STATIC
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "this program is linked statically and cannot load GnuTLS (use the package openpla-tools)");
#endif
    void *module = dlopen(LIBRARY, RTLD_NOW);
    if (!module)
        return error_set(HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND),
                         "TLS requires GnuTLS: cannot load '%s' (install the package libgnutls30)", LIBRARY);
#define GNUTLS_FILL(type, name, parameters)                                                                            \
    tls.name = (type(*) parameters)dlsym(module, #name);                                                               \
    if (!tls.name)                                                                                                     \
        return error_set(HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND), "the library '%s' has no function %s", LIBRARY,     \
                         #name);
    GNUTLS_LIST(GNUTLS_FILL)
#undef GNUTLS_FILL
    tls.loaded = true;
    return S_OK;
}

static HRESULT tls_failed(int error, const char *what)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s: %s", what, tls.gnutls_strerror(error));
}

/* ---- the server's certificate ---- */

static HRESULT server_fill(struct tls_server *s, const struct web_config *config)
{
    const char *fault;
    char what[512], priorities[80];
    snprintf(priorities, sizeof priorities, "NORMAL:-VERS-ALL%s%s", config->max_version >= 13 ? ":+VERS-TLS1.3" : "",
             config->min_version <= 12 ? ":+VERS-TLS1.2" : "");
    int error = tls.gnutls_priority_init(&s->priority, priorities, &fault);
    if (error < 0)
        return tls_failed(error, "cannot choose the versions of TLS");
    error = tls.gnutls_certificate_allocate_credentials(&s->credentials);
    if (error < 0)
        return E_OUTOFMEMORY;
    error = tls.gnutls_certificate_set_x509_key_file(s->credentials, config->cert_file, config->key_file,
                                                     GNUTLS_X509_FMT_PEM);
    if (error < 0) {
        snprintf(what, sizeof what, "cannot use certificate '%s' with key '%s'", config->cert_file, config->key_file);
        return tls_failed(error, what);
    }
    error = config->client_ca_file ? tls.gnutls_certificate_set_x509_trust_file(s->credentials, config->client_ca_file,
                                                                                GNUTLS_X509_FMT_PEM)
                                   : 1;
    if (error > 0)
        return S_OK;
    if (error == 0)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "client_ca_file '%s' has no certificate",
                         config->client_ca_file);
    snprintf(what, sizeof what, "cannot use client_ca_file '%s'", config->client_ca_file);
    return tls_failed(error, what);
}

HRESULT tls_server_open(const struct web_config *config, struct tls_server **out)
{
    HRESULT hr = tls_load();
    struct tls_server *s = SUCCEEDED(hr) ? memory_zero(1, sizeof *s) : NULL;
    *out = s;
    if (!s)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    s->client_certificate = config->client_certificate;
    hr = server_fill(s, config);
    if (FAILED(hr)) {
        tls_server_close(s);
        *out = NULL;
    }
    return hr;
}

void tls_server_close(struct tls_server *s)
{
    if (!s)
        return;
    if (s->credentials)
        tls.gnutls_certificate_free_credentials(s->credentials);
    if (s->priority)
        tls.gnutls_priority_deinit(s->priority);
    memory_free(s);
}

/* ---- sessions ---- */

static ssize_t session_push(void *user, const void *bytes, size_t size)
{
    struct tls_session *s = user;
    if (SUCCEEDED(socket_send(s->socket, bytes, size)))
        return (ssize_t)size;
    tls.gnutls_transport_set_errno(s->handle, ECONNRESET);
    return -1;
}

static ssize_t session_pull(void *user, void *bytes, size_t size)
{
    struct tls_session *s = user;
    size_t got;
    const HRESULT hr = tls_bytes_receive(s->socket, s->deadline, bytes, size, &got);
    if (hr == S_OK)
        return (ssize_t)got;
    if (hr == S_FALSE)
        return 0;
    tls.gnutls_transport_set_errno(s->handle, hr == HRESULT_FROM_WIN32(ERROR_TIMEOUT) ? EAGAIN : ECONNRESET);
    return -1;
}

HRESULT tls_session_open(struct tls_server *server, struct socket_end *socket, struct tls_session **out)
{
    /* GNUTLS_CERT_IGNORE, _REQUEST and _REQUIRE */
    static const int requests[] = {[WEB_CLIENT_NONE] = 0,
                                   [WEB_CLIENT_REQUEST] = 1,
                                   [WEB_CLIENT_REQUIRE] = 2,
                                   [WEB_CLIENT_VERIFY_IF_GIVEN] = 1,
                                   [WEB_CLIENT_VERIFY] = 2};
    struct tls_session *s = memory_zero(1, sizeof *s);
    *out = s;
    if (!s)
        return E_OUTOFMEMORY;
    s->server = server;
    s->socket = socket;
    if (tls.gnutls_init(&s->handle, GNUTLS_SERVER_NONBLOCK) < 0 ||
        tls.gnutls_priority_set(s->handle, server->priority) < 0 ||
        tls.gnutls_credentials_set(s->handle, GNUTLS_CRD_CERTIFICATE, server->credentials) < 0) {
        tls_session_close(s);
        *out = NULL;
        return E_OUTOFMEMORY;
    }
    tls.gnutls_certificate_server_set_request(s->handle, requests[server->client_certificate]);
    tls.gnutls_transport_set_ptr(s->handle, s);
    tls.gnutls_transport_set_push_function(s->handle, session_push);
    tls.gnutls_transport_set_pull_function(s->handle, session_pull);
    return S_OK;
}

static HRESULT session_result(int error)
{
    if (error == GNUTLS_E_AGAIN || error == GNUTLS_E_INTERRUPTED)
        return HRESULT_FROM_WIN32(ERROR_TIMEOUT);
    return tls_failed(error, "TLS");
}

/* Checks the client's certificate. If the certificate lists its purposes, client authentication must be one of them;
   otherwise a server's certificate could be used to log on. */
static HRESULT session_check_client(struct tls_session *s)
{
    static unsigned char client_purpose[] = "1.3.6.1.5.5.7.3.2"; /* id-kp-clientAuth of RFC 5280 */
    struct gnutls_typed_data purpose = {GNUTLS_DT_KEY_PURPOSE_OID, client_purpose, 0};
    unsigned count = 0, status = 0;
    const enum web_client_certificate kind = s->server->client_certificate;
    if (kind < WEB_CLIENT_VERIFY_IF_GIVEN)
        return S_OK;
    if (!tls.gnutls_certificate_get_peers(s->handle, &count) || count == 0)
        return kind == WEB_CLIENT_VERIFY ? E_ACCESSDENIED : S_OK;
    const int error = tls.gnutls_certificate_verify_peers(s->handle, &purpose, 1, &status);
    return error < 0 || status != 0 ? E_ACCESSDENIED : S_OK;
}

HRESULT tls_handshake(struct tls_session *s, uint32_t timeout_ms)
{
    s->deadline = clock_monotonic_ms() + timeout_ms;
    const int error = tls.gnutls_handshake(s->handle);
    if (error == 0)
        return session_check_client(s);
    if (error != GNUTLS_E_AGAIN && error < 0 && !tls.gnutls_error_is_fatal(error))
        return HRESULT_FROM_WIN32(ERROR_TIMEOUT); /* a warning, which does not end the handshake */
    return session_result(error);
}

HRESULT tls_send(struct tls_session *s, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t sent = tls.gnutls_record_send(s->handle, (const char *)bytes + at, size - at);
        if (sent < 0)
            return session_result((int)sent);
        at += (size_t)sent;
    }
    return S_OK;
}

HRESULT tls_receive_some(struct tls_session *s, void *bytes, size_t size, uint32_t timeout_ms, size_t *got)
{
    s->deadline = clock_monotonic_ms() + timeout_ms;
    const ssize_t received = tls.gnutls_record_recv(s->handle, bytes, size);
    *got = received > 0 ? (size_t)received : 0;
    if (received > 0)
        return S_OK;
    if (received == 0 || received == GNUTLS_E_PREMATURE_TERMINATION)
        return S_FALSE;
    return session_result((int)received);
}

void tls_session_close(struct tls_session *s)
{
    if (!s)
        return;
    if (s->handle) {
        s->deadline = 0;
        tls.gnutls_bye(s->handle, GNUTLS_SHUT_WR);
        tls.gnutls_deinit(s->handle);
    }
    memory_free(s);
}
