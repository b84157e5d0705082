/* SPDX-License-Identifier: MIT */
/* The options and the help of openpla run, which are the same on all systems. In native builds, the verb only prints
   which package contains openpla run. */
#include "cli/cli.h"
#ifdef _WIN32
#include "cli/run.h"
#endif

static int run_run(int argc, char **argv)
{
    static const char list[] = "NAME,...", file[] = "LOG";
    static const struct option own[] = {{"children", OPTION_FLAG, NULL},
                                        {"apis", OPTION_FORM, (void *)(uintptr_t)file},
                                        {"mods", OPTION_FORM, (void *)(uintptr_t)list},
                                        {"inapis", OPTION_FORM, (void *)(uintptr_t)list},
                                        {"exapis", OPTION_FORM, (void *)(uintptr_t)list},
                                        {"ano", OPTION_FLAG, NULL},
                                        {"recursive", OPTION_FLAG, NULL}};
    if (options_report(NULL, own, sizeof own / sizeof *own))
        return CLI_DONE;
#ifdef _WIN32
    return run_program(argc, argv);
#else
    (void)argc;
    (void)argv;
    return cli_needs_server("run");
#endif
}

const struct verb verb_run = {
    "run",
    "starts a program under Wine so that sessions receive its events",
    "openpla run [--children] [--] PROGRAM [ARGUMENTS]\n"
    "openpla run -apis LOG [-mods NAME,...] [-inapis NAME,...] [-exapis NAME,...] [-ano] [-recursive] [--] PROGRAM "
    "...\n"
    "\n"
    "Starts a program that was not written for OpenPLA, and waits until it exits. Wine's event functions in advapi32 "
    "and\n"
    "ntdll do nothing. In PROGRAM, OpenPLA replaces them so that PROGRAM's event providers can be enabled and PROGRAM "
    "can\n"
    "start sessions and read traces. Arguments, streams, current folder and environment are not changed.\n"
    "\n"
    "  --children  also inject into the processes that the program starts, directly or indirectly\n"
    "  --          ends the options: the next argument is the program\n"
    "  -apis LOG   do not replace the event functions; log PROGRAM's calls to functions of kernel32, advapi32, gdi32\n"
    "              and user32 in the new .etl file LOG\n"
    "  -mods       log calls to functions of these modules instead of those four\n"
    "  -inapis     also log calls to these functions: module!function\n"
    "  -exapis     do not log calls to these functions\n"
    "  -ano        log only function names and callers, without arguments and results\n"
    "  -recursive  also log calls between PROGRAM's DLLs\n"
    "\n"
    "PROGRAM must be 64-bit and must not use .NET; with -apis it can also be 32-bit. Child processes of other kinds\n"
    "run unchanged. On Windows this verb is not needed and fails.\n"
    "\n"
    "The exit code is PROGRAM's. If PROGRAM cannot be started, it is 1, or 2 for a wrong command line, with a "
    "message.\n",
    run_run,
};
