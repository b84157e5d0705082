/* SPDX-License-Identifier: MIT */
/* The XML Schema of rules, which editors use. It must accept the built-in rules and reject everything that the program
   reports as an error. */
#include "engine/base/memory.h"
#include "engine/base/xml_document.h"
#include "engine/report/rules.h"
#include "engine/report/rules/rules_parts.h"
#include "tests/unit/schema_check.h"

#define RULES(steps)                                                                                                   \
    "<Rules><Group name='g'><Rule name='r'>" steps "</Rule></Group><StringTable xml:lang='de'><String ID='a' "         \
    "loc.comment='b'>c</String></StringTable></Rules>"
#define STEP(attributes, inside) RULES("<Step select='//Item'" attributes ">" inside "</Step>")
#define DO(actions)              STEP("", "<Exists><When expression='1'>" actions "</When><Otherwise/></Exists>")

static bool program_accepts(const char *text)
{
    struct rules *r = rules_create();
    assert_non_null(r);
    assert_int_equal(rules_add(r, "r.xml", text, strlen(text)), S_OK);
    const bool taken = !rules_errors(r)->count;
    rules_free(r);
    return taken;
}

static void valid_rules_are_accepted(void **state)
{
    static const char *const right[] = {
        STEP(" sortType='Max' sortDataType='NUMBER' sortNode='.' fatal='True' enabled='false'", "<Otherwise/>"),
        STEP(" sortType='first'", "<Variable name='1-a.b'>{x} $(a)</Variable>"),
        DO("<Insert select='.'><Node axis='following-sibling'><A b='c'>d<E/></A></Node><Attribute name='n' "
           "value=''/></Insert><Delete select='@x'/><Notify severity='error'>text</Notify>"),
        DO("<Warning tag='t'><Item><Data name='symptom' img='Red' link='t'>$(a)</Data><Other/></Item></Warning>"),
        "<Rules><Logging level='15' file='r.log'/><Include name='Rules.General.xml' fatal='false'/></Rules>",
        "<Rules><Group name='g' enabled='TRUE'><Rule name='r'><Help>text <b>x</b></Help></Rule></Group></Rules>",
    };
    (void)state;
    xmlSchemaPtr schema = schema_load("rules.xsd");
    assert_non_null(schema);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        if (!schema_accepts(schema, right[i], true) || !program_accepts(right[i]))
            fail_msg("%s", right[i]);
    size_t packs = 0;
    for (const struct shipped_schema *s = shipped_rules; s->name; s++, packs++)
        if (!schema_accepts(schema, s->xml, true))
            fail_msg("%s", s->name);
    assert_true(packs >= 12);
    xmlSchemaFree(schema);
}

static void mistakes_are_rejected(void **state)
{
    static const char *const broken[] = {
        "<Rules><Group><Rule name='r'/></Group></Rules>",
        "<Rules><Import/></Rules>",
        "<Rules><Logging level='all'/><Group name='g'/></Rules>",
        "<Rules><Group name='g' enabled='yes'/></Rules>",
        RULES("<Step/>"),
        STEP(" sortType='most'", ""),
        STEP(" sortDataType='money'", ""),
        STEP(" fatal='1'", ""),
        STEP("", "<Variable name='a b'>1</Variable>"),
        DO("<Insert><Node axis='parent'/></Insert>"),
        DO("<Insert><Attribute name='a'/></Insert>"),
        DO("<Delete/>"),
    };
    (void)state;
    xmlSchemaPtr schema = schema_load("rules.xsd");
    assert_non_null(schema);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        if (schema_accepts(schema, broken[i], false) || program_accepts(broken[i]))
            fail_msg("%s", broken[i]);
    xmlSchemaFree(schema);
    xmlCleanupParser();
}

int main(void)
{
    assert_true(xml_memory_begin());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_rules_are_accepted),
        cmocka_unit_test(mistakes_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
