/* SPDX-License-Identifier: MIT */
/* Parses MOF source to a list of classes. */
#include "engine/etw/decode/mof/mof_text.h"

#include "engine/base/memory.h"
#include "engine/etw/source_text.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MOST 32 /* maximum depth of brackets in skipped parts */

struct reader {
    struct mof_lexer lexer;
    struct mof_document *document;
    size_t class_capacity;
    uint16_t language; /* language of the current namespace */
};

static const char *const type_names[] = {"sint8",  "uint8",  "sint16",   "uint16", "sint32",  "uint32",
                                         "sint64", "uint64", "real32",   "real64", "boolean", "char16",
                                         "string", "object", "datetime", "class"};

const char *mof_type_name(enum mof_type type)
{
    return type_names[type];
}

static void qualifiers_clear(struct mof_qualifiers *q)
{
    for (size_t i = 0; i < q->count; i++) {
        for (size_t v = 0; v < q->items[i].count; v++)
            memory_free(q->items[i].values[v].text);
        memory_free(q->items[i].values);
        memory_free(q->items[i].name);
    }
    memory_free(q->items);
    *q = (struct mof_qualifiers){0};
}

void mof_document_free(struct mof_document *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->count; i++) {
        struct mof_class *c = &d->classes[i];
        for (size_t p = 0; p < c->property_count; p++) {
            memory_free(c->properties[p].name);
            memory_free(c->properties[p].type_name);
            qualifiers_clear(&c->properties[p].qualifiers);
        }
        memory_free(c->properties);
        qualifiers_clear(&c->qualifiers);
        memory_free(c->name);
        memory_free(c->superclass);
    }
    memory_free(d->classes);
    memory_free(d->source);
    memory_free(d);
}

const struct mof_qualifier *mof_qualifier_find(const struct mof_qualifiers *q, const char *name)
{
    for (size_t i = 0; i < q->count; i++)
        if (text_equal_nocase(q->items[i].name, name))
            return &q->items[i];
    return NULL;
}

const char *mof_qualifier_text(const struct mof_qualifiers *q, const char *name)
{
    const struct mof_qualifier *found = mof_qualifier_find(q, name);
    return found && found->count && found->values[0].kind == MOF_STRING ? found->values[0].text : NULL;
}

bool mof_qualifier_is_set(const struct mof_qualifiers *q, const char *name)
{
    const struct mof_qualifier *found = mof_qualifier_find(q, name);
    return found && found->count && !(found->values[0].kind == MOF_BOOLEAN && !found->values[0].number) &&
           found->values[0].kind != MOF_NULL;
}

/* ---- tokens, values and qualifiers ---- */

static HRESULT want_sign(struct reader *r, char sign, HRESULT hr)
{
    const char what[] = {'\'', sign, '\'', '\0'};
    return mof_lexer_sign(&r->lexer, sign) ? mof_lexer_next(&r->lexer) : mof_lexer_expected(&r->lexer, hr, what);
}

static HRESULT take_name(struct reader *r, HRESULT hr, const char *what, char **out)
{
    if (r->lexer.token != MOF_TOKEN_NAME || r->lexer.text.text[0] == '$')
        return mof_lexer_expected(&r->lexer, hr, what);
    *out = text_copy(r->lexer.text.text);
    return *out ? mof_lexer_next(&r->lexer) : E_OUTOFMEMORY;
}

/* Reads one constant. */
static HRESULT take_value(struct reader *r, struct mof_value *v)
{
    struct mof_lexer *l = &r->lexer;
    *v = (struct mof_value){.number = l->number, .negative = l->negative};
    switch (l->token) {
    case MOF_TOKEN_STRING:
        v->kind = MOF_STRING;
        break;
    case MOF_TOKEN_CHAR:
    case MOF_TOKEN_INTEGER:
        v->kind = MOF_INTEGER;
        break;
    case MOF_TOKEN_REAL:
        v->kind = MOF_REAL;
        break;
    case MOF_TOKEN_NAME:
        v->number = mof_lexer_word(l, "true");
        v->kind = v->number || mof_lexer_word(l, "false") ? MOF_BOOLEAN : MOF_NULL;
        if (v->kind == MOF_BOOLEAN || mof_lexer_word(l, "null"))
            break;
        return mof_lexer_expected(l, MOF_E_ILLEGAL_CONSTANT_VALUE, "a value");
    default:
        return mof_lexer_expected(l, MOF_E_ILLEGAL_CONSTANT_VALUE, "a value");
    }
    v->text = text_copy(l->text.text);
    return v->text ? mof_lexer_next(l) : E_OUTOFMEMORY;
}

