// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

/** A thread of Verbena's own takes over nothing of the one that starts it, and cannot be interrupted. */
class ServiceThreadTest {
    private static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>();

    @Test
    void nothingOfTheStartingThreadIsTakenOver() throws Exception {
        CompletableFuture<Thread> own = new CompletableFuture<>();
        CompletableFuture<String> inherited = new CompletableFuture<>();
        ThreadGroup group = new ThreadGroup("theirs");
        Thread starter = new Thread(group, () -> {
            INHERITED.set("theirs");
            own.complete(ServiceThread.start("verbena-test", () -> inherited.complete(String.valueOf(INHERITED
                    .get()))));
        });
        try (URLClassLoader loader = new URLClassLoader(new URL[0])) {
            starter.setContextClassLoader(loader);
            starter.setPriority(Thread.MIN_PRIORITY);
            starter.setDaemon(false);
            starter.start();
            Thread t = own.get();
            assertThat(t.isDaemon()).isTrue();
            assertThat(t.getName()).isEqualTo("verbena-test");
            assertThat(t.getPriority()).isEqualTo(Thread.NORM_PRIORITY);
            assertThat(t.getContextClassLoader()).isSameAs(ClassLoader.getSystemClassLoader());
            assertThat(inherited.get()).isEqualTo("null");
        }
    }

    @Test
    void groupIsTheRootOne() {
        ThreadGroup group = ServiceThread.of("verbena-test", () -> {}).getThreadGroup();
        assertThat(group.getParent()).isNull();
    }

    @Test
    void interruptHasNoEffect() throws Exception {
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        CompletableFuture<Void> proceed = new CompletableFuture<>();
        Thread t = ServiceThread.start("verbena-test", () -> {
            proceed.join();
            interrupted.complete(Thread.currentThread().isInterrupted());
        });
        t.interrupt();
        proceed.complete(null);
        assertThat(interrupted.get()).isFalse();
    }
}
