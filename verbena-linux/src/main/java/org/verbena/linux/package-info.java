// SPDX-License-Identifier: Apache-2.0
/**
 * System calls of Linux, one class a subject: memory files, mappings, events, sockets, processes, networks, programs in
 * the kernel.
 *
 * <p>Thin, checked bindings. Every argument is validated before native code sees it: bounds, alignment, heap segments,
 * closed arenas, negative numbers, too long names. No argument can crash the JVM. Calls of the control path throw
 * {@link org.verbena.linux.LinuxException} with call, errno and text; calls of the data path return 0 or an errno and
 * allocate nothing (except a small buffer at a thread's first call).
 *
 * <p>Neither portable, nor an abstraction over the kernel. Constants have the kernel's values and names.
 *
 * <p>A call that blocks (epoll, poll, futex, a blocking socket) pins the carrier of a virtual thread for as long as it
 * blocks: wait on platform threads, or with a time-out of zero.
 */
package org.verbena.linux;