static HRESULT add_value(struct reader *r, struct mof_qualifier *q, size_t *capacity)
{
    if (q->count == MOF_VALUES_MOST)
        return mof_lexer_error(&r->lexer, MOF_E_OUT_OF_RANGE, "%s has more than %u values", q->name, MOF_VALUES_MOST);
    if (!memory_grow((void **)&q->values, capacity, q->count + 1, sizeof *q->values))
        return E_OUTOFMEMORY;
    struct mof_value *v = &q->values[q->count++];
    *v = (struct mof_value){.kind = MOF_NULL};
    return take_value(r, v);
}

/* Reads "(value)" or "{value, ...}". If the source has no value, the result is `true`. */
static HRESULT take_values(struct reader *r, struct mof_qualifier *q)
{
    size_t capacity = 0;
    HRESULT hr;
    if (mof_lexer_sign(&r->lexer, '(')) {
        hr = mof_lexer_next(&r->lexer);
        if (SUCCEEDED(hr))
            hr = add_value(r, q, &capacity);
        return SUCCEEDED(hr) ? want_sign(r, ')', MOF_E_EXPECTED_CLOSE_PAREN) : hr;
    }
    if (!mof_lexer_sign(&r->lexer, '{')) {
        q->values = memory_zero(1, sizeof *q->values);
        if (!q->values)
            return E_OUTOFMEMORY;
        q->values[0] = (struct mof_value){.kind = MOF_BOOLEAN, .number = 1, .text = text_copy("true")};
        q->count = 1;
        return q->values[0].text ? S_OK : E_OUTOFMEMORY;
    }
    do {
        hr = mof_lexer_next(&r->lexer);
        if (SUCCEEDED(hr))
            hr = add_value(r, q, &capacity);
    } while (SUCCEEDED(hr) && mof_lexer_sign(&r->lexer, ','));
    return SUCCEEDED(hr) ? want_sign(r, '}', MOF_E_EXPECTED_CLOSE_BRACE) : hr;
}

/* Reads ": Amended ToSubclass". */
static HRESULT take_flavors(struct reader *r, struct mof_qualifier *q)
{
    static const char *const flavors[] = {"Amended",        "ToInstance",      "ToSubclass",
                                          "NotToInstance",  "NotToSubclass",   "Restricted",
                                          "EnableOverride", "DisableOverride", "Translatable"};
    if (!mof_lexer_sign(&r->lexer, ':'))
        return S_OK;
    HRESULT hr = mof_lexer_next(&r->lexer);
    for (bool first = true; SUCCEEDED(hr) && (first || r->lexer.token == MOF_TOKEN_NAME); first = false) {
        size_t i = 0, count = sizeof flavors / sizeof flavors[0];
        while (i < count && !mof_lexer_word(&r->lexer, flavors[i]))
            i++;
        if (i == count)
            return mof_lexer_expected(&r->lexer, MOF_E_EXPECTED_FLAVOR_TYPE, "a flavor (Amended, ToInstance ...)");
        q->amended = q->amended || i == 0;
        hr = mof_lexer_next(&r->lexer);
    }
    return hr;
}

static HRESULT take_qualifier(struct reader *r, struct mof_qualifiers *list, size_t *capacity)
{
    if (list->count == MOF_QUALIFIERS_MOST)
        return mof_lexer_error(&r->lexer, MOF_E_OUT_OF_RANGE, "more than %u qualifiers", MOF_QUALIFIERS_MOST);
    if (!memory_grow((void **)&list->items, capacity, list->count + 1, sizeof *list->items))
        return E_OUTOFMEMORY;
    struct mof_qualifier *q = &list->items[list->count];
    *q = (struct mof_qualifier){.line = r->lexer.token_line};
    if (r->lexer.token == MOF_TOKEN_NAME && mof_qualifier_find(list, r->lexer.text.text))
        return mof_lexer_error(&r->lexer, MOF_E_DUPLICATE_QUALIFIER, "the qualifier '%s' appears twice",
                               r->lexer.text.text);
    HRESULT hr = take_name(r, MOF_E_EXPECTED_QUALIFIER_NAME, "a qualifier's name", &q->name);
    if (FAILED(hr)) {
        memory_free(q->name);
        return hr;
    }
    list->count++;
    hr = take_values(r, q);
    return SUCCEEDED(hr) ? take_flavors(r, q) : hr;
}

