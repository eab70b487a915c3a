// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.verbena.testkit.Await;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;

/** Waiting threads are woken: in a selector together with the channel, in a call, and virtual threads by a future. */
@Tag("any-provider")
class SelectingTest {
    private static final int WRITE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;

    /** Whose selector. */
    enum Whose {
        VERBENA, JDK;

        Selector open(SocketChannel channel) throws IOException {
            Selector made = (this == JDK ? SelectorProvider.provider() : channel.provider()).openSelector();
            assertThat(made.provider() == channel.provider()).isEqualTo(this == VERBENA);
            return made;
        }
    }

    /** Selects at least one key; the JDK's selector may also wake spuriously. */
    private static void select(Selector selector) throws IOException {
        long end = System.nanoTime() + Ends.LONG.toNanos();
        while (selector.select(Ends.LONG.toMillis()) == 0) {
            assertThat(System.nanoTime()).isLessThan(end);
        }
    }

    @ParameterizedTest
    @EnumSource
    void selectorReportsBytesAndEvents(Whose whose) throws Exception {
        try (Ends ends = Ends.open(); Selector selector = whose.open(ends.b())) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = b.allocate(64, WRITE, 0);
            Ends.event(b, EventType.REGION_ADDED);
            ends.b().configureBlocking(false);
            SelectionKey bytes = ends.b().register(selector, SelectionKey.OP_READ);
            SelectionKey events = b.readiness(RemoteMemory.EVENTS).register(selector, SelectionKey.OP_READ);
            assertThat(b.readiness(RemoteMemory.EVENTS)).isSameAs(events.channel());
            for (int i = 0; i < 200; i++) {
                assertThat(b.arm(RemoteMemory.EVENTS)).isFalse();
                assertThat(selector.selectNow()).isZero();
                boolean copy = i % 3 != 0;
                CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> copy
                        ? a.copies().copy(source.id(), 0, target.id(), 0, 64, CopyFlags.REMOTE_COMPLETION, 0)
                        : write(ends));
                select(selector);
                assertThat(other.get()).isZero();
                assertThat(selector.selectedKeys()).containsExactly(copy ? events : bytes);
                selector.selectedKeys().clear();
                if (copy) {
                    assertThat(b.events().poll()).isTrue();
                    assertThat(b.events().type()).isEqualTo(EventType.COPIED);
                    assertThat(Ends.completion(a)).isEqualTo(WcStatus.SUCCESS);
                } else {
                    assertThat(ends.b().read(ByteBuffer.allocate(2))).isOne();
                }
            }
            a.close();
            do {
                while (!b.events().poll()) { // the wakeup may have been for an event that was already polled
                    assertThat(selector.select(30_000)).as("the end").isOne();
                    selector.selectedKeys().clear();
                    b.arm(RemoteMemory.EVENTS);
                }
            } while (b.events().type() != EventType.CLOSED);
        }
    }

    private static int write(Ends ends) {
        try {
            return ends.a().write(ByteBuffer.allocate(1)) - 1;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void completionsWakeTheSelector(Whose whose) throws Exception {
        try (Ends ends = Ends.open(); Selector selector = whose.open(ends.a())) {
            RemoteMemory a = ends.memoryA();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = ends.memoryB().allocate(64, WRITE, 0);
            ends.a().configureBlocking(false).register(selector, SelectionKey.OP_READ);
            SelectionKey done = a.readiness(RemoteMemory.COMPLETIONS).register(selector, SelectionKey.OP_READ);
            assertThat(a.arm(RemoteMemory.COMPLETIONS)).isFalse();
            assertThat(a.copies().copy(source.id(), 0, target.id(), 0, 64, 0, 5)).isZero();
            select(selector);
            assertThat(selector.selectedKeys()).containsExactly(done);
            assertThat(a.copies().poll()).isTrue();
            assertThat(a.copies().context()).isEqualTo(5);
        }
    }

    /** Its pipe is closed with the channel, whichever end closed that. */
    @Test
    void readinessClosesWithChannel() throws Exception {
        try (Ends ends = Ends.open(); Selector selector = ends.b().provider().openSelector()) {
            SelectableChannel events = ends.memoryB().readiness(RemoteMemory.EVENTS);
            SelectableChannel completions = ends.memoryB().readiness(RemoteMemory.COMPLETIONS);
            SelectionKey key = events.register(selector, SelectionKey.OP_READ);
            ends.memoryB().arm(RemoteMemory.EVENTS);
            ends.a().close();
            assertThat(selector.select(30_000)).isOne();
            assertThat(key.isReadable()).as("it stays ready").isTrue();
            assertThat(events.isOpen() && completions.isOpen()).isTrue();
            ends.b().close();
            // the key is cancelled a little later than its channel
            Await.until("completions are closed", () -> !completions.isOpen() && !key.isValid());
            assertThat(selector.selectNow()).isZero();
            assertThat(selector.keys()).isEmpty();
            assertThatThrownBy(() -> ends.memoryB().readiness(3)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** Dependents may wait for anything, the engine's thread included. */
    @Test
    void failedCopyRunsDependentsOffTheEngine() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion source = a.allocate(64, WRITE, 0);
            LocalRegion target = ends.memoryB().allocate(64, WRITE | AccessFlags.REMOTE_READ, 0);
            assertThat(ends.memoryB().control().hold(target).get(30, TimeUnit.SECONDS)).isZero();
            CompletableFuture<String> refused = where(a.copyAsync(source.id(), 0, target.id(), 0, 8, 0, 0));
            target.change(AccessFlags.REMOTE_READ);
            assertThat(ends.memoryB().control().update(target).get(30, TimeUnit.SECONDS)).isZero();
            assertThat(refused.get(30, TimeUnit.SECONDS)).contains("EACCES").doesNotContain("verbena-erm");
            assertThat(ends.memoryB().control().hold(target).get(30, TimeUnit.SECONDS)).isZero();
            CompletableFuture<String> ended = where(a.copyAsync(source.id(), 0, target.id(), 0, 8, 0, 0));
            ends.b().close();
            assertThat(ended.get(30, TimeUnit.SECONDS)).contains("ENOTCONN").doesNotContain("verbena-erm");
        }
    }

    private static CompletableFuture<String> where(CompletableFuture<Void> copy) {
        assertThat(copy).isNotDone();
        return copy.handle((done, why) -> Thread.currentThread().getName() + ": " + why);
    }

    @Test
    void asyncCopyParksVirtualThread() throws Exception {
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            LocalRegion source = a.allocate(8 * 1000, WRITE, 0);
            LocalRegion target = ends.memoryB().allocate(8 * 1000, WRITE, 0);
            CompletableFuture<?>[] all = new CompletableFuture<?>[1000];
            for (int i = 0; i < all.length; i++) {
                long at = 8L * i;
                source.segment().set(java.lang.foreign.ValueLayout.JAVA_LONG, at, i);
                CompletableFuture<Void> done = new CompletableFuture<>();
                all[i] = done;
                Thread.ofVirtual().start(() -> {
                    a.copyAsync(source.id(), at, target.id(), at, 8, 0, 0).join();
                    if (target.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, at) == at / 8) {
                        done.complete(null);
                    }
                });
            }
            CompletableFuture.allOf(all).get(60, TimeUnit.SECONDS);
            assertThat(a.statistics().copies()).isEqualTo(1000);
        }
    }
}
