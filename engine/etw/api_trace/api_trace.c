/* SPDX-License-Identifier: MIT */
/* The collector's side of API tracing: the claim on a program, the section with the settings, and the watcher.

   The collector uses two named sections. The claim is an empty section whose name is derived from the program's path:
   if it exists, another collector already traces that program. The settings are in a section with a random name; traced
   programs read this name from the session's filter. Both sections exist as long as this process has them open, so a
   killed collector leaves nothing behind. */
#include "engine/etw/api_trace.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/etw/api_trace/api_watch.h"

#include <stdio.h>
#include <string.h>

/* A claim on a program, held by this process. All api_traces that trace the program share the claim. */
struct claim {
    atomic_uint users;
    struct section *section;
    uint64_t hash;
    char *program;
    struct api_watch *watch; /* NULL: not started */
};

struct api_trace {
    atomic_uint users;
    struct claim *claim;
    struct section *section;
    struct text_buffer settings; /* the expected contents of the section */
    struct api_filter filter;
    uint64_t cycles_per_second;
};

static void claim_release(struct claim *c)
{
    if (!c || atomic_fetch_sub(&c->users, 1) != 1)
        return;
    api_watch_stop(c->watch);
    section_close(c->section);
    memory_free(c->program);
    memory_free(c);
}

static HRESULT claim_create(const char *program, struct claim **out)
{
    char name[40];
    struct claim *c = memory_zero(1, sizeof *c);
    *out = NULL;
    if (!c)
        return E_OUTOFMEMORY;
    atomic_init(&c->users, 1);
    c->program = text_copy(program);
    c->hash = text_hash_nocase(program);
    snprintf(name, sizeof name, "OpenPLA-api-%016llx", (unsigned long long)c->hash);
    HRESULT hr = c->program
                     ? section_open(&(struct shared){.name = name, .create = true, .fresh = true}, 1, &c->section)
                     : E_OUTOFMEMORY;
    if (hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS))
        hr = error_set(PLA_E_EXE_ALREADY_CONFIGURED,
                       "ExePath: another running data collector set traces '%s' already (stop it first)", program);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        claim_release(c);
        return error_restore(&why);
    }
    *out = c;
    return S_OK;
}

static void write_settings(struct api_trace *t)
{
    memcpy((uint8_t *)section_memory(t->section) + API_SECTION_SETTINGS, t->settings.text, t->settings.length);
}

static HRESULT section_create(struct api_trace *t)
{
    char key[SHARED_KEY_DIGITS + 1];
    HRESULT hr = shared_new_key(key);
    if (FAILED(hr))
        return hr;
    t->filter = (struct api_filter){.magic = API_FILTER_MAGIC,
                                    .size = (uint32_t)t->settings.length,
                                    .hash = api_settings_hash((const uint8_t *)t->settings.text, t->settings.length)};
    snprintf(t->filter.section, sizeof t->filter.section, "OpenPLA-apis-%s", key);
    hr = section_open(&(struct shared){.name = t->filter.section, .create = true, .fresh = true},
                      API_SECTION_SETTINGS + t->settings.length, &t->section);
    if (SUCCEEDED(hr))
        write_settings(t);
    return hr;
}

static bool same_settings(const struct api_trace *a, const struct api_trace *b)
{
    return a->settings.length == b->settings.length && !memcmp(a->settings.text, b->settings.text, a->settings.length);
}

/* Creates the claim, or shares that of `claimed`, and creates the section. Returns S_FALSE if `claimed` has the same
   program and settings. */
static HRESULT trace_begin(struct api_trace *t, struct api_settings *settings, struct api_trace *claimed)
{
    const bool same_program = claimed && text_equal_nocase(claimed->claim->program, settings->program);
    settings->cycles_per_second = claimed ? claimed->cycles_per_second : api_watch_cycles_per_second();
    t->cycles_per_second = settings->cycles_per_second;
    HRESULT hr = api_settings_write(settings, &t->settings);
    if (FAILED(hr))
        return hr;
    if (same_program && same_settings(t, claimed))
        return S_FALSE;
    if (same_program) {
        t->claim = claimed->claim;
        atomic_fetch_add(&t->claim->users, 1);
    } else {
        hr = claim_create(settings->program, &t->claim);
    }
    return SUCCEEDED(hr) ? section_create(t) : hr;
}

HRESULT api_trace_open(struct api_settings *settings, struct api_trace *claimed, struct api_trace **out)
{
    struct api_trace *t = memory_zero(1, sizeof *t);
    *out = NULL;
    if (!t)
        return E_OUTOFMEMORY;
    atomic_init(&t->users, 1);
    HRESULT hr = trace_begin(t, settings, claimed);
    if (hr == S_OK) {
        *out = t;
        return S_OK;
    }
    if (hr == S_FALSE) {
        atomic_fetch_add(&claimed->users, 1);
        *out = claimed;
    }
    struct error_kept why = error_keep(hr);
    api_trace_close(t);
    return SUCCEEDED(hr) ? S_OK : error_restore(&why);
}

void api_trace_close(struct api_trace *t)
{
    if (!t || atomic_fetch_sub(&t->users, 1) != 1)
        return;
    claim_release(t->claim);
    section_close(t->section);
    memory_free(t->settings.text);
    memory_free(t);
}

bool api_trace_is_shared(const struct api_trace *t)
{
    return atomic_load(&t->users) > 1;
}

const struct api_filter *api_trace_filter(const struct api_trace *t)
{
    return &t->filter;
}

HRESULT api_trace_watch(struct api_trace *t, bool attach)
{
    return t->claim->watch ? S_FALSE : api_watch_start(t->claim->program, attach, &t->claim->watch);
}

void api_trace_read(struct api_trace *t, struct api_trace_numbers *out)
{
    struct api_statistics *s = section_memory(t->section);
    struct api_watch_numbers watch = {.late = 0};
    if (t->claim->watch)
        api_watch_read(t->claim->watch, &watch);
    *out = (struct api_trace_numbers){.processes = atomic_load(&s->processes),
                                      .functions = atomic_load(&s->functions),
                                      .calls = atomic_load(&s->calls),
                                      .unwound = atomic_load(&s->unwound),
                                      .late = watch.late,
                                      .failed = watch.failed,
                                      .attached = watch.attached};
    out->restored =
        memcmp((uint8_t *)section_memory(t->section) + API_SECTION_SETTINGS, t->settings.text, t->settings.length) != 0;
    if (out->restored)
        write_settings(t);
}

char *api_trace_take_failure(struct api_trace *t)
{
    return t->claim->watch ? api_watch_take_failure(t->claim->watch) : NULL;
}

char *api_trace_session_name(const struct api_trace *t)
{
    return text_format("OpenPLA API tracing %016llX", (unsigned long long)t->claim->hash);
}
