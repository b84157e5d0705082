/* SPDX-License-Identifier: MIT */
/* Handles accounts and passwords at Commit, and the text form of a set's secret. */
#include "engine/pla/set_credentials.h"

#include "engine/base/memory.h"
#include "engine/export/push.h"
#include "engine/logs/sql_log.h"
#include "engine/pla/definition.h"
#include "engine/pla/sets.h"
#include "engine/pla/sets/set_secret.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"

#include <string.h>

/* Used as the name of a collector in the secret. A collector's name cannot contain a backslash. */
#define EXPORT_SOURCE "\\export"

/* ---- the account ---- */

struct put {
    bool any;
    char *user, *password;
};

/* Copies the values from SetCredentials. */
static HRESULT take_put(struct object *o, struct put *out)
{
    struct data_collector_set *set = set_of(o);
    object_lock(o);
    *out = (struct put){.any = set->credentials_put};
    out->user = text_copy(set->credentials_put && set->password ? set->UserAccount : "");
    out->password = text_copy(set->password ? set->password : "");
    object_unlock(o);
    return out->user && out->password ? S_OK : E_OUTOFMEMORY;
}

static void put_free(struct put *p)
{
    memory_free(p->user);
    memory_free_secret(p->password);
}

/* Returns whether the caller is an administrator. A caller in this process counts as an administrator, because nothing
   can be kept from the process itself. */
static bool is_administrator(const struct caller *caller)
{
    return caller->in_process || access_is_administrator(caller);
}

static HRESULT administrators_alone(const struct caller *caller, HRESULT hr, const char *text)
{
    if (is_administrator(caller))
        return S_OK;
    char *who = caller_account(caller);
    hr = who ? error_set(hr, "UserAccount: %s; '%s' is not an administrator (give an account with SetCredentials)",
                         text, who)
             : E_OUTOFMEMORY;
    memory_free(who);
    return hr;
}

/* Logs on with the password, so that a wrong password is reported now and not at the first start. Returns the account's
   SID. */
static HRESULT try_password(const struct put *put, char **sid)
{
    const struct logon *logon = os_logon();
    void *token;
    *sid = NULL;
    if (!logon)
        return S_OK;
    HRESULT hr = logon->log_on(put->user, put->password, &token);
    if (FAILED(hr))
        return hr;
    hr = logon->sid(token, sid);
    logon->close(token);
    return hr;
}

static HRESULT take_account(const struct caller *caller, struct put *put, struct set_secret *secret,
                            struct set_account *now)
{
    bool system, service = account_is_service(put->user, &system);
    HRESULT hr = service
                     ? administrators_alone(caller, E_ACCESSDENIED, "only an administrator can set a service's account")
                     : S_OK;
    if (SUCCEEDED(hr) && service && *put->password)
        hr = error_set(E_INVALIDARG, "SetCredentials: '%s' is a service's account and has no password", put->user);
    if (SUCCEEDED(hr))
        hr = try_password(put, &secret->sid);
    if (SUCCEEDED(hr)) {
        secret->by = caller_account(caller);
        secret->password = put->password;
        put->password = NULL;
        now->user = put->user;
        put->user = NULL;
        hr = secret->by ? S_OK : E_OUTOFMEMORY;
    }
    return hr;
}

/* Returns whether the caller already has the rights of the account that the set runs as. */
static HRESULT has_its_rights(const struct caller *caller, const struct set_secret *old, bool *has)
{
    char *who = caller_account(caller);
    *has = who && (is_administrator(caller) || (old->sid && access_is_account(caller, old->sid)) ||
                   (old->by && *old->by && !strcmp(old->by, who)));
    memory_free(who);
    return who ? S_OK : E_OUTOFMEMORY;
}

/* Keeps the set's account. A commit changes what the account will do, so only a caller who already has the rights of
   the account may keep it. */
