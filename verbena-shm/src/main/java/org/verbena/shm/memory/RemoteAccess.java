// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.invoke.VarHandle;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.Hazard;
import org.verbena.shm.layout.Link;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;
import org.verbena.verbs.spi.SendOpcode;

/**
 * The one-sided operations: WRITE, READ and atomics on the memory of a {@link Target}. Used by one thread at a time,
 * inside a {@link Hazard}; all return a status.
 */
public final class RemoteAccess {
    private final LocalBuffers buffers;

    public RemoteAccess(LocalBuffers buffers) {
        this.buffers = buffers;
    }

    /** Whether a write is allowed; {@link Target#OK}, or as {@link #write}. */
    public int resolve(WorkRequest w, long link, Target t) {
        if (w.total == 0) {
            return Target.OK;
        }
        if ((Link.access(link) & AccessFlags.REMOTE_WRITE) == 0) {
            return t.refuse(Errno.EACCES, WcStatus.REM_INV_REQ_ERR);
        }
        int status = t.resolve(w.rkey, w.remoteAddress, w.total, AccessFlags.REMOTE_WRITE);
        return status == Target.OK || buffers.check(w, 0) ? status : WcStatus.LOC_PROT_ERR;
    }

    public int write(WorkRequest w, long link, Target t) {
        int allowed = resolve(w, link, t);
        if (allowed != Target.OK) {
            return allowed;
        }
        long total = w.total;
        long to = w.remoteAddress;
        if (w.isInline()) {
            return total == 0 ? WcStatus.SUCCESS : t.writeRaw(w.inlineBuffer, to, total);
        }
        int n = w.sgeCount;
        if (n > 1 && !buffers.check(w, 0)) {
            return WcStatus.LOC_PROT_ERR;
        }
        for (int s = 0; s < n; s++) {
            long bytes = w.length(s);
            Region r = buffers.region(w.lkey(s), w.address(s), bytes, 0);
            if (r == null) {
                return WcStatus.LOC_PROT_ERR;
            }
            VarHandle.releaseFence(); // the last byte is to be seen last
            int status = bytes == 0 ? Target.OK : t.write(r, w.address(s), to, bytes);
            if (status != Target.OK) {
                return status;
            }
            to += bytes;
        }
        return WcStatus.SUCCESS;
    }

    public int read(WorkRequest w, long link, Target t) {
        long total = w.total;
        if (total > 0) {
            if ((Link.access(link) & AccessFlags.REMOTE_READ) == 0) {
                return t.refuse(Errno.EACCES, WcStatus.REM_INV_REQ_ERR);
            }
            int status = t.resolve(w.rkey, w.remoteAddress, total, AccessFlags.REMOTE_READ);
            if (status != Target.OK) {
                return buffers.check(w, AccessFlags.LOCAL_WRITE) ? status : WcStatus.LOC_PROT_ERR;
            }
        }
        if (!buffers.check(w, AccessFlags.LOCAL_WRITE)) {
            return WcStatus.LOC_PROT_ERR;
        }
        long from = w.remoteAddress;
        for (int s = 0; s < w.sgeCount; s++) {
            long bytes = w.length(s);
            Region r = buffers.region(w.lkey(s), w.address(s), bytes, AccessFlags.LOCAL_WRITE);
            int status = r == null
                    ? WcStatus.LOC_PROT_ERR
                    : bytes == 0 ? Target.OK : t.read(r, w.address(s), from, bytes);
            if (status != Target.OK) {
                return status;
            }
            from += bytes;
        }
        return WcStatus.SUCCESS;
    }

    public int atomic(WorkRequest w, int op, long link, Target t) {
        long at = w.remoteAddress;
        if ((Link.access(link) & AccessFlags.REMOTE_ATOMIC) == 0) {
            return t.refuse(Errno.EACCES, WcStatus.REM_INV_REQ_ERR);
        }
        if ((at & 7) != 0) {
            return t.refuse(Errno.EINVAL, WcStatus.REM_INV_REQ_ERR);
        }
        if (w.total != 8 || !buffers.check(w, AccessFlags.LOCAL_WRITE)) {
            return w.total != 8 ? WcStatus.LOC_LEN_ERR : WcStatus.LOC_PROT_ERR;
        }
        int status = t.resolveWord(w.rkey, at, AccessFlags.REMOTE_ATOMIC);
        if (status != Target.OK) {
            return status;
        }
        long a = t.local(at);
        long old = op == SendOpcode.CMP_SWP
                ? RawMemory.compareAndExchangeLong(a, w.compare, w.swap)
                : RawMemory.getAndAddLong(a, w.compare);
        return buffers.scatter(w, old, AccessFlags.LOCAL_WRITE) ? WcStatus.SUCCESS : WcStatus.LOC_PROT_ERR;
    }
}
