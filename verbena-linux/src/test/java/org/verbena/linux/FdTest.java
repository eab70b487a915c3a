// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Descriptors;

class FdTest {
    @Test
    void refusesNegativeNumbers() {
        assertThatThrownBy(() -> Fd.of(-1)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("-1");
    }

    @Test
    void closesOnceAndThenHasNoValue() throws Exception {
        Fd fd = Memfd.create("fd-close", 0);
        assertThat(Descriptors.count("fd-close")).isEqualTo(1);
        assertThat(fd.toString()).isEqualTo("Fd[" + fd.value() + "]");
        fd.close();
        fd.close();
        assertThat(fd.isClosed()).isTrue();
        assertThat(fd).hasToString("Fd[closed]");
        assertThat(Descriptors.count("fd-close")).isZero();
        assertThatThrownBy(fd::value).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
        assertThatThrownBy(() -> Memfd.size(fd)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void concurrentClosesNeverCloseAnotherFile() throws Exception {
        for (int round = 0; round < 200; round++) {
            Fd fd = Memfd.create("fd-victim", 0);
            CountDownLatch start = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            List<Fd> opened = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        fd.close();
                        Fd own = Memfd.create("fd-bystander", 0);
                        synchronized (opened) {
                            opened.add(own);
                        }
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            start.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(Descriptors.count("fd-bystander")).isEqualTo(4);
            opened.forEach(Fd::close);
        }
        assertThat(Descriptors.count("fd-victim")).isZero();
    }

    @Test
    void unknownNumberGivesEbadf() {
        Fd fd = Fd.of(1_000_000_000);
        assertThatThrownBy(() -> Memfd.size(fd))
                .isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
        fd.close();
    }
}
