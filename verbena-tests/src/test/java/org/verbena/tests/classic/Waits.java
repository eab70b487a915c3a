// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.classic;

import static org.verbena.tests.classic.Behaviours.said;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import org.verbena.tests.classic.Behaviours.Threads;
import org.verbena.tests.classic.Behaviours.Waiting;

/** Threads that wait: timeouts, and the end of a wait by data, the peer, a close, an interrupt. */
final class Waits {
    private static final byte[] MUCH = new byte[1 << 20];
    /** The extra time that a busy machine may take. */
    private static final long LATE_MILLIS = 30_000;
    /** Timeout for events that occur. */
    private static final int LONG_MILLIS = 30_000;

    private Waits() {}

    static void add(Behaviours b) {
        b.inThreads("read times out", Waits::readTimesOut);
        b.inThreads("a reader waits for another reader", Waits::readersTimeOut);
        b.inThreads("accept times out", Waits::acceptTimesOut);
        b.inThreads("an acceptor waits for another", Waits::acceptorsTimeOut);
        b.inThreads("connect times out", t -> {
            try (Full full = new Full(); Socket s = new Socket()) {
                long start = System.nanoTime();
                return t.start(() -> said(() -> connect(s, full, 80)) + notEarly(start, 80)).said() + " " + s
                        .isClosed();
            }
        });
        for (Wait w : Wait.values()) {
            b.inThreads("close ends " + w, t -> ended(w, t, Ends::close));
            b.inThreads("interrupt and " + w, t -> interrupted(w, t, false));
            b.inThreads("interrupted before " + w, t -> interrupted(w, t, true));
        }
        b.inThreads("shutdownInput ends read", t -> ended(Wait.READ, t, e -> e.pair.client().shutdownInput()));
        b.inThreads("the peer's close ends read", t -> ended(Wait.READ, t, e -> e.pair.server().close()));
        b.inThreads("the peer's reset ends read", t -> ended(Wait.READ, t, e -> {
            e.pair.server().setSoLinger(true, 0);
            e.pair.server().close();
        }));
        b.inThreads("data end read", t -> ended(Wait.READ, t, e -> e.pair.peerOut().write(77)));
        b.inThreads("one reads while another writes", Waits::bothWays);
    }

    private static String notEarly(long start, int millis) {
        long waited = (System.nanoTime() - start) / 1_000_000;
        return waited >= millis - 1 && waited < millis + LATE_MILLIS ? "" : " after " + waited + " ms";
    }

    private static Object readTimesOut(Threads t) throws Exception {
        try (Pair p = Pair.open()) {
            List<String> all = new ArrayList<>();
            return t.start(() -> {
                for (int i = 0; i < 3; i++) {
                    p.client().setSoTimeout(50);
                    long start = System.nanoTime();
                    all.add(said(() -> p.in().read()) + notEarly(start, 50));
                    p.peerOut().write(new byte[] {5, 6});
                    p.client().setSoTimeout(LONG_MILLIS);
                    all.add(said(() -> p.in().read()) + p.in().read());
                }
                return all;
            }).said();
        }
    }

    private static Object readersTimeOut(Threads t) throws Exception {
        try (Pair p = Pair.open()) {
            p.client().setSoTimeout(3000);
            Waiting first = t.start(() -> p.in().read()).begun();
            p.client().setSoTimeout(50);
            Object second = t.start(() -> p.in().read()).said();
            p.peerOut().write(9);
            return second + " " + first.said();
        }
    }

    private static Object acceptTimesOut(Threads t) throws Exception {
        try (ServerSocket l = Pair.listen()) {
            l.setSoTimeout(50);
            return t.start(() -> {
                long start = System.nanoTime();
                String first = said(l::accept) + notEarly(start, 50);
                try (Socket c = new Socket(l.getInetAddress(), l.getLocalPort()); Socket s = l.accept()) {
                    new Pair(c, s).agreed();
                    return first + " " + s.getSoTimeout() + " " + said(l::accept);
                }
            }).said();
        }
    }

    private static Object acceptorsTimeOut(Threads t) throws Exception {
        try (ServerSocket l = Pair.listen()) {
            Waiting first = t.start(l::accept).begun();
            l.setSoTimeout(50);
            Object second = t.start(l::accept).said();
            l.close();
            return second + " " + first.said();
        }
    }

