/* SPDX-License-Identifier: MIT */
/* Tasks in files, for host OSes without a Task Scheduler: reads and writes their definitions as XML, and lists their
   folder. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/xml_document.h"
#include "engine/base/xml_text.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"
#include "engine/pla/task.h"

#include <string.h>

#define ENDING     ".xml"
#define FILE_MOST  (1u << 20) /* bytes */
#define NAME_SHOWN 300        /* bytes of a name in an error message */

HRESULT task_name_check(const char *name, const char **bare)
{
    *bare = name + (name[0] == '\\');
    if (!text_is_utf8(name, strlen(name)))
        return error_set(E_INVALIDARG, "the task's name '%.*s' is not valid UTF-8", NAME_SHOWN, name);
    for (const char *part = *bare;;) {
        size_t length = strcspn(part, "\\");
        if (strspn(part, ".") == length) /* also if the part is empty */
            return error_set(E_INVALIDARG, "the task's name '%.*s' has an invalid part", NAME_SHOWN, name);
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)part[i] < ' ' || part[i] == 0x7F || strchr("/:*?\"<>|", part[i]))
                return error_set(E_INVALIDARG,
                                 "the task's name '%.*s' contains a character that is not allowed (0x%02X)", NAME_SHOWN,
                                 name, (unsigned)(unsigned char)part[i]);
        if (!part[length])
            return S_OK;
        part += length + 1;
    }
}

static char *tasks_folder(void)
{
    char *data = os_data_folder(), *folder = data ? path_join(data, "tasks") : NULL;
    memory_free(data);
    return folder;
}

static HRESULT task_locate(const char *name, char **path)
{
    const char *bare;
    *path = NULL;
    HRESULT hr = task_name_check(name, &bare);
    if (FAILED(hr))
        return hr;
    char *folder = tasks_folder(), *file = store_file_name(bare);
    char *whole = file ? text_format("%s" ENDING, file) : NULL;
    if (folder && whole)
        *path = path_join(folder, whole);
    memory_free(folder);
    memory_free(file);
    memory_free(whole);
    return *path ? S_OK : E_OUTOFMEMORY;
}

HRESULT task_store_save(const struct task_definition *d, bool replace)
{
    char *path, *folder = NULL, *xml = NULL;
    HRESULT hr = task_locate(d->name, &path);
    if (SUCCEEDED(hr) && !replace && file_find(path) == S_OK)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "the task '%s' already exists", d->name);
    if (SUCCEEDED(hr))
        hr = task_definition_write(d, &xml);
    if (SUCCEEDED(hr))
        hr = (folder = path_folder(path)) ? folder_create_protected(folder, PROTECTION_DATA) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_store(path, xml, strlen(xml));
    memory_free(path);
    memory_free(folder);
    memory_free(xml);
    return hr;
}

static bool is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

static HRESULT missing(const char *name)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                     "the task '%.*s' does not exist (openpla task list shows the tasks)", NAME_SHOWN, name);
}

static HRESULT load_file(const char *path, struct task_definition *out)
{
    char *xml;
    size_t size;
    HRESULT hr = file_load(path, FILE_MOST, &xml, &size);
    if (FAILED(hr))
        return hr;
    hr = task_definition_read(xml, size, out, NULL);
    memory_free(xml);
    return FAILED(hr) ? error_prefix(hr, "%s", path) : hr;
}

HRESULT task_store_load(const char *name, struct task_definition *out)
{
    char *path;
    memset(out, 0, sizeof *out);
    HRESULT hr = task_locate(name, &path);
    if (SUCCEEDED(hr))
        hr = load_file(path, out);
    memory_free(path);
    return is_missing(hr) ? missing(name) : hr;
}

HRESULT task_store_remove(const char *name)
{
    char *path;
    HRESULT hr = task_locate(name, &path);
    if (SUCCEEDED(hr))
        hr = file_delete(path);
    memory_free(path);
    return is_missing(hr) ? missing(name) : hr;
}

/* Adds the name from the definition if `file` is the file name that belongs to this name. Otherwise adds the name that
   store_name_of_file derives from the file name. */
static HRESULT add_name(const char *folder, const char *file, struct texts *names)
{
    struct task_definition d = {0};
    const char *bare;
    char *stem = text_copy_n(file, strlen(file) - (sizeof ENDING - 1)), *path = path_join(folder, file);
    HRESULT hr = stem && path ? load_file(path, &d) : E_OUTOFMEMORY;
    char *own = SUCCEEDED(hr) && SUCCEEDED(task_name_check(d.name, &bare)) ? store_file_name(bare) : NULL;
    if (hr != E_OUTOFMEMORY) {
        char *name = own && !strcmp(own, stem) ? text_copy(bare) : store_name_of_file(stem);
        hr = name ? texts_add_owned(names, name) : E_OUTOFMEMORY;
    }
    task_definition_free(&d);
    memory_free(stem);
    memory_free(path);
    memory_free(own);
    return hr;
}

