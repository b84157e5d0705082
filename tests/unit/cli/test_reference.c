/* SPDX-License-Identifier: MIT */
/* The reference pages agree with the rows and the IDL; the schema accepts the XML that OpenPLA writes and rejects the
   XML that OpenPLA rejects. */
#include "docs/generate/reference.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "tests/unit/schema_check.h"

static const char *tree(void)
{
    return getenv("OPENPLA_SOURCE_DIR");
}

static char *load(const char *folder, const char *name)
{
    char path[1024], *text = NULL;
    size_t size;
    snprintf(path, sizeof path, "%s/%s/%s", tree(), folder, name);
    return SUCCEEDED(file_load(path, 1 << 20, &text, &size)) ? text : NULL;
}

static void make(struct reference *r)
{
    HRESULT hr = reference_make(tree(), r);
    if (FAILED(hr))
        print_error("%s\n", error_text(hr));
    assert_int_equal(hr, S_OK);
}

static const char *made(const struct reference *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (!strcmp(r->files[i].name, name))
            return r->files[i].text;
    return NULL;
}

/* ---- the files ---- */

/* Returns whether the file is up to date; prints the first difference if not. */
static bool is_current(const char *name, const char *committed, const char *wanted)
{
    unsigned line = 1;
    if (!committed) {
        print_error("docs/reference/%s is missing\n", name);
        return false;
    }
    for (; *wanted && *wanted == *committed; wanted++, committed++)
        line += *wanted == '\n';
    if (*wanted == *committed)
        return true;
    print_error("docs/reference/%s is stale from line %u on\n", name, line);
    return false;
}

/* If a committed page were outdated, readers would miss a new property, or rely on an old range. */
static void committed_files_match_the_rows(void **state)
{
    struct reference r;
    struct texts names = {0};
    char folder[1024];
    unsigned stale = 0;
    (void)state;
    make(&r);
    for (size_t i = 0; i < r.count; i++) {
        char *text = load("docs/reference", r.files[i].name);
        stale += !is_current(r.files[i].name, text, r.files[i].text);
        memory_free(text);
    }
    snprintf(folder, sizeof folder, "%s/docs/reference", tree());
    assert_int_equal(folder_list(folder, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++)
        if (!made(&r, names.items[i])) {
            print_error("docs/reference/%s is no longer made: delete it\n", names.items[i]);
            stale++;
        }
    if (stale)
        print_error("refresh the reference with: %s\n", REFERENCE_REFRESH);
    texts_free(&names);
    reference_free(&r);
    assert_int_equal(stale, 0);
}

static void outdated_page_is_detected(void **state)
{
    (void)state;
    assert_true(is_current("made-up.md", "one\ntwo\n", "one\ntwo\n"));
    assert_false(is_current("made-up.md", "one\ntwo\n", "one\nthree\n"));
    assert_false(is_current("made-up.md", "one\n", "one\ntwo\n"));
    assert_false(is_current("made-up.md", "one\ntwo\n", "one\n"));
    assert_false(is_current("made-up.md", NULL, "one\n"));
}

struct expected {
    const char *interface_name, *name, *call;
    unsigned opnum;
};
static const struct expected members[] = {
#define IDL_INTERFACE(Interface, Base, Id)
#define IDL_MEMBER(Interface, Opnum, Call, Name, Dispid, Types) {#Interface, #Name, #Call, Opnum},
#include "tests/com/idl_members.inc"
#undef IDL_INTERFACE
#undef IDL_MEMBER
};

/* Readers would not find a member that is missing in the index. The members are compared with those extracted from
   MS-PLA. */
static void index_and_pages_have_every_member(void **state)
{
    static const struct call {
        const char *in_index, *on_page;
    } calls[] = {{"get ", "Get: opnum"}, {"put ", "Put: opnum"}, {"", "Opnum"}};
    const size_t count = sizeof members / sizeof members[0];
    struct reference r;
    char line[512], file[128];
    (void)state;
    make(&r);
    const char *index = made(&r, "README.md");
    for (size_t i = 0; i < count; i++) {
        const struct expected *m = &members[i];
        const struct call *call = &calls[!strcmp(m->call, "GET") ? 0 : !strcmp(m->call, "PUT") ? 1 : 2];
        bool reserved = text_matches("Opnum*NotUsedOnWire", m->name);
        snprintf(line, sizeof line, "\n| %s | %u | [%s%s](%s.md#", m->interface_name, m->opnum, call->in_index, m->name,
                 m->interface_name);
        if (!index || !strstr(index, line))
            fail_msg("the index lacks%s", line);
        snprintf(file, sizeof file, "%s.md", m->interface_name);
        const char *page = made(&r, file);
        snprintf(line, sizeof line, "\n### %s\n", m->name);
        const char *part = page ? strstr(page, line) : NULL;
        if (!reserved && !part)
            fail_msg("%s has no heading for %s", file, m->name);
        snprintf(line, sizeof line, "- %s %u, MS-PLA 3.2.4.", call->on_page, m->opnum);
        if (part && !strstr(part, line))
            fail_msg("%s lacks for %s: %s", file, m->name, line);
    }
    snprintf(line, sizeof line, "%u of %u members", (unsigned)count, (unsigned)count);
    assert_non_null(strstr(index, line));
    reference_free(&r);
}

/* Each page lists the values that a put rejects, with the results, including checks that only one property has. Links
   lead to the right sections of MS-PLA. */
static void pages_list_rejected_values_and_sections(void **state)
{
    static const struct {
        const char *file, *text;
    } said[] = {
        {"IPerformanceCounterDataCollector.md", "`E_INVALIDARG`](errors.md), for example: `SampleInterval: 0 is not"},
        {"IPerformanceCounterDataCollector.md", "`PLA_E_NO_DUPLICATES`](errors.md), for example: `PerformanceCounters"},
        {"IDataCollector.md", "`PLA_E_DC_ALREADY_EXISTS`](errors.md), for example: `Name"},
        {"ITraceDataCollector.md", "for example: `BufferSize: 0 is not between 1 and 16384`"},
        {"ITraceDataCollector.md", "- Get: opnum 32, MS-PLA 3.2.4.9.1\n"},
        {"ITraceDataCollector.md", "- Get: opnum 71, MS-PLA 3.2.4.9.33\n"},
        {"IValueMap.md", "- Opnum 16, MS-PLA 3.2.4.18.10\n"},
        {"ISchedule.md", "for example: `EndDate: a VARIANT of type 11 is neither a date nor empty`"},
        {"IDataManager.md", "`OPENPLA_E_MALFORMED_XML`](errors.md)"},
        {"errors.md", "| `PLA_E_DCS_IN_USE` | 0x803000AA | the data collector set, or"},
    };
    struct reference r;
    (void)state;
    make(&r);
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        const char *page = made(&r, said[i].file);
        if (!page || !strstr(page, said[i].text))
            fail_msg("%s lacks: %s", said[i].file, said[i].text);
    }
    reference_free(&r);
}

