// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Test;

/** Eventfd, Epoll, Poll and Doorbell. */
class EventsTest {
    @Test
    void eventfdCounts() throws Exception {
        try (Fd fd = Eventfd.create()) {
            assertThat(Eventfd.drain(fd)).isZero();
            Eventfd.signal(fd);
            Eventfd.signal(fd);
            assertThat(Eventfd.signalQuietly(fd.value())).isZero();
            assertThat(Eventfd.drain(fd)).isEqualTo(3);
            assertThat(Eventfd.drain(fd)).isZero();
        }
    }

    @Test
    void eventfdErrors() throws Exception {
        assertThat(Eventfd.signalQuietly(-1)).isEqualTo(Errno.EBADF);
        assertThat(Eventfd.signalQuietly(Integer.MIN_VALUE)).isEqualTo(Errno.EBADF);
        assertThat(Eventfd.signalQuietly(1_000_000_000)).isEqualTo(Errno.EBADF);
        Fd fd = Eventfd.create();
        fd.close();
        assertThatThrownBy(() -> Eventfd.signal(fd)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> Eventfd.drain(fd)).isInstanceOf(IllegalStateException.class);
        try (Epoll epoll = Epoll.create()) {
            MemfdTest.assertErrno(Errno.EINVAL, () -> Eventfd.signal(epoll.fd()));
            MemfdTest.assertErrno(Errno.EINVAL, () -> Eventfd.drain(epoll.fd()));
        }
    }

    @Test
    void doorbellOfClosedOwnerFails() throws Exception {
        String name = "verbena-test-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
        Doorbell owner = Doorbell.bind(name);
        try (Doorbell ringer = Doorbell.connect(name)) {
            for (int i = 0; i < 1000; i++) { // more than fit
                assertThat(ringer.ring()).isZero();
            }
            owner.silence();
            assertThat(ringer.ring()).isZero();
            owner.close();
            assertThat(ringer.ring()).isEqualTo(Errno.ECONNREFUSED);
            assertThat(ringer.ring()).isEqualTo(Errno.ECONNREFUSED);
        }
    }

    @Test
    void epollReportsEventsAndTokens() throws Exception {
        try (Epoll epoll = Epoll.create();
                Fd a = Eventfd.create();
                Fd b = Eventfd.create();
                Fd c = Eventfd.create()) {
            long tokenA = 0x0123456789ABCDEFL;
            epoll.add(a, Epoll.IN, tokenA);
            epoll.add(b, Epoll.IN | Epoll.ET, -1);
            epoll.add(c, Epoll.IN, 7);
            assertThat(epoll.await(0)).isZero();
            Eventfd.signal(a);
            Eventfd.signal(b);
            assertThat(epoll.await(-1)).isEqualTo(2);
            Map<Long, Integer> seen = new HashMap<>();
            for (int i = 0; i < 2; i++) {
                seen.put(epoll.token(i), epoll.events(i));
            }
            assertThat(seen).isEqualTo(Map.of(tokenA, Epoll.IN, -1L, Epoll.IN));
            assertThatThrownBy(() -> epoll.token(2)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> epoll.events(-1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(epoll.await(100)).as("b is edge-triggered").isEqualTo(1);
            assertThat(epoll.token(0)).isEqualTo(tokenA);
            epoll.modify(a, Epoll.OUT | Epoll.ONESHOT, 9);
            assertThat(epoll.await(100)).isEqualTo(1);
            assertThat(epoll.token(0)).isEqualTo(9);
            assertThat(epoll.events(0)).isEqualTo(Epoll.OUT);
            assertThat(epoll.await(0)).isZero();
            epoll.remove(a);
            MemfdTest.assertErrno(Errno.ENOENT, () -> epoll.remove(a));
        }
    }

    @Test
    void epollErrors() throws Exception {
        Epoll epoll = Epoll.create();
        try (Fd event = Eventfd.create();
                Fd absent = Eventfd.create();
                Fd file = Memfd.create("not-pollable", 0)) {
            epoll.add(event, Epoll.IN, 0);
            MemfdTest.assertErrno(Errno.EEXIST, () -> epoll.add(event, Epoll.IN, 0));
            MemfdTest.assertErrno(Errno.EPERM, () -> epoll.add(file, Epoll.IN, 0));
            MemfdTest.assertErrno(Errno.ENOENT, () -> epoll.modify(absent, Epoll.IN, 0));
            MemfdTest.assertErrno(Errno.EBADF, () -> epoll.add(Fd.of(1_000_000_000), Epoll.IN, 0));
            assertThatThrownBy(() -> epoll.await(-2)).isInstanceOf(IllegalArgumentException.class);
        }
        epoll.close();
        epoll.close();
        assertThatThrownBy(() -> epoll.await(0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void epollCarriesMoreEventsThanOneWait() throws Exception {
        int count = Epoll.MAX_EVENTS + 10;
        Fd[] fds = new Fd[count];
        try (Epoll epoll = Epoll.create()) {
            for (int i = 0; i < count; i++) {
                fds[i] = Eventfd.create();
                epoll.add(fds[i], Epoll.IN, i);
                Eventfd.signal(fds[i]);
            }
            boolean[] seen = new boolean[count];
            for (int total = 0; total < count;) {
                int n = epoll.await(1000);
                assertThat(n).isPositive();
                for (int i = 0; i < n; i++) {
                    int token = (int) epoll.token(i);
                    assertThat(seen[token]).isFalse();
                    seen[token] = true;
                    epoll.remove(fds[token]);
                }
                total += n;
            }
        } finally {
            for (Fd fd : fds) {
                fd.close();
            }
        }
    }

    @Test
    void waitsTimeOutAndAreWoken() throws Exception {
        try (Epoll epoll = Epoll.create();
                Fd fd = Eventfd.create()) {
            epoll.add(fd, Epoll.IN, 1);
            long start = System.nanoTime();
            assertThat(epoll.await(50)).isZero();
            assertThat(Poll.await(fd, Poll.IN, 50)).isZero();
            assertThat(System.nanoTime() - start).isGreaterThan(95_000_000);
            Thread waker = Thread.ofPlatform().start(() -> {
                try {
                    Thread.sleep(50);
                    Eventfd.signal(fd);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(epoll.await(60_000)).isEqualTo(1);
            assertThat(Poll.await(fd, Poll.IN, -1)).isEqualTo(Poll.IN);
            assertThat(Poll.await(fd, Poll.IN | Poll.OUT, 0)).isEqualTo(Poll.IN | Poll.OUT);
            waker.join();
        }
    }

    @Test
    void pollReportsAClosedNumberAsNval() throws Exception {
        assertThat(Poll.await(Fd.of(1_000_000_000), Poll.IN, 0)).isEqualTo(Poll.NVAL);
        try (Fd fd = Eventfd.create()) {
            assertThatThrownBy(() -> Poll.await(fd, Poll.IN, -7)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void worksOnVirtualThreads() throws Exception {
        try (Fd fd = Eventfd.create()) {
            Thread[] threads = new Thread[50];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = Thread.ofVirtual().start(() -> {
                    for (int k = 0; k < 100; k++) {
                        Eventfd.signalQuietly(fd.value());
                        if (Eventfd.signalQuietly(-1) != Errno.EBADF) {
                            throw new AssertionError("errno of another thread");
                        }
                        LockSupport.parkNanos(1);
                    }
                });
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(Eventfd.drain(fd)).isEqualTo(5000);
        }
    }
}
