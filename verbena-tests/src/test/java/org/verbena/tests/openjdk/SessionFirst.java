// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.openjdk;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/**
 * Runs a program after its process has a session with itself. The first one loads most of Verbena's classes, for which a process of
 * a busy machine takes seconds, and connections of some tests do not last that long.
 */
final class SessionFirst {
    private SessionFirst() {}

    /**
     * Begins, and calls the program.
     *
     * @param args its class, and its arguments
     */
    public static void main(String[] args) throws Throwable {
        begin();
        Method main = Class.forName(args[0]).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** The write waits for the handshake: {@code verbena.stream.wait}. */
    private static void begin() throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress
                .getLoopbackAddress(), 0));
                SocketChannel client = SocketChannel.open(listener.getLocalAddress());
                SocketChannel server = listener.accept()) {
            ByteBuffer one = ByteBuffer.allocate(1);
            client.write(one);
            server.read(one.clear());
        }
    }
}
