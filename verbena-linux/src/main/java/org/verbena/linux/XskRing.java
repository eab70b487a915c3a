// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * One of the four rings of an AF_XDP socket, which this process shares with the kernel. Each side owns one of two
 * indices, which run freely through 32 bits; the lowest bits of an index are its entry's position.
 *
 * <pre>
 * at the kernel's offsets (struct xdp_ring_offset):
 *   producer  u32, of the side that adds       consumer  u32, of the side that removes
 *   flags     u32, the kernel's                entries   u64 address, or xdp_desc {u64 address; u32 length, options}
 * </pre>
 *
 * <p>One thread at a time. The kernel's index is read once a call; every access is within the mapping.
 */
final class XskRing {
    static final int DESCRIPTOR_BYTES = 16;
    static final int ADDRESS_BYTES = 8;
    private static final int DESCRIPTOR_LENGTH = 8;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final Mapping mapping;
    private final MemorySegment memory;
    private final long producerAt;
    private final long consumerAt;
    private final long entriesAt;
    private final int entryBytes;
    private final int entries;
    /** Our own index; written only here. */
    private int own;

    /** A ring whose offsets are in {@code offsets} from {@code at}: producer, consumer, entries, flags. */
    XskRing(Fd socket, long fileOffset, MemorySegment offsets, long at, int entries, int entryBytes)
            throws LinuxException {
        producerAt = offsets.get(ValueLayout.JAVA_LONG, at);
        consumerAt = offsets.get(ValueLayout.JAVA_LONG, at + 8);
        entriesAt = offsets.get(ValueLayout.JAVA_LONG, at + 16);
        this.entries = entries;
        this.entryBytes = entryBytes;
        mapping = Mapping.map(socket, fileOffset, entriesAt + (long) entries * entryBytes, true);
        memory = mapping.segment();
    }

    private long entryAt(int index) {
        return entriesAt + (long) (index & (entries - 1)) * entryBytes;
    }

    /** As producer: adds an entry, unless the ring is full. */
    boolean offer(long address, int length) {
        if (own - (int) INT.getAcquire(memory, consumerAt) >= entries) {
            return false;
        }
        long at = entryAt(own);
        memory.set(ValueLayout.JAVA_LONG, at, address);
        if (entryBytes == DESCRIPTOR_BYTES) {
            memory.set(ValueLayout.JAVA_LONG, at + DESCRIPTOR_LENGTH, length); // and options 0
        }
        own++;
        INT.setRelease(memory, producerAt, own);
        return true;
    }

    /** As consumer: whether there is an entry, which {@link #address} and {@link #length} then read. */
    boolean isReady() {
        return (int) INT.getAcquire(memory, producerAt) != own;
    }

    long address() {
        return memory.get(ValueLayout.JAVA_LONG, entryAt(own));
    }

    int length() {
        return memory.get(ValueLayout.JAVA_INT, entryAt(own) + DESCRIPTOR_LENGTH);
    }

    /** As consumer: releases the entry. */
    void release() {
        own++;
        INT.setRelease(memory, consumerAt, own);
    }

    /** Unmaps the ring, which would keep the socket open. Reads find nothing afterwards. */
    void close() throws LinuxException {
        mapping.discard();
        own = 0;
    }
}
