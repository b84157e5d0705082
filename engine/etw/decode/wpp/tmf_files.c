/* SPDX-License-Identifier: MIT */
/* Finds the TMF file that describes a WPP message, and the message's properties.

   WPP (TraceMessage) writes only numbers: the GUID of a source file, the number of a message in it, and the bytes of
   the arguments. The meaning of these numbers is in .tmf files, one per GUID. These files are created when the program
   is built and are shipped with it, or tracepdb creates them from the program's symbols. The path from an event to its
   text:

       event (GUID, number) --tmf_files_find--> struct tmf_message (tmf_text.c parses the file)
                            --tmf_schema------> struct event_schema: arguments as properties, a message with %1 ...
                            --tmf_sentence----> the text, formatted by the printf forms of the format

   Named files are parsed when struct tmf_files is created. If one of these files has an error, the creation fails. If
   these files do not contain a GUID, each folder of the search path is searched for GUID.tmf, once per GUID. The result
   is stored in `lookups`, even if no file was found, so that a trace with a million messages of an unknown GUID causes
   only one search. A document is never replaced or freed before the whole object, so callers may keep pointers to its
   messages without holding the lock, which only protects `lookups`. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/tmf.h"

#include <string.h>

enum { FILE_MOST = 64 << 20 /* in bytes */, LOOKUPS_MOST = 65536 };

/* The result of searching the folders for the file of a GUID. */
struct tmf_lookup {
    GUID guid;
    struct tmf_document *document; /* NULL: no usable file */
    char *reason;                  /* why the file of the GUID is not usable; NULL: no folder has such a file */
};

struct tmf_files {
    struct lock lock; /* protects `lookups` */
    struct tmf_document **documents;
    size_t count;
    struct texts folders;
    struct tmf_lookup *lookups;
    size_t lookup_count, lookup_capacity;
    char *prefix; /* may be NULL */
    bool gmt;
};

void tmf_files_free(struct tmf_files *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++)
        tmf_document_free(t->documents[i]);
    for (size_t i = 0; i < t->lookup_count; i++) {
        tmf_document_free(t->lookups[i].document);
        memory_free(t->lookups[i].reason);
    }
    memory_free(t->documents);
    memory_free(t->lookups);
    memory_free(t->prefix);
    texts_free(&t->folders);
    memory_free(t);
}

HRESULT tmf_take_paths(struct texts *list, const char *paths)
{
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && paths && *paths) {
        const size_t bytes = strcspn(paths, ";");
        if (bytes != 0)
            hr = texts_add_owned(list, text_copy_n(paths, bytes));
        paths += bytes + (paths[bytes] == ';');
    }
    return hr;
}

static HRESULT read_file(const char *path, struct tmf_document **out)
{
    char *bytes;
    size_t size;
    HRESULT hr = file_load(path, FILE_MOST, &bytes, &size);
    if (FAILED(hr))
        return hr;
    hr = tmf_text_read(path, bytes, size, out);
    memory_free(bytes);
    return hr;
}

/* Returns the path of a file. If the named file does not exist, searches for its name, without the path, in the folders
   of the search path. */
static HRESULT find_file(const struct tmf_files *t, const char *named, char **out)
{
    *out = file_exists(named) ? text_copy(named) : NULL;
    for (size_t i = 0; !*out && !file_exists(named) && i < t->folders.count; i++) {
        char *path = path_join(t->folders.items[i], path_name(named));
        if (!path)
            return E_OUTOFMEMORY;
        if (file_exists(path))
            *out = path;
        else
            memory_free(path);
    }
    if (!*out)
        *out = text_copy(named); /* reading this file will then fail with the error that it does not exist */
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT take_environment(struct tmf_files *t)
{
    char *paths = NULL;
    HRESULT hr = environment_get("TRACE_FORMAT_PREFIX", &t->prefix);
    if (SUCCEEDED(hr) && t->folders.count == 0)
        hr = environment_get("TRACE_FORMAT_SEARCH_PATH", &paths);
    if (SUCCEEDED(hr) && paths)
        hr = tmf_take_paths(&t->folders, paths);
    memory_free(paths);
    return hr;
}

HRESULT tmf_files_create(const struct texts *files, const struct texts *folders, bool gmt, struct tmf_files **out)
{
    const size_t count = files ? files->count : 0;
    struct tmf_files *t = memory_zero(1, sizeof *t);
    HRESULT hr = t ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        *t = (struct tmf_files){.documents = memory_zero(count + 1, sizeof *t->documents), .gmt = gmt};
        hr = t->documents ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && folders)
        hr = texts_copy(&t->folders, folders);
    if (SUCCEEDED(hr))
        hr = take_environment(t);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        char *path;
        hr = find_file(t, files->items[i], &path);
        if (SUCCEEDED(hr))
            hr = read_file(path, &t->documents[i]);
        t->count += SUCCEEDED(hr);
        memory_free(path);
    }
    if (FAILED(hr)) {
        tmf_files_free(t);
        return hr;
    }
    *out = t;
    return S_OK;
}

