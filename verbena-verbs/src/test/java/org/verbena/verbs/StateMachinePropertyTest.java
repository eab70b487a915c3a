// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.verbs.QueuePairState.ERR;
import static org.verbena.verbs.QueuePairState.INIT;
import static org.verbena.verbs.QueuePairState.RESET;
import static org.verbena.verbs.QueuePairState.RTR;
import static org.verbena.verbs.QueuePairState.RTS;
import static org.verbena.verbs.QueuePairState.SQD;
import static org.verbena.verbs.QueuePairState.SQE;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/**
 * Every combination of type, state, wanted state and attributes is refused or allowed as {@code qp_state_table} of the
 * Linux kernel has it, which is written down here once more, in its own words.
 */
class StateMachinePropertyTest {
    private static final int COMBINATIONS = 20_000;
    private static final int[] TYPES = {QueuePairType.RC, QueuePairType.UC, QueuePairType.UD, QueuePairType.RAW_PACKET,
        QueuePairType.XRC_SEND, QueuePairType.XRC_RECV};

    /** Name of each attribute's bit. */
    private static final Map<String, Integer> BITS = Map.ofEntries(Map.entry("STATE", 1), Map.entry("CUR_STATE", 2),
            Map.entry("EN_SQD", 4), Map.entry("ACCESS", 8), Map.entry("PKEY", 0x10), Map.entry("PORT", 0x20),
            Map.entry("QKEY", 0x40), Map.entry("AV", 0x80), Map.entry("MTU", 0x100), Map.entry("TIMEOUT", 0x200),
            Map.entry("RETRY", 0x400), Map.entry("RNR_RETRY", 0x800), Map.entry("RQ_PSN", 0x1000),
            Map.entry("MAX_RD", 0x2000), Map.entry("ALT", 0x4000), Map.entry("RNR_TIMER", 0x8000),
            Map.entry("SQ_PSN", 0x10000), Map.entry("DEST_RD", 0x20000), Map.entry("MIG", 0x40000),
            Map.entry("CAP", 0x80000), Map.entry("DEST", 0x100000), Map.entry("RATE", 1 << 25));

    /** "type from to" to required and optional attributes. */
    private static final Map<String, int[]> TABLE = new HashMap<>();

    static {
        for (String t : new String[] {"RC", "UC", "XRC_SEND", "XRC_RECV"}) {
            rule(t, RESET, INIT, "PKEY PORT ACCESS", "");
            rule(t, INIT, INIT, "", "PKEY PORT ACCESS");
            rule(t, RTS, SQD, "", "EN_SQD");
        }
        rule("UD", RESET, INIT, "PKEY PORT QKEY", "");
        rule("UD", INIT, INIT, "", "PKEY PORT QKEY");
        rule("RAW_PACKET", RESET, INIT, "PORT", "");
        rule("RAW_PACKET", INIT, INIT, "", "PORT");
        rule("UD", RTS, SQD, "", "EN_SQD");
        rule("RAW_PACKET", RTS, SQD, "", "EN_SQD");

        for (String t : new String[] {"RC", "XRC_RECV"}) {
            rule(t, INIT, RTR, "AV MTU DEST RQ_PSN DEST_RD RNR_TIMER", "ALT ACCESS PKEY");
        }
        for (String t : new String[] {"UC", "XRC_SEND"}) {
            rule(t, INIT, RTR, "AV MTU DEST RQ_PSN", "ALT ACCESS PKEY");
        }
        rule("UD", INIT, RTR, "", "PKEY QKEY");
        rule("RAW_PACKET", INIT, RTR, "", "");

        rule("RC", RTR, RTS, "TIMEOUT RETRY RNR_RETRY SQ_PSN MAX_RD", "CUR_STATE ALT ACCESS RNR_TIMER MIG");
        rule("XRC_SEND", RTR, RTS, "TIMEOUT RETRY RNR_RETRY SQ_PSN MAX_RD", "CUR_STATE ALT ACCESS MIG");
        rule("XRC_RECV", RTR, RTS, "TIMEOUT SQ_PSN", "CUR_STATE ALT ACCESS RNR_TIMER MIG");
        rule("UC", RTR, RTS, "SQ_PSN", "CUR_STATE ALT ACCESS MIG");
        rule("UD", RTR, RTS, "SQ_PSN", "CUR_STATE QKEY");
        rule("RAW_PACKET", RTR, RTS, "", "RATE");

        for (QueuePairState from : new QueuePairState[] {RTS, SQD}) {
            rule("RC", from, RTS, "", "CUR_STATE ACCESS ALT MIG RNR_TIMER");
            rule("XRC_RECV", from, RTS, "", "CUR_STATE ACCESS ALT MIG RNR_TIMER");
            rule("XRC_SEND", from, RTS, "", "CUR_STATE ACCESS ALT MIG");
            rule("UC", from, RTS, "", "CUR_STATE ACCESS ALT MIG");
            rule("UD", from, RTS, "", "CUR_STATE QKEY");
        }
        rule("RAW_PACKET", RTS, RTS, "", "RATE");
        rule("RAW_PACKET", SQD, RTS, "", "RATE");

        rule("RC", SQD, SQD, "",
                "PORT AV TIMEOUT RETRY RNR_RETRY MAX_RD DEST_RD ALT ACCESS PKEY RNR_TIMER MIG");
        rule("XRC_SEND", SQD, SQD, "", "PORT AV TIMEOUT RETRY RNR_RETRY MAX_RD ALT ACCESS PKEY MIG");
        rule("XRC_RECV", SQD, SQD, "", "PORT AV TIMEOUT DEST_RD ALT ACCESS PKEY RNR_TIMER MIG");
        rule("UC", SQD, SQD, "", "AV ALT ACCESS PKEY MIG");
        rule("UD", SQD, SQD, "", "PKEY QKEY");
        rule("RAW_PACKET", SQD, SQD, "", "");
        rule("UC", SQE, RTS, "", "CUR_STATE ACCESS");
        rule("UD", SQE, RTS, "", "CUR_STATE QKEY");
    }

