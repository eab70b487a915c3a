// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.verbena.verbs.QueuePairState.ERR;
import static org.verbena.verbs.QueuePairState.INIT;
import static org.verbena.verbs.QueuePairState.RESET;
import static org.verbena.verbs.QueuePairState.RTR;
import static org.verbena.verbs.QueuePairState.RTS;
import static org.verbena.verbs.QueuePairState.SQD;
import static org.verbena.verbs.QueuePairState.SQE;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.PathMigrationState;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairCapabilities;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.VerbsException;

/** The state machine of an RC queue pair, against a separate table and not the one that the API uses. */
abstract class StateMachineConformance extends Conformance {
    /** Transitions: from, to, required attributes, optional attributes; volume 1, section 10.3.1. */
    private static final String TABLE = """
            RESET INIT | PKEY_INDEX PORT ACCESS_FLAGS |
            INIT INIT | | PKEY_INDEX PORT ACCESS_FLAGS
            INIT RTR | AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER | ACCESS_FLAGS PKEY_INDEX
            RTR RTS | TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC | CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER
            RTS RTS | | CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER
            RTS SQD | | EN_SQD_ASYNC_NOTIFY
            SQD RTS | | CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER
            SQD SQD | | PORT TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC MAX_DEST_RD_ATOMIC MIN_RNR_TIMER AV \
            ACCESS_FLAGS PKEY_INDEX
            RESET RESET | |
            INIT RESET | |
            RTR RESET | |
            RTS RESET | |
            SQD RESET | |
            ERR RESET | |
            INIT ERR | |
            RTR ERR | |
            RTS ERR | |
            SQD ERR | |
            ERR ERR | |
            """;

    private static final Map<String, Rule> RULES = parse();

    /** Attributes that a provider need not know, and the transitions of RC that take them. */
    private static final Map<String, Set<String>> RARE = Map.of(
            "ALT_PATH", Set.of("INIT RTR", "RTR RTS", "RTS RTS", "SQD RTS", "SQD SQD"),
            "PATH_MIG_STATE", Set.of("RTR RTS", "RTS RTS", "SQD RTS", "SQD SQD"),
            "CAP", Set.of(), "RATE_LIMIT", Set.of());

    private record Rule(Set<String> required, Set<String> optional) {}

    private static Map<String, Rule> parse() {
        Map<String, Rule> rules = new LinkedHashMap<>();
        TABLE.lines().forEach(line -> {
            List<String> parts = List.of(line.split("\\|", -1));
            rules.put(parts.getFirst().strip(), new Rule(words(parts.get(1)), words(parts.get(2))));
        });
        return rules;
    }

    private static Set<String> words(String s) {
        return s.isBlank() ? Set.of() : new TreeSet<>(List.of(s.strip().split("\\s+", -1)));
    }

    private final Map<String, BiConsumer<QueuePairAttributes.Builder, QueuePairState>> setters = new LinkedHashMap<>();
    private End end;
    private QueuePair partner;

    StateMachineConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    @BeforeEach
    void open2() throws Exception {
        end = end(EndOptions.defaults());
        partner = end.queuePair();
        AddressVector av = end.address(partner).vector();
        int reads = end.reads();
        int mtu = end.context.queryPort(1).activeMtu();
        setters.put("CUR_STATE", QueuePairAttributes.Builder::currentState);
        setters.put("EN_SQD_ASYNC_NOTIFY", (b, s) -> b.sqdAsyncNotify(true));
        setters.put("ACCESS_FLAGS", (b, s) -> b.accessFlags(AccessFlags.ALL));
        setters.put("PKEY_INDEX", (b, s) -> b.pkeyIndex(0));
        setters.put("PORT", (b, s) -> b.port(1));
        setters.put("QKEY", (b, s) -> b.qkey(0x1234));
        setters.put("AV", (b, s) -> b.addressVector(av));
        setters.put("PATH_MTU", (b, s) -> b.pathMtu(mtu));
        setters.put("TIMEOUT", (b, s) -> b.timeout(14));
        setters.put("RETRY_CNT", (b, s) -> b.retryCount(7));
        setters.put("RNR_RETRY", (b, s) -> b.rnrRetry(7));
        setters.put("RQ_PSN", (b, s) -> b.rqPsn(1));
        setters.put("MAX_QP_RD_ATOMIC", (b, s) -> b.maxReadAtomic(reads));
        setters.put("MIN_RNR_TIMER", (b, s) -> b.minRnrTimer(12));
        setters.put("SQ_PSN", (b, s) -> b.sqPsn(2));
        setters.put("MAX_DEST_RD_ATOMIC", (b, s) -> b.maxDestReadAtomic(reads));
        setters.put("DEST_QPN", (b, s) -> b.destinationQueuePair(partner.number()));
    }

