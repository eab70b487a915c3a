// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Gid;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairState;

/**
 * {@link QueuePairAttributes} in a control message: the mask, and then each field that it names, in the order of its bits.
 * Fields that queue pairs of type XRC_RECV do not have are left out.
 */
public final class AttributesMessage {
    private static final int FIELDS = QueuePairAttributes.STATE | QueuePairAttributes.CUR_STATE
            | QueuePairAttributes.EN_SQD_ASYNC_NOTIFY | QueuePairAttributes.ACCESS_FLAGS
            | QueuePairAttributes.PKEY_INDEX | QueuePairAttributes.PORT | QueuePairAttributes.AV
            | QueuePairAttributes.PATH_MTU | QueuePairAttributes.TIMEOUT | QueuePairAttributes.RETRY_CNT
            | QueuePairAttributes.RNR_RETRY | QueuePairAttributes.RQ_PSN | QueuePairAttributes.MAX_QP_RD_ATOMIC
            | QueuePairAttributes.ALT_PATH | QueuePairAttributes.MIN_RNR_TIMER | QueuePairAttributes.SQ_PSN
            | QueuePairAttributes.MAX_DEST_RD_ATOMIC | QueuePairAttributes.PATH_MIG_STATE
            | QueuePairAttributes.DEST_QPN;

    /** As in C, where they count from 0. */
    private static final List<QueuePairState> STATES = List.of(QueuePairState.values());

    private AttributesMessage() {}

    public static ControlMessage.Writer write(ControlMessage.Writer w, QueuePairAttributes a) {
        int mask = a.mask() & FIELDS;
        w.putInt(mask);
        for (int rest = mask; rest != 0; rest &= rest - 1) {
            int bit = Integer.lowestOneBit(rest);
            switch (bit) {
                case QueuePairAttributes.AV -> write(w, a.addressVector());
                case QueuePairAttributes.ALT_PATH -> {
                    write(w, a.alternateAddressVector());
                    w.putInt(a.alternatePkeyIndex()).putInt(a.alternateTimeout());
                }
                default -> w.putInt(value(a, bit));
            }
        }
        return w;
    }

    private static int value(QueuePairAttributes a, int bit) {
        return switch (bit) {
            case QueuePairAttributes.STATE -> number(a.state());
            case QueuePairAttributes.CUR_STATE -> number(a.currentState());
            case QueuePairAttributes.EN_SQD_ASYNC_NOTIFY -> a.sqdAsyncNotify() ? 1 : 0;
            case QueuePairAttributes.ACCESS_FLAGS -> a.accessFlags();
            case QueuePairAttributes.PKEY_INDEX -> a.pkeyIndex();
            case QueuePairAttributes.PORT -> a.port();
            case QueuePairAttributes.PATH_MTU -> a.pathMtu();
            case QueuePairAttributes.TIMEOUT -> a.timeout();
            case QueuePairAttributes.RETRY_CNT -> a.retryCount();
            case QueuePairAttributes.RNR_RETRY -> a.rnrRetry();
            case QueuePairAttributes.RQ_PSN -> a.rqPsn();
            case QueuePairAttributes.MAX_QP_RD_ATOMIC -> a.maxReadAtomic();
            case QueuePairAttributes.MIN_RNR_TIMER -> a.minRnrTimer();
            case QueuePairAttributes.SQ_PSN -> a.sqPsn();
            case QueuePairAttributes.MAX_DEST_RD_ATOMIC -> a.maxDestReadAtomic();
            case QueuePairAttributes.PATH_MIG_STATE -> a.pathMigrationState();
            default -> a.destinationQueuePair();
        };
    }

    /** The number of a state. */
    public static int number(@Nullable QueuePairState s) {
        return s == null ? 0 : STATES.indexOf(s);
    }

    private static void write(ControlMessage.Writer w, @Nullable AddressVector path) {
        AddressVector v = path == null ? AddressVector.to(new Gid(0, 0)) : path;
        w.putLong(v.destination().high()).putLong(v.destination().low()).putInt(v.compMask()).putInt(v.sourceGidIndex())
                .putInt(v.hopLimit()).putInt(v.trafficClass()).putInt(v.flowLabel()).putInt(v.serviceLevel()).putInt(v
                        .port())
                .putInt(v.staticRate()).putInt(v.sourcePathBits()).putInt(v.destinationLid());
    }