static HRESULT keep_account(const struct caller *caller, const struct set_account *before, const struct set_secret *old,
                            struct set_secret *secret, struct set_account *now)
{
    bool may;
    HRESULT hr = has_its_rights(caller, old, &may);
    char *who = SUCCEEDED(hr) ? caller_account(caller) : NULL;
    if (!who)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !may)
        hr = error_set(PLA_E_CREDENTIALS_REQUIRED,
                       "UserAccount: the set runs as '%s', not as '%s' (give an account with SetCredentials)",
                       before->user, who);
    if (SUCCEEDED(hr) && !old->password)
        hr = error_set(PLA_E_CREDENTIALS_REQUIRED,
                       "UserAccount: the password of '%s' is missing (give it with SetCredentials)", before->user);
    memory_free(who);
    if (FAILED(hr))
        return hr;
    now->user = text_copy(before->user);
    secret->password = text_copy(old->password);
    secret->by = old->by ? text_copy(old->by) : NULL;
    secret->sid = old->sid ? text_copy(old->sid) : NULL;
    return now->user && secret->password && (secret->by || !old->by) && (secret->sid || !old->sid) ? S_OK
                                                                                                   : E_OUTOFMEMORY;
}

static HRESULT decide_account(struct object *o, const struct caller *caller, bool exists,
                              const struct set_account *before, const struct set_secret *old, struct set_secret *secret,
                              struct set_account *now)
{
    struct put put;
    bool system = false;
    HRESULT hr = take_put(o, &put);
    if (SUCCEEDED(hr) && *put.user)
        account_is_service(put.user, &system);
    if (SUCCEEDED(hr) && *put.user && !system) {
        hr = take_account(caller, &put, secret, now);
    } else if (SUCCEEDED(hr) && !put.any && exists && *before->user) {
        hr = keep_account(caller, before, old, secret, now);
    } else if (SUCCEEDED(hr)) {
        hr = administrators_alone(caller, PLA_E_CREDENTIALS_REQUIRED,
                                  "only an administrator can let a set run as LocalSystem");
        now->user = text_copy("");
        if (SUCCEEDED(hr) && !now->user)
            hr = E_OUTOFMEMORY;
    }
    put_free(&put);
    return hr;
}

/* ---- data sources ---- */

/* Returns the name and the data source of a counter collector, from memory_alloc; S_FALSE for other collectors. */
static HRESULT data_source_of(struct object *collector, char **name, char **source)
{
    struct value v;
    *name = *source = NULL;
    if (collector->class != &performance_counter_collector_class)
        return S_FALSE;
    HRESULT hr = object_get_field(collector, class_property(collector->class, "DataSourceName"), &v);
    if (FAILED(hr))
        return hr;
    *source = v.text;
    hr = object_get_field(collector, class_property(collector->class, "Name"), &v);
    if (FAILED(hr)) {
        memory_free_secret(*source);
        return hr;
    }
    *name = v.text;
    return S_OK;
}

static HRESULT put_data_source(struct object *collector, const char *source)
{
    return object_put_text(collector, class_property(collector->class, "DataSourceName"), source);
}

/* Moves the secrets of a data source to the set's secret. A data source without secrets keeps the secrets that are
   stored under the same name for exactly the same connection, because a password must not be sent to another server. */
static HRESULT take_out_secrets(struct object *collector, const struct set_secret *old, struct set_secret *secret,
                                struct set_credentials_change *out)
{
    char *name, *whole;
    struct sql_source s = {0};
    HRESULT hr = data_source_of(collector, &name, &whole);
    if (hr != S_OK)
        return hr;
    const HRESULT parsed = *whole ? sql_source_parse(whole, &s) : S_FALSE;
    if (parsed == E_OUTOFMEMORY) {
        hr = parsed;
    } else if (parsed != S_OK) {
        error_clear(); /* the source does not name a database */
    } else if (*s.secret) {
        hr = set_secret_add_source(secret, name, s.open, s.secret);
        if (SUCCEEDED(hr))
            hr = texts_add(&out->open, s.open);
        if (SUCCEEDED(hr))
            hr = texts_add(&out->whole, whole);
        if (SUCCEEDED(hr))
            hr = put_data_source(collector, s.open);
    } else {
        const char *kept = set_secret_source(old, name, s.open);
        hr = kept ? set_secret_add_source(secret, name, s.open, kept) : S_OK;
    }
    sql_source_free(&s);
    memory_free_secret(whole);
    memory_free(name);
    return hr;
}

