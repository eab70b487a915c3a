// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.invoke.VarHandle;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.Link;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.WcStatus;

/** FLUSH and ATOMIC_WRITE on the memory of a {@link Target}; inside a {@link Hazard}. All return a status. */
public final class RemoteSync {
    /** How far the rights to flush lie from the types of a flush. */
    private static final int FLUSH_SHIFT = 8;

    private RemoteSync() {}

    /** True for valid types and a valid level. */
    public static boolean isFlush(int type, int level) {
        return type != 0 && (type & ~(FlushType.GLOBAL | FlushType.PERSISTENT)) == 0
                && (level == FlushType.RANGE || level == FlushType.REGION);
    }

    /** Earlier writes are in shared memory already: a fence is sufficient, if the flush is allowed. */
    public static int flush(WorkRequest w, long link, Target t) {
        int rights = w.immediate << FLUSH_SHIFT;
        if ((Link.flushAccess(link) & rights) != rights) {
            return t.refuse(Errno.EACCES, WcStatus.REM_INV_REQ_ERR);
        }
        int status = w.swap == FlushType.REGION
                ? t.resolve(w.rkey)
                : t.resolve(w.rkey, w.remoteAddress, w.compare, 0);
        if (status == Target.OK && (t.flushAccess() & rights) != rights) {
            status = WcStatus.REM_ACCESS_ERR;
        }
        VarHandle.fullFence();
        return status;
    }

    public static int atomicWrite(WorkRequest w, long link, Target t) {
        long at = w.remoteAddress;
        if ((Link.access(link) & AccessFlags.REMOTE_WRITE) == 0) {
            return t.refuse(Errno.EACCES, WcStatus.REM_INV_REQ_ERR);
        }
        if ((at & 7) != 0) {
            return t.refuse(Errno.EINVAL, WcStatus.REM_INV_REQ_ERR);
        }
        int status = t.resolveWord(w.rkey, at, AccessFlags.REMOTE_WRITE);
        if (status != Target.OK) {
            return status;
        }
        long a = t.local(at);
        RawMemory.putLongRelease(a, w.compare);
        return WcStatus.SUCCESS;
    }
}
