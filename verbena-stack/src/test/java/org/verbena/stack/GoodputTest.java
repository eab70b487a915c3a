// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;

import org.junit.jupiter.api.Test;

import org.verbena.linux.NetworkNamespace;
import org.verbena.linux.Tap;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.TapInterface;
import org.verbena.testkit.Thorough;
import org.verbena.testkit.TwoHosts;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/** Goodput over a link with losses, compared with the kernel's TCP: same addresses, same peer, and the same frames, by number, are lost. */
final class GoodputTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long DELAY = 5_000_000;
    private static final int SEEDS = 5;

    private interface Send {
        /** Connects, writes {@code bytes} bytes, and waits until the peer has received all. */
        void send(InetSocketAddress to, int bytes) throws Exception;
    }

    private static LongPredicate lossOf(double rate, long seed) {
        return n -> new SplittableRandom(seed * 1_000_003 + n).nextDouble() < rate;
    }

    /** Seconds from the connection to the last byte at the peer. */
    private static double seconds(LossyLink.Faults faults, int bytes, boolean kernel) throws Exception {
        Object[] taken = new Object[1];
        NetworkNamespace.callInNew(() -> { // the peer's
            try (TwoHosts.Peer peer = new TwoHosts.Peer(); Tap second = Tap.openTap("vrb0")) {
                TapInterface.up("vrb0", TwoHosts.PEER + "/24");
                NetworkNamespace.callInNew(() -> {
                    try (Tap first = Tap.openTap("vrb1")) {
                        TapInterface.up("vrb1", TwoHosts.OURS + "/24");
                        // Some kernels have another default congestion control.
                        TapInterface.ip("route", "replace", "10.79.0.0/24", "dev", "vrb1", "src", TwoHosts.OURS,
                                "congctl", "cubic");
                        try (LossyLink link = new LossyLink(first, second, faults)) {
                            taken[0] = kernel
                                    ? measure(peer, bytes, GoodputTest::sendByKernel)
                                    : measureStack(peer, bytes);
                        }
                    }
                    return 0;
                });
            }
            return 0;
        });
        return (double) taken[0];
    }

    private static double measureStack(TwoHosts.Peer peer, int bytes) throws Exception {
        try (Context c = Verbs.open("xdp_vrb1"); Stack stack = Stack.open(c, StackConfig.shared())) {
            return measure(peer, bytes, (to, n) -> {
                try (TcpSocket s = stack.connectTcp(to, PATIENCE)) {
                    write(n, (b, length) -> s.write(ByteBuffer.wrap(b, 0, length)));
                    s.shutdownOutput();
                    assertThat(s.read(ByteBuffer.allocate(1))).isEqualTo(-1);
                }
            });
        }
    }

    private static void sendByKernel(InetSocketAddress to, int bytes) throws Exception {
        try (Socket s = new Socket(to.getAddress(), to.getPort())) {
            write(bytes, (b, n) -> s.getOutputStream().write(b, 0, n));
            s.shutdownOutput();
            assertThat(s.getInputStream().read()).isEqualTo(-1);
        }
    }

    private interface Sink {
        void write(byte[] b, int length) throws Exception;
    }

    private static void write(int bytes, Sink to) throws Exception {
        byte[] b = new byte[1 << 16];
        for (int left = bytes; left > 0; left -= b.length) {
            to.write(b, Math.min(left, b.length));
        }
    }

    private static double measure(TwoHosts.Peer peer, int bytes, Send send) throws Exception {
        InetSocketAddress there = new InetSocketAddress(TwoHosts.PEER, 7000);
        try (ServerSocket server = peer.call(() -> new ServerSocket(7000, 8, there.getAddress()))) {
            Future<Long> end = peer.start(() -> {
                try (Socket s = server.accept()) {
                    InputStream in = s.getInputStream();
                    byte[] b = new byte[1 << 16];
                    int n = 0;
                    for (int got = in.read(b); got >= 0; got = in.read(b)) {
                        n += got;
                    }
                    assertThat(n).isEqualTo(bytes);
                    return System.nanoTime();
                }
            });
            long began = System.nanoTime();
            send.send(there, bytes);
            return (end.get(2, TimeUnit.MINUTES) - began) * 1e-9;
        }
    }

    /** The kernel's time as a multiple of the stack's, over all seeds. */
    private static double ratio(double loss, long rate, int queue, int bytes) throws Exception {
        double ours = 0;
        double theirs = 0;
        for (int seed = 1; seed <= SEEDS; seed++) {
            LossyLink.Faults f = new LossyLink.Faults(DELAY, lossOf(loss, seed), rate, queue);
            theirs += seconds(f, bytes, true);
            ours += seconds(f, bytes, false);
        }
        System.out.printf("goodput, loss %.1f %%, %s: the stack %.2f MB/s, the kernel %.2f MB/s, %.2f%n", loss * 100,
                rate == 0 ? "any rate" : rate / 1_000_000 + " MB/s and a queue of " + queue, bytes * SEEDS * 1e-6
                        / ours, bytes * SEEDS * 1e-6 / theirs, theirs / ours);
        return theirs / ours;
    }

    @Test
    @Thorough
    void theStackSendsAsFastAsTheKernelOverALinkWithLosses() throws Exception {
        Capabilities.requireNetworkAndBpf();
        TapInterface.require();
        assertThat(ratio(0.002, 0, 0, 8_000_000)).isGreaterThan(0.9);
        assertThat(ratio(0.01, 0, 0, 4_000_000)).isGreaterThan(0.9);
        assertThat(ratio(0.03, 0, 0, 2_000_000)).isGreaterThan(0.9);
        assertThat(ratio(0, 10_000_000, 40, 20_000_000)).isGreaterThan(0.9);
    }
}
