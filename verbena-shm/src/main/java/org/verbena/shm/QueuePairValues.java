package org.verbena.shm;

import org.verbena.linux.Errno;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairCapabilities;
import org.verbena.verbs.QueuePairInitAttributes;
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

    /** Where the peer is that the address vector names. */
    static Gid destination(String queuePair, QueuePairAttributes a) throws VerbsException {
        AddressVector av = a.addressVector();
        if (av == null || av.port() != 1 || av.sourceGidIndex() != 0) {
            throw new VerbsException("modify " + queuePair, Errno.EINVAL, "AV must be from port 1, GID index 0");
        }
        return av.destination();
    }

    /** What a queue pair that was made like that can do. */
    static QueuePairCapabilities capabilities(QueuePairInitAttributes i) {
        return QueuePairCapabilities.builder().maxSendWr(i.maxSendWr()).maxReceiveWr(i.maxReceiveWr())
                .maxSendSge(i.maxSendSge()).maxReceiveSge(i.maxReceiveSge()).maxInlineData(i.maxInlineData()).build();
    }

    private static boolean isDepth(int reads) {
        return reads >= 0 && reads <= ShmDevice.MAX_READS;
    }
}
