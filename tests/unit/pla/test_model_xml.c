/* SPDX-License-Identifier: MIT */
/* Sets as XML (behaviour 18): imported values are unchanged, and invalid values are reported and never applied in
   part. */
#include "engine/base/file.h"
#include "tests/unit/pla/set_xml_fixture.h"

static char *golden(const char *name)
{
    char path[1024], *text = NULL;
    size_t size;
    snprintf(path, sizeof path, "%s/tests/golden/sets/%s", getenv("OPENPLA_SOURCE_DIR"), name);
    assert_int_equal(file_load(path, 1 << 20, &text, &size), S_OK);
    return text;
}

/* Writes the expected file. Tests call this instead of comparing if OPENPLA_WRITE_GOLDEN is set. Check the difference
   before you keep the file. */
static void write_golden(const char *name, const char *text)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/golden/sets/%s", getenv("OPENPLA_SOURCE_DIR"), name);
    assert_int_equal(file_store(path, text, strlen(text)), S_OK);
}

/* Removes the content of OutputLocation from the XML, because it depends on the host OS and the time. */
static void drop_location(char *xml)
{
    char *start = strstr(xml, "<OutputLocation>"), *end = strstr(xml, "</OutputLocation>");
    if (start && end)
        memmove(start + strlen("<OutputLocation>"), end, strlen(end) + 1);
}

/* The template has the form of perfmon's exports, and errors that occur in users' files. Every valid value must be
   applied, and every invalid one reported. When the set is written and read again, it must be the same. */
static void template_is_read_and_written_again(void **state)
{
    (void)state;
    char *in = golden("full.xml"), *wanted_issues = golden("full.issues"), *wanted = golden("full.out.xml");
    struct object *set = new_set(), *again = new_set(), *issues = new_issues(), *none = new_issues();
    assert_int_equal(set_from_xml(set, in, strlen(in), issues), S_OK);
    char *found = listed(issues), *out = xml_of(set);
    assert_string_equal(found, wanted_issues);
    assert_int_equal(set_from_xml(again, out, strlen(out), none), S_OK);
    char *left = listed(none);
    assert_string_equal(left ? left : "", ""); /* OpenPLA's own XML causes no issue */
    memory_free(left);
    char *second = xml_of(again);
    drop_location(out);
    drop_location(second);
    assert_string_equal(second, out);
    if (getenv("OPENPLA_WRITE_GOLDEN"))
        write_golden("full.out.xml", out);
    else
        assert_string_equal(out, wanted);
    memory_free(second);
    memory_free(out);
    memory_free(found);
    memory_free(wanted);
    memory_free(wanted_issues);
    memory_free(in);
    object_release(none);
    object_release(issues);
    object_release(again);
    object_release(set);
}

/* Asserts that this string property of the set has the expected value. */
static void assert_reads(struct object *set, const char *property, const char *expected)
{
    struct value v;
    assert_int_equal(object_get(set, class_property(set->class, property), &v), S_OK);
    assert_string_equal(v.text, expected);
    value_free(&v);
}

/* An export contains a string and the reference to its resource, in any order. The reference must be kept; otherwise
   the set would stay in the language of the exporting machine. */
static void references_to_resources_survive(void **state)
{
    static const char *const exports[] = {
        "<DataCollectorSet><DisplayName>Text</DisplayName>"
        "<DisplayNameUnresolved>@C:\\no-such.dll,#7</DisplayNameUnresolved></DataCollectorSet>",
        "<DataCollectorSet><DisplayNameUnresolved>@C:\\no-such.dll,#7</DisplayNameUnresolved>"
        "<DisplayName>Text</DisplayName></DataCollectorSet>",
    };
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct object *set = new_set(), *again = new_set();
        assert_int_equal(set_xml(set, exports[i]), S_OK);
        char *xml = xml_of(set);
        assert_int_equal(set_xml(again, xml), S_OK);
        assert_reads(again, "DisplayNameUnresolved", "@C:\\no-such.dll,#7");
        assert_reads(again, "DisplayName", "@C:\\no-such.dll,#7"); /* the reference, because the file does not exist */
        memory_free(xml);
        object_release(again);
        object_release(set);
    }
    /* If the "unresolved" name is not a reference, DisplayName is used for both. */
    struct object *set = new_set();
    assert_int_equal(set_xml(set, "<DataCollectorSet><DisplayName>New</DisplayName>"
                                  "<DisplayNameUnresolved>Old</DisplayNameUnresolved></DataCollectorSet>"),
                     S_OK);
    assert_reads(set, "DisplayName", "New");
    assert_reads(set, "DisplayNameUnresolved", "New");
    object_release(set);
}

