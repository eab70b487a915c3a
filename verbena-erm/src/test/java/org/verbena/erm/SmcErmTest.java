// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.junit.jupiter.api.Test;

import org.verbena.erm.smc.SmcErm;
import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

/** The calls of the proposal, as on its slides. */
class SmcErmTest {
    private static SmcErm.Completion next(SmcErm socket) {
        SmcErm.Completion next;
        long end = System.nanoTime() + Ends.LONG.toNanos();
        while ((next = socket.recvmsg()) == null) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
        return next;
    }

    @Test
    void callsWorkAsProposed() throws Exception {
        try (Ends ends = Ends.open()) {
            SmcErm sender = SmcErm.of(ends.a(), Ends.LONG).orElseThrow();
            SmcErm receiver = SmcErm.of(ends.b(), Ends.LONG).orElseThrow();
            MemorySegment buff = Arena.ofAuto().allocate(4096);
            int remote = receiver.setsockopt(new SmcErm.RegMr(buff, SmcErm.SMC_ACCESS_LOCAL_WRITE
                    | SmcErm.SMC_ACCESS_REMOTE_READ | SmcErm.SMC_ACCESS_REMOTE_WRITE));
            assertThat(remote).isPositive();
            assertThat(next(sender)).isEqualTo(new SmcErm.Completion(SmcErm.MR_ADDED, remote, MemorySegment.NULL, 4096,
                    0));
            MemorySegment message = Arena.ofAuto().allocate(64);
            message.fill((byte) 9);
            int local = sender.setsockopt(new SmcErm.RegMr(message, 0));
            assertThat(sender.sendmsg(new SmcErm.Copy(SmcErm.SMC_ERM_CMD_FLAG_REMOTE_COMPL, 60, local, 4, remote,
                    100))).isZero();
            SmcErm.Completion done = next(sender);
            assertThat(done.event()).isEqualTo(SmcErm.COPY_DONE);
            assertThat(done.status()).isZero();
            assertThat(done.addr().address()).isEqualTo(message.address() + 4);
            SmcErm.Completion come = next(receiver);
            assertThat(come.event()).isEqualTo(SmcErm.SMC_ERM_CMD_COPY);
            assertThat(come.memid()).isEqualTo(remote);
            assertThat(come.addr().address()).isEqualTo(buff.address() + 100);
            assertThat(come.len()).isEqualTo(60);
            assertThat(come.addr().toArray(ValueLayout.JAVA_BYTE)).containsOnly(9);
            assertThat(sender.sendmsg(new SmcErm.Copy(0, 4097, local, 0, remote, 0))).isEqualTo(-Errno.ERANGE);
            receiver.memory().update(remote, SmcErm.SMC_ACCESS_REMOTE_READ, 0);
            assertThat(next(sender)).isEqualTo(new SmcErm.Completion(SmcErm.MR_UPDATED, remote, MemorySegment.NULL,
                    4096, 0));
            assertThat(sender.sendmsg(new SmcErm.Copy(0, 1, local, 0, remote, 0))).isEqualTo(-Errno.EACCES);
            assertThat(receiver.setsockopt(new SmcErm.DeregMr(remote))).isZero();
            assertThat(next(sender).event()).isEqualTo(SmcErm.MR_REMOVED);
            assertThatThrownBy(() -> receiver.setsockopt(new SmcErm.DeregMr(remote))).isInstanceOf(
                    VerbsException.class).hasMessageContaining("ENOENT");
            assertThat(sender.sendmsg(new SmcErm.Copy(0, 1, local, 0, remote, 0))).isEqualTo(-Errno.ENOENT);
            ends.a().close();
            assertThat(next(receiver).event()).isEqualTo(SmcErm.CLOSED);
            assertThat(receiver.recvmsg()).isNull();
        }
    }

    @Test
    void commandNamesMatchTheProposal() {
        assertThat(new SmcErm.RegMr(MemorySegment.NULL, 0).type()).isEqualTo(SmcErm.SMC_ERM_CMD_REG_MR);
        assertThat(new SmcErm.DeregMr(1).type()).isEqualTo(SmcErm.SMC_ERM_CMD_DEREG_MR);
        assertThat(new SmcErm.Copy(0, 1, 1, 0, 2, 0).type()).isEqualTo(SmcErm.SMC_ERM_CMD_COPY);
        assertThat(new SmcErm.Completion(SmcErm.CLOSED, 0, MemorySegment.NULL, 0, 0).type()).isEqualTo(
                SmcErm.SMC_ERM_CMD_COMPL);
    }

    /** Own copies are reported although there is always an event. */
    @Test
    void completionsAreNotStarvedByEvents() throws Exception {
        try (Ends ends = Ends.open()) {
            SmcErm here = SmcErm.of(ends.a(), Ends.LONG).orElseThrow();
            int all = SmcErm.SMC_ACCESS_LOCAL_WRITE | SmcErm.SMC_ACCESS_REMOTE_WRITE;
            int mine = here.setsockopt(new SmcErm.RegMr(Arena.ofAuto().allocate(8), all));
            LocalRegion theirs = ends.memoryB().allocate(8, all, 0);
            Ends.event(ends.memoryB(), EventType.REGION_ADDED);
            for (int i = 0; i < 4; i++) {
                assertThat(here.sendmsg(new SmcErm.Copy(0, 8, mine, 0, theirs.id(), 0))).isZero();
            }
            int done = 0;
            for (int i = 0; i < 16; i++) {
                assertThat(ends.memoryB().copies().copy(theirs.id(), 0, mine, 0, 8, CopyFlags.REMOTE_COMPLETION, 0))
                        .isZero();
                Ends.completion(ends.memoryB());
                done += next(here).event() == SmcErm.COPY_DONE ? 1 : 0;
            }
            assertThat(done).isEqualTo(4);
        }
    }
}
