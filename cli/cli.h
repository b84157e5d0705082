/* SPDX-License-Identifier: MIT */
/* Declarations that the verbs of openpla.exe share: the table of verbs, exit codes, messages, options, questions, input
   files and the terminal. */
#ifndef OPENPLA_CLI_H
#define OPENPLA_CLI_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,    /* failed, at least partly; stderr has the message */
    CLI_USAGE = 2,     /* the command line is wrong */
    CLI_REMARKS = 3,   /* done, with warnings on stderr, for example about corrupt data */
    CLI_UNCHECKED = 5, /* done, but no rule applied to the contents of the report; exit code 4 belongs to "openpla
                          rules" */
};

/* A verb is a row in main.c's table. Most verbs are implemented in a separate file. */
struct verb {
    const char *name;
    const char *summary; /* one line, for the list of verbs */
    const char *help;    /* the whole help, with a newline at the end; NULL means that the verb prints its help
                            itself if -? is an argument */
    /* Runs the verb. argv is UTF-8, without the names of program and verb. Returns an enum cli_exit. */
    int (*run)(int argc, char **argv);
};

/* A verb with sub-verbs: "openpla manifest add". */
struct sub_verb {
    const char *name;                  /* "" is for the row that runs if argv[0] is not the name of another row; it
                                          must be the last row */
    int (*run)(int argc, char **argv); /* argv has neither the verb's name nor the sub-verb's name */
};
/* Runs the sub-verb that argv[0] names, ignoring case. Returns an enum cli_exit. For an unknown name, prints the list
   of sub-verbs and returns CLI_USAGE. */
int cli_sub_verb(const char *verb, const struct sub_verb *verbs, size_t count, int argc, char **argv);

/* Prints "openpla VERB: message (0x80070002)" to cli_messages(); the message is error_text(hr). Returns CLI_FAILED. */
int cli_error(const char *verb, HRESULT hr);
/* Prints "openpla VERB: ..." and then how to get help, both to cli_messages(). Returns CLI_USAGE. */
int cli_usage(const char *verb, const char *format, ...) PRINTF_LIKE(2, 3);

/* From now on, all messages go to stdout, and errors begin with "Error: ", as in the Windows tool that has the verb's
   name. Has no effect if the command line requests JSON: stdout must then contain only JSON. */
void cli_speak_as_windows(int argc, char **argv);
/* Returns the stream of messages: stderr, or stdout after cli_speak_as_windows. */
FILE *cli_messages(void);
/* Returns true if the command line, even an invalid one, has the option json. */
bool cli_wants_json(int argc, char **argv);

/* An option in the form of Windows' tools: "-name", "/name" or "--name", ignoring case, with the value as the next
   argument. */
struct option {
    const char *name; /* without the dash */
    enum option_kind {
        OPTION_FLAG,     /* no value; target: bool */
        OPTION_TEXT,     /* one value; target: const char *, borrowed from argv */
        OPTION_OPTIONAL, /* one value or no value; target as for OPTION_TEXT; without a value, the target becomes "" */
        OPTION_TEXTS,    /* all arguments up to the next option; target: struct texts, copies */
        OPTION_COUNT,    /* one value, a whole number from 1; target: uint32_t */
        OPTION_FORM,     /* target: const char[], the text that the help shows for the value. options_parse does not
                            accept this kind */
    } kind;
    void *target;
};
/* Sets the targets. Adds arguments that belong to no option to `operands` (if `operands` is NULL, such arguments are
   errors). After "--", all arguments are operands. An argument that begins with '/' and is not an option is an operand,
   because it is a path. Returns CLI_DONE, or prints a message and returns CLI_USAGE or CLI_FAILED. */
int options_parse(const char *verb, int argc, char **argv, const struct option *options, size_t count,
                  struct texts *operands);
/* Receives a verb's options. `sub` is the name of the sub-verb; "" means that the verb has none. All arguments are
   valid only during the call, and the function must not write to any target. */
typedef void options_heard(void *user, const char *sub, const struct option *options, size_t count);
/* Makes the verb report all its option tables instead of running. Therefore completion, the list of verbs and help
   --json show exactly the options that the verb parses. Not thread-safe. */
void options_ask(const struct verb *verb, options_heard *heard, void *user);
/* Reports a table of options if options_ask requested it. If `sub` is NULL, the table belongs to the sub-verb that
   options_ask is currently running. Before anything else, a verb must call options_parse, options_with_settings or
   cli_sub_verb, which report their tables in the same way. A verb that parses its command line itself calls
   options_report instead. If the result is true, the options have been reported. The verb must then return; its result
   is ignored. */
bool options_report(const char *sub, const struct option *options, size_t count);
bool options_are_asked(void);
/* Returns true if the argument is -?, /?, -h or --help. */
bool cli_asks_for_help(const char *argument);
/* Returns true if the last parsed command line contained an argument for which cli_asks_for_help is true. In this case
   the verb does nothing, and main prints the verb's help. */
bool options_help_wanted(void);

/* Finds the name that is most similar to a mistyped word, by the number of different letters. */
struct nearest {
    const char *word;
    const char *name; /* NULL if no name is similar */
    unsigned distance;
};
/* Compares the word with a name. Zero-initialise the struct and set `word` before the first call. The name is
   borrowed. */
