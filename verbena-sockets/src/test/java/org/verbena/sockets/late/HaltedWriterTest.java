// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;
import org.verbena.testkit.Jvm;

/** Two processes: what {@code write} has returned for arrives, though the writer is gone the moment after. */
@Tag("late-provider")
class HaltedWriterTest {
    private static final int BYTES = 3_000_000;
    private static final String DEVICE = "verbena.stream.device";

    /** The process that writes, into the ring from the first byte on. */
    static final class Writer {
        private Writer() {}

        public static void main(String[] args) throws Exception {
            InetSocketAddress to = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
            VerbenaSocketChannel c = VerbenaSocketChannel.open();
            c.connect(to);
            while (c.getOption(VerbenaSocketOptions.TRANSPORT).equals("undecided")) {
                Thread.sleep(1);
            }
            ByteBuffer all = ByteBuffer.wrap(bytes(Long.parseLong(args[1])));
            Random random = new Random();
            while (all.hasRemaining()) {
                ByteBuffer piece = all.slice(all.position(), Math.min(all.remaining(), 1 + random.nextInt(100_000)));
                all.position(all.position() + c.write(piece));
            }
            Runtime.getRuntime().halt(c.isOutputByRing() ? 0 : 1);
        }
    }

    private static byte[] bytes(long seed) {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @RepeatedTest(5)
    void haltedWriterLosesNothing() throws Exception {
        long seed = System.nanoTime();
        try (VerbenaServerSocketChannel listener = VerbenaServerSocketChannel.open();
                Selector selector = VerbenaSelectorProvider.instance().openSelector()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            Process writer = start(port, seed);
            try (VerbenaSocketChannel c = (VerbenaSocketChannel) listener.accept()) {
                ByteBuffer got = ByteBuffer.allocate(BYTES + 1);
                c.configureBlocking(false);
                c.register(selector, SelectionKey.OP_READ);
                while (read(c, got) >= 0) {
                    selector.select();
                    selector.selectedKeys().clear();
                }
                assertThat(got.position()).as("bytes, seed %d", seed).isEqualTo(BYTES);
                assertThat(Arrays.copyOf(got.array(), BYTES)).isEqualTo(bytes(seed));
                assertThat(c.isInputByRing()).isTrue();
                assertThat(writer.waitFor()).isZero();
            } finally {
                writer.destroyForcibly();
            }
        }
    }

    /** -1 at the end, which is the end of the process, in whatever way TCP reports it. */
    private static int read(VerbenaSocketChannel c, ByteBuffer got) {
        try {
            int n;
            do {
                n = c.read(got);
            } while (n > 0);
            return n;
        } catch (IOException reset) {
            return -1;
        }
    }

    private static Process start(int port, long seed) throws IOException {
        List<String> command = new ArrayList<>(List.of(Jvm.JAVA, "-XX:+UseSerialGC"));
        command.addAll(Jvm.CHANNELS_ON_CLASS_PATH);
        command.addAll(List.of("-D" + DEVICE + "=" + System.getProperty(DEVICE), "-Dverbena.test.late=" + seed, "-cp",
                System.getProperty("java.class.path"), Writer.class.getName(), Integer.toString(port),
                Long.toString(seed)));
        return new ProcessBuilder(command).inheritIO().start();
    }
}
