// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.UnixSocket;
import org.verbena.testkit.Await;
import org.verbena.testkit.Descriptors;

/**
 * Every way that a conversation of two ends can be broken off, at every step of it, with the engine as either end. Both
 * ends come to the same, rings or TCP; what was written before, meanwhile and after arrives once; and nothing is left
 * over.
 */
@Isolated("it counts what others of the process do, too")
class HandshakeStepsTest {
    private static final int PIECE = 100;
    private static PeerByHand.Other process;

    /** How far the conversation has come. */
    enum Stage {
        MET, HELLO_SAID, OFFER_HEARD, OFFERED, OFFERED_BEFORE_IT_HEARD
    }

    /** What comes then. */
    enum Then {
        HANGS_UP, SAYS_GARBAGE, SAYS_A_PART, SAYS_HELLO_OF_AN_OLD_VERSION, SAYS_HELLO, DIES, IS_CLOSED_BY_THE_PROGRAM,
        IS_REFUSED
    }

    @BeforeAll
    static void start() throws IOException {
        process = new PeerByHand.Other();
    }

    @AfterAll
    static void end() throws IOException {
        process.close();
    }

    static java.util.stream.Stream<Arguments> all() {
        List<Arguments> all = new ArrayList<>();
        for (Stream.Role role : Stream.Role.values()) {
            for (Stage stage : Stage.values()) {
                for (Then then : Then.values()) {
                    boolean first = stage == Stage.MET && then == Then.SAYS_HELLO; // which is how it goes on
                    boolean over = stage == Stage.OFFERED || stage == Stage.OFFERED_BEFORE_IT_HEARD;
                    if (!first && (!over || then == Then.HANGS_UP || then == Then.IS_CLOSED_BY_THE_PROGRAM)) {
                        all.add(Arguments.of(role, stage, then));
                    }
                }
            }
        }
        return all.stream();
    }

    static void reach(PeerByHand peer, Stage stage) throws Exception {
        peer.meet();
        if (stage == Stage.MET) {
            return;
        }
        peer.hello();
        if (stage == Stage.OFFERED_BEFORE_IT_HEARD) {
            peer.offer();
        }
        if (stage != Stage.HELLO_SAID) {
            peer.hearOffer();
        }
        if (stage == Stage.OFFERED) {
            peer.offer();
        }
    }

    private static void go(PeerByHand peer, Then then) throws IOException {
        switch (then) {
            case HANGS_UP -> {}
            case SAYS_GARBAGE -> peer.garbage(HandshakeMessage.BYTES);
            case SAYS_A_PART -> peer.garbage(7);
            case SAYS_HELLO_OF_AN_OLD_VERSION -> peer.hello(0);
            case SAYS_HELLO -> peer.hello(HandshakeMessage.VERSION);
            case DIES -> peer.ownTcp.close();
            case IS_CLOSED_BY_THE_PROGRAM -> peer.real.close(false);
            case IS_REFUSED -> peer.real.stayWithTcp(FallbackReason.RULE);
        }
        peer.hangUp();
    }

    @ParameterizedTest
    @MethodSource("all")
    void bothEndsReachTheSameResult(Stream.Role role, Stage stage, Then then) throws Exception {
        try (PeerByHand peer = new PeerByHand(process, role)) {
            Way there = new Way(peer.real, peer.own, 0);
            Way back = new Way(peer.own, peer.real, 1);
            there.write();
            back.write();
            reach(peer, stage);
            there.write();
            back.write();
            go(peer, then);
            Await.until("a decision", () -> peer.real.isHandshakeComplete() || peer.real
                    .reason() != FallbackReason.NONE);
            boolean rings = peer.decide();
            assertThat(peer.real.isHandshakeComplete()).isEqualTo(rings);
            if (!rings) {
                assertThat(peer.real.reason()).isIn(reasons(stage, then));
            }
            if (then != Then.IS_CLOSED_BY_THE_PROGRAM && then != Then.DIES) {
                there.write();
                back.write();
                assertThat(peer.real.isOutputByRing() && peer.own.isOutputByRing()).isEqualTo(rings);
                there.readAll();
                back.readAll();
            }
        }
    }

    /**
     * Before an offer is received, the engine may find first that the other end has left, and cannot have its offer.
     */
    private static List<FallbackReason> reasons(Stage stage, Then then) {
        List<FallbackReason> reasons = new ArrayList<>();
        reasons.add(switch (then) {
            case HANGS_UP -> FallbackReason.NO_SESSION;
            case SAYS_GARBAGE, SAYS_A_PART, SAYS_HELLO -> FallbackReason.BAD_PEER;
            case SAYS_HELLO_OF_AN_OLD_VERSION ->
                stage == Stage.MET ? FallbackReason.OTHER_VERSION : FallbackReason.BAD_PEER;
            case DIES, IS_CLOSED_BY_THE_PROGRAM -> FallbackReason.CLOSED_EARLY;
            case IS_REFUSED -> FallbackReason.RULE;
        });
        if (stage == Stage.HELLO_SAID || then == Then.IS_REFUSED) {
            reasons.add(FallbackReason.NO_SESSION);
        }
        return reasons;
    }

