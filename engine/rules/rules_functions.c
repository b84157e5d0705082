/* SPDX-License-Identifier: MIT */
#include "engine/rules/rules_functions.h"

#include <stdbool.h>
#include <stdint.h>
#include <libxml/xpathInternals.h>
#include <string.h>

struct search {
    xmlChar *in, *what;
    const char *at; /* where it begins in `in`; NULL: it is not there */
};

/* Counts what it compared. False: that is too much. */
static bool find(xmlXPathParserContextPtr parser, struct search *s)
{
    xmlXPathContextPtr context = parser->context;
    const char *what = (const char *)s->what;
    uint64_t compared = 0;
    const uint64_t most =
        context->opLimit > context->opCount ? (uint64_t)(context->opLimit - context->opCount) * COMPARED_BYTES : 0;
    s->at = *what ? NULL : (const char *)s->in;
    for (const char *c = (const char *)s->in; !s->at && compared <= most && (c = strchr(c, *what)); c++) {
        size_t same = 1;
        while (what[same] && c[same] == what[same])
            same++;
        compared += same;
        s->at = what[same] ? NULL : c;
    }
    context->opCount += (unsigned long)(compared / COMPARED_BYTES);
    if (compared <= most)
        return true;
    xmlXPathErr(parser, XPATH_OP_LIMIT_EXCEEDED);
    return false;
}

/* The two arguments, and what came of the search. False: there is an error. */
static bool begin(xmlXPathParserContextPtr parser, int count, struct search *s)
{
    *s = (struct search){0};
    if (count != 2) {
        xmlXPathSetArityError(parser);
        return false;
    }
    s->what = xmlXPathPopString(parser);
    s->in = xmlXPathPopString(parser);
    return s->what && s->in && parser->error == XPATH_EXPRESSION_OK && find(parser, s);
}

static void end(struct search *s)
{
    xmlFree(s->in);
    xmlFree(s->what);
}

static void contains(xmlXPathParserContextPtr parser, int count)
{
    struct search s;
    if (begin(parser, count, &s))
        valuePush(parser, xmlXPathNewBoolean(s.at != NULL));
    end(&s);
}

static void substring_before(xmlXPathParserContextPtr parser, int count)
{
    struct search s;
    if (begin(parser, count, &s)) {
        s.in[s.at ? s.at - (const char *)s.in : 0] = 0;
        valuePush(parser, xmlXPathNewString(s.in));
    }
    end(&s);
}

static void substring_after(xmlXPathParserContextPtr parser, int count)
{
    struct search s;
    if (begin(parser, count, &s))
        valuePush(parser, xmlXPathNewString(BAD_CAST(s.at ? s.at + strlen((const char *)s.what) : "")));
    end(&s);
}

static xmlXPathFunction look_up(void *context, const xmlChar *name, const xmlChar *space)
{
    static const struct {
        const char *name;
        xmlXPathFunction function;
    } ours[] = {{"contains", contains}, {"substring-before", substring_before}, {"substring-after", substring_after}};
    (void)context;
    for (size_t i = 0; i < sizeof ours / sizeof *ours && !space; i++)
        if (!strcmp((const char *)name, ours[i].name))
            return ours[i].function;
    return NULL;
}

void rules_functions_use(xmlXPathContextPtr context)
{
    xmlXPathRegisterFuncLookup(context, look_up, NULL);
}
