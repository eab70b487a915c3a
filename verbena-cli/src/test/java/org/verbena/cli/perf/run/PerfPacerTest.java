// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The sender of messages at fixed times, with transports that are slow in known ways. */
class PerfPacerTest {
    private static final double MILLI = 1e6;

    private Socket socket;
    private PerfControl control;
    private ServerSocket listener;

    @BeforeEach
    void connect() throws IOException {
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        socket = new Socket(listener.getInetAddress(), listener.getLocalPort());
        control = new PerfControl(socket);
    }

    @AfterEach
    void close() throws IOException {
        control.close();
        listener.close();
    }

    /** A transport that answers at once, as far as it is not told otherwise. */
    private static class Fake implements PerfPaced {
        PerfPacer pacer;
        final int limit;
        long sent;
        long answered;
        long most;

        Fake(int limit) {
            this.limit = limit;
        }

        @Override
        public int inFlight() {
            return limit;
        }

        @Override
        public boolean send() {
            sent++;
            most = Math.max(most, sent - answered);
            return true;
        }

        @Override
        public void poll() {
            answered++;
            pacer.answered();
        }
    }

    private PerfPacer pacer(Fake transport, int skip, double interval) {
        PerfPacer p = new PerfPacer(transport, control, skip);
        transport.pacer = p;
        p.interval(interval);
        return p;
    }

    private static void pause(long nanos) {
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end;) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    /** One answer takes 50 ms: 50 messages were to be sent meanwhile, and waited. From when they were sent, one is slow. */
    @Test
    void waitingCounts() throws IOException {
        Fake slow = new Fake(1) {
            @Override
            public void poll() {
                if (answered == 10) {
                    pause(TimeUnit.MILLISECONDS.toNanos(50));
                }
                super.poll();
            }
        };
        PerfPacer p = pacer(slow, 0, MILLI);
        p.run(100);
        assertThat(slow.sent).isEqualTo(100);
        assertThat(p.histogram().getTotalCount()).isEqualTo(100);
        assertThat(p.histogram().getMaxValue()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(50));
        assertThat(p.histogram().getCountBetweenValues(TimeUnit.MILLISECONDS.toNanos(20), p.histogram()
                .getMaxValue()))
                .isGreaterThanOrEqualTo(29);
    }

    @Test
    void messagesKeepTheirTimes() throws IOException {
        Fake fast = new Fake(PerfPaced.UNLIMITED);
        PerfPacer p = pacer(fast, 0, MILLI);
        long began = System.nanoTime();
        p.run(50);
        assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(49));
        assertThat(p.reached(1000)).isPositive();
        assertThat(PerfRate.of(1000, 1234).reached()).isEqualTo(1000);
        assertThat(PerfPacer.after(3_000_000, 333.5)).isEqualTo(1_000_500_000);
        assertThat(PerfPacer.after(0, 333.5)).isZero();
    }

    /** Eight answers in 2 ms are not ten million a second, though no later than after a pause. */
    @Test
    void slowRunOfFewMessagesHasNotReachedItsRate() throws IOException {
        Fake slow = new Fake(1) {
            @Override
            public void poll() {
                pause(TimeUnit.MICROSECONDS.toNanos(250));
                super.poll();
            }
        };
        PerfPacer p = pacer(slow, 0, 100);
        p.run(8);
        assertThat(p.reached(10_000_000)).isLessThan(5_000);
    }

    /** Several are sent before the first is answered, as far as the transport goes. */
    @Test
    void sendingDoesNotWaitForAnswers() throws IOException {
        for (int limit : new int[] {PerfPaced.UNLIMITED, 3}) {
            Fake lazy = new Fake(limit) {
                @Override
                public void poll() {
                    if (sent - answered >= Math.min(limit, 10) || sent == 100) {
                        super.poll();
                    }
                }
            };
            pacer(lazy, 0, 1000).run(100);
            assertThat(lazy.most).isEqualTo(Math.min(limit, 10));
            assertThat(lazy.answered).isEqualTo(100);
        }
    }

    @Test
    void firstOnesAreSentOneByOneAndDoNotCount() throws IOException {
        Fake fast = new Fake(PerfPaced.UNLIMITED) {
            @Override
            public boolean send() {
                boolean taken = super.send();
                assertThat(sent > 16 || sent - answered == 1).isTrue();
                return taken;
            }
        };
        PerfPacer p = pacer(fast, 16, 100);
        p.run(116);
        assertThat(p.histogram().getTotalCount()).isEqualTo(100);
        p.run(5);
        assertThat(p.histogram().getTotalCount()).isZero();
        assertThat(p.reached(7)).isEqualTo(7);
    }

    /** A transport that is full is asked again, and its answers are taken meanwhile. */
    @Test
    void refusedMessageIsSentLater() throws IOException {
        Fake full = new Fake(PerfPaced.UNLIMITED) {
            private int asked;

            @Override
            public boolean send() {
                return ++asked % 3 == 0 && super.send();
            }

            @Override
            public void poll() {
                if (sent > answered) {
                    super.poll();
                }
            }
        };
        PerfPacer p = pacer(full, 4, 10);
        p.run(1000);
        assertThat(full.sent).isEqualTo(1000);
        assertThat(p.histogram().getTotalCount()).isEqualTo(996);
    }

    @Test
    void rateThatIsTooHighIsSeen() throws IOException {
        Fake slow = new Fake(1) {
            @Override
            public void poll() {
                pause(TimeUnit.MILLISECONDS.toNanos(2));
                super.poll();
            }
        };
        PerfPacer p = pacer(slow, 2, MILLI);
        p.run(52);
        PerfRate rate = PerfRate.of(1000, p.reached(1000));
        assertThat(rate.reached()).isBetween(1.0, 501.0);
        assertThat(rate.isKept()).isFalse();
        assertThat(new PerfRate(1000, 990).isKept()).isTrue();
        assertThat(new PerfRate(1000, 989.99).isKept()).isFalse();
    }

    @Test
    void nothingIsAllocated() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        PerfPacer p = pacer(new Fake(PerfPaced.UNLIMITED), 16, 50);
        p.run(100_000); // what is loaded at a first use, a pause of the machine among it
        long before = threads.getCurrentThreadAllocatedBytes();
        p.run(100_000);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1000);
    }
}
