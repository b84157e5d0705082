/* SPDX-License-Identifier: MIT */
/* Runs the action Insert, which adds elements and attributes to the report (MS-PLA 2.2.5, 2.2.6). */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/xml_text.h"
#include "engine/report/rules/rules_parts.h"

#include <libxml/tree.h>
#include <string.h>

enum { DOCUMENT_BYTES_MAX = 16 << 20 };

/* ---- copies ---- */

/* Replaces placeholders in the content of rules, but not in documents, which are data. */
static HRESULT made_text(struct rules_run *run, xmlNodePtr from, const char *text, bool expand, char **out)
{
    if (expand && (strchr(text, '{') || strchr(text, '$')))
        return rules_expand(run, from, text, out);
    *out = text_copy(text);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT copy_attributes(struct rules_run *run, xmlNodePtr from, bool expand, xmlNodePtr to)
{
    HRESULT hr = S_OK;
    for (const xmlAttr *a = from->properties; a && SUCCEEDED(hr); a = a->next) {
        char *value = NULL;
        if (a->ns || !strcmp((const char *)a->name, RULES_MARK))
            continue;
        hr = made_text(run, from, rules_attribute(from, (const char *)a->name), expand, &value);
        if (SUCCEEDED(hr))
            hr = report_target_set(run->target, to, (const char *)a->name, value);
        memory_free(value);
    }
    return hr;
}

static bool is_text(const xmlNode *node)
{
    return node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
}

/* Returns whether the element contains text, other than layout whitespace, between its child elements. */
static bool is_mixed(const xmlNode *from)
{
    for (const xmlNode *n = from->children; n; n = n->next)
        if (is_text(n) && n->content && ((const char *)n->content)[strspn((const char *)n->content, " \t\r\n")])
            return true;
    return false;
}

/* Returns the text from `node` up to the next element, and stores that element in *next. Whitespace is kept only next
   to an element. */
static HRESULT text_beside(struct rules_run *run, xmlNodePtr node, bool expand, xmlNodePtr *next, char **out)
{
    struct text_buffer b = {0};
    char *made = NULL;
    const bool first = node == node->parent->children;
    for (*next = node; *next && (*next)->type != XML_ELEMENT_NODE; *next = (*next)->next)
        if (is_text(*next))
            text_buffer_add(&b, (const char *)(*next)->content);
    text_buffer_add(&b, "");
    *out = NULL;
    if (b.failed)
        return E_OUTOFMEMORY;
    const size_t before = strspn(b.text, " \t\r\n");
    if (before == b.length) { /* only whitespace: keep it between two elements, drop it at the start and at the end */
        *out = first || !*next ? text_copy("") : text_copy(b.text);
        text_buffer_free(&b);
        return *out ? S_OK : E_OUTOFMEMORY;
    }
    size_t length = b.length, behind = 0;
    while (length > before && xml_is_blank(b.text[length - 1]))
        length--, behind++;
    char *inner = text_copy_n(b.text + before, length - before);
    HRESULT hr = inner ? made_text(run, node->parent, inner, expand, &made) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        *out =
            text_format("%.*s%s%.*s", first ? 0 : (int)before, b.text, made, *next ? (int)behind : 0, b.text + length);
        hr = *out ? S_OK : E_OUTOFMEMORY;
    }
    memory_free(made);
    memory_free(inner);
    text_buffer_free(&b);
    return hr;
}

/* Visits the contents of an element in order: calls `element` for each element, and `text` for each text between
   elements. */
struct content {
    HRESULT (*element)(struct rules_run *run, void *about, xmlNodePtr from, bool expand);
    HRESULT (*text)(struct rules_run *run, void *about, const char *text);
    void *about;
};

static HRESULT each_content(struct rules_run *run, xmlNodePtr from, bool expand, const struct content *c)
{
    HRESULT hr = S_OK;
    const bool mixed = is_mixed(from);
    for (xmlNodePtr n = from->children, next; n && SUCCEEDED(hr); n = next) {
        char *text = NULL;
        next = n->next;
        if (n->type == XML_ELEMENT_NODE) {
            hr = n == xml_grammar_element(&rules_grammar, n, NULL) ? c->element(run, c->about, n, expand) : S_OK;
        } else if (mixed) {
            hr = text_beside(run, n, expand, &next, &text);
            if (SUCCEEDED(hr) && *text)
                hr = c->text(run, c->about, text);
            memory_free(text);
        }
    }
    return hr;
}