/* ---- the schema ---- */

static int load_schema(void **state)
{
    *state = schema_load("set.xsd");
    return *state ? 0 : -1;
}

static int load_report_schema(void **state)
{
    *state = schema_load("report.xsd");
    return *state ? 0 : -1;
}

static int free_schema(void **state)
{
    xmlSchemaFree(*state);
    xmlCleanupParser();
    return 0;
}

static void assert_validates(xmlSchemaPtr schema, const char *what, const char *xml)
{
    if (!schema_accepts(schema, xml, true))
        fail_msg("%s does not validate", what);
}

static void assert_object_validates(xmlSchemaPtr schema, struct object *o)
{
    char *xml = NULL;
    assert_int_equal(object_to_xml(o, &xml, NULL), S_OK);
    assert_validates(schema, o->class->name, xml);
    memory_free(xml);
}

/* Users check their sets against the schema: it must accept every set that OpenPLA wrote. */
static void every_golden_set_validates(void **state)
{
    struct texts names = {0};
    char folder[1024];
    unsigned checked = 0;
    snprintf(folder, sizeof folder, "%s/tests/golden/sets", tree());
    assert_int_equal(folder_list(folder, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++) {
        if (!text_matches("*.out.xml", names.items[i]))
            continue;
        char *xml = load("tests/golden/sets", names.items[i]);
        assert_non_null(xml);
        assert_validates(*state, names.items[i], xml);
        memory_free(xml);
        checked++;
    }
    assert_true(checked > 0);
    texts_free(&names);
}

static struct object *new_set(void)
{
    struct object *set = NULL;
    assert_int_equal(set_create(&set), S_OK);
    return set;
}

static struct object *new_issues(void)
{
    struct object *issues = NULL;
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    return issues;
}

static struct object *collectors_of(struct object *set)
{
    return ((struct data_collector_set *)set)->DataCollectors;
}

static void default_set_and_every_kind_of_collector_validate(void **state)
{
    struct object *set = new_set();
    assert_object_validates(*state, set);
    for (uint32_t type = 0; collector_class(type); type++) {
        struct object *collector = NULL;
        assert_int_equal(object_create(collector_class(type), set, &collector), S_OK);
        assert_object_validates(*state, collector);
        assert_int_equal(collection_add(collectors_of(set), collector), S_OK);
        assert_object_validates(*state, collector);
        object_release(collector);
    }
    assert_object_validates(*state, set);
    object_release(set);
}

static void put_number(struct object *o, const struct property *p, uint32_t n)
{
    struct value v = {.kind = p->kind, .u32 = n};
    assert_int_equal(object_put(o, p, &v), S_OK);
}

/* Sets a stored property to the nth of its unusual values; returns false if there is no nth value. */
static bool put_unusual(struct object *o, const struct property *p, unsigned n)
{
    static const char *const texts[] = {"<a> & \"b\" ]]>", " blanks\tand\r\nlines ", "\xC3\x9F\xE2\x82\xAC\x01", ""};
    struct value v = {.kind = p->kind};
    switch (p->kind) {
    case PROPERTY_BOOL:
        v.boolean = n == 0;
        return n < 2 && SUCCEEDED(object_put(o, p, &v));
    case PROPERTY_U32:
        if (n < 2)
            put_number(o, p, (uint32_t)(n ? p->max : p->min));
        return n < 2;
    case PROPERTY_ENUM:
        if (n < p->enumeration->count)
            put_number(o, p, p->enumeration->items[n].value);
        return n < p->enumeration->count;
    case PROPERTY_FLAGS:
        if (n == 0)
            put_number(o, p, UINT32_MAX);
        return n == 0;
    case PROPERTY_TEXT:
        if (n >= sizeof texts / sizeof texts[0])
            return false;
        object_put_text(o, p, p->xml_use == XML_STORED ? texts[n] : n % 2 ? "" : "<Rules><x y='z'>t</x></Rules>");
        return true;
    case PROPERTY_TEXTS:
        v.texts.items = (char *[]){(char *)"\\a(*)\\b < 1", (char *)"c"};
        v.texts.count = n == 0 ? 2 : 0;
        object_put(o, p, &v); /* an invalid list of thresholds or keys is rejected */
        return n < 2;
    case PROPERTY_BYTES:
        v.bytes.items = (uint8_t[1024]){0xAB, 1};
        v.bytes.count = n == 0 ? 1024 : 1;
        assert_int_equal(object_put(o, p, &v), S_OK);
        return n < 2;
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        v.variant = (struct variant){.type = VARIANT_DATE, .real = n ? 36526 : 45657.999};
        assert_int_equal(object_put(o, p, &v), S_OK);
        return n < 2;
    case PROPERTY_VARIANT:
        v.variant = (struct variant){.type = VARIANT_UI8, .integer = -1};
        assert_int_equal(object_put(o, p, &v), S_OK);
        return n == 0;
    default:
        return false;
    }
}

/* Tests numbers at their limits, every enumerator, and strings that need escaping: if a property accepts a value, the
   schema must accept it, too. */
static void every_value_that_can_be_put_validates(void **state)
{
    static const struct class *const classes[] = {&data_collector_set_class,   &performance_counter_collector_class,
                                                  &trace_data_collector_class, &configuration_collector_class,
                                                  &alert_collector_class,      &api_tracing_collector_class};
    for (size_t c = 0; c < sizeof classes / sizeof classes[0]; c++)
        for (size_t row = 0; row < classes[c]->property_count; row++) {
            const struct property *p = &classes[c]->properties[row];
            struct object *o = NULL;
            assert_int_equal(object_create(classes[c], NULL, &o), S_OK);
            for (unsigned n = 0; p->xml_use != XML_HIDDEN && put_unusual(o, p, n); n++)
                assert_object_validates(*state, o);
            object_release(o);
        }
}

static void add_unusual_item(xmlSchemaPtr schema, struct object *collection, const struct class *class,
                             struct object *root)
{
    struct object *item = NULL;
    assert_int_equal(object_create(class, collection, &item), S_OK);
    assert_int_equal(collection_add(collection, item), S_OK);
    for (size_t row = 0; row < class->property_count; row++)
        for (unsigned n = 0;
             class->properties[row].xml_use != XML_HIDDEN && put_unusual(item, &class->properties[row], n); n++)
            assert_object_validates(schema, root);
    object_release(item);
}

/* The same test for the objects below a set: schedules, the data manager, folder actions, event providers and their
   maps. */
static void every_value_below_a_set_validates(void **state)
{
    struct object *set = new_set(), *trace = NULL, *provider = NULL;
    const struct data_collector_set *s = (const struct data_collector_set *)set;
    const struct class *manager = &data_manager_class;
    add_unusual_item(*state, s->Schedules, &set_schedule_class, set);
    for (size_t row = 0; row < manager->property_count; row++)
        for (unsigned n = 0; put_unusual(s->DataManager, &manager->properties[row], n); n++)
            assert_object_validates(*state, set);
    add_unusual_item(*state, ((struct data_manager *)s->DataManager)->FolderActions, &folder_action_class, set);
    assert_int_equal(object_create(&trace_data_collector_class, set, &trace), S_OK);
    assert_int_equal(collection_add(s->DataCollectors, trace), S_OK);
    struct object *providers = ((struct trace_data_collector *)trace)->TraceDataProviders;
    add_unusual_item(*state, providers, &trace_data_provider_class, set);
    assert_int_equal(collection_item(providers, 0, &provider), S_OK);
    add_unusual_item(*state, ((struct trace_data_provider *)provider)->KeywordsAny, &value_map_item_class, set);
    put_number(((struct trace_data_provider *)provider)->KeywordsAny, class_property(&value_map_class, "ValueMapType"),
               2);
    assert_int_equal(set_put_value(set, "a key < b", "text & more"), S_OK);
    assert_int_equal(set_put_value_as(set, "doc", "<a><b c='d'/>text</a>", true), S_OK);
    assert_object_validates(*state, set);
    object_release(provider);
    object_release(trace);
    object_release(set);
}

/* Returns whether a set accepts the document without an issue. */
static bool is_read(const char *xml)
{
    struct object *set = new_set(), *issues = new_issues();
    HRESULT hr = set_from_xml(set, xml, strlen(xml), issues);
    bool clean = SUCCEEDED(hr) && collection_count(issues) == 0;
    object_release(set);
    object_release(issues);
    return clean;
}

#define TRACE(inside)    "<TraceDataCollector><Name>t</Name>" inside "</TraceDataCollector>"
#define COUNTERS(inside) "<PerformanceCounterDataCollector><Name>c</Name>" inside "</PerformanceCounterDataCollector>"
#define PROVIDER(inside) TRACE("<TraceDataProvider>" inside "</TraceDataProvider>")

/* The schema must reject exactly the documents for which SetXml reports an issue. */
static void schema_and_reader_agree(void **state)
{
    static const struct {
        const char *inside; /* contents of <DataCollectorSet> */
        bool good;
    } documents[] = {
        {"", true},
        {"<Duration>60</Duration>", true},
        {"<Duration> 0x3c </Duration>", true},
        {"<Duration></Duration>", true},
        {"<Duration>4294967295</Duration>", true},
        {"<Duration>-1</Duration>", false},
        {"<Duration>4294967295</Duration>", true},
        {"<SubdirectoryFormat>-1</SubdirectoryFormat>", true},
        {TRACE("<ExtendedModes>-2147483648</ExtendedModes>"), true},
        {COUNTERS("<SampleInterval>-1</SampleInterval>"), false},
        {"<Duration>0x00FFFFFFFF</Duration>", true},
        {"<Duration>4294967296</Duration>", false},
        {"<Duration>0x100000000</Duration>", false},
        {"<Duration>sixty</Duration>", false},
        {"<Duration>6 0</Duration>", false},
        {"<Duration>1.5</Duration>", false},
        {"<Unknown/>", false},
        {"<duration>60</duration>", false},
        {"<SerialNumber>2</SerialNumber><Keyword>b</Keyword><Duration>1</Duration><Keyword>a</Keyword>", true},
        {"<Segment>true</Segment>", true},
        {"<Segment>FALSE</Segment>", true},
        {"<Segment>-1</Segment>", true},
        {"<Segment>yes</Segment>", false},
        {"<SubdirectoryFormat>0x10200</SubdirectoryFormat>", true}, /* excess bits are dropped */
        {"<SubdirectoryFormat>pattern</SubdirectoryFormat>", false},
        {COUNTERS("<SampleInterval>1</SampleInterval>"), true},
        {COUNTERS("<SampleInterval>0</SampleInterval>"), false},
        {COUNTERS("<SampleInterval>0x0</SampleInterval>"), false},
        {COUNTERS("<SampleInterval>0xA0</SampleInterval>"), true},
        {COUNTERS("<LogFileFormat>3</LogFileFormat>"), true},
        {COUNTERS("<LogFileFormat>0x03</LogFileFormat>"), true},
        {COUNTERS("<LogFileFormat>4</LogFileFormat>"), false},
        {COUNTERS("<LogFileFormat>blg</LogFileFormat>"), false},
        {COUNTERS("<Counters>\\System\\Processes</Counters>"), false},
        {COUNTERS("<Index>1</Index><n/>"), true}, /* occurs in real exports */
        {TRACE("<BufferSize>16384</BufferSize>"), true},
        {TRACE("<BufferSize>0x4000</BufferSize>"), true},
        {TRACE("<BufferSize>0x3fFf</BufferSize>"), true},
        {TRACE("<BufferSize>16385</BufferSize>"), false},
        {TRACE("<BufferSize>0x4001</BufferSize>"), false},
        {TRACE("<BufferSize>0x10000</BufferSize>"), false},
        {TRACE("<BufferSize>0x0010</BufferSize>"), true},
        {TRACE("<BufferSize>0x0000</BufferSize>"), false},
        {TRACE("<BufferSize>-1</BufferSize>"), false},
        {TRACE("<ExtendedMode>1</ExtendedMode><ExtendedModes>0x2</ExtendedModes>"), true},
        {TRACE("<Guid>{9e814aad-3204-11d2-9a82-006008a86939}</Guid>"), true},
        {TRACE("<Guid>9E814AAD-3204-11D2-9A82-006008A86939</Guid>"), true},
        {TRACE("<Guid>{9e814aad-3204-11d2-9a82-006008a86939</Guid>"), false},
        {TRACE("<Guid>9e814aad</Guid>"), false},
        {TRACE("<Guid>9e814aad-3204-11d2-9a82-006008a869391</Guid>"), false},
        {TRACE("<Guid>9e814aad-3204-11d2-9a82-9a82-006008a86939</Guid>"), false},
        {PROVIDER("<AnyKeywords><Value>0x00010303</Value></AnyKeywords>"), true},
        {PROVIDER("<KeywordsAny><Strange/></KeywordsAny>"), false},
        {PROVIDER("<KeywordsAny><ValueMapType>5</ValueMapType></KeywordsAny>"), false},
        {PROVIDER("<FilterData>0aFF</FilterData>"), true},
        {PROVIDER("<FilterData>0aF</FilterData>"), false},
        {PROVIDER("<FilterData>0xFF</FilterData>"), false},
        {"<Schedule><StartDate>12/31/2024</StartDate><StartTime>1:02:03 PM</StartTime><Days>127</Days></Schedule>",
         true},
        {"<Schedule><StartDate>2024-12-31</StartDate><StartTime>13:02</StartTime></Schedule>", true},
        {"<Schedule><StartDate>2024-12-31T13:02:00</StartDate></Schedule>", true},
        {"<Schedule><StartDate>2024-12-31Tea</StartDate></Schedule>", false},
        {"<Schedule><StartDate>31.12.2024</StartDate></Schedule>", false},
        {"<Schedule><StartDate>123/1/2024</StartDate></Schedule>", false},
        {"<Schedule><StartTime>noon</StartTime></Schedule>", false},
        {"<Schedule><StartTime>1:002</StartTime></Schedule>", false},
        {"<DataManager><ResourcePolicy>1</ResourcePolicy><Rules><a b='c'>d</a></Rules></DataManager>", true},
        {"<DataManager><ReportSchema> <a b='c'>d<e/></a> </ReportSchema></DataManager>", true},
        {"<DataManager><ReportSchema/><Rules/></DataManager>", true},
        {"<DataManager><ReportSchema><a/><b/></ReportSchema></DataManager>", false}, /* a document has one root
                                                                                        element */
        {"<DataManager><ResourcePolicy>2</ResourcePolicy></DataManager>", false},
        {"<DataManager><FolderAction><Age>1</Age></FolderAction></DataManager>", true},
        {"<FolderAction><Age>1</Age></FolderAction>", false},
        {"<Value name='k'>v</Value><Value name='d' type='document'><a/></Value>", true},
        {"<Value>v</Value>", false},
        {"<Value name=''>v</Value>", false},
    };
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        char *xml = text_format("<DataCollectorSet>%s</DataCollectorSet>", documents[i].inside);
        assert_non_null(xml);
        if (schema_accepts(*state, xml, documents[i].good) != documents[i].good)
            fail_msg("the schema %s: %s", documents[i].good ? "rejects" : "accepts", xml);
        if (is_read(xml) != documents[i].good)
            fail_msg("reading %s: %s", documents[i].good ? "rejects" : "accepts", xml);
        memory_free(xml);
    }
    assert_false(schema_accepts(*state, "<DataCollectorSets/>", false));
    assert_false(schema_accepts(*state, "<Schedule/>", false));
}