/* Reads "[...]", if present. */
static HRESULT take_qualifiers(struct reader *r, struct mof_qualifiers *list)
{
    size_t capacity = 0;
    HRESULT hr = S_OK;
    if (!mof_lexer_sign(&r->lexer, '['))
        return S_OK;
    do {
        hr = mof_lexer_next(&r->lexer);
        if (SUCCEEDED(hr))
            hr = take_qualifier(r, list, &capacity);
    } while (SUCCEEDED(hr) && mof_lexer_sign(&r->lexer, ','));
    return SUCCEEDED(hr) ? want_sign(r, ']', MOF_E_EXPECTED_CLOSE_BRACKET) : hr;
}

/* ---- skipped parts ---- */

/* Skips the text up to and including the next `end` outside brackets. */
static HRESULT skip_to(struct reader *r, char end)
{
    int depth = 0;
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && r->lexer.token != MOF_TOKEN_END) {
        char sign = r->lexer.token == MOF_TOKEN_SIGN ? r->lexer.text.text[0] : '\0';
        if (sign == end && !depth)
            return mof_lexer_next(&r->lexer);
        if (sign && strchr("([{", sign) && ++depth > DEPTH_MOST)
            return mof_lexer_error(&r->lexer, MOF_E_OUT_OF_RANGE, "brackets are nested more than %d deep", DEPTH_MOST);
        if (sign && strchr(")]}", sign) && --depth < 0)
            break;
        hr = mof_lexer_next(&r->lexer);
    }
    const char what[] = {'\'', end, '\'', '\0'};
    return FAILED(hr) ? hr : mof_lexer_expected(&r->lexer, MOF_E_EXPECTED_SEMI, what);
}

/* ---- classes ---- */

static HRESULT take_array(struct reader *r, struct mof_property *p)
{
    HRESULT hr = S_OK;
    if (!mof_lexer_sign(&r->lexer, '['))
        return S_OK;
    p->array = true;
    hr = mof_lexer_next(&r->lexer);
    if (SUCCEEDED(hr) && r->lexer.token == MOF_TOKEN_INTEGER) {
        if (r->lexer.negative || !r->lexer.number || r->lexer.number > UINT16_MAX)
            return mof_lexer_error(&r->lexer, MOF_E_OUT_OF_RANGE,
                                   "%s: an array must have 1 to 65535 elements, not %.40s", p->name,
                                   r->lexer.text.text);
        p->size = (uint32_t)r->lexer.number;
        hr = mof_lexer_next(&r->lexer);
    }
    return SUCCEEDED(hr) ? want_sign(r, ']', MOF_E_EXPECTED_CLOSE_BRACKET) : hr;
}

/* Reads uint32, CLASS or CLASS ref. *is_void is true if the type is void, which only methods can have. */
static HRESULT take_type(struct reader *r, struct mof_property *p, bool *is_void)
{
    *is_void = mof_lexer_word(&r->lexer, "void");
    p->type = MOF_TYPE_CLASS;
    for (size_t i = 0; i < MOF_TYPE_CLASS; i++)
        if (mof_lexer_word(&r->lexer, type_names[i]))
            p->type = (enum mof_type)i;
    if (p->type != MOF_TYPE_CLASS)
        return mof_lexer_next(&r->lexer);
    HRESULT hr = take_name(r, MOF_E_UNRECOGNIZED_TYPE, "a type or '}'", &p->type_name);
    return SUCCEEDED(hr) && mof_lexer_word(&r->lexer, "ref") ? mof_lexer_next(&r->lexer) : hr;
}

/* Reads a property, or a method (then *method is set). */
static HRESULT take_member(struct reader *r, struct mof_property *p, bool *method)
{
    HRESULT hr = take_qualifiers(r, &p->qualifiers);
    if (SUCCEEDED(hr))
        hr = take_type(r, p, method);
    p->line = r->lexer.token_line;
    if (SUCCEEDED(hr))
        hr = take_name(r, MOF_E_EXPECTED_PROPERTY_NAME, "a property's name", &p->name);
    if (FAILED(hr))
        return hr;
    if (*method || mof_lexer_sign(&r->lexer, '(')) {
        *method = true;
        return skip_to(r, ';');
    }
    hr = take_array(r, p);
    if (SUCCEEDED(hr) && mof_lexer_sign(&r->lexer, '='))
        return skip_to(r, ';');
    return SUCCEEDED(hr) ? want_sign(r, ';', MOF_E_EXPECTED_SEMI) : hr;
}

