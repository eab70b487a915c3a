// SPDX-License-Identifier: Apache-2.0
/**
 * Remote memory on a connected socket: each end registers memory, the other is notified of it, and bytes are copied
 * directly from one application's memory to the other's, in both directions, without involvement of the other.
 *
 * <p>{@link org.verbena.erm.RemoteMemory} is the class to begin with; {@link org.verbena.erm.CopyQueue} copies and
 * reports completions, {@link org.verbena.erm.EventQueue} reports events of the other end. It needs a Verbena channel
 * whose bytes go through rings: over the TCP fallback there is no remote memory, and
 * {@link org.verbena.erm.RemoteMemory#whyNot} returns the reason. It is not coherent shared memory, and has neither
 * atomics nor messages: copied bytes have arrived when the completion has, and not before.
 *
 * <p>docs/erm.md has examples, the protocol, and the trust model.
 */
@org.jspecify.annotations.NullMarked
package org.verbena.erm;
