// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.Feature;
import org.verbena.verbs.FlushType;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/** Device memory, flushes, and atomic writes. */
abstract class DeviceMemoryConformance extends Conformance {
    private static final int SIZE = 8192;
    private static final int ACCESS = AccessFlags.ALL | AccessFlags.ZERO_BASED;

    DeviceMemoryConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    private Pair pair(EndOptions o, String feature) throws Exception {
        Pair p = pair(o, o);
        needs(p.near.context, feature);
        p.connect();
        p.near.fill(0, SIZE, 1);
        p.far.fill(0, SIZE, 2);
        return p;
    }

    private static DeviceMemory memory(End end) {
        return (DeviceMemory) Objects.requireNonNull(end.later);
    }

    private static byte[] bytes(DeviceMemory m, long offset, int length) throws Exception {
        byte[] b = new byte[length];
        m.copyTo(MemorySegment.ofArray(b), offset);
        return b;
    }

    @Test
    void peersAccessDeviceMemory() throws Exception {
        Pair p = pair(EndOptions.defaults(), Feature.DEVICE_MEMORY);
        long[] far = p.far.run(end -> {
            DeviceMemory m = end.keep(end.context.allocateDeviceMemory(SIZE, 3));
            end.later = m;
            m.copyFrom(MemorySegment.ofArray(Pattern.bytes(SIZE, 5)), 0);
            MemoryRegion r = end.keep(end.pd.registerDeviceMemory(m, 1024, 4096, ACCESS));
            return new long[] {r.rkey(), r.address(), r.length()};
        });
        assertThat(far[1]).isZero();
        assertThat(far[2]).isEqualTo(4096);
        int key = (int) far[0];
        assertPosted(p.near.post(Op.read(1, p.farAddress, 0).on(0, 2000).at(key, 100)));
        assertDone(WcOpcode.RDMA_READ, 1, p.near.awaitSend());
        byte[] whole = Pattern.bytes(SIZE, 5);
        assertThat(p.near.bytes(0, 2000)).isEqualTo(Arrays.copyOfRange(whole, 1124, 3124));
        p.near.fill(0, SIZE, 6);
        assertPosted(p.near.post(Op.write(2, p.farAddress, 0).on(0, 1000).at(key, 3096)));
        assertDone(WcOpcode.RDMA_WRITE, 2, p.near.awaitSend());
        byte[] written = p.far.run(end -> bytes(memory(end), 4120, 1000));
        assertThat(written).isEqualTo(p.near.bytes(0, 1000));
        p.far.act(end -> memory(end).copyFrom(MemorySegment.ofArray(new long[] {70}), 1024 + 64));
        assertPosted(p.near.post(Op.fetchAndAdd(3, p.farAddress, 0, 7).on(0, 8).at(key, 64)));
        assertDone(WcOpcode.FETCH_ADD, 3, p.near.awaitSend());
        assertThat(p.near.getLong(0)).isEqualTo(70);
        assertPosted(p.near.post(Op.write(4, p.farAddress, 0).on(0, 8).at(key, 4089)));
        assertStatus(WcStatus.REM_ACCESS_ERR, 4, p.near.awaitSend());
    }

    @Test
    void messagesAreSentFromAndReceivedIntoDeviceMemory() throws Exception {
        Pair p = pair(EndOptions.defaults(), Feature.DEVICE_MEMORY);
        DeviceMemory m = p.near.keep(p.near.context.allocateDeviceMemory(SIZE, 0));
        m.copyFrom(MemorySegment.ofArray(Pattern.bytes(SIZE, 5)), 0);
        MemoryRegion r = p.near.keep(p.near.pd.registerDeviceMemory(m, 0, SIZE, ACCESS));
        int lkey = p.far.run(end -> {
            end.later = end.keep(end.context.allocateDeviceMemory(SIZE, 0));
            return end.keep(end.pd.registerDeviceMemory(memory(end), 0, SIZE, ACCESS)).lkey();
        });
        for (int length : new int[] {8, 64, 65, 4000}) {
            assertPosted(p.far.run(end -> end.postReceives(Op.receive(1).onKey(lkey, 4096, 4096))));
            assertPosted(p.near.post(Op.send(2).onKey(r.lkey(), 10, length)));
            assertDone(WcOpcode.SEND, 2, p.near.awaitSend());
            assertReceived(1, length, p.far.awaitReceive());
            byte[] arrived = p.far.run(end -> bytes(memory(end), 4096, length));
            assertThat(arrived).isEqualTo(bytes(m, 10, length));
        }
    }

