// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.PeerException;

/**
 * Sends the messages of a plan, and notes when they are answered: in {@link Plan.Mode#PING_PONG} on one thread, else the answers
 * have one of their own. The loops allocate nothing.
 */
final class Client implements AutoCloseable {
    /** So many times in a row, and there is no server any more: a run without a time ends. */
    private static final int LOST_IN_A_ROW = 10;
    /** So many times longer answers are waited for after the last message where none is lost. */
    private static final int LAST_ANSWERS = 4;
    /** Up to this before its time a message is waited for without sleep. */
    private static final long SPIN_NANOS = 200_000;
    /** Each of these bytes after the header tells where it belongs. */
    private static final int PATTERN = 251;
    /** 2^64 divided by the golden ratio: multiples of it are spread evenly. */
    private static final long MIX = 0x9e37_79b9_7f4a_7c15L;

    private final Plan plan;
    private final List<Link> links;
    private final boolean lossy;
    private final SocketOptions.Wait wait;
    private final Receiver receiver;
    private final Times times;
    private final ByteBuffer out = ByteBuffer.allocateDirect(Message.MAX_BYTES);
    private final boolean skipping;
    private final @Nullable String senderCpus;
    private final @Nullable String receiverCpus;

    private long sequence;
    private long skipped;
    private int next;
    private long firstOfBurst;
    private int sentOfBurst;
    private int answersOfBurst;
    private int lostInARow;
    private volatile boolean over;
    private volatile long end = Long.MAX_VALUE;
    private volatile long waitingSince;
    private volatile @Nullable IOException failure;

    /**
     * Makes one.
     *
     * @param links to the servers; closed with this
     * @param skipping whether what does not fit into a socket's buffer is left out
     * @param senderCpus where the thread of {@link #run} sends; null: anywhere
     * @param receiverCpus where the thread of answers runs; null: anywhere
     */
    Client(Plan plan, List<Link> links, boolean lossy, SocketOptions.Wait wait, int timeoutMillis,
            SelectorProvider provider,
            boolean skipping, @Nullable String senderCpus, @Nullable String receiverCpus) throws IOException {
        this.plan = plan;
        this.links = links;
        this.lossy = lossy;
        this.wait = wait;
        this.skipping = skipping;
        this.senderCpus = senderCpus;
        this.receiverCpus = receiverCpus;
        times = new Times(plan.every());
        int lostMillis = (int) (plan.lostNanos() / 1_000_000);
        receiver = new Receiver(links, wait, lossy && plan.mode() == Plan.Mode.PING_PONG && (timeoutMillis < 0
                || timeoutMillis > lostMillis)
                        ? lostMillis
                        : timeoutMillis, provider, this::received);
        for (int i = Message.HEADER_BYTES; i < Message.MAX_BYTES; i++) {
            out.put(i, (byte) (i % PATTERN));
        }
    }

    /** Ends the run early; any thread. */
    void stop() {
        over = true;
        links.forEach(Link::close);
        receiver.wakeUp();
    }

    /** How many messages were sent so far; any thread. */
    long sent() {
        return times.sent();
    }

    /** Does it all, once. */
    Run run() throws IOException {
        try {
            warmUp();
        } catch (PortUnreachableException e) {
            throw Channels.nobody(links.getFirst().peer(), e);
        }
        long start = System.nanoTime();
        if (plan.isTimed()) {
            end = start + plan.nanos();
        }
        boolean pingPong = plan.mode() == Plan.Mode.PING_PONG;
        Thread watch = thread("watch", this::watch);
        Thread receive = pingPong || plan.every() == 0 && wait == SocketOptions.Wait.BLOCK
                ? watch
                : thread("receive", this::receiveAll);
        try {
            Affinity.bind("--sender-affinity", senderCpus); // not the others: they would inherit it
            if (plan.playback() != null) {
                play(plan.playback(), start);
            } else {
                send(start, pingPong);
            }
        } catch (ClosedChannelException e) {
            if (!over) {
                throw e;
            }
        } catch (PortUnreachableException e) {
            throw Channels.nobody(links.getFirst().peer(), e);
        } finally {
            long ended = System.nanoTime();
            if (!pingPong && plan.every() > 0) {
                awaitAnswers(ended);
            }
            stop();
            join(watch);
            join(receive);
            end = ended;
        }
        IOException f = failure;
        if (f != null) {
            throw f;
        }
        return new Run(plan, times, start, end, skipped, links.stream().mapToLong(Link::malformed).sum(), links.size());
    }

