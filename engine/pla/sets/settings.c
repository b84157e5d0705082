/* SPDX-License-Identifier: MIT */
/* Contains the table of settings; reads and validates their values. */
#include "engine/pla/settings.h"

#include "engine/base/memory.h"
#include "engine/pla/run.h"
#include "engine/pla/store.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

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
#define DISTANCE       .distance = true
#define ANY_TEXT       .text = true
#define OF_ALERTS      .of_alerts = true,
#define OF_RUN(f)      .of_run = (f)
const struct setting settings[SETTING_COUNT] = {
#define SETTING(Name, kind, doc_) {.key = SETTING_KEY(Name), kind, .doc = doc_},
#include "engine/pla/sets/settings.def"
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
    HRESULT hr = words.failed ? E_OUTOFMEMORY
                              : error_set(E_INVALIDARG, "invalid value '%s': expected one of %s (using %s)", value,
                                          words.text, s->words[0]);
    text_buffer_free(&words);
    return hr;
}

static HRESULT read_number(const struct setting *s, const char *value, uint32_t *out)
{
    uint64_t number;
    if (!text_to_u64(value, &number) || number > UINT32_MAX)
        return error_set(E_INVALIDARG, "%s: invalid value '%s': expected a number of %s", s->key, value, s->unit);
    *out = (uint32_t)number;
    return S_OK;
}

/* Parses "12.5" or "10%". */
static HRESULT read_distance(const struct setting *s, const char *value, double *out, bool *percent)
{
    const char *digits = value + strspn(value, " ");
    char *end = (char *)digits;
    double number = strspn(digits, "0123456789.") ? strtod(digits, &end) : -1;
    end += strspn(end, " ");
    bool part = *end == '%';
    end += part;
    if (strpbrk(value, "xXeEnN") || number < 0 || !isfinite(number) || end[strspn(end, " ")])
        return error_set(E_INVALIDARG,
                         "%s: invalid value '%.300s': expected a number such as 12.5, or a percentage of the "
                         "threshold such as 10%%",
                         s->key, value);
    *out = number;
    *percent = part;
    return S_OK;
}

struct reading {
    uint32_t number;
    double distance;
    bool percent;
};

static HRESULT read_as(const struct setting *s, const char *value, struct reading *out)
{
    *out = (struct reading){0};
    return s->words      ? read_word(s, value, &out->number)
           : s->unit     ? read_number(s, value, &out->number)
           : s->distance ? read_distance(s, value, &out->distance, &out->percent)
                         : S_OK;
}

/* Returns the set's value for that key, from memory_alloc. S_FALSE, with NULL: the set has no such value. */
static HRESULT find_value(struct object *set, const char *key, char **value)
{
    *value = NULL;
    HRESULT hr = key ? set_get_value(set, key, value) : E_OUTOFMEMORY;
    if (hr == E_OUTOFMEMORY || SUCCEEDED(hr))
        return hr;
    error_clear();
    *value = NULL;
    return S_FALSE;
}

/* Returns the collector's value. If the collector has no value, or `collector` is NULL, returns the set's value. */
static HRESULT find_value_of(struct object *set, const char *collector, const struct setting *s, char **value)
{
    if (!collector)
        return find_value(set, s->key, value);
    char *key = text_format("%s[%s]", s->key, collector);
    HRESULT hr = find_value(set, key, value);
    memory_free(key);
    return hr == S_FALSE ? find_value(set, s->key, value) : hr;
}

