// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.shm.layout.ControlMessage;

class OutboxTest {
    private int room;
    private int taken;
    private long now;
    private final List<Boolean> watched = new ArrayList<>();
    private final Outbox outbox = new Outbox(new Outbox.Wire() {
        @Override
        public int transmit(ControlMessage.Writer message, @Nullable Fd fd) {
            if (room == 0) {
                return Errno.EAGAIN;
            }
            room--;
            taken++;
            return 0;
        }

        @Override
        public void watchForRoom(boolean on) {
            watched.add(on);
        }
    }, () -> now);

    private int send(int count) {
        int error = 0;
        for (int i = 0; i < count && error == 0; i++) {
            error = outbox.send(new ControlMessage.Writer(ControlMessage.CM_READY), null);
        }
        return error;
    }

    private void makeRoom(int messages) {
        room += messages;
        outbox.flush();
    }

    @Test
    void messageWithoutRoomIsSentLater() {
        room = 1;
        assertThat(send(3)).isZero();
        assertThat(taken).isOne();
        assertThat(watched).containsExactly(true);
        makeRoom(5);
        assertThat(taken).isEqualTo(3);
        assertThat(watched).containsExactly(true, false);
    }

    @Test
    void manyMessagesAloneDoNotEndTheSession() {
        assertThat(send(10 * Outbox.HIGH_WATERMARK)).isZero();
        makeRoom(20 * Outbox.HIGH_WATERMARK);
        assertThat(taken).isEqualTo(10 * Outbox.HIGH_WATERMARK);
    }

    @Test
    void peerThatTakesNothingUntilTheTimeoutIsGivenUp() {
        assertThat(send(Outbox.HIGH_WATERMARK)).isZero();
        now = Outbox.TIMEOUT_NANOS + 1;
        assertThat(send(1)).isEqualTo(Errno.ETIMEDOUT);
        assertThat(outbox.awaitRoom()).isFalse();
        makeRoom(1);
        assertThat(send(2)).isZero();
    }

    @Test
    void slowPeerWithFewMessagesIsNotGivenUp() {
        assertThat(send(1)).isZero();
        now = 100 * Outbox.TIMEOUT_NANOS;
        assertThat(send(1)).isZero();
        assertThat(outbox.awaitRoom()).isTrue();
    }

    @Test
    @Timeout(60)
    void awaitRoomBlocksUntilThereIsRoom() throws Exception {
        send(Outbox.HIGH_WATERMARK);
        Thread waits = Thread.ofPlatform().start(outbox::awaitRoom);
        while (waits.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        makeRoom(1);
        waits.join();
        send(1);
        Thread ended = Thread.ofPlatform().start(outbox::awaitRoom);
        while (ended.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        outbox.end();
        ended.join();
        assertThat(send(1)).isZero();
    }
}
