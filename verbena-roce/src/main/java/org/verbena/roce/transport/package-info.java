// SPDX-License-Identifier: Apache-2.0
/**
 * The InfiniBand transport: packets, requester, responder, timers (IBTA volume 1, chapter 9; annexes A14 and A17).
 *
 * <p>Pure state machines. There is no thread, no clock and no socket here: packets and time go through
 * {@link org.verbena.roce.transport.Wire}, memory is accessed through {@link org.verbena.roce.transport.Memory},
 * results are reported to {@link org.verbena.roce.transport.QueuePairOwner}. Everything of a context runs under one
 * lock, which the caller of {@link org.verbena.roce.transport.Transport} holds; nothing here is safe without it,
 * nothing here takes it.
 *
 * <p>Data from a peer are not trusted: each field is read once and checked before use. The handling of a packet
 * allocates nothing.
 */
package org.verbena.roce.transport;
