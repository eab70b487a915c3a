// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.util.List;

import org.verbena.verbs.AddressVector;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairCapabilities;
import org.verbena.verbs.QueuePairState;

/** {@code struct ibv_qp_attr}, either way. */
final class QueuePairBytes {
    /** In the order of {@code enum ibv_qp_state}. */
    private static final List<QueuePairState> STATES = List.of(QueuePairState.values());

    private QueuePairBytes() {}

    static int number(QueuePairState state) {
        return STATES.indexOf(state);
    }

    /** The state of a number, {@code enum ibv_qp_state}; ERR if it is unknown. */
    static QueuePairState state(int number) {
        return number >= 0 && number < STATES.size() ? STATES.get(number) : QueuePairState.ERR;
    }

    /** Writes all attributes; the mask selects the valid ones. */
    static void put(Struct s, QueuePairAttributes a) {
        QueuePairState state = a.state();
        QueuePairState current = a.currentState();
        s.putInt(Layout.QP_ATTR_STATE, state == null ? 0 : number(state));
        s.putInt(Layout.QP_ATTR_CUR_STATE, current == null ? 0 : STATES.indexOf(current));
        s.putInt(Layout.QP_ATTR_PATH_MTU, Queries.mtuCode(a.pathMtu()));
        s.putInt(Layout.QP_ATTR_PATH_MIG_STATE, a.pathMigrationState());
        s.putInt(Layout.QP_ATTR_QKEY, a.qkey());
        s.putInt(Layout.QP_ATTR_RQ_PSN, a.rqPsn());
        s.putInt(Layout.QP_ATTR_SQ_PSN, a.sqPsn());
        s.putInt(Layout.QP_ATTR_DEST_QP_NUM, a.destinationQueuePair());
        s.putInt(Layout.QP_ATTR_ACCESS_FLAGS, a.accessFlags());
        s.putShort(Layout.QP_ATTR_PKEY_INDEX, a.pkeyIndex());
        s.putByte(Layout.QP_ATTR_EN_SQD_ASYNC_NOTIFY, a.sqdAsyncNotify() ? 1 : 0);
        s.putByte(Layout.QP_ATTR_MAX_RD_ATOMIC, a.maxReadAtomic());
        s.putByte(Layout.QP_ATTR_MAX_DEST_RD_ATOMIC, a.maxDestReadAtomic());
        s.putByte(Layout.QP_ATTR_MIN_RNR_TIMER, a.minRnrTimer());
        s.putByte(Layout.QP_ATTR_PORT_NUM, a.port());
        s.putByte(Layout.QP_ATTR_TIMEOUT, a.timeout());
        s.putByte(Layout.QP_ATTR_RETRY_CNT, a.retryCount());
        s.putByte(Layout.QP_ATTR_RNR_RETRY, a.rnrRetry());
        s.putInt(Layout.QP_ATTR_RATE_LIMIT, a.rateLimit());
        QueuePairCapabilities c = a.capabilities();
        if (c != null) {
            Struct cap = s.at(Layout.QP_ATTR_CAP);
            cap.putInt(Layout.CAP_SEND_WR, c.maxSendWr());
            cap.putInt(Layout.CAP_RECV_WR, c.maxReceiveWr());
            cap.putInt(Layout.CAP_SEND_SGE, c.maxSendSge());
            cap.putInt(Layout.CAP_RECV_SGE, c.maxReceiveSge());
            cap.putInt(Layout.CAP_INLINE, c.maxInlineData());
        }
        AddressVector path = a.addressVector();
        if (path != null) {
            PathBytes.put(s.at(Layout.QP_ATTR_AH), path);
        }
        AddressVector alternate = a.alternateAddressVector();
        if (alternate != null) {
            PathBytes.put(s.at(Layout.QP_ATTR_ALT_AH), alternate);
            s.putShort(Layout.QP_ATTR_ALT_PKEY_INDEX, a.alternatePkeyIndex());
            s.putByte(Layout.QP_ATTR_ALT_PORT_NUM, alternate.port());
            s.putByte(Layout.QP_ATTR_ALT_TIMEOUT, a.alternateTimeout());
        }
    }

