/* SPDX-License-Identifier: MIT */
/* openpla.dll itself: where it lies. */
#ifndef OPENPLA_MODULE_H
#define OPENPLA_MODULE_H

#include <windows.h>

/* Full path of openpla.dll; the type library is a resource of it. Valid while the module is loaded. */
const WCHAR *module_path(void);
/* Set by DllMain. */
void module_loaded(HINSTANCE instance);

#endif
