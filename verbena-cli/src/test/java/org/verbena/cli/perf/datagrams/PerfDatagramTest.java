// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.FutureTask;
import java.util.function.LongPredicate;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPacer;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.support.CommandException;

/** Tests of datagrams, some of which are lost. */
class PerfDatagramTest {
    private static final int SIZE = 64;

    private ServerSocket listener;
    private PerfControl control;
    private DatagramChannel answering;
    private Thread peer;

    @BeforeEach
    void connect() throws IOException {
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        control = new PerfControl(new Socket(listener.getInetAddress(), listener.getLocalPort()), 1);
        answering = PerfUdp.bind(InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void close() throws Exception {
        answering.close();
        if (peer != null) {
            peer.join();
        }
        control.close();
        listener.close();
    }

    /** Answers each datagram unless its number, from 0, is one that is lost. */
    private void answer(LongPredicate lost) {
        peer = Thread.ofPlatform().daemon().start(() -> {
            ByteBuffer b = ByteBuffer.allocate(SIZE);
            try {
                for (long n = 0;; n++) {
                    SocketAddress from = answering.receive(b.clear());
                    if (!lost.test(n)) {
                        answering.send(b.flip(), from);
                    }
                }
            } catch (ClosedChannelException e) {
                // the test has ended
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static PerfJob job(PerfTest test, long rate) {
        return new PerfJob(test, SIZE, PerfJob.NO_DEVICE, 0, 1, false, false, false, 1, PerfEnds.NONE, rate);
    }

    private PerfDatagramLatency initiator(long rate) throws IOException {
        PerfJob job = job(PerfTest.UDP_LAT_SPIN, rate);
        return (PerfDatagramLatency) PerfDatagramLoop.of(job, control, PerfUdp.of(job, PerfUdp.bind(InetAddress
                .getLoopbackAddress()), (InetSocketAddress) answering.getLocalAddress()), true);
    }

    private static PerfPacer pace(PerfDatagramLatency loop, PerfControl control) {
        PerfPacer pacer = new PerfPacer(loop, control, 0);
        pacer.interval(1000);
        loop.paceBy(pacer);
        return pacer;
    }

    @Test
    void answersHaveTheNumbersOfTheirDatagrams() throws IOException {
        answer(_ -> false);
        try (PerfDatagramLatency loop = initiator(1_000_000)) {
            PerfPacer pacer = pace(loop, control);
            for (int i = 0; i < 2; i++) {
                loop.run(1000);
                assertThat(pacer.histogram().getTotalCount()).isEqualTo(1000);
            }
        }
    }

    /** The next answer is not taken for the one that is missing. */
    @Test
    void lostDatagramIsNamed() throws IOException {
        answer(n -> n == 300);
        try (PerfDatagramLatency loop = initiator(1_000_000)) {
            pace(loop, control);
            assertThatThrownBy(() -> loop.run(1000)).isInstanceOf(CommandException.class).hasMessageStartingWith(
                    "message 301 or its answer was lost").hasMessageContaining("take a lower rate");
        }
    }

    /** No answer follows that would tell: a peer that is there and silent may have lost it. */
    @Test
    void lossOfTheLastOneIsNoSilentPeer() throws IOException {
        answer(n -> n == 99);
        try (PerfDatagramLatency loop = initiator(1_000_000)) {
            pace(loop, control);
            assertThatThrownBy(() -> loop.run(100)).hasMessageStartingWith("a message or its answer was lost")
                    .hasMessageContaining("for 1 second").hasMessageContaining("take a lower rate");
        }
    }

    @Test
    void lossWithoutARateIsNoSilentPeer() throws IOException {
        answer(n -> n == 10);
        try (PerfDatagramLatency loop = initiator(0)) {
            loop.recordInto(new int[100]);
            assertThatThrownBy(() -> loop.run(100)).hasMessageStartingWith("a message or its answer was lost");
        }
    }

    /** Both ends of {@code udp-rate}; datagrams of these numbers are lost on the way to the receiver. */
    private void rate(LongPredicate lost, long... runs) throws Exception {
        PerfJob job = job(PerfTest.UDP_RATE, 0);
        DatagramChannel one = PerfUdp.bind(InetAddress.getLoopbackAddress());
        DatagramChannel other = PerfUdp.bind(InetAddress.getLoopbackAddress());
        PerfUdp sending = PerfUdp.of(job, one, (InetSocketAddress) other.getLocalAddress());
        PerfUdp receiving = PerfUdp.of(job, other, (InetSocketAddress) one.getLocalAddress());
        try (PerfLoop sender = PerfDatagramLoop.of(job, control, new Losing(sending, lost), true);
                PerfLoop receiver = PerfDatagramLoop.of(job, control, receiving, false)) {
            for (long n : runs) {
                FutureTask<?> sends = new FutureTask<>(() -> {
                    sender.run(n);
                    return null;
                });
                Thread thread = Thread.ofPlatform().start(sends);
                try {
                    receiver.run(n);
                    sends.get();
                } finally {
                    thread.join();
                }
                assertThat(receiver.elapsed()).isPositive();
            }
        }
    }

    /** Says of some messages only that they are sent. */
    private static final class Losing implements PerfDatagrams {
        private final PerfDatagrams end;
        private final LongPredicate lost;
        private long sent;

        Losing(PerfDatagrams end, LongPredicate lost) {
            this.end = end;
            this.lost = lost;
        }

        @Override
        public int underWay() {
            return end.underWay();
        }

        @Override
        public boolean send(byte mark) throws IOException {
            if (!lost.test(sent) && !end.send(mark)) {
                return false;
            }
            sent++;
            return true;
        }

        @Override
        public boolean sendCredit() throws IOException {
            return end.sendCredit();
        }

        @Override
        public boolean receive() throws IOException {
            return end.receive();
        }

        @Override
        public byte mark() {
            return end.mark();
        }

        @Override
        public void close() throws IOException {
            end.close();
        }
    }

    /** Credits are for any number of messages, over the end of a run. */
    @Test
    void receiverAllowsMoreOverRunsOfAnyLength() throws Exception {
        rate(_ -> false, 1, 2, 1000, 63, 64, 65, 5000);
    }

    @Test
    void lossOfAMessageWithoutAnAnswerIsNamed() {
        assertThatThrownBy(() -> rate(n -> n == 300, 1000)).isInstanceOf(CommandException.class)
                .hasMessageStartingWith("message 301 or its answer was lost");
    }
}
