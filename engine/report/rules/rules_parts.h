/* SPDX-License-Identifier: MIT */
/* The parts of the code that reads and runs rules: XPath, the rules that were read, the run of rules, and the report
   that a run changes. */
#ifndef OPENPLA_RULES_PARTS_H
#define OPENPLA_RULES_PARTS_H

#include "engine/base/xml_document.h"
#include "engine/report/grammar.h"
#include "engine/report/report_schema.h"
#include "engine/report/rules.h"

#include <libxml/xpath.h>

/* Returns the index of the keyword among the keywords of `sort`, ignoring case; -1 if `text` is NULL or not such a
   keyword. */
int rules_word(enum rules_sort sort, const char *text);

/* The packs of engine/report/rules/packs as a table, which the build generates; the table ends with NULL. */
extern const struct shipped_schema shipped_rules[];

/* ---- functions of XPath ----

   Replacements for the functions of XPath 1.0 (4.2, 4.4) that take texts. The replacements count the work that they do.
   In contrast, libxml2's functions count one operation for each call, even if the call collects the text of a whole
   report. Moreover, libxml2's contains(), substring-before() and substring-after() compare their second argument with
   the first one at every position. Therefore expressions of one line took hours. */
enum { COMPARED_BYTES = 50 }; /* comparing this many bytes counts as one operation */

/* ---- XPath ----

   Expressions of rules, evaluated by libxml2 within limits. The value of a variable is never inserted into the text of
   an expression: `{name}` becomes a variable of XPath, so no value can be read as a part of the expression. */
enum {
    EXPRESSION_BYTES_MAX = 4096, /* libxml2 recurses for each operator */
    EXPRESSION_VARIABLES_MAX = 64,
    EXPRESSION_DEEPEST = 64,          /* maximum depth of nested brackets */
    EXPRESSION_OPERATIONS = 20000000, /* limit of one evaluation: a second or less */
    /* Limit of operations of an evaluation that compares nodes in pairs (xpath_pairs.h). It corresponds to a minute if
       each operation compares a node with 40,960 nodes. In the sum of the run, each operation of such an evaluation
       counts as PAIRED_WEIGHT operations, because it can take as long. */
    PAIRED_OPERATIONS = 250000,
    PAIRED_WEIGHT = 200,
    OPERATION_BYTES = 200, /* creating texts and lists of this many bytes counts as one operation */
};

enum rule_value_kind { RULE_TEXT, RULE_NUMBER, RULE_TRUTH };
struct rule_value {
    enum rule_value_kind kind;
    double number; /* the number for RULE_NUMBER; 0 or 1 for RULE_TRUTH */
    char *text;    /* the value as XPath converts it to a string, for all kinds; from memory_alloc */
};
/* Returns the value of a variable, or NULL if the variable has no value. */
typedef const struct rule_value *rule_variable_find(void *context, const char *name);

struct xpath_scope {
    xmlNodePtr node; /* the context node; the expression can refer to all of the node's document */
    rule_variable_find *find;
    void *context;
    uint32_t limit;              /* maximum operations of one evaluation; 0 means EXPRESSION_OPERATIONS */
    uint64_t operations;         /* total of all evaluations so far; each evaluation adds at least 200 */
    bool (*stop)(void *context); /* called often while libxml2 evaluates; may be NULL */
    void *stop_context;
};
struct xpath_result {
    xmlNodePtr *nodes; /* elements, attributes, texts; from memory_alloc. In the order of the document */
    size_t count;
    bool is_nodes;
    bool truth;              /* boolean() of the result */
    struct rule_value value; /* the result as the value of a variable; if the result is nodes, this is the text of
                                the first node */
};
/* Evaluates an expression. Fails with E_INVALIDARG for an unknown variable, invalid XPath, too many operations or too
   much memory; the message has the reason and the position in the text. Fails with HRESULT_FROM_WIN32(ERROR_CANCELLED)
   if `stop` returned true, or with E_OUTOFMEMORY. */
HRESULT rules_evaluate(struct xpath_scope *scope, const char *expression, struct xpath_result *out);
void xpath_result_free(struct xpath_result *r);