    private static Object bothWays(Threads t) throws Exception {
        try (Pair p = Pair.open()) {
            Waiting reader = t.start(() -> p.in().readNBytes(MUCH.length).length);
            Waiting writer = t.start(() -> write(p)).begun();
            Waiting back = t.start(() -> {
                p.peerOut().write(MUCH);
                return "written";
            });
            int got = p.peerIn().readNBytes(8 * MUCH.length).length;
            return reader.said() + " " + writer.said() + " " + back.said() + " " + got;
        }
    }

    private static Object write(Pair p) throws IOException {
        for (int i = 0; i < 8; i++) {
            p.out().write(MUCH);
        }
        return "written";
    }

    /** The event that a thread waits for. */
    private enum Wait {
        READ, WRITE, ACCEPT, CONNECT
    }

    /** The action of another thread meanwhile. */
    @FunctionalInterface
    private interface Meanwhile {
        void act(Ends ends) throws Exception;
    }

    private static Object ended(Wait what, Threads t, Meanwhile act) throws Exception {
        try (Ends e = new Ends(what)) {
            Waiting w = t.start(e::await).begun();
            act.act(e);
            return w.said() + e.state();
        }
    }

    private static Object interrupted(Wait what, Threads t, boolean before) throws Exception {
        try (Ends e = new Ends(what)) {
            Waiting w = t.start(() -> {
                if (before) {
                    Thread.currentThread().interrupt();
                }
                return e.await();
            }).begun();
            if (!before) {
                w.thread().interrupt();
            }
            boolean over = w.ends();
            if (!over) {
                e.satisfy();
            }
            return "over " + over + ", " + w.said() + e.state();
        }
    }

    private static Object connect(Socket s, Full full, int timeout) throws IOException {
        s.connect(full.address(), timeout);
        return "connected";
    }

    /** The call with which a thread waits. */
    private static final class Ends implements AutoCloseable {
        private final Wait what;
        private final Pair pair;
        private final ServerSocket listener;
        private final Full full;
        private final Socket connecting = new Socket();

        Ends(Wait what) throws Exception {
            this.what = what;
            boolean connected = what == Wait.READ || what == Wait.WRITE;
            pair = connected ? Pair.open() : null;
            listener = what == Wait.ACCEPT ? Pair.listen() : null;
            full = what == Wait.CONNECT ? new Full() : null;
        }

        Object await() throws Exception {
            return switch (what) {
                case READ -> pair.in().read();
                case WRITE -> {
                    for (OutputStream out = pair.out();;) {
                        out.write(MUCH);
                    }
                }
                case ACCEPT -> {
                    listener.accept().close();
                    yield "accepted";
                }
                case CONNECT -> connect(connecting, full, 0);
            };
        }

        /** Triggers the event that the thread waits for. */
        void satisfy() throws Exception {
            switch (what) {
                case READ -> pair.peerOut().write(78);
                case WRITE -> {
                    Thread drain = Thread.ofVirtual().start(() -> said((Callable<?>) () -> pair.peerIn()
                            .skip(Long.MAX_VALUE)));
                    Thread.sleep(30);
                    pair.client().shutdownOutput();
                    drain.join();
                }
                case ACCEPT -> new Socket(listener.getInetAddress(), listener.getLocalPort()).close();
                case CONNECT -> full.drain();
            }
        }

        String state() {
            return ", closed " + switch (what) {
                case READ, WRITE -> pair.client().isClosed();
                case ACCEPT -> listener.isClosed();
                case CONNECT -> connecting.isClosed();
            };
        }

        @Override
        public void close() throws Exception {
            for (AutoCloseable c : new AutoCloseable[] {pair, listener, full, connecting}) {
                if (c != null) {
                    c.close();
                }
            }
        }
    }

    /** A listener whose queue is full, so that connecting blocks until an accept. */
    private static final class Full implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final List<Socket> queued = new ArrayList<>();

        Full() throws IOException {
            for (;;) {
                Socket s = new Socket();
                try {
                    s.connect(address(), 300);
                    queued.add(s);
                } catch (IOException full) {
                    return;
                }
            }
        }

        InetSocketAddress address() {
            return (InetSocketAddress) listener.getLocalSocketAddress();
        }

        void drain() throws IOException {
            for (int n = queued.size(); n > 0; n--) {
                queued.add(listener.accept());
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
            for (Socket s : queued) {
                s.close();
            }
        }
    }
}
