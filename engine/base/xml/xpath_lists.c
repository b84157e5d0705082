/* SPDX-License-Identifier: MIT */
/* The XPath functions openpla-compare('=', a, b), openpla-union(a, b ...) and openpla-tick(). Comparisons and unions
   have the results of XPath 1.0 (3.3, 3.4). For a = b, a hash table contains the strings of the shorter list, and each
   string of the longer list is compared with the string that has the same hash. a != b is true if any string of the two
   lists differs from the first string of `a`. a < b is true if the smallest number of `a` is less than the largest
   number of `b`. All memory is allocated through libxml2, so it counts toward the limits of the evaluation. */
#include "engine/base/xpath_lists.h"

#include "engine/base/text.h"
#include "engine/base/xpath_pairs.h"

#include <stdbool.h>
#include <stdint.h>
#include <libxml/xpathInternals.h>
#include <math.h>
#include <string.h>

/* ---- counting ---- */

static bool count(xmlXPathParserContextPtr parser, unsigned long operations)
{
    xmlXPathContextPtr context = parser->context;
    context->opCount += operations;
    if (!context->opLimit || context->opCount <= context->opLimit)
        return true;
    xmlXPathErr(parser, XPATH_OP_LIMIT_EXCEEDED);
    return false;
}

/* Returns the next node below `top` in document order. */
static const xmlNode *next_below(const xmlNode *node, const xmlNode *top)
{
    if (node->type == XML_ELEMENT_NODE && node->children)
        return node->children;
    while (node && node != top && !node->next)
        node = node->parent;
    return !node || node == top ? NULL : node->next;
}

/* Returns the node's string-value (XPath 5) and counts the nodes that it visits. libxml2's own function enlarges the
   string of a whole report 100 bytes at a time. NULL: there were too many operations. */
static xmlChar *node_text(xmlXPathParserContextPtr parser, xmlNodePtr top)
{
    if (top->type != XML_ELEMENT_NODE && top->type != XML_DOCUMENT_NODE)
        return count(parser, 1) ? xmlXPathCastNodeToString(top) : NULL;
    size_t size = 0;
    xmlChar *text = NULL;
    for (int pass = 0; pass < 2; pass++) {
        unsigned long visited = 1;
        size_t at = 0;
        for (const xmlNode *n = top->children; n; n = next_below(n, top), visited++) {
            const bool is_text = (n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE) && n->content;
            const size_t part = is_text ? strlen((const char *)n->content) : 0;
            if (text && part)
                memcpy(text + at, n->content, part);
            at += part;
        }
        size = at;
        if (!text && !count(parser, visited))
            return NULL;
        if (!text)
            text = xmlMalloc(size + 1);
        if (!text)
            return NULL;
    }
    text[size] = 0;
    return text;
}

/* ---- hash tables ---- */

struct entry {
    uint64_t hash;
    xmlNodePtr node; /* NULL: free */
};
struct table {
    struct entry *entries;
    size_t mask;
};

static void table_create(struct table *t, int nodes)
{
    size_t size = 16;
    while (size < (size_t)nodes * 2)
        size *= 2;
    t->entries = xmlMalloc(size * sizeof *t->entries);
    t->mask = size - 1;
    memset(t->entries, 0, size * sizeof *t->entries);
}

/* Returns the first entry with this hash from `at` on, or a free entry. */
static struct entry *table_find(struct table *t, uint64_t hash, size_t at)
{
    at &= t->mask;
    while (t->entries[at].node && t->entries[at].hash != hash)
        at = (at + 1) & t->mask;
    return &t->entries[at];
}