    /** Reads the attributes in {@code mask}. */
    static QueuePairAttributes get(Struct s, int mask) {
        QueuePairAttributes.Builder b = QueuePairAttributes.to(state(s.getInt(Layout.QP_ATTR_STATE))).sqDraining(s
                .getByte(Layout.QP_ATTR_SQ_DRAINING) != 0);
        if (has(mask, QueuePairAttributes.EN_SQD_ASYNC_NOTIFY)) {
            b.sqdAsyncNotify(s.getByte(Layout.QP_ATTR_EN_SQD_ASYNC_NOTIFY) != 0);
        }
        if (has(mask, QueuePairAttributes.ACCESS_FLAGS)) {
            b.accessFlags(s.getInt(Layout.QP_ATTR_ACCESS_FLAGS));
        }
        if (has(mask, QueuePairAttributes.PKEY_INDEX)) {
            b.pkeyIndex(s.getShort(Layout.QP_ATTR_PKEY_INDEX));
        }
        if (has(mask, QueuePairAttributes.PORT)) {
            b.port(s.getByte(Layout.QP_ATTR_PORT_NUM));
        }
        if (has(mask, QueuePairAttributes.QKEY)) {
            b.qkey(s.getInt(Layout.QP_ATTR_QKEY));
        }
        if (has(mask, QueuePairAttributes.AV)) {
            b.addressVector(PathBytes.get(s.at(Layout.QP_ATTR_AH)));
        }
        if (has(mask, QueuePairAttributes.PATH_MTU)) {
            b.pathMtu(Queries.mtu(s.getInt(Layout.QP_ATTR_PATH_MTU)));
        }
        connection(s, mask, b);
        if (has(mask, QueuePairAttributes.ALT_PATH)) {
            b.alternatePath(PathBytes.get(s.at(Layout.QP_ATTR_ALT_AH)), s.getShort(Layout.QP_ATTR_ALT_PKEY_INDEX), s
                    .getByte(Layout.QP_ATTR_ALT_TIMEOUT));
        }
        if (has(mask, QueuePairAttributes.PATH_MIG_STATE)) {
            b.pathMigrationState(s.getInt(Layout.QP_ATTR_PATH_MIG_STATE));
        }
        if (has(mask, QueuePairAttributes.RATE_LIMIT)) {
            b.rateLimit(s.getInt(Layout.QP_ATTR_RATE_LIMIT));
        }
        return b.build();
    }

    private static void connection(Struct s, int mask, QueuePairAttributes.Builder b) {
        if (has(mask, QueuePairAttributes.TIMEOUT)) {
            b.timeout(s.getByte(Layout.QP_ATTR_TIMEOUT));
        }
        if (has(mask, QueuePairAttributes.RETRY_CNT)) {
            b.retryCount(s.getByte(Layout.QP_ATTR_RETRY_CNT));
        }
        if (has(mask, QueuePairAttributes.RNR_RETRY)) {
            b.rnrRetry(s.getByte(Layout.QP_ATTR_RNR_RETRY));
        }
        if (has(mask, QueuePairAttributes.RQ_PSN)) {
            b.rqPsn(s.getInt(Layout.QP_ATTR_RQ_PSN));
        }
        if (has(mask, QueuePairAttributes.MAX_QP_RD_ATOMIC)) {
            b.maxReadAtomic(s.getByte(Layout.QP_ATTR_MAX_RD_ATOMIC));
        }
        if (has(mask, QueuePairAttributes.MIN_RNR_TIMER)) {
            b.minRnrTimer(s.getByte(Layout.QP_ATTR_MIN_RNR_TIMER));
        }
        if (has(mask, QueuePairAttributes.SQ_PSN)) {
            b.sqPsn(s.getInt(Layout.QP_ATTR_SQ_PSN));
        }
        if (has(mask, QueuePairAttributes.MAX_DEST_RD_ATOMIC)) {
            b.maxDestReadAtomic(s.getByte(Layout.QP_ATTR_MAX_DEST_RD_ATOMIC));
        }
        if (has(mask, QueuePairAttributes.DEST_QPN)) {
            b.destinationQueuePair(s.getInt(Layout.QP_ATTR_DEST_QP_NUM));
        }
    }

    private static boolean has(int mask, int bit) {
        return (mask & bit) != 0;
    }
}
