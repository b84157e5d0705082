/* SPDX-License-Identifier: MIT */
/* Implements the report that rules change. The report is read completely, changed in memory, and written once. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/xml_text.h"
#include "engine/report/make/report_document.h"
#include "engine/report/rules/rules_parts.h"

#include <libxml/xpath.h>
#include <string.h>

enum {
    /* Greater than the maximum size of OpenPLA's reports (REPORT_MOST_BYTES), because rules add elements to a report,
       and a report in UTF-16 takes twice as many bytes. */
    REPORT_BYTES_MAX = 96 << 20,
    MEMORY_LEAST = 64 << 20, /* for a document tree and the parser's data */
    MEMORY_OF_BYTE = 16,     /* maximum memory per byte of XML; empty cells such as <Data name="a"/> need this much */
    DEEPEST = 200,           /* maximum depth of elements that rules create; libxml2 reads 256 levels */
};
/* A word in the attribute RULES_MARK. This word means that the first line of `tag` was in the report before; for
   example, rules of another program have added it. */
#define OWN_TAG "+tag"
_Static_assert(REPORT_BYTES_MAX > REPORT_MOST_BYTES, "rules must be able to check every report");

/* ---- libxml2's behaviour ---- */

struct change {
    xmlDocPtr doc;
    xmlNodePtr at, node;
    const char *name, *value;
    enum rules_axis axis;
};

static void make_element(void *about)
{
    struct change *c = about;
    c->node = xmlNewDocNode(c->doc, NULL, BAD_CAST c->name, NULL);
    if (c->value && *c->value)
        xmlAddChild(c->node, xmlNewDocText(c->doc, BAD_CAST c->value));
}

static void put_element(void *about)
{
    struct change *c = about;
    if (c->axis == AXIS_CHILD)
        xmlAddChild(c->at, c->node);
    else if (c->axis == AXIS_FOLLOWING)
        xmlAddNextSibling(c->at, c->node);
    else
        xmlAddPrevSibling(c->at, c->node);
}

/* Inserts a text node. libxml2 may merge it with an adjacent text, so the node must not be used afterwards. */
static void add_text(void *about)
{
    struct change *c = about;
    xmlAddChild(c->at, xmlNewDocText(c->doc, BAD_CAST c->value));
}

static void make_text(void *about)
{
    struct change *c = about;
    c->node = xmlNewDocText(c->doc, BAD_CAST c->value);
}

static void make_instruction(void *about)
{
    struct change *c = about;
    c->node = xmlNewDocPI(c->doc, BAD_CAST c->name, BAD_CAST c->value);
}

/* Sets an attribute without a namespace, even if its name contains a prefix. */
static void set_attribute(void *about)
{
    struct change *c = about;
    xmlSetNsProp(c->at, NULL, BAD_CAST c->name, BAD_CAST c->value);
}

static void take_node(void *about)
{
    struct change *c = about;
    xmlUnlinkNode(c->node); /* not freed, because a step may refer to it */
}

static HRESULT use(struct report_target *t, void (*work)(void *about), struct change *c)
{
    c->doc = t->document.root->doc;
    return xml_memory_use(t->document.memory, work, c);
}

/* Returns a copy of `value` in which U+FFFD replaces characters that XML does not allow, because libxml2 does not check
   them. */
