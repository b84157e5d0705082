/* SPDX-License-Identifier: MIT */
/* Reads XML documents in tests, and checks their values by XPath. */
#ifndef OPENPLA_XML_PATH_H
#define OPENPLA_XML_PATH_H

#include "tests/unit/scratch_folder.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>

/* Reads the file; the test fails if it is not a complete document. */
static inline xmlDocPtr xml_read(const char *path)
{
    char *text;
    size_t size;
    assert_int_equal(file_load(path, 1 << 26, &text, &size), S_OK);
    xmlDocPtr doc = xmlReadMemory(text, (int)size, NULL, NULL, XML_PARSE_NONET);
    if (!doc)
        fail_msg("%s is not a complete document:\n%s", path, text);
    memory_free(text);
    return doc;
}

/* Evaluates the XPath; the test fails if the result is another string. */
static inline void check_xpath(xmlDocPtr doc, const char *path, const char *expected)
{
    xmlXPathContextPtr context = xmlXPathNewContext(doc);
    xmlXPathObjectPtr found = xmlXPathEvalExpression((const xmlChar *)path, context);
    assert_non_null(found);
    xmlChar *text = xmlXPathCastToString(found);
    if (strcmp((const char *)text, expected) != 0)
        fail_msg("%s is \"%s\", not \"%s\"", path, (const char *)text, expected);
    xmlFree(text);
    xmlXPathFreeObject(found);
    xmlXPathFreeContext(context);
}

#endif
