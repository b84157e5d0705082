/* SPDX-License-Identifier: MIT */
/* Creates a page: reads the report, builds the page's document, transforms it with a sheet, and writes the file.
   libxslt allocates from the memory of the document (xml_memory.c). If this memory is exhausted, all of it is
   released. */
#include "engine/report/page.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/xml_document.h"
#include "engine/base/xpath_lists.h"
#include "engine/base/xpath_pairs.h"
#include "engine/report/make/report_document.h"
#include "engine/report/page/page_parts.h"

#include <stdatomic.h>
#include <stdio.h>
#include <libxslt/documents.h>
#include <libxslt/security.h>
#include <libxslt/transform.h>
#include <libxslt/xslt.h>
#include <libxslt/xsltutils.h>
#include <string.h>

#define MOST_CELLS 16000                /* maximum cells of a page; about 1.2 MB */
#define MOST_WAVES ((size_t)5500 << 10) /* maximum bytes of the values for the script */

struct making {
    const struct page_make *make;
    char *page;
    size_t size;
};

static HRESULT cancelled(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_CANCELLED) ? error_set(hr, "the page was stopped; no new page was written")
                                                     : hr;
}

/* `part` is the divisor of all limits. It is 1 at first, and greater if the page was too large. */
static HRESULT transform_share(struct making *m, size_t part, struct texts *notes)
{
    const struct page_make *make = m->make;
    struct text_buffer document = {0};
    const struct page_bounds bounds = {MOST_CELLS / part, make->picture ? 0 : MOST_WAVES / part, make->stop,
                                       make->context};
    HRESULT hr = page_document_make(make->report, &bounds, &document, notes);
    const char *sheet = make->picture ? page_sheet_svg : page_sheet_html;
    m->size = document.length;
    if (SUCCEEDED(hr) && document.length <= PAGE_MOST_INPUT) /* if the document is too large, the page would be too
                                                                large as well */
        hr = page_transform(
            &(struct page_part){make->picture ? "the style sheet for pictures" : "the style sheet for pages", sheet,
                                strlen(sheet)},
            &(struct page_part){make->report, document.text, document.length}, make, &m->page, &m->size);
    text_buffer_free(&document);
    return hr;
}

/* Reduces the number of rows until the page is small enough. The limit assumes a typical row size, but rows may be
   larger, for example if all cells are paths. */
static HRESULT page_fit_size(struct making *m, struct texts *notes)
{
    struct texts again = {0};
    size_t part = 1;
    HRESULT hr = transform_share(m, part, notes);
    while (SUCCEEDED(hr) && m->size > PAGE_MOST_BYTES && part < MOST_CELLS) {
        memory_free(m->page);
        m->page = NULL;
        part *= 4;
        hr = transform_share(m, part, &again);
    }
    texts_free(&again);
    if (SUCCEEDED(hr) && m->size > PAGE_MOST_BYTES)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE),
                       "cannot write the page of '%s': its %llu bytes exceed the limit of %llu", m->make->report,
                       (unsigned long long)m->size, (unsigned long long)PAGE_MOST_BYTES);
    return hr;
}

static HRESULT transform_by_own(struct making *m)
{
    const struct page_make *make = m->make;
    struct page_part sheet = {.name = make->sheet}, report = {.name = make->report};
    char *sheet_text = NULL, *report_text = NULL;
    HRESULT hr = file_load(make->sheet, SHEET_MOST_BYTES, &sheet_text, &sheet.size);
    if (SUCCEEDED(hr))
        hr = file_load(make->report, PAGE_MOST_INPUT, &report_text, &report.size);
    sheet.xml = sheet_text;
    report.xml = report_text;
    if (SUCCEEDED(hr))
        hr = page_transform(&sheet, &report, make, &m->page, &m->size);
    memory_free(sheet_text);
    memory_free(report_text);
    return hr;
}

