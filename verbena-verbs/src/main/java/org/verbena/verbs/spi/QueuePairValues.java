// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import org.verbena.linux.Errno;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairCapabilities;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.VerbsException;

/** The values that attributes of a queue pair may have. */
public final class QueuePairValues {
    private static final int KNOWN_ACCESS = 0x3ff;

    private QueuePairValues() {}

    /**
     * How much a device has.
     *
     * @param ports number of ports
     * @param partitions entries of a port's table of partition keys
     * @param initiated reads and atomics that may be outstanding from it
     * @param answered reads and atomics that may be outstanding at it
     */
    public record Limits(int ports, int partitions, int initiated, int answered) {}

    /**
     * Refuses values out of range on a device with one port and one partition.
     *
     * @param queuePair in messages
     * @param device in messages
     * @param maxReads reads and atomics outstanding at most, either way
     * @throws VerbsException {@code EINVAL}
     */
    public static void check(String queuePair, String device, QueuePairAttributes a, int maxReads)
            throws VerbsException {
        check(queuePair, device, a, new Limits(1, 1, maxReads, maxReads));
    }

    /** As the other, on any device. */
    public static void check(String queuePair, String device, QueuePairAttributes a, Limits limits)
            throws VerbsException {
        String bad = null;
        if (a.has(QueuePairAttributes.PORT) && (a.port() < 1 || a.port() > limits.ports)) {
            bad = "PORT is " + a.port() + ", " + device + " has port 1 " + (limits.ports == 1
                    ? "only"
                    : "to " + limits.ports);
        } else if (a.has(QueuePairAttributes.PKEY_INDEX) && (a.pkeyIndex() < 0 || a.pkeyIndex() >= limits.partitions)) {
            bad = "PKEY_INDEX is " + a.pkeyIndex() + ", the table has " + (limits.partitions == 1
                    ? "one entry, index 0"
                    : limits.partitions + " entries");
        } else if (a.has(QueuePairAttributes.MAX_QP_RD_ATOMIC) && !isDepth(a.maxReadAtomic(), limits.initiated)) {
            bad = "MAX_QP_RD_ATOMIC is " + a.maxReadAtomic() + ", must be 0 to " + limits.initiated;
        } else if (a.has(QueuePairAttributes.MAX_DEST_RD_ATOMIC) && !isDepth(a.maxDestReadAtomic(), limits.answered)) {
            bad = "MAX_DEST_RD_ATOMIC is " + a.maxDestReadAtomic() + ", must be 0 to " + limits.answered;
        } else if (a.has(QueuePairAttributes.ACCESS_FLAGS) && (a.accessFlags() & ~KNOWN_ACCESS) != 0) {
            bad = "ACCESS_FLAGS has unknown bits";
        }
        if (bad != null) {
            throw new VerbsException("modify " + queuePair, Errno.EINVAL, bad);
        }
    }

    /** What a queue pair that was made like that can do. */
    public static QueuePairCapabilities capabilities(QueuePairInitAttributes i) {
        return QueuePairCapabilities.builder().maxSendWr(i.maxSendWr()).maxReceiveWr(i.maxReceiveWr())
                .maxSendSge(i.maxSendSge()).maxReceiveSge(i.maxReceiveSge()).maxInlineData(i.maxInlineData()).build();
    }

    private static boolean isDepth(int reads, int maxReads) {
        return reads >= 0 && reads <= maxReads;
    }
}
