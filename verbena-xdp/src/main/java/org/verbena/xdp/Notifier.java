// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.concurrent.CopyOnWriteArraySet;

import org.verbena.verbs.spi.Engine;

/**
 * Looks for completions of sends while a queue is armed for them: the kernel wakes nobody for these. A tick is a
 * millisecond; where packets are copied, they are there before the post returns. It also sends again what the kernel did not
 * take, for nobody may poll meanwhile. Safe for use by several threads.
 */
final class Notifier implements Engine.Waiting {
    private final Engine engine;
    private final CopyOnWriteArraySet<XdpCompletionQueue> queues = new CopyOnWriteArraySet<>();
    private final CopyOnWriteArraySet<SendSide> sides = new CopyOnWriteArraySet<>();
    private volatile boolean stopped;
    private boolean waiting;
    private long retryAt;

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

    /** A queue pair that sends. */
    void add(SendSide side) {
        sides.add(side);
    }

    void remove(SendSide side) {
        sides.remove(side);
    }

    /** The kernel has not taken what one of them sends. */
    void stalled() {
        engine.pollAgain();
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
        retryAt = Long.MAX_VALUE;
        for (SendSide side : sides) {
            retryAt = Math.min(retryAt, side.retry());
        }
        return stopped;
    }

    @Override
    public long deadline() {
        return retryAt;
    }

    @Override
    public boolean tick() {
        return waiting;
    }
}
