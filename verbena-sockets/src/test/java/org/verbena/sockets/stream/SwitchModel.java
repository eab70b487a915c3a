// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;

import org.verbena.verbs.VerbsException;

/**
 * Both ends of one connection, its TCP and the outcome of its handshake, moved step by step by one thread: the
 * product's streams, sessions and rings, and a TCP that delivers when a step demands it. Each step checks what it gets: a
 * reader gets the writer's bytes, in order, none twice; all of them before an orderly end; a prefix of them, then an
 * end or an error, after a death.
 *
 * <p>A WRITE has arrived when its step ends, as it has with shared memory.
 */
final class SwitchModel {
    static final int READ = SelectionKey.OP_READ;
    static final int WRITE = SelectionKey.OP_WRITE;
    /** Read at a time when all that is left is to be read. */
    private static final int REST = 5000;

    /** One end of the connection, and what the model records of it. */
    static final class End {
        final FakeTcp tcp;
        final RingStream stream;
        final Session session;
        End other;
        Link link;
        Offer offered;
        boolean complete;
        boolean fellBack;
        long written;
        long read;
        boolean outputEnded;
        boolean closed;
        boolean aborted;
        boolean killed;
        boolean sawEnd;
        boolean sawError;
        private boolean notified;
        boolean sleepsForData;
        boolean sleepsForSpace;
        boolean released;

        End(FakeTcp tcp, Session session) {
            this.tcp = tcp;
            this.session = session;
            stream = new RingStream(tcp, Stream.Role.CLIENT, null, false);
            stream.listen(() -> notified = true);
        }

        private void wakeNotified() {
            boolean polls = notified && !isGone() && stream.kernelOps(READ) == 0; // else the kernel wakes it, too
            notified = false;
            if (!polls) {
                return;
            }
            int ready = stream.readyOps(READ | WRITE);
            sleepsForData &= (ready & READ) == 0;
            sleepsForSpace &= (ready & WRITE) == 0;
        }

        boolean isGone() {
            return closed || killed;
        }

        /**
         * Closes the stream; giving its memory back is for the test, not for this process's engine, which is late and a
         * second one.
         */
        void endStream(boolean abort) {
            stream.takeLink();
            stream.close(abort);
        }

        /** Polls each millisecond: the peer cannot ring for it. */
        boolean pollsByItself() {
            return stream.isOutputByRing() && !stream.isInputByRing();
        }

        @Override
        public String toString() {
            return "written %d, read %d, input by ring %s, output by ring %s, handshake complete %s, fell back %s, ended %s, closed %s, killed %s"
                    .formatted(written, read, stream.isInputByRing(), stream.isOutputByRing(), complete, fellBack,
                            outputEnded, closed, killed);
        }
    }

    final End a;
    final End b;
    private final End[] ends;
    /** The session of the two has failed: errors are right, though both ends live. */
    private boolean broken;

    /** @param window bytes of each direction that TCP takes before they are read */
    SwitchModel(SessionPair sessions, int window) {
        FakeTcp[] tcp = FakeTcp.pair(window);
        a = new End(tcp[0], sessions.a);
        b = new End(tcp[1], sessions.b);
        a.other = b;
        b.other = a;
        ends = new End[] {a, b};
    }

    // what an end's program does

    private static byte at(long position) {
        return (byte) (position * 31 + (position >>> 8) + 1); // doorbells are 0 now and then as data are
    }

    void write(End end, int bytes) throws IOException {
        if (end.isGone() || end.outputEnded) {
            return;
        }
        ByteBuffer data = ByteBuffer.allocate(bytes);
        for (int i = 0; i < bytes; i++) {
            data.put(i, at(end.written + i));
        }
        try {
            int n = end.stream.write(data);
            assertThat(n).isEqualTo(data.position());
            end.written += n;
        } catch (IOException e) {
            assertThat(end.other.isGone() || broken).as("an error though the peer is there: %s", e).isTrue();
            end.outputEnded = true;
        }
        end.sleepsForSpace = false;
    }