/* Searches the folders for GUID.tmf without braces, in upper case and then in lower case, as tracepdb names its
   output. */
static HRESULT search_folders(struct tmf_files *t, struct tmf_lookup *l)
{
    char guid[39];
    HRESULT hr = S_OK;
    text_from_guid(&l->guid, guid);
    for (int lower = 0; lower < 2; lower++) {
        for (size_t i = 0; lower && i < sizeof guid; i++)
            if (guid[i] >= 'A' && guid[i] <= 'Z')
                guid[i] = (char)(guid[i] | 0x20);
        for (size_t i = 0; SUCCEEDED(hr) && !l->document && !l->reason && i < t->folders.count; i++) {
            char *name = text_format("%.36s.tmf", guid + 1);
            char *path = name ? path_join(t->folders.items[i], name) : NULL;
            hr = path ? S_OK : E_OUTOFMEMORY;
            if (SUCCEEDED(hr) && file_exists(path)) {
                HRESULT one = read_file(path, &l->document);
                if (FAILED(one))
                    l->reason = one == E_OUTOFMEMORY ? NULL : text_copy(error_text(one));
                if (FAILED(one) && !l->reason)
                    hr = E_OUTOFMEMORY;
            }
            memory_free(path);
            memory_free(name);
        }
    }
    return hr;
}

/* Returns the result for a GUID. If the GUID was not looked up before, searches for its file. The caller holds the
   lock. (*out)->document may be NULL. */
static HRESULT tmf_files_look_up(struct tmf_files *t, const GUID *guid, const struct tmf_lookup **out)
{
    for (size_t i = 0; i < t->lookup_count; i++)
        if (guid_equal(&t->lookups[i].guid, guid)) {
            *out = &t->lookups[i];
            return S_OK;
        }
    *out = NULL;
    if (!t->folders.count || t->lookup_count == LOOKUPS_MOST)
        return S_OK;
    if (!memory_grow((void **)&t->lookups, &t->lookup_capacity, t->lookup_count + 1, sizeof *t->lookups))
        return E_OUTOFMEMORY;
    struct tmf_lookup l = {.guid = *guid};
    HRESULT hr = search_folders(t, &l);
    if (FAILED(hr))
        return hr;
    t->lookups[t->lookup_count] = l;
    *out = &t->lookups[t->lookup_count++];
    return S_OK;
}

/* Finds the description of a message. Returns S_FALSE, and sets the reason with error_set, if no file describes the
   message. The description lives as long as `t`. */
static HRESULT tmf_files_find(struct tmf_files *t, const EVENT_RECORD *event, const struct tmf_message **out)
{
    static const GUID none;
    const GUID guid = event->EventHeader.ProviderId;
    const uint16_t number = event->EventHeader.EventDescriptor.Id;
    const struct tmf_lookup *lookup = NULL;
    char text[39];
    *out = NULL;
    if (guid_equal(&guid, &none))
        return error_set(S_FALSE, "TMF: message %u has no GUID", number);
    for (size_t i = 0; !*out && i < t->count; i++)
        *out = tmf_document_find(t->documents[i], &guid, number);
    if (*out)
        return S_OK;
    lock_enter(&t->lock);
    HRESULT hr = tmf_files_look_up(t, &guid, &lookup);
    const bool there = lookup && lookup->document;
    if (there)
        *out = tmf_document_find(lookup->document, &guid, number);
    const char *reason = lookup ? lookup->reason : NULL;
    lock_leave(&t->lock);
    if (FAILED(hr) || *out)
        return hr;
    text_from_guid(&guid, text);
    if (reason)
        return error_set(S_FALSE, "TMF: %s", reason);
    return error_set(S_FALSE, "TMF: no file describes message %u of %s", number, text);
}

/* ---- properties ---- */

static HRESULT no_property(const char *name, const char *why)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "no property '%.60s': %s", name, why);
}

/* Returns a property from the event's header. S_FALSE: the property is not in the header. */
static HRESULT header_property(const EVENT_RECORD *event, const char *name, struct tmf_property *out)
{
    *out = (struct tmf_property){.kind = TMF_TEXT};
    if (strcmp(name, "TraceGuid") == 0) {
        out->kind = TMF_GUID;
        out->guid = event->EventHeader.ProviderId;
        return S_OK;
    }
    if (strcmp(name, "SystemTime") == 0) {
        out->kind = TMF_TIME;
        out->filetime = event->EventHeader.TimeStamp.QuadPart;
        return S_OK;
    }
    if (strcmp(name, "SequenceNum") != 0)
        return S_FALSE;
    out->kind = TMF_NUMBER;
    return tmf_sequence(event, &out->number) ? S_OK : no_property(name, "the message has no sequence number");
}

