/* SPDX-License-Identifier: MIT */
/* Tests what each action of rules does in a report. */
#include "tests/unit/rules/rules_report.h"

#define ROW(name, mean) "<Item><Data name='disk'>" name "</Data><Data name='mean'>" mean "</Data></Item>"
#define DISKS                                                                                                          \
    "<Section name='s'><Table name='physicalDisk'><Header><Data name='disk'/><Data name='mean'/></Header>" ROW(        \
        "0 C:", "0.4") ROW("1 D:", "9.5") ROW("2 E:", "10.25") ROW("3 F:", "") "</Table></Section>"
#define REPORT  "<?xml version='1.0'?><Report name='r'>" DISKS "<StringTable/></Report>"
#define ADVISED "<Report name='r'><Section name='advice'><Table name='warning'/></Section>" DISKS "</Report>"
#define ADVISED_STRINGS                                                                                                \
    "<Report name='r'><Section name='advice'><Table name='warning'/></Section>" DISKS "<StringTable/></Report>"
#define ITEMS "//Table[@name='physicalDisk']/Item"
#define RULE(steps)                                                                                                    \
    "<Rules><Group name='g'><Rule name='r'>" steps "</Rule></Group>"                                                   \
    "<StringTable><String ID='TextQueue'>Disk queue is long</String></StringTable></Rules>"
#define STEP(attributes, inside) "<Step select=\"" ITEMS "\" " attributes ">" inside "</Step>"
#define DO(actions)              "<Exists><Otherwise>" actions "</Otherwise></Exists>"
#define LONGEST                  "sortType='max' sortDataType='number' sortNode=\"Data[@name='mean']\""
#define WARNING                                                                                                        \
    "<Warning select=\"Data[@name='mean']\" table=\"//Table[@name='warning']\" tag='DQ'><Item>"                        \
    "<Data name='symptom' img='warning' link='DQ'>{text}: {disk} ({mean})</Data>"                                      \
    "<Data name='cause'>a &amp; b</Data></Item></Warning>"

static void run(struct ruled *r, void **state, const char *report, const char *rules)
{
    rules_write_file(*state, "report.xml", report);
    rules_run_over(r, *state, rules);
}

static void a_warning_names_the_worst_row(void **state)
{
    struct ruled r;
    run(&r, state, ADVISED,
        RULE(STEP(LONGEST, "<Variable name='disk' expression=\"string(Data[@name='disk'])\"/>"
                           "<Variable name='mean' expression=\"number(Data[@name='mean'])\"/>"
                           "<Variable name='limit'> 2 </Variable><Variable name='text'>$(TextQueue)</Variable>"
                           "<Exists><When expression='{mean} &gt; 10 * {limit}'><Delete select='.'/></When>"
                           "<When expression='{mean} &gt; {limit}'>" WARNING "</When>"
                           "<Otherwise><Delete select='/Report/Section'/></Otherwise></Exists>")));
    assert_no_fault(&r);
    assert_has(&r, "<Table name=\"warning\"><Item rules=\"1\"><Data name=\"symptom\" img=\"warning\" link=\"DQ\">Disk "
                   "queue is long: 2 E: (10.25)</Data><Data name=\"cause\">a &amp; b</Data></Item></Table>");
    assert_has(&r, "<Data name=\"mean\" tag=\"DQ\" rules=\"tag\">10.25</Data>");
    assert_int_equal(r.outcome.warning_count, 1);
    assert_int_equal(r.outcome.worst, RULES_WARNING);
    assert_string_equal(r.outcome.warnings[0].symptom, "Disk queue is long: 2 E: (10.25)");
    assert_string_equal(r.outcome.warnings[0].cause, "a & b");
    assert_string_equal(r.outcome.warnings[0].rule, "r");
    ruled_free(&r);
}

/* libxml2 writes "9.300000000000001" for 93 div 10. Warnings must not contain such numbers. */
static void numbers_have_no_meaningless_digits(void **state)
{
    struct ruled r;
    run(&r, state, ADVISED,
        RULE(STEP("sortType='first'", "<Variable name='text' expression='93 div 10'/>"
                                      "<Variable name='disk' expression='-7 div 100'/>"
                                      "<Variable name='mean' expression='123456789012'/>" DO(WARNING))));
    assert_no_fault(&r);
    assert_string_equal(r.outcome.warnings[0].symptom, "9.3: -0.07 (123456789012)");
    ruled_free(&r);
}

