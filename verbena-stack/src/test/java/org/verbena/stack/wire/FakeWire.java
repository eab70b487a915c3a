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

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Checksum;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.header.TcpHeader;

/** An end of a link without a network: what is sent is kept, and what is to be received is put in. Frames come in parts of a given size. */
public final class FakeWire implements Wire {
    private static final int ETHERNET = 14;
    private static final int LONGS = 4;
    /** Room before a frame, for a tag. */
    private static final int BEFORE = 4;
    private static final int LONG_STRIDE = BEFORE + ETHERNET + 65_535;

    private final int mtu;
    private final int part;
    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final int stride;
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private final ArrayDeque<Integer> freeLong = new ArrayDeque<>();
    private final int frames;
    /** Whether frames come as if the device had looked at their checksums. */
    public boolean checked;
    /** What {@link #mostCut()} answers. */
    public int mostCut;
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
        stride = BEFORE + ETHERNET + mtu;
        memory = Arena.ofAuto().allocate((long) stride * frames + (long) LONGS * LONG_STRIDE);
        bytes = memory.asByteBuffer();
        for (int i = 0; i < frames; i++) {
            free.add(i);
        }
        for (int i = 0; i < LONGS; i++) {
            freeLong.add(frames + i);
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
        return frames - free.size() + LONGS - freeLong.size();
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
        return i == null ? null : new SendFrame(memory, bytes, (long) i * stride + BEFORE, i);
    }

    @Override
    public void send(SendFrame f, int length) {
        int most = (f.headers() > 0 ? LONG_STRIDE : stride) - BEFORE;
        if (length > most || free.contains(f.number()) || freeLong.contains(f.number())
                || f.headers() > 0 != f.number() >= frames) {
            throw new AssertionError("frame " + f.number() + " of " + length + " bytes");
        }
        if (f.headers() > 0) {
            cut(f, length);
            giveBack(f);
            return;
        }
        sent.add(memory.asSlice(f.at() - f.before(), length + f.before()).toArray(
                java.lang.foreign.ValueLayout.JAVA_BYTE));
        giveBack(f);
    }

    @Override
    public int mostCut() {
        return mostCut;
    }

    @Override
    public @Nullable SendFrame acquireLong() {
        Integer i = freeLong.poll();
        return i == null
                ? null
                : new SendFrame(memory, bytes, (long) stride * frames + (long) (i - frames) * LONG_STRIDE + BEFORE, i);
    }

    /** Cuts a frame into those of the MTU, as a card does; the flags FIN and PSH are the last one's, CWR the first one's. */
    private void cut(SendFrame f, int length) {
        int headers = f.headers();
        boolean six = EthernetHeader.type(memory, f.at()) == EthernetHeader.IPV6;
        int ip = six ? Ipv6Header.BYTES : Ipv4Header.BYTES;
        int at = ETHERNET + ip;
        int tcp = headers - at;
        for (int from = headers; from < length; from += f.segment()) {
            int n = Math.min(f.segment(), length - from);
            byte[] b = new byte[headers + n];
            MemorySegment m = MemorySegment.ofArray(b);
            MemorySegment.copy(memory, f.at(), m, 0, headers);
            MemorySegment.copy(memory, f.at() + from, m, headers, n);
            int flags = TcpHeader.flags(m, at);
            flags &= from + n < length ? ~(TcpHeader.FIN | TcpHeader.PSH) : ~0;
            flags &= from > headers ? ~TcpHeader.CWR : ~0;
            TcpHeader.write(m, at, TcpHeader.source(m, at), TcpHeader.destination(m, at), TcpHeader.sequence(m, at)
                    + from - headers, TcpHeader.acknowledgment(m, at), tcp, flags, TcpHeader.window(m, at), 0);
            long sum;
            if (six) {
                Bytes.put16(m, ETHERNET + 4, tcp + n);
                sum = Checksum.sumOf(Bytes.i64(m, ETHERNET + 8), Bytes.i64(m, ETHERNET + 16)) + Checksum.sumOf(Bytes
                        .i64(m, ETHERNET + 24), Bytes.i64(m, ETHERNET + 32));
            } else {
                int source = Ipv4Header.source(m, ETHERNET);
                int destination = Ipv4Header.destination(m, ETHERNET);
                Ipv4Header.write(m, ETHERNET, Ipv4Header.ecn(m, ETHERNET), ip + tcp + n, Ipv4Header.identification(m,
                        ETHERNET) + from, Ipv4Header.DONT_FRAGMENT, 64, Ipv4Header.TCP, source, destination);
                sum = Checksum.sumOf(source) + Checksum.sumOf(destination);
            }
            TcpHeader.finish(m, at, tcp + n, sum);
            sent.add(tagged(f, b));
        }
    }

    /** With what was put before a frame, between its addresses and its type. */
    private byte[] tagged(SendFrame f, byte[] b) {
        byte[] all = new byte[b.length + f.before()];
        int addresses = ETHERNET - 2;
        MemorySegment.copy(memory, f.at() - f.before(), MemorySegment.ofArray(all), 0, addresses + f.before());
        System.arraycopy(b, addresses, all, addresses + f.before(), b.length - addresses);
        return all;
    }

    @Override
    public void giveBack(SendFrame f) {
        if (free.contains(f.number()) || freeLong.contains(f.number())) {
            throw new AssertionError("given back twice: " + f.number());
        }
        if (f.number() >= frames) {
            freeLong.add(f.number());
            return;
        }
        memory.asSlice(f.at() - BEFORE, stride).fill((byte) 0x5a); // nobody may rely on what was there
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
    public void wake() {}

    @Override
    public void capture(@Nullable Capture c) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}

    private final class Received extends ReceivedFrame {
        private final MemorySegment all;

        Received(byte[] f) {
            int parts = Math.max(1, Math.ceilDiv(f.length, part));
            if (checked) {
                setChecked();
            }
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
