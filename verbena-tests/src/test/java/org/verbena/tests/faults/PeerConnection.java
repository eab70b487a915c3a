// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** A connection of {@link SocketPeer}: a channel, or a classic socket. */
interface PeerConnection extends AutoCloseable {
    /** The next bytes; -1 at the end. */
    int read(byte[] into) throws IOException;

    void write(byte[] from, int length) throws IOException;

    /** Its transport from the option; {@code none} without Verbena. */
    String transport() throws IOException;

    /** Closing it will not be orderly. */
    void reset() throws IOException;

    /**
     * Waits until the peer is gone, a classic socket in a read and a channel in a selector; returns what it reads then.
     */
    String awaitEnd();

    @Override
    void close() throws IOException;

    static PeerConnection connect(String kind, SocketAddress to) throws IOException {
        if (kind.equals("nio")) {
            return of(SocketChannel.open(to));
        }
        Socket s = new Socket();
        try {
            s.connect(to);
        } catch (IOException e) {
            s.close();
            throw e;
        }
        return of(s);
    }

    static PeerConnection of(SocketChannel c) {
        return new PeerConnection() {
            @Override
            public int read(byte[] into) throws IOException {
                return c.read(ByteBuffer.wrap(into));
            }

            @Override
            public void write(byte[] from, int length) throws IOException {
                ByteBuffer b = ByteBuffer.wrap(from, 0, length);
                while (b.hasRemaining()) {
                    c.write(b);
                }
            }

            @Override
            public String transport() throws IOException {
                for (SocketOption<?> o : c.supportedOptions()) {
                    if (o.name().equals("VERBENA_TRANSPORT")) {
                        return (String) c.getOption(o);
                    }
                }
                return "none";
            }

            @Override
            public String awaitEnd() {
                try (Selector selector = Selector.open()) {
                    c.configureBlocking(false);
                    c.register(selector, SelectionKey.OP_READ);
                    int n = 0;
                    while (n == 0) { // readiness is a hint
                        int ready = selector.select();
                        if (ready != 1) {
                            return "select found " + ready;
                        }
                        n = c.read(ByteBuffer.allocate(1));
                        selector.selectedKeys().clear();
                    }
                    return String.valueOf(n);
                } catch (IOException e) {
                    return String.valueOf(e.getMessage());
                }
            }

            @Override
            public void reset() throws IOException {
                c.setOption(StandardSocketOptions.SO_LINGER, 0);
            }

            @Override
            public void close() throws IOException {
                c.close();
            }
        };
    }

    static PeerConnection of(Socket s) {
        return new PeerConnection() {
            @Override
            public int read(byte[] into) throws IOException {
                return s.getInputStream().read(into);
            }

            @Override
            public void write(byte[] from, int length) throws IOException {
                s.getOutputStream().write(from, 0, length);
            }

            @Override
            public String transport() throws IOException {
                for (SocketOption<?> o : s.supportedOptions()) {
                    if (o.name().equals("VERBENA_TRANSPORT")) {
                        return (String) s.getOption(o);
                    }
                }
                return "none";
            }

            @Override
            public String awaitEnd() {
                try {
                    return String.valueOf(s.getInputStream().read());
                } catch (IOException e) {
                    return String.valueOf(e.getMessage());
                }
            }

            @Override
            public void reset() throws IOException {
                s.setSoLinger(true, 0);
            }

            @Override
            public void close() throws IOException {
                s.close();
            }
        };
    }
}
