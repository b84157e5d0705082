/* SPDX-License-Identifier: MIT */
/* What a document says at an XPath. */
#ifndef OPENPLA_XML_PATH_H
#define OPENPLA_XML_PATH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <string.h>

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
