/* SPDX-License-Identifier: MIT */
/* Reads TMF files and defines the types of arguments in their messages. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/etw/source_text.h"
#include "engine/etw/tmf.h"

#include <stdlib.h>
#include <string.h>

/* NAMES_MOST is a number of bytes. The names are limited because every message has a copy of the names. */
enum { MESSAGES_MOST = 0x100000, ARGUMENTS_MOST = 256, NAMES_MOST = 4096 };

struct reader {
    struct tmf_document *document;
    size_t message_capacity, argument_capacity;
    char *line, *rest; /* the current line; the rest of the text */
    uint32_t number;   /* line number */
    bool any_guid;
    bool after_directive; /* the previous line was a directive whose block, if any, was not read */
    GUID guid;
    char *guid_name, *component, *subcomponent;
};

void tmf_message_clear(struct tmf_message *m)
{
    char *const texts[] = {m->guid_name, m->type_name, m->format,    m->function,
                           m->level,     m->flags,     m->component, m->subcomponent};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
        memory_free(texts[t]);
    for (size_t a = 0; a < m->argument_count; a++) {
        memory_free(m->arguments[a].name);
        memory_free(m->arguments[a].item_name);
        texts_free(&m->arguments[a].list);
    }
    memory_free(m->arguments);
    *m = (struct tmf_message){0};
}

void tmf_document_free(struct tmf_document *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->count; i++)
        tmf_message_clear(&d->messages[i]);
    memory_free(d->messages);
    memory_free(d->source);
    memory_free(d);
}

static HRESULT wrong(const struct reader *r, const char *what)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "%s(%u): %s: '%.80s'", r->document->source,
                     (unsigned)r->number, what, r->line);
}

static char *skip_blanks(char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* Returns the next non-empty line without surrounding whitespace; false at the end. */
static bool next_line(struct reader *r)
{
    while (*r->rest) {
        char *end = r->rest + strcspn(r->rest, "\n"), *next = *end ? end + 1 : end;
        r->number++;
        r->line = skip_blanks(r->rest);
        while (end > r->line && strchr(" \t\r\n", end[-1]))
            end--;
        *end = '\0';
        r->rest = next;
        if (r->line < end && strncmp(r->line, "//", 2) != 0)
            return true;
    }
    return false;
}

/* Returns the word after "KEY=" in a comment; "" if the key is missing, NULL when out of memory. */
static char *comment_word(const char *comment, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = comment; (at = strstr(at, key)) != NULL; at += length)
        if ((at == comment || at[-1] == ' ' || at[-1] == '\t' || at[-1] == '/') && at[length] == '=') {
            at += length + 1;
            return text_copy_n(at, strcspn(at, " \t"));
        }
    return text_copy("");
}

/* Reads GUID  NAME  // SRC=... MJ=... MN=... */
static HRESULT take_guid(struct reader *r)
{
    char *end = r->line + strcspn(r->line, " \t"), *name = skip_blanks(end);
    const char *comment = strstr(name, "//");
    char first = *end;
    *end = '\0';
    const bool good = text_to_guid(r->line, &r->guid);
    *end = first;
    if (!good)
        return wrong(r, "expected a GUID, #typev or a comment");
    if (strlen(name) > NAMES_MOST)
        return wrong(r, "the names have more than 4096 bytes");
    memory_free(r->guid_name);
    memory_free(r->component);
    memory_free(r->subcomponent);
    r->any_guid = true;
    r->guid_name = text_copy_n(name, strcspn(name, " \t"));
    r->component = comment_word(comment ? comment : "", "MJ");
    r->subcomponent = comment_word(comment ? comment : "", "MN");
    return r->guid_name && r->component && r->subcomponent ? S_OK : E_OUTOFMEMORY;
}

/* Reads a format after its opening quote, and resolves its escapes in place. *end is the position after the closing
   quote. */
static bool format_unquote(char *text, char **end)
{
    char *to = text;
    for (; *text && *text != '"'; text++) {
        if (*text != '\\' || !text[1]) {
            *to++ = *text;
            continue;
        }
        text++;
        *to++ = (char)(*text == 'n' ? '\n' : *text == 't' ? '\t' : *text == 'r' ? '\r' : *text);
    }
    *end = *text == '"' ? text + 1 : NULL;
    *to = '\0';
    return *end;
}

