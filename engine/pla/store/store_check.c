/* SPDX-License-Identifier: MIT */
/* Checks whether each file of the store matches its name and its place, and makes the repairs that lose no data. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"

#include <string.h>

static const char *const words[] = {
#define X(name, word, text) word,
    STORE_FAULTS(X)
#undef X
};
static const char *const meanings[] = {
#define X(name, word, text) text,
    STORE_FAULTS(X)
#undef X
};

const char *store_fault_word(enum store_fault fault)
{
    return words[fault];
}

const char *store_fault_text(enum store_fault fault)
{
    return meanings[fault];
}

struct checking {
    bool repair;
    HRESULT (*each)(void *user, const struct store_finding *finding);
    void *user;
    struct set_file *at; /* files of the namespace; NULL: no namespace yet */
    bool changed;        /* a file of the namespace was repaired */
    struct texts keys;   /* keys of the secrets that definitions refer to */
    bool unseen;         /* some definitions may not have been read */
};

enum repair_kind { LEAVE, ASIDE, REMOVE, CLOSE_DATA, CLOSE_PLACE, CLOSE_SECRETS };

/* ---- repairs ---- */

static char *quarantine_path(const struct checking *c, const char *path, unsigned number)
{
    char *data = os_data_folder(), *area = data ? path_join(data, "aside") : NULL;
    char *folder = path_folder(path);
    char *name =
        folder ? text_format("%s-%s-%s", c->at ? c->at->space : "store", path_name(folder), path_name(path)) : NULL;
    char *numbered = name && number ? text_format("%s.%u", name, number) : text_copy(name ? name : "");
    char *to = area && name && numbered ? path_join(area, numbered) : NULL;
    memory_free(numbered);
    memory_free(name);
    memory_free(folder);
    memory_free(area);
    memory_free(data);
    return to;
}

/* Moves the file to the folder `aside`; *to: its new path. */
static HRESULT quarantine_file(const struct checking *c, const char *path, char **to)
{
    HRESULT hr = S_OK;
    for (unsigned number = 0; hr == S_OK; number++) {
        memory_free(*to);
        *to = quarantine_path(c, path, number);
        hr = *to ? file_find(*to) : E_OUTOFMEMORY;
    }
    if (hr == S_FALSE) {
        char *folder = path_folder(*to);
        hr = folder ? folder_create_protected(folder, PROTECTION_DATA) : E_OUTOFMEMORY;
        memory_free(folder);
        if (SUCCEEDED(hr))
            hr = file_rename_new(path, *to);
    }
    return hr;
}

static HRESULT report_finding(struct checking *c, enum store_fault fault, const char *path, const char *detail,
                              enum repair_kind kind)
{
    struct store_finding f = {.fault = fault, .path = path, .detail = detail, .repaired = S_FALSE, .to = ""};
    char *to = NULL;
    if (c->repair && kind == ASIDE)
        f.repaired = quarantine_file(c, path, &to);
    else if (c->repair && kind == REMOVE)
        f.repaired = file_delete(path);
    else if (c->repair && kind != LEAVE)
        f.repaired = file_protect(path, kind == CLOSE_PLACE     ? PROTECTION_PLACE
                                        : kind == CLOSE_SECRETS ? PROTECTION_SECRETS
                                                                : PROTECTION_DATA);
    if (f.repaired == S_OK) {
        c->changed = true;
        f.to = to ? to : "";
    }
    HRESULT hr = f.repaired == E_OUTOFMEMORY ? f.repaired : c->each(c->user, &f);
    memory_free(to);
    return hr;
}

/* ---- ownership ---- */

/* Checks the owner and the rights of a file or folder. S_FALSE: the file or folder must not be read, because it does
   not exist or was reported. */
