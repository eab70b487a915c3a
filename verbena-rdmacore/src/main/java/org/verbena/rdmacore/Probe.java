// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.Sys;
import org.verbena.linux.spi.Downcall;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/**
 * Features that only a trial shows. libibverbs has a function in each slot, even if it only returns {@code EOPNOTSUPP},
 * and no attribute for the longest inline data. Objects are created and destroyed again, once when a device is opened.
 */
final class Probe {
    private static final String VERB = "try what a device can do";
    private static final int LONGEST_INLINE = 4096;

    /** The longest inline data of a queue pair with one element. */
    final int maxInline;
    final boolean values;
    final boolean enhancedConnection;
    final boolean threadDomain;
    final boolean parentDomain;
    final boolean nullRegion;
    final boolean reregister;
    final boolean counters;

    private final NativeContext verbs;

    /** Tries a device that was just opened. */
    Probe(NativeContext verbs) throws VerbsException {
        this.verbs = verbs;
        try (Arena arena = Arena.ofConfined()) {
            values = tryValues(arena);
            threadDomain = tryObject(Slot.ALLOC_TD, verbs.address, new Struct(arena, Layout.TD_INIT_BYTES).address(),
                    Slot.DEALLOC_TD);
            counters = tryObject(Slot.CREATE_COUNTERS, verbs.address, new Struct(arena, Layout.COUNTERS_INIT_BYTES)
                    .address(), Slot.DESTROY_COUNTERS);
            long pd = Calls.call(function(IbvFunction.ALLOC_PD), verbs.address);
            parentDomain = pd != 0 && tryParentDomain(arena, pd);
            nullRegion = pd != 0 && tryNullRegion(pd);
            reregister = pd != 0 && tryReregister(arena, pd);
            long cq = Calls.call(function(IbvFunction.CREATE_CQ), verbs.address, 1, 0, 0, 0);
            int inline = 0;
            boolean ece = false;
            if (pd != 0 && cq != 0) {
                Struct init = new Struct(arena, Layout.QP_INIT_BYTES);
                long qp = 0;
                for (int length = LONGEST_INLINE; qp == 0 && length > 0; length /= 2) {
                    qp = create(init, pd, cq, length);
                    inline = Math.max(length, init.at(Layout.QP_INIT_CAP).getInt(Layout.CAP_INLINE));
                }
                if (qp != 0) {
                    ece = tryEnhancedConnection(arena, qp);
                    Calls.call(function(IbvFunction.DESTROY_QP), qp);
                } else {
                    inline = 0;
                }
            }
            maxInline = inline;
            enhancedConnection = ece;
            if (cq != 0) {
                Calls.call(function(IbvFunction.DESTROY_CQ), cq);
            }
            if (pd != 0) {
                Calls.call(function(IbvFunction.DEALLOC_PD), pd);
            }
        }
    }

    private MemorySegment function(IbvFunction f) throws VerbsException {
        return verbs.function(VERB, f);
    }

    private boolean tryValues(Arena arena) throws VerbsException {
        Struct s = new Struct(arena, Layout.VALUES_BYTES);
        s.putInt(0, 1);
        return verbs.has(Slot.QUERY_RT_VALUES) && (int) Calls.call(verbs.slot(VERB, Slot.QUERY_RT_VALUES),
                verbs.address, s.address()) == 0;
    }

    private boolean tryObject(Slot create, long from, long attributes, Slot destroy) throws VerbsException {
        long made = verbs.has(create) && verbs.has(destroy)
                ? Calls.call(verbs.slot(VERB, create), from, attributes)
                : 0;
        if (made != 0) {
            Calls.call(verbs.slot(VERB, destroy), made);
        }
        return made != 0;
    }

    private boolean tryParentDomain(Arena arena, long pd) throws VerbsException {
        Struct s = new Struct(arena, Layout.PARENT_BYTES);
        s.putLong(0, pd);
        long made = verbs.has(Slot.ALLOC_PARENT_DOMAIN)
                ? Calls.call(verbs.slot(VERB, Slot.ALLOC_PARENT_DOMAIN), verbs.address, s.address())
                : 0;
        if (made != 0) {
            Calls.call(function(IbvFunction.DEALLOC_PD), made);
        }
        return made != 0;
    }

    private boolean tryNullRegion(long pd) throws VerbsException {
        long made = verbs.has(Slot.ALLOC_NULL_MR) ? Calls.call(verbs.slot(VERB, Slot.ALLOC_NULL_MR), pd) : 0;
        if (made != 0) {
            Calls.call(function(IbvFunction.DEREG_MR), made);
        }
        return made != 0;
    }

    private boolean tryReregister(Arena arena, long pd) throws VerbsException {
        if (!verbs.library.has(IbvFunction.REREG_MR)) {
            return false;
        }
        long memory = arena.allocate(Sys.pageSize(), Sys.pageSize()).address();
        long region = Calls.call(function(IbvFunction.REG_MR), pd, memory, Sys.pageSize(), AccessFlags.LOCAL_WRITE);
        if (region == 0) {
            return false;
        }
        int result = (int) Calls.call(function(IbvFunction.REREG_MR), region, MemoryRegion.CHANGE_ACCESS, 0, 0, 0,
                AccessFlags.LOCAL_WRITE);
        Calls.call(function(IbvFunction.DEREG_MR), region);
        return result == 0;
    }

    private long create(Struct init, long pd, long cq, int inline) throws VerbsException {
        init.putLong(Layout.QP_INIT_SEND_CQ, cq);
        init.putLong(Layout.QP_INIT_RECV_CQ, cq);
        Struct cap = init.at(Layout.QP_INIT_CAP);
        cap.putInt(Layout.CAP_SEND_WR, 1);
        cap.putInt(Layout.CAP_RECV_WR, 1);
        cap.putInt(Layout.CAP_SEND_SGE, 1);
        cap.putInt(Layout.CAP_RECV_SGE, 1);
        cap.putInt(Layout.CAP_INLINE, inline);
        init.putInt(Layout.QP_INIT_TYPE, QueuePairType.RC);
        return Calls.call(function(IbvFunction.CREATE_QP), pd, init.address());
    }

    private boolean tryEnhancedConnection(Arena arena, long qp) throws VerbsException {
        if (!verbs.library.has(IbvFunction.QUERY_ECE) || !verbs.library.has(IbvFunction.SET_ECE)) {
            return false;
        }
        Struct s = new Struct(arena, Layout.ECE_BYTES);
        int result = (int) Calls.call(function(IbvFunction.QUERY_ECE), qp, s.address());
        return result == 0 || result == -1 && Downcall.errno() != Errno.EOPNOTSUPP;
    }
}