    /** A modify with exactly these attributes. */
    private QueuePairAttributes attributes(QueuePairState from, QueuePairState to, Set<String> names) {
        QueuePairAttributes.Builder b = QueuePairAttributes.to(to);
        names.forEach(n -> setters.get(n).accept(b, from));
        return b.build();
    }

    private static Set<String> plus(Set<String> set, String name) {
        Set<String> all = new TreeSet<>(set);
        all.add(name);
        return all;
    }

    private static Set<String> minus(Set<String> set, String name) {
        Set<String> all = new TreeSet<>(set);
        all.remove(name);
        return all;
    }

    /** Brings a fresh queue pair to a state on the shortest way. */
    private QueuePair in(QueuePairState state) throws Exception {
        QueuePair qp = end.queuePair();
        bring(qp, state);
        return qp;
    }

    private void bring(QueuePair qp, QueuePairState state) throws Exception {
        List<QueuePairState> way = switch (state) {
            case RESET -> List.of();
            case INIT -> List.of(INIT);
            case RTR -> List.of(INIT, RTR);
            case RTS -> List.of(INIT, RTR, RTS);
            case SQD -> List.of(INIT, RTR, RTS, SQD);
            case ERR -> List.of(INIT, ERR);
            case SQE -> throw new IllegalArgumentException("RC has no SQE");
        };
        if (qp.state() == SQD) { // while it drains, a provider may allow nothing but this
            qp.modify(attributes(SQD, ERR, Set.of()));
        }
        qp.modify(attributes(qp.state(), RESET, Set.of()));
        for (QueuePairState next : way) {
            Set<String> required = RULES.get(qp.state() + " " + next).required;
            qp.modify(attributes(qp.state(), next, next == SQD ? plus(required, "EN_SQD_ASYNC_NOTIFY") : required));
            if (next == SQD) {
                end.awaitAsyncEvent(AsyncEventType.SQ_DRAINED, qp);
            }
        }
        assertThat(qp.state()).isEqualTo(state);
    }

    static Stream<Arguments> allPairs() {
        return Stream.of(QueuePairState.values()).filter(s -> s != SQE)
                .flatMap(from -> Stream.of(QueuePairState.values()).map(to -> Arguments.of(from, to)));
    }

    private void assertRefused(QueuePair qp, QueuePairAttributes a, String... words) throws Exception {
        QueuePairState before = qp.state();
        QueuePairAttributes was = qp.query();
        assertErrno(Errno.EINVAL, () -> qp.modify(a), words);
        assertThat(qp.state()).isEqualTo(before);
        assertThat(qp.query()).usingRecursiveComparison().isEqualTo(was);
    }

