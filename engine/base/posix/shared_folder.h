/* SPDX-License-Identifier: MIT */
/* The folder below /dev/shm in which all that processes of this account share has its names: mode 0700 and this
   account's, so nobody else can put a file or a link there. "openpla-UID", or where another account has taken that
   name, "openpla-UID-KEY" with a random key; of several that are as they should be, the first by name is it. */
#ifndef OPENPLA_SHARED_FOLDER_H
#define OPENPLA_SHARED_FOLDER_H

#define SHARED_FOLDER_ROOT "/dev/shm"

/* Opened, and made if need be. 0 or errno. */
int shared_folder_open(int *out);

#endif