static HRESULT check_ownership(struct checking *c, const char *path, bool folder, enum repair_kind closing)
{
    struct ownership o;
    char detail[256];
    HRESULT hr = file_ownership(path, &o);
    if (hr == E_OUTOFMEMORY || hr == S_FALSE)
        return hr;
    if (FAILED(hr)) {
        c->unseen = true;
        text_fit(detail, sizeof detail, error_text(hr));
        hr = report_finding(c, STORE_DAMAGED, path, detail, LEAVE);
        return FAILED(hr) ? hr : S_FALSE;
    }
    c->unseen = c->unseen || o.is_link || (o.is_foreign && folder);
    if (o.is_link || o.is_folder != folder) {
        /* Wine would rename or delete the target of the link, so users must repair links themselves. */
        hr = o.is_link
                 ? report_finding(c, STORE_LINK, path, "", LEAVE)
                 : report_finding(c, STORE_STRANGE, path, folder ? "a file instead of a folder" : "a folder", LEAVE);
        return FAILED(hr) ? hr : S_FALSE;
    }
    if (o.is_foreign) {
        hr = report_finding(c, STORE_FOREIGN, path, o.owner, LEAVE);
        return FAILED(hr) || folder ? FAILED(hr) ? hr : S_FALSE : S_OK;
    }
    return folder && o.is_open ? report_finding(c, STORE_OPEN, path, "", closing) : S_OK;
}

/* ---- one file ---- */

/* A file with contents that OpenPLA does not write is quarantined. A file that could not be read may be intact, and
   readable the next time. */
static enum repair_kind repair_kind_of(HRESULT hr)
{
    return hr == OPENPLA_E_MALFORMED_XML || hr == HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) ||
                   hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA)
               ? ASIDE
               : LEAVE;
}

static HRESULT load_with_keys(struct checking *c, const char *path, char **text, size_t *size)
{
    *text = NULL;
    HRESULT hr = file_load(path, DEFINITION_MAX, text, size);
    c->unseen = c->unseen || FAILED(hr);
    return SUCCEEDED(hr) ? set_account_find_keys(*text, *size, &c->keys) : hr;
}

/* Collects the keys in a file that is not a definition now, but may become one again. */
static HRESULT see_keys(struct checking *c, const char *path)
{
    char *text;
    size_t size;
    HRESULT hr = load_with_keys(c, path, &text, &size);
    memory_free(text);
    if (hr == E_OUTOFMEMORY || SUCCEEDED(hr))
        return hr;
    error_clear();
    return S_OK;
}

/* Returns the error that makes the definition unusable; S_OK: the definition is usable. *name is the name in the
   definition, or else the name that belongs to the file. */
