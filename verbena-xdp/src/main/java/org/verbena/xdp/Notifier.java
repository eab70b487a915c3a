// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.concurrent.CopyOnWriteArraySet;

import org.verbena.verbs.spi.Engine;

/**
 * Looks for completions of sends while a queue is armed for them: the kernel wakes nobody for these. A tick is a
 * millisecond; where packets are copied, they are there before the post returns. Safe for use by several threads.
 */
final class Notifier implements Engine.Waiting {
    private final Engine engine;
    private final CopyOnWriteArraySet<XdpCompletionQueue> queues = new CopyOnWriteArraySet<>();
    private volatile boolean stopped;
    private boolean waiting;

    Notifier(Engine engine) {
        this.engine = engine;
    }

    /** The queue was armed. */
    void watch(XdpCompletionQueue cq) {
        queues.add(cq);
        engine.pollAgain();
    }

    void forget(XdpCompletionQueue cq) {
        queues.remove(cq);
    }

    void stop() {
        stopped = true;
    }

    @Override
    public boolean wake() {
        waiting = false;
        for (XdpCompletionQueue cq : queues) {
            waiting |= cq.isWaiting();
        }
        return stopped;
    }

    @Override
    public boolean tick() {
        return waiting;
    }
}
