// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.verbena.verbs.QueuePairAttributes.*;
import static org.verbena.verbs.QueuePairState.*;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;

/**
 * Which transitions a queue pair may make, and which attributes each needs and allows: the InfiniBand specification's
 * table (volume 1, section 10.3.1) as {@code qp_state_table} of the Linux kernel has it.
 */
final class QueuePairStateMachine {
    /** The attributes of one transition. */
    private record Rule(int required, int optional) {}

    private static final Map<Integer, Map<QueuePairState, Map<QueuePairState, Rule>>> TABLES = new HashMap<>();

    private static final int CONNECTED_INIT = PKEY_INDEX | PORT | ACCESS_FLAGS;
    private static final int RC_RTR = AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER;
    private static final int UC_RTR = AV | PATH_MTU | DEST_QPN | RQ_PSN;
    private static final int RTR_OPTIONAL = ALT_PATH | ACCESS_FLAGS | PKEY_INDEX;
    private static final int RTS_OPTIONAL = CUR_STATE | ALT_PATH | ACCESS_FLAGS | PATH_MIG_STATE;
    private static final int UC_SQD = AV | ALT_PATH | ACCESS_FLAGS | PKEY_INDEX | PATH_MIG_STATE;
    private static final int RC_RTS = TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_QP_RD_ATOMIC;
    private static final int RC_SQD = UC_SQD | PORT | TIMEOUT | RETRY_CNT | RNR_RETRY | MAX_QP_RD_ATOMIC
            | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER;

    static {
        connected(QueuePairType.RC, RC_RTR, RC_RTS, MIN_RNR_TIMER, RC_SQD);
        connected(QueuePairType.UC, UC_RTR, SQ_PSN, 0, UC_SQD);
        connected(QueuePairType.XRC_SEND, UC_RTR, RC_RTS, 0,
                UC_SQD | PORT | TIMEOUT | RETRY_CNT | RNR_RETRY | MAX_QP_RD_ATOMIC);
        connected(QueuePairType.XRC_RECV, RC_RTR, TIMEOUT | SQ_PSN, MIN_RNR_TIMER,
                UC_SQD | PORT | TIMEOUT | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER);
        rule(QueuePairType.UC, SQE, RTS, 0, CUR_STATE | ACCESS_FLAGS);
        datagram(QueuePairType.UD, PKEY_INDEX | PORT | QKEY, PKEY_INDEX | QKEY, SQ_PSN, CUR_STATE | QKEY, PKEY_INDEX
                | QKEY);
        datagram(QueuePairType.RAW_PACKET, PORT, 0, 0, RATE_LIMIT, 0);
        rule(QueuePairType.UD, SQE, RTS, 0, CUR_STATE | QKEY);
    }

    private QueuePairStateMachine() {}

    private static void connected(int type, int rtr, int rts, int rtsExtra, int sqd) {
        rule(type, RESET, INIT, CONNECTED_INIT, 0);
        rule(type, INIT, INIT, 0, CONNECTED_INIT);
        rule(type, INIT, RTR, rtr, RTR_OPTIONAL);
        rule(type, RTR, RTS, rts, RTS_OPTIONAL | rtsExtra);
        rule(type, RTS, RTS, 0, RTS_OPTIONAL | rtsExtra);
        rule(type, RTS, SQD, 0, EN_SQD_ASYNC_NOTIFY);
        rule(type, SQD, RTS, 0, RTS_OPTIONAL | rtsExtra);
        rule(type, SQD, SQD, 0, sqd);
        always(type);
    }

    private static void datagram(int type, int init, int rtr, int rts, int rtsOptional, int sqd) {
        rule(type, RESET, INIT, init, 0);
        rule(type, INIT, INIT, 0, init);
        rule(type, INIT, RTR, 0, rtr);
        rule(type, RTR, RTS, rts, rtsOptional);
        rule(type, RTS, RTS, 0, rtsOptional);
        rule(type, RTS, SQD, 0, EN_SQD_ASYNC_NOTIFY);
        rule(type, SQD, RTS, 0, rtsOptional);
        rule(type, SQD, SQD, 0, sqd);
        always(type);
    }

    private static void always(int type) {
        for (QueuePairState s : QueuePairState.values()) {
            rule(type, s, RESET, 0, 0);
            if (s != RESET) {
                rule(type, s, ERR, 0, 0);
            }
        }
    }

    private static void rule(int type, QueuePairState from, QueuePairState to, int required, int optional) {
        TABLES.computeIfAbsent(type, t -> new EnumMap<>(QueuePairState.class))
                .computeIfAbsent(from, s -> new EnumMap<>(QueuePairState.class)).put(to, new Rule(required, optional));
    }

    /**
     * Checks a modify call.
     *
     * @return null if it is allowed, else what is wrong with it
     */
    static @Nullable String objection(int type, QueuePairState from, QueuePairAttributes a) {
        QueuePairState wanted = a.state();
        QueuePairState to = wanted == null ? from : wanted;
        QueuePairState believed = a.currentState();
        if (believed != null && believed != from) {
            return "CUR_STATE is " + believed + ", but the queue pair is in " + from;
        }
        Rule rule = TABLES.getOrDefault(type, Map.of()).getOrDefault(from, Map.of()).get(to);
        if (rule == null) {
            return "there is no transition from " + from + " to " + to + " for type " + QueuePairType.toString(type);
        }
        int missing = rule.required & ~a.mask();
        if (missing != 0) {
            return from + " to " + to + " needs " + names(missing);
        }
        int surplus = a.mask() & ~(rule.required | rule.optional | STATE);
        if (surplus != 0) {
            return from + " to " + to + " does not take " + names(surplus);
        }
        return badValue(a);
    }

    /** Ranges that the specification gives; providers check those that depend on the device. */
    private static @Nullable String badValue(QueuePairAttributes a) {
        String s = outside(a, TIMEOUT, a.timeout(), 31);
        s = s != null ? s : outside(a, RETRY_CNT, a.retryCount(), 7);
        s = s != null ? s : outside(a, RNR_RETRY, a.rnrRetry(), 7);
        s = s != null ? s : outside(a, MIN_RNR_TIMER, a.minRnrTimer(), 31);
        s = s != null ? s : outside(a, RQ_PSN, a.rqPsn(), 0xffffff);
        s = s != null ? s : outside(a, SQ_PSN, a.sqPsn(), 0xffffff);
        s = s != null ? s : outside(a, ALT_PATH, a.alternateTimeout(), 31);
        s = s != null ? s : outside(a, PATH_MIG_STATE, a.pathMigrationState(), PathMigrationState.ARMED);
        s = s != null ? s : outside(a, DEST_QPN, a.destinationQueuePair(), 0xffffff);
        if (s == null && a.has(PATH_MTU)
                && (Integer.bitCount(a.pathMtu()) != 1 || a.pathMtu() < 256 || a.pathMtu() > 4096)) {
            s = "PATH_MTU is " + a.pathMtu() + ", must be 256, 512, 1024, 2048 or 4096";
        }
        return s;
    }

    private static @Nullable String outside(QueuePairAttributes a, int bit, int value, int max) {
        return a.has(bit) && (value < 0 || value > max) ? names(bit) + " is " + value + ", must be 0 to " + max : null;
    }

    /** Throws {@code EINVAL} with the objection, if there is one. */
    static void check(String verb, int type, QueuePairState from, QueuePairAttributes a) throws VerbsException {
        String s = objection(type, from, a);
        if (s != null) {
            throw new VerbsException(verb, Errno.EINVAL, s);
        }
    }
}