/* Returns the set's value for that key, from memory_alloc; "": not set. */
static HRESULT export_setting(struct object *o, const char *key, char **value)
{
    HRESULT hr = set_get_value(o, key, value);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    error_clear();
    *value = text_copy("");
    return *value ? S_OK : E_OUTOFMEMORY;
}

/* Rejects an invalid URL, and a URL with a password, because events and messages show the URL. */
static HRESULT check_export_url(struct object *o, const char *url)
{
    uint32_t kind = 0;
    char *whole = NULL;
    HRESULT hr = setting_read(o, SETTING_ExportKind, &kind);
    if (SUCCEEDED(hr) && *url)
        hr = push_url(kind ? PUSH_INFLUX : PUSH_OTLP, url, &whole);
    memory_free(whole);
    return FAILED(hr) ? error_prefix(hr, SETTING_KEY(ExportUrl)) : S_OK;
}

/* Moves the credentials of an export to the set's secret. The credentials are stored like the secrets of a data source,
   under a name that no collector can have. They are used only for exactly the same URL, because another server must not
   get the credentials. */
static HRESULT take_out_export(struct object *o, const struct set_secret *old, struct set_secret *secret,
                               struct set_credentials_change *out)
{
    char *url = NULL, *credentials = NULL;
    HRESULT hr = export_setting(o, SETTING_KEY(ExportUrl), &url);
    if (SUCCEEDED(hr))
        hr = check_export_url(o, url);
    if (SUCCEEDED(hr))
        hr = export_setting(o, SETTING_KEY(ExportCredentials), &credentials);
    if (SUCCEEDED(hr) && *credentials) {
        struct push_credentials read;
        hr = push_credentials_parse(credentials, strlen(credentials), &read);
        if (FAILED(hr))
            hr = error_prefix(hr, SETTING_KEY(ExportCredentials));
        else
            hr = set_secret_add_source(secret, EXPORT_SOURCE, url, credentials);
        push_credentials_free(&read);
        if (SUCCEEDED(hr))
            hr = set_put_value(o, SETTING_KEY(ExportCredentials), NULL);
        if (SUCCEEDED(hr)) {
            out->export = credentials;
            credentials = NULL;
        }
    } else if (SUCCEEDED(hr)) {
        const char *kept = *url ? set_secret_source(old, EXPORT_SOURCE, url) : NULL;
        hr = kept ? set_secret_add_source(secret, EXPORT_SOURCE, url, kept) : S_OK;
    }
    memory_free_secret(credentials);
    memory_free(url);
    return hr;
}

static HRESULT take_out_all_secrets(struct object *o, const struct set_secret *old, struct set_secret *secret,
                                    struct set_credentials_change *out)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(set_of(o)->DataCollectors, &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = take_out_secrets(list[i], old, secret, out);
    objects_release(list, count);
    return FAILED(hr) ? hr : take_out_export(o, old, secret, out);
}

/* Restores the data sources that this commit replaced, except those that another thread has set in the meantime. */
static void restore_sources(struct object *o, struct set_credentials_change *c)
{
    struct object **list;
    size_t count;
    if (c->export)
        (void)set_put_value(o, SETTING_KEY(ExportCredentials), c->export);
    if (!c->whole.count || FAILED(collection_snapshot(set_of(o)->DataCollectors, &list, &count)))
        return;
    for (size_t i = 0, at = 0; i < count && at < c->whole.count; i++) {
        char *name, *source;
        if (data_source_of(list[i], &name, &source) != S_OK)
            continue;
        if (!strcmp(source, c->open.items[at])) {
            put_data_source(list[i], c->whole.items[at]);
            at++;
        }
        memory_free_secret(source);
        memory_free(name);
    }
    objects_release(list, count);
}

