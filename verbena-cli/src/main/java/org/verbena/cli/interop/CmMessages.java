// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.verbena.cli.support.PeerException;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.VerbsException;

/** The memory for the messages of one end: one that is sent repeatedly, and a slot for each that is received. */
final class CmMessages implements AutoCloseable {
    private final MemoryRegion region;
    private final int count;
    private final int size;
    private final int header;

    /** @param header bytes before each message that is received */
    CmMessages(ProtectionDomain pd, int count, int size, int header) throws VerbsException {
        this.count = count;
        this.size = size;
        this.header = header;
        region = pd.allocate(size + (long) count * (header + size), AccessFlags.LOCAL_WRITE);
        for (int i = 0; i < size; i++) {
            region.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >>> 8) * 17 + 1));
        }
    }

    MemoryRegion region() {
        return region;
    }

    /** The message to send, at the beginning of the region. */
    MemorySegment sent() {
        return region.segment().asSlice(0, size);
    }

    /** The received message, with the header. */
    MemorySegment place(int message) {
        return region.segment().asSlice(at(message), header + (long) size);
    }

    /** A message that arrived. */
    MemorySegment received(int message) {
        return place(message).asSlice(header);
    }

    private long at(int message) {
        return size + (long) message * (header + size);
    }

    /** Posts a receive for each; its work request id is the slot of the message. */
    void postReceives(QueuePair qp) throws PeerException {
        for (int i = 0; i < count; i++) {
            int error = qp.receiveQueue().post(i, region, at(i), header + (long) size);
            if (error != 0) {
                throw new PeerException("a receive cannot be posted: error " + error);
            }
        }
    }

    /** Compares a part of a received message with its expected contents. */
    static void compare(int message, MemorySegment arrived, MemorySegment expected) throws IOException {
        long at = arrived.mismatch(expected);
        if (at >= 0) {
            throw new PeerException("message " + message + " came with another byte " + at + ": "
                    + (arrived.get(ValueLayout.JAVA_BYTE, at) & 0xff) + " instead of "
                    + (expected.get(ValueLayout.JAVA_BYTE, at) & 0xff));
        }
    }

    @Override
    public void close() throws VerbsException {
        region.close();
    }
}