    void read(End end, int room) throws IOException {
        if (end.isGone() || end.sawEnd || end.sawError) {
            return;
        }
        end.sleepsForData = false;
        ByteBuffer into = ByteBuffer.allocate(room);
        int n;
        try {
            n = end.stream.read(into);
        } catch (IOException e) {
            end.sawError = true;
            assertThat(end.other.isGone() || broken).as("an error though the peer is there: %s", e).isTrue();
            return;
        }
        if (n < 0) {
            end.sawEnd = true;
            End from = end.other;
            assertThat(from.outputEnded || from.isGone()).as("an end without a cause").isTrue();
            if (!from.aborted && !from.killed) {
                assertThat(end.read).as("bytes before the end").isEqualTo(from.written);
            }
            return;
        }
        assertThat(into.position()).isEqualTo(n);
        for (int i = 0; i < n; i++) {
            if (into.get(i) != at(end.read + i)) {
                fail("byte " + (end.read + i) + " is " + into.get(i));
            }
        }
        for (int i = n; i < room; i++) {
            if (into.get(i) != 0) {
                fail("a byte beyond what was read is " + into.get(i));
            }
        }
        end.read += n;
        assertThat(end.read).isLessThanOrEqualTo(end.other.written);
    }

    /** Goes to sleep as a blocked thread does. */
    void sleep(End end, int ops) {
        if (end.isGone() || end.sawEnd || end.sawError) {
            return;
        }
        int wanted = end.outputEnded ? READ : ops;
        if (end.stream.arm(wanted, null) == 0) {
            if (end.pollsByItself()) {
                return;
            }
            end.sleepsForData |= (wanted & READ) != 0;
            // a writer that waits for TCP's window waits for the peer's reader, which rings do not change
            end.sleepsForSpace |= (wanted & WRITE) != 0 && end.stream.isOutputByRing();
        }
    }

    /** After each step: an end that was notified of a change checks whether it has to sleep on. */
    void wakeNotified() {
        a.wakeNotified();
        b.wakeNotified();
    }

    /** The readiness that the kernel reports to a sleeper. */
    void wake(End end) {
        if (end.isGone()) {
            return;
        }
        int ops = (end.sleepsForData ? READ : 0) | (end.sleepsForSpace ? WRITE : 0);
        int wanted = end.stream.kernelOps(ops == 0 ? READ : ops);
        int kernelReady = (wanted & READ) != 0 && end.tcp.isReadable() ? READ : 0;
        kernelReady |= (wanted & WRITE) != 0 && end.tcp.isWritable() ? WRITE : 0;
        if (kernelReady != 0) {
            end.stream.kernelReady(kernelReady, ops == 0 ? READ : ops);
            end.sleepsForData = false; // it polls, and arms again if it has to
            end.sleepsForSpace = false;
        }
    }

    void endOutput(End end) throws IOException {
        if (!end.isGone() && !end.outputEnded && !end.sleepsForSpace) { // a writer that waits holds the lock
            end.outputEnded = true;
            end.stream.shutdownOutput();
        }
    }

    /** As the channel does it. */
    void close(End end, boolean abort) throws IOException {
        if (!end.isGone()) {
            end.closed = true;
            end.outputEnded = true;
            end.endStream(abort);
            end.aborted = end.stream.isAborted(); // with bytes unread, too
            if (end.stream.isBroken()) {
                end.other.tcp.reset();
            }
            end.tcp.close();
        }
    }

    // what befalls it

    /**
     * A step of the handshake: an offer of one's own, then taking the other's.
     *
     * @param refuse it lacks something for an offer
     */
    void stepHandshake(End end, boolean refuse) throws VerbsException {
        if (end.killed || end.complete || end.fellBack) {
            return;
        }
        if (end.link == null) {
            if (end.closed || refuse || end.other.fellBack) {
                fallBack(end);
                return;
            }
            Link link = Link.create(end.session, end.stream);
            if (!end.stream.prepare(link)) {
                link.release();
                fallBack(end);
                return;
            }
            end.link = link;
            end.offered = link.offer();
        } else if (end.other.offered != null) {
            end.complete = true;
            end.stream.completeHandshake(end.other.offered);
        } else if (end.other.fellBack || end.other.killed) {
            fallBack(end);
        }
    }

    private static void fallBack(End end) {
        end.fellBack = true;
        end.stream.fallBack(FallbackReason.CLOSED_EARLY);
        if (end.link != null) {
            end.link.release();
            end.released = true;
        }
    }

    /** What the engine does when the peer's has called. */
    void answerCalls(End end) {
        if (!end.killed) {
            assertThat(end.session.answerProgressRequests()).isTrue();
        }
    }

