/* SPDX-License-Identifier: MIT */
/* Evaluates the XPath expressions of rules by libxml2 within limits, with string functions that count the bytes that
   they read.

   Rules come from templates and from other users, and run in the service over reports of up to 96 MB. An expression of
   one line can keep libxml2 busy for hours or make it allocate gigabytes. Therefore every evaluation has limits in time
   and memory, which are checked wherever libxml2 does not check them. Values of variables come from the report, which
   may contain anything, so they must never be parsed as a part of an expression.

   From rule to result (rules_evaluate):
   1. expression_prepare checks the text. It allows 4096 bytes and 64 levels of brackets, because libxml2 recurses. It
      replaces {name} with an XPath variable ($v0, $v1, ...), whose value is a number, a Boolean or a string. Within
      quotes, it replaces {name} with the variable $t0, the value as text, and joins it with the literal by concat().
      Therefore no value is ever inserted into the expression text. A '\' between steps becomes '/' (MS-PLA 2.2.5).
   2. run_evaluation creates a memory (xml_memory) in which libxml2 evaluates the expression. If a limit of this memory
      is exceeded, the evaluation ends with a jump (longjmp), and the memory is freed as a whole.
   3. result_take copies the nodes and the value from this memory.

   Limits of an evaluation:

       what grows                               limit                                           checked by
       ---------------------------------------  ----------------------------------------------  -----------------------
       steps, predicates, function calls        EXPRESSION_OPERATIONS                           libxml2 (opLimit)
       nodes visited for a string value         each counts as an operation                     count_text
       bytes compared by contains() and         COMPARED_BYTES count as an operation            search_find
         substring-before(), -after()
       strings and node lists, freed ones too   OPERATION_BYTES for each operation              xml_memory_limit_work
       comparing two node sets (n * m)          PAIRED_OPERATIONS, XPATH_PAIRS_NODES in a list  xpath_compares_pairs,
                                                                                                xml_memory_limit_block

   libxml2 counts one operation for a call of contains(), even if the call compares a whole report. It also counts one
   operation for the string value of a node, even if the node has a million descendants. Therefore look_up replaces the
   string functions of XPath 1.0 with functions that first count their work. When libxml2 compares two node sets, or a
   node set with a string, its count does not show how long this takes. xpath_compares_pairs finds such expressions
   before they are evaluated. They get a smaller limit, and in the sum of a run each of their operations counts as
   PAIRED_WEIGHT operations.

   All evaluations of a run share a limit of operations (xpath_scope.operations, RUN_OPERATIONS). Each evaluation costs
   at least LEAST_COST operations. This also limits a step that evaluates a trivial expression for many nodes. */
#include "engine/base/memory.h"
#include "engine/base/xpath_lists.h"
#include "engine/base/xpath_pairs.h"
#include "engine/report/rules.h"
#include "engine/report/rules/rules_parts.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <string.h>

/* ---- texts of nodes ---- */

/* Returns the next node in document order, without recursion. The text of an attribute has no parent (xml_shared.h). */
static const xmlNode *next_below(const xmlNode *node, const xmlNode *top)
{
    if (node->children)
        return node->children;
    while (node && node != top && !node->next)
        node = node->parent;
    return !node || node == top ? NULL : node->next;
}

/* Counts an operation for each descendant: computing the string value visits all of them, whether or not they contain
   text. */
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

/* Counts the texts of a function's arguments, or of the context node if it has no arguments. If `all` is set, counts
   for each node of a list, not only for the first one. */
