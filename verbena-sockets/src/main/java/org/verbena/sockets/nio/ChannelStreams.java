// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.function.IntSupplier;

import org.verbena.sockets.stream.SocketEvents;

/** The streams of a socket. Several threads may use one; reads are one after the other, and so are writes. */
final class ChannelStreams {
    private ChannelStreams() {}

    /** Reads with the adaptor's time-out. */
    static final class In extends InputStream {
        private final StreamSocketChannel channel;
        private final IntSupplier timeoutMillis;

        In(StreamSocketChannel channel, IntSupplier timeoutMillis) {
            this.channel = channel;
            this.timeoutMillis = timeoutMillis;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) > 0 ? one[0] & 0xff : -1;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, into.length);
            if (length == 0) {
                return 0;
            }
            int timeout = timeoutMillis.getAsInt();
            if (!SocketEvents.ofReads()) {
                return channel.input().read(into, offset, length, timeout);
            }
            SocketAddress remote = channel.remoteOrNull();
            long start = SocketEvents.readBegins();
            int n = channel.input().read(into, offset, length, timeout);
            SocketEvents.read(start, n, remote, timeout);
            return n;
        }

        @Override
        public int available() throws IOException {
            return channel.available();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Writes whole arrays, and nothing of another thread's in between. */
    static final class Out extends OutputStream {
        private final StreamSocketChannel channel;

        Out(StreamSocketChannel channel) {
            this.channel = channel;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, from.length);
            if (length == 0) {
                return;
            }
            if (!SocketEvents.ofWrites()) {
                channel.output().writeFully(from, offset, length);
                return;
            }
            SocketAddress remote = channel.remoteOrNull();
            long start = SocketEvents.writeBegins();
            channel.output().writeFully(from, offset, length);
            SocketEvents.wrote(start, length, remote);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
