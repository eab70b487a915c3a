// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

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
import java.util.function.LongPredicate;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.cli.support.CommandException;

/** {@code udp-lat-spin} beside a peer that answers all datagrams but some. */
class PerfUdpTest {
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

    private PerfUdp initiator(long rate) throws IOException {
        PerfJob job = new PerfJob(PerfTest.UDP_LAT_SPIN, SIZE, PerfJob.NO_DEVICE, 0, 1, false, false, false, 1,
                PerfEnds.NONE, rate);
        return PerfUdp.of(job, control, PerfUdp.bind(InetAddress.getLoopbackAddress()),
                (InetSocketAddress) answering.getLocalAddress(), true);
    }

    private static PerfPacer pace(PerfUdp loop, PerfControl control) {
        PerfPacer pacer = new PerfPacer(loop, control, 0);
        pacer.interval(1000);
        loop.paceBy(pacer);
        return pacer;
    }

    @Test
    void answersHaveTheNumbersOfTheirDatagrams() throws IOException {
        answer(_ -> false);
        try (PerfUdp loop = initiator(1_000_000)) {
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
        try (PerfUdp loop = initiator(1_000_000)) {
            pace(loop, control);
            assertThatThrownBy(() -> loop.run(1000)).isInstanceOf(CommandException.class).hasMessageStartingWith(
                    "datagram 301 or its answer was lost").hasMessageContaining("take a lower rate");
        }
    }

    /** No answer follows that would tell: a peer that is there and silent may have lost it. */
    @Test
    void lossOfTheLastOneIsNoSilentPeer() throws IOException {
        answer(n -> n == 99);
        try (PerfUdp loop = initiator(1_000_000)) {
            pace(loop, control);
            assertThatThrownBy(() -> loop.run(100)).hasMessageStartingWith("a datagram or its answer was lost")
                    .hasMessageContaining("for 1 second").hasMessageContaining("take a lower rate");
        }
    }

    @Test
    void lossWithoutARateIsNoSilentPeer() throws IOException {
        answer(n -> n == 10);
        try (PerfUdp loop = initiator(0)) {
            loop.recordInto(new int[100]);
            assertThatThrownBy(() -> loop.run(100)).hasMessageStartingWith("a datagram or its answer was lost");
        }
    }
}