/* Values must be compared as numbers: as strings, 9.5 is greater than 10.25. An empty cell is neither the least nor the
   greatest. */
static void the_least_and_the_greatest_are_chosen(void **state)
{
    static const struct {
        const char *sort, *disk;
    } cases[] = {
        {"sortType='max' sortDataType='number' sortNode=\"Data[@name='mean']\"", "2 E:"},
        {"sortType='max' sortDataType='string' sortNode=\"Data[@name='mean']\"", "1 D:"},
        {"sortType='min' sortDataType='number' sortValue=\"Data[@name='mean']\"", "0 C:"},
        {"sortType='min' sortDataType='string' sortNode=\"Data[@name='mean']\"", "0 C:"},
        {"sortType='first'", "0 C:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ruled r;
        char *rules = text_format(
            RULE(STEP("%s", "<Variable name='d' expression=\"string(Data[@name='disk'])\"/>" DO(
                                "<Insert select='/Report'><Attribute name='found' value='{d}'/></Insert>"))),
            cases[i].sort);
        char *wanted = text_format(" found=\"%s\"", cases[i].disk);
        run(&r, state, REPORT, rules);
        assert_no_fault(&r);
        assert_has(&r, wanted);
        ruled_free(&r);
        memory_free(wanted);
        memory_free(rules);
    }
}

static void nodes_and_attributes_are_inserted_in_the_right_place(void **state)
{
    struct ruled r;
    run(&r, state, REPORT,
        RULE(
            STEP(LONGEST,
                 "<Variable name='disk' expression=\"Data[@name='disk']\"/>" DO(
                     "<Insert select='../Item[1]'><Attribute name='hot' value='{disk}'/></Insert>"
                     "<Insert><Node axis='following-sibling'><A>after {disk}</A><B x='{disk}'><C/></B></Node>"
                     "<Node axis='following-sibling'><D/></Node><Node axis='preceding-sibling'><E/><F/></Node></Insert>"
                     "<Insert select=\"\\Report\\Section[last()]\"><Node axis='child'><Last "
                     "t='{none}{'/></Node></Insert>"))));
    assert_no_fault(&r);
    assert_has(&r, "<Item hot=\"2 E:\" rules=\"hot\">");
    assert_has(&r, "<E rules=\"1\"/><F rules=\"1\"/><Item><Data name=\"disk\">2 E:");
    assert_has(&r,
               "10.25</Data></Item><A rules=\"1\">after 2 E:</A><B x=\"2 E:\" rules=\"1\"><C/></B><D rules=\"1\"/>");
    assert_has(&r, "</Table><Last t=\"{\" rules=\"1\"/></Section>");
    ruled_free(&r);
}

#define MIXED                                                                                                          \
    "<Warning table=\"//Table[@name='warning']\"><Item><Data name='symptom'>see <b>{disk}</b> text, <i>or</i> "        \
    "<u>not</u><!-- c -->.</Data></Item></Warning>"

/* If a sentence has a word in bold, its other words must be kept (MS-PLA 2.2.8). The elements in a Node must be kept
   (2.2.5). */
static void text_beside_elements_is_kept(void **state)
{
    static const char rules[] = RULE(STEP(
        "sortType='first'",
        "<Variable name='disk' expression=\"string(Data[@name='disk'])\"/>" DO(
            MIXED "<Insert select='/Report/Section[last()]'><Node axis='child'>\n before <A>a <B/>{disk} <C> c </C>\n"
                  "</A> <![CDATA[between & ]]><D>\n <E/>\n </D> behind {disk}\n</Node></Insert>"
                  "<Insert select='/Report/StringTable'><Node axis='following-sibling'>one<F/>two</Node>"
                  "<Node axis='preceding-sibling'>three<G/></Node></Insert>")));
    struct ruled r;
    run(&r, state, ADVISED_STRINGS, rules);
    assert_no_fault(&r);
    assert_has(&r, "<Data name=\"symptom\">see <b>0 C:</b> text, <i>or</i> <u>not</u>.</Data>");
    assert_string_equal(r.outcome.warnings[0].symptom, "see 0 C: text, or not.");
    assert_has(&r, "<?openpla-rules text?>before <?openpla-rules end?><A rules=\"1\">a <B/>0 C: <C>c</C></A>"
                   "<?openpla-rules text?> between &amp; <?openpla-rules end?><D rules=\"1\"><E/></D>"
                   "<?openpla-rules text?> behind 0 C:<?openpla-rules end?></Section>");
    assert_has(&r, "<?openpla-rules text?>three<?openpla-rules end?><G rules=\"1\"/><StringTable/>"
                   "<?openpla-rules text?>one<?openpla-rules end?><F rules=\"1\"/>"
                   "<?openpla-rules text?>two<?openpla-rules end?></Report>");
    /* If rules run again, they first remove what they have inserted before. */
    char *first = text_copy(r.text);
    ruled_free(&r);
    run(&r, state, first, rules);
    assert_no_fault(&r);
    assert_string_equal(r.text, first);
    ruled_free(&r);
    memory_free(first);
}

static void deleted_nodes_are_removed(void **state)
{
    struct ruled r;
    run(&r, state, REPORT,
        RULE(STEP("", DO("<Delete select=\"Data[@name='mean']\"/><Delete select='../@name'/>"
                         "<Variable name='n' expression='count(../Item)'/><Delete select='.'/>"
                         "<Insert select='/Report'><Attribute name='unreached' value='1'/></Insert>"))));
    assert_int_equal(r.hr, S_OK);
    assert_has_not(&r, "<Data name=\"mean\">");
    assert_has_not(&r, "physicalDisk");
    assert_has_not(&r, "<Item");
    assert_has_not(&r, "unreached"); /* the step's node was deleted, so Insert was skipped */
    ruled_free(&r);
    run(&r, state, REPORT, RULE(STEP("", DO("<Delete select='/Report'/>"))));
    assert_message(&r.outcome.errors, "selects the report itself");
    assert_has(&r, "physicalDisk");
    ruled_free(&r);
}

/* If the table for a warning does not exist, it is created, so that the warning is visible. */
static void warning_with_a_wrong_path_is_kept(void **state)
{
    struct ruled r;
    run(&r, state, REPORT,
        RULE(STEP("sortType='first'", DO("<Warning select='.' table='Table' tag='t'><Item>"
                                         "<Data name='symptom' img='Red'>s</Data></Item></Warning>"))));
    assert_message(rules_notes(r.rules), "to search the report, begin with /");
    assert_has(&r,
               "<Report name=\"r\"><Section name=\"advice\" rules=\"1\" key=\"0\"><Table name=\"warning\" "
               "rules=\"1\"><Item rules=\"1\"><Data name=\"symptom\" img=\"Red\">s</Data></Item></Table></Section>");
    assert_has(&r, "<String ID=\"advice\" rules=\"1\">Advice</String>");
    assert_int_equal(r.outcome.worst, RULES_ERROR);
    ruled_free(&r);
}

/* If the same rules run again, the report must stay the same: nothing is duplicated, and old warnings are removed. */
static void rules_run_twice_leave_the_same_report(void **state)
{
    static const char rules[] = RULE(
        STEP("sortType='first'", DO("<Warning select='.' table='//Table[@name=\"warning\"]' tag='t'><Item>"
                                    "<Data name='symptom'>s</Data></Item></Warning>"
                                    "<Insert><Attribute name='a' value='1'/><Attribute name='b' value='2'/></Insert>"
                                    "<Insert><Node axis='following-sibling'><N/></Node></Insert>")));
    struct ruled once, twice, none;
    run(&once, state, REPORT, rules);
    rules_run_over(&twice, *state, rules);
    assert_string_equal(once.text, twice.text);
    assert_has(&once, "tag=\"t\"");
    rules_run_over(&none, *state, RULE(""));
    assert_int_equal(none.hr, S_OK);
    assert_has(&none, "<Table name=\"warning\" rules=\"1\" note=\"" RULES_KNOW_NOTHING "\"/>");
    assert_has_not(&none, "tag=");
    assert_has_not(&none, "a=\"1\"");
    assert_has_not(&none, "<N");
    ruled_free(&once);
    ruled_free(&twice);
    ruled_free(&none);
}

static void steps_that_fail_end_their_rule_if_they_are_fatal(void **state)
{
    static const struct {
        const char *step;
        bool goes_on;
    } cases[] = {
        {"<Step select='//Nothing' fatal='true'><Exists/></Step>", false},
        {"<Step select='//Nothing'><Exists/></Step>", true},
        {"<Step select='//Nothing' fatal='true'><Otherwise/></Step>", true},
        {"<Step select='/Report' fatal='true'><Variable name='a'>1</Variable></Step>", true},
        {"<Step select='/Report' fatal='true'><Exists><When expression='false()'/></Exists></Step>", false},
        {"<Step select='/Report' fatal='true'><Exists><When expression='false()'/><Otherwise/></Exists></Step>", true},
        {"<Step select='count(' fatal='true'/>", false},
        {"<Step select='count(//Item)' fatal='true'/>", false},
        {"<Step select='count(' fatal='true' enabled='false'/>", true},
        {"<Step select='/Report' fatal='true'><Variable name='a' expression='{b}'/></Step>", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ruled r;
        char *rules =
            text_format("<Rules><Group name='g'><Rule name='r'>%s<Step select='/Report'>" DO(
                            "<Insert><Attribute name='on' value='1'/></Insert>") "</Step></Rule></Group></Rules>",
                        cases[i].step);
        run(&r, state, REPORT, rules);
        assert_int_equal(r.hr, S_OK);
        if (!strstr(r.text, "on=\"1\"") == cases[i].goes_on)
            fail_msg("%s", cases[i].step);
        ruled_free(&r);
        memory_free(rules);
    }
}

/* If the string for a group's name is missing, this group and all later ones are not run. If the string for a rule's
   name is missing, only that rule is not run (MS-PLA 2.2.3.4). */
static void names_without_a_string_stop_rules(void **state)
{
    struct ruled r;
#define MARK(name) "<Step select='/Report'>" DO("<Insert><Attribute name='" name "' value='1'/></Insert>") "</Step>"
    run(&r, state, REPORT,
        "<Rules><Group name='$(there)'><Rule name='$(not)'>" MARK("one") "</Rule><Rule name='$(there)'>" MARK(
            "two") "</Rule><Rule name='off' enabled='false'>" MARK("off") "</Rule></Group>"
                                                                          "<Group name='off' enabled='false'><Rule "
                                                                          "name='x'>" MARK(
                                                                              "off") "</Rule></Group>"
                                                                                     "<Group name='$(not)'><Rule "
                                                                                     "name='x'>" MARK(
                                                                                         "three") "</Rule></Group>"
                                                                                                  "<Group "
                                                                                                  "name='g'><Rule "
                                                                                                  "name='x'>" MARK(
                                                                                                      "four") "</"
                                                                                                              "Rule></"
                                                                                                              "Group><"
                                                                                                              "StringTa"
                                                                                                              "ble><"
                                                                                                              "String "
                                                                                                              "ID='"
                                                                                                              "there'>"
                                                                                                              "a</"
                                                                                                              "String><"
                                                                                                              "/StringT"
                                                                                                              "able></"
                                                                                                              "Rules>");
    assert_has(&r, "two=\"1\"");
    assert_has_not(&r, "one=");
    assert_has_not(&r, "off=");
    assert_has_not(&r, "three=");
    assert_has_not(&r, "four=");
    assert_int_equal(r.outcome.errors.count, 2);
    assert_message(&r.outcome.errors, "this group and the following ones are skipped");
    ruled_free(&r);
}

/* The value of a variable must not change the meaning of an expression, whatever characters it contains. */
static void values_cannot_change_expressions(void **state)
{
    static const char *const disks[] = {"O'Hara", "a &quot; ' b", "] | //*[", "{none}", "1.5", "007"};
    for (size_t i = 0; i < sizeof disks / sizeof *disks; i++) {
        struct ruled r;
        char *report = text_format("<Report name='r'><X d=\"%s\"/><X d='other'/></Report>", disks[i]);
        run(&r, state, report,
            "<Rules><Group name='g'><Rule name='r'><Step select='//X[1]'>"
            "<Variable name='d' expression='string(@d)'/></Step><Step select=\"//X[@d = '{d}']\">" DO(
                "<Insert><Attribute name='f' value='{d}'/></Insert>") "</Step>"
                                                                      "<Step select=\"//X[concat('x', @d) = "
                                                                      "'x{d}']\">" DO(
                                                                          "<Insert><Attribute name='g' "
                                                                          "value='1'/></Insert>") ""
                                                                                                  "</Step></Rule></"
                                                                                                  "Group></Rules>");
        assert_no_fault(&r);
        assert_has(&r, " f=\"");
        assert_has(&r, " g=\"1\"");
        assert_null(strstr(strstr(r.text, "<X d=\"other\""), " f="));
        ruled_free(&r);
        memory_free(report);
    }
}

/* If an author of rules makes a mistake, it must be reported with its position. */
static void mistakes_are_reported(void **state)
{
    static const struct {
        const char *step, *said;
        bool of_rules; /* the mistake is reported when the rules are read, not when they run */
    } cases[] = {
        {"<Step select='//Item[ends-with(.,1)]'/>", "ends-with() is XPath 2", false},
        {"<Step select='//a:b'/>", "namespace prefixes", false},
        {"<Step select='//Item['/>", "not valid XPath 1.0", true},
        {"<Step select=\"//Item['a]\"/>", "is not terminated", true},
        {"<Step select='//Item' sortType='max'/>", "9.5 is greater than 10", true},
        {"<Step select='//Item' sortType='most'/>", "unknown word", true},
        {"<Step/>", "Step select: ", true},
        {"<Step select='/Report'><Exists><When><Delete select='x'/></When></Exists></Step>", "missing", true},
        {"<Step select='/Report'><Exists><When matchRE='x'/></Exists></Step>", "matchRE is not supported", true},
        {"<Step select='/Report'><Exists><When expression='1'><Otherwise/></When></Exists></Step>",
         "skipped: a When cannot contain this element", true},
        {"<Step select='/Report'><Variable name='a b'>1</Variable></Step>", "expected a name of", true},
        {"<Step select='/Report'><Variable name='m'>1</Variable>" DO("<Delete select='{M}'/>") "</Step>",
         "the variable {M} has no value yet; did you mean {m}", false},
        {"<Step select='/Report'>" DO("<Insert><Attribute name='1x' value=''/></Insert>") "</Step>",
         "not the name of an attribute", false},
        {"<Step select='/Report'>" DO("<Insert><Node axis='child' document='../x.xml'/></Insert>") "</Step>",
         "documents must be in the folder of the report", false},
        {"<Step select='/Report'>" DO("<Insert><Node axis='child' document='/etc/passwd'/></Insert>") "</Step>",
         "documents must be in the folder of the report", false},
        {"<Step select='/Report'>" DO("<Insert><Node axis='following-sibling'><A/></Node></Insert>") "</Step>",
         "has no siblings", false},
        {"<Step select='/Report'>" DO(
             "<Warning tag='a'><Item><Data name='symptom' link='b'/></Item></Warning>") "</Step>",
         "differs from the Warning's tag", true},
        {"<Step select='/Report'><Variable name='a'>$(none)</Variable></Step>", "no String has the ID 'none'", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ruled r;
        char *rules = text_format("<Rules><Group name='g'><Rule name='r'>%s</Rule></Group></Rules>", cases[i].step);
        run(&r, state, REPORT, rules);
        assert_int_equal(r.hr, S_OK);
        const struct texts *const all[] = {rules_errors(r.rules), rules_notes(r.rules), &r.outcome.errors,
                                           &r.outcome.notes};
        bool said = false, placed = false;
        for (size_t k = cases[i].of_rules ? 0 : 2; k < (cases[i].of_rules ? 2 : 4); k++)
            for (size_t n = 0; n < all[k]->count; n++) {
                said |= strstr(all[k]->items[n], cases[i].said) != NULL;
                placed |= strstr(all[k]->items[n], "rules.xml: group 'g': rule 'r': step 1: line 1: ") != NULL;
            }
        if (!said || !placed)
            fail_msg("%s: not '%s'", cases[i].step, cases[i].said);
        ruled_free(&r);
        memory_free(rules);
    }
}

static void other_documents_are_inserted(void **state)
{
    struct ruled r;
    rules_write_file(*state, "cfg.xml",
                     "<Report><Section name='cfg' x='{no}'><Table/></Section><Section name='two'/></Report>");
    run(&r, state, REPORT,
        RULE("<Step select='/Report'>" DO("<Insert><Node axis='child' document='cfg.xml' "
                                          "select=\"/Report/Section[@name='cfg']\"/></Insert>") "</Step>"));
    assert_no_fault(&r);
    assert_has(&r, "<Section name=\"cfg\" x=\"{no}\" rules=\"1\"><Table/></Section></Report>");
    assert_has_not(&r, "two");
    ruled_free(&r);
}

static void strings_are_in_the_requested_language(void **state)
{
    static const char rules[] = "<Rules><Group name='g'><Rule name='r'><Step select='/Report'>" DO(
        "<Insert><Attribute name='t' value='$(s)'/></Insert>") "</Step></Rule></Group>"
                                                               "<StringTable><String ID='s'>any</String></StringTable>"
                                                               "<StringTable xml:lang='de'><String "
                                                               "ID='s'>deutsch</String></StringTable></Rules>";
    static const char *const wanted[][2] = {{"de-AT", "t=\"deutsch\""}, {"fr", "t=\"any\""}, {NULL, "t=\"any\""}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct ruled r = {.rules = rules_create(), .path = path_join(*state, "report.xml")};
        size_t size;
        rules_write_file(*state, "report.xml", REPORT);
        assert_int_equal(rules_add(r.rules, "rules.xml", rules, strlen(rules)), S_OK);
        r.hr = rules_apply(
            &(struct rules_job){
                .rules = r.rules, .report = r.path, .output = r.path, .language = wanted[i][0], .log_level = 15},
            &r.outcome);
        assert_no_fault(&r);
        assert_int_equal(file_load(r.path, 1 << 20, &r.text, &size), S_OK);
        assert_has(&r, wanted[i][1]);
        assert_non_null(strstr(r.outcome.log, "rule rules.xml: group 'g': rule 'r': begins\n"));
        assert_non_null(strstr(r.outcome.log, "step 1: 1 nodes\n"));
        ruled_free(&r);
    }
}

/* If rules cannot run, there is one error, and the report is unchanged. */
static void invalid_rules_and_reports_are_rejected(void **state)
{
    static const char *const rules[] = {"",
                                        "<Rules/>",
                                        "<Rules><Group/></Rules",
                                        "<Report/>",
                                        "<!DOCTYPE Rules [<!ENTITY a 'b'>]><Rules><Group name='&a;'/></Rules>",
                                        "<Rules><Include name='none.xml' fatal='true'/><Group name='g'/></Rules>"};
    struct ruled r;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        run(&r, state, REPORT, rules[i]);
        assert_true(FAILED(r.hr));
        assert_string_equal(r.text, REPORT);
        ruled_free(&r);
    }
    static const char *const reports[] = {"", "<Report>", "<Rules/>", "<!DOCTYPE Report SYSTEM 'x'><Report/>"};
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        run(&r, state, reports[i], RULE(""));
        assert_int_equal(r.hr, PLA_E_RULES_MANAGER_FAILED);
        assert_string_equal(r.text, reports[i]);
        ruled_free(&r);
    }
}

static void imports_are_applied_in_order(void **state)
{
    struct ruled r;
    rules_write_file(*state, "a.xml",
                     "<Rules><Import file='b.xml'/><Group name='a'><Rule name='r'><Step select='/Report'>" DO(
                         "<Variable name='v'>{v}a</Variable>") "</Step></Rule></Group></Rules>");
    rules_write_file(*state, "b.xml",
                     "<Rules><Import file='a.xml'/><Group name='b'><Rule name='r'><Step select='/Report'>" DO(
                         "<Variable name='v'>{v}b</Variable>") "</Step></Rule></Group></Rules>");
    run(&r, state, REPORT,
        "<Rules><Import file='a.xml'/><Import file='b.xml'/><Group name='c'><Rule name='r'><Step "
        "select='/Report'><Exists>"
        "<Otherwise><Insert><Attribute name='v' value='{v}c'/></Insert>"
        "<Notify severity='warning' title='t'>{v}</Notify></Otherwise></Exists>"
        "</Step></Rule></Group><Import file='none.xml'/></Rules>");
    assert_int_equal(r.hr, S_OK);
    assert_has(&r, " v=\"bac\"");
    assert_int_equal(r.outcome.notice_count, 1);
    assert_int_equal(r.outcome.notices[0].severity, RULES_WARNING);
    assert_string_equal(r.outcome.notices[0].text, "t: ba");
    assert_message(rules_errors(r.rules), "none.xml");
    ruled_free(&r);
}

static void runaway_expressions_are_stopped(void **state)
{
    static const char *const expressions[] = {
        "count(//X/preceding::X/preceding::X[preceding::X])",
    };
    struct text_buffer b = {0};
    text_buffer_add(&b, "<Report name='r'>");
    for (unsigned i = 0; i < 500; i++)
        text_buffer_add(&b, "<X/>");
    text_buffer_add(&b, "</Report>");
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        struct ruled r;
        char *rules =
            text_format("<Rules><Group name='g'><Rule name='r'><Step select='/Report'>"
                        "<Variable name='a' expression='%s'/></Step><Step select='/Report'>" DO(
                            "<Insert><Attribute name='on' value='1'/></Insert>") "</Step></Rule></Group></Rules>",
                        expressions[i]);
        rules_write_file(*state, "report.xml", b.text);
        rules_run_limited(&r, *state, rules, 50000, true);
        assert_int_equal(r.hr, S_OK);
        assert_message(&r.outcome.errors, "it needs more than 50000 operations");
        assert_has(&r, "on=\"1\"");
        ruled_free(&r);
        memory_free(rules);
    }
    text_buffer_free(&b);
    struct text_buffer deep = {0};
    text_buffer_add(&deep, "<Rules><Group name='g'><Rule name='r'><Step select='");
    for (int i = 0; i < 1000; i++)
        text_buffer_add(&deep, "(");
    text_buffer_add(&deep, "'/></Rule></Group></Rules>");
    struct ruled r;
    run(&r, state, REPORT, deep.text);
    assert_message(rules_errors(r.rules), "brackets are nested deeper than 64");
    ruled_free(&r);
    text_buffer_free(&deep);
}

