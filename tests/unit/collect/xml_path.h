/* SPDX-License-Identifier: MIT */
/* Documents of tests, and their values at an XPath. */
#ifndef OPENPLA_XML_PATH_H
#define OPENPLA_XML_PATH_H

#include "tests/unit/scratch_folder.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>

/* The test ends if the file is no whole document. */
static inline xmlDocPtr xml_read(const char *path)
{
    char *text;
    size_t size;
    assert_int_equal(file_load(path, 1 << 26, &text, &size), S_OK);
    xmlDocPtr doc = xmlReadMemory(text, (int)size, NULL, NULL, XML_PARSE_NONET);
    if (!doc)
        fail_msg("%s is no whole document:\n%s", path, text);
    memory_free(text);
    return doc;
}

/* The test ends if it is another text. */
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