/* A program may put some properties and then apply XML that does not contain them. Their values must be kept. */
static void partial_xml_keeps_the_rest(void **state)
{
    (void)state;
    struct object *set = new_set();
    struct data_collector_set *s = (struct data_collector_set *)set;
    assert_int_equal(set_xml(set, "<DataCollectorSet><Duration>5</Duration><Keyword>a</Keyword>"
                                  "<PerformanceCounterDataCollector><Name>A</Name></PerformanceCounterDataCollector>"
                                  "</DataCollectorSet>"),
                     S_OK);
    struct object *collector;
    assert_int_equal(collection_item(collectors_of(set), 0, &collector), S_OK);
    assert_int_equal(set_xml(set, "<DataCollectorSet><RootPath>D:\\logs</RootPath></DataCollectorSet>"), S_OK);
    assert_int_equal(s->Duration, 5);
    assert_int_equal(s->Keywords.count, 1);
    assert_string_equal(s->RootPath, "D:\\logs");
    assert_ptr_equal(((struct collection *)collectors_of(set))->items.list[0], collector); /* the very same object */
    /* A list in the XML replaces the old list, and collectors replace all old collectors. An empty number means the
       default. */
    assert_int_equal(set_xml(set, "<DataCollectorSet><Keyword>b</Keyword><Keyword>c</Keyword><Duration/>"
                                  "<PerformanceCounterDataCollector/></DataCollectorSet>"),
                     S_OK);
    assert_int_equal(s->Keywords.count, 2);
    assert_int_equal(s->Duration, 0);
    assert_int_equal(collection_count(collectors_of(set)), 1);
    assert_null(collector->parent);
    object_release(collector);
    object_release(set);
}

static void refused(const char *xml, const char *why)
{
    struct object *set = new_set();
    struct data_collector_set *s = (struct data_collector_set *)set;
    s->Duration = 7;
    assert_int_equal(set_xml(set, xml), OPENPLA_E_MALFORMED_XML);
    assert_non_null(strstr(error_text(OPENPLA_E_MALFORMED_XML), why));
    assert_int_equal(s->Duration, 7);
    object_release(set);
}

/* If a document is not XML or refers to external entities, it is rejected with a reason, and the set is unchanged. */
static void malformed_xml_changes_nothing(void **state)
{
    (void)state;
    refused("", "empty");
    refused(" \r\n", "empty");
    refused("<DataCollectorSet>\n<Duration>1</Duration>\n", "line 3");
    refused("<DataCollectorSet><Duration>1</DataCollectorSet>", "line 1");
    refused("<Other/>", "'Other'");
    refused(
        "<!DOCTYPE x SYSTEM \"http://example.invalid/x\"><DataCollectorSet><Duration>1</Duration></DataCollectorSet>",
        "document type");
    refused("<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><DataCollectorSet><Description>&e;</Description>"
            "</DataCollectorSet>",
            "document type");
    struct text_buffer deep = {0};
    for (int i = 0; i < 5000; i++)
        text_buffer_add(&deep, "<a>");
    char *text = text_buffer_take(&deep);
    refused(text, "line 1");
    memory_free(text);
    char *big = memory_alloc((16 << 20) + 2);
    memset(big, ' ', (16 << 20) + 1);
    memcpy(big, "<a/>", 4);
    big[(16 << 20) + 1] = 0;
    refused(big, "bytes");
    memory_free(big);
}

/* Scripts paste many things before the root element. All of these are accepted; the declared encoding is ignored. */
static void prologues_are_accepted(void **state)
{
    (void)state;
    static const char *const before[] = {
        "",
        "\xEF\xBB\xBF",
        "\r\n  ",
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?>",
        "<?xml version=\"1.0\" encoding=\"windows-1252\"?>\r\n<!-- x --><?pi y?>",
        " <?xml version=\"1.0\"?>",
    };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        struct object *set = new_set();
        char *xml = text_format("%s<DataCollectorSet><Description>gr\xC3\xBC\xC3\x9F</Description></DataCollectorSet>",
                                before[i]);
        assert_int_equal(set_xml(set, xml), S_OK);
        assert_string_equal(((struct data_collector_set *)set)->Description, "gr\xC3\xBC\xC3\x9F");
        memory_free(xml);
        object_release(set);
    }
}