static HRESULT write_page(const struct making *m)
{
    const struct page_make *make = m->make;
    char *draft = text_format("%s.new", make->output);
    struct file *f = NULL;
    if (!draft)
        return E_OUTOFMEMORY;
    HRESULT hr = report_draft_open(make->base, draft, &f);
    if (SUCCEEDED(hr)) {
        hr = file_write(f, m->page, m->size);
        if (SUCCEEDED(hr))
            hr = file_flush(f);
        file_close(f);
        if (SUCCEEDED(hr))
            hr = file_rename(draft, make->output);
        const struct error_kept why = error_keep(hr);
        if (FAILED(hr))
            report_draft_drop(make->base, draft);
        hr = FAILED(hr) ? error_restore(&why) : S_OK;
    }
    memory_free(draft);
    return hr;
}

HRESULT page_make(const struct page_make *make, struct texts *notes)
{
    struct making m = {.make = make};
    HRESULT hr = make->sheet && !make->picture ? transform_by_own(&m) : page_fit_size(&m, notes);
    if (SUCCEEDED(hr))
        hr = write_page(&m);
    const struct error_kept why = error_keep(cancelled(hr));
    memory_free(m.page);
    return FAILED(why.hr) ? error_restore(&why) : S_OK;
}

#define MOST_DEPTH     200                  /* maximum depth of nested templates */
#define MOST_VARIABLES 20000                /* maximum variables that exist at one time */
#define MOST_STEPS     ((unsigned long)5e6) /* maximum instructions that a sheet executes */
#define MOST_XPATH     ((unsigned long)5e7) /* maximum operations of a sheet's XPath expressions; about a second */
#define MOST_GIVEN     ((uint64_t)2 << 30)  /* maximum bytes of all texts and nodes, including freed ones */

/* The first message of libxml2 or libxslt, on one line. */
struct complaint {
    char text[400];
    size_t length;
};
static _Thread_local struct complaint *complaining;

static void xslt_keep_complaint(const char *text)
{
    struct complaint *c = complaining;
    for (; c && *text && c->length + 1 < sizeof c->text; text++)
        if ((unsigned char)*text >= ' ')
            c->text[c->length++] = *text;
        else if (c->length && c->text[c->length - 1] != ' ')
            c->text[c->length++] = ' ';
    if (c)
        c->text[c->length] = 0;
}

static void on_error(void *context, const char *format, ...) PRINTF_LIKE(2, 3);
static void on_error(void *context, const char *format, ...)
{
    char text[400];
    va_list list;
    (void)context;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    xslt_keep_complaint(text);
}

#if LIBXML_VERSION >= 21200
static void on_structured(void *context, const xmlError *e)
#else
static void on_structured(void *context, xmlErrorPtr e)
#endif
{
    (void)context;
    xslt_keep_complaint(e && e->message ? e->message : "");
}

static xmlDocPtr load_nothing(const xmlChar *uri, xmlDictPtr names, int options, void *context, xsltLoadType type)
{
    (void)uri, (void)names, (void)options, (void)context, (void)type;
    xslt_keep_complaint("the style sheet must not load other documents");
    return NULL;
}

static xsltSecurityPrefsPtr forbidden;

static void begin_xslt(void *about)
{
    static const xsltSecurityOption options[] = {XSLT_SECPREF_READ_FILE, XSLT_SECPREF_WRITE_FILE,
                                                 XSLT_SECPREF_CREATE_DIRECTORY, XSLT_SECPREF_READ_NETWORK,
                                                 XSLT_SECPREF_WRITE_NETWORK};
    (void)about;
    xsltInit();
    xsltSetGenericErrorFunc(NULL, on_error);
    xsltSetLoaderFunc(load_nothing);
    forbidden = xsltNewSecurityPrefs();
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        xsltSetSecurityPrefs(forbidden, options[i], xsltSecurityForbid);
    xsltSetDefaultSecurityPrefs(forbidden); /* libxslt checks imports while it reads a sheet */
}

/* Creates libxslt's global data before the first sheet, outside the memory of a sheet. */
static bool xslt_begin(void)
{
    static struct lock lock = LOCK_INIT;
    static atomic_bool begun;
    if (atomic_load(&begun))
        return true;
    lock_enter(&lock);
    if (!atomic_load(&begun))
        atomic_store(&begun, xml_memory_begin() && xml_memory_keep(begin_xslt, NULL));
    const bool done = atomic_load(&begun);
    lock_leave(&lock);
    return done;
}

