// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.concurrent.CountDownLatch;

import org.verbena.verbs.spi.Engine;

/** An engine whose thread paused still until this is closed. */
final class PausedEngine implements AutoCloseable {
    private final CountDownLatch resumed = new CountDownLatch(1);

    PausedEngine(Engine engine) throws InterruptedException {
        CountDownLatch paused = new CountDownLatch(1);
        engine.submit(() -> {
            paused.countDown();
            try {
                resumed.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        paused.await();
    }

    boolean isPaused() {
        return resumed.getCount() > 0;
    }

    @Override
    public void close() {
        resumed.countDown();
    }
}
