#include <cstdlib>

/*
 * What the inline code of the compiler's headers asks of newer libraries, answered here, so that the prebuilt addon
 * needs none of them. Hidden: no other library of the process sees these.
 */
#pragma GCC visibility push(hidden)

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cert-dcl58-cpp,misc-use-internal-linkage)

/** Whether shared_ptr may count without atomic operations (glibc 2.32): never. */
extern "C" char __libc_single_threaded;
char __libc_single_threaded = 0;

namespace std {
/** Called for an array too large to allocate (libstdc++ 11). The addon knows no exceptions. */
[[noreturn]] void __throw_bad_array_new_length();
void __throw_bad_array_new_length() { abort(); }
}  // namespace std

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cert-dcl58-cpp,misc-use-internal-linkage)

#pragma GCC visibility pop
