#ifndef WORKSPACE_AUTHORITY_OLD_LIBRARIES_H_
#define WORKSPACE_AUTHORITY_OLD_LIBRARIES_H_

/**
 * For sources that use threads. A linker binds a symbol to its newest version, although nothing here needs what changed
 * in it (glibc 2.34 only moved the pthread functions to another library), and the prebuilt addon would load on no older
 * system. These are the versions that every system has. Other machines than x86-64 with glibc build the addon
 * themselves.
 */
#if defined(__x86_64__) && defined(__linux__)
#include <features.h>
#ifdef __GLIBC__
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_join, pthread_join@GLIBC_2.2.5");
__asm__(".symver pthread_sigmask, pthread_sigmask@GLIBC_2.2.5");
__asm__(".symver pthread_attr_setstacksize, pthread_attr_setstacksize@GLIBC_2.2.5");
__asm__(
    ".symver _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE, "
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
#endif
#endif

#endif  // WORKSPACE_AUTHORITY_OLD_LIBRARIES_H_