void nearest_consider(struct nearest *n, const char *name);

bool settings_is_config(const char *argument); /* returns true for "-config" */
/* Adds the arguments to `out`, and replaces each "-config FILE" with the contents of FILE. Lines of FILE are parts of a
   command line, or "[option]" followed by one line for each value of this option. Fails with E_INVALIDARG if the file
   name is missing. */
HRESULT settings_expand(int argc, char **argv, struct texts *out);
/* Calls settings_expand. Returns CLI_DONE, or prints a message and returns CLI_USAGE or CLI_FAILED. */
int options_with_settings(const char *verb, int argc, char **argv, struct texts *out);

#ifdef _WIN32
/* Restores the console's output code page. After this call, the console does not display output as UTF-8. */
void cli_console_restore(void);
#endif

/* Parses the words of -b or -e, which together are one time. *local is a FILETIME in local time, unchanged if there are
   no words. Returns CLI_DONE, or prints a message and returns CLI_USAGE or CLI_FAILED. */
int cli_time(const char *verb, const char *option, const struct texts *words, int64_t *local);
/* Asks the user whether to overwrite the existing file. */
bool cli_may_overwrite(const char *path);
/* Asks for the account's password on the console without echo. If standard input is not a console, reads a line from it
   instead. Free *out with memory_free_secret. Fails with E_INVALIDARG if no line can be read. */
HRESULT cli_ask_password(const char *account, char **out);
/* Returns true if standard input is a console, so that a person can answer. */
bool cli_input_is_console(void);

/* Shows the progress of long work in percent on stderr, if that is a terminal. The progress appears after one second
   and is updated twice per second. Zero-initialise. */
struct cli_progress {
    uint64_t begun, shown; /* times of clock_monotonic_ms() */
    bool visible;
};
void cli_progress_show(struct cli_progress *p, uint64_t done, uint64_t total);
void cli_progress_end(struct cli_progress *p); /* removes the progress from the screen */

/* Most verbs are defined in the file that has their name. */
extern const struct verb verb_check, verb_compare, verb_completion, verb_config, verb_data, verb_dcom, verb_diskperf,
    verb_doctor, verb_events, verb_live, verb_lodctr, verb_logman, verb_logstat, verb_manifest, verb_mof, verb_plot,
    verb_push, verb_relog, verb_remote, verb_report, verb_rules, verb_run, verb_schema, verb_serve, verb_store,
    verb_task, verb_trace, verb_tracerpt, verb_typeperf, verb_unlodctr, verb_version;

/* In the native program, replaces the verbs that need the server (cli/server.c). Prints which package contains the
   verb. Returns CLI_FAILED. */
int cli_needs_server(const char *verb);
/* Returns the error of a failed start. If the required program is not in this program's folder, the message names the
   package that contains it. */
HRESULT cli_start_error(HRESULT hr, const char *program);
#ifndef _WIN32
/* If the server's package is installed, replaces this process with the package's command, unless this program always
   runs the verb itself. If "--native" is the first word, the function does not replace the process, and removes this
   word. Returns CLI_DONE if this program must run the command line, or prints a message and returns CLI_FAILED. */
int cli_hand_to_server(int *argc, char **argv);
#endif

/* All verbs in the order of their names, ending with NULL. */
extern const struct verb *const cli_verbs[];

/* Functions for "openpla help ...". help_list prints the list of verbs to `out`. help_of prints the help of a verb, or
   with --json the options of each verb. Return an enum cli_exit. */
int help_list(FILE *out);
int help_of(int argc, char **argv);
int help_print(const struct verb *verb, int argc, char **argv);
/* Prints that the verb is unknown, and suggests the most similar verb. Returns CLI_USAGE. */
int help_no_verb(const char *name);
const struct verb *help_find_verb(const char *name); /* ignores case; NULL if unknown */

/* Reads a file with one item per line: counters (-cf) or command lines (-config). Adds the lines without surrounding
   spaces and quotes; skips empty lines and lines that begin with ';' or '#'. The file may be in the ANSI code page,
   UTF-8 or UTF-16. */
HRESULT lines_read(const char *path, struct texts *out);

/* Reads a file with a set's definition, such as a template saved by perfmon or logman. Returns the XML as UTF-8 without
   a byte order mark, from memory_alloc. The file's byte order mark selects its encoding. */
HRESULT template_load(const char *path, char **xml, size_t *size);

/* Until interrupt_end, Ctrl+C and other requests to exit do not end the program, but set an event that loops can wait
   for. Calls can be nested; each call needs its own call of interrupt_end. Returns false if the system refuses this. */
bool interrupt_begin(void);
/* Returns true if an exit was requested, now or earlier; false if the timeout has elapsed. */
bool interrupt_wait(uint32_t timeout_ms);
/* Works like interrupt_wait(0), for loops and engine threads that check often. Queries the system only ten times per
   second. `context` is unused. */
bool interrupt_asked(void *context);
void interrupt_end(void);

/* Returns true if the stream, stdout or stderr, is a terminal, so that a person reads the output while it is
   written. */
bool screen_is_terminal(FILE *stream);
/* Clears stdout's terminal. Returns false if stdout is not a terminal. */
bool screen_clear(void);

#endif
