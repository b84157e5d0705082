/* SPDX-License-Identifier: MIT */
/* The main function of a program with several tests. */
#include "tests/test_driver.h"

int main(int argc, char **argv)
{
    return driven_mains[driven_row(argc > 0 ? argv[0] : "")](argc, argv);
}
