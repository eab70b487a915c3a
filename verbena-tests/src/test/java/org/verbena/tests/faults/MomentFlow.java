// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The traffic of one end of a connection until that ends: requests and answers, sending, receiving, or both. Sizes and
 * pauses follow from the seed. Each byte follows from its position.
 */
final class MomentFlow {
    static final int KINDS = 5;
    private static final int MOST = 64 << 10;
    private static final int MOST_OF_A_MESSAGE = 16_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000;
    private static final int STALLS_ONE_IN = 400;

    private final int number;
    private final Socket socket;
    private final SocketChannel channel;
    private final MomentNotes notes;
    private final CountDownLatch over;
    private final Thread[] threads;

    private final Log reads = new Log();
    private final Log writes = new Log();
    private long read;
    private long written;
    private volatile String input = "unused";
    private volatile String output = "unused";
    private volatile long endedAt;

    /** When calls began and returned, and with how many bytes in all. */
    private static final class Log {
        private long[] entries = new long[1 << 10];
        private int size;

        synchronized void add(long before, long most, long after, long total) {
            if (size + 4 > entries.length) {
                entries = Arrays.copyOf(entries, entries.length * 2);
            }
            entries[size++] = before;
            entries[size++] = most;
            entries[size++] = after;
            entries[size++] = total;
        }

        synchronized long returned(long time) {
            long most = 0;
            for (int i = 0; i < size; i += 4) {
                most = entries[i + 2] <= time ? entries[i + 3] : most;
            }
            return most;
        }

        synchronized long begun(long time) {
            long most = 0;
            for (int i = 0; i < size; i += 4) {
                most = entries[i] <= time ? entries[i + 1] : most;
            }
            return most;
        }
    }

    /**
     * @param kind 0: the client asks, 1: the server asks, 2: the client sends, 3: the server sends, 4: both send
     * @param over no pause lasts longer
     */
    MomentFlow(int number, int kind, boolean client, Socket socket, SocketChannel channel, MomentNotes notes, long seed,
            CountDownLatch over) {
        this.number = number;
        this.socket = socket;
        this.channel = channel;
        this.notes = notes;
        this.over = over;
        boolean first = kind % 2 == 0 == client;
        long own = seed * 2 + (client ? 1 : 0);
        if (!fillsBuffers(kind)) {
            threads = new Thread[] {thread("talk", () -> talk(first, seed, new SplittableRandom(own)))};
        } else if (kind < KINDS - 1 && !first) {
            threads = new Thread[] {thread("receive", () -> receive(new SplittableRandom(own)))};
        } else if (kind < KINDS - 1 && seed % 2 == 0) {
            threads = new Thread[] {thread("send", () -> send(new SplittableRandom(own)))};
        } else {
            threads = new Thread[] {thread("receive", () -> receive(new SplittableRandom(own))), thread("send",
                    () -> send(new SplittableRandom(own + 1)))};
        }
    }

    static int kind(int connection) {
        return connection / 2 % KINDS;
    }

    /** Whether more may be in flight than the kernel of a receiver takes. */
    static boolean fillsBuffers(int kind) {
        return kind >= 2;
    }

    private Thread thread(String name, Runnable what) {
        return Thread.ofPlatform().daemon().name(name + " " + number).unstarted(() -> {
            what.run();
            endedAt = System.nanoTime();
        });
    }

    void start() {
        for (Thread t : threads) {
            t.start();
        }
    }

    /** Whether all of it has ended by a time. */
    boolean hasEnded(long time) throws InterruptedException {
        for (Thread t : threads) {
            if (!t.join(java.time.Duration.ofNanos(Math.max(1, time - System.nanoTime())))) {
                StringBuilder trace = new StringBuilder("HANGS: " + t);
                Arrays.stream(t.getStackTrace()).forEach(s -> trace.append("\n\tat ").append(s));
                System.err.println(trace);
                return false;
            }
        }
        return true;
    }

    /** The progress: bytes completed before one time, and at most started before another. */
    String seen(long before, long after) {
        return String.join("|", input, output, "" + read, "" + reads.returned(before), "" + reads.begun(after), ""
                + writes.returned(before), "" + writes.begun(after), "" + writes.begun(Long.MAX_VALUE), ""
                        + Math.max(0, endedAt - after) / 1_000_000);
    }

