/* SPDX-License-Identifier: MIT */
/* What the verbs of openpla.exe share: the table of verbs, exit codes, messages, options, questions, the files they
   read and the terminal. */
#ifndef OPENPLA_CLI_H
#define OPENPLA_CLI_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,  /* nothing was done, or not all of it: the text on stderr says what */
    CLI_USAGE = 2,   /* the command line is wrong */
    CLI_REMARKS = 3, /* done, but the data was damaged: each remark is on stderr */
};

/* One verb: a file of its own and a row in main.c's table. */
struct verb {
    const char *name;
    const char *summary; /* one line, for the list of verbs */
    const char *help;    /* whole, ends with a newline; NULL: run with -? prints it, also behind words of a line */
    /* argv without the program's and the verb's name, UTF-8. Gives an enum cli_exit. */
    int (*run)(int argc, char **argv);
};

/* A verb of verbs: "openpla manifest add". */
struct sub_verb {
    const char *name; /* "": what argv[0] names none of the others for, operands and options; the last row */
    int (*run)(int argc, char **argv); /* argv without its name too */
};
/* Runs the one that argv[0] names, in any case. Gives an enum cli_exit; for none of them CLI_USAGE with their names. */
int cli_sub_verb(const char *verb, const struct sub_verb *verbs, size_t count, int argc, char **argv);

/* "openpla VERB: text (0x80070002)", the text being error_text(hr), to cli_messages(). Gives CLI_FAILED. */
int cli_error(const char *verb, HRESULT hr);
/* "openpla VERB: ..." and where to find help, to cli_messages(). Gives CLI_USAGE. */
int cli_usage(const char *verb, const char *format, ...) PRINTF_LIKE(2, 3);

/* From now on messages go to stdout, and errors begin with "Error: ", as those of Windows' tool of this name do;
   unless the line asks for JSON, which has stdout to itself. */
void cli_speak_as_windows(int argc, char **argv);
/* Where messages go: stderr, or stdout after cli_speak_as_windows. */
FILE *cli_messages(void);
/* Whether a line, which may be one that cannot be read, has the option json. */
bool cli_wants_json(int argc, char **argv);

/* An option as Windows' tools take them: "-name", "/name" or "--name", in any case, the value as the next argument. */
struct option {
    const char *name; /* without the dash */
    enum option_kind {
        OPTION_FLAG,     /* no value; target: bool */
        OPTION_TEXT,     /* one value; target: const char *, borrowed from argv */
        OPTION_OPTIONAL, /* one value, or none: then target, as that of OPTION_TEXT, is "" */
        OPTION_TEXTS,    /* all arguments up to the next option; target: struct texts, copies */
        OPTION_COUNT,    /* one value, a whole number from 1 on; target: uint32_t */
        OPTION_FORM,     /* told by a verb that reads its line by itself: target: const char, what help has behind it */
    } kind;
    void *target;
};
/* Fills in the targets. What belongs to no option is added to `operands` (NULL: there may be none). "--": everything
   behind it is an operand. An argument that begins with '/' and names no option is an operand, a path. CLI_DONE, or
   CLI_USAGE or CLI_FAILED with the text written. */
int options_parse(const char *verb, int argc, char **argv, const struct option *options, size_t count,
                  struct texts *operands);
/* Tells a verb's options, under the name of its sub-verb ("" without one, NULL: of the one that is asked); all of it is
   lent for the call, and no row has a target that may be written. */
typedef void options_heard(void *user, const char *sub, const struct option *options, size_t count);
/* Has the verb tell all of its tables instead of running: what completion, the list of verbs and help --json know of
   options is what the verb parses by. Not for several threads. */
void options_ask(const struct verb *verb, options_heard *heard, void *user);
/* options_parse, options_with_settings and cli_sub_verb tell what they are given by themselves when they are asked, so
   a verb calls one of them before it does anything else. One that reads its line by itself says so first: true when
   its options were asked for and are told now; the verb ends then, with whatever it likes. */
bool options_report(const char *sub, const struct option *options, size_t count);
bool options_are_asked(void);
/* Whether the argument is -?, /?, -h or --help. */
bool cli_asks_for_help(const char *argument);
/* Whether the line that was parsed last had one of these: nothing is done then, and main shows the verb's help. */
bool options_help_wanted(void);