    public static QueuePairAttributes read(ControlMessage.Reader m) throws ProtocolException {
        int mask = m.getInt();
        if ((mask & ~FIELDS) != 0) {
            throw new ProtocolException("attributes of a queue pair have unknown fields");
        }
        QueuePairAttributes.Builder b = QueuePairAttributes.builder();
        for (int rest = mask; rest != 0; rest &= rest - 1) {
            int bit = Integer.lowestOneBit(rest);
            switch (bit) {
                case QueuePairAttributes.AV -> b.addressVector(path(m));
                case QueuePairAttributes.ALT_PATH -> b.alternatePath(path(m), m.getInt(), m.getInt());
                default -> set(b, bit, m.getInt());
            }
        }
        return b.build();
    }

    private static void set(QueuePairAttributes.Builder b, int bit, int v) throws ProtocolException {
        switch (bit) {
            case QueuePairAttributes.STATE -> b.state(state(v));
            case QueuePairAttributes.CUR_STATE -> b.currentState(state(v));
            case QueuePairAttributes.EN_SQD_ASYNC_NOTIFY -> b.sqdAsyncNotify(v != 0);
            case QueuePairAttributes.ACCESS_FLAGS -> b.accessFlags(v);
            case QueuePairAttributes.PKEY_INDEX -> b.pkeyIndex(v);
            case QueuePairAttributes.PORT -> b.port(v);
            case QueuePairAttributes.PATH_MTU -> b.pathMtu(v);
            case QueuePairAttributes.TIMEOUT -> b.timeout(v);
            case QueuePairAttributes.RETRY_CNT -> b.retryCount(v);
            case QueuePairAttributes.RNR_RETRY -> b.rnrRetry(v);
            case QueuePairAttributes.RQ_PSN -> b.rqPsn(v);
            case QueuePairAttributes.MAX_QP_RD_ATOMIC -> b.maxReadAtomic(v);
            case QueuePairAttributes.MIN_RNR_TIMER -> b.minRnrTimer(v);
            case QueuePairAttributes.SQ_PSN -> b.sqPsn(v);
            case QueuePairAttributes.MAX_DEST_RD_ATOMIC -> b.maxDestReadAtomic(v);
            case QueuePairAttributes.PATH_MIG_STATE -> b.pathMigrationState(v);
            default -> b.destinationQueuePair(v);
        }
    }

    /** The state of that number. */
    public static QueuePairState state(int number) throws ProtocolException {
        if (number < 0 || number >= STATES.size()) {
            throw new ProtocolException("there is no state " + number + " of a queue pair");
        }
        return STATES.get(number);
    }

    private static AddressVector path(ControlMessage.Reader m) throws ProtocolException {
        AddressVector.Builder b = AddressVector.builder(new Gid(m.getLong(), m.getLong()));
        int mask = m.getInt();
        for (int bit = AddressVector.SOURCE_GID_INDEX; bit <= AddressVector.DESTINATION_LID; bit <<= 1) {
            int v = m.getInt();
            if ((mask & bit) == 0) {
                continue; // it keeps its default
            }
            switch (bit) {
                case AddressVector.SOURCE_GID_INDEX -> b.sourceGidIndex(v);
                case AddressVector.HOP_LIMIT -> b.hopLimit(v);
                case AddressVector.TRAFFIC_CLASS -> b.trafficClass(v);
                case AddressVector.FLOW_LABEL -> b.flowLabel(v);
                case AddressVector.SERVICE_LEVEL -> b.serviceLevel(v);
                case AddressVector.PORT -> b.port(v);
                case AddressVector.STATIC_RATE -> b.staticRate(v);
                case AddressVector.SOURCE_PATH_BITS -> b.sourcePathBits(v);
                default -> b.destinationLid(v);
            }
        }
        return b.build();
    }
}
