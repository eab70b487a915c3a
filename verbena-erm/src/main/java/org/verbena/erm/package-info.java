// SPDX-License-Identifier: Apache-2.0
/**
 * Remote memory on a connected socket: each end registers memory, the other learns of it, and bytes are copied straight from
 * one application's memory to the other's, both ways, without the other's doing anything.
 *
 * <p>{@link org.verbena.erm.RemoteMemory} is where to begin; {@link org.verbena.erm.CopyQueue} copies and tells what is done,
 * {@link org.verbena.erm.EventQueue} tells what the other end does. It needs a channel of Verbena's whose bytes go through
 * rings: where TCP carries them there is no remote memory, and a sentence says why. It is no memory that two processes share
 * coherently, no atomics, no messages: what is copied is there when the completion is, and not before.
 *
 * <p>docs/erm.md has examples, the protocol, and what is promised against whom.
 */
@org.jspecify.annotations.NullMarked
package org.verbena.erm;
