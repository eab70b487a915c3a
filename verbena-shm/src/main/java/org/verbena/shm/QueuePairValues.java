package org.verbena.shm;

import org.verbena.linux.Errno;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.VerbsException;

/** The values that attributes of a queue pair may have on shm0. */
final class QueuePairValues {
    private static final int KNOWN_ACCESS = 0x3ff;

    private QueuePairValues() {}

    /** Refuses values out of range with {@code EINVAL}. */
    static void check(String queuePair, QueuePairAttributes a) throws VerbsException {
        String bad = null;
        if (a.has(QueuePairAttributes.PORT) && a.port() != 1) {
            bad = "PORT is " + a.port() + ", shm0 has port 1 only";
        } else if (a.has(QueuePairAttributes.PKEY_INDEX) && a.pkeyIndex() != 0) {
            bad = "PKEY_INDEX is " + a.pkeyIndex() + ", the table has one entry, index 0";
        } else if (a.has(QueuePairAttributes.MAX_QP_RD_ATOMIC) && !isDepth(a.maxReadAtomic())) {
            bad = "MAX_QP_RD_ATOMIC is " + a.maxReadAtomic() + ", must be 0 to " + ShmDevice.MAX_READS;
        } else if (a.has(QueuePairAttributes.MAX_DEST_RD_ATOMIC) && !isDepth(a.maxDestReadAtomic())) {
            bad = "MAX_DEST_RD_ATOMIC is " + a.maxDestReadAtomic() + ", must be 0 to " + ShmDevice.MAX_READS;
        } else if (a.has(QueuePairAttributes.ACCESS_FLAGS) && (a.accessFlags() & ~KNOWN_ACCESS) != 0) {
            bad = "ACCESS_FLAGS has unknown bits";
        }
        if (bad != null) {
            throw new VerbsException("modify " + queuePair, Errno.EINVAL, bad);
        }
    }

    private static boolean isDepth(int reads) {
        return reads >= 0 && reads <= ShmDevice.MAX_READS;
    }
}