/* The name of several that a mistyped word most likely means, by the number of letters that differ. */
struct nearest {
    const char *word;
    const char *name; /* NULL: no name is near */
    unsigned distance;
};
/* Zero-initialised but for the word. The name is borrowed. */
void nearest_consider(struct nearest *n, const char *name);

bool settings_is_config(const char *argument); /* "-config" */
/* Adds the arguments to `out`, and in the place of each "-config FILE" what FILE says: pieces of a command line, or
   "[option]" and lines with its values. E_INVALIDARG where the file's name is missing. */
HRESULT settings_expand(int argc, char **argv, struct texts *out);
/* The same. CLI_DONE, or CLI_USAGE or CLI_FAILED with the text written. */
int options_with_settings(const char *verb, int argc, char **argv, struct texts *out);

#ifdef _WIN32
/* The console's output page is again what it was before us; what we write to it from now on is not UTF-8 there. */
void cli_console_restore(void);
#endif

/* The words of -b and -e, one time together. *local: a FILETIME value. CLI_DONE, also when there are none, which leaves
 *local as it is; else CLI_USAGE or CLI_FAILED with the text written. */
int cli_time(const char *verb, const char *option, const struct texts *words, int64_t *local);
/* Asks whether the file that is there may go. */
bool cli_may_overwrite(const char *path);
/* Asks on the console, without showing it, for the account's password; for memory_free_secret. E_INVALIDARG where there
   is no console. */
HRESULT cli_ask_password(const char *account, char **out);

/* How far a long work is, as a percentage on stderr where that is a terminal: after a second, twice a second.
   Zero-initialise. */
struct cli_progress {
    uint64_t begun, shown; /* of clock_monotonic_ms */
    bool visible;
};
void cli_progress_show(struct cli_progress *p, uint64_t done, uint64_t total);
void cli_progress_end(struct cli_progress *p); /* takes it off the screen */

/* Each of the file that has its name. */
extern const struct verb verb_check, verb_completion, verb_config, verb_data, verb_diskperf, verb_doctor, verb_events,
    verb_lodctr, verb_logman, verb_logstat, verb_manifest, verb_mof, verb_plot, verb_relog, verb_report, verb_rules,
    verb_schema, verb_store, verb_task, verb_trace, verb_tracerpt, verb_typeperf, verb_unlodctr, verb_version;
#ifdef _WIN32
extern const struct verb verb_run;
#endif

/* All of them, in the order of their names; NULL ends the list. */
extern const struct verb *const cli_verbs[];

/* "openpla help ...": the list of verbs, the help of one, with --json what each of them takes. `out` is where the list
   goes. Gives an enum cli_exit. */
int help_list(FILE *out);
int help_of(int argc, char **argv);
int help_print(const struct verb *verb, int argc, char **argv);
/* Names what there is no verb for, and the nearest one. Gives CLI_USAGE. */
int help_no_verb(const char *name);
const struct verb *help_find_verb(const char *name); /* in any case; NULL */

/* Reads a file that lists something, one thing a line: counters (-cf), command lines (-config). Adds the lines without
   blanks and quotes around them, but for empty ones and those that begin with ';' or '#'. In the ANSI code page, UTF-8
   or UTF-16. */
HRESULT lines_read(const char *path, struct texts *out);

/* Reads a file that holds a set's definition, as perfmon and logman save templates. The file's XML as UTF-8 without a
 * mark, whichever of Windows' encodings its mark says; from memory_alloc. */
HRESULT template_load(const char *path, char **xml, size_t *size);

/* Ctrl+C, and the other ways to ask a program to end, as something a loop can wait for.
   From now on until interrupt_end, being asked to end does not end the program. May be begun again within; each is to
   be ended. False: it cannot be arranged. */
bool interrupt_begin(void);
/* True: it was asked to end, now or before. False: the time has passed. */
bool interrupt_wait(uint32_t timeout_ms);
/* The same without waiting, for loops and the threads of engines that ask very often: the system is asked ten times a
   second. `context` is unused. */
bool interrupt_asked(void *context);
void interrupt_end(void);

/* Whether the stream is a terminal, so that somebody reads it as it is written. `stream`: stdout or stderr. */
bool screen_is_terminal(FILE *stream);
/* Makes stdout's terminal empty, from its top on. False: stdout is none. */
bool screen_clear(void);

#endif