static bool count_texts(xmlXPathParserContextPtr parser, int count, bool all)
{
    if (!count)
        return count_text(parser, parser->context->node);
    for (int i = 1; i <= count && i <= parser->valueNr; i++) {
        xmlXPathObjectPtr value = parser->valueTab[parser->valueNr - i];
        xmlNodeSetPtr nodes = value && value->type == XPATH_NODESET ? value->nodesetval : NULL;
        if (nodes && nodes->nodeNr > 1 && !all)
            xmlXPathNodeSetSort(nodes); /* libxml2's own functions also sort the nodes to find the first one */
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
    const char *at; /* position of `what` in `in`; NULL if not found */
};

/* Counts the comparisons. Returns false if the limit is exceeded. */
static bool search_find(xmlXPathParserContextPtr parser, struct search *s)
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

/* Reads the two arguments and searches. Returns false if an error occurred. */
static bool search_begin(xmlXPathParserContextPtr parser, int count, struct search *s)
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
    return s->what && s->in && parser->error == XPATH_EXPRESSION_OK && search_find(parser, s);
}

static void end(struct search *s)
{
    xmlFree(s->in);
    xmlFree(s->what);
}

static void xpath_contains(xmlXPathParserContextPtr parser, int count)
{
    struct search s;
    if (search_begin(parser, count, &s))
        valuePush(parser, xmlXPathNewBoolean(s.at != NULL));
    end(&s);
}

static void substring_before(xmlXPathParserContextPtr parser, int count)
{
    struct search s;
    if (search_begin(parser, count, &s)) {
        s.in[s.at ? s.at - (const char *)s.in : 0] = 0;
        valuePush(parser, xmlXPathNewString(s.in));
    }
    end(&s);
}

static void substring_after(xmlXPathParserContextPtr parser, int count)
{
    struct search s;
    if (search_begin(parser, count, &s))
        valuePush(parser, xmlXPathNewString(BAD_CAST(s.at ? s.at + strlen((const char *)s.what) : "")));
    end(&s);
}

/* ---- the replaced functions ---- */

