/* SPDX-License-Identifier: MIT */
/* openpla doctor: if remote DCOM clients must be served, checks whether the port for these clients is open, and whether
   an account exists. */
#include "cli/doctor/doctor.h"
#include "com/server/dcom_settings.h"
#include "engine/base/network.h"
#include "engine/base/os.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_MS 2000

static HRESULT check_port(struct doctor *d, const struct dcom_settings *s)
{
    struct socket_end *socket;
    char port[8];
    const char *address = strcmp(s->address, DCOM_ALL_ADDRESSES) == 0 ? DCOM_LOOPBACK : s->address;
    snprintf(port, sizeof port, "%u", (unsigned)s->port);
    const HRESULT hr = socket_connect(address, port, ANSWER_MS, &socket);
    if (hr == E_OUTOFMEMORY)
        return hr;
    error_clear();
    if (SUCCEEDED(hr)) {
        socket_close(socket);
        return S_OK;
    }
    return doctor_find(d, DOCTOR_FOUND_DCOM_CLOSED, NULL,
                       "remote DCOM is on at %s, port %s, but no program listens there", s->address, port);
}

static HRESULT check_accounts(struct doctor *d)
{
    struct dcom_accounts accounts;
    HRESULT hr = dcom_accounts_read(&accounts);
    if (SUCCEEDED(hr) && !accounts.count)
        hr = doctor_find(d, DOCTOR_FOUND_DCOM_NO_ACCOUNT, NULL, "remote DCOM is on, but no account exists");
    dcom_accounts_free(&accounts);
    return hr;
}

/* Returns true if the server is registered without a service. */
static bool has_no_service(const struct doctor *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->items[i].id == DOCTOR_FOUND_NO_SERVICE)
            return true;
    return false;
}

HRESULT doctor_check_dcom(struct doctor *d)
{
    struct dcom_settings s;
    if (!os_is_wine())
        return S_OK;
    HRESULT hr = dcom_settings_read(&s);
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (FAILED(hr))
        return doctor_find(d, DOCTOR_FOUND_DCOM_SETTING, NULL, "%s", error_text(hr));
    hr = S_OK;
    if (s.is_on && has_no_service(d))
        hr = doctor_find(d, DOCTOR_FOUND_DCOM_NO_SERVICE, NULL, "remote DCOM is on, but the service is not registered");
    else if (s.is_on && doctor_service_runs(d))
        hr = check_port(d, &s);
    if (SUCCEEDED(hr) && s.is_on)
        hr = check_accounts(d);
    dcom_settings_free(&s);
    return hr;
}
