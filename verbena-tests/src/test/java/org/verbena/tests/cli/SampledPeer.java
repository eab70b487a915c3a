// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

import com.sun.management.ThreadMXBean;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.telemetry.CounterFile;

/**
 * Sends itself messages through a ring continuously, while another thread samples its sockets; prints the smallest
 * number of bytes that a given number of them allocated.
 */
final class SampledPeer {
    static final int MESSAGES = 100_000;

    private static final int MESSAGE = 64;
    private static final int TIMES = 8;
    private static final long LONGEST_NANOS = 20_000_000_000L;

    private SampledPeer() {}

    public static void main(String[] args) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        AtomicBoolean over = new AtomicBoolean();
        try (VerbenaServerSocketChannel server = VerbenaServerSocketChannel.open();
                VerbenaSocketChannel client = VerbenaSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            client.connect(server.getLocalAddress());
            try (VerbenaSocketChannel peer = (VerbenaSocketChannel) server.accept()) {
                client.configureBlocking(false);
                peer.configureBlocking(false);
                ByteBuffer out = ByteBuffer.allocateDirect(MESSAGE);
                ByteBuffer in = ByteBuffer.allocateDirect(MESSAGE);
                while (!client.isOutputByRing() || !peer.isInputByRing()) {
                    pass(client, out, peer, in, 1);
                    Thread.sleep(1);
                }
                Thread sampler = Thread.ofPlatform().start(() -> sample(over));
                long least = Long.MAX_VALUE;
                long end = System.nanoTime() + LONGEST_NANOS; // a busy machine compiles late
                for (int i = 0; i < TIMES || least > MESSAGES / 10 && System.nanoTime() - end < 0; i++) {
                    long before = threads.getCurrentThreadAllocatedBytes();
                    pass(client, out, peer, in, MESSAGES);
                    least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
                }
                over.set(true);
                sampler.join();
                System.out.println("GARBAGE " + least);
            }
        }
    }

    private static void sample(AtomicBoolean over) {
        while (!over.get()) {
            CounterFile.own().gather();
        }
    }

    private static void pass(VerbenaSocketChannel from, ByteBuffer out, VerbenaSocketChannel to, ByteBuffer in,
            int messages) throws IOException {
        for (int i = 0; i < messages; i++) {
            out.clear();
            while (out.hasRemaining()) {
                from.write(out);
            }
            in.clear();
            while (in.hasRemaining()) {
                to.read(in);
            }
        }
    }
}
