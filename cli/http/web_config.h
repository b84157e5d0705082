/* SPDX-License-Identifier: MIT */
/* The contents of the -web file: TLS and accounts, in the format of the Prometheus exporter toolkit. */
#ifndef OPENPLA_WEB_CONFIG_H
#define OPENPLA_WEB_CONFIG_H

#include "engine/base/text.h"

enum web_client_certificate {
    WEB_CLIENT_NONE,
    WEB_CLIENT_REQUEST,         /* request a certificate, but accept any certificate or none */
    WEB_CLIENT_REQUIRE,         /* require any certificate */
    WEB_CLIENT_VERIFY_IF_GIVEN, /* accept clients without a certificate, and certificates signed by client_ca_file */
    WEB_CLIENT_VERIFY,          /* require a certificate signed by client_ca_file */
};

/* Paths are absolute, or relative to the folder of the -web file; a path is NULL if it is not specified. */
struct web_config {
    bool tls;
    char *cert_file, *key_file, *client_ca_file;
    enum web_client_certificate client_certificate;
    unsigned min_version, max_version; /* 12 for TLS 1.2, 13 for TLS 1.3 */
    struct texts users, hashes;        /* basic_auth_users: names and their bcrypt hashes */
    char *bearer_token_file;
    struct texts tokens; /* the lines of the token file, read by web_config_load */
};
/* Parses the text of a file. Fails with E_INVALIDARG and a message that names the line but not the file. */
HRESULT web_config_parse(const char *text, size_t size, struct web_config *out);
/* Reads the file and the token file; messages name the file. *hash changes when any of the files changes, including the
   files of certificates and keys. */
HRESULT web_config_load(const char *path, struct web_config *out, uint64_t *hash);
void web_config_free(struct web_config *c); /* wipes hashes and tokens */

#endif