/* ---- the change ---- */

static void change_free(struct set_credentials_change *c)
{
    set_account_free(&c->before);
    set_account_free(&c->now);
    texts_free(&c->open);
    texts_free(&c->whole); /* OpenPLA's heap wipes freed memory */
    memory_free_secret(c->export);
    *c = (struct set_credentials_change){.open = {0}};
}

/* Keeps the existing key if the secret is unchanged. Otherwise stores the secret under a new key. */
static HRESULT write_secret(const struct set_secret *secret, const struct set_secret *old,
                            struct set_credentials_change *c)
{
    char *text = NULL, *before = NULL;
    if (!secret->password && !secret->sources.count)
        return S_OK;
    HRESULT hr = set_secret_text(secret, &text);
    if (SUCCEEDED(hr))
        hr = set_secret_text(old, &before);
    if (SUCCEEDED(hr) && *c->before.key && old->set && !strcmp(text, before))
        memcpy(c->now.key, c->before.key, sizeof c->now.key);
    else if (SUCCEEDED(hr)) {
        hr = shared_new_key(c->now.key);
        if (SUCCEEDED(hr))
            hr = secret_store(c->now.key, text);
        if (FAILED(hr))
            c->now.key[0] = 0;
    }
    memory_free_secret(before);
    memory_free_secret(text);
    return hr;
}

HRESULT set_credentials_commit(struct object *o, const struct caller *caller, const char *space, const char *name,
                               const char *before, size_t before_size, char **xml, size_t *size, char **security,
                               struct set_credentials_change *out)
{
    struct set_secret old = {0}, none = {0}, secret = {0};
    bool keeps = false;
    *xml = NULL;
    *security = NULL;
    *out = (struct set_credentials_change){.open = {0}};
    HRESULT hr = set_account_read(before, before_size, &out->before);
    if (SUCCEEDED(hr) && *out->before.key)
        hr = set_secret_load(out->before.key, space, name, &old);
    if (SUCCEEDED(hr))
        hr = set_secret_begin(&secret, space, name);
    if (SUCCEEDED(hr))
        hr = decide_account(o, caller, before != NULL, &out->before, &old, &secret, &out->now);
    if (SUCCEEDED(hr))
        hr = has_its_rights(caller, &old, &keeps);
    if (SUCCEEDED(hr)) /* without these rights, drop the stored secrets: the next run may use the caller's account */
        hr = take_out_all_secrets(o, keeps ? &old : &none, &secret, out);
    if (SUCCEEDED(hr))
        hr = set_to_stored_xml_with_security(o, xml, size, security);
    if (SUCCEEDED(hr))
        hr = write_secret(&secret, &old, out);
    if (SUCCEEDED(hr))
        hr = set_account_add(&out->now, xml, size);
    set_secret_free(&secret);
    set_secret_free(&old);
    if (SUCCEEDED(hr))
        return S_OK;
    memory_free(*xml);
    memory_free(*security);
    *xml = *security = NULL;
    return set_credentials_rollback(o, space, name, out, hr);
}

void set_credentials_committed(struct object *o, const char *space, const char *name, struct set_credentials_change *c)
{
    if (*c->before.key && strcmp(c->before.key, c->now.key) != 0)
        set_secret_delete(c->before.key, space, name);
    set_forget_credentials(o);
    change_free(c);
}

/* Returns whether the stored definition contains the key. After a failed commit, the definition can contain the new
   key, if the failure came after the rename. Fails if the definition cannot be checked. */
