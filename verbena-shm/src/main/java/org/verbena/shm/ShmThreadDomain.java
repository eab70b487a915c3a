package org.verbena.shm;

import org.verbena.verbs.ThreadDomain;
import org.verbena.verbs.VerbsException;

/** A thread domain: nothing but the promise, for the data path of shm0 has no locks to leave out. */
final class ShmThreadDomain extends ThreadDomain {
    private final ShmContext context;
    private final int number;

    ShmThreadDomain(ShmContext context, int number) throws VerbsException {
        super(context);
        this.context = context;
        this.number = number;
        opened();
    }

    @Override
    public String describe() {
        return "thread domain " + number + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        // it holds nothing
    }
}
