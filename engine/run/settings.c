/* SPDX-License-Identifier: MIT */
/* The settings' table, and what their values may be. */
#include "engine/run/settings.h"

#include "engine/os/memory.h"
#include "engine/run/run.h"
#include "engine/store/store.h"

static char *last_message(const struct latest_run *run)
{
    return text_copy(run->record->last_message);
}

static char *last_result(const struct latest_run *run)
{
    return text_format("0x%08X", (unsigned)run->record->last_result);
}

static char *figures(const struct latest_run *run)
{
    return run_figures_text(run->space, run->name);
}

#define CHOICE(...)                                                                                                    \
    .words = (const char *const[])                                                                                     \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }
#define COUNT_OF(what) .unit = (what)
#define OF_RUN(f)      .of_run = (f)
const struct setting settings[SETTING_COUNT] = {
#define SETTING(Name, kind, doc_) {.key = SETTING_KEY(Name), kind, .doc = doc_},
#include "engine/run/settings.def"
#undef SETTING
};

const struct setting *setting_find(const char *key)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (text_equal_nocase(settings[i].key, key))
            return &settings[i];
    return NULL;
}

static HRESULT read_word(const struct setting *s, const char *value, uint32_t *out)
{
    struct text_buffer words = {0};
    for (uint32_t i = 0; s->words[i]; i++)
        if (text_equal_nocase(value, s->words[i])) {
            *out = i;
            return S_OK;
        }
    for (size_t i = 0; s->words[i]; i++)
        text_buffer_format(&words, "%s%s", i ? ", " : "", s->words[i]);
    HRESULT hr = words.failed
                     ? E_OUTOFMEMORY
                     : error_set(E_INVALIDARG, "'%s' is none of %s; it counts as %s", value, words.text, s->words[0]);
    text_buffer_free(&words);
    return hr;
}

static HRESULT read_number(const struct setting *s, const char *value, uint32_t *out)
{
    uint64_t number;
    if (!text_to_u64(value, &number) || number > UINT32_MAX)
        return error_set(E_INVALIDARG, "%s: \"%s\" is no number of %s", s->key, value, s->unit);
    *out = (uint32_t)number;
    return S_OK;
}

HRESULT setting_read(struct object *set, enum setting_number which, uint32_t *out)
{
    const struct setting *s = &settings[which];
    char *value;
    *out = 0;
    HRESULT hr = set_get_value(set, s->key, &value);
    if (hr == E_OUTOFMEMORY)
        return hr;
    error_clear();
    if (FAILED(hr))
        return S_OK; /* it has none */
    hr = s->words ? read_word(s, value, out) : read_number(s, value, out);
    memory_free(value);
    return hr;
}

HRESULT settings_validate(struct object *set, struct object *issues)
{
    HRESULT hr = S_OK;
    for (int i = 0; SUCCEEDED(hr) && i < SETTING_COUNT; i++) {
        uint32_t value;
        hr = settings[i].of_run ? S_OK : setting_read(set, (enum setting_number)i, &value);
        if (hr != E_INVALIDARG || !settings[i].words)
            continue;
        struct error_kept why = error_keep(hr);
        char *key = text_format("Value[%s]", settings[i].key);
        hr = key ? issues_add(issues, hr, key, why.text) : E_OUTOFMEMORY;
        memory_free(key);
    }
    return hr;
}
