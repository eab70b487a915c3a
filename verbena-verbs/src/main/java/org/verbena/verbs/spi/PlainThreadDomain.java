// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import org.verbena.verbs.Context;
import org.verbena.verbs.ThreadDomain;
import org.verbena.verbs.VerbsException;

/** A thread domain of a provider whose data path has no locks to leave out: nothing but the promise. */
public final class PlainThreadDomain extends ThreadDomain {
    private final Context context;
    private final int number;

    /** Makes one; the number is for messages. */
    public PlainThreadDomain(Context context, int number) throws VerbsException {
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
