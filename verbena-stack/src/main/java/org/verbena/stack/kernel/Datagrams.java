// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import java.lang.foreign.MemorySegment;

/** Takes datagrams that the kernel has received for ports of the stack. */
public interface Datagrams {
    /**
     * One has come.
     *
     * @param port where
     * @param m memory with its payload
     * @param at where the payload begins
     * @param length its bytes
     * @param high of the sender's address, with {@code low}
     * @param from the sender's port
     */
    void received(int port, MemorySegment m, long at, int length, long high, long low, int from);
}