static HRESULT text_property(const struct tmf_message *m, const char *name, struct tmf_property *out)
{
    const struct {
        const char *name, *text;
    } texts[] = {{"FunctionName", m->function},  {"ComponentName", m->component}, {"SubComponentName", m->subcomponent},
                 {"GuidTypeName", m->guid_name}, {"FlagsName", m->flags},         {"LevelName", m->level}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(name, texts[i].name) == 0) {
            if (!texts[i].text[0])
                return no_property(name, "the message format does not define it");
            out->text = text_copy(texts[i].text);
            return out->text ? S_OK : E_OUTOFMEMORY;
        }
    return no_property(name, "WPP messages have no such property");
}

static HRESULT sentence_property(const struct event_schema *schema, const EVENT_RECORD *event, uint32_t pointer_size,
                                 bool gmt, struct tmf_property *out)
{
    struct text_buffer b = {0};
    HRESULT hr = tmf_sentence(schema, event, pointer_size, gmt, &b);
    if (SUCCEEDED(hr)) {
        out->text = b.length ? text_buffer_take(&b) : text_copy("");
        hr = out->text ? S_OK : E_OUTOFMEMORY;
    }
    text_buffer_free(&b);
    return hr;
}

HRESULT tmf_schema_property(const struct event_schema *schema, const EVENT_RECORD *event, uint32_t pointer_size,
                            bool gmt, const char *name, struct tmf_property *out)
{
    const HRESULT hr = header_property(event, name, out);
    if (hr != S_FALSE)
        return hr;
    return strcmp(name, "FormattedString") == 0 ? sentence_property(schema, event, pointer_size, gmt, out)
                                                : text_property(schema->message, name, out);
}

static HRESULT make_schema(const struct tmf_files *t, const struct tmf_message *m, struct event_schema **out)
{
    HRESULT hr = tmf_schema(m, out);
    if (SUCCEEDED(hr) && t->prefix)
        hr = tmf_schema_prefix(*out, t->prefix);
    if (FAILED(hr) && *out) {
        event_schema_free(*out);
        *out = NULL;
    }
    return hr;
}

HRESULT tmf_property(struct tmf_files *t, const EVENT_RECORD *event, uint32_t pointer_size, const char *name,
                     struct tmf_property *out)
{
    const struct tmf_message *m;
    struct event_schema *schema = NULL;
    HRESULT hr = header_property(event, name, out);
    if (hr != S_FALSE)
        return hr;
    hr = tmf_files_find(t, event, &m);
    if (hr == S_FALSE) {
        struct error_kept why = error_keep(hr);
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "%s", why.text);
    }
    if (FAILED(hr) || strcmp(name, "FormattedString") != 0)
        return FAILED(hr) ? hr : text_property(m, name, out);
    hr = make_schema(t, m, &schema);
    if (SUCCEEDED(hr))
        hr = sentence_property(schema, event, pointer_size, t->gmt, out);
    event_schema_free(schema);
    return hr;
}

/* ---- the origin of schemas ---- */

static HRESULT origin_schema(void *context, const EVENT_RECORD *event, uint32_t pointer_size, struct event_schema **out)
{
    const struct tmf_message *m;
    (void)pointer_size; /* the event's own data determine the size of pointers */
    HRESULT hr = tmf_files_find(context, event, &m);
    return hr == S_OK ? make_schema(context, m, out) : hr;
}

static HRESULT origin_providers(void *context, struct known_providers *list)
{
    const struct tmf_files *t = context;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < t->count; i++)
        for (size_t n = 0; SUCCEEDED(hr) && n < t->documents[i]->count; n++) {
            const struct tmf_message *m = &t->documents[i]->messages[n];
            if (!n || !guid_equal(&m->guid, &m[-1].guid))
                hr = known_providers_add(list, &m->guid, SCHEMA_WPP, text_copy(m->guid_name));
        }
    return hr;
}

static void origin_free(void *context)
{
    tmf_files_free(context);
}

HRESULT tmf_origin(const struct texts *files, const struct texts *folders, struct schema_origin *out)
{
    struct tmf_files *t;
    HRESULT hr = tmf_files_create(files, folders, false, &t);
    if (FAILED(hr))
        return hr;
    *out = (struct schema_origin){.source = SCHEMA_WPP,
                                  .context = t,
                                  .schema = origin_schema,
                                  .providers = origin_providers,
                                  .free = origin_free};
    return S_OK;
}