HRESULT task_store_list(struct texts *names)
{
    struct texts files = {0};
    char *folder = tasks_folder();
    HRESULT hr = folder ? folder_list(folder, false, &files) : E_OUTOFMEMORY;
    if (is_missing(hr))
        hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++) {
        const char *ending = path_extension(files.items[i]);
        if (text_equal_nocase(ending, ENDING))
            hr = add_name(folder, files.items[i], names);
    }
    texts_free(&files);
    memory_free(folder);
    return hr;
}

/* ---- definitions as XML ---- */

#define NAMESPACE "http://schemas.microsoft.com/windows/2004/02/mit/task"

void task_definition_free(struct task_definition *d)
{
    memory_free(d->name);
    memory_free(d->command);
    memory_free(d->arguments);
    memory_free(d->directory);
    memset(d, 0, sizeof *d);
}

/* ---- from XML ---- */

static bool is_called(const xmlNode *n, const char *name)
{
    return n->type == XML_ELEMENT_NODE && !strcmp((const char *)n->name, name);
}

/* Returns the first child element of that name; NULL: none, or `parent` is NULL. */
static xmlNodePtr element_find_child(const xmlNode *parent, const char *name)
{
    xmlNodePtr n = parent ? parent->children : NULL;
    while (n && !is_called(n, name))
        n = n->next;
    return n;
}

static HRESULT child_text(const xmlNode *parent, const char *name, char **out)
{
    struct text_buffer b = {0};
    xmlNodePtr n = element_find_child(parent, name);
    if (n)
        xml_element_text(n, &b);
    *out = text_buffer_take(&b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Converts a duration such as "P1DT2H3M4S" (XML Schema; without years and months) to seconds. */
static bool read_duration(const char *text, uint32_t *out)
{
    static const struct {
        char letter;
        uint32_t seconds;
    } units[] = {{'D', 86400}, {'H', 3600}, {'M', 60}, {'S', 1}};
    uint64_t sum = 0;
    bool in_time = false, any = false;
    size_t unit = 0;
    if (*text++ != 'P')
        return false;
    while (*text) {
        uint64_t number = 0;
        if (*text == 'T' && !in_time) {
            in_time = true;
            text++;
        }
        if (*text < '0' || *text > '9')
            return false;
        for (; *text >= '0' && *text <= '9' && number <= UINT32_MAX; text++)
            number = number * 10 + (uint64_t)(*text - '0');
        while (unit < 4 && units[unit].letter != *text)
            unit++;
        if (unit == 4 || in_time != (unit > 0))
            return false;
        sum += number * units[unit++].seconds;
        if (sum > UINT32_MAX)
            return false;
        any = true;
        text++;
    }
    *out = (uint32_t)sum;
    return any;
}

static HRESULT read_settings(const xmlNode *settings, struct task_definition *out)
{
    char *limit = NULL, *enabled = NULL;
    HRESULT hr = child_text(settings, "ExecutionTimeLimit", &limit);
    if (SUCCEEDED(hr))
        hr = child_text(settings, "Enabled", &enabled);
    out->limit_seconds = TASK_LIMIT_USUAL;
    if (SUCCEEDED(hr) && limit[0] && !read_duration(limit, &out->limit_seconds))
        hr = error_set(E_INVALIDARG,
                       "ExecutionTimeLimit: invalid value '%.100s': expected a duration such as 'PT1H30M'", limit);
    if (SUCCEEDED(hr)) {
        out->disabled = !strcmp(enabled, "false") || !strcmp(enabled, "0");
        if (enabled[0] && !out->disabled && strcmp(enabled, "true") != 0 && strcmp(enabled, "1") != 0)
            hr = error_set(E_INVALIDARG, "Enabled: invalid value '%.100s': expected true or false", enabled);
    }
    memory_free(limit);
    memory_free(enabled);
    return hr;
}

static HRESULT read_actions(const xmlNode *actions, struct task_definition *out)
{
    const xmlNode *exec = NULL;
    for (const xmlNode *n = actions ? actions->children : NULL; n; n = n->next) {
        if (n->type != XML_ELEMENT_NODE)
            continue;
        if (!is_called(n, "Exec"))
            return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                             "the action '%.100s' is not supported (only Exec is)", (const char *)n->name);
        if (exec)
            return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                             "the task has more than one Exec (only one is supported)");
        exec = n;
    }
    HRESULT hr = child_text(exec, "Command", &out->command);
    if (SUCCEEDED(hr))
        hr = child_text(exec, "Arguments", &out->arguments);
    if (SUCCEEDED(hr))
        hr = child_text(exec, "WorkingDirectory", &out->directory);
    if (SUCCEEDED(hr) && !out->command[0])
        hr = error_set(OPENPLA_E_MALFORMED_XML, "the task has no Exec with a Command");
    return hr;
}