/* Reads an argument: NAME, ItemTYPE[(a,b)] -- NUMBER. NAME can contain commas. */
static HRESULT take_argument(struct reader *r, struct tmf_argument *a)
{
    char *item = NULL, *dashes = NULL;
    uint64_t number;
    for (char *at = r->line; *at; at++) {
        if (*at == ',' && strncmp(skip_blanks(at + 1), "Item", 4) == 0)
            item = at;
        if (strncmp(at, "--", 2) == 0)
            dashes = at;
    }
    if (!item || !dashes || dashes < item || !text_to_u64(dashes + 2, &number) || number > UINT16_MAX)
        return wrong(r, "expected NAME, ItemTYPE -- NUMBER");
    a->number = (uint32_t)number;
    a->name = text_copy_n(r->line, (size_t)(item - r->line));
    item = skip_blanks(item + 1);
    const size_t length = strcspn(item, "( \t-");
    a->item_name = text_copy_n(item, length);
    if (!a->name || !a->item_name)
        return E_OUTOFMEMORY;
    a->item = tmf_item_find(a->item_name);
    if (item[length] != '(')
        return S_OK;
    HRESULT hr = S_OK;
    char *at = item + length + 1, *close = strchr(at, ')');
    if (!close || close > dashes)
        return wrong(r, "the list of names has no closing ')'");
    while (SUCCEEDED(hr) && at < close) {
        at = skip_blanks(at);
        const size_t size = strcspn(at, ",)");
        char *one = text_copy_n(at, size);
        hr = one ? texts_add_owned(&a->list, one) : E_OUTOFMEMORY;
        at += size + 1;
    }
    return hr;
}

static HRESULT take_arguments(struct reader *r, struct tmf_message *m)
{
    size_t capacity = 0;
    if (!next_line(r) || strcmp(r->line, "{") != 0)
        return wrong(r, "expected '{'");
    while (next_line(r)) {
        if (strcmp(r->line, "}") == 0)
            return S_OK;
        if (m->argument_count == ARGUMENTS_MOST)
            return wrong(r, "a message has more than 256 arguments");
        if (!memory_grow((void **)&m->arguments, &capacity, m->argument_count + 1, sizeof *m->arguments))
            return E_OUTOFMEMORY;
        struct tmf_argument *a = &m->arguments[m->argument_count++];
        *a = (struct tmf_argument){.number = 0};
        HRESULT hr = take_argument(r, a);
        if (FAILED(hr))
            return hr;
    }
    return wrong(r, "the file ends before '}'");
}

static HRESULT take_message(struct reader *r)
{
    struct tmf_document *d = r->document;
    if (!r->any_guid)
        return wrong(r, "no GUID precedes the message");
    if (d->count == MESSAGES_MOST)
        return wrong(r, "more than 1048576 messages");
    if (!memory_grow((void **)&d->messages, &r->message_capacity, d->count + 1, sizeof *d->messages))
        return E_OUTOFMEMORY;
    char *type = skip_blanks(r->line + strcspn(r->line, " \t")), *number = skip_blanks(type + strcspn(type, " \t"));
    char *quote = strchr(number, '"'), *end;
    uint64_t value;
    char digits[8];
    const size_t width = strcspn(number, " \t\"");
    if (!quote || !width || width >= sizeof digits)
        return wrong(r, "expected #typev NAME NUMBER \"FORMAT\"");
    memcpy(digits, number, width);
    digits[width] = '\0';
    if (!text_to_u64(digits, &value) || value > UINT16_MAX)
        return wrong(r, "the message number must be 0 to 65535");
    struct tmf_message *m = &d->messages[d->count++];
    *m = (struct tmf_message){.guid = r->guid, .number = (uint16_t)value, .line = r->number};
    if (!format_unquote(quote + 1, &end))
        return wrong(r, "the format has no closing quote");
    m->guid_name = text_copy(r->guid_name);
    m->component = text_copy(r->component);
    m->subcomponent = text_copy(r->subcomponent);
    m->type_name = text_copy_n(type, strcspn(type, " \t"));
    m->format = text_copy(quote + 1);
    m->function = comment_word(end, "FUNC");
    m->level = comment_word(end, "LEVEL");
    m->flags = comment_word(end, "FLAGS");
    if (!m->guid_name || !m->component || !m->subcomponent || !m->type_name || !m->format || !m->function ||
        !m->level || !m->flags)
        return E_OUTOFMEMORY;
    return take_arguments(r, m);
}

