// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;

/** A server of UDP that answers as a test says. */
final class FaultyServer implements AutoCloseable {
    /** What a server does with a message. */
    interface Behaviour {
        /**
         * Called for each message.
         *
         * @param answer ready to be sent
         * @param reply sends bytes to the client
         */
        void received(long sequence, ByteBuffer answer, Reply reply) throws IOException;
    }

    /** Sends to the client. */
    interface Reply {
        void send(ByteBuffer bytes) throws IOException;
    }

    private final DatagramChannel channel;
    private final Thread thread;

    FaultyServer(Behaviour behaviour) throws IOException {
        channel = DatagramChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        thread = Thread.ofPlatform().daemon().start(() -> {
            ByteBuffer in = ByteBuffer.allocate(Message.MAX_BYTES);
            try {
                while (true) {
                    SocketAddress from = channel.receive(in.clear());
                    in.flip();
                    if (!Message.has(in, Message.WARM_UP)) {
                        Message.answer(in);
                        behaviour.received(Message.sequence(in), in, b -> channel.send(b, from));
                    }
                }
            } catch (ClosedChannelException e) {
                // the test is over
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    InetSocketAddress address() throws IOException {
        return (InetSocketAddress) channel.getLocalAddress();
    }

    @Override
    public void close() throws Exception {
        channel.close();
        thread.join();
    }
}
