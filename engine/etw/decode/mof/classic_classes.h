/* SPDX-License-Identifier: MIT */
/* The MOF of the classic classes of Windows' kernel and of the trace itself (engine/etw/decode/mof/classic), as one
   text. Made by cmake/ClassicClasses.cmake. */
#ifndef OPENPLA_CLASSIC_CLASSES_H
#define OPENPLA_CLASSIC_CLASSES_H

#include <stddef.h>

extern const char classic_classes[];
extern const size_t classic_classes_size; /* bytes, without the NUL */

#endif
