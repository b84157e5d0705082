/* SPDX-License-Identifier: MIT */
/* The CLSID of OpenPLA's proxies and stubs. It differs from Windows' CLSID, so it never replaces the proxies of
   Windows' PLA. */
#ifndef OPENPLA_PROXY_CLSID_H
#define OPENPLA_PROXY_CLSID_H

#define OPENPLA_PROXY_CLSID                                                                                            \
    {                                                                                                                  \
        0x8f0a225d, 0x4973, 0x4ec5,                                                                                    \
        {                                                                                                              \
            0x9d, 0x6d, 0x94, 0x76, 0x73, 0x52, 0xe1, 0x29                                                             \
        }                                                                                                              \
    }
#define OPENPLA_PROXY_CLSID_TEXT "{8F0A225D-4973-4EC5-9D6D-94767352E129}"

#endif
