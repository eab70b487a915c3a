// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.RwqIndirectionTable;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkQueue;

/** A table that spreads packets over work queues, {@code struct ibv_rwq_ind_table}. */
final class RdmaIndirectionTable extends RwqIndirectionTable {
    private final Handle handle;
    private final int number;

    private RdmaIndirectionTable(Handle handle, List<WorkQueue> entries) throws VerbsException {
        super(handle.context, entries);
        this.handle = handle;
        number = RawMemory.getInt(handle.address + Layout.IND_TABLE_NUM);
        opened();
    }

    static RwqIndirectionTable create(RdmaContext context, List<WorkQueue> entries) throws VerbsException {
        NativeContext verbs = context.verbs();
        String verb = "create RWQ indirection table on " + context.describe();
        try (Arena arena = Arena.ofConfined()) {
            Struct table = new Struct(arena, (long) Long.BYTES * entries.size());
            for (int i = 0; i < entries.size(); i++) {
                if (!(entries.get(i) instanceof RdmaWorkQueue wq)) {
                    throw new VerbsException(verb, Errno.EINVAL, "foreign work queue");
                }
                table.putLong(Long.BYTES * i, wq.address());
            }
            Struct s = new Struct(arena, Layout.IND_TABLE_INIT_BYTES);
            s.putInt(0, Integer.numberOfTrailingZeros(entries.size()));
            s.putLong(Layout.IND_TABLE_INIT_TBL, table.address());
            return Handle.create(verb, context, entries.stream().distinct().toList(), Handle.by(context,
                    Slot.DESTROY_RWQ_IND_TABLE), () -> Calls.pointer(verb, verbs.slot(verb, Slot.CREATE_RWQ_IND_TABLE),
                            verbs.address, s.address()), h -> new RdmaIndirectionTable(h, entries));
        }
    }

    long address() {
        return handle.address;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public String describe() {
        return "RWQ indirection table " + number + " of " + context().describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        handle.destroy(this);
    }
}
