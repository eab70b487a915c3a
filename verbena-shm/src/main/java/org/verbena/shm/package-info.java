// SPDX-License-Identifier: Apache-2.0
/**
 * The provider {@code shm0}: queue pairs between the processes, and the threads, of one user on one host.
 *
 * <p>The initiator's thread is the adapter. It finds the peer's posted receive in shared memory, copies once and commits
 * a completion into a lane that only it writes and only the peer's completion queue reads; writes, reads and atomics
 * access the peer's memory directly. The receiver may sleep, or be in a garbage collection, meanwhile.
 *
 * <p>Writers: each context owns an {@link org.verbena.shm.layout.Adapter} (directory of queue pairs, receive rings,
 * keys), each session between two contexts a lane arena a side ({@link org.verbena.shm.layout.LaneLayout}). Both are memory files that the
 * other side can only map for reading, so no peer can change our control words. {@code docs/shm.md} draws the layout.
 *
 * <p>This package has the objects that applications open, and their queues. From below: {@link org.verbena.shm.QueuePairBase}, a queue pair as its
 * queues know it; the queues; completion queues, queue pairs and shared receive queues; domains and regions;
 * {@link org.verbena.shm.ShmContext}. What objects use of their context is in {@link org.verbena.shm.ContextInternals}: none of them
 * knows {@code ShmContext} itself, but those that connect contexts.
 *
 * <p>It does not provide protection against other processes of the same user, which form one trust domain. A hostile peer
 * can ruin its own queue pairs and the memory it was given, not crash this JVM nor disturb other peers.
 */
package org.verbena.shm;
