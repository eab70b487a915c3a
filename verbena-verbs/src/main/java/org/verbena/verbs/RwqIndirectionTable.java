// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

/**
 * A table by which received packets are spread over work queues, {@code struct ibv_rwq_ind_table}: the hash of a packet
 * chooses an entry, see {@link RxHashConfiguration}. Made by {@link Context#createRwqIndirectionTable}. Safe for use by
 * several threads.
 */
public abstract class RwqIndirectionTable extends VerbsObject {
    private final Context context;
    private final List<WorkQueue> entries;

    /** For providers. */
    protected RwqIndirectionTable(Context context, List<WorkQueue> entries) throws VerbsException {
        super(entries.stream().distinct().toList());
        this.context = context;
        this.entries = List.copyOf(entries);
    }

    /** The context that the table was created from. */
    public final Context context() {
        return context;
    }

    /** The work queues, a power of two; one may be there several times. */
    public final List<WorkQueue> entries() {
        return entries;
    }

    /** The table's number. */
    public abstract int number();

    @Override
    int closeOrder() {
        return 2;
    }
}