    // the kinds of traffic

    private void talk(boolean first, long shared, SplittableRandom own) {
        SplittableRandom sizes = new SplittableRandom(shared);
        boolean writes = first;
        while (true) {
            int size = Math.min(size(sizes), MOST_OF_A_MESSAGE);
            if (writes ? !write(size, own) : !read(size, own)) {
                break;
            }
            writes = !writes;
        }
        receive(own);
    }

    private void receive(SplittableRandom random) {
        while (!input.startsWith("-1") && !input.startsWith("!")) {
            read(Integer.MAX_VALUE, random);
        }
    }

    private void send(SplittableRandom random) {
        while (write(size(random), random)) {
            pause(random);
        }
    }

    private static int size(SplittableRandom random) {
        int kind = random.nextInt(20);
        return 1 + random.nextInt(kind < 10 ? 100 : kind < 16 ? 2000 : kind < 19 ? MOST_OF_A_MESSAGE : MOST - 1);
    }

    private void pause(SplittableRandom random) {
        int kind = random.nextInt(10);
        try {
            if (random.nextInt(STALLS_ONE_IN) == 0) {
                over.await(1, TimeUnit.MINUTES);
            } else if (kind == 0 && over.getCount() > 0) {
                LockSupport.parkNanos(random.nextLong(LONGEST_PAUSE_NANOS));
            } else if (kind < 3) {
                for (int i = random.nextInt(2000); i > 0; i--) {
                    Thread.onSpinWait();
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // calls, each noted

    private static byte at(long position) {
        return (byte) (position * 31 + (position >>> 8));
    }

    private boolean read(int bytes, SplittableRandom random) {
        for (int left = bytes; left > 0;) {
            pause(random);
            int most = Math.min(left, size(random));
            byte[] into = new byte[most];
            long before = System.nanoTime();
            notes.put(number, MomentNotes.READ_AT_MOST, read + most);
            try {
                int n = read(into, random.nextInt(4) == 0);
                if (n < 0) {
                    input = "-1";
                    return false;
                }
                reads.add(before, read + most, System.nanoTime(), read + n);
                for (int i = 0; i < n; i++) {
                    if (into[i] != at(read + i)) {
                        input = "!corrupt at " + (read + i);
                        return false;
                    }
                }
                read += n;
                left -= bytes == Integer.MAX_VALUE ? bytes : n;
                notes.put(number, MomentNotes.READ, read);
                notes.put(number, MomentNotes.READ_AT_MOST, read);
            } catch (IOException e) {
                input = "!" + e.getMessage();
                return false;
            }
        }
        return true;
    }

    private int read(byte[] into, boolean scattered) throws IOException {
        if (channel == null) {
            return socket.getInputStream().read(into);
        }
        return scattered
                ? (int) channel.read(halves(into))
                : channel.read(ByteBuffer.wrap(into));
    }

    private boolean write(int bytes, SplittableRandom random) {
        for (int left = bytes; left > 0;) {
            byte[] from = new byte[left];
            for (int i = 0; i < left; i++) {
                from[i] = at(written + i);
            }
            long before = System.nanoTime();
            notes.put(number, MomentNotes.WRITTEN_AT_MOST, written + left);
            try {
                int n = write(from, random.nextInt(4) == 0);
                writes.add(before, written + left, System.nanoTime(), written + n);
                written += n;
                left -= n;
                notes.put(number, MomentNotes.WRITTEN, written);
            } catch (IOException e) {
                writes.add(before, written + left, Long.MAX_VALUE, written);
                output = "!" + e.getMessage();
                return false;
            }
        }
        return true;
    }

    private int write(byte[] from, boolean gathered) throws IOException {
        if (channel == null) {
            socket.getOutputStream().write(from);
            return from.length;
        }
        return gathered ? (int) channel.write(halves(from)) : channel.write(ByteBuffer.wrap(from));
    }

    private static ByteBuffer[] halves(byte[] all) {
        int half = all.length / 2;
        return new ByteBuffer[] {ByteBuffer.wrap(all, 0, half), ByteBuffer.wrap(all, half, all.length - half)};
    }
}