/* XPath creates a string again each time it is needed. A few operations can therefore create very many bytes. */
static void runaway_strings_are_stopped(void **state)
{
    struct text_buffer b = {0};
    struct ruled r;
    text_buffer_add(&b, "<Report name='r'><T>");
    for (unsigned i = 0; i < 10000; i++)
        text_buffer_add(&b, "0123456789");
    text_buffer_add(&b, "</T>");
    for (unsigned i = 0; i < 500; i++)
        text_buffer_add(&b, "<X/>");
    text_buffer_add(&b, "</Report>");
    rules_write_file(*state, "report.xml", b.text);
    rules_run_limited(&r, *state,
                      "<Rules><Group name='g'><Rule name='r'><Step select=\"//X[contains(/, 'no')]\"/></Rule>"
                      "<Rule name='q'><Step select='/Report'><Variable name='a' expression='string(/)'/></Step></Rule>"
                      "</Group></Rules>",
                      50000, true);
    assert_int_equal(r.hr, S_OK);
    assert_message(&r.outcome.errors, "it creates too many strings or nodes");
    assert_message(&r.outcome.errors, "its value exceeds 65536 bytes");
    ruled_free(&r);
    /* If a step selects the whole report, its text is not read, so it does not count. */
    rules_write_file(*state, "report.xml", b.text);
    rules_run_limited(&r, *state, RULE("<Step select='/Report'><Variable name='a'>x</Variable></Step>"), 500, true);
    assert_no_fault(&r);
    ruled_free(&r);
    text_buffer_free(&b);
}

