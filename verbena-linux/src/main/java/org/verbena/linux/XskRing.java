// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

import org.verbena.linux.spi.RawMemory;

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
 * <p>This process is the producer of the FILL and TX rings: {@link #reserve}, any number of writes, one
 * {@link #publish}. It is the consumer of the RX and COMPLETION rings: {@link #available}, any number of reads, one
 * {@link #release}. The kernel's index is read again only when the ring was seen full or empty, and the own one is
 * written once a batch. No method allocates, throws or calls the kernel.
 *
 * <p>One thread at a time. Every access is within the mapping, whatever the arguments are: an entry's position is masked.
 * The kernel checks the addresses in the entries against the memory of the socket ({@link Xsk.Statistics} counts wrong
 * ones). After {@link Xsk#close()} the ring reads as empty, and what is written has no effect.
 */
@SuppressWarnings("ReachabilityFenceUsage") // a call that throws touches nothing any more
public final class XskRing {
    static final int DESCRIPTOR_BYTES = 16;
    static final int ADDRESS_BYTES = 8;
    static final int XDP_RING_NEED_WAKEUP = 1;
    /** Length and options, which are written and read as one little-endian word. */
    private static final int DESCRIPTOR_LENGTH = 8;
    private static final int OFFSETS_CONSUMER = 8;
    private static final int OFFSETS_DESC = 16;
    private static final int OFFSETS_FLAGS = 24;

    private final Mapping mapping;
    private final long producerAt;
    private final long consumerAt;
    private final long flagsAt;
    private final long entriesAt;
    private final int entryShift;
    private final int entries;
    private final int mask;
    /** The own index; the entries before it are the other side's, or are done with. */
    private int own;
    /** The kernel's index as it was read last. */
    private int seen;

    /** A ring whose offsets are in {@code offsets} from {@code at}: producer, consumer, entries, flags. */
    XskRing(Fd socket, long fileOffset, MemorySegment offsets, long at, int entries, int entryBytes)
            throws LinuxException {
        this.entries = entries;
        mask = entries - 1;
        entryShift = Integer.numberOfTrailingZeros(entryBytes);
        long first = offsets.get(ValueLayout.JAVA_LONG, at + OFFSETS_DESC);
        mapping = Mapping.map(socket, fileOffset, first + (long) entries * entryBytes, true);
        long base = mapping.address();
        producerAt = base + within(offsets.get(ValueLayout.JAVA_LONG, at), first);
        consumerAt = base + within(offsets.get(ValueLayout.JAVA_LONG, at + OFFSETS_CONSUMER), first);
        flagsAt = base + within(offsets.get(ValueLayout.JAVA_LONG, at + OFFSETS_FLAGS), first);
        entriesAt = base + first;
    }

    /** The offset of a word that lies before the entries. */
    private static long within(long offset, long first) throws LinuxException {
        if (offset < 0 || offset > first - Integer.BYTES || (offset & 3) != 0) {
            throw new LinuxException("getsockopt(XDP_MMAP_OFFSETS)", Errno.EBADMSG);
        }
        return offset;
    }

    /** The number of entries. */
    public int entries() {
        return entries;
    }

    private long entryAt(int i) {
        return entriesAt + ((long) (own + i & mask) << entryShift);
    }

    // ---- as producer

    /**
     * Whether at least so many entries are free.
     *
     * @param n 0 to {@link #entries()}
     */
    public boolean reserve(int n) {
        if (entries - (own - seen) >= n) {
            return true;
        }
        seen = RawMemory.getIntAcquire(consumerAt);
        Reference.reachabilityFence(this);
        return entries - (own - seen) >= n;
    }

    /**
     * Writes an entry of the FILL ring that was reserved.
     *
     * @param i counts from 0 after the last {@link #publish}
     * @param address offset in the UMEM
     */
    public void putAddress(int i, long address) {
        RawMemory.putLong(entryAt(i), address);
        Reference.reachabilityFence(this);
    }

    /**
     * Writes an entry of the TX ring that was reserved.
     *
     * @param i counts from 0 after the last {@link #publish}
     * @param address offset in the UMEM
     * @param length bytes
     * @param options {@link Xsk#XDP_PKT_CONTD}, {@link Xsk#XDP_TX_METADATA} or 0
     */
    public void putDescriptor(int i, long address, int length, int options) {
        if (entryShift != 4) {
            return; // a ring of addresses
        }
        long at = entryAt(i);
        RawMemory.putLong(at, address);
        RawMemory.putLong(at + DESCRIPTOR_LENGTH, length & 0xffff_ffffL | (long) options << Integer.SIZE);
        Reference.reachabilityFence(this);
    }

    /** Passes the next {@code n} entries to the kernel. */
    public void publish(int n) {
        own += n;
        RawMemory.putIntRelease(producerAt, own);
        Reference.reachabilityFence(this);
    }

    /** Entries that the kernel has not taken yet; read anew. */
    public int pending() {
        seen = RawMemory.getIntAcquire(consumerAt);
        Reference.reachabilityFence(this);
        return own - seen;
    }

    /**
     * Whether the kernel wants to be called before it goes on with this FILL or TX ring. Always false if the socket was
     * bound without {@link Xsk#XDP_USE_NEED_WAKEUP}.
     */
    public boolean needsWakeUp() {
        int flags = RawMemory.getIntOpaque(flagsAt);
        Reference.reachabilityFence(this);
        return (flags & XDP_RING_NEED_WAKEUP) != 0;
    }

    // ---- as consumer

    /**
     * The number of entries that can be read; asks the kernel's index only if none was known.
     *
     * @return 0 to {@link #entries()}
     */
    public int available() {
        int n = seen - own;
        if (n == 0) {
            n = availableNow();
        }
        return n;
    }

    /** Whether an entry can be read; for any thread, while another one uses the ring: the answer is a hint then. */
    public boolean hasEntries() {
        int producer = RawMemory.getIntAcquire(producerAt);
        Reference.reachabilityFence(this);
        return producer != own;
    }

    /** The number of entries that can be read, by the kernel's index as it is now. */
    public int availableNow() {
        int producer = RawMemory.getIntAcquire(producerAt);
        Reference.reachabilityFence(this);
        int n = producer - own;
        if (n < 0 || n > entries) {
            return 0; // after close
        }
        seen = producer;
        return n;
    }

    /**
     * The address of an entry.
     *
     * @param i less than {@link #available()}
     * @return offset in the UMEM, as the kernel wrote it
     */
    public long address(int i) {
        long address = RawMemory.getLong(entryAt(i));
        Reference.reachabilityFence(this);
        return address;
    }

    /**
     * The length and the options of an RX entry in one word.
     *
     * @param i less than {@link #available()}
     * @return the length in the lower half, the options in the upper: see {@link Xsk#XDP_PKT_CONTD}
     */
    public long lengthAndOptions(int i) {
        if (entryShift != 4) {
            return 0; // a ring of addresses
        }
        long word = RawMemory.getLong(entryAt(i) + DESCRIPTOR_LENGTH);
        Reference.reachabilityFence(this);
        return word;
    }

    /** Passes the first {@code n} entries back to the kernel. */
    public void release(int n) {
        own += n;
        RawMemory.putIntRelease(consumerAt, own);
        Reference.reachabilityFence(this);
    }

    /** Unmaps the ring, which would keep the socket open. Reads find nothing afterwards. */
    void close() throws LinuxException {
        mapping.discard();
        own = 0;
        seen = 0;
    }
}