    /** A check for the end of TCP takes its error; a program that writes first gets it all the same, and once. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void resetBeforeTheHandshakeIsReportedOnce(boolean fallenBack) throws Exception {
        try (PeerByHand peer = new PeerByHand(process, Stream.Role.CLIENT)) {
            reach(peer, Stage.OFFER_HEARD);
            peer.ownTcp.setOption(StandardSocketOptions.SO_LINGER, 0);
            peer.ownTcp.close();
            Await.until("the reset to be taken", () -> {
                peer.real.kernelReady(SelectionKey.OP_READ, SelectionKey.OP_READ);
                return peer.real.kernelOps(SelectionKey.OP_READ) == 0;
            });
            if (fallenBack) {
                peer.hangUp();
                Await.until("TCP", () -> peer.real.reason() != FallbackReason.NONE);
            }
            ByteBuffer[] two = {ByteBuffer.allocate(1), ByteBuffer.allocate(1)};
            assertThatThrownBy(() -> peer.real.write(two[0])).hasMessage("Connection reset by peer");
            assertThatThrownBy(() -> peer.real.write(two, 0, 2)).hasMessage("Broken pipe");
            assertThat(peer.real.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    /** The same for reads: the JDK's channels report it each time. */
    @Test
    void resetBeforeTheHandshakeIsReportedToAReader() throws Exception {
        try (PeerByHand peer = new PeerByHand(process, Stream.Role.CLIENT)) {
            reach(peer, Stage.OFFER_HEARD);
            peer.ownTcp.setOption(StandardSocketOptions.SO_LINGER, 0);
            peer.ownTcp.close();
            Await.until("the reset to be taken", () -> {
                peer.real.kernelReady(SelectionKey.OP_READ, SelectionKey.OP_READ);
                return peer.real.kernelOps(SelectionKey.OP_READ) == 0;
            });
            peer.hangUp();
            Await.until("TCP", () -> peer.real.reason() != FallbackReason.NONE);
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> peer.real.read(ByteBuffer.allocate(1))).hasMessage("Connection reset");
            }
            assertThatThrownBy(() -> peer.real.write(ByteBuffer.allocate(1))).hasMessage("Broken pipe");
        }
    }

    /** A caller that is not the other end is disconnected, with all that it has sent. */
    @Test
    void offerOfAnotherCallerIsIgnored() throws Exception {
        try (PeerByHand peer = new PeerByHand(process, Stream.Role.CLIENT)) {
            try (UnixSocket stranger = peer.connectToEngine()) {
                PeerByHand.sendOffer(stranger, new Offer(0, 1, 4096, 1, 8192, 4096, 0, 0));
                peer.sendHello(stranger, HandshakeMessage.VERSION, 12345);
                peer.awaitEnd(stranger);
            }
            peer.meet();
            peer.hello();
            peer.hearOffer();
            peer.offer();
            Await.until("a decision", () -> peer.real.isHandshakeComplete() || peer.real
                    .reason() != FallbackReason.NONE);
            assertThat(peer.decide()).isTrue();
            assertThat(peer.real.isHandshakeComplete()).isTrue();
            Way way = new Way(peer.real, peer.own, 0);
            way.write();
            way.readAll();
        }
    }

    /** One way's bytes. */
    static final class Way {
        final RingStream from;
        final RingStream to;
        final int number;
        int written;
        int read;

        Way(RingStream from, RingStream to, int number) {
            this.from = from;
            this.to = to;
            this.number = number;
        }

        private byte at(int position) {
            return (byte) (position * 7 + number * 3 + 1);
        }

        void write() throws IOException {
            ByteBuffer piece = ByteBuffer.allocate(PIECE);
            for (int i = 0; i < PIECE; i++) {
                piece.put(i, at(written + i));
            }
            assertThat(from.write(piece)).isEqualTo(PIECE);
            written += PIECE;
        }

        void readAll() throws InterruptedException {
            ByteBuffer in = ByteBuffer.allocate(10 * PIECE);
            Await.until("bytes", () -> {
                try {
                    to.read(in);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return in.position() >= written;
            });
            assertThat(in.position()).isEqualTo(written);
            for (; read < written; read++) {
                assertThat(in.get(read)).isEqualTo(at(read));
            }
        }
    }

    /** Turns to listen that are taken. */
    private static long turns() throws ReflectiveOperationException {
        Class<?> holder = Class.forName(StreamEngine.class.getName() + "$Holder");
        Object engine = field(holder, "engine").get(null);
        return (long) field(ListenPermits.class, "taken").get(field(StreamEngine.class, "listening").get(engine));
    }

    private static Field field(Class<?> of, String name) throws NoSuchFieldException {
        Field field = of.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    @Test
    void handshakesLeaveNothingOpen() throws Exception {
        bothEndsReachTheSameResult(Stream.Role.CLIENT, Stage.OFFERED, Then.HANGS_UP); // what is made once
        long before = Descriptors.count();
        for (Arguments one : all().toList()) {
            Object[] of = one.get();
            bothEndsReachTheSameResult((Stream.Role) of[0], (Stage) of[1], (Then) of[2]);
        }
        Await.until("descriptors given back", () -> Descriptors.count() <= before + 5);
        Await.until("turns given back", () -> {
            try {
                return turns() == 0;
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(process.session.streams().all()).isEmpty();
    }
}