/* ---- one transformation ---- */

struct transforming {
    const struct page_part *sheet, *document;
    struct complaint complaint;
    HRESULT failed;
    const struct page_part *at; /* where the first problem is: in the sheet or the document */
    const char *why;            /* NULL means that libxslt's message is the reason */
    xmlChar *result;
    int size;
    bool is_own; /* a sheet of the user */
    /* This is not a local variable, because any allocation by libxml2 may leave the function by a jump (longjmp). */
    struct text_buffer expression;
};

static void wrong(struct transforming *t, const struct page_part *at, const char *why)
{
    t->failed = OPENPLA_E_MALFORMED_XML;
    t->at = at;
    t->why = why;
}

static xmlDocPtr read_part(struct transforming *t, const struct page_part *part, int options)
{
    enum xml_excess excess = XML_NO_EXCESS;
    xmlParserCtxtPtr context = xmlNewParserCtxt();
    if (!context) {
        t->failed = E_OUTOFMEMORY;
        return NULL;
    }
    xml_limits_watch(context, &excess);
    xmlDocPtr d = xmlCtxtReadMemory(context, part->xml, (int)part->size, NULL, "UTF-8",
                                    XML_PARSE_NONET | XML_PARSE_IGNORE_ENC | options);
    if (!d || excess != XML_NO_EXCESS)
        wrong(t, part, excess != XML_NO_EXCESS ? "too many names or namespaces" : NULL);
    else if (d->intSubset || d->extSubset)
        wrong(t, part, "document type declarations are not allowed");
    return FAILED(t->failed) ? NULL : d;
}

static bool has_expression(const xmlAttr *a)
{
    static const char *const names[] = {"select", "test"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!a->ns && !strcmp((const char *)a->name, names[i]))
            return a->children && !a->children->next && a->children->type == XML_TEXT_NODE;
    return false;
}

static xmlNodePtr next_element(xmlNodePtr e)
{
    xmlNodePtr next = e->children;
    while (!next && e) {
        next = e->next;
        e = e->parent;
    }
    return next;
}

/* Replaces the sheet's comparisons of node pairs with functions. */
static void sheet_use_functions(struct transforming *t, xmlNodePtr root)
{
    for (xmlNodePtr e = root; e && SUCCEEDED(t->failed); e = next_element(e)) {
        if (e->type != XML_ELEMENT_NODE || !e->ns || !xmlStrEqual(e->ns->href, XSLT_NAMESPACE))
            continue;
        for (xmlAttrPtr a = e->properties; a; a = a->next)
            if (has_expression(a)) {
                t->expression.length = 0;
                xpath_use_functions((const char *)a->children->content, false, true, &t->expression);
                if (t->expression.failed)
                    t->failed = E_OUTOFMEMORY;
                else if (strcmp(t->expression.text, (const char *)a->children->content) != 0)
                    xmlNodeSetContent(a->children, BAD_CAST t->expression.text);
            }
    }
}

static void sheet_apply(struct transforming *t, xsltStylesheetPtr sheet, xmlDocPtr document)
{
    xsltTransformContextPtr context = xsltNewTransformContext(sheet, document);
    if (!context || xsltSetCtxtSecurityPrefs(forbidden, context) != 0) {
        t->failed = E_OUTOFMEMORY;
        return;
    }
    xpath_lists_use(context->xpathCtxt);
    context->maxTemplateDepth = MOST_DEPTH;
    context->maxTemplateVars = MOST_VARIABLES;
    context->opLimit = MOST_STEPS;
    context->xpathCtxt->opLimit = MOST_XPATH;
    xmlDocPtr result = xsltApplyStylesheetUser(sheet, document, NULL, NULL, NULL, context);
    if (!result || context->state != XSLT_STATE_OK)
        wrong(t, t->sheet, NULL);
    else if (xsltSaveResultToString(&t->result, &t->size, result, sheet) != 0)
        wrong(t, t->sheet, "the result cannot be serialized");
    else if ((size_t)t->size > PAGE_MOST_OUTPUT)
        wrong(t, t->sheet, "the result exceeds 64 MB");
}