static HRESULT is_stored_with(const char *space, const char *name, const char *key, bool *stored)
{
    struct set_account is = {.user = NULL};
    char *xml = NULL;
    size_t size = 0;
    HRESULT hr = store_load(&caller_self, space, name, &xml, &size);
    *stored = false;
    if (SUCCEEDED(hr))
        hr = set_account_read(xml, size, &is);
    if (SUCCEEDED(hr))
        *stored = !strcmp(is.key, key);
    set_account_free(&is);
    memory_free(xml);
    return hr == PLA_E_DCS_NOT_FOUND || definition_is_damaged(hr) ? S_OK : hr;
}

HRESULT set_credentials_rollback(struct object *o, const char *space, const char *name,
                                 struct set_credentials_change *c, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    bool stored;
    /* The definition refers to one of the two secrets; the other secret is deleted. If it cannot be determined which
       secret is in use, both secrets are kept, and store_check finds the unused secret. */
    if (strcmp(c->before.key, c->now.key) != 0 && SUCCEEDED(is_stored_with(space, name, c->now.key, &stored))) {
        if (stored && *c->before.key)
            set_secret_delete(c->before.key, space, name);
        else if (!stored && *c->now.key)
            secret_delete(c->now.key);
    }
    restore_sources(o, c);
    change_free(c);
    return error_restore(&why);
}

void set_credentials_hide(struct object *o)
{
    struct set_secret none = {0}, taken = {0};
    struct set_credentials_change change = {.open = {0}};
    if (FAILED(take_out_all_secrets(o, &none, &taken, &change)))
        error_clear();
    set_secret_free(&taken);
    change_free(&change);
}

void set_credentials_delete(const char *space, const char *name, const char *xml, size_t size)
{
    struct set_account a;
    if (SUCCEEDED(set_account_read(xml, size, &a)) && *a.key)
        set_secret_delete(a.key, space, name);
    set_account_free(&a);
}

static HRESULT put_export(struct object *o, const struct set_secret *secret)
{
    char *url;
    HRESULT hr = export_setting(o, SETTING_KEY(ExportUrl), &url);
    if (FAILED(hr))
        return hr;
    const char *kept = *url ? set_secret_source(secret, EXPORT_SOURCE, url) : NULL;
    hr = kept ? set_put_value(o, SETTING_KEY(ExportCredentials), kept) : S_OK;
    memory_free(url);
    return hr;
}

/* Adds to each data source the secrets that belong to it, and adds the credentials of the export to the setting of the
   export. */
static HRESULT put_secrets(struct object *o, const struct set_secret *secret)
{
    struct object **list = NULL;
    size_t count = 0;
    HRESULT hr = secret->sources.count ? collection_snapshot(set_of(o)->DataCollectors, &list, &count) : S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        char *own, *source, *whole = NULL;
        hr = data_source_of(list[i], &own, &source);
        if (hr != S_OK)
            continue;
        const char *kept = set_secret_source(secret, own, source);
        hr = kept ? sql_source_join(source, kept, &whole) : S_OK;
        if (SUCCEEDED(hr) && kept)
            hr = put_data_source(list[i], whole);
        memory_free_secret(whole);
        memory_free_secret(source);
        memory_free(own);
    }
    objects_release(list, count);
    return FAILED(hr) ? hr : put_export(o, secret);
}

HRESULT set_credentials_restore(struct object *o, const char *space, const char *name, const char *xml, size_t size)
{
    struct set_account a;
    struct set_secret secret = {0};
    HRESULT hr = set_account_read(xml, size, &a);
    if (SUCCEEDED(hr) && *a.key)
        hr = set_secret_load(a.key, space, name, &secret);
    if (SUCCEEDED(hr))
        hr = put_secrets(o, &secret);
    set_secret_free(&secret);
    set_account_free(&a);
    return hr;
}

/* ---- between processes ---- */

