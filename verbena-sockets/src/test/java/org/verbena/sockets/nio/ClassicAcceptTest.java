// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketImpl;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

import org.junit.jupiter.api.Test;
import sun.nio.ch.DefaultSelectorProvider;

/** A classic socket that listens has what it accepts into from Verbena, whatever the JDK's new sockets are. */
class ClassicAcceptTest {
    @Test
    void listenerAcceptsSocketsOfItsOwnKind() throws Exception {
        StreamServerSocketImpl listener = new StreamServerSocketImpl();
        listener.create(true);
        listener.bind(InetAddress.getLoopbackAddress(), 0);
        listener.listen(1);
        InetSocketAddress address = (InetSocketAddress) listener.created().getLocalAddress();
        try (SocketChannel client = DefaultSelectorProvider.get().openSocketChannel()) {
            client.connect(address);
            client.write(ByteBuffer.wrap(new byte[] {7}));
            SocketImpl into = NioChannels.accepting(listener);
            listener.accept(into);
            StreamSocketImpl accepted = (StreamSocketImpl) into;
            assertThat(accepted.getInputStream().read()).isEqualTo(7);
            accepted.close();
        } finally {
            listener.close();
        }
    }
}
