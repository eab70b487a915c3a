// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/** Requests and answers over several connections between two processes, each with its own size and pause, until it is ended. */
final class Streams {
    private static final int RINGS = 6;
    private static final int ANSWER = 64;

    private Streams() {}

    public static void main(String[] args) throws Exception {
        if (args.length == 1 && args[0].equals("--answer")) {
            Peer.listen(Streams::answer);
            return;
        }
        try (Peer peer = Peer.start(Streams.class, "--answer")) {
            Runtime.getRuntime().addShutdownHook(new Thread(peer::close));
            for (int i = 0; i < RINGS; i++) {
                start(peer.ours(), 64 << 2 * i, 1 + i);
            }
            start(peer.plain(), 4096, 2).join(); // its peer is plain: TCP carries it
        }
    }

    private static Thread start(int port, int size, int pauseMillis) {
        return Thread.ofPlatform().start(() -> {
            try (SocketChannel c = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
                ByteBuffer request = ByteBuffer.allocateDirect(Integer.BYTES + size);
                ByteBuffer answer = ByteBuffer.allocateDirect(ANSWER);
                for (int round = 0;; round++) {
                    request.clear().putInt(0, size);
                    while (request.hasRemaining()) {
                        c.write(request);
                    }
                    read(c, answer.clear());
                    if (round % 8 == 7) {
                        LockSupport.parkNanos(pauseMillis * 1_000_000L);
                    }
                }
            } catch (IOException e) {
                System.err.println(e);
            }
        });
    }

    private static boolean read(SocketChannel c, ByteBuffer to) throws IOException {
        while (to.hasRemaining()) {
            if (c.read(to) < 0) {
                return false;
            }
        }
        return true;
    }

    private static void answer(ServerSocketChannel listener) throws IOException {
        SocketChannel c = listener.accept();
        Thread.ofPlatform().start(() -> {
            try (c) {
                ByteBuffer size = ByteBuffer.allocateDirect(Integer.BYTES);
                ByteBuffer request = ByteBuffer.allocateDirect(1 << 20);
                ByteBuffer answer = ByteBuffer.allocateDirect(ANSWER);
                while (read(c, size.clear()) && read(c, request.clear().limit(size.getInt(0)))) {
                    answer.clear();
                    while (answer.hasRemaining()) {
                        c.write(answer);
                    }
                }
            } catch (IOException e) {
                // the client has ended
            }
        });
    }
}