static uint64_t mixed(uint64_t hash)
{
    hash ^= hash >> 32;
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* ---- comparing ---- */

static bool is_empty(const xmlNodeSet *s)
{
    return !s || !s->nodeNr;
}

static bool lists_equal(xmlXPathParserContextPtr parser, const xmlNodeSet *a, const xmlNodeSet *b)
{
    const xmlNodeSet *few = a->nodeNr < b->nodeNr ? a : b, *many = few == a ? b : a;
    struct table t;
    bool found = false;
    table_create(&t, few->nodeNr);
    for (int pass = 0; pass < 2 && !found; pass++) {
        const xmlNodeSet *list = pass ? many : few;
        for (int i = 0; i < list->nodeNr && !found; i++) {
            xmlChar *text = node_text(parser, list->nodeTab[i]);
            if (!text)
                break;
            const uint64_t hash = mixed(hash_bytes(HASH_START, text, strlen((const char *)text)));
            struct entry *e = table_find(&t, hash, (size_t)hash);
            if (!pass && !e->node)
                *e = (struct entry){hash, list->nodeTab[i]};
            if (pass && e->node) { /* two strings with the same hash are almost always equal */
                xmlChar *other = node_text(parser, e->node);
                found = other && xmlStrEqual(text, other);
                xmlFree(other);
            }
            xmlFree(text);
        }
    }
    xmlFree(t.entries);
    return found;
}

static bool lists_differ(xmlXPathParserContextPtr parser, const xmlNodeSet *a, const xmlNodeSet *b)
{
    xmlChar *first = node_text(parser, a->nodeTab[0]);
    bool differ = false;
    for (int pass = 0; first && pass < 2 && !differ; pass++) {
        const xmlNodeSet *list = pass ? a : b;
        for (int i = 0; i < list->nodeNr && !differ; i++) {
            xmlChar *text = node_text(parser, list->nodeTab[i]);
            if (!text)
                break;
            differ = !xmlStrEqual(text, first);
            xmlFree(text);
        }
    }
    xmlFree(first);
    return differ;
}

/* Returns the smallest or largest number of the list; NaN if no node is a number. */
static double extreme(xmlXPathParserContextPtr parser, const xmlNodeSet *s, bool greatest)
{
    double best = (double)NAN;
    for (int i = 0; i < s->nodeNr; i++) {
        xmlChar *text = node_text(parser, s->nodeTab[i]);
        if (!text)
            break;
        const double number = xmlXPathCastStringToNumber(text);
        xmlFree(text);
        if (!isnan(number) && (isnan(best) || (greatest ? number > best : number < best)))
            best = number;
    }
    return best;
}

static bool lists_ordered(xmlXPathParserContextPtr parser, const char *sign, const xmlNodeSet *a, const xmlNodeSet *b)
{
    const bool below = *sign == '<';
    const double x = extreme(parser, a, !below), y = extreme(parser, b, below);
    return below ? (sign[1] ? x <= y : x < y) : (sign[1] ? x >= y : x > y);
}

/* Compares as libxml2 does. Used if an operand is not a list; the value of a variable can have any type. */
static bool values_compared(xmlXPathParserContextPtr parser, const char *sign, xmlXPathObjectPtr a, xmlXPathObjectPtr b)
{
    valuePush(parser, a);
    valuePush(parser, b);
    if (*sign == '=' || *sign == '!')
        return *sign == '=' ? xmlXPathEqualValues(parser) : xmlXPathNotEqualValues(parser);
    return xmlXPathCompareValues(parser, *sign == '<', !sign[1]);
}

static bool is_list(const xmlXPathObject *o)
{
    return o && (o->type == XPATH_NODESET || o->type == XPATH_XSLT_TREE);
}

static void compare_lists(xmlXPathParserContextPtr parser, int arguments)
{
    if (arguments != 3) {
        xmlXPathSetArityError(parser);
        return;
    }
    xmlXPathObjectPtr b = valuePop(parser), a = valuePop(parser);
    xmlChar *sign = xmlXPathPopString(parser);
    bool is = false;
    if (!a || !b || !sign || parser->error != XPATH_EXPRESSION_OK || !strchr("=!<>", *sign) || !*sign) {
        xmlXPathSetTypeError(parser);
    } else if (!is_list(a) || !is_list(b)) {
        is = values_compared(parser, (const char *)sign, a, b);
        a = b = NULL; /* libxml2 has freed them */
    } else if (!is_empty(a->nodesetval) && !is_empty(b->nodesetval)) {
        is = *sign == '='   ? lists_equal(parser, a->nodesetval, b->nodesetval)
             : *sign == '!' ? lists_differ(parser, a->nodesetval, b->nodesetval)
                            : lists_ordered(parser, (const char *)sign, a->nodesetval, b->nodesetval);
    }
    xmlFree(sign);
    xmlXPathFreeObject(a);
    xmlXPathFreeObject(b);
    if (parser->error == XPATH_EXPRESSION_OK)
        valuePush(parser, xmlXPathNewBoolean(is));
}

/* ---- joining ---- */

static void join_lists(xmlXPathParserContextPtr parser, int arguments)
{
    const int before = parser->valueNr - arguments;
    int nodes = 0;
    struct table t;
    for (int i = 0; i < arguments; i++) {
        const xmlXPathObject *o = i + before >= 0 ? parser->valueTab[before + i] : NULL;
        if (!is_list(o)) {
            xmlXPathSetTypeError(parser);
            return;
        }
        nodes += o->nodesetval ? o->nodesetval->nodeNr : 0;
    }
    if (!count(parser, (unsigned long)nodes))
        return;
    xmlXPathObjectPtr all = xmlXPathNewNodeSet(NULL);
    table_create(&t, nodes);
    for (int i = 0; i < arguments; i++) {
        const xmlNodeSet *s = parser->valueTab[before + i]->nodesetval;
        for (int k = 0; s && k < s->nodeNr; k++) {
            const uint64_t hash = mixed((uint64_t)(uintptr_t)s->nodeTab[k]);
            struct entry *e = table_find(&t, hash, (size_t)hash);
            while (e->node && e->node != s->nodeTab[k])
                e = table_find(&t, hash, (size_t)(e - t.entries) + 1);
            if (e->node)
                continue;
            *e = (struct entry){hash, s->nodeTab[k]};
            xmlXPathNodeSetAddUnique(all->nodesetval, s->nodeTab[k]);
        }
    }
    xmlFree(t.entries);
    for (int i = 0; i < arguments; i++)
        xmlXPathFreeObject(valuePop(parser));
    valuePush(parser, all);
}

/* ---- steps ---- */

/* Implements openpla-tick(), which is always true. The function fails if the step has more than XPATH_PAIRS_NODES
   nodes. It allocates a new value for each node, so that xml_memory_watch can stop the evaluation at each node. */
static void tick(xmlXPathParserContextPtr parser, int arguments)
{
    if (arguments) {
        xmlXPathSetArityError(parser);
        return;
    }
    if (parser->context->contextSize > XPATH_PAIRS_NODES) {
        xmlXPathErr(parser, XPATH_OP_LIMIT_EXCEEDED);
        return;
    }
    valuePush(parser, xmlXPathNewBoolean(1));
}

void xpath_lists_use(xmlXPathContextPtr context)
{
    xmlXPathRegisterFunc(context, BAD_CAST "openpla-compare", compare_lists);
    xmlXPathRegisterFunc(context, BAD_CAST "openpla-union", join_lists);
    xmlXPathRegisterFunc(context, BAD_CAST "openpla-tick", tick);
}
