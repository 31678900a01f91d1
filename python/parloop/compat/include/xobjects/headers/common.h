/* Kernels find the macros of this header in every source already; programs that include it go on to work. */
#ifndef PARLOOP_XOBJECTS_COMMON_H
#define PARLOOP_XOBJECTS_COMMON_H
#ifdef PARLOOP_CPU
#include <unistd.h>
#endif
#endif
