/* SPDX-License-Identifier: MIT */
/* The file of -web: TLS and accounts, in the format of Prometheus' exporter toolkit. */
#ifndef OPENPLA_WEB_CONFIG_H
#define OPENPLA_WEB_CONFIG_H

#include "engine/base/text.h"

enum web_client_certificate {
    WEB_CLIENT_NONE,
    WEB_CLIENT_REQUEST,         /* ask for one, and accept any or none */
    WEB_CLIENT_REQUIRE,         /* any */
    WEB_CLIENT_VERIFY_IF_GIVEN, /* none, or one of client_ca_file */
    WEB_CLIENT_VERIFY,          /* one of client_ca_file */
};

/* Paths are absolute or relative to the file's folder; NULL: not given. */
struct web_config {
    bool tls;
    char *cert_file, *key_file, *client_ca_file;
    enum web_client_certificate client_certificate;
    unsigned min_version, max_version; /* 12 and 13 */
    struct texts users, hashes;        /* basic_auth_users: names, and their bcrypt hashes */
    char *bearer_token_file;
    struct texts tokens; /* its lines, read by web_config_load */
};
/* Reads the text of a file. E_INVALIDARG with a message that names the line, without the file's name. */
HRESULT web_config_parse(const char *text, size_t size, struct web_config *out);
/* Reads the file and that of the tokens; the message names the file. *hash changes when one of the files does, also
   those of certificates and keys. */
HRESULT web_config_load(const char *path, struct web_config *out, uint64_t *hash);
void web_config_free(struct web_config *c); /* wipes hashes and tokens */

#endif
