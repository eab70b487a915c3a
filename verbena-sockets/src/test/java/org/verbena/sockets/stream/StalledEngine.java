// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;

import org.verbena.verbs.Context;

/**
 * The thread that takes what peers send to a context of shm0 stands still, as on a machine that is busy, until this is closed.
 * By reflection: these tests run with that provider, and are not compiled with it.
 */
final class StalledEngine implements AutoCloseable {
    private final CountDownLatch goOn = new CountDownLatch(1);

    /** It stands still when this returns. */
    StalledEngine(Context context) throws ReflectiveOperationException, InterruptedException {
        CountDownLatch stands = new CountDownLatch(1);
        Object engine = method(context, "engine").invoke(context);
        Runnable stall = () -> {
            stands.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        method(engine, "submit", Runnable.class).invoke(engine, stall);
        stands.await();
    }

    private static Method method(Object of, String name, Class<?>... parameters) throws NoSuchMethodException {
        Method m = of.getClass().getDeclaredMethod(name, parameters);
        m.setAccessible(true);
        return m;
    }

    @Override
    public void close() {
        goOn.countDown();
    }
}
