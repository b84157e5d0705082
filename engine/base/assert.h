/* SPDX-License-Identifier: MIT */
/* assert() for invariants of the code; data from a file, a script or another process are checked and rejected with an
   error instead.

   The build option OPENPLA_ASSERTS decides whether assertions are on: on in builds that are tested, off in programs
   that are installed. A failed assertion writes a line like those of the trace switch (debug_trace.h) and terminates
   the process immediately, natively with a core dump. Windows' own assert() shows a message box in programs without a
   console, so a server or a script would wait for a click that nobody can make. */
#ifndef OPENPLA_ASSERT_H
#define OPENPLA_ASSERT_H

#include <openpla_settings.h>

#if OPENPLA_ASSERTS
#define assert(claim) ((claim) ? (void)0 : assert_failed(#claim, __FILE__, __LINE__))
#else
#define assert(claim) ((void)sizeof(!(claim))) /* compiled, not evaluated */
#endif

#define ASSERT_EXIT_CODE 0xC0000420u /* STATUS_ASSERTION_FAILURE; natively the process ends by SIGABRT */
/* Only for assert; exists only in builds with assertions. installer/prefix.sh recognizes such builds by its message. */
_Noreturn void assert_failed(const char *claim, const char *file, int line);

#endif