    @ParameterizedTest(name = "{0} to {1}")
    @MethodSource("allPairs")
    void everyTransitionIsAllowedOrRefusedPerTable(QueuePairState from, QueuePairState to) throws Exception {
        QueuePair qp = in(from);
        Rule rule = RULES.get(from + " " + to);
        if (rule == null) {
            assertRefused(qp, attributes(from, to, Set.of()), from.name(), to.name());
            assertRefused(qp, attributes(from, to, Set.of("PKEY_INDEX", "PORT", "ACCESS_FLAGS")), from.name(), to
                    .name());
            return;
        }
        for (String name : rule.required) {
            assertRefused(qp, attributes(from, to, minus(rule.required, name)), name);
        }
        for (String name : setters.keySet()) {
            if (!rule.required.contains(name) && !rule.optional.contains(name)) {
                assertRefused(qp, attributes(from, to, plus(rule.required, name)), name);
            }
        }
        qp.modify(attributes(from, to, rule.required));
        assertThat(qp.state()).isEqualTo(to);
        for (String name : rule.optional) {
            bring(qp, from);
            qp.modify(attributes(from, to, plus(rule.required, name)));
            assertThat(qp.state()).as("with " + name).isEqualTo(to);
        }
        bring(qp, from);
        Set<String> all = new TreeSet<>(rule.required);
        all.addAll(rule.optional);
        qp.modify(attributes(from, to, all));
        assertThat(qp.state()).isEqualTo(to);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ALT_PATH", "PATH_MIG_STATE", "CAP", "RATE_LIMIT"})
    void rareAttributeIsAcceptedOrUnsupportedPerTable(String name) throws Exception {
        AddressVector av = end.address(partner).vector();
        for (String transition : RULES.keySet()) {
            QueuePairState from = QueuePairState.valueOf(transition.split(" ", -1)[0]);
            QueuePairState to = QueuePairState.valueOf(transition.split(" ", -1)[1]);
            QueuePair qp = in(from);
            QueuePairAttributes.Builder b = attributes(from, to, RULES.get(transition).required).toBuilder();
            switch (name) {
                case "ALT_PATH" -> b.alternatePath(av, 0, 14);
                case "PATH_MIG_STATE" -> b.pathMigrationState(PathMigrationState.REARM);
                case "CAP" -> b.capabilities(QueuePairCapabilities.builder().maxSendWr(1).build());
                default -> b.rateLimit(1000);
            }
            if (!RARE.get(name).contains(transition)) {
                assertRefused(qp, b.build(), name);
                continue;
            }
            try {
                qp.modify(b.build());
                assertThat(qp.state()).isEqualTo(to);
            } catch (VerbsException e) {
                assertThat(e).hasMessageContaining(name);
                assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP);
                assertThat(qp.state()).isEqualTo(from);
            }
        }
    }

    @Test
    void rareAttributeOutOfRangeIsRefused() throws Exception {
        AddressVector av = end.address(partner).vector();
        QueuePair qp = in(RTS);
        for (int bad : new int[] {-1, 32, Integer.MIN_VALUE}) {
            assertRefused(qp, QueuePairAttributes.builder().alternatePath(av, 0, bad).build(), "ALT_PATH");
        }
        for (int bad : new int[] {-1, 3}) {
            assertRefused(qp, QueuePairAttributes.builder().pathMigrationState(bad).build(), "PATH_MIG_STATE");
        }
    }

    @ParameterizedTest
    @EnumSource(QueuePairState.class)
    void modifyWithoutAStateKeepsTheState(QueuePairState state) throws Exception {
        if (state == SQE) {
            return; // RC has no SQE, and everyTransition shows that none leads there
        }
        QueuePair qp = in(state);
        Rule rule = RULES.get(state + " " + state);
        QueuePairAttributes.Builder b = QueuePairAttributes.builder();
        if (rule == null) {
            assertErrno(Errno.EINVAL, () -> qp.modify(b.build()), state.name());
        } else {
            rule.optional.forEach(n -> setters.get(n).accept(b, state));
            qp.modify(b.build());
        }
        assertThat(qp.state()).isEqualTo(state);
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairState.class, names = {"RTR", "RTS", "SQD"})
    void wrongCurrentStateIsRefused(QueuePairState state) throws Exception {
        QueuePair qp = in(state);
        for (QueuePairState wrong : QueuePairState.values()) {
            if (wrong != state) {
                QueuePairAttributes.Builder b = attributes(state, RTS, RULES.get(state + " RTS").required).toBuilder();
                assertRefused(qp, b.currentState(wrong).build(), "CUR_STATE");
            }
        }
    }