static void transform_in_memory(void *about)
{
    struct transforming *t = about;
    xmlDocPtr sheet = read_part(t, t->sheet, XSLT_PARSE_OPTIONS & ~(XML_PARSE_NOENT | XML_PARSE_DTDLOAD));
    xmlDocPtr document = sheet ? read_part(t, t->document, XML_PARSE_NOCDATA) : NULL;
    if (!sheet || !document)
        return;
    if (t->is_own)
        sheet_use_functions(t, xmlDocGetRootElement(sheet));
    if (FAILED(t->failed))
        return;
    xsltStylesheetPtr compiled = xsltParseStylesheetDoc(sheet);
    if (!compiled || compiled->errors)
        wrong(t, t->sheet, NULL);
    else
        sheet_apply(t, compiled, document);
}

static HRESULT check_part(const struct page_part *part, size_t most)
{
    if (part->size > most)
        return error_set(OPENPLA_E_MALFORMED_XML, "cannot create a page of '%s': the report exceeds %u MB", part->name,
                         (unsigned)(most >> 20));
    const HRESULT hr = xml_limits_check(part->xml, part->size);
    return FAILED(hr) ? error_prefix(hr, "%s", part->name) : S_OK;
}

static HRESULT take_result(const struct transforming *t, char **out, size_t *size)
{
    if (FAILED(t->failed) && t->at)
        return error_set(t->failed, "%s: %s", t->at->name,
                         t->why               ? t->why
                         : *t->complaint.text ? t->complaint.text
                                              : "libxslt rejects it");
    if (FAILED(t->failed))
        return t->failed;
    *size = t->result && t->size > 0 ? (size_t)t->size : 0;
    *out = text_copy_n(*size ? (const char *)t->result : "", *size);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Stops a transformation if the caller of page_make requests it, or if a sheet has run for too long. */
struct transform_watch {
    const struct page_make *make;
    uint64_t began; /* clock_monotonic_ms */
    uint32_t seconds;
    bool is_late;
};

static bool transform_is_over(void *about)
{
    struct transform_watch *w = about;
    w->is_late = clock_passed_ms(w->began, clock_monotonic_ms()) >= (uint64_t)w->seconds * 1000;
    return w->is_late || (w->make->stop && w->make->stop(w->make->context));
}

HRESULT page_transform(const struct page_part *sheet, const struct page_part *document, const struct page_make *make,
                       char **out, size_t *size)
{
    struct transform_watch watch = {make, clock_monotonic_ms(), make->seconds ? make->seconds : PAGE_SECONDS, false};
    struct transforming t = {.sheet = sheet, .document = document, .is_own = make->sheet};
    *out = NULL;
    *size = 0;
    HRESULT hr = check_part(sheet, SHEET_MOST_BYTES);
    if (SUCCEEDED(hr))
        hr = check_part(document, PAGE_MOST_INPUT);
    if (FAILED(hr))
        return hr;
    struct xml_memory *memory = xslt_begin() ? xml_memory_create_freeing() : NULL;
    if (!memory)
        return E_OUTOFMEMORY;
    xml_memory_limit_work(memory, MOST_GIVEN);
    xml_memory_watch(memory, transform_is_over, &watch);
    complaining = &t.complaint;
    xmlSetStructuredErrorFunc(NULL, on_structured);
    hr = xml_memory_use(memory, transform_in_memory, &t);
    xmlSetStructuredErrorFunc(NULL, NULL);
    complaining = NULL;
    text_buffer_free(&t.expression);
    if (SUCCEEDED(hr))
        hr = take_result(&t, out, size);
    else if (watch.is_late)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT), "cannot transform '%s': it ran longer than %u seconds",
                       sheet->name, (unsigned)watch.seconds);
    else if (xml_memory_given(memory) > MOST_GIVEN)
        hr =
            error_set(hr, "cannot transform '%s': its strings exceed %u GB", sheet->name, (unsigned)(MOST_GIVEN >> 30));
    const struct error_kept why = error_keep(hr);
    xml_memory_destroy(memory);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}
