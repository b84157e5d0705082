/* SPDX-License-Identifier: MIT */
/* Shared by the verbs of openpla.exe: the table of verbs, exit codes, messages, options, questions, input files and the
   terminal. */
#ifndef OPENPLA_CLI_H
#define OPENPLA_CLI_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,    /* failed, at least in part; stderr has the message */
    CLI_USAGE = 2,     /* the command line is wrong */
    CLI_REMARKS = 3,   /* done, with warnings on stderr, for example about corrupt data */
    CLI_UNCHECKED = 5, /* done, but no rule applied to anything in the report; exit code 4 belongs to "openpla rules" */
};

/* A verb: a separate file and a row in main.c's table. */
struct verb {
    const char *name;
    const char *summary; /* one line, for the list of verbs */
    const char *help;    /* complete, ends with a newline; NULL: the verb prints its help itself when run with -?, also
                            after other words */
    /* argv without the names of program and verb, UTF-8. Returns an enum cli_exit. */
    int (*run)(int argc, char **argv);
};

/* A verb with sub-verbs: "openpla manifest add". */
struct sub_verb {
    const char *name;                  /* "": for operands and options if there is no sub-verb; must be the last row */
    int (*run)(int argc, char **argv); /* argv without the sub-verb's name too */
};
/* Runs the sub-verb that argv[0] names, in any case. Returns an enum cli_exit; CLI_USAGE with the list of sub-verbs for
   an unknown name. */
int cli_sub_verb(const char *verb, const struct sub_verb *verbs, size_t count, int argc, char **argv);

/* Prints "openpla VERB: message (0x80070002)" to cli_messages(), where message is error_text(hr). Returns CLI_FAILED.
 */
int cli_error(const char *verb, HRESULT hr);
/* Prints "openpla VERB: ..." and how to get help to cli_messages(). Returns CLI_USAGE. */
int cli_usage(const char *verb, const char *format, ...) PRINTF_LIKE(2, 3);

/* From now on messages go to stdout and errors begin with "Error: ", as in Windows' tool of this name, unless the
   command line requests JSON; then stdout contains only JSON. */
void cli_speak_as_windows(int argc, char **argv);
/* The stream of messages: stderr, or stdout after cli_speak_as_windows. */
FILE *cli_messages(void);
/* Whether a command line, even an invalid one, has the option json. */
bool cli_wants_json(int argc, char **argv);

/* An option in the form of Windows' tools: "-name", "/name" or "--name", in any case, with the value as the next
   argument. */
struct option {
    const char *name; /* without the dash */
    enum option_kind {
        OPTION_FLAG,     /* no value; target: bool */
        OPTION_TEXT,     /* one value; target: const char *, borrowed from argv */
        OPTION_OPTIONAL, /* one value or no value; target as for OPTION_TEXT, "" if there is no value */
        OPTION_TEXTS,    /* all arguments up to the next option; target: struct texts, copies */
        OPTION_COUNT,    /* one value, a whole number from 1; target: uint32_t */
        OPTION_FORM,     /* for verbs without options_parse; target: const char, the value in the help */
    } kind;
    void *target;
};
/* Sets the targets. Arguments that belong to no option are added to `operands` (NULL: none are allowed). "--": all
   following arguments are operands. An argument that begins with '/' and names no option is an operand, a path. Returns
   CLI_DONE, or CLI_USAGE or CLI_FAILED after printing a message. */
int options_parse(const char *verb, int argc, char **argv, const struct option *options, size_t count,
                  struct texts *operands);
/* Receives a verb's options. `sub` is the name of its sub-verb ("" without one, NULL: the requested one). All arguments
   are valid only during the call, and no target may be written. */
typedef void options_heard(void *user, const char *sub, const struct option *options, size_t count);
/* Makes the verb report all of its option tables instead of running, so that completion, the list of verbs and help
   --json show the options that the verb parses. Not thread-safe. */
void options_ask(const struct verb *verb, options_heard *heard, void *user);
/* options_parse, options_with_settings and cli_sub_verb report their tables on request of options_ask, so a verb calls
   one of them first. A verb that parses its command line without these functions calls options_report first. If that
   returns true, the options were requested and have been reported, and the verb returns with any result. */
bool options_report(const char *sub, const struct option *options, size_t count);
bool options_are_asked(void);
/* Whether the argument is -?, /?, -h or --help. */
bool cli_asks_for_help(const char *argument);
/* Whether the last parsed command line contained one of these. If so, nothing is done, and main prints the verb's help.
 */
bool options_help_wanted(void);

/* Finds the most likely name for a mistyped word, by the number of different letters. */
struct nearest {
    const char *word;
    const char *name; /* NULL: no name is similar */
    unsigned distance;
};
/* Zero-initialise, and set the word. The name is borrowed. */
void nearest_consider(struct nearest *n, const char *name);