static HRESULT copy_element(struct rules_run *run, void *about, xmlNodePtr from, bool expand)
{
    xmlNodePtr made;
    HRESULT hr = rules_copy(run, from, expand, &made);
    return SUCCEEDED(hr) ? report_target_put(run->target, about, AXIS_CHILD, made) : hr;
}

static HRESULT copy_text(struct rules_run *run, void *about, const char *text)
{
    return report_target_add_text(run->target, about, text);
}

/* Returns the text of an element. If the element has child elements, returns "". */
static HRESULT own_text(struct rules_run *run, xmlNodePtr from, bool expand, char **out)
{
    struct text_buffer b = {0};
    xml_element_text(from, &b);
    text_buffer_add(&b, "");
    HRESULT hr = b.failed ? E_OUTOFMEMORY : made_text(run, from, b.text, expand, out);
    text_buffer_free(&b);
    return hr;
}

/* This function is recursive; the maximum depth of documents limits the recursion. Namespaces, comments and
   instructions are not copied. */
HRESULT rules_copy(struct rules_run *run, xmlNodePtr from, bool expand, xmlNodePtr *out)
{
    const bool holds_elements = rules_child(from, NULL);
    char *text = NULL;
    *out = NULL;
    if (run->inserted++ >= RULES_INSERTED_MAX)
        return rules_wrong(from, NULL, NULL, "more than %d elements would be inserted", RULES_INSERTED_MAX);
    HRESULT hr = holds_elements ? S_OK : own_text(run, from, expand, &text);
    if (SUCCEEDED(hr))
        hr = report_target_make(run->target, (const char *)from->name, text, out);
    memory_free(text);
    if (SUCCEEDED(hr))
        hr = copy_attributes(run, from, expand, *out);
    if (SUCCEEDED(hr) && holds_elements)
        hr = each_content(run, from, expand, &(struct content){copy_element, copy_text, *out});
    return hr;
}

/* ---- Node ---- */

struct insertion {
    xmlNodePtr node, target;
    enum rules_axis axis;
    xmlNodePtr last; /* node after which the next node is inserted; NULL if nothing was inserted yet */
};

static HRESULT insert_one(struct rules_run *run, void *insertion, xmlNodePtr from, bool expand)
{
    struct insertion *i = insertion;
    xmlNodePtr made;
    HRESULT hr = rules_copy(run, from, expand, &made);
    if (SUCCEEDED(hr))
        hr = report_target_set(run->target, made, RULES_MARK, "1");
    if (SUCCEEDED(hr) && i->axis == AXIS_FOLLOWING && i->last)
        hr = report_target_put(run->target, i->last, AXIS_FOLLOWING, made);
    else if (SUCCEEDED(hr))
        hr = report_target_put(run->target, i->target, i->axis, made);
    i->last = made;
    return hr;
}

static HRESULT insert_text(struct rules_run *run, void *insertion, const char *text)
{
    struct insertion *i = insertion;
    if (run->inserted++ >= RULES_INSERTED_MAX)
        return rules_wrong(i->node, NULL, NULL, "more than %d strings would be inserted", RULES_INSERTED_MAX);
    return report_target_put_text(run->target, i->axis == AXIS_FOLLOWING && i->last ? i->last : i->target, i->axis,
                                  text, &i->last);
}

