/* SPDX-License-Identifier: MIT */
/* Reads what the reference needs out of idl/pla.idl: attributes, names and parameters, in the file's order. */
#include "docs/generate/idl.h"

#include "engine/base/memory.h"

#include <ctype.h>
#include <string.h>

#define FIRST_OPNUM 7 /* behind IUnknown's three and IDispatch's four methods */

/* MS-PLA 3.2.4.1 to 3.2.4.18; the IDL has three of them in another order. */
static const char *const section_order[] = {
    "IDataCollectorSet",
    "IDataManager",
    "IFolderAction",
    "IFolderActionCollection",
    "IDataCollector",
    "IPerformanceCounterDataCollector",
    "IConfigurationDataCollector",
    "IAlertDataCollector",
    "ITraceDataCollector",
    "IApiTracingDataCollector",
    "ITraceDataProvider",
    "ISchedule",
    "ITraceDataProviderCollection",
    "IScheduleCollection",
    "IDataCollectorCollection",
    "IDataCollectorSetCollection",
    "IValueMapItem",
    "IValueMap",
};

/* 0: MS-PLA has no such interface. */
static unsigned section_of(const char *interface_name)
{
    for (unsigned i = 0; i < sizeof section_order / sizeof section_order[0]; i++)
        if (!strcmp(section_order[i], interface_name))
            return i + 1;
    return 0;
}

/* The text without comments and preprocessor lines; strings stay as they are. */
static char *without_comments(const char *text)
{
    struct text_buffer b = {0};
    bool line_start = true;
    while (*text) {
        size_t n = 1;
        if (!strncmp(text, "/*", 2)) {
            const char *end = strstr(text + 2, "*/");
            text = end ? end + 2 : text + strlen(text);
            continue;
        }
        if (!strncmp(text, "//", 2) || (line_start && *text == '#')) {
            text += strcspn(text, "\n");
            continue;
        }
        if (*text == '"') {
            n += strcspn(text + 1, "\"\n");
            n += text[n] == '"';
        }
        line_start = *text == '\n' || (line_start && isspace((unsigned char)*text));
        text_buffer_add_n(&b, text, n);
        text += n;
    }
    return text_buffer_take(&b);
}

static void skip_blanks(const char **at)
{
    *at += strspn(*at, " \t\r\n");
}

static size_t word_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n;
}

/* Skips the word if it is next. */
static bool idl_take(const char **at, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(at);
    if (strncmp(*at, word, n) != 0 || (word_length(word) && word_length(*at) != n))
        return false;
    *at += n;
    return true;
}

static char *take_word(const char **at)
{
    skip_blanks(at);
    size_t n = word_length(*at);
    char *word = n ? text_copy_n(*at, n) : NULL;
    *at += n;
    return word;
}

/* Length of a bracketed piece with both its brackets; strings in it may hold brackets. 0 when it does not end. */
static size_t idl_take_attributes(const char *text, char open, char close)
{
    size_t depth = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            c += 1 + strcspn(c + 1, "\"");
        else if (*c == open)
            depth++;
        else if (*c == close && !--depth)
            return (size_t)(c - text) + 1;
        if (!*c)
            break;
    }
    return 0;
}

/* The text between the brackets, with blanks collapsed. */
static char *take_bracketed(const char **at, char open, char close)
{
    struct text_buffer b = {0};
    skip_blanks(at);
    size_t n = **at == open ? idl_take_attributes(*at, open, close) : 0;
    if (!n)
        return NULL;
    for (size_t i = 1; i + 1 < n; i++) {
        bool blank = isspace((unsigned char)(*at)[i]);
        if (!blank)
            text_buffer_add_n(&b, *at + i, 1);
        else if (b.length && b.text[b.length - 1] != ' ')
            text_buffer_add(&b, " ");
    }
    text_buffer_add(&b, "");
    *at += n;
    return text_buffer_take(&b);
}

/* The argument of an attribute, without quotes: helpstring("x"), uuid(x); "" without the attribute. */
static char *idl_attribute(const char *attributes, const char *name)
{
    const char *at = attributes ? strstr(attributes, name) : NULL;
    if (!at || at[strlen(name)] != '(')
        return text_copy("");
    at += strlen(name) + 1;
    if (*at == '"')
        return text_copy_n(at + 1, strcspn(at + 1, "\""));
    return text_copy_n(at, strcspn(at, ")"));
}

static HRESULT expected(const char *what, const char *at)
{
    return error_set(E_INVALIDARG, "pla.idl: %s expected before '%.40s'", what, at);
}

