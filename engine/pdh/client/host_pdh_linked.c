/* SPDX-License-Identifier: MIT */
/* The PDH core that is linked into this program. */
#include "engine/base/error.h"
#include "engine/pdh/counter_query.h"

HRESULT host_pdh(const struct pdh_api **out)
{
    *out = &openpdh_api;
    if (!*out)
        return error_set(HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND), "openpdh: not linked into this program");
    return S_OK;
}
