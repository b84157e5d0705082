/* SPDX-License-Identifier: MIT */
/* The host's data sources under Wine. */
#ifndef OPENPLA_ODBC_SOURCES_H
#define OPENPLA_ODBC_SOURCES_H

/* Lets Wine's odbc32, once it is loaded, find the data sources of unixODBC that it does not list with their driver
   (behaviour 23). What cannot be read or written stays as it is: connecting says so. */
void odbc_sources_complete(void);

#endif