/* Returns the length in bytes of a variable's name at the beginning of the text, or 0 if the text does not begin
   with a name. */
size_t rules_name_length(const char *text);
/* Checks that the text is valid XPath for all values of its variables. Errors are the same as those of rules_evaluate,
   except those that depend on values. */
HRESULT rules_expression_check(const char *expression);

/* ---- rules that were read ---- */
#define RULES_INVALID OPENPLA_E_MALFORMED_XML

struct rules_file {
    char *path;
    bool is_file; /* true: the rules are from a file; false: they were passed to rules_add or are built in, and have
                     no folder for imports */
    struct xml_document document;
};
struct rules_group {
    size_t file;
    xmlNodePtr node;
};
struct rules {
    struct rules_file *files;
    size_t file_count, file_capacity;
    struct rules_group *groups; /* in the order in which they are run */
    size_t group_count, group_capacity;
    bool has_logging;
    uint32_t log_level;
    char *log_name;
    struct text_buffer slices; /* patterns of all files */
    struct texts errors, notes;
};

/* A position in the rules, for messages; its members are NULL and 0 outside of rules. */
struct rules_place {
    const char *file, *group, *rule;
    unsigned step; /* counted from 1 */
};
/* Adds the position in the form "FILE: group 'g': rule 'r': step 1: ". */
void rules_place_add(const struct rules_place *place, struct text_buffer *to);
/* Adds a text that consists of the position and `text`. Does nothing if `to` already has 200 texts. */
HRESULT rules_note(struct texts *to, const struct rules_place *place, const char *text);
/* Returns RULES_INVALID with xml_invalid's text. */
HRESULT rules_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Returns whether the element is a step, rule or group that contains an error, and is skipped. */
bool rules_is_bad(xmlNodePtr e);

/* Returns an attribute's text, borrowed from the document, or NULL. */
const char *rules_attribute(xmlNodePtr e, const char *name);
/* Adds the counter as a pattern of report schemas, "i/bytes\/sec/", after '|' if *b is not empty. Characters of
   `special` are taken literally. */
void rules_add_pattern(struct text_buffer *b, const char *counter, const char *special);
bool rules_flag(xmlNodePtr e, const char *name, bool usual);
/* Returns the first child element called `name`; if `name` is NULL, the first child element. */
xmlNodePtr rules_child(xmlNodePtr e, const char *name);
xmlNodePtr rules_next(xmlNodePtr e, const char *name);

/* ---- a run ---- */

struct rules_run {
    const struct rules_job *job;
    const struct rules *rules;
    const struct rules_file *file; /* file of the current group; strings in this file take precedence over strings in
                                      other files */
    struct rules_outcome *out;
    struct rules_place place;
    struct report_target *target;
    struct rule_variable {
        char *name;
        struct rule_value value;
    } * variables;
    size_t variable_count, variable_capacity;
    uint64_t operations;
    uint64_t began; /* clock_monotonic_ms */
    size_t inserted;
    uint32_t log_level;
    struct text_buffer log;
};

/* Expands a text of the element: replaces `$(ID)` with strings and `{name}` with variables, and removes surrounding
   whitespace. *out is from memory_alloc. Fails with RULES_INVALID if a string is unknown or the result is too long. */
HRESULT rules_expand(struct rules_run *run, xmlNodePtr e, const char *text, char **out);
HRESULT rules_set_variable(struct rules_run *run, const char *name, struct rule_value *value);
/* Evaluates the attribute's expression with the context node `context`; if `context` is NULL, with the report. The
   error names element and attribute. */
HRESULT rules_select(struct rules_run *run, xmlNodePtr element, const char *attribute, xmlNodePtr context,
                     struct xpath_result *out);
/* Works like rules_select, for an expression that is built from the attribute's expression. */
HRESULT rules_select_by(struct rules_run *run, xmlNodePtr element, const char *attribute, const char *expression,
                        xmlNodePtr context, struct xpath_result *out);
/* rules_is_over returns whether the caller stops the run, or whether the run has exceeded its time limit.
   rules_check_limits returns the error for these cases, or for too many operations. */