    /** Every attribute that the caller may not choose freely, with values beyond its range. */
    @ParameterizedTest
    @MethodSource("wrongValues")
    void valueOutOfRangeIsRefusedAndNamed(String name, QueuePairState from, QueuePairState to,
            Consumer<QueuePairAttributes.Builder> wrong)
            throws Exception {
        QueuePair qp = in(from);
        QueuePairAttributes.Builder b = attributes(from, to, RULES.get(from + " " + to).required).toBuilder();
        wrong.accept(b);
        assertRefused(qp, b.build(), name);
        bring(qp, RTS);
    }

    static Stream<Arguments> wrongValues() {
        return Stream.of(wrong("PORT", RESET, INIT, QueuePairAttributes.Builder::port, 0, 2, 255, -1),
                wrong("PKEY_INDEX", RESET, INIT, QueuePairAttributes.Builder::pkeyIndex, -1, 65536),
                wrong("ACCESS_FLAGS", RESET, INIT, QueuePairAttributes.Builder::accessFlags, 1 << 12,
                        Integer.MIN_VALUE),
                wrong("PATH_MTU", INIT, RTR, QueuePairAttributes.Builder::pathMtu, 0, 1, 1000, 8192, -1,
                        Integer.MIN_VALUE),
                wrong("DEST_QPN", INIT, RTR, QueuePairAttributes.Builder::destinationQueuePair, -1, 1 << 24,
                        Integer.MIN_VALUE),
                wrong("RQ_PSN", INIT, RTR, QueuePairAttributes.Builder::rqPsn, -1, 1 << 24),
                wrong("MAX_DEST_RD_ATOMIC", INIT, RTR, QueuePairAttributes.Builder::maxDestReadAtomic, -1, 1 << 20),
                wrong("MIN_RNR_TIMER", INIT, RTR, QueuePairAttributes.Builder::minRnrTimer, -1, 32),
                wrong("AV", INIT, RTR, (b, i) -> b.addressVector(vector(b, i, 1)), -1, 1 << 16),
                wrong("AV", INIT, RTR, (b, port) -> b.addressVector(vector(b, 0, port)), 0, 99, -1),
                wrong("TIMEOUT", RTR, RTS, QueuePairAttributes.Builder::timeout, -1, 32), wrong("RETRY_CNT", RTR, RTS,
                        QueuePairAttributes.Builder::retryCount, -1, 8),
                wrong("RNR_RETRY", RTR, RTS, QueuePairAttributes.Builder::rnrRetry, -1, 8), wrong("SQ_PSN", RTR, RTS,
                        QueuePairAttributes.Builder::sqPsn, -1, 1 << 24),
                wrong("MAX_QP_RD_ATOMIC", RTR, RTS, QueuePairAttributes.Builder::maxReadAtomic, -1, 1 << 20)).flatMap(
                        s -> s);
    }

    private static AddressVector vector(QueuePairAttributes.Builder b, int sourceIndex, int port) {
        AddressVector good = java.util.Objects.requireNonNull(b.build().addressVector());
        return AddressVector.builder(good.destination()).sourceGidIndex(sourceIndex).port(port).build();
    }

    private static Stream<Arguments> wrong(String name, QueuePairState from, QueuePairState to,
            BiConsumer<QueuePairAttributes.Builder, Integer> setter, Integer... values) {
        return Stream.of(values).map(v -> Arguments.of(name, from, to,
                (Consumer<QueuePairAttributes.Builder>) b -> setter.accept(b, v)));
    }

