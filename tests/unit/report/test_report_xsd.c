/* SPDX-License-Identifier: MIT */
/* The XML Schema of report schemas, which editors use. Like the program, it must accept the built-in schemas, reject
   errors, and report their line. */
#include "engine/base/xml_document.h"
#include "engine/report/report_schema.h"
#include "tests/unit/schema_check.h"

#define G     "{3D6FA8D4-FE05-11D0-9DDA-00C04FD7BA7C}"
#define FIELD "<EventField field='f' payloadGuid='" G "' payloadId='1'/>"
/* A schema with `line` in line 4, so that errors must be reported for this line. */
#define REPORT(line)                                                                                                   \
    "<Report xmlns='" REPORT_SCHEMA_NAMESPACE "' name='r' version='1'>\n<Sections>\n<Section name='s' key='1'>\n" line \
    "\n<CounterTable name='ok' topic='t' object='o'/></Section></Sections></Report>"
#define EVENTS(attributes, inside) REPORT("<EventTable name='e' topic='t'" attributes ">" inside "</EventTable>")
#define COUNTERS(attributes, inside)                                                                                   \
    REPORT("<CounterTable name='c' topic='t' object='o'" attributes ">" inside "</CounterTable>")
#define COLUMN(attributes)    "<Column name='c'" attributes ">" FIELD "</Column>"
#define SOURCE(attributes)    EVENTS("", "<Column name='c'><EventField " attributes "/></Column>")
#define JOIN(fields)          EVENTS("", COLUMN("") "<EqualJoin>" fields "</EqualJoin>")
#define JOIN_FIELD(attribute) "<EventJoinField field='f' payloadGuid='" G "' payloadId='1'" attribute "/>"

static const char *const broken[] = {
    EVENTS("", ""),
    EVENTS(" level='0'", COLUMN("")),
    EVENTS(" level='6'", COLUMN("")),
    EVENTS(" threshold='0'", COLUMN("")),
    EVENTS(" rowcount='many'", COLUMN("")),
    EVENTS(" transaction='maybe'", COLUMN("")),
    EVENTS("", "<Column name='c'/>"),
    EVENTS("", "<Column>" FIELD "</Column>"),
    EVENTS("", COLUMN(" align='middle'")),
    EVENTS("", COLUMN(" sort='third'")),
    EVENTS("", COLUMN(" order='upwards'")),
    EVENTS("", COLUMN(" summary='median'")),
    EVENTS("", COLUMN(" visible='yes'")),
    EVENTS("", COLUMN(" bars='many'")),
    EVENTS("", COLUMN(" groupby='2'")),
    EVENTS("", COLUMN(" format='0x0'")),
    EVENTS("", COLUMN(" format='0.0.0'")),
    EVENTS("", COLUMN(" format='ms'")),
    EVENTS("", COLUMN("") COLUMN("")),
    EVENTS("", COLUMN("") "<SubTable/>"),
    SOURCE("field='f' payloadGuid='" G "'"),
    SOURCE("field='f' payloadId='1'"),
    SOURCE("payloadGuid='" G "' payloadId='1'"),
    SOURCE("field='f' payloadGuid='{3D6FA8D4}' payloadId='1'"),
    SOURCE("field='f' payloadGuid='" G "' payloadId='first'"),
    SOURCE("field='f' payloadGuid='" G "' payloadId='1' version='new'"),
    SOURCE("field='f' payloadGuid='" G "' payloadId='1' aggregate='median'"),
    JOIN(JOIN_FIELD("")),
    JOIN(JOIN_FIELD("") JOIN_FIELD(" version='2'") JOIN_FIELD(" version='3'")),
    REPORT("<CounterTable name='c' topic='t'/>"),
    COUNTERS(" columns='mean p42'", ""),
    COUNTERS(" sort='color'", ""),
    COUNTERS("", "<Exclude column='color'/>"),
};

struct found {
    int line, count;
};

static void record_error(void *context, schema_error e)
{
    struct found *f = context;
    if (f->count++ == 0)
        f->line = e->line;
}

static void test_mistakes_are_rejected_at_their_line(void **state)
{
    (void)state;
    xmlSchemaPtr schema = schema_load("report-schema.xsd");
    assert_non_null(schema);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct found found = {0};
        xmlDocPtr doc = xmlReadMemory(broken[i], (int)strlen(broken[i]), NULL, "UTF-8", XML_PARSE_NONET);
        xmlSchemaValidCtxtPtr context = xmlSchemaNewValidCtxt(schema);
        assert_non_null(doc);
        assert_non_null(context);
        xmlSchemaSetValidStructuredErrors(context, record_error, &found);
        if (xmlSchemaValidateDoc(context, doc) <= 0 || found.line != 4)
            fail_msg("line %d: %s", found.line, broken[i]);
        xmlSchemaFreeValidCtxt(context);
        xmlFreeDoc(doc);
        /* The program must report the same line, and keep the table after it. */
        struct report_schema s = {0};
        assert_int_equal(report_schema_add(&s, "a.xml", broken[i], strlen(broken[i]), NULL), S_OK);
        if (s.errors.count != 1 || !strstr(s.errors.items[0], "line 4:") || s.sections[0].count != 1)
            fail_msg("%s: %s", broken[i], s.errors.count ? s.errors.items[0] : "it is read");
        report_schema_free(&s);
    }
    xmlSchemaFree(schema);
}

static void test_built_in_schemas_are_accepted(void **state)
{
    static const char *const right[] = {
        EVENTS(" level='5' key='x' rowcount='1' transaction='1'", COLUMN(" format='#,##0.0#;(0) ms' outType='any'")),
        COUNTERS(" columns='sum p95' sort='mean' order='ascending' rowcount='3' chart='*|a' watch='*' limit='1 -2.5'",
                 "<Include counter='x'/><Exclude instance='y'/><Exclude column='machine'/>"),
        SOURCE("field='sys:PID' payloadGuid='3D6FA8D4-FE05-11D0-9DDA-00C04FD7BA7C' payloadId='*'"),
        JOIN(JOIN_FIELD("") JOIN_FIELD(" version='2'")),
        "<Report xmlns='" REPORT_SCHEMA_NAMESPACE "' name='r' version='1' threshold='0'><Import file='x'/>"
        "<StringTable xml:lang='de'><String ID='a' loc.comment='b'>c</String></StringTable></Report>",
    };
    (void)state;
    xmlSchemaPtr schema = schema_load("report-schema.xsd");
    assert_non_null(schema);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        if (!schema_accepts(schema, right[i], true))
            fail_msg("%s", right[i]);
    for (const struct shipped_schema *shipped = shipped_schemas; shipped->name; shipped++)
        if (!schema_accepts(schema, shipped->xml, true))
            fail_msg("%s", shipped->name);
    xmlSchemaFree(schema);
    xmlCleanupParser();
}

int main(void)
{
    assert_true(xml_memory_begin());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes_are_rejected_at_their_line),
        cmocka_unit_test(test_built_in_schemas_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
