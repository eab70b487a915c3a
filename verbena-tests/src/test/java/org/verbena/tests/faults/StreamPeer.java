// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;

import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;

/** One end of a stream in a separate process; prints its observations in lines. */
final class StreamPeer {
    private static final int PIECE = 60_001;
    /** This much uses the ring if the reader waits; it fits there without being read. */
    private static final int LAST = 2000;

    private StreamPeer() {}

    /**
     * {@code reader}, or {@code writer PORT BYTES}; bytes enough, and until it is decided here what carries them (with
     * {@code -DuntilTold=true}: and until a line comes in). A reader with {@code -DacceptWhenTold=true} or
     * {@code -DreadWhenTold=true} begins with that only then; a writer with {@code -DexitAtOnce=true} does not wait for the reader's end, and sends the last bytes when it is decided.
     */
    public static void main(String[] args) throws Exception {
        if (Boolean.getBoolean("undumpable")) {
            Undumpable.become();
        }
        if (args[0].equals("reader")) {
            read();
        } else {
            write(Integer.parseInt(args[1]), Long.parseLong(args[2]));
        }
    }

    private static byte at(long position) {
        return (byte) (position * 31 + (position >>> 8) + 1);
    }

    private static void read() throws IOException {
        try (ServerSocketChannel listener = VerbenaServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            System.out.println("port " + ((InetSocketAddress) listener.getLocalAddress()).getPort());
            awaitIf("acceptWhenTold");
            try (VerbenaSocketChannel channel = (VerbenaSocketChannel) listener.accept()) {
                sayWhenDecided(channel);
                awaitIf("readWhenTold");
                readAll(channel);
            }
        }
    }

    /** Waits for a line, if it is started so. */
    private static void awaitIf(String property) throws IOException {
        if (Boolean.getBoolean(property)) {
            int c = System.in.read();
            while (c >= 0 && c != '\n') {
                c = System.in.read();
            }
        }
    }

    private static void readAll(VerbenaSocketChannel channel) {
        ByteBuffer in = ByteBuffer.allocateDirect(PIECE);
        long total = 0;
        long last = System.nanoTime();
        boolean said = false;
        String end = "orderly";
        try {
            int n;
            while ((n = channel.read(in.clear())) >= 0) {
                for (int i = 0; i < n; i++) {
                    if (in.get(i) != at(total + i)) {
                        System.out.println("wrong byte " + (total + i));
                        return;
                    }
                }
                total += n;
                last = System.nanoTime();
                if (!said && channel.isInputByRing()) {
                    said = true;
                    System.out.println("ring");
                }
            }
        } catch (IOException e) {
            end = "broken: " + e.getMessage();
        }
        System.out.println("end " + total + " " + (System.nanoTime() - last) / 1_000_000 + " " + end);
        System.out.println("by " + carrier(channel, channel.isInputByRing()));
    }

    /** The transport of the connection, also while the thread of this program sleeps in it. */
    private static void sayWhenDecided(VerbenaSocketChannel channel) {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                String by = "undecided";
                while (by.equals("undecided")) {
                    Thread.sleep(1);
                    by = String.valueOf(channel.getOption(VerbenaSocketOptions.TRANSPORT));
                }
                System.out.println("decided " + by);
            } catch (IOException | InterruptedException closed) {
                // it will not be decided
            }
        });
    }

    private static String carrier(VerbenaSocketChannel channel, boolean ring) {
        return ring ? "ring" : "TCP: " + channel.fallbackReason();
    }

    private static boolean isUndecided(VerbenaSocketChannel channel) {
        return !channel.isOutputByRing() && channel.fallbackReason().isEmpty();
    }

    private static void write(int port, long bytes) throws IOException, InterruptedException {
        try (VerbenaSocketChannel channel = VerbenaSocketChannel.open()) {
            channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            System.out.println("connected " + ((InetSocketAddress) channel.getLocalAddress()).getPort());
            sayWhenDecided(channel);
            ByteBuffer out = ByteBuffer.allocateDirect(PIECE);
            long total = 0;
            boolean said = false;
            try {
                boolean untilTold = Boolean.getBoolean("untilTold");
                boolean exitAtOnce = Boolean.getBoolean("exitAtOnce");
                int piece = exitAtOnce ? LAST / 2 : PIECE;
                while (total < bytes || untilTold && System.in.available() == 0 || isUndecided(channel)) {
                    while (exitAtOnce && total >= bytes - LAST && isUndecided(channel)) {
                        Thread.sleep(1);
                    }
                    for (int i = 0; i < piece; i++) {
                        out.put(i, at(total + i));
                    }
                    total += channel.write(out.clear().limit(piece));
                    if (!said && channel.isOutputByRing()) {
                        said = true;
                        System.out.println("ring");
                    }
                }
                channel.shutdownOutput();
                System.out.println("written " + total);
                if (exitAtOnce) {
                    return;
                }
                channel.read(out.clear());
                System.out.println("by " + carrier(channel, channel.isOutputByRing()));
            } catch (IOException e) {
                System.out.println("failed " + e.getMessage());
            }
        }
    }
}