static xmlXPathFunction look_up(void *context, const xmlChar *name, const xmlChar *space)
{
    static const struct {
        const char *name;
        xmlXPathFunction function;
    } ours[] = {{"ceiling", ceiling_of},
                {"concat", concat},
                {"contains", xpath_contains},
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

/* Replaces libxml2's functions in the context with the functions above. Each visited node and each comparison counts
   against the context's opLimit, which must be set. */
static void rules_functions_use(xmlXPathContextPtr context)
{
    xmlXPathRegisterFuncLookup(context, look_up, NULL);
}

#define BAD E_INVALIDARG

/* ---- names ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t rules_name_length(const char *text)
{
    size_t n = 0;
    while (is_letter(text[n]) || is_digit(text[n]) || (n && (text[n] == '-' || text[n] == '.')))
        n++;
    return n;
}

/* Returns the length of the name in `{name}`, or 0 if the name is not valid. */
static size_t placeholder(const char *at)
{
    const size_t n = *at == '{' ? rules_name_length(at + 1) : 0;
    return n && at[1 + n] == '}' ? n : 0;
}

/* ---- an expression in the form that libxml2 receives ---- */

struct prepared {
    struct text_buffer text;
    struct texts names; /* the variables $v0, $v1 ...; $t0 is the text of $v0 */
};

static void prepared_free(struct prepared *p)
{
    text_buffer_free(&p->text);
    texts_free(&p->names);
}

static HRESULT add_variable(struct prepared *p, const char *name, size_t length, bool as_text)
{
    size_t i = 0;
    while (i < p->names.count && (strncmp(p->names.items[i], name, length) != 0 || p->names.items[i][length]))
        i++;
    if (i == EXPRESSION_VARIABLES_MAX)
        return error_set(BAD, "more than %d variables in an expression", EXPRESSION_VARIABLES_MAX);
    char *copy = i == p->names.count ? text_copy_n(name, length) : NULL;
    HRESULT hr = i < p->names.count ? S_OK : copy ? texts_add_owned(&p->names, copy) : E_OUTOFMEMORY;
    text_buffer_format(&p->text, as_text ? "$t%u" : "$v%u", (unsigned)i);
    return hr;
}

/* Adds a quoted literal. If it contains variables, adds an expression that joins their texts with the rest of the
   literal. */
static HRESULT add_literal(struct prepared *p, const char *at, size_t length)
{
    const char quote[] = {*at, 0}, *const end = at + length - 1; /* the closing quote */
    size_t parts = 0;
    HRESULT hr = S_OK;
    for (const char *c = at + 1; c < end;) {
        const size_t name = placeholder(c);
        parts++;
        if (name)
            c += name + 2;
        else
            for (c++; c < end && !placeholder(c);)
                c++;
    }
    const bool whole = parts == 0 || (parts == 1 && !placeholder(at + 1));
    if (whole) {
        text_buffer_add_n(&p->text, at, length);
        return S_OK;
    }
    text_buffer_add(&p->text, parts > 1 ? "concat(" : "");
    for (const char *c = at + 1; c < end && SUCCEEDED(hr);) {
        const size_t name = placeholder(c);
        const char *from = c;
        text_buffer_add(&p->text, c > at + 1 ? "," : "");
        if (name) {
            hr = add_variable(p, c + 1, name, true);
            c += name + 2;
            continue;
        }
        while (c < end && !placeholder(c))
            c++;
        text_buffer_add(&p->text, quote);
        text_buffer_add_n(&p->text, from, (size_t)(c - from));
        text_buffer_add(&p->text, quote);
    }
    text_buffer_add(&p->text, parts > 1 ? ")" : "");
    return hr;
}

/* Replaces comparisons and unions of lists with OpenPLA's functions. */
static HRESULT use_functions(struct prepared *p)
{
    struct text_buffer b = {0};
    xpath_use_functions(p->text.text, true, false, &b);
    text_buffer_free(&p->text);
    p->text = b;
    return b.failed || !b.text ? E_OUTOFMEMORY : S_OK;
}

/* Converts an expression to the form for libxml2. A `\` between steps becomes '/' (MS-PLA 2.2.5). */
static HRESULT expression_prepare(const char *expression, struct prepared *out)
{
    HRESULT hr = S_OK;
    int deep = 0;
    if (strlen(expression) > EXPRESSION_BYTES_MAX)
        return error_set(BAD, "the expression exceeds %d bytes", EXPRESSION_BYTES_MAX);
    for (const char *c = expression; *c && SUCCEEDED(hr);) {
        const size_t name = placeholder(c);
        if (name) {
            hr = add_variable(out, c + 1, name, false);
            c += name + 2;
        } else if (*c == '"' || *c == '\'') {
            const char *end = strchr(c + 1, *c);
            if (!end)
                return error_set(BAD, "the string literal at %u is not terminated", (unsigned)(c - expression + 1));
            hr = add_literal(out, c, (size_t)(end + 1 - c));
            c = end + 1;
        } else {
            deep += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
            if (deep > EXPRESSION_DEEPEST)
                return error_set(BAD, "brackets are nested deeper than %d", EXPRESSION_DEEPEST);
            text_buffer_add_n(&out->text, *c == '\\' ? "/" : c, 1);
            c++;
        }
    }
    if (SUCCEEDED(hr) && (out->text.failed || !out->text.text))
        hr = E_OUTOFMEMORY;
    return SUCCEEDED(hr) ? use_functions(out) : hr;
}

/* ---- evaluation ---- */

struct evaluation {
    const char *expression; /* prepared */
    xmlNodePtr node;        /* NULL if the expression is only compiled */
    const struct rule_value *const *values;
    size_t value_count;
    uint32_t limit;
    bool (*stop)(void *context);
    void *stop_context;
    bool paired;
    struct xpath_pair pair; /* the place in the expression where pairs are compared; valid if `paired` is set */
    /* The result. */
    xmlXPathObjectPtr object;
    xmlChar *text;
    double number;
    bool truth;
    xmlXPathContextPtr context; /* is in the evaluation's memory; remains valid after the evaluation was aborted */
    uint64_t visited;           /* number of nodes that were read to create `text`, even if creating it failed */
    int error, position;
};

#if LIBXML_VERSION >= 21200
static void on_error(void *user, const xmlError *error)
#else
static void on_error(void *user, xmlErrorPtr error)
#endif
{
    struct evaluation *e = user;
    if (e->error)
        return; /* the first error contains the reason */
    e->error = error->code;
    e->position = error->int1;
}

/* Returns whether the text is a decimal number: `10`, `-2.5`. */
static bool looks_decimal(const char *text)
{
    bool some = false;
    text += *text == '-';
    for (; is_digit(*text); text++)
        some = true;
    if (*text == '.')
        for (text++; is_digit(*text); text++)
            some = true;
    return some && !*text;
}

static xmlXPathObjectPtr as_object(const struct rule_value *value)
{
    if (value->kind == RULE_NUMBER)
        return xmlXPathNewFloat(value->number);
    if (value->kind == RULE_TRUTH)
        return xmlXPathNewBoolean(value->number != 0);
    return looks_decimal(value->text) ? xmlXPathNewFloat(xmlXPathCastStringToNumber(BAD_CAST value->text))
                                      : xmlXPathNewString(BAD_CAST value->text);
}

/* Only some types of nodes have `content`: attributes and documents have another member at this position. */
static bool has_text(const xmlNode *n, bool selected)
{
    const bool text = n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE;
    return (text || (selected && (n->type == XML_COMMENT_NODE || n->type == XML_PI_NODE))) && n->content;
}

/* Returns the value of the first node (XPath 5), truncated if it exceeds the limit for texts: otherwise a step that
   selects the whole report would copy the report again and again, although the copy is not used. */
static xmlChar *value_of_nodes(xmlNodeSetPtr set, uint64_t *visited)
{
    const size_t most = RULES_TEXT_MAX + 1;
    if (set && set->nodeNr > 1)
        xmlXPathNodeSetSort(set);
    const xmlNode *top = set && set->nodeNr ? set->nodeTab[0] : NULL;
    if (top && top->type == XML_NAMESPACE_DECL)
        return xmlXPathCastNodeToString(set->nodeTab[0]);
    size_t size = 0;
    xmlChar *text = NULL;
    for (int pass = 0; pass < 2; pass++) { /* the first pass determines the length, the second pass copies the text */
        size_t at = 0;
        for (const xmlNode *n = top; n && at < most; n = next_below(n, top), ++*visited) {
            if (!has_text(n, n == top))
                continue;
            size_t part = strlen((const char *)n->content);
            part = part < most - at ? part : most - at;
            if (text)
                memcpy(text + at, n->content, part);
            at += part;
        }
        size = at;
        if (!text)
            text = xmlMalloc(size + 1);
        if (!text)
            return NULL;
    }
    text[size] = 0;
    return text;
}

static void expression_evaluate(void *about)
{
    struct evaluation *e = about;
    xmlXPathContextPtr context = e->context = xmlXPathNewContext(e->node ? e->node->doc : NULL);
    context->error = on_error;
    context->userData = e;
    context->opLimit = e->limit;
    context->node = e->node;
    rules_functions_use(context);
    xpath_lists_use(context);
    for (size_t i = 0; i < e->value_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%u", (unsigned)i);
        xmlXPathRegisterVariable(context, BAD_CAST name, as_object(e->values[i]));
        *name = 't'; /* the variable $t... is the value as text; it is used within quotes */
        xmlXPathRegisterVariable(context, BAD_CAST name, xmlXPathNewString(BAD_CAST e->values[i]->text));
    }
    xmlXPathCompExprPtr compiled = xmlXPathCtxtCompile(context, BAD_CAST e->expression);
    if (compiled && e->node)
        e->object = xmlXPathCompiledEval(compiled, context);
    if (!e->object)
        return;
    e->truth = xmlXPathCastToBoolean(e->object);
    e->text = e->object->type == XPATH_NODESET ? value_of_nodes(e->object->nodesetval, &e->visited)
                                               : xmlXPathCastToString(e->object);
    e->number = e->object->type == XPATH_NUMBER ? e->object->floatval : e->truth;
}

/* Returns the error for an expression that compares nodes in pairs and has exceeded the limit `most`. */
static HRESULT pair_error(const struct evaluation *e, const char *what, unsigned most)
{
    return error_set(
        BAD, "'%.*s' makes libxml2 compare nodes in pairs, which is limited to %u %s (to avoid this limit, use %s)",
        (int)(e->pair.length < 40 ? e->pair.length : 40), e->pair.at, most, what, e->pair.instead);
}

/* libxml2's own texts are not shown, because they do not contain the place. */
static HRESULT evaluation_error(const struct evaluation *e)
{
    static const char *const newer[] = {"ends-with", "matches", "replace", "lower-case", "upper-case", "tokenize"};
    switch (e->error - XML_XPATH_EXPRESSION_OK) {
    case XPATH_UNKNOWN_FUNC_ERROR:
        for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
            if (strstr(e->expression, newer[i]))
                return error_set(BAD, "%s() is XPath 2, but only XPath 1.0 is supported", newer[i]);
        return error_set(BAD, "it calls a function that XPath 1.0 does not have");
    case XPATH_UNDEF_VARIABLE_ERROR:
        return error_set(BAD, "XPath variables ($name) are not supported (write {name})");
    case XPATH_UNDEF_PREFIX_ERROR:
        return error_set(BAD, "namespace prefixes are not allowed: reports have no namespaces");
    case XPATH_INVALID_TYPE:
        return error_set(BAD, "a value has the wrong type");
    case XPATH_INVALID_ARITY:
        return error_set(BAD, "a function has too few or too many arguments");
    case XPATH_OP_LIMIT_EXCEEDED:
        if (e->paired && e->limit == PAIRED_OPERATIONS)
            return pair_error(e, "operations", PAIRED_OPERATIONS);
        return error_set(BAD, "it needs more than %u operations", (unsigned)e->limit);
    case XPATH_MEMORY_ERROR:
        return error_set(BAD, "its result is too large");
    default:
        return (size_t)e->position < strlen(e->expression) && e->position >= 0
                   ? error_set(BAD, "not valid XPath 1.0 at '%.60s'", e->expression + e->position)
                   : error_set(BAD, "not valid XPath 1.0");
    }
}

/* Suppresses messages that libxml2 would print on stderr. */
static void say_nothing(void *user, const char *format, ...)
{
    (void)user, (void)format;
}

/* Evaluates in a separate memory, which is freed as a whole: an evaluation that is stopped leaks nothing. */
static HRESULT run_evaluation(struct evaluation *e, struct xml_memory **memory)
{
    const xmlGenericErrorFunc say = xmlGenericError;
    void *const to = xmlGenericErrorContext;
    *memory = xml_memory_create_freeing();
    xmlSetGenericErrorFunc(NULL, say_nothing); /* this applies only to the current thread */
    e->paired = xpath_compares_pairs(e->expression, true, &e->pair);
    if (e->paired && e->limit > PAIRED_OPERATIONS)
        e->limit = PAIRED_OPERATIONS;
    if (*memory)
        xml_memory_limit_work(*memory, (uint64_t)e->limit * OPERATION_BYTES);
    if (*memory && e->paired)
        xml_memory_limit_block(*memory, XPATH_PAIRS_BLOCK);
    if (*memory)
        xml_memory_watch(*memory, e->stop, e->stop_context);
    HRESULT hr = *memory ? xml_memory_use(*memory, expression_evaluate, e) : E_OUTOFMEMORY;
    xmlSetGenericErrorFunc(to, say);
    if (hr == OPENPLA_E_MALFORMED_XML && e->paired && xml_memory_block_refused(*memory))
        hr = pair_error(e, "nodes in a list", XPATH_PAIRS_NODES);
    else if (hr == OPENPLA_E_MALFORMED_XML)
        hr = error_set(BAD, "it creates too many strings or nodes");
    if (SUCCEEDED(hr) && (e->error || (e->node && !e->object)))
        hr = evaluation_error(e);
    return hr;
}

/* Returns the operations used so far, whether or not the evaluation has finished. */
static uint64_t operations_of(const struct evaluation *e, const struct xml_memory *m)
{
    const uint64_t counted = e->context ? e->context->opCount : 0;
    return (counted + (m ? xml_memory_given(m) / OPERATION_BYTES : 0)) * (e->paired ? PAIRED_WEIGHT : 1) + e->visited;
}

static HRESULT find_values(const struct xpath_scope *scope, const struct texts *names, const struct rule_value **out)
{
    for (size_t i = 0; i < names->count; i++) {
        out[i] = scope->find(scope->context, names->items[i]);
        if (!out[i])
            return error_set(BAD, "the variable {%.60s} has no value yet", names->items[i]);
    }
    return S_OK;
}

/* Namespaces are not nodes of the document; they are freed with the evaluation. */
static HRESULT take_nodes(const xmlNodeSet *set, struct xpath_result *out)
{
    out->is_nodes = true;
    if (!set || !set->nodeNr)
        return S_OK;
    out->nodes = memory_zero((size_t)set->nodeNr, sizeof *out->nodes);
    if (!out->nodes)
        return E_OUTOFMEMORY;
    for (int i = 0; i < set->nodeNr; i++)
        if (set->nodeTab[i]->type != XML_NAMESPACE_DECL)
            out->nodes[out->count++] = set->nodeTab[i];
    return S_OK;
}

/* libxml2 writes sixteen digits of some numbers, the last of which is noise: 9.300000000000001. XPath has no exponents.
 */
static char *text_of(const struct evaluation *e)
{
    const double size = e->number < 0 ? -e->number : e->number;
    if (e->object->type == XPATH_NUMBER && size >= 1e-4 && size < 1e15)
        return text_format("%.15g", e->number);
    return text_copy((const char *)e->text);
}

static HRESULT result_take(const struct evaluation *e, struct xpath_result *out)
{
    out->truth = e->truth;
    out->value = (struct rule_value){
        .kind = e->object->type == XPATH_NUMBER    ? RULE_NUMBER
                : e->object->type == XPATH_BOOLEAN ? RULE_TRUTH
                                                   : RULE_TEXT,
        .number = e->number,
        .text = text_of(e),
    };
    if (!out->value.text)
        return E_OUTOFMEMORY;
    return e->object->type == XPATH_NODESET ? take_nodes(e->object->nodesetval, out) : S_OK;
}

HRESULT rules_evaluate(struct xpath_scope *scope, const char *expression, struct xpath_result *out)
{
    enum { LEAST_COST = 200 };
    struct prepared p = {0};
    const struct rule_value *values[EXPRESSION_VARIABLES_MAX];
    struct xml_memory *memory = NULL;
    struct evaluation e = {.node = scope->node,
                           .values = values,
                           .limit = scope->limit,
                           .stop = scope->stop,
                           .stop_context = scope->stop_context};
    *out = (struct xpath_result){0};
    HRESULT hr = expression_prepare(expression, &p);
    if (SUCCEEDED(hr))
        hr = find_values(scope, &p.names, values);
    e.limit = e.limit ? e.limit : EXPRESSION_OPERATIONS;
    e.expression = p.text.text;
    e.value_count = p.names.count;
    if (SUCCEEDED(hr))
        hr = run_evaluation(&e, &memory);
    scope->operations += operations_of(&e, memory) + LEAST_COST;
    if (SUCCEEDED(hr))
        hr = result_take(&e, out);
    xml_memory_destroy(memory);
    prepared_free(&p);
    if (FAILED(hr))
        xpath_result_free(out);
    return hr;
}

void xpath_result_free(struct xpath_result *r)
{
    memory_free(r->nodes);
    memory_free(r->value.text);
    *r = (struct xpath_result){0};
}

HRESULT rules_expression_check(const char *expression)
{
    struct prepared p = {0};
    struct xml_memory *memory = NULL;
    HRESULT hr = expression_prepare(expression, &p);
    struct evaluation e = {.expression = p.text.text, .limit = EXPRESSION_OPERATIONS};
    if (SUCCEEDED(hr))
        hr = run_evaluation(&e, &memory);
    xml_memory_destroy(memory);
    prepared_free(&p);
    return hr;
}