    /**
     * The process is gone: TCP reports it, the rings do not.
     *
     * @param unread there was something in its TCP that it had not read
     */
    void kill(End end, boolean unread) throws IOException {
        if (!end.isGone()) {
            end.killed = true;
            end.tcp.close();
            if (unread) {
                end.other.tcp.reset();
            }
        }
    }

    /** The session has failed; sleeping threads are woken by {@link #breakOff}. */
    void sessionFailed() {
        broken = true;
    }

    /** What the engines do a while after the session has failed. */
    void breakOff() {
        for (End end : ends) {
            if (!end.isGone()) {
                end.stream.breakOff();
                boolean sleeps = end.sleepsForData && end.stream.readyOps(READ) != 0
                        || end.sleepsForSpace && end.stream.readyOps(WRITE) != 0;
                assertThat(!sleeps || end.tcp.willBeReadable()).as("sleeps on a session that broke off: %s", end)
                        .isTrue();
            }
        }
    }

    // what is checked

    /** All that was posted has arrived; the engine sees to that. */
    private void arriveAll() {
        for (End end : ends) {
            while (end.session.isBusy()) {
                synchronized (end.session) {
                    end.session.poll();
                }
            }
        }
    }

    private static boolean kernelWakes(End end, int ops) {
        int wanted = end.stream.kernelOps(ops);
        return (wanted & READ) != 0 && end.tcp.willBeReadable() || (wanted & WRITE) != 0 && end.tcp.isWritable();
    }

    /** No thread sleeps while bytes or room are there, unless a wake-up is under way. */
    void checkSleepers() {
        arriveAll();
        for (End end : ends) {
            if (end.isGone()) {
                continue;
            }
            boolean woken = kernelWakes(end, READ); // before the checks, which may take what wakes it
            boolean wokenForSpace = kernelWakes(end, WRITE);
            if (end.sleepsForData && end.stream.readyOps(READ) != 0 && !woken) {
                fail("sleeps while there are data: " + end + "; the other: " + end.other);
            }
            if (end.sleepsForSpace && end.stream.readyOps(WRITE) != 0 && !wokenForSpace) {
                fail("sleeps while there is space: " + end + "; the other: " + end.other);
            }
        }
    }

    /** Lets everything arrive and reads what is left. */
    void settle() throws Exception {
        for (int i = 0; i < 3; i++) {
            stepHandshake(a, false);
            stepHandshake(b, false);
        }
        if (broken) {
            breakOff();
        }
        for (int round = 0; round < 10_000; round++) {
            long before = a.read + b.read;
            for (End end : ends) {
                end.tcp.arrive(Integer.MAX_VALUE);
                read(end, REST);
            }
            if (a.read + b.read == before && !a.tcp.isReadable() && !b.tcp.isReadable()) {
                break;
            }
            if (a.read + b.read == before) {
                wake(a);
                wake(b);
                if (round > 50) {
                    break;
                }
            }
        }
        for (End end : ends) {
            End from = end.other;
            if (!end.isGone() && !from.aborted && !from.killed) {
                checkAllArrived(end, from);
            }
        }
    }

    private void checkAllArrived(End end, End from) {
        if (broken) {
            assertThat(end.read == from.written || end.sawError).as("bytes that arrived, or an error: %s, %s", end,
                    from).isTrue();
            return;
        }
        assertThat(end.read).as("bytes that arrived: %s; from %s", end, from).isEqualTo(from.written);
        if (from.outputEnded) {
            assertThat(end.sawEnd || end.sawError).as("the end arrives").isTrue();
        }
    }

    /** Closes, and sees that all of it comes back. */
    void end() throws Exception {
        close(a, false);
        close(b, false);
        for (End end : ends) {
            if (end.killed) { // the memory of a process that died goes with it; here it is the test's
                end.endStream(true);
            }
        }
        for (int i = 0; i < 3; i++) {
            stepHandshake(a, false);
            stepHandshake(b, false);
        }
        arriveAll(); // nothing of a killed end is on its way to memory that the next schedule uses
        if (!broken) {
            answerCalls(a);
            answerCalls(b);
        }
        for (End end : ends) {
            if (end.link != null && !end.released) {
                if (!end.other.killed && end.other.complete && end.complete) {
                    assertThat(end.link.isLetGo()).as("the peer lets go of the memory").isTrue();
                }
                end.link.release();
            }
        }
    }
}
