/* SPDX-License-Identifier: MIT */
/* Validates documents with the schemas that `openpla schema` prints, because users load these schemas. */
#ifndef OPENPLA_TEST_SCHEMA_CHECK_H
#define OPENPLA_TEST_SCHEMA_CHECK_H

#include "cli/schemas/schemas.h"
#include "engine/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/xmlschemas.h>
#include <string.h>

/* In newer versions of libxml2, the error is const. */
#if LIBXML_VERSION >= 21200
typedef const xmlError *schema_error;
#else
typedef xmlErrorPtr schema_error;
#endif

static inline void schema_quiet(void *context, schema_error e)
{
    (void)context, (void)e;
}

static inline void schema_loud(void *context, schema_error e)
{
    (void)context;
    print_error("line %d: %s", e->line, e->message);
}

/* Loads a schema. If it is invalid, prints the reason and returns NULL. */
static inline xmlSchemaPtr schema_load(const char *name)
{
    struct text_buffer b = {0};
    const struct xml_schema *made = xml_schema_find(name);
    if (!made || FAILED(made->make(&b)))
        return NULL;
    char *text = text_buffer_take(&b);
    if (!text)
        return NULL;
    xmlSchemaParserCtxtPtr context = xmlSchemaNewMemParserCtxt(text, (int)strlen(text));
    xmlSchemaSetParserStructuredErrors(context, schema_loud, NULL);
    xmlSchemaPtr schema = xmlSchemaParse(context);
    xmlSchemaFreeParserCtxt(context);
    memory_free(text);
    return schema;
}

/* Returns whether the document is valid. If `print`, prints the errors. */
static inline bool schema_accepts_document(xmlSchemaPtr schema, xmlDocPtr doc, bool print)
{
    xmlSchemaValidCtxtPtr context = xmlSchemaNewValidCtxt(schema);
    assert_non_null(context);
    xmlSchemaSetValidStructuredErrors(context, print ? schema_loud : schema_quiet, NULL);
    int result = xmlSchemaValidateDoc(context, doc);
    assert_true(result >= 0);
    xmlSchemaFreeValidCtxt(context);
    return result == 0;
}

static inline bool schema_accepts(xmlSchemaPtr schema, const char *xml, bool print)
{
    xmlDocPtr doc = xmlReadMemory(xml, (int)strlen(xml), NULL, "UTF-8", XML_PARSE_NONET);
    assert_non_null(doc);
    bool taken = schema_accepts_document(schema, doc, print);
    xmlFreeDoc(doc);
    return taken;
}

/* Asserts that the document that a collector has written is valid for report.xsd. */
static inline void assert_is_report(xmlDocPtr doc)
{
    xmlSchemaPtr schema = schema_load("report.xsd");
    assert_non_null(schema);
    assert_true(schema_accepts_document(schema, doc, true));
    xmlSchemaFree(schema);
}

#endif
