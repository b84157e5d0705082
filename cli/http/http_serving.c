/* SPDX-License-Identifier: MIT */
/* Opens a server for a verb with the options -http and -web, prints the server's URL, and warns if other users can read
   the counters. */
#include "cli/http/http.h"
#include "cli/http/security.h"

#include <stdio.h>

static void serving_warn(const char *verb, const struct http_serving *s)
{
    if (!http_server_is_public(s->server))
        return;
    if (!s->security || !http_security_has_accounts(s->security))
        fprintf(stderr, "openpla %s: anyone who can reach this address can read the counters without a password\n",
                verb);
    else if (!http_security_has_tls(s->security))
        fprintf(stderr, "openpla %s: passwords and tokens are sent to this address without encryption\n", verb);
}

HRESULT http_serving_begin(const char *verb, const char *web, const char *page, const struct http_options *options,
                           struct http_serving *out)
{
    struct http_options with = *options;
    *out = (struct http_serving){NULL, NULL};
    HRESULT hr = web ? http_security_open(web, &out->security) : S_OK;
    with.security = out->security;
    if (SUCCEEDED(hr))
        hr = http_server_open(&with, &out->server);
    if (FAILED(hr))
        return hr;
    printf("%s%s\n", http_server_url(out->server), page);
    fflush(stdout);
    serving_warn(verb, out);
    return S_OK;
}

void http_serving_end(struct http_serving *s)
{
    http_server_close(s->server);
    http_security_close(s->security);
    *s = (struct http_serving){NULL, NULL};
}