static void collectors_have_separate_xml(void **state)
{
    (void)state;
    static const char good[] = "<PerformanceCounterDataCollector><Name>c</Name><SampleInterval>3</SampleInterval>"
                               "<Other/></PerformanceCounterDataCollector>";
    static const char other[] = "<AlertDataCollector/>";
    struct object *c = NULL, *issues = new_issues();
    assert_int_equal(collector_create_from_xml(NULL, good, strlen(good), issues, &c), S_OK);
    char *found = listed(issues);
    assert_string_equal(found, "/PerformanceCounterDataCollector/Other 0x00300100\n");
    memory_free(found);
    assert_int_equal(((struct performance_counter_collector *)c)->SampleInterval, 3);
    assert_int_equal(collector_from_xml(c, other, strlen(other), issues), OPENPLA_E_MALFORMED_XML);
    assert_int_equal(collector_from_xml(c, good, strlen(good), issues), S_OK);
    char *xml = xml_of(c);
    assert_non_null(strstr(xml, "<SampleInterval>3</SampleInterval>"));
    memory_free(xml);
    object_release(c);
    object_release(issues);
}

/* XML 1.0 cannot contain control characters, so they are replaced. Otherwise the file could not be read again. */
static void control_characters_do_not_break_the_file(void **state)
{
    (void)state;
    struct object *set = new_set();
    assert_int_equal(object_put_text(set, &set->class->properties[IDataCollectorSet_Description], "a\001b\tc"), S_OK);
    assert_int_equal(set_put_value(set, "k\002", "v\003"), S_OK);
    char *xml = xml_of(set);
    assert_non_null(strstr(xml, "<Description>a\xEF\xBF\xBD"
                                "b\tc</Description>"));
    struct object *again = new_set(), *issues = new_issues();
    assert_int_equal(set_xml(again, xml), S_OK);
    assert_int_equal(set_validate(set, issues), S_OK);
    char *found = listed(issues);
    assert_non_null(strstr(found, "Description 0x80070057"));
    memory_free(found);
    memory_free(xml);
    object_release(issues);
    object_release(again);
    object_release(set);
}

/* XML cannot contain U+FFFE and U+FFFF either. If a string or a list contained them, the set could be stored but never
   read again. */
static void invalid_xml_characters_are_replaced_everywhere(void **state)
{
    (void)state;
    struct object *set = new_set(), *again = new_set(), *issues = new_issues();
    struct value keywords = {.kind = PROPERTY_TEXTS};
    assert_int_equal(texts_add(&keywords.texts, "k\xEF\xBF\xBF"), S_OK);
    assert_int_equal(object_put(set, &set->class->properties[IDataCollectorSet_Keywords], &keywords), S_OK);
    assert_int_equal(object_put_text(set, &set->class->properties[IDataCollectorSet_RootPath], "r\xEF\xBF\xBE"), S_OK);
    struct object *manager = ((struct data_collector_set *)set)->DataManager;
    assert_int_equal(object_put_text(manager, class_property(manager->class, "EventsFileName"), "e\xEF\xBF\xBF"), S_OK);
    assert_int_equal(set_put_value(set, "a\"<\t\r\n>", "v\xEF\xBF\xBF\"&]]>"), S_OK);
    char *xml = xml_of(set), *value = NULL;
    assert_int_equal(set_xml(again, xml), S_OK);
    assert_reads(again, "RootPath", "r\xEF\xBF\xBD");
    assert_string_equal(((struct data_collector_set *)again)->Keywords.items[0], "k\xEF\xBF\xBD");
    assert_int_equal(set_get_value(again, "a\"<\t\r\n>", &value), S_OK);
    assert_string_equal(value, "v\xEF\xBF\xBD\"&]]>");
    assert_int_equal(set_validate(set, issues), S_OK);
    char *found = listed(issues);
    assert_non_null(strstr(found, "Keywords 0x80070057"));
    assert_non_null(strstr(found, "RootPath 0x80070057"));
    assert_non_null(strstr(found, "DataManager/EventsFileName 0x80070057"));
    memory_free(found);
    memory_free(value);
    memory_free(xml);
    value_free(&keywords);
    object_release(issues);
    object_release(again);
    object_release(set);
}

/* A report schema is usually a complete file with an XML declaration, which is invalid inside the set's XML. */
static void xml_declaration_in_a_schema_does_not_break_the_set(void **state)
{
    (void)state;
    struct object *set = new_set(), *again = new_set();
    struct object *manager = ((struct data_collector_set *)set)->DataManager;
    struct value schema = {.kind = PROPERTY_TEXT,
                           .text =
                               (char *)"\xEF\xBB\xBF <?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c --><Report/>"};
    struct value rules = {.kind = PROPERTY_TEXT, .text = (char *)"<?xml version='1.0'?><Rules><Group/></Rules>"};
    assert_int_equal(object_put(manager, &manager->class->properties[IDataManager_ReportSchema], &schema), S_OK);
    assert_int_equal(object_put(manager, &manager->class->properties[IDataManager_Rules], &rules), S_OK);
    char *xml = xml_of(set);
    assert_int_equal(set_xml(again, xml), S_OK);
    manager = ((struct data_collector_set *)again)->DataManager;
    assert_reads(manager, "ReportSchema", "\n<!-- c --><Report/>");
    assert_reads(manager, "Rules", "<Rules><Group/></Rules>");
    memory_free(xml);
    object_release(again);
    object_release(set);
}