static HRESULT read_member(const char **at, struct idl_interface *i, unsigned first_opnum)
{
    char *attributes = NULL;
    unsigned section = 1;
    if (!memory_grow((void **)&i->members, &i->capacity, i->count + 1, sizeof i->members[0]))
        return E_OUTOFMEMORY;
    for (size_t k = 0; k < i->count; k++)
        section += !i->members[k].reserved;
    struct idl_member *m = &i->members[i->count];
    memset(m, 0, sizeof *m);
    m->opnum = first_opnum + (unsigned)i->count++;
    skip_blanks(at);
    if (**at == '[' && !(attributes = take_bracketed(at, '[', ']')))
        return expected("]", *at);
    m->help = idl_attribute(attributes, "helpstring");
    m->call = attributes && !strncmp(attributes, "propget", 7)   ? IDL_GET
              : attributes && !strncmp(attributes, "propput", 7) ? IDL_PUT
                                                                 : IDL_METHOD;
    memory_free(attributes);
    if (!idl_take(at, "HRESULT") || !(m->name = take_word(at)))
        return expected("a method", *at);
    m->parameters = take_bracketed(at, '(', ')');
    if (!m->parameters || !idl_take(at, ";"))
        return expected("parameters", *at);
    m->reserved = text_matches("Opnum*NotUsedOnWire", m->name);
    m->section = m->reserved ? 0 : section;
    return m->help ? S_OK : E_OUTOFMEMORY;
}

/* The number of opnums of the base interfaces. */
static unsigned opnums_below(const struct idl *idl, const char *base)
{
    for (size_t i = 0; i < idl->count; i++)
        if (!strcmp(idl->interfaces[i].name, base))
            return opnums_below(idl, idl->interfaces[i].base) + (unsigned)idl->interfaces[i].count;
    return FIRST_OPNUM;
}

/* An interface whose name is next and whose body follows; forward declarations are skipped. */
static HRESULT read_interface(const char **at, const char *attributes, struct idl *idl)
{
    char *name = take_word(at);
    if (!name)
        return expected("an interface's name", *at);
    if (idl_take(at, ";")) {
        memory_free(name);
        return S_OK;
    }
    if (!memory_grow((void **)&idl->interfaces, &idl->capacity, idl->count + 1, sizeof idl->interfaces[0])) {
        memory_free(name);
        return E_OUTOFMEMORY;
    }
    struct idl_interface *i = &idl->interfaces[idl->count];
    *i = (struct idl_interface){.name = name, .section = section_of(name)};
    i->help = idl_attribute(attributes, "helpstring");
    i->id = idl_attribute(attributes, "uuid");
    i->base = idl_take(at, ":") ? take_word(at) : NULL;
    i->base = i->base ? i->base : text_copy("");
    idl->count++;
    if (!i->help || !i->id || !i->base)
        return E_OUTOFMEMORY;
    if (!i->section)
        return error_set(E_INVALIDARG, "pla.idl: MS-PLA has no interface %s", i->name);
    unsigned first_opnum = opnums_below(idl, i->base);
    HRESULT hr = idl_take(at, "{") ? S_OK : expected("{", *at);
    while (SUCCEEDED(hr) && !idl_take(at, "}"))
        hr = read_member(at, i, first_opnum);
    return hr;
}

HRESULT idl_read(const char *text, struct idl *out)
{
    char *clean = without_comments(text), *attributes = NULL;
    HRESULT hr = clean ? S_OK : E_OUTOFMEMORY;
    memset(out, 0, sizeof *out);
    for (const char *at = clean; SUCCEEDED(hr);) {
        skip_blanks(&at);
        if (!*at || idl_take(&at, "library"))
            break;
        if (*at == '[') {
            memory_free(attributes);
            attributes = take_bracketed(&at, '[', ']');
            hr = attributes ? S_OK : expected("]", at);
        } else if (idl_take(&at, "interface")) {
            hr = read_interface(&at, attributes, out);
        } else {
            size_t n = word_length(at);
            at += *at == '"' ? 2 + strcspn(at + 1, "\"") : n ? n : 1;
        }
    }
    memory_free(attributes);
    memory_free(clean);
    return hr;
}

void idl_free(struct idl *idl)
{
    for (size_t i = 0; i < idl->count; i++) {
        struct idl_interface *face = &idl->interfaces[i];
        for (size_t k = 0; k < face->count; k++) {
            memory_free(face->members[k].name);
            memory_free(face->members[k].help);
            memory_free(face->members[k].parameters);
        }
        memory_free(face->members);
        memory_free(face->name);
        memory_free(face->base);
        memory_free(face->help);
        memory_free(face->id);
    }
    memory_free(idl->interfaces);
    memset(idl, 0, sizeof *idl);
}

const struct idl_member *idl_member(const struct idl_interface *i, const char *name, enum idl_call call)
{
    for (size_t k = 0; k < i->count; k++)
        if (i->members[k].call == call && !strcmp(i->members[k].name, name))
            return &i->members[k];
    return NULL;
}

char *idl_value_type(const struct idl_member *getter)
{
    const char *last = strrchr(getter->parameters, ']');
    last = last ? last + 1 + strspn(last + 1, " ") : getter->parameters;
    size_t n = strlen(last);
    while (n && word_length(last + n - 1)) /* the parameter's name */
        n--;
    if (n && last[n - 1] == '*') /* the getter's own indirection */
        n--;
    while (n && last[n - 1] == ' ')
        n--;
    static const char macro[] = "OPENPLA_";
    bool wrapped = !strncmp(last, macro, sizeof macro - 1);
    return wrapped ? text_copy_n(last + sizeof macro - 1, n - (sizeof macro - 1)) : text_copy_n(last, n);
}