static void variables_are_limited(void **state)
{
    struct text_buffer b = {0};
    struct ruled r;
    text_buffer_add(&b, "<Rules><Group name='g'><Rule name='r'><Step select='/Report'>");
    for (unsigned i = 0; i < 1001; i++)
        text_buffer_format(&b, "<Variable name='v%u'>x</Variable>", i);
    text_buffer_add(&b, "</Step></Rule></Group></Rules>");
    run(&r, state, REPORT, b.text);
    assert_int_equal(r.hr, S_OK);
    assert_message(&r.outcome.errors, "more than 1000 variables");
    ruled_free(&r);
    text_buffer_free(&b);
}

/* Rules must not insert elements so deeply that readers can no longer read the report. */
static void report_is_readable_after_deep_insertions(void **state)
{
    static const char *const rules[] = {
        RULE(STEP("",
                  DO("<Insert select='(//*[not(*)])[last()]'><Node axis='child'><A><B><C/></B></A></Node></Insert>"))),
        RULE(STEP("", DO("<Warning table='(//Item)[last()]'><Item><Data name='symptom'>deep</Data></Item></Warning>"))),
    };
    struct text_buffer b = {0};
    text_buffer_add(&b, "<Report name='r'><Section name='s'><Table name='physicalDisk'>");
    for (unsigned i = 0; i < 300; i++)
        text_buffer_add(&b, "<Item/>");
    text_buffer_add(&b, "</Table></Section></Report>");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct ruled r;
        run(&r, state, b.text, rules[i]);
        assert_int_equal(r.hr, S_OK);
        assert_message(&r.outcome.errors, "elements would be nested deeper than 200");
        ruled_free(&r);
        rules_run_over(&r, *state, RULE(STEP("", "")));
        assert_int_equal(r.hr, S_OK);
        ruled_free(&r);
    }
    text_buffer_free(&b);
}