/* Returns `before`, then `what` with '#' replaced by 0, 1, ... (`times` times), then `behind`. */
static char *repeated(const char *before, const char *what, int times, const char *behind)
{
    struct text_buffer b = {0};
    const char *mark = strchr(what, '#');
    text_buffer_add(&b, before);
    for (int i = 0; i < times; i++) {
        text_buffer_add_n(&b, what, mark ? (size_t)(mark - what) : strlen(what));
        if (mark)
            text_buffer_format(&b, "%d%s", i, mark + 1);
    }
    text_buffer_add(&b, behind);
    return text_buffer_take(&b);
}

/* A meaningless file of several megabytes must not take minutes or use all memory. */
static void hostile_sizes_are_rejected(void **state)
{
    (void)state;
    static const char *const kinds[] = {"<AlertDataCollector/>", "<Schedule/>", "<Value name=\"#\">v</Value>"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char *xml = repeated("<DataCollectorSet>", kinds[i], 1025, "</DataCollectorSet>");
        refused(xml, "more than 1024");
        memory_free(xml);
    }
    char *many = repeated("<DataCollectorSet>", "<a/>", 4000000, "</DataCollectorSet>");
    refused(many, "256 MB");
    memory_free(many);
    char *deep = repeated("", "<a>", 300, "");
    refused(deep, "nested deeper than 256");
    memory_free(deep);
    /* libxml2's time grows with the square of the number of attributes: 40,000 took a quarter of a minute. */
    char *attributes = repeated("<!-- > --><DataCollectorSet><?x <y ?><![CDATA[<z]]>\n<a", " a#='\">\"'", 257,
                                "/></DataCollectorSet>");
    refused(attributes, "line 2: an element has more than 256 attributes");
    memory_free(attributes);
    char *namespaces = repeated("<DataCollectorSet>", "<a xmlns:n#='u'>", 240, ""), *inner = namespaces;
    namespaces = repeated(inner, " ", 1, "<b xmlns:m0='u'"), memory_free(inner), inner = namespaces;
    namespaces = repeated(inner, " xmlns:k#='u'", 16, "/>"), memory_free(inner);
    refused(namespaces, "more than 256 namespaces");
    memory_free(namespaces);
    char *names = repeated("<DataCollectorSet>", "<n#/>", 66000, "</DataCollectorSet>");
    refused(names, "more than 65536 different names");
    memory_free(names);
    char *just = repeated("<DataCollectorSet", " a#='>'", 256, "><Duration>9</Duration></DataCollectorSet>");
    struct object *taken = new_set();
    assert_int_equal(set_xml(taken, just), S_OK);
    assert_int_equal(((struct data_collector_set *)taken)->Duration, 9);
    memory_free(just);
    object_release(taken);
    /* Unknown elements are reported up to a limit. */
    struct object *set = new_set(), *issues = new_issues();
    char *unknown = repeated("<DataCollectorSet>", "<e#/>", 10000, "<Duration>9</Duration></DataCollectorSet>");
    assert_int_equal(set_from_xml(set, unknown, strlen(unknown), issues), S_OK);
    assert_int_equal(collection_count(issues), 4097);
    assert_int_equal(((struct data_collector_set *)set)->Duration, 9);
    memory_free(unknown);
    object_release(issues);
    object_release(set);
}

/* A value may contain CDATA, comments, instructions, elements and references. */
static void parts_of_a_value_are_joined(void **state)
{
    (void)state;
    struct object *set = new_set();
    assert_int_equal(set_xml(set,
                             "<DataCollectorSet><?pi x?><!-- c --><Description> a<!-- b --><![CDATA[<c>]]>&amp;&#x64;"
                             "<e>f</e><?g h?> i </Description><Duration><![CDATA[ 7 ]]></Duration>"
                             "<RootPath><![CDATA[]]></RootPath></DataCollectorSet>"),
                     S_OK);
    assert_reads(set, "DescriptionUnresolved", "a<c>&df i");
    assert_int_equal(((struct data_collector_set *)set)->Duration, 7);
    object_release(set);
}

/* MS-PLA 3.2.4.10 defines the element names of both lists. Sets that older versions stored contain other element
   names. */