static HRESULT check_definition_file(struct checking *c, const char *path, const char *base, char **name)
{
    char *xml = NULL, *expected = NULL;
    const char *inside = NULL;
    struct object *set = NULL;
    size_t size = 0;
    HRESULT hr = load_with_keys(c, path, &xml, &size);
    if (SUCCEEDED(hr) && (inside = stored_name_cut(xml, &size))) {
        expected = store_file_name(inside);
        if (!expected)
            hr = E_OUTOFMEMORY;
        else if (!text_equal_nocase(expected, base))
            inside = NULL; /* the file is a renamed copy */
    }
    if (hr != E_OUTOFMEMORY && !(*name = inside ? text_copy(inside) : store_name_of_file(base)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = set_create_from_xml(xml, size, &set);
    object_release(set);
    memory_free(expected);
    memory_free(xml);
    return hr;
}

/* Moves the definition to the place that belongs to its set name. Also moves the run record of the definition, unless a
   run record already exists in that place. */
static HRESULT move_misplaced(struct checking *c, const char *path, const struct set_file *to)
{
    struct store_finding f = {
        .fault = STORE_MISPLACED, .path = path, .detail = to->name, .repaired = S_FALSE, .to = to->definition};
    char *run = text_format("%.*s.run", (int)(strlen(path) - strlen(path_extension(path))), path);
    HRESULT hr = run ? file_find(to->definition) : E_OUTOFMEMORY;
    if (hr == S_OK) {
        memory_free(run);
        return report_finding(c, STORE_TWICE, path, to->definition, ASIDE);
    }
    if (hr == S_FALSE && c->repair) {
        hr = folder_create_protected(to->place, PROTECTION_PLACE);
        if (SUCCEEDED(hr) && file_exists(run) && file_find(to->run) == S_FALSE)
            hr = file_rename(run, to->run);
        if (SUCCEEDED(hr))
            hr = f.repaired = file_rename_new(path, to->definition);
        c->changed = true;
    }
    memory_free(run);
    return hr == E_OUTOFMEMORY ? hr : c->each(c->user, &f);
}

static HRESULT check_definition(struct checking *c, const char *path)
{
    const char *file = path_name(path);
    char *base = text_copy_n(file, strlen(file) - strlen(".xml")), *name = NULL, detail[512];
    struct set_file to = {0};
    HRESULT hr = base ? check_definition_file(c, path, base, &name) : E_OUTOFMEMORY;
    if (FAILED(hr) && hr != E_OUTOFMEMORY) {
        text_fit(detail, sizeof detail, error_text(hr));
        hr = report_finding(c, STORE_UNUSABLE, path, detail, repair_kind_of(hr));
    } else if (SUCCEEDED(hr)) {
        hr = set_file_locate(c->at->space, name, &to);
        if (SUCCEEDED(hr) && strcmp(to.definition, path) != 0)
            hr = move_misplaced(c, path, &to);
        set_file_close(&to);
    }
    memory_free(name);
    memory_free(base);
    return hr;
}

static bool is_held(const char *run_lock)
{
    struct file_lock *lock = NULL;
    if (!file_exists(run_lock))
        return false;
    HRESULT hr = file_lock_take(run_lock, 0, &lock);
    file_lock_release(lock);
    return FAILED(hr);
}

/* Returns S_OK if the set to which the file belongs exists. System sets have no definition in the store. */
static HRESULT find_set(const struct checking *c, const char *path, const char *definition, const char *name)
{
    struct set_file at;
    HRESULT hr = file_find(definition);
    if (hr != S_FALSE || !system_set_is_one(c->at->space, name))
        return hr;
    hr = set_file_locate(c->at->space, name, &at);
    if (FAILED(hr))
        return hr;
    char *folder = path_folder(path);
    hr = !folder ? E_OUTOFMEMORY : strcmp(folder, at.place) == 0 ? S_OK : S_FALSE;
    memory_free(folder);
    set_file_close(&at);
    return hr;
}

/* Checks a file beside a definition. */
static HRESULT check_beside(struct checking *c, const char *path, const char *extension)
{
    const int base = (int)(strlen(path) - strlen(extension));
    char *definition = text_format("%.*s.xml", base, path), *run_lock = text_format("%.*s.running", base, path);
    char *file = text_copy_n(path_name(path), strlen(path_name(path)) - strlen(extension));
    char *name = file ? store_name_of_file(file) : NULL;
    HRESULT hr = definition && run_lock && name ? find_set(c, path, definition, name) : E_OUTOFMEMORY;
    const bool orphan = hr == S_FALSE, record = !strcmp(extension, ".run"), held = !strcmp(extension, ".held"),
               folders = !strcmp(extension, ".folders");
    /* A record keeps the next serial number for a definition that is restored or created again. */
    const enum repair_kind kind = record ? LEAVE : held || folders ? ASIDE : REMOVE;
    if (orphan && !is_held(run_lock)) /* if the lock is held, a run has not noticed that its set was deleted */
        hr = report_finding(c, STORE_ORPHAN, path, name, kind);
    else if (SUCCEEDED(hr)) {
        hr = record ? run_record_check(path) : held ? held_file_check(path) : folders ? folders_file_check(path) : S_OK;
        if (FAILED(hr) && hr != E_OUTOFMEMORY)
            hr = report_finding(c, STORE_DAMAGED, path, name, repair_kind_of(hr));
    }
    memory_free(name);
    memory_free(file);
    memory_free(run_lock);
    memory_free(definition);
    return FAILED(hr) ? hr : S_OK;
}

static bool is_one_of(const char *text, const char *const *list)
{
    while (*list && strcmp(text, *list) != 0)
        list++;
    return *list != NULL;
}

static HRESULT check_file(struct checking *c, const char *folder, const char *file, const char *const *own)
{
    static const char *const beside[] = {".run", ".running", ".host", ".held", ".folders", ".pass", NULL};
    if (own && is_one_of(file, own))
        return S_OK;
    char *path = path_join(folder, file);
    const char *extension = path ? path_extension(path) : "";
    HRESULT hr = path ? check_ownership(c, path, false, LEAVE) : E_OUTOFMEMORY;
    if (hr == S_OK) {
        if (set_file_is_torn(file))
            hr = report_finding(c, STORE_TORN, path, "", REMOVE);
        else if (text_equal_nocase(extension, ".xml"))
            hr = check_definition(c, path);
        else if (!own && is_one_of(extension, beside))
            hr = check_beside(c, path, extension);
        else if (SUCCEEDED(hr = see_keys(c, path)))
            hr = report_finding(c, STORE_STRANGE, path, "", LEAVE);
    }
    memory_free(path);
    return FAILED(hr) ? hr : S_OK;
}

/* Checks the files of a folder. Definitions are checked first, because the files beside a quarantined definition are
   orphans. */
static HRESULT check_files(struct checking *c, const char *folder, const char *const *own)
{
    struct texts files = {0};
    HRESULT hr = folder_list(folder, false, &files);
    for (int definitions = 1; definitions >= 0; definitions--) {
        for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++)
            if (text_equal_nocase(path_extension(files.items[i]), ".xml") == definitions)
                hr = check_file(c, folder, files.items[i], own);
    }
    texts_free(&files);
    return hr;
}

/* ---- folders ---- */

static bool is_place(const char *name)
{
    return strlen(name) == 2 && strspn(name, "0123456789abcdef") == 2;
}

static HRESULT check_place(struct checking *c, const char *name)
{
    char *path = path_join(c->at->folder, name);
    HRESULT hr = !path            ? E_OUTOFMEMORY
                 : is_place(name) ? check_ownership(c, path, true, CLOSE_PLACE)
                                  : report_finding(c, STORE_STRANGE, path, "", LEAVE);
    if (hr == S_OK && is_place(name))
        hr = check_files(c, path, NULL);
    c->unseen = c->unseen || !is_place(name);
    memory_free(path);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT check_namespace(struct checking *c, const char *space)
{
    static const char *const own[] = {"store.lock", "store.changes", "keys.lock", NULL};
    struct set_file at;
    struct texts places = {0};
    char *folder = store_folder(space);
    HRESULT hr = folder ? check_ownership(c, folder, true, CLOSE_DATA) : E_OUTOFMEMORY;
    memory_free(folder);
    if (hr == S_OK)
        hr = set_file_open(space, NULL, SET_FILE_CHANGE, &at);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    c->at = &at;
    c->changed = false;
    hr = check_files(c, at.folder, own);
    if (SUCCEEDED(hr))
        hr = folder_list(at.folder, true, &places);
    for (size_t i = 0; SUCCEEDED(hr) && i < places.count; i++)
        hr = check_place(c, places.items[i]);
    if (c->changed)
        set_file_forget_changes(&at);
    c->at = NULL;
    texts_free(&places);
    set_file_close(&at);
    return hr;
}

/* ---- passwords ---- */

/* A commit writes the secret before the definition, and takes much less time than this. */
#define SECRET_AGE (600 * INT64_C(10000000)) /* ten minutes, in units of clock_utc */

struct seen_secrets {
    struct texts old, unknown; /* names of secrets older than SECRET_AGE; names of files that are not secrets */
};

static HRESULT see_secret(void *user, const struct file_entry *file)
{
    struct seen_secrets *s = user;
    if (!secret_key_is_one(file->name))
        return texts_add(&s->unknown, file->name);
    if (strncmp(file->name, SECRET_KEY_DCOM, strlen(SECRET_KEY_DCOM)) == 0)
        return S_OK; /* not a secret of a set */
    return clock_utc() - file->written >= SECRET_AGE ? texts_add(&s->old, file->name) : S_OK;
}

/* Collects the keys in quarantined definitions, which need their passwords if they are restored. */
static HRESULT find_quarantined_keys(struct checking *c, const char *folder)
{
    struct texts files = {0};
    HRESULT hr = check_ownership(c, folder, true, CLOSE_DATA);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    hr = folder_list(folder, false, &files);
    for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++) {
        char *path = path_join(folder, files.items[i]);
        hr = path ? see_keys(c, path) : E_OUTOFMEMORY;
        memory_free(path);
    }
    texts_free(&files);
    return hr;
}

static HRESULT check_secret(struct checking *c, const char *folder, const char *name, bool unknown)
{
    char *path = path_join(folder, name);
    HRESULT hr = path ? check_ownership(c, path, false, LEAVE) : E_OUTOFMEMORY;
    bool wanted = false;
    for (size_t i = 0; i < c->keys.count && !wanted; i++)
        wanted = !strcmp(c->keys.items[i], name);
    if (hr == S_OK && unknown)
        hr = report_finding(c, STORE_STRANGE, path, "", LEAVE);
    else if (hr == S_OK && !wanted)
        hr = report_finding(
            c, STORE_ORPHAN, path,
            c->unseen
                ? "passwords; some files could not be read, so it is unknown whether the set of these passwords exists"
                : "passwords",
            c->unseen ? LEAVE : REMOVE);
    memory_free(path);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT check_secrets(struct checking *c, const char *folder, const struct seen_secrets *seen)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < seen->unknown.count; i++)
        hr = check_secret(c, folder, seen->unknown.items[i], true);
    for (size_t i = 0; SUCCEEDED(hr) && i < seen->old.count; i++)
        hr = check_secret(c, folder, seen->old.items[i], false);
    return hr;
}

