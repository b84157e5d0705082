/* SPDX-License-Identifier: MIT */
/* Rules evaluate a report (MS-PLA 2.2.3.4, 2.2.4 to 2.2.8, DECISIONS 101). Rules are read once and applied to any
   number of reports. An error in the rules disables only the step, rule or group that contains the error. */
#ifndef OPENPLA_RULES_H
#define OPENPLA_RULES_H

#include "engine/report/report_schema.h"

#define RULES_GENERAL      "Rules.General.xml" /* all built-in rules */
#define RULES_LOG_NAME     "rules.log"
/* The note in the report's table of warnings if no rule selected anything in its tables. */
#define RULES_KNOW_NOTHING "No rule applies to any counter or event in this report."

enum {
    RULES_FILES_MAX = 256,
    RULES_DEEPEST = 32, /* nested imports */
    RULES_GROUPS_MAX = 4096,
    RULES_TEXT_MAX = 65536, /* maximum bytes of an expanded text, and of a variable */
    RULES_VARIABLES_MAX = 1000,
    RULES_SECONDS = 120,        /* default time limit of a run */
    RULES_NODES_MAX = 10000,    /* maximum nodes of a step; further nodes are ignored */
    RULES_INSERTED_MAX = 100000 /* maximum number of elements that rules add to a report */
};
/* Bits of Logging's level. */
enum { RULES_LOG_ERRORS = 1, RULES_LOG_RULES = 2, RULES_LOG_STEPS = 4, RULES_LOG_ACTIONS = 8 };

struct rules;
/* Returns NULL if memory runs out. */
struct rules *rules_create(void);
void rules_free(struct rules *r); /* NULL is allowed */
/* Adds rules. The rules of an imported file are inserted where the Import is. `text` is UTF-8, or UTF-16 with a byte
   order mark; `path` names it in errors. Imported files are searched in the folder of `path`, if it has one, and in
   Windows' folder. A file that was added before is skipped. An error in an element becomes one of rules_errors. Fails
   with OPENPLA_E_MALFORMED_XML if the text is not rules, with the error of schema_file_load for a fatal Include, or
   with E_OUTOFMEMORY. After a failure with E_OUTOFMEMORY, the rules can only be freed. */
HRESULT rules_add(struct rules *r, const char *path, const char *text, size_t size);
/* Loads a file, or a built-in file, and adds it. `name` has the form of a name in an Import element. */
HRESULT rules_add_file(struct rules *r, const char *name);
/* Returns the errors. An error has the form `FILE: group 'g': rule 'r': step 1: line N: ELEMENT attribute="value":
   why`. */
const struct texts *rules_errors(const struct rules *r);
const struct texts *rules_notes(const struct rules *r);
/* Returns the log file name of the first Logging, or the default. */
const char *rules_log_name(const struct rules *r);

/* A rule that can raise a warning. Strings are borrowed; a missing string is "". */
struct rules_listed {
    const char *pack, *group, *rule, *tag; /* `pack` is the name of the file */
    const char *limits;                    /* such as "\Object\Counter: over 5 %, serious over 10 %, for 5 min" */
    const char *severity;                  /* "warning, error": the severity of each limit, in the order of `limits` */
    const char *source;                    /* publisher of the rules */
    bool enabled;
};
typedef HRESULT rules_list_each(void *context, const struct rules_listed *one);
/* Calls `each` for the rules in the order in which they run; a failure of `each` ends the list. */
HRESULT rules_list(const struct rules *r, const char *language, rules_list_each *each, void *context);

/* Adds patterns (report_schema_want_slices) for the counters whose slices and trends the rules need: the counters of
   Threshold elements, and the counters in the attribute `slices` of Rules elements. */
HRESULT rules_slice_patterns(const struct rules *r, struct text_buffer *patterns);

/* The severity is derived from the symptom's attribute img. Red, error and critical mean an error; Green and
   information mean information; any other value means a warning. */
enum rules_severity { RULES_NOTHING, RULES_INFORMATION, RULES_WARNING, RULES_ERROR };
/* Strings are owned; a missing string is "". */
struct rules_warning {
    enum rules_severity severity;
    char *symptom, *when, *first, *last; /* `when` is a time for display; `first` and `last` are times in the report,
                                            if rules set them */
    char *cause, *details, *resolution;  /* several elements with one name are joined by line ends */
    char *group, *rule;
};
/* The message of a Notify (events 3000 to 3002). */
struct rules_notice {
    enum rules_severity severity;
    char *text;
};
/* Zero-initialise. */
struct rules_outcome {
    struct rules_warning *warnings;
    size_t warning_count, warning_capacity;
    struct rules_notice *notices;
    size_t notice_count, notice_capacity;
    enum rules_severity worst;  /* the highest severity of the warnings */
    struct texts errors, notes; /* errors and notes of this run; errors in the rules themselves are in rules_errors */
    uint64_t known;             /* number of parts of tables that steps selected; 0 means that no rule fits the report's
                                   contents */
    bool unfinished; /* the run was stopped because all rules together exceeded a limit; `errors` contains the
                        reason */
    char *log;       /* the lines of rules.log; NULL means no lines */
};
void rules_outcome_free(struct rules_outcome *o);
/* Returns whether the rules neither selected anything in the report's tables nor reported anything: the report was not
   checked. */
static inline bool rules_know_nothing(const struct rules_outcome *o)
{
    return !o->known && !o->unfinished && !o->warning_count && !o->notice_count;
}

struct rules_job {
    const struct rules *rules;
    const char *report;          /* path of the report to read */
    const char *output;          /* path of the report with the changes of the rules; NULL if not written */
    const char *base;            /* folder below which the output must be (file_open_below); NULL means anywhere */
    const char *language;        /* language of strings; NULL means any */
    uint32_t log_level;          /* overrides the log level in the rules; 0 means the level in the rules */
    uint32_t expression_limit;   /* XPath operations per expression; 0 means 20,000,000 */
    uint32_t seconds;            /* time limit of the rules; 0 means RULES_SECONDS. Warnings that were raised before
                                    the limit are kept */
    bool (*stop)(void *context); /* called often, also while an expression is evaluated; may be NULL */
    void *context;
};
/* Runs the rules over a report. Documents that rules insert are in the report's folder. First removes everything that
   rules added earlier, so that rules can run again. Fails with PLA_E_RULES_MANAGER_FAILED and the reason if there are
   no rules to run, or if the file is not a report. Also fails with HRESULT_FROM_WIN32(ERROR_CANCELLED), with an error
   of a file, or with E_OUTOFMEMORY. After a failure the report is unchanged. */
HRESULT rules_apply(const struct rules_job *job, struct rules_outcome *out);

#endif
