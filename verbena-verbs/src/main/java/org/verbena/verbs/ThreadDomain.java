// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

/**
 * A thread domain, {@code struct ibv_td}: a promise of the application that what is made in a parent domain with it is used
 * by one thread at a time, so that a provider may leave out its locks. Safe for use by several threads itself.
 */
public abstract class ThreadDomain extends VerbsObject {
    private final Context context;

    /** For providers. */
    protected ThreadDomain(Context context) throws VerbsException {
        super(List.of(context));
        this.context = context;
    }

    /** The context the domain was allocated from. */
    public final Context context() {
        return context;
    }

    @Override
    int closeOrder() {
        return 8;
    }
}