/* Tests the document format of configuration collectors. */
static void report_schema_accepts_only_its_format(void **state)
{
    static const struct {
        const char *inside;
        bool good;
    } documents[] = {
        {"", true},
        {"<Header><Data name='computer' units='s'>A</Data></Header>", true},
        {"<Section name='s' key='1' note='n'><Table name='t'/></Section><StringTable><String "
         "ID='i'>x</String></StringTable>",
         true},
        {"<Section name='s'><Table name='t' source='q' topic='p' threshold='0' level='5'><Header><Data name='a' "
         "key='1'/>"
         "<Data name='b' volatile='1' align='left' units='%' format='0.0' sort='primary'/></Header>"
         "<Item><Data name='a' type='REG_SZ' img='Red' translate='1' link='l' tag='t'>x</Data><Data name='b'/>"
         "<Table name='in'/></Item><Footer><Data name='a' summary='total'>1</Data></Footer></Table></Section>",
         true},
        {"<Section/>", false},
        {"<Section name='s'><Item/></Section>", false},
        {"<Section name='s'><Table name='t'><Item/><Header/></Table></Section>", false},
        {"<Section name='s'><Table name='t'><Item><Table name='u'/><Data name='a'/></Item></Table></Section>", false},
        {"<Section name='s'><Table name='t'>text</Table></Section>", false},
        {"<Section name='s'><Table name='t'><Header><Data name='a' key='yes'/></Header></Table></Section>", false},
        {"<Section name='s'><Table name='t'><Header><Data name='a'>x</Data></Header></Table></Section>", false},
        {"<Section name='s'><Table name='t'><Item><Data name='a' other='1'/></Item></Table></Section>", false},
        {"<Section name='s'/><Header/>", false},
    };
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        char *xml = text_format("<Report name='r' version='1' complete='0'>%s</Report>", documents[i].inside);
        assert_non_null(xml);
        if (schema_accepts(*state, xml, documents[i].good) != documents[i].good)
            fail_msg("the schema %s: %s", documents[i].good ? "rejects" : "accepts", xml);
        memory_free(xml);
    }
    assert_false(schema_accepts(*state, "<Report/>", false));
    assert_false(schema_accepts(*state, "<Section name='s'/>", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(committed_files_match_the_rows),
        cmocka_unit_test(outdated_page_is_detected),
        cmocka_unit_test(index_and_pages_have_every_member),
        cmocka_unit_test(pages_list_rejected_values_and_sections),
        cmocka_unit_test_setup_teardown(every_golden_set_validates, load_schema, free_schema),
        cmocka_unit_test_setup_teardown(default_set_and_every_kind_of_collector_validate, load_schema, free_schema),
        cmocka_unit_test_setup_teardown(every_value_that_can_be_put_validates, load_schema, free_schema),
        cmocka_unit_test_setup_teardown(every_value_below_a_set_validates, load_schema, free_schema),
        cmocka_unit_test_setup_teardown(schema_and_reader_agree, load_schema, free_schema),
        cmocka_unit_test_setup_teardown(report_schema_accepts_only_its_format, load_report_schema, free_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