static HRESULT add_member(struct reader *r, struct mof_class *c, size_t *capacity)
{
    if (c->property_count == MOF_PROPERTIES_MOST)
        return mof_lexer_error(&r->lexer, MOF_E_OUT_OF_RANGE, "the class '%s' has more than %u properties", c->name,
                               MOF_PROPERTIES_MOST);
    if (!memory_grow((void **)&c->properties, capacity, c->property_count + 1, sizeof *c->properties))
        return E_OUTOFMEMORY;
    struct mof_property *p = &c->properties[c->property_count];
    bool method = false;
    *p = (struct mof_property){.size = 0};
    HRESULT hr = take_member(r, p, &method);
    for (size_t i = 0; SUCCEEDED(hr) && !method && i < c->property_count; i++)
        if (text_equal_nocase(c->properties[i].name, p->name))
            hr = error_set(MOF_E_DUPLICATE_PROPERTY, "%s(%u): the class '%s' already has a property '%s' in line %u",
                           r->lexer.source, (unsigned)p->line, c->name, p->name, (unsigned)c->properties[i].line);
    if (SUCCEEDED(hr) && !method) {
        c->property_count++;
        return S_OK;
    }
    memory_free(p->name);
    memory_free(p->type_name);
    qualifiers_clear(&p->qualifiers);
    return hr;
}

static HRESULT take_class_rest(struct reader *r, struct mof_class *c)
{
    size_t capacity = 0;
    HRESULT hr = take_name(r, MOF_E_EXPECTED_CLASS_NAME, "a class' name", &c->name);
    if (SUCCEEDED(hr) && mof_lexer_word(&r->lexer, "as")) {
        hr = mof_lexer_next(&r->lexer);
        if (SUCCEEDED(hr))
            hr = mof_lexer_next(&r->lexer);
    }
    if (SUCCEEDED(hr) && mof_lexer_sign(&r->lexer, ':')) {
        hr = mof_lexer_next(&r->lexer);
        if (SUCCEEDED(hr))
            hr = take_name(r, MOF_E_EXPECTED_CLASS_NAME, "the name of a base class", &c->superclass);
    }
    /* "class X;" only declares the class. */
    if (FAILED(hr) || mof_lexer_sign(&r->lexer, ';'))
        return FAILED(hr) ? hr : mof_lexer_next(&r->lexer);
    hr = want_sign(r, '{', MOF_E_EXPECTED_OPEN_BRACE);
    while (SUCCEEDED(hr) && !mof_lexer_sign(&r->lexer, '}'))
        hr = add_member(r, c, &capacity);
    if (SUCCEEDED(hr))
        hr = mof_lexer_next(&r->lexer);
    return SUCCEEDED(hr) ? want_sign(r, ';', MOF_E_EXPECTED_SEMI) : hr;
}

/* Reads a class and takes ownership of the qualifiers before it. */
static HRESULT take_class(struct reader *r, struct mof_qualifiers *qualifiers)
{
    struct mof_document *d = r->document;
    HRESULT hr = mof_lexer_next(&r->lexer);
    if (FAILED(hr))
        return hr;
    if (d->count == MOF_CLASSES_MOST)
        return mof_lexer_error(&r->lexer, MOF_E_OUT_OF_RANGE, "more than %u classes", MOF_CLASSES_MOST);
    if (!memory_grow((void **)&d->classes, &r->class_capacity, d->count + 1, sizeof *d->classes))
        return E_OUTOFMEMORY;
    struct mof_class *c = &d->classes[d->count++];
    *c = (struct mof_class){
        .source = d->source, .line = r->lexer.token_line, .language = r->language, .qualifiers = *qualifiers};
    *qualifiers = (struct mof_qualifiers){0};
    hr = take_class_rest(r, c);
    /* A forward declaration defines nothing. */
    if (SUCCEEDED(hr) && !c->property_count && !c->qualifiers.count && !c->superclass) {
        memory_free(c->name);
        d->count--;
    }
    return hr;
}

/* ---- directives ---- */

/* Handles a path such as \\.\root\wmi\ms_409: sets the language, and rejects paths on other computers. */
static HRESULT use_namespace(struct reader *r, const char *path)
{
    const char *last = path;
    if ((path[0] == '\\' || path[0] == '/') && path[1] == path[0]) {
        const char *rest = path + 2 + strcspn(path + 2, "\\/");
        if (rest - path != 3 || path[2] != '.')
            return mof_lexer_error(&r->lexer, MOF_E_INVALID_NAMESPACE,
                                   "the namespace '%.200s' is on another computer (use \\\\.\\)", path);
        last = rest;
    }
    for (const char *at = last; *at; at++)
        if (*at == '\\' || *at == '/')
            last = at + 1;
    uint64_t language = 0;
    char hex[16];
    if ((last[0] | 0x20) == 'm' && (last[1] | 0x20) == 's' && last[2] == '_' && strlen(last) < 12) {
        snprintf(hex, sizeof hex, "0x%s", last + 3);
        if (!text_to_u64(hex, &language) || language > UINT16_MAX)
            return mof_lexer_error(&r->lexer, MOF_E_INVALID_NAMESPACE, "the namespace '%.200s': '%s' is not a language",
                                   path, last);
    }
    r->language = (uint16_t)language;
    return S_OK;
}

