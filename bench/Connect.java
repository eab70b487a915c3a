// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;
import sun.nio.ch.DefaultSelectorProvider;

/**
 * What it takes to connect, send a byte, get one back and close, by the JDK's channels, by Verbena's towards a plain peer,
 * from a plain peer, and between two of Verbena's. They take turns, by batches; medians of all.
 */
final class Connect {
    private enum Ends {
        PLAIN_TO_PLAIN, VERBENA_TO_PLAIN, PLAIN_TO_VERBENA, VERBENA_TO_VERBENA;

        SelectorProvider client() {
            return this == PLAIN_TO_PLAIN || this == PLAIN_TO_VERBENA
                    ? DefaultSelectorProvider.get()
                    : SelectorProvider.provider();
        }

        boolean isToPlain() {
            return this == PLAIN_TO_PLAIN || this == VERBENA_TO_PLAIN;
        }
    }

    private static final int BATCH = 50;
    private static final int WARM_UP = 20;
    private static final int BATCHES = 60;

    private Connect() {}

    public static void main(String[] args) throws Exception {
        if (args.length == 1 && args[0].equals("--answer")) {
            answer();
            return;
        }
        try (Peer peer = Peer.start(Connect.class, "--answer")) {
            long[][] nanos = new long[Ends.values().length][BATCHES * BATCH];
            for (int batch = -WARM_UP; batch < BATCHES; batch++) {
                for (Ends ends : Ends.values()) {
                    for (int i = 0; i < BATCH; i++) {
                        long one = connect(ends.client(), ends.isToPlain() ? peer.plain() : peer.ours());
                        if (batch >= 0) {
                            nanos[ends.ordinal()][batch * BATCH + i] = one;
                        }
                    }
                }
            }
            double base = median(nanos[0]);
            for (Ends ends : Ends.values()) {
                double m = median(nanos[ends.ordinal()]);
                System.out.printf("%-20s %8.1f us %8.2f x%n", ends.name().toLowerCase().replace('_', ' '), m, m / base);
            }
        }
    }

    private static double median(long[] nanos) {
        return Arrays.stream(nanos).sorted().toArray()[nanos.length / 2] / 1e3;
    }

    private static long connect(SelectorProvider provider, int port) throws IOException {
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        long start = System.nanoTime();
        try (SocketChannel channel = provider.openSocketChannel()) {
            channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.write(one);
            channel.read(one.clear());
        }
        return System.nanoTime() - start;
    }

    private static void answer() throws IOException {
        Peer.listen(listener -> {
            ByteBuffer one = ByteBuffer.allocateDirect(1);
            try (SocketChannel channel = listener.accept()) {
                channel.read(one);
                channel.write(one.flip());
            } catch (IOException e) {
                e.printStackTrace(); // of one connection: the others go on
            }
        });
    }
}
