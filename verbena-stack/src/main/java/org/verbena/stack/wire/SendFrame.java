// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A buffer for a frame of a wire's MTU.
 *
 * @param memory what it is in
 * @param bytes the same memory, for copies from and to buffers
 * @param at where its frame begins
 * @param number the wire's own
 */
public record SendFrame(MemorySegment memory, ByteBuffer bytes, long at, int number) {}