static void lists_of_apis_have_their_elements(void **state)
{
    (void)state;
    struct object *set = new_set();
    assert_int_equal(set_xml(set, SET("<ApiTracingDataCollector><IncludeApi>a!b</IncludeApi><IncludeApis>c!d"
                                      "</IncludeApis><ExcludeApi>e!f</ExcludeApi></ApiTracingDataCollector>")),
                     S_OK);
    char *xml = xml_of(set);
    assert_non_null(strstr(xml, "<IncludeApis>a!b</IncludeApis><IncludeApis>c!d</IncludeApis>"));
    assert_non_null(strstr(xml, "<ExcludeApis>e!f</ExcludeApis>"));
    memory_free(xml);
    object_release(set);
}

/* Rules are written unchanged, so the value must be a Rules element. A schema becomes the content of an element. */
static void data_manager_strings_are_xml(void **state)
{
    (void)state;
    struct object *set = new_set(), *manager = ((struct data_collector_set *)set)->DataManager;
    const struct property *rules = &manager->class->properties[IDataManager_Rules];
    const struct property *schema = &manager->class->properties[IDataManager_ReportSchema];
    struct value good = {.kind = PROPERTY_TEXT, .text = (char *)"<Rules><Logging level=\"15\"/></Rules>"};
    struct value other = {.kind = PROPERTY_TEXT, .text = (char *)"<Report name=\"x\"/>"};
    struct value bad = {.kind = PROPERTY_TEXT, .text = (char *)"<Rules>"};
    assert_int_equal(object_put(manager, rules, &good), S_OK);
    assert_int_equal(object_put(manager, rules, &other), OPENPLA_E_MALFORMED_XML);
    assert_int_equal(object_put(manager, rules, &bad), OPENPLA_E_MALFORMED_XML);
    assert_int_equal(object_put(manager, schema, &other), S_OK);
    assert_int_equal(object_put(manager, schema, &bad), OPENPLA_E_MALFORMED_XML);
    /* XML that is not too deep alone may be too deep in the set's XML. The stored set would be unreadable. */
    for (int depth = 254; depth <= 255; depth++) {
        char *open = repeated("", "<a>", depth, ""), *close = repeated("", "</a>", depth, "");
        struct value deep = {.kind = PROPERTY_TEXT, .text = text_format("<?xml version='1.0'?>%s%s", open, close)};
        assert_int_equal(object_put(manager, schema, &deep), depth == 254 ? S_OK : OPENPLA_E_MALFORMED_XML);
        if (depth == 254) {
            char *whole = xml_of(set);
            assert_int_equal(set_xml(set, whole), S_OK);
            memory_free(whole);
        }
        memory_free(deep.text);
        memory_free(open);
        memory_free(close);
    }
    assert_int_equal(object_put(manager, schema, &other), S_OK);
    char *xml = xml_of(set);
    assert_non_null(
        strstr(xml, "<ReportSchema><Report name=\"x\"/></ReportSchema><Rules><Logging level=\"15\"/></Rules>"));
    memory_free(xml);
    object_release(set);
}

/* While the XML of one client is read, another client may put values. These must be kept if the XML does not contain
   them. */
static void concurrently_put_values_are_kept(void **state)
{
    (void)state;
    struct object *set = new_set(), *draft = NULL;
    struct data_collector_set *s = (struct data_collector_set *)set;
    const struct property *duration = &set->class->properties[IDataCollectorSet_Duration];
    struct value seven = {.kind = PROPERTY_U32, .u32 = 7};
    assert_int_equal(object_copy(set, &draft), S_OK);
    assert_int_equal(object_put_text(draft, &set->class->properties[IDataCollectorSet_RootPath], "D:\\x"), S_OK);
    assert_int_equal(object_put(set, duration, &seven), S_OK); /* the other client */
    object_take(set, draft, false);
    assert_int_equal(s->Duration, 7);
    assert_string_equal(s->RootPath, "D:\\x");
    object_release(draft);
    object_release(set);
}

/* The arguments of a program, and a pattern that ends with a literal space, must be kept unchanged. Whitespace that a
   formatter has added to a template is ignored. */