bool rules_is_over(void *run);
HRESULT rules_check_limits(const struct rules_run *run);
/* Runs the actions in an element for the step's node; `context` is NULL if the step has no node. An action that fails
   is noted; returns S_FALSE if an action failed, or if the node no longer exists. */
HRESULT rules_do_actions(struct rules_run *run, xmlNodePtr actions, xmlNodePtr context);
HRESULT rules_do_variable(struct rules_run *run, xmlNodePtr e, xmlNodePtr context);
/* Copies an element with its contents, including text between elements. The copy is not yet inserted into the report.
   `expand` means that the texts and attributes of the element are from rules and must be expanded. */
HRESULT rules_copy(struct rules_run *run, xmlNodePtr from, bool expand, xmlNodePtr *out);
/* Inserts `item`, the Item of a warning, into `table`, and adds the warning to the outcome. `e` is the position for
   errors. */
HRESULT rules_add_warning(struct rules_run *run, xmlNodePtr e, xmlNodePtr table, xmlNodePtr item);
/* Runs a Threshold (rules_threshold.c). Returns S_FALSE if an error was noted. */
HRESULT rules_do_threshold(struct rules_run *run, xmlNodePtr threshold);
/* Checks that the attributes of the Threshold can be combined. */
HRESULT rules_threshold_check(xmlNodePtr threshold);
/* Returns whether the text is a decimal number without an exponent. */
bool rules_is_real(const char *text);
HRESULT rules_do_insert(struct rules_run *run, xmlNodePtr e, xmlNodePtr context);
/* Notes an error `hr` of the rules; returns S_FALSE. Other errors end the run and are returned unchanged. */
HRESULT rules_note_error(struct rules_run *run, HRESULT hr);
HRESULT rules_add_note(struct rules_run *run, xmlNodePtr e, const char *format, ...) PRINTF_LIKE(3, 4);
/* Writes a line to rules.log if the log level has one of the bits. */
void rules_log(struct rules_run *run, uint32_t bits, const char *kind, const char *format, ...) PRINTF_LIKE(4, 5);

/* ---- the report ---- */

/* A mark identifies elements and attributes that rules added. `rules="1"` marks an added element. Other words are the
   names of attributes that rules added to an element; `+tag` means that rules added all lines of the element's tag
   except the first. */
#define RULES_MARK "rules"
struct report_target {
    struct xml_document document;
    char *folder; /* folder of the documents that rules insert */
};
/* Opens a report and removes everything that rules added to it earlier. `stop` has the meaning that it has in
   xml_limits. */
HRESULT report_target_open(const char *path, bool (*stop)(void *context), void *context, struct report_target *out);
void report_target_close(struct report_target *t);
HRESULT report_target_save(const struct report_target *t, const char *base, const char *path);
/* Returns whether the node is still in the document. */
bool report_target_has(const struct report_target *t, const xmlNode *node);
/* Creates a new element but does not insert it; the element is marked when it is inserted. */
HRESULT report_target_make(struct report_target *t, const char *name, const char *text, xmlNodePtr *out);
/* Inserts a text between its two marks. *last is the node after which the next text is inserted. */
HRESULT report_target_put_text(struct report_target *t, xmlNodePtr at, enum rules_axis axis, const char *text,
                               xmlNodePtr *last);
/* Appends a text to a new element. */
HRESULT report_target_add_text(struct report_target *t, xmlNodePtr at, const char *text);
HRESULT report_target_put(struct report_target *t, xmlNodePtr at, enum rules_axis axis, xmlNodePtr made);
HRESULT report_target_set(struct report_target *t, xmlNodePtr e, const char *name, const char *value);
/* Sets an attribute of an element of the report itself, and marks it there. */
HRESULT report_target_mark(struct report_target *t, xmlNodePtr e, const char *name, const char *value);
/* Adds a tag to the element (report_document.h). Returns S_FALSE and changes nothing if the tag has several lines, or
   if there is no space for it. */
HRESULT report_target_tag(struct report_target *t, xmlNodePtr e, const char *tag);
HRESULT report_target_take(struct report_target *t, xmlNodePtr node);
/* Finds the table of warnings, or creates it. */
HRESULT report_target_warnings(struct report_target *t, xmlNodePtr *out);

#endif
