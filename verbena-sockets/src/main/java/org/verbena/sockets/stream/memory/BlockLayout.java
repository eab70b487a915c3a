// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The control block of one end of a connection: 256 bytes of its own memory. The first two lines the peer writes, by
 * RDMA WRITE of 8 bytes each, and this end reads them (the bell it changes, too). The third this end writes, and the peer reads it when TCP has
 * ended, if the peer has it mapped: what stands there outlives the process.
 *
 * <pre>
 *         0         8         16        24        32        40       48
 *    0  │ produced │ lane     │ end      │ spaceArm │ wanted   │ lap    │ bell   │   words of the peer as the one that
 *        sends 64  │ consumed │ dataArm  │ grantAt  │ grant    │ granted  │ closed │ urgent │ nonce   as the one
 *        that receives
 *  128  │ read     │ left     │                                                                    what this end has
 *        come to
 * </pre>
 *
 * Each word is read once and checked before it is used. docs/stream.md explains them.
 */
public final class BlockLayout {
    public static final int BYTES = 256;

    /** Position one past the last byte that is in the ring. */
    public static final int PRODUCED = 0;
    /** {@code position << 4 | generation}: where the ring of that generation begins; 1 is the first, after TCP. */
    public static final int LANE = 8;
    /** {@code position << 2 | kind}, see {@link #END_ORDERLY}. */
    public static final int END = 16;
    /** {@code sequence << 16 | queue}: signal space. */
    public static final int SPACE_ARM = 24;
    /** Generation of the ring that the sender would like to have because this one is too small. */
    public static final int WANTED = 32;

    /** Position of a byte at offset 0 of the ring; written before {@link #PRODUCED}, and only to peers with {@code HandshakeMessage.LAPS}. */
    public static final int LAP = 40;

    /**
     * {@code rings << 16} in the lower half: a thread of this end sleeps at the word, see {@link Bell}; the peer writes it only as an
     * answer to {@link #BELL_QUEUE}.
     */
    public static final int BELL = 48;

    /** Position up to which the peer has read. */
    public static final int CONSUMED = 64;
    /** {@code sequence << 16 | queue}: signal data. */
    public static final int DATA_ARM = 72;
    /** Address of the next ring. */
    public static final int GRANT_ADDRESS = 80;
    /** {@code size << 32 | rkey} of the next ring. */
    public static final int GRANT_SIZE_KEY = 88;
    /** Generation of the next ring; written last. */
    public static final int GRANTED = 96;
    /** Not 0: the peer reads no more, see {@link #END_ORDERLY}. */
    public static final int CLOSED = 104;
    /** 1: the peer wants urgent data in line; written before its first {@link #DATA_ARM}. */
    public static final int URGENT = 112;

    /**
     * Not 0: the nonce of the peer for a module above, see {@code Rendezvous}; only to peers with {@code
     * HandshakeMessage.NONCES}.
     */
    public static final int NONCE = 120;

    /** Position up to which this end's program has read, always; {@link #CONSUMED} is sent less often. */
    public static final int READ = 128;
    /** What this end has sent as {@link #CLOSED}, before it closes TCP: there even if the session has failed. */
    public static final int LEFT = 136;

    /** The stream ends at the position; the reader gets all of it, then the end. */
    public static final int END_ORDERLY = 1;
    /** The stream breaks off: the reader gets what is in the ring, then {@code Connection reset}. */
    public static final int END_ABORT = 2;

    public static final int GENERATION_BITS = 4;
    public static final int GENERATION_MASK = (1 << GENERATION_BITS) - 1;
    public static final int END_BITS = 2;
    public static final int QUEUE_BITS = 16;
    /** The queue of an arm word that asks for the bell; only to peers with {@code HandshakeMessage.BELLS}. */
    public static final int BELL_QUEUE = (1 << QUEUE_BITS) - 1;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    /** How often the peer has rung stands above the changes that this end has made since. */
    private static final int RING_BITS = 16;
    private static final int CHANGES_MASK = (1 << RING_BITS) - 1;

    private BlockLayout() {}

    public static long getAcquire(MemorySegment block, long offset) {
        return (long) LONG.getAcquire(block, offset);
    }

    public static void putRelease(MemorySegment block, long offset, long value) {
        LONG.setRelease(block, offset, value);
    }

    /** The word of a bell of this end's, as a thread compares it that is about to sleep. */
    public static int bell(MemorySegment memory, long offset) {
        return (int) INT.getVolatile(memory, offset);
    }

    /** Changes a bell of this end's, to what the peer has not written, nor is about to write. */
    public static void changeBell(MemorySegment memory, long offset) {
        int before;
        int after;
        do {
            before = bell(memory, offset);
            after = before & ~CHANGES_MASK | before + 1 & CHANGES_MASK;
        } while (!INT.compareAndSet(memory, offset, before, after));
    }

    /** What the peer writes to a bell when it rings that often. */
    public static long bellWord(long rings) {
        return rings << RING_BITS & 0xffff_ffffL;
    }

    /** How often the peer has rung, modulo 65,536. */
    public static int rings(int bell) {
        return bell >>> RING_BITS;
    }

    public static void clear(MemorySegment block) {
        block.fill((byte) 0);
        VarHandle.releaseFence();
    }

    public static long lane(long position, int generation) {
        return position << GENERATION_BITS | generation & GENERATION_MASK;
    }

    /** Position where the ring of a lane begins. */
    public static long start(long lane) {
        return lane >>> GENERATION_BITS;
    }

    /** The lower bits of a lane's generation. */
    public static int generation(long lane) {
        return (int) (lane & GENERATION_MASK);
    }

    public static long arm(long sequence, int queue) {
        return sequence << QUEUE_BITS | queue;
    }

    public static int queue(long arm) {
        return (int) (arm & (1 << QUEUE_BITS) - 1);
    }
}
