// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.FutureTask;

import org.verbena.verbs.SendFlags;

/** A TCP connection of the kernel to an end that knows just enough of TCP to have it send, without losses. */
final class TcpPeer implements AutoCloseable {
    private static final int PORT = 5001;
    private static final int SYN = 2;
    private static final int ACK = 16;

    private final RawEnd end;
    private final byte[] to;
    private final byte[] from;
    private final SocketChannel channel;
    private int port;
    private int first;
    private int expected;
    private int longest;
    private int flags;
    private FutureTask<Integer> sending = new FutureTask<>(() -> 0);

    TcpPeer(RawLink link, RawEnd end) throws Exception {
        this(end, link.mac("one"), link.mac("other"));
        link.redirect(link.other, end.qp);
    }

    /** A connection to an end that receives it already. */
    TcpPeer(RawEnd end, byte[] to, byte[] from) throws Exception {
        this.end = end;
        this.to = to;
        this.from = from;
        channel = SocketChannel.open();
        channel.bind(new InetSocketAddress(RawLink.KERNEL, 0));
    }

    int longest() {
        return longest;
    }

    /** Of the longest frame. */
    int flags() {
        return flags;
    }

    private void answer(int tcpFlags, int sequence) {
        byte[] frame = Frames.tcp(to, from, PORT, port, sequence, expected, tcpFlags);
        assertThat(end.qp.sendQueue().start().send(1, SendFlags.NONE).inline(MemorySegment.ofArray(frame), 0,
                frame.length).complete()).isZero();
    }

    /** The next segment: its data's length, or -1 if it is none of the connection. */
    private int take() {
        RawEnd.Frame f = end.receive();
        ByteBuffer b = ByteBuffer.wrap(f.bytes());
        if (b.getShort(12) != 0x0800 || b.get(23) != 6) {
            return -1;
        }
        port = Short.toUnsignedInt(b.getShort(34));
        int total = Short.toUnsignedInt(b.getShort(16));
        assertThat(14 + total).isLessThanOrEqualTo(f.bytes().length);
        int header = (b.get(46) & 0xf0) >> 2;
        int length = total - 20 - header;
        int sequence = b.getInt(38);
        if ((b.get(47) & SYN) != 0) {
            expected = sequence + 1;
            return 0;
        }
        if (length > 0 && sequence == expected) {
            for (int i = 34 + header; i < 14 + total; i += 509) {
                assertThat(b.get(i)).as("byte %d", i).isEqualTo(content(sequence - first + i - 34 - header));
            }
            expected += length;
            if (f.bytes().length > longest) {
                longest = f.bytes().length;
                flags = f.flags();
            }
        }
        return length;
    }

    private static byte content(int i) {
        return (byte) (i * 31 >> 5);
    }

    void connect() throws Exception {
        FutureTask<Boolean> connecting = new FutureTask<>(() -> channel.connect(new InetSocketAddress(RawLink.RAW,
                PORT)));
        Thread.ofPlatform().start(connecting);
        while (take() != 0) {
            // not the SYN
        }
        first = expected;
        answer(SYN | ACK, 1000);
        assertThat(connecting.get()).isTrue();
    }

    /** Has the kernel send so many bytes. */
    void send(int bytes) {
        sending = new FutureTask<>(() -> {
            ByteBuffer data = ByteBuffer.allocateDirect(bytes);
            for (int i = 0; i < bytes; i++) {
                data.put(i, content(i));
            }
            int n = 0;
            while (data.hasRemaining()) {
                n += channel.write(data);
            }
            return n;
        });
        Thread.ofPlatform().start(sending);
    }

    /** Receives them all, and acknowledges each segment. */
    void receive(long bytes) throws Exception {
        while (Integer.toUnsignedLong(expected - first) < bytes) {
            if (take() > 0) {
                answer(ACK, 1001);
            }
        }
        assertThat(sending.get()).isEqualTo((int) bytes);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
