// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every transition of every type with every attribute, against a table written down a second time. */
class QueuePairStateMachineTest {
    private static final String CONNECTED = """
            RESET INIT | PKEY_INDEX PORT ACCESS_FLAGS |
            INIT INIT | | PKEY_INDEX PORT ACCESS_FLAGS
            RTS SQD | | EN_SQD_ASYNC_NOTIFY
            """;

    private static final Map<Integer, String> TABLES = Map.of(
            QueuePairType.RC, CONNECTED + """
                    INIT RTR | AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER | ALT_PATH ACCESS_FLAGS PKEY_INDEX
                    RTR RTS | TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC | CUR_STATE ALT_PATH ACCESS_FLAGS \
                    PATH_MIG_STATE MIN_RNR_TIMER
                    RTS RTS | | CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER
                    SQD RTS | | CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER
                    SQD SQD | | AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE PORT TIMEOUT RETRY_CNT RNR_RETRY \
                    MAX_QP_RD_ATOMIC MAX_DEST_RD_ATOMIC MIN_RNR_TIMER
                    """,
            QueuePairType.UC, CONNECTED + """
                    INIT RTR | AV PATH_MTU DEST_QPN RQ_PSN | ALT_PATH ACCESS_FLAGS PKEY_INDEX
                    RTR RTS | SQ_PSN | CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE
                    RTS RTS | | CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE
                    SQD RTS | | CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE
                    SQD SQD | | AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE
                    SQE RTS | | CUR_STATE ACCESS_FLAGS
                    """,
            QueuePairType.XRC_SEND, CONNECTED + """
                    INIT RTR | AV PATH_MTU DEST_QPN RQ_PSN | ALT_PATH ACCESS_FLAGS PKEY_INDEX
                    RTR RTS | TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC | CUR_STATE ALT_PATH ACCESS_FLAGS \
                    PATH_MIG_STATE
                    RTS RTS | | CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE
                    SQD RTS | | CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE
                    SQD SQD | | AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE PORT TIMEOUT RETRY_CNT RNR_RETRY \
                    MAX_QP_RD_ATOMIC
                    """,
            QueuePairType.XRC_RECV, CONNECTED + """
                    INIT RTR | AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER | ALT_PATH ACCESS_FLAGS PKEY_INDEX
                    RTR RTS | TIMEOUT SQ_PSN | CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE MIN_RNR_TIMER
                    RTS RTS | | CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER
                    SQD RTS | | CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER
                    SQD SQD | | AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE PORT TIMEOUT MAX_DEST_RD_ATOMIC \
                    MIN_RNR_TIMER
                    """,
            QueuePairType.UD, """
                    RESET INIT | PKEY_INDEX PORT QKEY |
                    INIT INIT | | PKEY_INDEX PORT QKEY
                    INIT RTR | | PKEY_INDEX QKEY
                    RTR RTS | SQ_PSN | CUR_STATE QKEY
                    RTS RTS | | CUR_STATE QKEY
                    RTS SQD | | EN_SQD_ASYNC_NOTIFY
                    SQD RTS | | CUR_STATE QKEY
                    SQD SQD | | PKEY_INDEX QKEY
                    SQE RTS | | CUR_STATE QKEY
                    """,
            QueuePairType.RAW_PACKET, """
                    RESET INIT | PORT |
                    INIT INIT | | PORT
                    INIT RTR | |
                    RTR RTS | | RATE_LIMIT
                    RTS RTS | | RATE_LIMIT
                    RTS SQD | | EN_SQD_ASYNC_NOTIFY
                    SQD RTS | | RATE_LIMIT
                    SQD SQD | |
                    """);

    private static final AddressVector PATH = AddressVector.to(new Gid(1, 2));
    private static final Map<String, BiConsumer<QueuePairAttributes.Builder, QueuePairState>> SETTERS = setters();