static HRESULT take_pragma(struct reader *r)
{
    static const char *const without_effect[] = {"autorecover", "classflags",     "instanceflags", "amendment",
                                                 "locale",      "deleteinstance", "deleteclass",   "source",
                                                 "nonlocal",    "instancelocale"};
    struct mof_lexer *l = &r->lexer;
    HRESULT hr = mof_lexer_next(l);
    if (FAILED(hr))
        return hr;
    if (!mof_lexer_word(l, "pragma"))
        return mof_lexer_expected(l, MOF_E_INVALID_PRAGMA, "pragma");
    hr = mof_lexer_next(l);
    if (FAILED(hr))
        return hr;
    bool is_namespace = mof_lexer_word(l, "namespace");
    if (mof_lexer_word(l, "include"))
        return mof_lexer_error(l, MOF_E_INVALID_INCLUDE_FILE,
                               "#pragma include is not supported (add the included file first)");
    size_t i = 0, count = sizeof without_effect / sizeof without_effect[0];
    while (!is_namespace && i < count && !mof_lexer_word(l, without_effect[i]))
        i++;
    if (i == count)
        return mof_lexer_expected(l, MOF_E_INVALID_PRAGMA, "a pragma (namespace, classflags ...)");
    hr = mof_lexer_next(l);
    if (FAILED(hr) || (!is_namespace && !mof_lexer_sign(l, '(')))
        return hr;
    hr = want_sign(r, '(', MOF_E_INVALID_PRAGMA);
    if (SUCCEEDED(hr) && is_namespace) {
        hr = l->token == MOF_TOKEN_STRING ? use_namespace(r, l->text.text)
                                          : mof_lexer_expected(l, MOF_E_INVALID_NAMESPACE, "a namespace in quotes");
        if (SUCCEEDED(hr))
            hr = mof_lexer_next(l);
        return SUCCEEDED(hr) ? want_sign(r, ')', MOF_E_EXPECTED_CLOSE_PAREN) : hr;
    }
    return SUCCEEDED(hr) ? skip_to(r, ')') : hr;
}

static HRESULT take_declaration(struct reader *r)
{
    if (mof_lexer_sign(&r->lexer, '#'))
        return take_pragma(r);
    struct mof_qualifiers qualifiers = {0};
    HRESULT hr = take_qualifiers(r, &qualifiers);
    if (SUCCEEDED(hr)) {
        if (mof_lexer_word(&r->lexer, "class"))
            hr = take_class(r, &qualifiers);
        else if (mof_lexer_word(&r->lexer, "instance") || mof_lexer_word(&r->lexer, "qualifier"))
            hr = skip_to(r, ';');
        else if (mof_lexer_word(&r->lexer, "typedef"))
            hr = mof_lexer_error(&r->lexer, MOF_E_TYPEDEF_NOT_SUPPORTED, "typedef is not supported");
        else
            hr = mof_lexer_expected(&r->lexer, MOF_E_INVALID_CLASS, "class, instance or #pragma");
    }
    qualifiers_clear(&qualifiers);
    return hr;
}

HRESULT mof_text_read(const char *source, const void *bytes, size_t size, struct mof_document **out)
{
    char *text = NULL;
    struct reader r = {.document = memory_zero(1, sizeof *r.document)};
    HRESULT hr = r.document ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        r.document->source = text_copy(source);
        hr = r.document->source ? source_text_decode(bytes, size, &text) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr)) {
        size_t length = strlen(text);
        hr = length > MOF_TEXT_MOST
                 ? error_set(MOF_E_INVALID_FILE, "cannot read '%s': more than %u bytes of text", source, MOF_TEXT_MOST)
                 : mof_lexer_begin(&r.lexer, r.document->source, text, length);
        while (SUCCEEDED(hr) && r.lexer.token != MOF_TOKEN_END)
            hr = take_declaration(&r);
        mof_lexer_end(&r.lexer);
    }
    memory_free(text);
    if (FAILED(hr)) {
        mof_document_free(r.document);
        return hr;
    }
    *out = r.document;
    return S_OK;
}
