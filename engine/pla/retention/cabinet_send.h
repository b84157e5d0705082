/* SPDX-License-Identifier: MIT */
/* SendCabTo: a cabinet goes to a share. MS-PLA 3.2.4.3. */
#ifndef OPENPLA_CABINET_SEND_H
#define OPENPLA_CABINET_SEND_H

#include "engine/pla/retention/folder_step.h"

/* Why this is no SendCabTo: it must be \\server\share, with folders behind or not. Static; NULL: nothing is wrong. */
const char *send_destination_fault(const char *destination);
/* Copies the folder's cabinet there, under a temporary name until it is whole; a copy that was cut off is begun again.
   Where another file has its name, as computers and sets share names of folders, it is COMPUTER_FOLDER.cab, and then
   COMPUTER_FOLDER_2.cab and so on; nothing that is there is replaced. The same one that is there already is success.
   S_FALSE: there is no cabinet. Failures of files name the destination. *own: the failure is of this cabinet or its
   name alone, and says nothing of others that go there. */
HRESULT folder_send(const struct folder_work *w, const char *destination, bool *own);

#endif