    @Test
    void deviceMemoryIsLimitedAndBusyWhileRegistered() throws Exception {
        var context = open();
        needs(context, Feature.DEVICE_MEMORY);
        long max = context.queryDevice().maxDeviceMemory().orElseThrow();
        assertErrno(Errno.EINVAL, () -> context.allocateDeviceMemory(0, 0));
        assertErrno(Errno.EINVAL, () -> context.allocateDeviceMemory(-1, 0));
        assertErrno(Errno.EINVAL, () -> context.allocateDeviceMemory(64, -1));
        assertErrno(Errno.ENOMEM, () -> context.allocateDeviceMemory(max + 1, 0));
        DeviceMemory all = context.allocateDeviceMemory(max, 0);
        assertErrno(Errno.ENOMEM, () -> context.allocateDeviceMemory(1, 0));
        all.close();
        DeviceMemory m = context.allocateDeviceMemory(100, 6);
        assertThat(m.length()).isEqualTo(100);
        assertThat(bytes(m, 0, 100)).containsOnly(0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s = arena.allocate(ValueLayout.JAVA_LONG);
            m.copyFrom(s, 92);
            for (long offset : new long[] {-1, 93, 100, Long.MAX_VALUE, Long.MIN_VALUE}) {
                assertErrno(Errno.EINVAL, () -> m.copyFrom(s, offset));
                assertErrno(Errno.EINVAL, () -> m.copyTo(s, offset));
            }
            assertErrno(Errno.EINVAL, () -> m.copyTo(s.asReadOnly(), 0), "read-only");
        }
        ProtectionDomain pd = context.allocateProtectionDomain();
        assertErrno(Errno.EINVAL, () -> pd.registerDeviceMemory(m, 0, 100, AccessFlags.ALL), "ZERO_BASED");
        assertErrno(Errno.EINVAL, () -> pd.registerDeviceMemory(m, 1, 100, ACCESS));
        assertErrno(Errno.EINVAL, () -> pd.registerDeviceMemory(m, -1, 10, ACCESS));
        assertErrno(Errno.EINVAL, () -> pd.registerDeviceMemory(m, 0, 0, ACCESS));
        ProtectionDomain foreign = open().allocateProtectionDomain();
        assertErrno(Errno.EINVAL, () -> foreign.registerDeviceMemory(m, 0, 100, ACCESS), "context");
        MemoryRegion r = pd.registerDeviceMemory(m, 50, 50, ACCESS);
        assertThat(r.segment().byteSize()).isZero();
        assertErrno(Errno.EINVAL, () -> r.reregister(MemoryRegion.CHANGE_ACCESS, null, null, ACCESS));
        assertErrno(Errno.EBUSY, m::close);
        m.copyFrom(MemorySegment.ofArray(new byte[] {1, 2, 3}), 50);
        r.close();
        assertThat(bytes(m, 50, 3)).containsExactly(1, 2, 3);
        m.close();
        assertErrno(Errno.EINVAL, () -> bytes(m, 0, 1), "closed");
        assertErrno(Errno.EINVAL, () -> pd.registerDeviceMemory(m, 0, 100, ACCESS), "closed");
    }

    // ---- flush

    private static EndOptions flushable() {
        return EndOptions.defaults().bytes(SIZE).access(AccessFlags.ALL | AccessFlags.FLUSH_GLOBAL)
                .queuePairAccess(AccessFlags.ALL | AccessFlags.FLUSH_GLOBAL | AccessFlags.FLUSH_PERSISTENT);
    }

    private static int flush(Pair p, long offset, long length, int type, int level) {
        return p.near.qp.sendQueue().start().flush(3, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress.address()
                + offset, length, type, level).complete();
    }

    @Test
    void flushCompletesAfterTheWrite() throws Exception {
        for (EndOptions.Memory memory : EndOptions.Memory.values()) {
            Pair p = pair(flushable().memory(memory), Feature.FLUSH);
            assertPosted(p.near.post(Op.write(1, p.farAddress, 100).on(0, 1000).unsignaled()));
            assertPosted(flush(p, 100, 1000, FlushType.GLOBAL, FlushType.RANGE));
            assertDone(WcOpcode.FLUSH, 3, p.near.awaitSend());
            assertThat(p.far.bytes(100, 1000)).isEqualTo(p.near.bytes(0, 1000));
            assertPosted(flush(p, 1L << 40, 5, FlushType.GLOBAL, FlushType.REGION)); // the range does not matter
            assertDone(WcOpcode.FLUSH, 3, p.near.awaitSend());
            for (int[] bad : new int[][] {{0, 0}, {4, 0}, {FlushType.GLOBAL, 2}, {FlushType.GLOBAL, -1}}) {
                assertRefused(Errno.EINVAL, flush(p, 0, 8, bad[0], bad[1]));
            }
            assertRefused(Errno.EINVAL, p.near.qp.sendQueue().start().flush(3, 0, p.farAddress.rkey(), 0, 8,
                    FlushType.GLOBAL, FlushType.RANGE).sge(p.near.region, 0, 8).complete());
        }
    }