/* Reads a line. Unknown directives and blocks of other versions are skipped, and the messages after them are still
   read. */
static HRESULT take_line(struct reader *r)
{
    if (r->after_directive && strcmp(r->line, "{") == 0) {
        while (next_line(r))
            if (strcmp(r->line, "}") == 0)
                return S_OK;
        return wrong(r, "the file ends before '}'");
    }
    r->after_directive = r->line[0] == '#';
    if (r->line[0] != '#')
        return take_guid(r);
    const size_t length = strcspn(r->line, " \t");
    if ((length == 6 && strncmp(r->line, "#typev", 6) == 0) || (length == 5 && strncmp(r->line, "#type", 5) == 0))
        return take_message(r);
    return S_OK;
}

static int compare_messages(const void *a, const void *b)
{
    const struct tmf_message *x = a, *y = b;
    const int guids = memcmp(&x->guid, &y->guid, sizeof x->guid);
    return guids ? guids : x->number < y->number ? -1 : x->number > y->number;
}

const struct tmf_message *tmf_document_find(const struct tmf_document *d, const GUID *guid, uint16_t number)
{
    const struct tmf_message wanted = {.guid = *guid, .number = number};
    return d->count ? bsearch(&wanted, d->messages, d->count, sizeof *d->messages, compare_messages) : NULL;
}

HRESULT tmf_text_read(const char *source, const void *bytes, size_t size, struct tmf_document **out)
{
    char *text = NULL;
    struct reader r = {.document = memory_zero(1, sizeof *r.document)};
    HRESULT hr = r.document ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = (r.document->source = text_copy(source)) ? source_text_decode(bytes, size, &text) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        r.rest = r.line = text;
        while (SUCCEEDED(hr) && next_line(&r))
            hr = take_line(&r);
    }
    memory_free(r.guid_name);
    memory_free(r.component);
    memory_free(r.subcomponent);
    memory_free(text);
    if (FAILED(hr)) {
        tmf_document_free(r.document);
        return hr;
    }
    if (r.document->count)
        qsort(r.document->messages, r.document->count, sizeof *r.document->messages, compare_messages);
    *out = r.document;
    return S_OK;
}

