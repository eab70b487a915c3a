// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.concurrent.CountDownLatch;

import org.verbena.verbs.spi.Engine;

/** An engine whose thread stands still until this is closed. */
final class HeldEngine implements AutoCloseable {
    private final CountDownLatch goesOn = new CountDownLatch(1);

    HeldEngine(Engine engine) throws InterruptedException {
        CountDownLatch stands = new CountDownLatch(1);
        engine.submit(() -> {
            stands.countDown();
            try {
                goesOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        stands.await();
    }

    boolean isHeld() {
        return goesOn.getCount() > 0;
    }

    @Override
    public void close() {
        goesOn.countDown();
    }
}