static HRESULT xml_text_clean(const char *value, char **out)
{
    struct text_buffer b = {0};
    for (const char *c = value; *c; c++) {
        const bool held = (unsigned char)*c >= 0x20 || *c == '\t' || *c == '\n' || *c == '\r';
        text_buffer_add_n(&b, held ? c : "\xEF\xBF\xBD", held ? 1 : 3);
    }
    text_buffer_add(&b, "");
    *out = text_buffer_take(&b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

HRESULT report_target_make(struct report_target *t, const char *name, const char *text, xmlNodePtr *out)
{
    struct change c = {.name = name};
    char *value;
    HRESULT hr = xml_text_clean(text ? text : "", &value);
    c.value = value;
    if (SUCCEEDED(hr))
        hr = use(t, make_element, &c);
    memory_free(value);
    *out = SUCCEEDED(hr) ? c.node : NULL;
    return hr;
}

/* Returns the number of levels of nested elements. The recursion is limited by the depth of documents. */
static unsigned element_height(xmlNodePtr e)
{
    unsigned most = 0;
    for (xmlNodePtr child = rules_child(e, NULL); child; child = rules_next(child, NULL)) {
        const unsigned below = element_height(child);
        most = below > most ? below : most;
    }
    return most + 1;
}

HRESULT report_target_put(struct report_target *t, xmlNodePtr at, enum rules_axis axis, xmlNodePtr made)
{
    unsigned deep = element_height(made) + (axis == AXIS_CHILD);
    for (xmlNodePtr above = at->parent; above; above = above->parent)
        deep++;
    if (deep > DEEPEST)
        return error_set(RULES_INVALID,
                         "elements would be nested deeper than %d, and OpenPLA cannot read such a report", DEEPEST);
    return use(t, put_element, &(struct change){.at = at, .node = made, .axis = axis});
}

HRESULT report_target_set(struct report_target *t, xmlNodePtr e, const char *name, const char *value)
{
    char *cleaned;
    HRESULT hr = xml_text_clean(value, &cleaned);
    if (SUCCEEDED(hr))
        hr = use(t, set_attribute, &(struct change){.at = e, .name = name, .value = cleaned});
    memory_free(cleaned);
    return hr;
}

HRESULT report_target_take(struct report_target *t, xmlNodePtr node)
{
    return use(t, take_node, &(struct change){.node = node});
}

bool report_target_has(const struct report_target *t, const xmlNode *node)
{
    while (node && node != t->document.root)
        node = node->parent;
    return node;
}

HRESULT report_target_add_text(struct report_target *t, xmlNodePtr at, const char *text)
{
    char *value;
    HRESULT hr = xml_text_clean(text, &value);
    if (SUCCEEDED(hr) && *value)
        hr = use(t, add_text, &(struct change){.at = at, .value = value});
    memory_free(value);
    return hr;
}

/* ---- marks ---- */

/* A text node has no attributes, so text that rules insert next to elements is enclosed in two processing instructions.
   Readers of reports ignore processing instructions (DECISIONS 120). */
#define TEXT_MARK  "openpla-rules"
#define TEXT_BEGIN "text"
#define TEXT_END   "end"

HRESULT report_target_put_text(struct report_target *t, xmlNodePtr at, enum rules_axis axis, const char *text,
                               xmlNodePtr *last)
{
    struct change c[] = {{.name = TEXT_MARK, .value = TEXT_BEGIN}, {0}, {.name = TEXT_MARK, .value = TEXT_END}};
    char *value;
    HRESULT hr = xml_text_clean(text, &value);
    c[1].value = value;
    for (size_t i = 0; SUCCEEDED(hr) && i < 3; i++) {
        hr = use(t, i == 1 ? make_text : make_instruction, &c[i]);
        if (SUCCEEDED(hr))
            hr = report_target_put(t, at, axis, c[i].node);
        at = axis == AXIS_FOLLOWING ? c[i].node : at;
    }
    memory_free(value);
    *last = SUCCEEDED(hr) ? c[2].node : NULL;
    return hr;
}

static bool is_text_mark(const xmlNode *node, const char *what)
{
    return node->type == XML_PI_NODE && !strcmp((const char *)node->name, TEXT_MARK) && node->content &&
           !strcmp((const char *)node->content, what);
}

/* Removes the text that follows `mark`, and the mark at the end of the text. */
static HRESULT drop_text(struct report_target *t, xmlNodePtr mark)
{
    HRESULT hr = S_OK;
    for (bool last = false; SUCCEEDED(hr) && !last && mark->next;) {
        xmlNodePtr node = mark->next;
        last = is_text_mark(node, TEXT_END);
        if (!last && node->type != XML_TEXT_NODE && node->type != XML_CDATA_SECTION_NODE)
            break; /* another program has changed the report */
        hr = report_target_take(t, node);
    }
    return hr;
}

/* Returns whether a list of words contains the word. */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; at && *at;) {
        if (!strncmp(at, word, length) && (!at[length] || at[length] == ' '))
            return true;
        const char *blank = strchr(at, ' ');
        at = blank ? blank + 1 : NULL;
    }
    return false;
}

static HRESULT add_mark(struct report_target *t, xmlNodePtr e, const char *word)
{
    const char *words = rules_attribute(e, RULES_MARK);
    if (has_word(words, "1") || has_word(words, word))
        return S_OK;
    char *more = words ? text_format("%s %s", words, word) : text_copy(word);
    HRESULT hr = more ? report_target_set(t, e, RULES_MARK, more) : E_OUTOFMEMORY;
    memory_free(more);
    return hr;
}