static void surrounding_spaces_are_kept(void **state)
{
    static const char arguments[] = " -a \"b\"\t";
    struct object *set = new_set(), *other = new_set();
    const struct property *p = &set->class->properties[IDataCollectorSet_TaskUserTextArguments];
    struct value words = {.kind = PROPERTY_TEXTS};
    char *value;
    (void)state;
    assert_int_equal(object_put_text(set, p, arguments), S_OK);
    assert_int_equal(texts_add(&words.texts, "plain"), S_OK);
    assert_int_equal(texts_add(&words.texts, " "), S_OK);
    assert_int_equal(texts_add(&words.texts, "behind\r\n"), S_OK);
    assert_int_equal(object_put(set, &set->class->properties[IDataCollectorSet_Keywords], &words), S_OK);
    value_free(&words);
    assert_int_equal(set_put_value(set, "key", "  "), S_OK);
    char *xml = xml_of(set);
    assert_non_null(strstr(xml, "<Keyword>plain</Keyword>"));
    assert_int_equal(set_xml(other, xml), S_OK);
    const struct data_collector_set *read = (const struct data_collector_set *)other;
    assert_string_equal(read->TaskUserTextArguments, arguments);
    assert_int_equal(read->Keywords.count, 3);
    assert_string_equal(read->Keywords.items[1], " ");
    assert_string_equal(read->Keywords.items[2], "behind\r\n");
    assert_int_equal(set_get_value(other, "key", &value), S_OK);
    assert_string_equal(value, "  ");
    memory_free(value);
    assert_int_equal(set_xml(other, "<DataCollectorSet xml:space=\"preserve\">\n <Task>\n  a b\n </Task>\n"
                                    "<TaskUserTextArguments xml:space=\"default\"> c </TaskUserTextArguments>"
                                    "<TaskArguments xml:space=\"preserve\"> <![CDATA[d]]> </TaskArguments>"
                                    "</DataCollectorSet>"),
                     S_OK);
    assert_string_equal(read->Task, "a b");
    assert_string_equal(read->TaskUserTextArguments, "c");
    assert_string_equal(read->TaskArguments, " d ");
    memory_free(xml);
    object_release(other);
    object_release(set);
}

/* Display names belong to the counters with which they were set. If XML sets other counters, the names are removed. */
static void display_names_follow_their_counters(void **state)
{
    (void)state;
    struct object *set = new_set(), *c;
    assert_int_equal(
        set_xml(set, SET(COUNTER("<Counter>\\A\\b</Counter><CounterDisplayName>\\Ä\\b</CounterDisplayName>"))), S_OK);
    assert_int_equal(collection_item(collectors_of(set), 0, &c), S_OK);
    struct object *issues = new_issues();
    static const char other[] = COUNTER("<Counter>\\C\\d</Counter><LatestOutputLocation>x</LatestOutputLocation>");
    assert_int_equal(collector_from_xml(c, other, strlen(other), issues), S_OK);
    char *xml = xml_of(c);
    assert_non_null(strstr(xml, "<CounterDisplayName>\\C\\d</CounterDisplayName>"));
    assert_true(collector_of(c)->LatestWasPut);
    memory_free(xml);
    object_release(issues);
    object_release(c);
    object_release(set);
}

/* Templates on support pages omit the first backslash of a path, as users of logman's -c do. The backslash must be
   added; otherwise the set would log nothing. A string that cannot become a path is unchanged, and Commit names it. */