    private static Map<String, BiConsumer<QueuePairAttributes.Builder, QueuePairState>> setters() {
        Map<String, BiConsumer<QueuePairAttributes.Builder, QueuePairState>> m = new HashMap<>();
        m.put("CUR_STATE", QueuePairAttributes.Builder::currentState);
        m.put("EN_SQD_ASYNC_NOTIFY", (b, s) -> b.sqdAsyncNotify(true));
        m.put("ACCESS_FLAGS", (b, s) -> b.accessFlags(AccessFlags.REMOTE_READ));
        m.put("PKEY_INDEX", (b, s) -> b.pkeyIndex(0));
        m.put("PORT", (b, s) -> b.port(1));
        m.put("QKEY", (b, s) -> b.qkey(3));
        m.put("AV", (b, s) -> b.addressVector(PATH));
        m.put("PATH_MTU", (b, s) -> b.pathMtu(1024));
        m.put("TIMEOUT", (b, s) -> b.timeout(14));
        m.put("RETRY_CNT", (b, s) -> b.retryCount(7));
        m.put("RNR_RETRY", (b, s) -> b.rnrRetry(7));
        m.put("RQ_PSN", (b, s) -> b.rqPsn(1));
        m.put("MAX_QP_RD_ATOMIC", (b, s) -> b.maxReadAtomic(1));
        m.put("ALT_PATH", (b, s) -> b.alternatePath(PATH, 0, 14));
        m.put("MIN_RNR_TIMER", (b, s) -> b.minRnrTimer(12));
        m.put("SQ_PSN", (b, s) -> b.sqPsn(2));
        m.put("MAX_DEST_RD_ATOMIC", (b, s) -> b.maxDestReadAtomic(1));
        m.put("PATH_MIG_STATE", (b, s) -> b.pathMigrationState(PathMigrationState.REARM));
        m.put("CAP", (b, s) -> b.capabilities(QueuePairCapabilities.builder().build()));
        m.put("DEST_QPN", (b, s) -> b.destinationQueuePair(5));
        m.put("RATE_LIMIT", (b, s) -> b.rateLimit(1000));
        return m;
    }

    static Stream<Arguments> everyTransition() {
        return TABLES.keySet().stream().sorted()
                .flatMap(type -> Stream.of(QueuePairState.values()).flatMap(from -> Stream.of(QueuePairState.values())
                        .map(to -> Arguments.of(type, from, to))));
    }

    /** The two lists of names of a transition; null if there is no such transition. */
    private static String[][] rule(int type, QueuePairState from, QueuePairState to) {
        if (to == QueuePairState.RESET || to == QueuePairState.ERR && from != QueuePairState.RESET) {
            return new String[][] {{}, {}};
        }
        return TABLES.getOrDefault(type, "").lines().filter(l -> l.startsWith(from + " " + to + " |")).findFirst()
                .map(l -> l.split("\\|", -1)).map(p -> new String[][] {words(p[1]), words(p[2])}).orElse(null);
    }

    private static String[] words(String list) {
        return Arrays.stream(list.split(" ", -1)).filter(w -> !w.isBlank()).toArray(String[]::new);
    }

    private static String objection(int type, QueuePairState from, QueuePairState to, String[] names, String more,
            String less) {
        QueuePairAttributes.Builder b = QueuePairAttributes.to(to);
        for (String n : names) {
            if (!n.equals(less)) {
                SETTERS.get(n).accept(b, from);
            }
        }
        if (!more.isEmpty()) {
            SETTERS.get(more).accept(b, from);
        }
        return QueuePairStateMachine.objection(type, from, b.build());
    }

    @ParameterizedTest(name = "type {0}, {1} to {2}")
    @MethodSource("everyTransition")
    void everyTransitionWithEveryAttribute(int type, QueuePairState from, QueuePairState to) {
        String[][] rule = rule(type, from, to);
        if (rule == null) {
            assertThat(objection(type, from, to, new String[0], "", "")).contains("no transition");
            for (String n : SETTERS.keySet()) {
                assertThat(objection(type, from, to, new String[0], n, "")).as(n).contains("no transition");
            }
            return;
        }
        assertThat(objection(type, from, to, rule[0], "", "")).isNull();
        for (String n : SETTERS.keySet()) {
            String said = objection(type, from, to, rule[0], n, "");
            if (Arrays.asList(rule[0]).contains(n) || Arrays.asList(rule[1]).contains(n)) {
                assertThat(said).as(n).isNull();
            } else {
                assertThat(said).as(n).contains("does not take " + n);
            }
        }
        for (String n : rule[0]) {
            assertThat(objection(type, from, to, rule[0], "", n)).as(n).contains("needs " + n);
        }
    }
}
