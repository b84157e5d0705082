/* SPDX-License-Identifier: MIT */
/* Converts the VARIANTs of WMI to strings. */
#ifndef OPENPLA_MANAGEMENT_VALUE_H
#define OPENPLA_MANAGEMENT_VALUE_H

#include "engine/base/windows_services.h"

#include <windows.h>
#include <oaidl.h>

/* Fills type, array, null and texts. For a type that WMI does not have, fails with DISP_E_BADVARTYPE and a text that
   contains the type's number. */
HRESULT management_value_read(const VARIANT *v, LONG cim_type, struct management_value *out);

#endif
