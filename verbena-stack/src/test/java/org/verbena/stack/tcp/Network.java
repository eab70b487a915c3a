// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.tcp;

import java.io.IOException;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.ip.Host;

/** A link between two hosts in virtual time, whose faults are those of a seed. */
final class Network {
    static final long MS = 1_000_000;
    static final long SECOND = 1_000_000_000L;

    final Host a;
    final Host b;
    /** Parts of 100 of the frames. */
    int loss;
    int repeated;
    int changed;
    int late;
    /** One way. */
    long delay = 100_000;
    /** Frames for which this is true are lost. */
    Predicate<byte[]> drop = f -> false;
    long now;
    long frames;
    private final Random random;
    private final PriorityQueue<Delivery> underway = new PriorityQueue<>(Comparator.comparingLong(
            (Delivery d) -> d.time).thenComparingLong(d -> d.number));
    private long number;

    private static final class Delivery {
        final long time;
        final long number;
        final Host to;
        final byte[] frame;

        Delivery(long time, long number, Host to, byte[] frame) {
            this.time = time;
            this.number = number;
            this.to = to;
            this.frame = frame;
        }
    }

    Network(long seed, Host a, Host b) {
        this.a = a;
        this.b = b;
        random = new Random(seed);
        now = a.now;
    }

    private void collect(Host from, Host to) {
        for (byte[] f : from.wire.takeSent()) {
            frames++;
            boolean spared = isResolution(f);
            if (!spared && (random.nextInt(100) < loss || drop.test(f))) {
                continue;
            }
            int copies = !spared && random.nextInt(100) < repeated ? 2 : 1;
            for (int i = 0; i < copies; i++) {
                byte[] g = f.clone();
                if (!spared && random.nextInt(100) < changed) {
                    g[random.nextInt(g.length)] ^= (byte) (1 << random.nextInt(8));
                }
                long extra = !spared && random.nextInt(100) < late ? random.nextLong(5 * delay) : 0;
                underway.add(new Delivery(now + delay + extra, number++, to, g));
            }
        }
    }

    /** Whether a frame is of ARP, or of ICMPv6: the tests are about what is above them. */
    private static boolean isResolution(byte[] f) {
        return f[12] == 8 && f[13] == 6 || (f[12] & 0xff) == 0x86 && f[20] == Ipv6Header.ICMP;
    }

    private long work(Host h) throws IOException {
        h.now = now;
        return Math.min(h.ip.work(now), h.tcp.work(now));
    }

    /** Lets time pass until something is so, for so long at most; answers whether it is. */
    boolean run(long nanos, BooleanSupplier until) throws IOException {
        long end = now + nanos;
        while (true) {
            if (until.getAsBoolean()) {
                return true;
            }
            long dueA = work(a);
            long dueB = work(b);
            collect(a, b);
            collect(b, a);
            Delivery d = underway.peek();
            long next = Math.min(Math.min(dueA, dueB), d == null ? Long.MAX_VALUE : d.time);
            if (next > end) {
                now = end;
                work(a);
                work(b);
                return until.getAsBoolean();
            }
            now = Math.max(now, next);
            while (d != null && d.time <= now) {
                underway.poll();
                d.to.now = now;
                d.to.take(d.frame);
                d = underway.peek();
            }
        }
    }

    void pass(long nanos) throws IOException {
        run(nanos, () -> false);
    }
}
