// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.Errno;
import org.verbena.shm.memory.WorkRequest;
import org.verbena.verbs.WcStatus;

/** Why a request failed, in words and with what can be done about it. */
final class FailureReason {
    private FailureReason() {}

    /** True for a status whose cause is on this side, and which the peer does not learn of. */
    static boolean isLocal(int status) {
        return status == WcStatus.LOC_LEN_ERR || status == WcStatus.LOC_PROT_ERR || status == WcStatus.LOC_QP_OP_ERR
                || status == WcStatus.MW_BIND_ERR
                || status == WcStatus.FATAL_ERR;
    }

    /** Why a request failed, by the errno that goes with it; empty if there is none. */
    static String cause(WorkRequest w, int status, int errno) {
        if (status == WcStatus.REM_INV_REQ_ERR && errno == Errno.EINVAL) {
            return ", EINVAL: remote address 0x" + Long.toHexString(w.remoteAddress)
                    + " is not aligned to 8 bytes, as an atomic needs it";
        }
        if (status == WcStatus.REM_INV_REQ_ERR && errno == Errno.EACCES) {
            return ", EACCES: the peer's queue pair does not allow it (access flags)";
        }
        return errno == 0 ? "" : ", " + hint(errno);
    }

    /** An errno with its meaning and, where there is one, the remedy. */
    static String hint(int errno) {
        return Errno.describe(errno) + switch (errno) {
            case Errno.EPERM ->
                ": this process may not reach the peer's registered memory (ptrace rights, see docs/shm.md); "
                        + "memory from ProtectionDomain.allocate needs none";
            case Errno.EMFILE -> ": this process is out of descriptors (ulimit -n)";
            case Errno.ENOMEM -> ": too many mappings or too little address space (vm.max_map_count, ulimit -v)";
            default -> "";
        };
    }
}