/* Opens a file in the report's folder, by its name without a folder. */
static HRESULT open_document(struct rules_run *run, xmlNodePtr e, struct xml_document *out)
{
    const char *written = rules_attribute(e, "document");
    char *name = NULL, *path = NULL, *text = NULL;
    size_t size = 0;
    HRESULT hr = rules_expand(run, e, written, &name);
    const char *fault = SUCCEEDED(hr) ? path_names_fault(name) : NULL;
    if (SUCCEEDED(hr) && !fault && strpbrk(name, "/\\"))
        fault = "expected a file name without a folder";
    if (fault)
        hr = rules_wrong(e, "document", name, "%s (documents must be in the folder of the report)", fault);
    if (SUCCEEDED(hr)) {
        path = path_join(*run->target->folder ? run->target->folder : ".", name);
        hr = path ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = file_load_below(*run->target->folder ? run->target->folder : ".", path, DOCUMENT_BYTES_MAX, &text, &size);
    if (SUCCEEDED(hr))
        hr = xml_document_open_any(text, size, out);
    if (FAILED(hr) && hr != E_OUTOFMEMORY && !fault) {
        const struct error_kept why = error_keep(hr);
        hr = rules_wrong(e, "document", name, "%s", why.text);
    }
    memory_free(text);
    memory_free(path);
    memory_free(name);
    return hr;
}

static HRESULT insert_selected(struct rules_run *run, struct insertion *i, const struct xml_document *d)
{
    struct rules_run other = *run; /* a copy of the run with the same variables, but for the other document */
    struct report_target target = {.document = *d};
    struct xpath_result nodes = {0};
    if (!rules_attribute(i->node, "select"))
        return insert_one(run, i, d->root, false);
    other.target = &target;
    HRESULT hr = rules_select(&other, i->node, "select", NULL, &nodes);
    run->operations = other.operations;
    for (size_t k = 0; k < nodes.count && SUCCEEDED(hr); k++)
        if (nodes.nodes[k]->type == XML_ELEMENT_NODE)
            hr = insert_one(run, i, nodes.nodes[k], false);
    if (SUCCEEDED(hr) && !nodes.count)
        hr = rules_add_note(run, i->node, "selects nothing in its document");
    xpath_result_free(&nodes);
    return hr;
}

static HRESULT insert_node(struct rules_run *run, struct insertion *i)
{
    struct xml_document d = {0};
    HRESULT hr = S_OK;
    if (i->target->type != XML_ELEMENT_NODE)
        return rules_wrong(i->node, NULL, NULL, "nodes can be inserted only at elements");
    if (i->axis != AXIS_CHILD && i->target == run->target->document.root)
        return rules_wrong(i->node, "axis", rules_attribute(i->node, "axis"), "the report itself has no siblings");
    if (rules_attribute(i->node, "document")) {
        hr = open_document(run, i->node, &d);
        if (SUCCEEDED(hr))
            hr = insert_selected(run, i, &d);
        xml_document_close(&d);
        return hr;
    }
    return each_content(run, i->node, true, &(struct content){insert_one, insert_text, i});
}

/* ---- Attribute ---- */

static HRESULT insert_attribute(struct rules_run *run, xmlNodePtr e, xmlNodePtr target)
{
    char *name = NULL, *value = NULL;
    if (target->type != XML_ELEMENT_NODE)
        return rules_wrong(e, NULL, NULL, "attributes can be inserted only at elements");
    HRESULT hr = rules_expand(run, e, rules_attribute(e, "name"), &name);
    if (SUCCEEDED(hr) && (xmlValidateNCName(BAD_CAST name, 0) != 0 || !strcmp(name, RULES_MARK)))
        hr = rules_wrong(e, "name", name, "not the name of an attribute that rules may set");
    if (SUCCEEDED(hr))
        hr = rules_expand(run, e, rules_attribute(e, "value"), &value);
    if (SUCCEEDED(hr))
        hr = report_target_mark(run->target, target, name, value);
    memory_free(name);
    memory_free(value);
    return hr;
}

static HRESULT insert_at(struct rules_run *run, xmlNodePtr e, xmlNodePtr target)
{
    HRESULT hr = S_OK;
    xmlNodePtr behind = NULL; /* the order of several nodes is kept */
    for (xmlNodePtr child = rules_child(e, NULL); child && SUCCEEDED(hr); child = rules_next(child, NULL)) {
        struct insertion i = {.node = child, .target = target, .last = behind};
        if (!strcmp((const char *)child->name, "Attribute"))
            hr = insert_attribute(run, child, target);
        if (strcmp((const char *)child->name, "Node") != 0)
            continue;
        i.axis = (enum rules_axis)rules_word(RULES_VALUE_AXIS, rules_attribute(child, "axis"));
        hr = insert_node(run, &i);
        behind = i.axis == AXIS_FOLLOWING ? i.last : behind;
    }
    return hr;
}

HRESULT rules_do_insert(struct rules_run *run, xmlNodePtr e, xmlNodePtr context)
{
    struct xpath_result nodes = {0};
    if (!rules_attribute(e, "select"))
        return insert_at(run, e, context ? context : run->target->document.root);
    HRESULT hr = rules_select(run, e, "select", context, &nodes);
    if (SUCCEEDED(hr) && !nodes.is_nodes)
        hr = rules_wrong(e, "select", rules_attribute(e, "select"), "selects no nodes");
    for (size_t i = 0; i < nodes.count && SUCCEEDED(hr); i++)
        if (report_target_has(run->target, nodes.nodes[i]))
            hr = insert_at(run, e, nodes.nodes[i]);
    if (SUCCEEDED(hr) && !nodes.count)
        hr = rules_add_note(run, e, "selects no place to insert at");
    rules_log(run, RULES_LOG_ACTIONS, "action", "inserted at %llu nodes", (unsigned long long)nodes.count);
    xpath_result_free(&nodes);
    return hr;
}
