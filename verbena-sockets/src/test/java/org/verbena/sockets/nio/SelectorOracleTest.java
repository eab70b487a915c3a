// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sun.nio.ch.DefaultSelectorProvider;

import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.sockets.VerbenaSocketChannel;

/** Does the same at random with a selector of the JDK and one of ours: both must select the same keys. */
@Tag("any-provider")
class SelectorOracleTest {
    private static final int STEPS = 400;
    private static final int EACH_KIND = 3;
    private static final int KINDS = 3;

    /** A channel that is selected, and the other end, which is not. */
    private record Ends(SelectableChannel channel, ReadableByteChannel in, WritableByteChannel out,
            List<? extends AutoCloseable> all) {}

    /** One selector and its channels. */
    private static final class Side implements AutoCloseable {
        final SelectorProvider provider;
        final Selector selector;
        final List<Ends> ends = new ArrayList<>();
        final int[] unread = new int[EACH_KIND * KINDS];

        Side(SelectorProvider provider) throws IOException {
            this.provider = provider;
            selector = provider.openSelector();
            for (int i = 0; i < EACH_KIND * KINDS; i++) {
                ends.add(open(i % KINDS));
                ends.get(i).channel().configureBlocking(false);
            }
        }

        private Ends open(int kind) throws IOException {
            InetAddress here = InetAddress.getLoopbackAddress();
            if (kind == 0) {
                Pipe p = provider.openPipe();
                return new Ends(p.source(), p.source(), p.sink(), List.of(p.source(), p.sink()));
            }
            if (kind == 1) {
                DatagramChannel a = provider.openDatagramChannel().bind(new InetSocketAddress(here, 0));
                DatagramChannel b = provider.openDatagramChannel().bind(new InetSocketAddress(here, 0));
                a.connect(b.getLocalAddress());
                b.connect(a.getLocalAddress());
                return new Ends(a, a, b, List.of(a, b));
            }
            try (ServerSocketChannel server = provider.openServerSocketChannel()) {
                server.bind(new InetSocketAddress(here, 0));
                SocketChannel a = provider.openSocketChannel();
                a.connect(server.getLocalAddress());
                SocketChannel b = server.accept();
                settle(a, b);
                return new Ends(b, b, a, List.of(a, b));
            }
        }

        /** Exchanges bytes until rings carry both directions, if they are going to: the test is about what selects. */
        private static void settle(SocketChannel a, SocketChannel b) throws IOException {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (b instanceof VerbenaSocketChannel v && !(v.isInputByRing() && v.isOutputByRing())) {
                if (System.nanoTime() > end) {
                    System.out.println("no ring carries " + b + ": the test runs over TCP");
                    return;
                }
                exchange(a, b);
                exchange(b, a);
            }
        }

        private static void exchange(SocketChannel from, SocketChannel to) throws IOException {
            from.write(ByteBuffer.wrap(new byte[1]));
            to.read(ByteBuffer.allocate(1));
        }

        void write(int i) throws IOException {
            unread[i] += ends.get(i).out().write(ByteBuffer.wrap(new byte[10]));
        }

        /** Reads what was written: a read may give less than that, and bytes need a moment to arrive. */
        void readAll(int i) throws IOException {
            while (unread[i] > 0) {
                unread[i] -= ends.get(i).in().read(ByteBuffer.allocate(unread[i]));
            }
        }

        SelectionKey key(int i) {
            return ends.get(i).channel().keyFor(selector);
        }

        /** The selected keys by number, with their ready sets. */
        Map<Integer, Integer> selected() {
            Map<Integer, Integer> found = new TreeMap<>();
            for (SelectionKey k : selector.selectedKeys()) {
                int i = 0;
                while (ends.get(i).channel() != k.channel()) {
                    i++;
                }
                found.put(i, k.readyOps());
            }
            return found;
        }

        @Override
        public void close() throws Exception {
            selector.close();
            for (Ends e : ends) {
                for (AutoCloseable c : e.all()) {
                    c.close();
                }
            }
        }
    }

    private interface Step {
        void on(Side side) throws IOException;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void selectionMatchesTheJdk(long seed) throws Exception {
        try (Side jdk = new Side(DefaultSelectorProvider.get()); Side ours = new Side(new VerbenaSelectorProvider())) {
            Random random = new Random(seed);
            for (int n = 0; n < STEPS; n++) {
                String step = step(random, jdk, ours);
                Thread.sleep(random.nextInt(4) == 0 ? 1 : 0);
                same(jdk, ours, "seed " + seed + " step " + n + " " + step);
            }
        }
    }

    private static String step(Random random, Side jdk, Side ours) throws IOException {
        int i = random.nextInt(EACH_KIND * KINDS);
        int valid = jdk.ends.get(i).channel().validOps() & (OP_READ | OP_WRITE);
        int ops = valid & random.nextInt(8);
        SelectionKey key = jdk.key(i);
        switch (random.nextInt(8)) {
            case 0, 1 -> {
                both(jdk, ours, s -> s.write(i));
                return "write to " + i;
            }
            case 2 -> {
                if (i % KINDS == 1) { // of datagrams there may be several, which are read one by one
                    return "nothing";
                }
                both(jdk, ours, s -> s.readAll(i));
                return "read of " + i;
            }
            case 3 -> {
                if (key != null && key.isValid()) {
                    both(jdk, ours, s -> s.key(i).cancel());
                }
                return "cancel " + i;
            }
            case 4 -> {
                both(jdk, ours, s -> s.selector.selectedKeys().clear());
                return "clear";
            }
            case 5 -> {
                if (key != null) {
                    both(jdk, ours, s -> s.selector.selectedKeys().remove(s.key(i)));
                }
                return "remove " + i;
            }
            default -> {
                if (key == null) {
                    both(jdk, ours, s -> s.ends.get(i).channel().register(s.selector, ops));
                } else if (key.isValid()) {
                    both(jdk, ours, s -> s.key(i).interestOps(ops));
                }
                return "interest " + ops + " in " + i;
            }
        }
    }

    private static void both(Side jdk, Side ours, Step step) throws IOException {
        step.on(jdk);
        step.on(ours);
    }

    /** Selects on both, until both have selected the same: bytes need a moment to arrive. */
    private static void same(Side jdk, Side ours, String when) throws IOException {
        int[] counts = {jdk.selector.selectNow(), ours.selector.selectNow()};
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!jdk.selected().equals(ours.selected()) && System.nanoTime() < end) {
            counts[0] += jdk.selector.selectNow();
            counts[1] += ours.selector.selectNow();
        }
        assertThat(ours.selected()).as(when).isEqualTo(jdk.selected());
        assertThat(counts[1]).as("selected at " + when).isEqualTo(counts[0]);
        assertThat(ours.selector.keys()).as(when).hasSameSizeAs(jdk.selector.keys());
        for (int i = 0; i < EACH_KIND * KINDS; i++) {
            assertThat(ours.ends.get(i).channel().isRegistered()).as(when)
                    .isEqualTo(jdk.ends.get(i).channel().isRegistered());
        }
    }
}