    private static void rule(String type, QueuePairState from, QueuePairState to, String required, String optional) {
        TABLE.put(type + " " + from + " " + to, new int[] {bits(required), bits(optional)});
    }

    private static int bits(String names) {
        return Arrays.stream(names.split(" ", -1)).filter(n -> !n.isEmpty()).mapToInt(BITS::get).reduce(0,
                (a, b) -> a | b);
    }

    /** Whether the kernel would take it. */
    private static boolean isAllowed(int type, QueuePairState from, @Nullable QueuePairState wanted, int mask,
            QueuePairState believed) {
        QueuePairState to = wanted == null ? from : wanted;
        if ((mask & QueuePairAttributes.CUR_STATE) != 0 && believed != from) {
            return false;
        }
        int[] rule = TABLE.get(QueuePairType.toString(type) + " " + from + " " + to);
        if (to == RESET || to == ERR && from != RESET) {
            rule = new int[2];
        }
        return rule != null && (mask & rule[0]) == rule[0] && (mask & ~(rule[0] | rule[1] | 1)) == 0;
    }

    private static QueuePairAttributes attributes(@Nullable QueuePairState to, int mask, QueuePairState believed) {
        QueuePairAttributes.Builder b = to == null ? QueuePairAttributes.builder() : QueuePairAttributes.to(to);
        AddressVector path = AddressVector.to(new Gid(0, 1));
        for (int rest = mask & ~1; rest != 0; rest &= rest - 1) {
            switch (Integer.lowestOneBit(rest)) {
                case 2 -> b.currentState(believed);
                case 4 -> b.sqdAsyncNotify(true);
                case 8 -> b.accessFlags(0);
                case 0x10 -> b.pkeyIndex(0);
                case 0x20 -> b.port(1);
                case 0x40 -> b.qkey(5);
                case 0x80 -> b.addressVector(path);
                case 0x100 -> b.pathMtu(1024);
                case 0x200 -> b.timeout(14);
                case 0x400 -> b.retryCount(7);
                case 0x800 -> b.rnrRetry(7);
                case 0x1000 -> b.rqPsn(1);
                case 0x2000 -> b.maxReadAtomic(1);
                case 0x4000 -> b.alternatePath(path, 0, 14);
                case 0x8000 -> b.minRnrTimer(12);
                case 0x10000 -> b.sqPsn(1);
                case 0x20000 -> b.maxDestReadAtomic(1);
                case 0x40000 -> b.pathMigrationState(PathMigrationState.REARM);
                case 0x80000 -> b.capabilities(QueuePairCapabilities.builder().build());
                case 0x100000 -> b.destinationQueuePair(1);
                default -> b.rateLimit(1);
            }
        }
        QueuePairAttributes a = b.build();
        assertThat(a.mask()).isEqualTo(to == null ? mask & ~1 : mask | 1);
        return a;
    }

    private static void check(int type, QueuePairState from, @Nullable QueuePairState to, int mask,
            QueuePairState believed, String seed) {
        String objection = QueuePairStateMachine.objection(type, from, attributes(to, mask, believed));
        assertThat(objection == null).as("%s %s to %s with %s believing %s, %s: %s", QueuePairType.toString(type), from,
                to, QueuePairAttributes.names(mask), believed, seed, objection)
                .isEqualTo(isAllowed(type, from, to, mask, believed));
    }

    /** Near the rules: what is required, one less, one more. */
    @Test
    void everyTypeAndTransitionWithEachAttributeMoreOrLess() {
        for (int type : TYPES) {
            for (QueuePairState from : QueuePairState.values()) {
                for (QueuePairState to : QueuePairState.values()) {
                    int[] rule = TABLE.getOrDefault(QueuePairType.toString(type) + " " + from + " " + to, new int[2]);
                    check(type, from, to, rule[0], from, "");
                    check(type, from, to, rule[0] | rule[1], from, "");
                    for (int bit : BITS.values()) {
                        check(type, from, to, rule[0] & ~bit, from, "");
                        check(type, from, to, rule[0] | bit, from, "");
                    }
                }
                check(type, from, null, 0, from, "");
            }
        }
    }

    @RepeatedTest(3)
    void randomCombinations() {
        long seed = System.nanoTime();
        Random r = new Random(seed);
        int[] bits = BITS.values().stream().mapToInt(i -> i).toArray();
        QueuePairState[] states = QueuePairState.values();
        for (int i = 0; i < COMBINATIONS; i++) {
            int type = TYPES[r.nextInt(TYPES.length)];
            QueuePairState from = states[r.nextInt(states.length)];
            QueuePairState to = r.nextInt(8) == 0 ? null : states[r.nextInt(states.length)];
            int[] rule = TABLE.getOrDefault(
                    QueuePairType.toString(type) + " " + from + " " + (to == null ? from : to), new int[2]);
            int mask = switch (r.nextInt(3)) {
                case 0 -> r.nextInt();
                case 1 -> rule[0] | rule[1] & r.nextInt();
                default -> rule[0] ^ bits[r.nextInt(bits.length)] & r.nextInt();
            };
            mask &= Arrays.stream(bits).reduce(0, (a, b) -> a | b);
            check(type, from, to, mask, r.nextInt(4) == 0 ? states[r.nextInt(states.length)] : from, "seed " + seed);
        }
    }
}