bool settings_is_config(const char *argument); /* "-config" */
/* Adds the arguments to `out`, and replaces each "-config FILE" by the contents of FILE: parts of a command line, or
   "[option]" and lines with its values. E_INVALIDARG if the file name is missing. */
HRESULT settings_expand(int argc, char **argv, struct texts *out);
/* settings_expand with messages. Returns CLI_DONE, or CLI_USAGE or CLI_FAILED after printing a message. */
int options_with_settings(const char *verb, int argc, char **argv, struct texts *out);

#ifdef _WIN32
/* Restores the console's output code page; later output is not shown as UTF-8. */
void cli_console_restore(void);
#endif

/* Parses the words of -b or -e as one time. *local: a FILETIME in local time, unchanged without words. Returns
   CLI_DONE, or CLI_USAGE or CLI_FAILED after printing a message. */
int cli_time(const char *verb, const char *option, const struct texts *words, int64_t *local);
/* Asks whether to overwrite the existing file. */
bool cli_may_overwrite(const char *path);
/* Asks for the account's password on the console without echo, or reads a line of standard input if that is not a
   console; free it with memory_free_secret. E_INVALIDARG if nothing was entered. */
HRESULT cli_ask_password(const char *account, char **out);
/* Whether standard input is a console, so a person answers. */
bool cli_input_is_console(void);

/* Shows the progress of long work in percent on stderr, if that is a terminal: after a second, twice a second. Zero-
   initialise. */
struct cli_progress {
    uint64_t begun, shown; /* of clock_monotonic_ms */
    bool visible;
};
void cli_progress_show(struct cli_progress *p, uint64_t done, uint64_t total);
void cli_progress_end(struct cli_progress *p); /* removes the progress from the screen */

/* Each verb is in the file of its name. */
extern const struct verb verb_check, verb_compare, verb_completion, verb_config, verb_data, verb_dcom, verb_diskperf,
    verb_doctor, verb_events, verb_live, verb_lodctr, verb_logman, verb_logstat, verb_manifest, verb_mof, verb_plot,
    verb_push, verb_relog, verb_remote, verb_report, verb_rules, verb_run, verb_schema, verb_serve, verb_store,
    verb_task, verb_trace, verb_tracerpt, verb_typeperf, verb_unlodctr, verb_version;

/* Verbs that need the server, for the native program (cli/server.c). Prints that the verb needs the package that
 contains it. Returns CLI_FAILED. */
int cli_needs_server(const char *verb);
/* The error of a failed start. It includes the package's name if the required program is not installed in this
   program's folder. */
HRESULT cli_start_error(HRESULT hr, const char *program);
#ifndef _WIN32
/* Replaces this process by the command of the server's package, if the package is installed and the verb is not native
   only. "--native" as the first word prevents that and is removed. Returns CLI_DONE if this program is to run the line,
   or CLI_FAILED after printing a message. */
int cli_hand_to_server(int *argc, char **argv);
#endif

/* All verbs in the order of their names, ending with NULL. */
extern const struct verb *const cli_verbs[];

/* "openpla help ...": the list of verbs, the help of a verb, or with --json the options of each. `out` is the stream of
   the list. Return an enum cli_exit. */
int help_list(FILE *out);
int help_of(int argc, char **argv);
int help_print(const struct verb *verb, int argc, char **argv);
/* Prints that the verb is unknown, and the most similar one. Returns CLI_USAGE. */
int help_no_verb(const char *name);
const struct verb *help_find_verb(const char *name); /* case-insensitive; NULL: unknown */

/* Reads a file with one item per line: counters (-cf), command lines (-config). Adds the lines without surrounding
   blanks and quotes, except for empty ones and those that begin with ';' or '#'. Encodings: ANSI code page, UTF-8 or
   UTF-16. */
HRESULT lines_read(const char *path, struct texts *out);

/* Reads a file with a set's definition, as perfmon and logman save templates. Returns the XML as UTF-8 without a byte
   order mark, from whichever of Windows' encodings the file's mark names; from memory_alloc. */
HRESULT template_load(const char *path, char **xml, size_t *size);

/* Ctrl+C and other requests to exit, as an event that loops can wait for. From now on until interrupt_end, such a
   request does not end the program. Calls may be nested; each needs its interrupt_end. False: not possible. */
bool interrupt_begin(void);
/* True: exit was requested, now or before. False: the timeout has elapsed. */
bool interrupt_wait(uint32_t timeout_ms);
/* interrupt_wait without waiting, for loops and engine threads that check often: the system is queried ten times a
   second. `context` is unused. */
bool interrupt_asked(void *context);
void interrupt_end(void);

/* Whether the stream, stdout or stderr, is a terminal, so a person reads the output while it is written. */
bool screen_is_terminal(FILE *stream);
/* Clears stdout's terminal. False: stdout is not a terminal. */
bool screen_clear(void);

#endif