static void paths_get_their_first_backslash(void **state)
{
    (void)state;
    struct object *set = new_set(), *c;
    assert_int_equal(
        set_xml(set,
                SET(COUNTER(
                    "<Counter>Memory\\Free</Counter><Counter>\\A\\b</Counter>"
                    "<Counter>\\\\BOX\\A\\b</Counter><Counter>none</Counter>") "<AlertDataCollector><Alert>A(*)\\b&lt;"
                                                                               "7</Alert></AlertDataCollector>")),
        S_OK);
    assert_int_equal(collection_item(collectors_of(set), 0, &c), S_OK);
    const struct texts *paths = &((struct performance_counter_collector *)c)->PerformanceCounters;
    static const char *const expected[] = {"\\Memory\\Free", "\\A\\b", "\\\\BOX\\A\\b", "none"};
    assert_int_equal(paths->count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(paths->items[i], expected[i]);
    object_release(c);
    assert_int_equal(collection_item(collectors_of(set), 1, &c), S_OK);
    paths = &((struct alert_collector *)c)->AlertThresholds;
    assert_int_equal(paths->count, 1);
    assert_string_equal(paths->items[0], "\\A(*)\\b<7");
    object_release(c);
    object_release(set);
}

/* If a server commits a client's set, the values that the client put must be applied. The run number must not change
   back to the client's older value. */
static void commit_elsewhere_applies_only_put_values(void **state)
{
    (void)state;
    struct object *set = new_set();
    struct data_collector_set *s = (struct data_collector_set *)set;
    struct value nine = {.kind = PROPERTY_U32, .u32 = 9};
    char *xml;
    size_t size;
    assert_int_equal(set_xml(set, SET("<Keyword>k</Keyword>" COUNTER("") "<Value name=\"n\">v</Value>")), S_OK);
    assert_int_equal(set_to_commit_xml(set, false, &xml, &size), S_OK);
    assert_int_equal(strlen(xml), size);
    assert_null(strstr(xml, "SerialNumber"));
    assert_null(strstr(xml, "LatestOutputLocation"));
    assert_null(strstr(xml, "Status"));
    assert_non_null(strstr(xml, "<DescriptionUnresolved"));
    assert_non_null(strstr(xml, "<Keyword>k</Keyword>"));
    assert_non_null(strstr(xml, "<Value name=\"n\">v</Value>"));
    memory_free(xml);
    struct object *collector;
    assert_int_equal(collection_item(s->DataCollectors, 0, &collector), S_OK);
    struct value place = {.kind = PROPERTY_TEXT, .text = text_copy("D:\\one.csv")};
    assert_int_equal(object_put(collector, class_property(collector->class, "LatestOutputLocation"), &place), S_OK);
    value_free(&place);
    assert_int_equal(object_put(set, &set->class->properties[IDataCollectorSet_SerialNumber], &nine), S_OK);
    assert_int_equal(set_to_commit_xml(set, false, &xml, &size), S_OK);
    assert_non_null(strstr(xml, "<SerialNumber>9</SerialNumber>"));
    assert_non_null(strstr(xml, "<LatestOutputLocation>D:\\one.csv</LatestOutputLocation>"));
    assert_null(strstr(xml, "<LatestOutputLocation/>"));
    memory_free(xml);
    object_release(collector);
    object_release(set);
}

/* If every pair of strings was compared, this would take minutes, and the server could not serve other calls for the
   set. */
static void long_api_lists_are_compared_quickly(void **state)
{
    (void)state;
    struct object *set = new_set(), *issues = new_issues();
    char *in = repeated("<DataCollectorSet><ApiTracingDataCollector>", "<IncludeApi>kernel32!In#</IncludeApi>", 20000,
                        "<IncludeApi>m!Both</IncludeApi>");
    char *xml = repeated(in, "<ExcludeApi>kernel32!Out#</ExcludeApi>", 20000,
                         "<ExcludeApi>M!both</ExcludeApi></ApiTracingDataCollector></DataCollectorSet>");
    assert_int_equal(set_xml(set, xml), S_OK);
    assert_int_equal(set_validate(set, issues), PLA_E_CONFLICT_INCL_EXCL_API);
    assert_non_null(strstr(error_text(PLA_E_CONFLICT_INCL_EXCL_API), "'m!Both'"));
    memory_free(xml);
    memory_free(in);
    object_release(issues);
    object_release(set);
}

/* The host process, the supervisor and lists of sets read stored sets without requesting issues. They must not crash if
   someone edited the file. */
static void reading_without_issues_gives_the_same_set(void **state)
{
    static const char xml[] = "<DataCollectorSet><Duration>5</Duration><Brightness>7</Brightness>"
                              "<SegmentMaxSize>much</SegmentMaxSize><PerformanceCounterDataCollector><Colour/>"
                              "<Name>c</Name><LogFileFormat>9</LogFileFormat><Counter>\\A\\x</Counter>"
                              "<Counter>\\a\\X</Counter></PerformanceCounterDataCollector></DataCollectorSet>";
    struct object *set;
    (void)state;
    assert_int_equal(set_create_from_xml(xml, sizeof xml - 1, &set), S_OK);
    assert_int_equal(((struct data_collector_set *)set)->Duration, 5);
    assert_int_equal(collection_count(collectors_of(set)), 1);
    object_release(set);
    assert_int_equal(set_create_from_xml("<DataCollectorSet>", 18, &set), OPENPLA_E_MALFORMED_XML);
    assert_null(set);
}

/* An export without an interval must sample as often as the set's fastest collector. */
static void counters_are_listed_with_the_shortest_interval(void **state)
{
    static const char xml[] = "<DataCollectorSet><PerformanceCounterDataCollector><Name>a</Name>"
                              "<SampleInterval>7</SampleInterval><Counter>\\A\\x</Counter>"
                              "</PerformanceCounterDataCollector><PerformanceCounterDataCollector><Name>b</Name>"
                              "<SampleInterval>5</SampleInterval><Counter>\\a\\X</Counter><Counter>\\B\\y</Counter>"
                              "</PerformanceCounterDataCollector></DataCollectorSet>";
    const struct {
        uint64_t before, after;
    } rows[] = {{0, 5000}, {UINT64_MAX, 5000}, {6000, 5000}, {3000, 3000}};
    struct object *set;
    (void)state;
    assert_int_equal(set_create_from_xml(xml, sizeof xml - 1, &set), S_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct texts counters = {0};
        uint64_t interval_ms = rows[i].before;
        assert_int_equal(set_list_counters(set, &counters, &interval_ms), S_OK);
        assert_int_equal(interval_ms, rows[i].after);
        assert_int_equal(counters.count, 2);
        texts_free(&counters);
    }
    object_release(set);
}

/* Returns the number of issues that have this key and whose description contains `word`. */
static size_t count_issues(struct object *issues, const char *key, const char *word)
{
    struct object **items;
    size_t count, reported = 0;
    assert_int_equal(collection_snapshot(issues, &items, &count), S_OK);
    for (size_t i = 0; i < count; i++) {
        const struct value_map_item *item = (const struct value_map_item *)items[i];
        reported += !strcmp(item->Key, key) && strstr(item->Description, word);
    }
    objects_release(items, count);
    return reported;
}

/* For example, a published template has 145 counters. Without a report, the user would have to find dropped ones. */
static void each_item_that_is_dropped_is_named(void **state)
{
    static const char counters[] = "PerformanceCounterDataCollector[1]/Counter";
    static const char shown[] = "PerformanceCounterDataCollector[1]/CounterDisplayNames";
    static const char xml[] = "<DataCollectorSet><EndTime>9</EndTime><PerformanceCounterDataCollector>"
                              "<Counter>\\A\\x</Counter><Counter>\\B\\y</Counter><Counter>\\a\\X</Counter>"
                              "<Counter>\\b\\Y</Counter><CounterDisplayName>One</CounterDisplayName>"
                              "</PerformanceCounterDataCollector></DataCollectorSet>";
    struct object *set = new_set(), *issues = new_issues(), *collector;
    (void)state;
    assert_int_equal(set_from_xml(set, xml, sizeof xml - 1, issues), S_OK);
    assert_int_equal(count_issues(issues, counters, "duplicate item '\\A\\x'"), 1);
    assert_int_equal(count_issues(issues, counters, "duplicate item '\\B\\y'"), 1);
    assert_int_equal(count_issues(issues, "EndTime", "ignored"), 1);
    assert_int_equal(collection_item(collectors_of(set), 0, &collector), S_OK);
    assert_int_equal(((struct performance_counter_collector *)collector)->PerformanceCounters.count, 2);
    assert_int_equal(set_validate(set, issues), S_OK);
    assert_int_equal(count_issues(issues, shown, "1 names for 2"), 1);
    struct text_buffer long_list = {0};
    text_buffer_add(&long_list, "<DataCollectorSet><PerformanceCounterDataCollector><Counter>\\A\\0</Counter>");
    for (unsigned i = 0; i < 4096; i++)
        text_buffer_format(&long_list, "<Counter>\\A\\%u</Counter>", i);
    text_buffer_add(&long_list, "</PerformanceCounterDataCollector></DataCollectorSet>");
    assert_int_equal(set_from_xml(set, long_list.text, long_list.length, issues), S_OK);
    assert_int_equal(count_issues(issues, counters, "after the first 4096"), 1);
    text_buffer_free(&long_list);
    object_release(collector);
    object_release(issues);
    object_release(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(template_is_read_and_written_again),
        cmocka_unit_test(partial_xml_keeps_the_rest),
        cmocka_unit_test(references_to_resources_survive),
        cmocka_unit_test(malformed_xml_changes_nothing),
        cmocka_unit_test(prologues_are_accepted),
        cmocka_unit_test(collectors_have_separate_xml),
        cmocka_unit_test(control_characters_do_not_break_the_file),
        cmocka_unit_test(invalid_xml_characters_are_replaced_everywhere),
        cmocka_unit_test(xml_declaration_in_a_schema_does_not_break_the_set),
        cmocka_unit_test(hostile_sizes_are_rejected),
        cmocka_unit_test(parts_of_a_value_are_joined),
        cmocka_unit_test(lists_of_apis_have_their_elements),
        cmocka_unit_test(long_api_lists_are_compared_quickly),
        cmocka_unit_test(concurrently_put_values_are_kept),
        cmocka_unit_test(surrounding_spaces_are_kept),
        cmocka_unit_test(display_names_follow_their_counters),
        cmocka_unit_test(paths_get_their_first_backslash),
        cmocka_unit_test(commit_elsewhere_applies_only_put_values),
        cmocka_unit_test(data_manager_strings_are_xml),
        cmocka_unit_test(reading_without_issues_gives_the_same_set),
        cmocka_unit_test(counters_are_listed_with_the_shortest_interval),
        cmocka_unit_test(each_item_that_is_dropped_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
