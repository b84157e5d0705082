/* SPDX-License-Identifier: MIT */
/* Which directory this process is of. */
#ifndef OPENPLA_ETW_DIRECTORY_NAME_H
#define OPENPLA_ETW_DIRECTORY_NAME_H

#include "engine/base/text.h"

#define DIRECTORY_OF_HOST "main"
enum { DIRECTORY_NAME_BYTES = 33 };
/* What OPENPLA_ETW in the environment says, else DIRECTORY_OF_HOST. ERROR_INVALID_NAME's HRESULT when that is no name
   of at most 32 letters and digits. */
HRESULT directory_name(char out[DIRECTORY_NAME_BYTES]);

#endif
