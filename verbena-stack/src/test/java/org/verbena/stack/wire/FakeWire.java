// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;

import org.jspecify.annotations.Nullable;

/** An end of a link without a network: what is sent is kept, and what is to be received is put in. Frames come in parts of a given size. */
public final class FakeWire implements Wire {
    private final int mtu;
    private final int part;
    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final int stride;
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private final int frames;
    private final Queue<byte[]> incoming = new ArrayDeque<>();
    /** Frames that were sent, in order, until they are taken. */
    public final List<byte[]> sent = new ArrayList<>();

    /**
     * A wire.
     *
     * @param frames buffers to send
     * @param part bytes of each part of a received frame
     */
    public FakeWire(int mtu, int frames, int part) {
        this.mtu = mtu;
        this.frames = frames;
        this.part = part;
        stride = 14 + mtu;
        memory = Arena.ofAuto().allocate((long) stride * frames);
        bytes = memory.asByteBuffer();
        for (int i = 0; i < frames; i++) {
            free.add(i);
        }
    }

    /** Lets a frame come. */
    public void put(byte[] frame) {
        incoming.add(frame.clone());
    }

    /** Takes what was sent. */
    public List<byte[]> takeSent() {
        List<byte[]> all = new ArrayList<>(sent);
        sent.clear();
        return all;
    }

    /** Buffers that somebody holds. */
    public int held() {
        return frames - free.size();
    }

    @Override
    public int mtu() {
        return mtu;
    }

    @Override
    public @Nullable ReceivedFrame receive() {
        byte[] f = incoming.poll();
        return f == null ? null : new Received(f);
    }

    @Override
    public @Nullable SendFrame acquire() {
        Integer i = free.poll();
        return i == null ? null : new SendFrame(memory, bytes, (long) i * stride, i);
    }

    @Override
    public void send(SendFrame f, int length) {
        if (length > stride || free.contains(f.number())) {
            throw new AssertionError("frame " + f + " of " + length + " bytes");
        }
        sent.add(memory.asSlice(f.at(), length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
        giveBack(f);
    }

    @Override
    public void giveBack(SendFrame f) {
        if (free.contains(f.number())) {
            throw new AssertionError("given back twice: " + f);
        }
        memory.asSlice(f.at(), stride).fill((byte) 0x5a); // nobody may rely on what was there
        free.add(f.number());
    }

    @Override
    public boolean hasFree(int n) {
        return free.size() >= n;
    }

    @Override
    public void requireLink() {}

    @Override
    public boolean arm() {
        return incoming.isEmpty();
    }

    @Override
    public void sleep(long nanos) {}

    @Override
    public void close() {}

    private final class Received extends ReceivedFrame {
        private final MemorySegment all;

        Received(byte[] f) {
            int parts = Math.max(1, Math.ceilDiv(f.length, part));
            int gap = 16; // parts are apart, and what is between is not theirs
            all = Arena.ofAuto().allocate(f.length + (long) parts * gap + 1);
            all.fill((byte) 0xa5);
            for (int i = 0; i < parts; i++) {
                int from = i * part;
                int n = Math.min(part, f.length - from);
                MemorySegment.copy(MemorySegment.ofArray(Arrays.copyOfRange(f, from, from + n)), 0, all, from + (long) i
                        * gap, n);
                if (!add(from + (long) i * gap, n)) {
                    throw new AssertionError("too many parts");
                }
            }
        }

        @Override
        public MemorySegment memory() {
            return all;
        }

        @Override
        public void release() {
            all.fill((byte) 0xdd);
        }
    }
}