HRESULT store_check(bool repair, HRESULT (*each)(void *user, const struct store_finding *finding), void *user)
{
    struct checking c = {.repair = repair, .each = each, .user = user};
    struct seen_secrets seen = {{0}, {0}};
    char *data = os_data_folder(), *sets = data ? path_join(data, "sets") : NULL;
    char *quarantined = data ? path_join(data, "aside") : NULL, *secrets = data ? path_join(data, "secrets") : NULL;
    HRESULT hr = sets && quarantined && secrets ? check_ownership(&c, data, true, CLOSE_DATA) : E_OUTOFMEMORY;
    const bool there = hr == S_OK;
    /* The secrets are listed before the definitions. Otherwise the secret of a commit that ends in the meantime would
       seem to be an orphan. */
    HRESULT listed = there ? check_ownership(&c, secrets, true, CLOSE_SECRETS) : S_FALSE;
    if (listed == S_OK)
        listed = folder_each_file(secrets, see_secret, &seen);
    hr = FAILED(listed) ? listed : hr;
    if (there && SUCCEEDED(hr))
        hr = check_ownership(&c, sets, true, CLOSE_DATA);
    c.unseen = c.unseen || hr == S_FALSE; /* without definitions, every secret would seem to be an orphan */
    for (const char *const *space = store_namespaces(); hr == S_OK && *space; space++)
        hr = check_namespace(&c, *space);
    if (there && SUCCEEDED(hr) && listed == S_OK)
        hr = find_quarantined_keys(&c, quarantined);
    if (there && SUCCEEDED(hr) && listed == S_OK)
        hr = check_secrets(&c, secrets, &seen);
    texts_free(&seen.old);
    texts_free(&seen.unknown);
    texts_free(&c.keys);
    memory_free(secrets);
    memory_free(quarantined);
    memory_free(sets);
    memory_free(data);
    return FAILED(hr) ? hr : S_OK;
}