    @Test
    void queryReturnsModifiedAttributes() throws Exception {
        QueuePair qp = end.queuePair();
        assertThat(qp.query().state()).isEqualTo(RESET);
        qp.modify(QueuePairAttributes.to(INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.REMOTE_READ).build());
        QueuePairAttributes a = qp.query();
        assertThat(a.state()).isEqualTo(INIT);
        assertThat(a.port()).isEqualTo(1);
        assertThat(a.pkeyIndex()).isZero();
        assertThat(a.accessFlags()).isEqualTo(AccessFlags.REMOTE_READ);
        qp.modify(QueuePairAttributes.to(INIT).accessFlags(AccessFlags.ALL).build());
        assertThat(qp.query().accessFlags()).isEqualTo(AccessFlags.ALL);

        AddressVector av = end.address(partner).vector();
        qp.modify(QueuePairAttributes.to(RTR).addressVector(av).pathMtu(256).destinationQueuePair(partner.number())
                .rqPsn(0xabcdef).maxDestReadAtomic(1).minRnrTimer(31).build());
        a = qp.query();
        assertThat(a.state()).isEqualTo(RTR);
        assertThat(a.addressVector()).isEqualTo(av);
        assertThat(a.pathMtu()).isEqualTo(256);
        assertThat(a.destinationQueuePair()).isEqualTo(partner.number());
        assertThat(a.rqPsn()).isEqualTo(0xabcdef);
        assertThat(a.maxDestReadAtomic()).isEqualTo(1);
        assertThat(a.minRnrTimer()).isEqualTo(31);

        qp.modify(QueuePairAttributes.to(RTS).timeout(0).retryCount(5).rnrRetry(3).sqPsn(0xffffff).maxReadAtomic(1)
                .minRnrTimer(7).build());
        a = qp.query();
        assertThat(a.state()).isEqualTo(RTS);
        assertThat(a.timeout()).isZero();
        assertThat(a.retryCount()).isEqualTo(5);
        assertThat(a.rnrRetry()).isEqualTo(3);
        assertThat(a.sqPsn()).isEqualTo(0xffffff);
        assertThat(a.maxReadAtomic()).isEqualTo(1);
        assertThat(a.minRnrTimer()).isEqualTo(7);
        assertThat(a.accessFlags()).isEqualTo(AccessFlags.ALL);

        qp.modify(QueuePairAttributes.to(ERR).build());
        assertThat(qp.query().state()).isEqualTo(ERR);
        qp.modify(QueuePairAttributes.to(RESET).build());
        assertThat(qp.query().state()).isEqualTo(RESET);
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairState.class, names = {"RESET", "INIT", "RTR"})
    void sendsAreRefusedBeforeRts(QueuePairState state) throws Exception {
        QueuePair qp = in(state);
        EndAddress self = end.address();
        for (Op op : List.of(Op.send(1).on(0, 8), Op.sendImmediate(1, 2), Op.write(1, self, 0).on(8, 8),
                Op.read(1, self, 0).on(8, 8), Op.fetchAndAdd(1, self, 0, 1).on(8, 8))) {
            assertRefused(Errno.EINVAL, end.post(qp, op));
        }
        end.expectNoCompletion();
    }

    @Test
    void receivesAreRefusedOnlyInReset() throws Exception {
        assertRefused(Errno.EINVAL, end.postReceives(in(RESET), Op.receive(1).on(0, 8)));
        for (QueuePairState s : List.of(INIT, RTR, RTS, SQD)) {
            assertPosted(end.postReceives(in(s), Op.receive(1).on(0, 8)));
        }
        end.expectNoCompletion();
    }

    @Test
    void drainedQueueRaisesAnEvent() throws Exception {
        end.toInit();
        end.toRtr(end.address(partner));
        end.toRts();
        end.qp.modify(QueuePairAttributes.to(SQD).sqdAsyncNotify(true).build());
        end.awaitAsyncEvent(AsyncEventType.SQ_DRAINED);
    }

    @Test
    void moveToResetDiscardsReceives() throws Exception {
        QueuePair qp = in(INIT);
        assertPosted(end.postReceives(qp, Op.receive(1).on(0, 8)));
        bring(qp, RESET);
        bring(qp, ERR);
        end.expectNoCompletion();
    }
}