/* If an allocation fails, "out of memory" is returned, and the report is unchanged. */
static void out_of_memory_leaves_the_report(void **state)
{
    static const char rules[] =
        RULE(STEP(LONGEST, "<Variable name='disk' expression=\"string(Data[@name='disk'])\"/>" DO(
                               WARNING "<Insert><Attribute name='a' value='{disk}'/></Insert><Delete select='@b'/>")));
    bool done = false;
    rules_write_file(*state, "report.xml", ADVISED);
    for (uint64_t n = 1; !done; n++) {
        struct rules_outcome outcome = {0};
        char *path = path_join(*state, "report.xml"), *text;
        size_t size;
        memory_fail_at(n);
        struct rules *r = rules_create();
        HRESULT hr = r ? rules_add(r, "r.xml", rules, strlen(rules)) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr =
                rules_apply(&(struct rules_job){.rules = r, .report = path, .output = path, .log_level = 15}, &outcome);
        done = memory_count() < n;
        memory_fail_at(0);
        assert_int_equal(file_load(path, 1 << 20, &text, &size), S_OK);
        if (SUCCEEDED(hr))
            assert_non_null(strstr(text, "</Report>\n")); /* the report is complete */
        else
            assert_string_equal(text, ADVISED);
        if (SUCCEEDED(hr))
            rules_write_file(*state, "report.xml", ADVISED);
        if (done)
            assert_int_equal(hr, S_OK);
        else if (hr != S_OK)
            assert_int_equal(hr, E_OUTOFMEMORY);
        memory_free(text);
        memory_free(path);
        rules_outcome_free(&outcome);
        rules_free(r);
    }
}

