// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.linux.UnixSocket;
import org.verbena.sockets.stream.StreamHandshakeTest.Way;
import org.verbena.testkit.Await;

/**
 * An end that waits for the other one as long as it does at most; all of these at the same time, for each takes that
 * long.
 */
@Execution(ExecutionMode.CONCURRENT)
class PatienceTest extends TcpEnds {
    private static final int LATE_MILLIS = 1000;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Execution(ExecutionMode.CONCURRENT)
    void plainPeerReceivesUnchangedBytes(boolean plainServer) throws Exception {
        Tcp tcp = connect();
        Stream ours = plainServer
                ? Stream.of(tcp.client(), Stream.Role.CLIENT)
                : Stream.of(tcp.server(), Stream.Role.SERVER);
        Stream theirs = new KernelStream(plainServer ? tcp.server() : tcp.client(), Stream.Role.SERVER,
                FallbackReason.RULE);
        Way there = new Way(ours, theirs, 0);
        Way back = new Way(theirs, ours, 1);
        RingStream stream = (RingStream) ours;
        while (stream.reason() == FallbackReason.NONE || there.read < 1_000_000 || back.read < 1_000_000) {
            there.turn(Long.MAX_VALUE);
            back.turn(Long.MAX_VALUE);
        }
        assertThat(stream.reason()).isEqualTo(FallbackReason.PLAIN_PEER);
        assertThat(StreamCounters.fallbacks(FallbackReason.PLAIN_PEER)).isPositive();
        ours.close(false);
    }

    /** The handshake has not begun by then: still the reason is that it was closed, not a plain peer. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Execution(ExecutionMode.CONCURRENT)
    void peerClosedAtOnceIsNotAPlainPeer(boolean server) throws Exception {
        Tcp tcp = connect();
        RingStream stays = (RingStream) (server
                ? Stream.of(tcp.server(), Stream.Role.SERVER)
                : Stream.of(tcp.client(), Stream.Role.CLIENT));
        (server ? tcp.client() : tcp.server()).close();
        Await.until("a reason", () -> stays.reason() != FallbackReason.NONE);
        assertThat(stays.reason()).isEqualTo(FallbackReason.CLOSED_EARLY);
        stays.close(false);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void takenNameFallsBackToTcp() throws Exception {
        Tcp tcp = connect();
        try (UnixSocket squatter = UnixSocket.listen(nameOf(tcp), 10)) {
            RingStream client = (RingStream) Stream.of(tcp.client(), Stream.Role.CLIENT);
            Await.until("fall-back", () -> client.reason() == FallbackReason.NAME_TAKEN);
            RingStream server = (RingStream) Stream.of(tcp.server(), Stream.Role.SERVER);
            new Way(client, server, 0).turn(1000);
            Await.until("fall-back of the server, which gets no answer", () -> server
                    .reason() == FallbackReason.NO_SESSION);
            assertThat(squatter.fd().isClosed()).isFalse();
        }
    }

    /** An end that has made its offer waits for the other as long as that lives, one that has not gives up. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void offeringEndDoesNotTimeOut() throws Exception {
        try (PeerByHand.Other process = new PeerByHand.Other();
                PeerByHand toClient = new PeerByHand(process, Stream.Role.CLIENT);
                PeerByHand toServer = new PeerByHand(process, Stream.Role.SERVER);
                PeerByHand silentToClient = new PeerByHand(process, Stream.Role.CLIENT);
                PeerByHand silentToServer = new PeerByHand(process, Stream.Role.SERVER)) {
            List<PeerByHand> late = List.of(toClient, toServer);
            for (PeerByHand peer : late) {
                HandshakeStepsTest.reach(peer, HandshakeStepsTest.Stage.OFFER_HEARD);
            }
            List<PeerByHand> silent = List.of(silentToClient, silentToServer);
            for (PeerByHand peer : silent) {
                peer.meet();
            }
            for (PeerByHand peer : silent) {
                Await.until("no more patience", () -> peer.real.reason() != FallbackReason.NONE);
                assertThat(peer.real.reason()).isEqualTo(FallbackReason.NO_SESSION);
                peer.decide();
            }
            for (PeerByHand peer : late) {
                assertThat(peer.real.reason()).isEqualTo(FallbackReason.NONE);
                peer.offer();
                Await.until("a handshake", peer.real::isHandshakeComplete);
                assertThat(peer.decide()).isTrue();
                HandshakeStepsTest.Way way = new HandshakeStepsTest.Way(peer.real, peer.own, 0);
                way.write();
                way.readAll();
            }
        }
    }

    /** A process whose first connection this is has classes to load, and perhaps no processor for a while. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Execution(ExecutionMode.CONCURRENT)
    void latePeerIsAwaited(boolean lateServer) throws Exception {
        Tcp tcp = connect();
        RingStream[] ends = new RingStream[2];
        for (boolean server : new boolean[] {!lateServer, lateServer}) {
            ends[server ? 1 : 0] = (RingStream) (server
                    ? Stream.of(tcp.server(), Stream.Role.SERVER)
                    : Stream.of(tcp.client(), Stream.Role.CLIENT));
            Thread.sleep(LATE_MILLIS);
        }
        Await.until("handshake", () -> ends[0].isHandshakeComplete() && ends[1].isHandshakeComplete());
        assertThat(ends[0].reason()).isEqualTo(FallbackReason.NONE);
        assertThat(ends[1].reason()).isEqualTo(FallbackReason.NONE);
        ends[0].close(false);
        ends[1].close(false);
    }
}