static HRESULT secret_collect(struct object *o, struct set_secret *out)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(set_of(o)->DataCollectors, &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        char *name, *whole;
        struct sql_source s = {0};
        hr = data_source_of(list[i], &name, &whole);
        if (hr != S_OK)
            continue;
        const HRESULT parsed = *whole ? sql_source_parse(whole, &s) : S_FALSE;
        if (parsed == E_OUTOFMEMORY)
            hr = parsed;
        else if (parsed != S_OK)
            error_clear();
        else if (*s.secret)
            hr = set_secret_add_source(out, name, s.open, s.secret);
        sql_source_free(&s);
        memory_free_secret(whole);
        memory_free(name);
    }
    objects_release(list, count);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT set_credentials_pack(struct object *o, const char *password, bool *sources, char **out)
{
    struct set_secret secret = {0};
    char *text = NULL;
    *out = NULL;
    HRESULT hr = secret_collect(o, &secret);
    *sources = secret.sources.count != 0;
    if (SUCCEEDED(hr) && password && !(secret.password = text_copy(password)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (password || *sources))
        hr = set_secret_text(&secret, &text);
    if (SUCCEEDED(hr) && text)
        hr = secret_mask(text, out);
    memory_free_secret(text);
    set_secret_free(&secret);
    return hr;
}

HRESULT set_credentials_unpack(struct object *o, const char *masked, char **password)
{
    struct set_secret secret = {0};
    char *text = NULL;
    size_t size = 0;
    *password = NULL;
    HRESULT hr = secret_unmask(masked, &text);
    if (SUCCEEDED(hr)) {
        size = strlen(text);
        hr = set_secret_parse(text, &secret);
    }
    if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA))
        hr = E_INVALIDARG;
    if (SUCCEEDED(hr))
        hr = put_secrets(o, &secret);
    if (SUCCEEDED(hr)) {
        *password = secret.password;
        secret.password = NULL;
    }
    if (text)
        memory_wipe(text, size);
    memory_free(text);
    set_secret_free(&secret);
    return hr;
}

/* ---- the text form of a set's secret ---- */

enum { SOURCE_COLLECTOR, SOURCE_OPEN, SOURCE_SECRET, SOURCE_TEXTS };

static char *identity(const char *space, const char *name)
{
    char *file = store_file_name(name), *text = file ? text_format("%s\\%s", space, file) : NULL;
    memory_free(file);
    return text;
}

HRESULT set_secret_begin(struct set_secret *out, const char *space, const char *name)
{
    out->set = identity(space, name);
    return out->set ? S_OK : E_OUTOFMEMORY;
}

void set_secret_free(struct set_secret *s)
{
    memory_free(s->set);
    memory_free(s->by);
    memory_free(s->sid);
    memory_free_secret(s->password);
    texts_free(&s->sources); /* OpenPLA's heap wipes freed memory */
    *s = (struct set_secret){.set = NULL};
}

HRESULT set_secret_add_source(struct set_secret *s, const char *collector, const char *open, const char *secret)
{
    HRESULT hr = texts_add(&s->sources, collector);
    if (SUCCEEDED(hr))
        hr = texts_add(&s->sources, open);
    return SUCCEEDED(hr) ? texts_add(&s->sources, secret) : hr;
}

const char *set_secret_source(const struct set_secret *s, const char *collector, const char *open)
{
    for (size_t i = 0; i + SOURCE_TEXTS <= s->sources.count; i += SOURCE_TEXTS) {
        char *const *source = s->sources.items + i;
        if (text_equal_nocase(source[SOURCE_COLLECTOR], collector) && !strcmp(source[SOURCE_OPEN], open))
            return source[SOURCE_SECRET];
    }
    return NULL;
}

static void secret_add_line(struct text_buffer *b, const char *word, const char *value)
{
    if (!value)
        return;
    text_buffer_add(b, word);
    text_buffer_add_escaped(b, value);
    text_buffer_add(b, "\n");
}