static int make(void **state)
{
    *state = scratch_create("rules");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warning_names_the_worst_row),
        cmocka_unit_test(numbers_have_no_meaningless_digits),
        cmocka_unit_test(the_least_and_the_greatest_are_chosen),
        cmocka_unit_test(nodes_and_attributes_are_inserted_in_the_right_place),
        cmocka_unit_test(text_beside_elements_is_kept),
        cmocka_unit_test(deleted_nodes_are_removed),
        cmocka_unit_test(warning_with_a_wrong_path_is_kept),
        cmocka_unit_test(rules_run_twice_leave_the_same_report),
        cmocka_unit_test(steps_that_fail_end_their_rule_if_they_are_fatal),
        cmocka_unit_test(names_without_a_string_stop_rules),
        cmocka_unit_test(values_cannot_change_expressions),
        cmocka_unit_test(mistakes_are_reported),
        cmocka_unit_test(other_documents_are_inserted),
        cmocka_unit_test(strings_are_in_the_requested_language),
        cmocka_unit_test(invalid_rules_and_reports_are_rejected),
        cmocka_unit_test(imports_are_applied_in_order),
        cmocka_unit_test(runaway_expressions_are_stopped),
        cmocka_unit_test(runaway_strings_are_stopped),
        cmocka_unit_test(variables_are_limited),
        cmocka_unit_test(report_is_readable_after_deep_insertions),
        cmocka_unit_test(out_of_memory_leaves_the_report),
    };
    return cmocka_run_group_tests(tests, make, scratch_end);
}
