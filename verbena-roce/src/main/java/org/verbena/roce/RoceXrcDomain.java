package org.verbena.roce;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;

/** An XRC domain, of this context alone. */
final class RoceXrcDomain extends XrcDomain {
    private final RoceContext context;
    private final int index;
    /** By number; under the context's lock. */
    private final @Nullable ReceivePool[] queues = new @Nullable ReceivePool[RoceLimits.MAX_SRQ + 1];

    RoceXrcDomain(RoceContext context, int index) throws VerbsException {
        super(context);
        this.context = context;
        this.index = index;
        opened();
    }

    @Nullable
    ReceivePool sharedReceiveQueue(int number) {
        return number < queues.length ? queues[number] : null;
    }

    void put(int number, ReceivePool pool) {
        queues[number] = pool;
    }

    void remove(int number) {
        queues[number] = null;
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        return context.createQueuePair(attributes, (init, number) -> new RoceQueuePair(context, this, init, number));
    }

    @Override
    public String describe() {
        return "XRC domain " + index + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        context.giveXrcDomain(index);
    }
}