/* Returns the type with this name. The names are those of the WDK's pages on WPP and of published .tmf files. */
const struct tmf_item *tmf_item_find(const char *name)
{
    static const struct tmf_item items[] = {
        {"ItemChar", IN_TYPE_ANSICHAR, 0, 0, TMF_FORM_TEXT},
        {"ItemUChar", IN_TYPE_UINT8, 0, 0, TMF_FORM_NUMBER},
        {"ItemCharSign", IN_TYPE_INT8, 0, 0, TMF_FORM_NUMBER},
        {"ItemCharShort", IN_TYPE_INT8, 0, 0, TMF_FORM_NUMBER},
        {"ItemShort", IN_TYPE_INT16, 0, 0, TMF_FORM_NUMBER},
        {"ItemUShort", IN_TYPE_UINT16, 0, 0, TMF_FORM_NUMBER},
        {"ItemLong", IN_TYPE_INT32, 0, 0, TMF_FORM_NUMBER},
        {"ItemULong", IN_TYPE_UINT32, 0, 0, TMF_FORM_NUMBER},
        {"ItemULongX", IN_TYPE_UINT32, OUT_TYPE_HEXINT32, 0, TMF_FORM_NUMBER},
        {"ItemLongLong", IN_TYPE_INT64, 0, 0, TMF_FORM_NUMBER},
        {"ItemULongLong", IN_TYPE_UINT64, 0, 0, TMF_FORM_NUMBER},
        {"ItemLongLongX", IN_TYPE_UINT64, OUT_TYPE_HEXINT64, 0, TMF_FORM_NUMBER},
        {"ItemLongLongXX", IN_TYPE_UINT64, OUT_TYPE_HEXINT64, 0, TMF_FORM_NUMBER},
        {"ItemLongLongO", IN_TYPE_UINT64, 0, 0, TMF_FORM_NUMBER},
        {"ItemPtr", IN_TYPE_POINTER, 0, 0, TMF_FORM_NUMBER},
        {"ItemFloat", IN_TYPE_FLOAT, 0, 0, TMF_FORM_REAL},
        {"ItemDouble", IN_TYPE_DOUBLE, 0, 0, TMF_FORM_REAL},
        {"ItemString", IN_TYPE_ANSISTRING, 0, 0, TMF_FORM_TEXT},
        {"ItemWString", IN_TYPE_UNICODESTRING, 0, 0, TMF_FORM_TEXT},
        {"ItemRString", IN_TYPE_ANSISTRING, 0, 0, TMF_FORM_ONE_LINE},
        {"ItemRWString", IN_TYPE_UNICODESTRING, 0, 0, TMF_FORM_ONE_LINE},
        {"ItemPString", IN_TYPE_COUNTEDANSISTRING, 0, 0, TMF_FORM_TEXT},
        {"ItemPWString", IN_TYPE_COUNTEDSTRING, 0, 0, TMF_FORM_TEXT},
        {"ItemGuid", IN_TYPE_GUID, 0, 0, TMF_FORM_TEXT},
        {"ItemCLSID", IN_TYPE_GUID, 0, 0, TMF_FORM_TEXT},
        {"ItemIID", IN_TYPE_GUID, 0, 0, TMF_FORM_TEXT},
        {"ItemLIBID", IN_TYPE_GUID, 0, 0, TMF_FORM_TEXT},
        {"ItemSid", IN_TYPE_SID, 0, 0, TMF_FORM_TEXT},
        {"ItemIPAddr", IN_TYPE_UINT32, OUT_TYPE_IPV4, 0, TMF_FORM_TEXT},
        {"ItemIPV6Addr", IN_TYPE_BINARY, OUT_TYPE_IPV6, 16, TMF_FORM_TEXT},
        {"ItemMACAddr", IN_TYPE_BINARY, 0, 6, TMF_FORM_TEXT},
        {"ItemPort", IN_TYPE_UINT16, OUT_TYPE_PORT, 0, TMF_FORM_TEXT},
        {"ItemNTSTATUS", IN_TYPE_UINT32, OUT_TYPE_NTSTATUS, 0, TMF_FORM_TEXT},
        {"ItemWINERROR", IN_TYPE_UINT32, OUT_TYPE_WIN32ERROR, 0, TMF_FORM_TEXT},
        {"ItemHRESULT", IN_TYPE_INT32, OUT_TYPE_HRESULT, 0, TMF_FORM_TEXT},
        {"ItemTimestamp", IN_TYPE_FILETIME, 0, 0, TMF_FORM_TIME},
        {"ItemTimeDelta", IN_TYPE_INT64, 0, 0, TMF_FORM_SPAN},
        {"ItemWaitTime", IN_TYPE_INT64, 0, 0, TMF_FORM_SPAN},
        {"ItemHexDump", IN_TYPE_MANIFEST_COUNTEDBINARY, 0, 0, TMF_FORM_TEXT},
        {"ItemListByte", IN_TYPE_UINT8, 0, 0, TMF_FORM_LIST},
        {"ItemListShort", IN_TYPE_UINT16, 0, 0, TMF_FORM_LIST},
        {"ItemListLong", IN_TYPE_UINT32, 0, 0, TMF_FORM_LIST},
        {"ItemSetByte", IN_TYPE_UINT8, 0, 0, TMF_FORM_SET},
        {"ItemSetShort", IN_TYPE_UINT16, 0, 0, TMF_FORM_SET},
        {"ItemSetLong", IN_TYPE_UINT32, 0, 0, TMF_FORM_SET},
        {"ItemEnum", IN_TYPE_UINT32, 0, 0, TMF_FORM_NUMBER},
        {"ItemFlagsEnum", IN_TYPE_UINT32, OUT_TYPE_HEXINT32, 0, TMF_FORM_NUMBER},
    };
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        if (strcmp(items[i].name, name) == 0)
            return &items[i];
    return NULL;
}
