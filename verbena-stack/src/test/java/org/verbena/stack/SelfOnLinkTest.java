// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.stack.StackLink.Link;
import org.verbena.stack.model.StackObjectType;
import org.verbena.testkit.AllocatedBytes;
import org.verbena.testkit.Await;
import org.verbena.verbs.RemoteProcess;

/** A stack that talks to itself. */
final class SelfOnLinkTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int BYTES = 50_000_000;

    private static StackConfig config() {
        return StackConfig.of(StackLink.OURS + "/24").withAddress(StackLink.OURS_6 + "/64");
    }

    @ParameterizedTest
    @EnumSource
    void bytesGoBothWays(Link link) throws Exception {
        StackLink.run(link, StackLink.KERNEL + "/24", config(), stack -> {
            for (InetAddress own : stack.addresses()) {
                try (TcpServer server = stack.listenTcp(0, 1);
                        TcpSocket s = stack.connectTcp(new InetSocketAddress(own, server.port()), PATIENCE);
                        TcpSocket other = Objects.requireNonNull(server.accept(PATIENCE))) {
                    FutureTask<byte[]> there = Transfers.start(() -> Transfers.hash(other));
                    FutureTask<byte[]> back = Transfers.start(() -> Transfers.hash(s));
                    FutureTask<byte[]> answer = Transfers.start(() -> Transfers.send(2, BYTES, other));
                    byte[] sent = Transfers.send(1, BYTES, s);
                    assertThat(there.get()).isEqualTo(sent);
                    assertThat(back.get()).isEqualTo(answer.get());
                    assertThat(other.remoteAddress()).isEqualTo(new InetSocketAddress(own, s.port()));
                }
            }
            Await.until("all came in again", () -> stack.tcpStatistics().segmentsOut() == stack.tcpStatistics()
                    .segmentsIn());
        });
    }

    @ParameterizedTest
    @EnumSource
    void refusalsAndResetsAreToldToAThreadThatSleeps(Link link) throws Exception {
        StackLink.run(link, StackLink.KERNEL + "/24", config().withSpin(Duration.ZERO), stack -> {
            for (InetAddress own : stack.addresses()) {
                assertThatThrownBy(() -> stack.connectTcp(new InetSocketAddress(own, 4711), PATIENCE)).isInstanceOf(
                        ConnectException.class);
                try (TcpServer server = stack.listenTcp(0, 1);
                        TcpSocket s = stack.connectTcp(new InetSocketAddress(own, server.port()), PATIENCE)) {
                    TcpSocket other = Objects.requireNonNull(server.accept(PATIENCE));
                    FutureTask<Integer> reading = Transfers.start(() -> s.read(ByteBuffer.allocate(1), PATIENCE));
                    other.write(ByteBuffer.allocate(1));
                    assertThat(reading.get()).isEqualTo(1);
                    other.abort();
                    assertThatThrownBy(() -> s.read(ByteBuffer.allocate(1), PATIENCE)).isInstanceOf(
                            SocketException.class).hasMessageContaining("reset");
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void aSegmentAllocatesNothing(Link link) throws Exception {
        StackLink.run(link, stack -> {
            try (TcpServer server = stack.listenTcp(7, 1);
                    TcpSocket s = stack.connectTcp(new InetSocketAddress(stack.address(), 7), PATIENCE);
                    TcpSocket other = Objects.requireNonNull(server.accept(PATIENCE))) {
                ByteBuffer b = ByteBuffer.allocateDirect(1000);
                ByteBuffer there = ByteBuffer.allocateDirect(1000);
                s.setNoDelay(true);
                // What a compiler has not seen often yet may allocate what it takes away later.
                Await.until("a write and a read allocate nothing", () -> AllocatedBytes.leastOf(() -> {
                    s.write(b.clear());
                    for (there.clear(); there.hasRemaining();) {
                        other.read(there, PATIENCE);
                    }
                }) == 0);
            }
        });
    }

    /** What other processes see of it, as with {@code verbena stat}. */
    @Test
    void connectionsInTimeWaitAreCounted() throws Exception {
        StackLink.run(Link.TAP, stack -> {
            TcpServer server = stack.listenTcp(7, 1);
            for (int i = 1; i <= 3; i++) {
                TcpSocket s = stack.connectTcp(new InetSocketAddress(stack.address(), 7), PATIENCE);
                TcpSocket other = Objects.requireNonNull(server.accept(PATIENCE));
                s.close();
                assertThat(other.read(ByteBuffer.allocate(1), PATIENCE)).isEqualTo(-1);
                other.close();
                long expected = i;
                Await.until(i + " are in TIME_WAIT", () -> RemoteProcess.current().objects(0).stream().anyMatch(o -> o
                        .type() == StackObjectType.STACK && o.attributes().get("timeWait") instanceof Long n
                        && n == expected));
            }
        });
    }
}