HRESULT set_secret_text(const struct set_secret *s, char **text)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "");
    secret_add_line(&b, "set ", s->set);
    secret_add_line(&b, "by ", s->by);
    secret_add_line(&b, "sid ", s->sid);
    secret_add_line(&b, "password ", s->password);
    for (size_t i = 0; i < s->sources.count; i++)
        secret_add_line(&b, "source ", s->sources.items[i]);
    *text = text_buffer_take(&b);
    text_buffer_free(&b);
    return *text ? S_OK : E_OUTOFMEMORY;
}

/* Reads the value of a line that begins with the word. S_FALSE: the line begins with another word. */
static HRESULT secret_take_line(const char *line, const char *word, char **value)
{
    size_t n = strlen(word);
    if (strncmp(line, word, n) != 0)
        return S_FALSE;
    char *text = text_copy(line + n);
    if (!text)
        return E_OUTOFMEMORY;
    if (*value || !text_unescape(text)) {
        memory_free_secret(text);
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    }
    *value = text;
    return S_OK;
}

static HRESULT take_line(const char *line, struct set_secret *out)
{
    char *source = NULL;
    HRESULT hr = secret_take_line(line, "set ", &out->set);
    if (hr == S_FALSE)
        hr = secret_take_line(line, "by ", &out->by);
    if (hr == S_FALSE)
        hr = secret_take_line(line, "sid ", &out->sid);
    if (hr == S_FALSE)
        hr = secret_take_line(line, "password ", &out->password);
    if (hr == S_FALSE && (hr = secret_take_line(line, "source ", &source)) == S_OK)
        hr = texts_add_owned(&out->sources, source);
    return hr;
}

HRESULT set_secret_parse(char *text, struct set_secret *out)
{
    HRESULT hr = S_OK;
    for (char *line = text, *next; SUCCEEDED(hr) && *line; line = next) {
        next = strchr(line, '\n');
        if (!next)
            return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
        *next++ = 0;
        hr = take_line(line, out);
    }
    if (SUCCEEDED(hr) && out->sources.count % SOURCE_TEXTS)
        hr = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    return FAILED(hr) ? hr : S_OK;
}

/* Parses the text, wipes it and frees it. */
static HRESULT parse_and_wipe(char *text, struct set_secret *out)
{
    const size_t size = strlen(text);
    HRESULT hr = set_secret_parse(text, out);
    memory_wipe(text, size); /* strlen would find only the first line now */
    memory_free(text);
    return hr;
}

HRESULT set_secret_load(const char *key, const char *space, const char *name, struct set_secret *out)
{
    char *text = NULL, *own = identity(space, name);
    *out = (struct set_secret){.set = NULL};
    HRESULT hr = own ? run_secret_given(key, &text) : E_OUTOFMEMORY;
    if (hr == S_FALSE)
        hr = secret_load(key, &text);
    if (hr == S_OK)
        hr = parse_and_wipe(text, out);
    if (hr == S_OK && (!out->set || strcmp(out->set, own) != 0))
        hr = S_FALSE;
    /* A corrupt secret counts as missing; the client must set the passwords again. */
    if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA))
        hr = S_FALSE;
    if (hr != S_OK)
        set_secret_free(out);
    if (hr == S_FALSE)
        error_clear();
    memory_free(own);
    return hr;
}

HRESULT set_secret_delete(const char *key, const char *space, const char *name)
{
    struct set_secret found = {.set = NULL};
    char *text = NULL, *own = identity(space, name);
    HRESULT hr = own ? secret_load(key, &text) : E_OUTOFMEMORY;
    if (hr == S_OK)
        hr = parse_and_wipe(text, &found);
    const bool anothers = hr == S_OK && found.set && strcmp(found.set, own) != 0;
    set_secret_free(&found);
    memory_free(own);
    if (hr == E_OUTOFMEMORY)
        return hr;
    error_clear(); /* an unreadable secret is deleted, too */
    return anothers ? S_FALSE : secret_delete(key);
}