    @Test
    void invalidFlushesAreRefused() throws Exception {
        Pair p = pair(flushable(), Feature.FLUSH);
        assertPosted(flush(p, SIZE - 7, 8, FlushType.GLOBAL, FlushType.RANGE));
        assertStatus(WcStatus.REM_ACCESS_ERR, 3, p.near.awaitSend());
        Pair persistent = pair(flushable(), Feature.FLUSH); // the region has no right to that
        assertPosted(flush(persistent, 0, 8, FlushType.PERSISTENT, FlushType.RANGE));
        assertStatus(WcStatus.REM_ACCESS_ERR, 3, persistent.near.awaitSend());
        Pair region = pair(flushable().access(AccessFlags.ALL), Feature.FLUSH);
        assertPosted(flush(region, 0, 8, FlushType.GLOBAL, FlushType.RANGE));
        assertStatus(WcStatus.REM_ACCESS_ERR, 3, region.near.awaitSend());
        Pair queuePair = pair(flushable().queuePairAccess(AccessFlags.ALL), Feature.FLUSH);
        assertPosted(flush(queuePair, 0, 8, FlushType.GLOBAL, FlushType.RANGE));
        assertStatus(WcStatus.REM_INV_REQ_ERR, 3, queuePair.near.awaitSend());
        assertErrno(Errno.EOPNOTSUPP, () -> p.near.pd.allocate(64, AccessFlags.ALL | AccessFlags.FLUSH_PERSISTENT),
                "FLUSH_PERSISTENT");
    }

    // ---- atomic write

    private static int write(Pair p, long offset, long value) {
        return p.near.qp.sendQueue().start().atomicWrite(4, SendFlags.SIGNALED, p.farAddress.rkey(), p.farAddress
                .address() + offset, value).complete();
    }

    @Test
    void atomicWriteStoresEightBytesAtOnce() throws Exception {
        Pair p = pair(EndOptions.defaults(), Feature.ATOMIC_WRITE);
        p.far.remember();
        for (long v : new long[] {0x0102030405060708L, -1, 0}) {
            assertPosted(write(p, 64, v));
            assertDone(WcOpcode.ATOMIC_WRITE, 4, p.near.awaitSend());
            assertThat(p.far.getLong(64)).isEqualTo(v);
        }
        assertRefused(Errno.EINVAL, p.near.qp.sendQueue().start().atomicWrite(4, 0, p.farAddress.rkey(), 0, 1)
                .sge(p.near.region, 0, 8).complete());
        assertPosted(write(p, 60, 1));
        assertStatus(WcStatus.REM_INV_REQ_ERR, 4, p.near.awaitSend());
    }

    @Test
    void invalidAtomicWritesAreRefused() throws Exception {
        Pair outside = pair(EndOptions.defaults().bytes(SIZE), Feature.ATOMIC_WRITE);
        assertPosted(write(outside, SIZE, 1));
        assertStatus(WcStatus.REM_ACCESS_ERR, 4, outside.near.awaitSend());
        Pair region = pair(EndOptions.defaults().access(AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_ATOMIC),
                Feature.ATOMIC_WRITE);
        assertPosted(write(region, 0, 1));
        assertStatus(WcStatus.REM_ACCESS_ERR, 4, region.near.awaitSend());
        Pair queuePair = pair(EndOptions.defaults().queuePairAccess(AccessFlags.REMOTE_ATOMIC), Feature.ATOMIC_WRITE);
        assertPosted(write(queuePair, 0, 1));
        assertStatus(WcStatus.REM_INV_REQ_ERR, 4, queuePair.near.awaitSend());
    }

    @Test
    void atomicWriteReachesRegisteredMemory() throws Exception {
        Pair p = pair(EndOptions.defaults().memory(EndOptions.Memory.REGISTERED), Feature.ATOMIC_WRITE);
        int posted = write(p, 64, 4711);
        if (posted == 0) {
            Completion c = p.near.awaitSend();
            if (fixture.atomicsOnRegisteredMemory()) {
                assertDone(WcOpcode.ATOMIC_WRITE, 4, c);
                assertThat(p.far.getLong(64)).isEqualTo(4711);
            } else {
                assertStatus(WcStatus.REM_OP_ERR, 4, c);
            }
        } else {
            assertRefused(Errno.EOPNOTSUPP, posted);
        }
    }
}
