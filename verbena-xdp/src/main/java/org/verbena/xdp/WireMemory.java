// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.LinuxException;

/**
 * The memory of a queue pair that is opened.
 *
 * @param umem all of it
 * @param region the part of the application; null for a queue pair that only sends
 * @param firstChunk where the queue pair's own part begins
 * @param chunks of that
 */
record WireMemory(Umem umem, @Nullable XdpMemoryRegion region, int firstChunk, int chunks) {
    /** Gives the queue pair's part back. */
    void give() {
        umem.give(firstChunk, chunks);
        if (region == null) {
            try {
                umem.discard();
            } catch (LinuxException e) {
                XdpLog.log(System.Logger.Level.DEBUG, "memory for packets to send is freed later", e);
            }
        }
    }
}