    private static Thread thread(String name, Runnable task) {
        return Thread.ofPlatform().daemon().name("verbena-sockperf-" + name).start(task);
    }

    private static void join(Thread t) {
        boolean interrupted = false;
        while (t.isAlive()) {
            try {
                t.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Two messages by each link which the server does not answer: addresses are resolved, and buffers are there. */
    private void warmUp() throws IOException {
        for (Link l : links) {
            for (int i = 0; i < 2 && lossy; i++) {
                prepare(plan.bytes(), Message.CLIENT | Message.WARM_UP, 0);
                boolean _ = l.send(out);
            }
        }
    }

    private void prepare(int bytes, int flags, long number) {
        out.clear().limit(bytes);
        Message.header(out, number, flags, bytes);
    }

    // ---- sending

    private void send(long start, boolean pingPong) throws IOException {
        long planned = start;
        long period = plan.periodNanos();
        while (!isOver()) {
            burst(planned, period == 0);
            if (pingPong) {
                awaitBurst();
            }
            if (period != 0) {
                planned += period;
                if (!awaitTime(planned)) {
                    return;
                }
            }
        }
    }

    private boolean isOver() {
        return over || failure != null || times.isFull(sequence) || (plan.isTimed()
                ? System.nanoTime() - end >= 0
                : sequence + skipped >= plan.messages());
    }

    /** A small method, so that the JVM compiles it and not a loop entered half-way. */
    private void burst(long planned, boolean unplanned) throws IOException {
        firstOfBurst = sequence + 1;
        sentOfBurst = 0;
        answersOfBurst = 0;
        Link link = links.get(next);
        next = next + 1 == links.size() ? 0 : next + 1;
        for (int i = 0; i < plan.burst(); i++) {
            long now = System.nanoTime();
            send(link, length(sequence + 1), unplanned ? now : planned, now);
        }
    }

    /** Of a message: random, and always the same for one number, so that answers can be compared. */
    private int length(long number) {
        int range = plan.range();
        return range == 0
                ? plan.bytes()
                : plan.bytes() - range + (int) Long.remainderUnsigned(number * MIX >>> 16, 2L * range + 1);
    }

    private void send(Link link, int bytes, long planned, long now) throws IOException {
        long number = sequence + 1;
        times.sending(number, planned, now);
        prepare(bytes, times.asks(number) ? Message.CLIENT | Message.PONG : Message.CLIENT, number);
        if (link.send(out)) {
            sequence = number;
            sentOfBurst++;
            return;
        }
        if (skipping && out.position() == 0) {
            times.skipped(number);
            skipped++;
            return;
        }
        sequence = number;
        sentOfBurst++;
        sendRest(link);
    }

    /** The socket's buffer is full. */
    private void sendRest(Link link) throws IOException {
        while (!over && failure == null && !link.send(out)) {
            if (plan.mode() == Plan.Mode.PING_PONG) {
                receiver.takeNow(); // the server may not send before that
            }
            if (plan.isTimed() && System.nanoTime() - end >= 0) {
                over = true;
            }
            Thread.onSpinWait();
        }
    }

    /** Waits until a time; false if the run is over before. */
    private boolean awaitTime(long planned) {
        for (long left = planned - System.nanoTime(); left > 0; left = planned - System.nanoTime()) {
            if (isOver()) {
                return false;
            }
            if (left > 2 * SPIN_NANOS) {
                LockSupport.parkNanos(Math.min(left - SPIN_NANOS, plan.lostNanos()));
            } else {
                Thread.onSpinWait();
            }
        }
        return true;
    }

    private void play(Playback playback, long start) throws IOException {
        for (int i = 0; i < playback.count() && !over && failure == null; i++) {
            long planned = start + playback.nanos(i);
            while (!over && failure == null && System.nanoTime() - planned < 0) {
                boolean _ = awaitTime(planned);
            }
            Link link = links.get(next);
            next = next + 1 == links.size() ? 0 : next + 1;
            send(link, playback.bytes(i), planned, System.nanoTime());
        }
    }

    // ---- receiving

    private void awaitBurst() throws IOException {
        long since = System.nanoTime();
        waitingSince = since;
        while (!over && answersOfBurst < sentOfBurst) {
            receiver.round();
            if (answersOfBurst < sentOfBurst) {
                long now = System.nanoTime();
                if (plan.isTimed() && now - end >= 0) {
                    break;
                }
                if (lossy && now - since >= plan.lostNanos()) {
                    if (answersOfBurst == 0 && ++lostInARow == LOST_IN_A_ROW && !plan.isTimed()) {
                        throw silent();
                    }
                    break;
                }
            }
        }
        if (answersOfBurst > 0) {
            lostInARow = 0;
        }
        waitingSince = 0;
    }

    private PeerException silent() {
        return new PeerException(links.getFirst().peer() + " does not answer any more: is the server down?");
    }

    private void received(ByteBuffer message) throws IOException {
        long now = System.nanoTime();
        if (Message.has(message, Message.CLIENT) || Message.has(message, Message.WARM_UP)) {
            return; // what was sent to a group by this end
        }
        long number = Message.sequence(message);
        if (number == 0) {
            return; // the answer to a question of watch
        }
        if (times.answered(number, now)) {
            answersOfBurst += number >= firstOfBurst ? 1 : 0; // or it is late
            if (plan.integrity()) {
                compare(message);
            }
        }
    }

    private void compare(ByteBuffer message) throws IOException {
        int n = message.remaining();
        int length = length(Message.sequence(message));
        boolean same = n == length;
        for (int i = Message.HEADER_BYTES; i < n && same; i++) {
            same = message.get(message.position() + i) == (byte) (i % PATTERN);
        }
        if (!same) {
            throw new PeerException("data integrity test failed: the answer to message " + Message.sequence(message)
                    + " of "
                    + length + " bytes has " + n + " bytes" + (n == length ? ", and other ones" : ""));
        }
    }

    /** On a thread of its own. */
    private void receiveAll() {
        try {
            Affinity.bind("--receiver-affinity", receiverCpus);
            while (!over) {
                receiver.round();
            }
        } catch (ClosedChannelException e) {
            if (!over) {
                fail(e);
            }
        } catch (PortUnreachableException e) {
            fail(Channels.nobody(links.getFirst().peer(), e));
        } catch (IOException e) {
            if (!over) {
                fail(e);
            }
        } catch (RuntimeException e) {
            fail(new CommandException("receiving failed: " + e, e));
        }
    }

    private void fail(IOException e) {
        failure = e;
    }

    private void awaitAnswers(long since) {
        while (!over && failure == null && times.isUnanswered() && System.nanoTime() - since < plan.lostNanos() * (lossy
                ? 1
                : LAST_ANSWERS)) {
            LockSupport.parkNanos(SPIN_NANOS);
        }
    }

    /**
     * On a thread of its own: ends a call that waits for an answer which does not come, or to send to a server that does not
     * receive.
     */
    private void watch() {
        ByteBuffer question = ByteBuffer.allocateDirect(Message.HEADER_BYTES);
        Message.header(question, 0, Message.CLIENT | Message.PONG, Message.HEADER_BYTES);
        int asked = 0;
        while (!over) {
            LockSupport.parkNanos(plan.lostNanos() / 4);
            long now = System.nanoTime();
            if (plan.isTimed() && now - end - plan.lostNanos() * (LAST_ANSWERS + 1) >= 0) {
                stop();
            }
            long since = waitingSince;
            if (!lossy || wait != SocketOptions.Wait.BLOCK || since == 0 || now - since < plan.lostNanos()) {
                asked = 0;
            } else if (++asked > 4 * LOST_IN_A_ROW && !plan.isTimed()) {
                fail(silent());
                stop();
            } else if (!over) {
                try { // number 0 is no message's: its answer only has the call return
                    boolean _ = links.getFirst().send(question.clear());
                } catch (IOException e) {
                    // the waiting call gets it, too
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        stop();
        receiver.close();
    }
}
