/* SPDX-License-Identifier: MIT */
/* Converts the VARIANTs of WMI to strings. */
#ifndef OPENPLA_MANAGEMENT_VALUE_H
#define OPENPLA_MANAGEMENT_VALUE_H

#include "engine/base/windows_services.h"

#include <windows.h>
#include <oaidl.h>

/* Fills type, array, null and texts. A type that WMI does not have is DISP_E_BADVARTYPE, with its number. */
HRESULT management_value_read(const VARIANT *v, LONG cim_type, struct management_value *out);

#endif
