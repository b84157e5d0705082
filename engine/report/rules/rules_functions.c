/* SPDX-License-Identifier: MIT */
#include "engine/report/rules/rules_functions.h"

#include <stdbool.h>
#include <stdint.h>
#include <libxml/xpathInternals.h>
#include <string.h>

/* ---- texts of nodes ---- */

/* In document order; by hand, as deep as documents are. */
static const xmlNode *next_below(const xmlNode *node, const xmlNode *top)
{
    if (node->children)
        return node->children;
    while (node != top && !node->next)
        node = node->parent;
    return node == top ? NULL : node->next;
}

/* The text of all below it is looked for: that walks along them whether they have any or not. */
static bool count_text(xmlXPathParserContextPtr parser, const xmlNode *node)
{
    xmlXPathContextPtr context = parser->context;
    const bool has_more = node && (node->type == XML_ELEMENT_NODE || node->type == XML_DOCUMENT_NODE);
    for (const xmlNode *n = has_more ? node->children : NULL; n && context->opCount <= context->opLimit;
         n = next_below(n, node))
        context->opCount++;
    if (context->opCount <= context->opLimit)
        return true;
    xmlXPathErr(parser, XPATH_OP_LIMIT_EXCEEDED);
    return false;
}

/* Of the arguments of a function that takes texts of them, or of the context's node where it has none. `all`: of each
   node of a list, and not of the first alone. */
static bool count_texts(xmlXPathParserContextPtr parser, int count, bool all)
{
    if (!count)
        return count_text(parser, parser->context->node);
    for (int i = 1; i <= count && i <= parser->valueNr; i++) {
        xmlXPathObjectPtr value = parser->valueTab[parser->valueNr - i];
        xmlNodeSetPtr nodes = value && value->type == XPATH_NODESET ? value->nodesetval : NULL;
        if (nodes && nodes->nodeNr > 1 && !all)
            xmlXPathNodeSetSort(nodes); /* as libxml2 does to find it */
        for (int k = 0; nodes && k < (all ? nodes->nodeNr : nodes->nodeNr > 0); k++)
            if (!count_text(parser, nodes->nodeTab[k]))
                return false;
    }
    return true;
}

#define COUNTED(name, function, all)                                                                                   \
    static void name(xmlXPathParserContextPtr parser, int count)                                                       \
    {                                                                                                                  \
        if (count_texts(parser, count, all))                                                                           \
            function(parser, count);                                                                                   \
    }
COUNTED(string, xmlXPathStringFunction, false)
COUNTED(number, xmlXPathNumberFunction, false)
COUNTED(string_length, xmlXPathStringLengthFunction, false)
COUNTED(normalize_space, xmlXPathNormalizeFunction, false)
COUNTED(concat, xmlXPathConcatFunction, false)
COUNTED(starts_with, xmlXPathStartsWithFunction, false)
COUNTED(substring, xmlXPathSubstringFunction, false)
COUNTED(translate, xmlXPathTranslateFunction, false)
COUNTED(sum, xmlXPathSumFunction, true)
COUNTED(floor_of, xmlXPathFloorFunction, false)
COUNTED(ceiling_of, xmlXPathCeilingFunction, false)
COUNTED(round_of, xmlXPathRoundFunction, false)

/* ---- searching ---- */

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
    if (!count_texts(parser, count, false))
        return false;
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

/* ---- which there are ---- */

static xmlXPathFunction look_up(void *context, const xmlChar *name, const xmlChar *space)
{
    static const struct {
        const char *name;
        xmlXPathFunction function;
    } ours[] = {{"ceiling", ceiling_of},
                {"concat", concat},
                {"contains", contains},
                {"floor", floor_of},
                {"normalize-space", normalize_space},
                {"number", number},
                {"round", round_of},
                {"starts-with", starts_with},
                {"string", string},
                {"string-length", string_length},
                {"substring", substring},
                {"substring-after", substring_after},
                {"substring-before", substring_before},
                {"sum", sum},
                {"translate", translate}};
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
