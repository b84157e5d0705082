/* SPDX-License-Identifier: MIT */
/* Insert: elements and attributes into the report. MS-PLA 2.2.5, 2.2.6. */
#include "engine/os/file.h"
#include "engine/os/memory.h"
#include "engine/rules/rules_parts.h"
#include "engine/xml/xml_text.h"

#include <libxml/tree.h>
#include <string.h>

enum { DOCUMENT_BYTES_MAX = 16 << 20 };

/* ---- copies ---- */

/* Of what rules wrote placeholders are replaced; of documents not, since they are data. */
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

/* The texts of an element without elements, else none: between elements are blanks. */
static HRESULT own_text(struct rules_run *run, xmlNodePtr from, bool expand, char **out)
{
    struct text_buffer b = {0};
    if (!rules_child(from, NULL))
        xml_element_text(from, &b);
    text_buffer_add(&b, "");
    HRESULT hr = b.failed ? E_OUTOFMEMORY : made_text(run, from, b.text, expand, out);
    text_buffer_free(&b);
    return hr;
}

/* As deep as documents are; without namespaces, comments and instructions. */
HRESULT rules_copy(struct rules_run *run, xmlNodePtr from, bool expand, xmlNodePtr *out)
{
    char *text = NULL;
    *out = NULL;
    if (run->inserted++ >= RULES_INSERTED_MAX)
        return rules_wrong(from, NULL, NULL, "more than %d elements would be inserted", RULES_INSERTED_MAX);
    HRESULT hr = own_text(run, from, expand, &text);
    if (SUCCEEDED(hr))
        hr = report_target_make(run->target, (const char *)from->name, text, out);
    memory_free(text);
    if (SUCCEEDED(hr))
        hr = copy_attributes(run, from, expand, *out);
    for (xmlNodePtr child = rules_child(from, NULL); child && SUCCEEDED(hr); child = rules_next(child, NULL)) {
        xmlNodePtr made;
        hr = rules_copy(run, child, expand, &made);
        if (SUCCEEDED(hr))
            hr = report_target_put(run->target, *out, AXIS_CHILD, made);
    }
    return hr;
}

/* ---- Node ---- */

struct insertion {
    xmlNodePtr node, target;
    enum rules_axis axis;
    xmlNodePtr last; /* what follows comes behind it; NULL: nothing was inserted yet */
};

static HRESULT insert_one(struct rules_run *run, struct insertion *i, xmlNodePtr from, bool expand)
{
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

/* A file beside the report, by its bare name. */
static HRESULT open_document(struct rules_run *run, xmlNodePtr e, struct xml_document *out)
{
    const char *written = rules_attribute(e, "document");
    char *name = NULL, *path = NULL, *text = NULL;
    size_t size = 0;
    HRESULT hr = rules_expand(run, e, written, &name);
    const char *fault = SUCCEEDED(hr) ? path_names_fault(name) : NULL;
    if (SUCCEEDED(hr) && !fault && strpbrk(name, "/\\"))
        fault = "it is no bare name";
    if (fault)
        hr = rules_wrong(e, "document", name, "%s; documents lie beside the report", fault);
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
    struct rules_run other = *run; /* with the same variables, over the other document */
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
        hr = rules_note_remark(run, i->node, "its document has nothing of that");
    xpath_result_free(&nodes);
    return hr;
}

static HRESULT insert_node(struct rules_run *run, struct insertion *i)
{
    struct xml_document d = {0};
    HRESULT hr = S_OK;
    if (i->target->type != XML_ELEMENT_NODE)
        return rules_wrong(i->node, NULL, NULL, "nodes are inserted at elements alone");
    if (i->axis != AXIS_CHILD && i->target == run->target->document.root)
        return rules_wrong(i->node, "axis", rules_attribute(i->node, "axis"), "the report itself has no siblings");
    if (rules_attribute(i->node, "document")) {
        hr = open_document(run, i->node, &d);
        if (SUCCEEDED(hr))
            hr = insert_selected(run, i, &d);
        xml_document_close(&d);
        return hr;
    }
    for (xmlNodePtr child = rules_child(i->node, NULL); child && SUCCEEDED(hr); child = rules_next(child, NULL))
        hr = insert_one(run, i, child, true);
    return hr;
}

/* ---- Attribute ---- */

static HRESULT insert_attribute(struct rules_run *run, xmlNodePtr e, xmlNodePtr target)
{
    char *name = NULL, *value = NULL;
    if (target->type != XML_ELEMENT_NODE)
        return rules_wrong(e, NULL, NULL, "attributes are inserted at elements alone");
    HRESULT hr = rules_expand(run, e, rules_attribute(e, "name"), &name);
    if (SUCCEEDED(hr) && (xmlValidateNCName(BAD_CAST name, 0) != 0 || !strcmp(name, RULES_MARK)))
        hr = rules_wrong(e, "name", name, "it is no name of an attribute that rules may set");
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
    xmlNodePtr behind = NULL; /* of several the order is kept */
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
        hr = rules_wrong(e, "select", rules_attribute(e, "select"), "it selects no nodes");
    for (size_t i = 0; i < nodes.count && SUCCEEDED(hr); i++)
        if (report_target_has(run->target, nodes.nodes[i]))
            hr = insert_at(run, e, nodes.nodes[i]);
    if (SUCCEEDED(hr) && !nodes.count)
        hr = rules_note_remark(run, e, "there is no place to insert at");
    rules_log(run, RULES_LOG_ACTIONS, "action", "inserted at %llu nodes", (unsigned long long)nodes.count);
    xpath_result_free(&nodes);
    return hr;
}
