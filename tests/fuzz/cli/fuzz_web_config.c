/* SPDX-License-Identifier: MIT */
/* Any bytes as the file of -web: no crash, and an accepted file is complete, because a security setting that is not
   understood must be an error. */
#include "cli/http/web_config.h"
#include "engine/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

/* Bytes below 16 select pieces; other bytes are copied. */
static char *file_of(const uint8_t *data, size_t size)
{
    static const char user[] = "  u: $2y$05$.....................................................";
    static const char *const pieces[16] = {
        "tls_server_config:\n",
        "http_server_config:\n",
        "basic_auth_users:\n",
        "bearer_token_file: ",
        "  cert_file: ",
        "  key_file: ",
        "  client_ca_file: ",
        "  client_auth_type: ",
        "RequireAnyClientCert",
        "\n",
        "  min_version: TLS13",
        "  max_version: TLS12",
        "'",
        "\"",
        " # ",
        user,
    };
    struct text_buffer b = {0};
    for (size_t i = 0; i < size; i++)
        if (data[i] < 16)
            text_buffer_add(&b, pieces[data[i]]);
        else
            text_buffer_add_n(&b, (const char *)&data[i], 1);
    return text_buffer_take(&b);
}

static void check(const char *text, size_t size)
{
    struct web_config c;
    if (FAILED(web_config_parse(text, size, &c))) {
        must(!c.cert_file && c.users.count == 0);
        return;
    }
    must(c.users.count == c.hashes.count);
    must(!c.tls || (c.cert_file && c.key_file));
    must(!c.client_ca_file == (c.client_certificate < WEB_CLIENT_VERIFY_IF_GIVEN));
    must(c.min_version >= 12 && c.max_version <= 13 && c.min_version <= c.max_version);
    for (size_t i = 0; i < c.hashes.count; i++)
        must(*c.users.items[i] && strlen(c.hashes.items[i]) == 60);
    web_config_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check((const char *)data, size);
    char *text = file_of(data, size);
    if (text)
        check(text, strlen(text));
    memory_free(text);
    return 0;
}