static bool holds_element(const xmlNode *parent)
{
    const xmlNode *n = parent ? parent->children : NULL;
    while (n && n->type != XML_ELEMENT_NODE)
        n = n->next;
    return n != NULL;
}

static HRESULT read_ignored(const xmlNode *root, char **out)
{
    static const char *const names[] = {"Triggers", "Principals"};
    struct text_buffer b = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (holds_element(element_find_child(root, names[i])))
            text_buffer_format(&b, "%s%s", b.length ? ", " : "", names[i]);
    *out = text_buffer_take(&b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT read_name(const xmlNode *root, struct task_definition *out)
{
    char *uri;
    HRESULT hr = child_text(element_find_child(root, "RegistrationInfo"), "URI", &uri);
    if (FAILED(hr))
        return hr;
    out->name = text_copy(uri + (uri[0] == '\\'));
    memory_free(uri);
    return out->name ? S_OK : E_OUTOFMEMORY;
}

static HRESULT read_document(const char *xml, size_t size, struct task_definition *out, char **ignored)
{
    struct xml_document d;
    HRESULT hr = xml_document_open(xml, size, &d);
    if (FAILED(hr))
        return hr;
    hr = xml_document_check_root(&d, "Task");
    if (SUCCEEDED(hr))
        hr = read_name(d.root, out);
    if (SUCCEEDED(hr))
        hr = read_settings(element_find_child(d.root, "Settings"), out);
    if (SUCCEEDED(hr))
        hr = read_actions(element_find_child(d.root, "Actions"), out);
    if (SUCCEEDED(hr) && ignored)
        hr = read_ignored(d.root, ignored);
    xml_document_close(&d);
    return hr;
}

/* Converts UTF-16 with any alignment to UTF-8. */
static HRESULT from_utf16(const char *bytes, size_t size, char **out)
{
    size_t units = size / sizeof(WCHAR);
    WCHAR *copy = memory_alloc((units + 1) * sizeof *copy);
    if (!copy)
        return E_OUTOFMEMORY;
    memcpy(copy, bytes, units * sizeof *copy);
    HRESULT hr = text_from_utf16(copy, units, true, out);
    memory_free(copy);
    return hr;
}

HRESULT task_definition_read(const char *xml, size_t size, struct task_definition *out, char **ignored)
{
    char *text = NULL;
    HRESULT hr = S_OK;
    memset(out, 0, sizeof *out);
    if (ignored)
        *ignored = NULL;
    if (size >= 2 && !memcmp(xml, "\xFF\xFE", 2))
        hr = from_utf16(xml + 2, size - 2, &text);
    if (SUCCEEDED(hr))
        hr = read_document(text ? text : xml, text ? strlen(text) : size, out, ignored);
    if (FAILED(hr))
        task_definition_free(out);
    memory_free(text);
    return hr;
}

/* ---- to XML ---- */

HRESULT task_definition_write(const struct task_definition *d, char **xml)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Task version=\"1.2\" xmlns=\"" NAMESPACE "\">\n"
                        "  <RegistrationInfo><URI>\\");
    xml_add_escaped(&b, d->name, false);
    text_buffer_add(&b, "</URI></RegistrationInfo>\n  <Settings>");
    if (d->disabled)
        xml_add_element(&b, "Enabled", "false");
    text_buffer_format(&b, "<ExecutionTimeLimit>PT%uS</ExecutionTimeLimit></Settings>\n  <Actions><Exec>",
                       (unsigned)d->limit_seconds);
    xml_add_element(&b, "Command", d->command);
    xml_add_element(&b, "Arguments", d->arguments);
    xml_add_element(&b, "WorkingDirectory", d->directory);
    text_buffer_add(&b, "</Exec></Actions>\n</Task>\n");
    *xml = text_buffer_take(&b);
    return *xml ? S_OK : E_OUTOFMEMORY;
}