HRESULT report_target_mark(struct report_target *t, xmlNodePtr e, const char *name, const char *value)
{
    HRESULT hr = report_target_set(t, e, name, value);
    return SUCCEEDED(hr) ? add_mark(t, e, name) : hr;
}

HRESULT report_target_tag(struct report_target *t, xmlNodePtr e, const char *tag)
{
    const char *tags = rules_attribute(e, "tag"), *words = rules_attribute(e, RULES_MARK);
    const bool some = tags && *tags, is_own = some && !has_word(words, "1") && !has_word(words, "tag");
    if (report_tags_have(tags, tag))
        return S_OK;
    if (strlen(tag) + (some ? strlen(tags) : 0) >= REPORT_TAGS_MOST || strchr(tag, '\n'))
        return S_FALSE;
    char *all = some ? text_format("%s\n%s", tags, tag) : text_copy(tag);
    HRESULT hr = all ? report_target_set(t, e, "tag", all) : E_OUTOFMEMORY;
    memory_free(all);
    return SUCCEEDED(hr) ? add_mark(t, e, is_own ? OWN_TAG : "tag") : hr;
}

/* Removes the tags that rules added, but not the report's own tag, which is the first one. */
static HRESULT drop_tags(struct report_target *t, xmlNodePtr e)
{
    const char *tags = rules_attribute(e, "tag");
    size_t length;
    const char *own = report_tags_next(&tags, &length);
    char *kept = own ? text_copy_n(own, length) : NULL;
    HRESULT hr = !own ? S_OK : kept ? report_target_set(t, e, "tag", kept) : E_OUTOFMEMORY;
    memory_free(kept);
    return hr;
}

static HRESULT drop_attributes(struct report_target *t, xmlNodePtr e)
{
    const char *words = rules_attribute(e, RULES_MARK);
    HRESULT hr = has_word(words, OWN_TAG) ? drop_tags(t, e) : S_OK;
    for (xmlAttrPtr a = e->properties, next; words && a && SUCCEEDED(hr); a = next) {
        next = a->next;
        if (!a->ns && (has_word(words, (const char *)a->name) || !strcmp((const char *)a->name, RULES_MARK)))
            hr = report_target_take(t, (xmlNodePtr)a);
    }
    return hr;
}

/* Returns the next element in the order of the document, without recursion. */
static xmlNodePtr element_following(const struct report_target *t, xmlNodePtr e, bool into)
{
    if (into && e->children)
        return e->children;
    while (e != t->document.root && !e->next)
        e = e->parent;
    return e == t->document.root ? NULL : e->next;
}

static HRESULT drop_earlier(struct report_target *t)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr e = t->document.root, next; e && SUCCEEDED(hr); e = next) {
        const char *mark = e->type == XML_ELEMENT_NODE ? rules_attribute(e, RULES_MARK) : NULL;
        const bool text = is_text_mark(e, TEXT_BEGIN), whole = mark && !strcmp(mark, "1") && e != t->document.root;
        if (text)
            hr = drop_text(t, e);
        next = element_following(t, e, !whole);
        if (SUCCEEDED(hr) && (mark || text))
            hr = whole || text ? report_target_take(t, e) : drop_attributes(t, e);
    }
    return hr;
}

/* ---- the document ---- */

