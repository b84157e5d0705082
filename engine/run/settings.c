/* SPDX-License-Identifier: MIT */
/* The settings, and what they may be. */
#include "engine/run/settings.h"

#include "engine/os/memory.h"

#include <string.h>

static const struct setting {
    const char *key, *allowed;
    const char *values[4]; /* the first is the default; NULL at the end */
} settings[] = {
    {SETTING_RESTART, "never, boot, always", {"never", "boot", "always", NULL}},
    {SETTING_STOP_AT_EXPIRY, "no, yes", {"no", "yes", NULL, NULL}},
};
enum { RESTART, STOP_AT_EXPIRY };

/* *index: which of the values it is, -1 for none of them; *value is what there is, NULL when there is nothing. */
static HRESULT read(struct object *set, const struct setting *setting, int *index, char **value)
{
    HRESULT hr = set_get_value(set, setting->key, value);
    *index = 0;
    if (FAILED(hr)) {
        *value = NULL;
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    }
    *index = -1;
    for (int i = 0; setting->values[i]; i++)
        if (text_equal_nocase(*value, setting->values[i]))
            *index = i;
    return S_OK;
}

HRESULT settings_read(struct object *set, struct set_settings *out)
{
    int found[2];
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 2; i++) {
        char *value;
        HRESULT hr = read(set, &settings[i], &found[i], &value);
        if (FAILED(hr))
            return hr;
        memory_free(value);
    }
    out->restart = found[RESTART] > 0 ? (enum restart)found[RESTART] : RESTART_NEVER;
    out->stop_at_expiry = found[STOP_AT_EXPIRY] > 0;
    return S_OK;
}

HRESULT settings_validate(struct object *set, struct object *issues)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof settings / sizeof settings[0]; i++) {
        int index;
        char *value, *text = NULL, *key = NULL;
        hr = read(set, &settings[i], &index, &value);
        if (SUCCEEDED(hr) && index < 0) {
            key = text_format("Value[%s]", settings[i].key);
            text =
                text_format("'%s' is none of %s; it counts as %s", value, settings[i].allowed, settings[i].values[0]);
            hr = key && text ? issues_add(issues, E_INVALIDARG, key, text) : E_OUTOFMEMORY;
        }
        memory_free(key);
        memory_free(text);
        memory_free(value);
    }
    return hr;
}