static HRESULT read_found(const struct setting *s, HRESULT hr, char *value, struct reading *out)
{
    *out = (struct reading){0};
    if (hr == S_OK)
        hr = read_as(s, value, out);
    memory_free(value);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT setting_read(struct object *set, enum setting_number which, uint32_t *out)
{
    char *value;
    struct reading reading;
    HRESULT hr = find_value(set, settings[which].key, &value);
    hr = read_found(&settings[which], hr, value, &reading);
    *out = reading.number;
    return hr;
}

HRESULT setting_read_of(struct object *set, const char *collector, enum setting_number which, uint32_t *out)
{
    char *value;
    struct reading reading;
    HRESULT hr = find_value_of(set, collector, &settings[which], &value);
    hr = read_found(&settings[which], hr, value, &reading);
    *out = reading.number;
    return hr;
}

HRESULT setting_read_distance(struct object *set, const char *collector, enum setting_number which, double *out,
                              bool *percent)
{
    char *value;
    struct reading reading;
    HRESULT hr = find_value_of(set, collector, &settings[which], &value);
    hr = read_found(&settings[which], hr, value, &reading);
    *out = reading.distance;
    *percent = reading.percent;
    return hr;
}

HRESULT setting_read_text(struct object *set, const char *collector, enum setting_number which, char **text)
{
    HRESULT hr = find_value_of(set, collector, &settings[which], text);
    if (hr != S_FALSE)
        return hr;
    *text = text_copy("");
    return *text ? S_OK : E_OUTOFMEMORY;
}

/* ---- validation ---- */

static HRESULT add_issue(struct object *issues, const char *key, HRESULT found)
{
    struct error_kept why = error_keep(found);
    char *item = text_format("Value[%s]", key);
    HRESULT hr = item ? issues_add(issues, found, item, why.text) : E_OUTOFMEMORY;
    memory_free(item);
    return hr;
}

static HRESULT check_value(const struct setting *s, const char *key, const char *value, struct object *issues)
{
    struct reading ignored;
    HRESULT hr = read_as(s, value, &ignored);
    return hr == E_INVALIDARG && s->words ? add_issue(issues, key, hr) : hr;
}

/* Sets *has to whether the set has an alert collector of that name. */
static HRESULT has_alert(struct object *set, const char *name, size_t length, bool *has)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(set_of(set)->DataCollectors, &list, &count);
    *has = false;
    if (FAILED(hr))
        return hr;
    char *wanted = text_copy_n(name, length);
    for (size_t i = 0; wanted && i < count; i++)
        *has = *has ||
               (list[i]->class == &alert_collector_class && text_equal_nocase(collector_of(list[i])->Name, wanted));
    memory_free(wanted);
    objects_release(list, count);
    return wanted ? S_OK : E_OUTOFMEMORY;
}

/* Returns the setting of a key such as "OpenPLA.AlertOn[My alert]"; *name is where the collector's name begins. NULL:
   the key has another form. */
static const struct setting *setting_of_one(const char *key, const char **name)
{
    const char *bracket = strchr(key, '[');
    size_t length = strlen(key);
    char *front = bracket && key[length - 1] == ']' ? text_copy_n(key, (size_t)(bracket - key)) : NULL;
    const struct setting *s = front ? setting_find(front) : NULL;
    memory_free(front);
    *name = s ? bracket + 1 : NULL;
    return s && s->of_alerts ? s : NULL;
}

static HRESULT check_key(struct object *set, const char *key, const char *value, struct object *issues)
{
    const char *name;
    const struct setting *s = setting_of_one(key, &name);
    if (!s) {
        s = setting_find(key);
        return s && !s->of_run ? check_value(s, s->key, value, issues) : S_OK;
    }
    bool has;
    size_t length = strlen(name) - 1;
    HRESULT hr = has_alert(set, name, length, &has);
    if (FAILED(hr))
        return hr;
    if (!has)
        return add_issue(issues, key,
                         error_set(E_INVALIDARG, "the set has no alert collector '%.*s'", (int)length, name));
    return check_value(s, key, value, issues);
}

HRESULT settings_validate(struct object *set, struct object *issues)
{
    struct texts pairs = {0};
    HRESULT hr = S_OK;
    object_lock(set);
    for (size_t i = 0; SUCCEEDED(hr) && i < set_of(set)->value_count; i++) {
        hr = texts_add(&pairs, set_of(set)->values[i].key);
        if (SUCCEEDED(hr))
            hr = texts_add(&pairs, set_of(set)->values[i].value);
    }
    object_unlock(set);
    for (size_t i = 0; SUCCEEDED(hr) && i < pairs.count; i += 2)
        hr = check_key(set, pairs.items[i], pairs.items[i + 1], issues);
    texts_free(&pairs);
    return hr;
}