HRESULT report_target_open(const char *path, bool (*stop)(void *context), void *context, struct report_target *out)
{
    char *text = NULL;
    size_t size;
    *out = (struct report_target){0};
    HRESULT hr = file_load(path, (uint64_t)2 * REPORT_BYTES_MAX, &text, &size);
    if (FAILED(hr))
        return hr;
    const struct xml_limits limits = {.bytes = REPORT_BYTES_MAX,
                                      .memory = MEMORY_LEAST + MEMORY_OF_BYTE * size,
                                      .shared_texts = true,
                                      .stop = stop,
                                      .context = context};
    hr = xml_document_open_within(text, size, &limits, &out->document);
    memory_free(text);
    if (SUCCEEDED(hr))
        hr = xml_document_check_root(&out->document, "Report");
    if (SUCCEEDED(hr))
        hr = drop_earlier(out);
    if (SUCCEEDED(hr)) /* without this order, libxml2 walks along all siblings to find which of two nodes comes
                          first */
        xmlXPathOrderDocElems(out->document.root->doc);
    if (SUCCEEDED(hr)) {
        out->folder = path_folder(path);
        hr = out->folder ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        return hr;
    report_target_close(out);
    return hr == E_OUTOFMEMORY ? hr : error_prefix(hr, "%s", path);
}

void report_target_close(struct report_target *t)
{
    xml_document_close(&t->document);
    memory_free(t->folder);
    *t = (struct report_target){0};
}

static HRESULT write_part(void *to, const char *bytes, size_t size)
{
    return file_write(to, bytes, size);
}

HRESULT report_target_save(const struct report_target *t, const char *base, const char *path)
{
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    struct file *f = NULL;
    char *draft = text_format("%s.new", path);
    HRESULT hr = draft ? report_draft_open(base, draft, &f) : E_OUTOFMEMORY;
    const bool opened = f;
    if (SUCCEEDED(hr))
        hr = file_write(f, head, sizeof head - 1);
    if (SUCCEEDED(hr))
        hr = xml_element_write(&t->document, t->document.root, write_part, f);
    if (SUCCEEDED(hr))
        hr = file_write(f, "\n", 1);
    if (SUCCEEDED(hr))
        hr = file_flush(f);
    file_close(f);
    if (SUCCEEDED(hr))
        hr = file_rename(draft, path);
    if (FAILED(hr) && opened) {
        const struct error_kept why = error_keep(hr);
        report_draft_drop(base, draft);
        hr = error_restore(&why);
    }
    memory_free(draft);
    return hr;
}

/* ---- the table of warnings ---- */

static xmlNodePtr find_named(xmlNodePtr parent, const char *element, const char *name)
{
    for (xmlNodePtr e = rules_child(parent, element); e; e = rules_next(e, element)) {
        const char *own = rules_attribute(e, "name");
        if (own && !strcmp(own, name))
            return e;
    }
    return NULL;
}

static HRESULT add_marked(struct report_target *t, xmlNodePtr at, enum rules_axis axis, const char *element,
                          const char *attribute, const char *value, const char *text, xmlNodePtr *out)
{
    HRESULT hr = report_target_make(t, element, text, out);
    if (SUCCEEDED(hr))
        hr = report_target_set(t, *out, attribute, value);
    if (SUCCEEDED(hr))
        hr = report_target_set(t, *out, RULES_MARK, "1");
    return SUCCEEDED(hr) ? report_target_put(t, at, axis, *out) : hr;
}

/* Adds the titles of added sections and tables, unless the report defines them. */
static HRESULT add_strings(struct report_target *t)
{
    static const char *const ours[][2] = {{"advice", "Advice"}, {"warning", "Warnings"}};
    xmlNodePtr root = t->document.root, table = rules_child(root, "StringTable"), made;
    HRESULT hr = S_OK;
    if (!table) {
        hr = report_target_make(t, "StringTable", NULL, &table);
        if (SUCCEEDED(hr))
            hr = report_target_set(t, table, RULES_MARK, "1");
        if (SUCCEEDED(hr))
            hr = report_target_put(t, root, AXIS_CHILD, table);
    }
    for (size_t i = 0; i < sizeof ours / sizeof *ours && SUCCEEDED(hr); i++) {
        bool there = false;
        for (xmlNodePtr s = rules_child(table, "String"); s && !there; s = rules_next(s, "String")) {
            const char *id = rules_attribute(s, "ID");
            there = id && !strcmp(id, ours[i][0]);
        }
        if (!there)
            hr = add_marked(t, table, AXIS_CHILD, "String", "ID", ours[i][0], ours[i][1], &made);
    }
    return hr;
}

HRESULT report_target_warnings(struct report_target *t, xmlNodePtr *out)
{
    xmlNodePtr root = t->document.root, section = find_named(root, "Section", "advice");
    HRESULT hr = S_OK;
    *out = section ? find_named(section, "Table", "warning") : NULL;
    if (*out)
        return S_OK;
    if (!section) {
        xmlNodePtr first = rules_child(root, "Section"), header = rules_child(root, "Header");
        hr = add_marked(t,
                        first    ? first
                        : header ? header
                                 : root,
                        first    ? AXIS_PRECEDING
                        : header ? AXIS_FOLLOWING
                                 : AXIS_CHILD,
                        "Section", "name", "advice", NULL, &section);
        if (SUCCEEDED(hr))
            hr = report_target_set(t, section, "key", "0");
    }
    if (SUCCEEDED(hr))
        hr = add_marked(t, section, AXIS_CHILD, "Table", "name", "warning", NULL, out);
    return SUCCEEDED(hr) ? add_strings(t) : hr;
}
