// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;

import org.verbena.linux.IoVectors;
import org.verbena.linux.Tap;
import org.verbena.linux.VnetHeader;

/** Two TAP interfaces, between which a thread carries frames: with a delay, losses by number, and maybe a rate with a queue before it. */
final class LossyLink implements AutoCloseable {
    private static final int MOST = 2000;
    /** Shorter frames carry no data, and are not lost. */
    private static final int DATA = 200;
    private static final long PAUSE = 30_000;

    /**
     * What happens to frames.
     *
     * @param delay nanoseconds of each frame on its way
     * @param loss whether a frame with data is lost, by its number, of those that go from the first interface to the second
     * @param rate bytes in a second from the first to the second; 0 for any
     * @param queue frames that wait for their turn
     */
    record Faults(long delay, LongPredicate loss, long rate, int queue) {}

    private record Carried(MemorySegment bytes, long due) {}

    private static final class Direction {
        final Tap from;
        final Tap to;
        final Faults faults;
        final ArrayDeque<Carried> carried = new ArrayDeque<>();
        final MemorySegment buffer = Arena.ofAuto().allocate(VnetHeader.BYTES + MOST, 8);
        final IoVectors in = new IoVectors(1);
        final IoVectors out = new IoVectors(1);
        long numbers;
        long free;

        Direction(Tap from, Tap to, Faults faults) {
            this.from = from;
            this.to = to;
            this.faults = faults;
        }

        void work(long now) {
            while (true) {
                long n = from.receive(in.clear().add(buffer, 0, buffer.byteSize()));
                if (n <= 0) {
                    break;
                }
                boolean data = n - VnetHeader.BYTES > DATA;
                if (data && faults.loss.test(numbers++)) {
                    continue;
                }
                long due = now;
                if (faults.rate > 0) {
                    long each = n * 1_000_000_000L / faults.rate;
                    if ((free - now) / Math.max(each, 1) >= faults.queue) {
                        continue;
                    }
                    free = Math.max(free, now) + each;
                    due = free;
                }
                carried.add(new Carried(Arena.ofAuto().allocate(n, 8).copyFrom(buffer.asSlice(0, n)), due
                        + faults.delay));
            }
            while (!carried.isEmpty() && now - carried.element().due >= 0) {
                MemorySegment m = carried.remove().bytes;
                to.send(out.clear().add(m, 0, m.byteSize()));
            }
        }
    }

    private final Thread thread;
    private volatile boolean closed;

    LossyLink(Tap first, Tap second, Faults faults) throws IOException {
        first.setOffloads(false, false);
        second.setOffloads(false, false);
        Direction there = new Direction(first, second, faults);
        Direction back = new Direction(second, first, new Faults(faults.delay, n -> false, 0, 0));
        thread = Thread.ofPlatform().daemon().name("lossy-link").start(() -> {
            while (!closed) {
                long now = System.nanoTime();
                there.work(now);
                back.work(now);
                LockSupport.parkNanos(PAUSE);
            }
        });
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        thread.join();
    }
}
