// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.testkit.Await;
import org.verbena.testkit.Seeds;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceMemory;
import org.verbena.verbs.Feature;
import org.verbena.verbs.GlobalRoutingHeader;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcOpcode;
import org.verbena.verbs.WcStatus;

/**
 * All allowed combinations work: ends with random properties (type, kind of memory and its name, receives, completion
 * queues, domains) exchange everything that their type carries.
 */
abstract class CombinationConformance extends Conformance {
    private static final int DRAWS = 30;
    private static final int SIZE = 16384;
    /** Offset in an end's own region of data to be sent inline. */
    private static final int INLINE = 32768;
    private static final int ACCESS = AccessFlags.ALL | AccessFlags.MW_BIND;

    CombinationConformance(ConformanceFixture fixture, Topology topology) {
        super(fixture, topology);
    }

    /** The access flag, if there is such memory. */
    private int onDemand;

    @BeforeEach
    void needsAll() throws Exception {
        Context c = open();
        onDemand = c.supports(Feature.ON_DEMAND) ? AccessFlags.ON_DEMAND : 0;
        for (String feature : new String[] {Feature.UC, Feature.UD, Feature.SHARED_RECEIVE_QUEUE, Feature.IOVA,
            Feature.ZERO_BASED, Feature.DEVICE_MEMORY, Feature.MEMORY_WINDOW_TYPE_1, Feature.MEMORY_WINDOW_TYPE_2,
            Feature.XRC, Feature.PARENT_DOMAIN, Feature.COMPLETION_TIMESTAMP_WALLCLOCK}) {
            needs(c, feature);
        }
    }

    /** How an end names the memory that it uses. */
    private enum Place {
        REGION, IOVA, ZERO_BASED, DEVICE, WINDOW_1, WINDOW_2
    }

    /** Memory under its name; lives at its end. */
    private record Spot(int lkey, int rkey, long address, MemorySegment memory, @Nullable DeviceMemory device) {
        void put(long offset, byte[] bytes) throws VerbsException {
            if (device != null) {
                device.copyFrom(MemorySegment.ofArray(bytes), offset);
            } else {
                MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, offset, bytes.length);
            }
        }

        byte[] get(long offset, int length) throws VerbsException {
            byte[] b = new byte[length];
            if (device != null) {
                device.copyTo(MemorySegment.ofArray(b), offset);
                return b;
            }
            return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
        }

        /** Names the memory of an end that is in RTS, and keeps that state; returns both keys and the address. */
        static long[] make(End end, Place place) throws VerbsException {
            Spot s = of(end, place);
            end.later = s;
            return new long[] {s.lkey, s.rkey, s.address};
        }

        private static Spot of(End end, Place place) throws VerbsException {
            MemorySegment own = end.at(0, SIZE);
            return switch (place) {
                case REGION -> named(end.region, own);
                case IOVA -> named(end.keep(end.pd.register(MemoryRegionAttributes.builder(ACCESS).memory(own)
                        .iova(1L << 40 | own.address() & 4095).build())), own);
                case ZERO_BASED -> named(end.keep(end.pd.register(MemoryRegionAttributes
                        .builder(ACCESS | AccessFlags.ZERO_BASED).memory(own).build())), own);
                case DEVICE -> {
                    DeviceMemory d = end.keep(end.context.allocateDeviceMemory(SIZE, 3));
                    MemoryRegion r = end.keep(end.pd.registerDeviceMemory(d, 0, SIZE,
                            AccessFlags.ALL | AccessFlags.ZERO_BASED));
                    yield new Spot(r.lkey(), r.rkey(), r.address(), own, d);
                }
                case WINDOW_1, WINDOW_2 -> window(end, place == Place.WINDOW_1, own);
            };
        }

        private static Spot named(MemoryRegion r, MemorySegment own) {
            return new Spot(r.lkey(), r.rkey(), r.address(), own, null);
        }

        private static Spot window(End end, boolean first, MemorySegment own) throws VerbsException {
            MemoryRegion r = end.region;
            int rights = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;
            MemoryWindow w = end.keep(end.pd
                    .allocateMemoryWindow(first ? MemoryWindow.TYPE_1 : MemoryWindow.TYPE_2));
            assertPosted(first
                    ? end.qp.bindMemoryWindow(w, 77, SendFlags.SIGNALED, r, r.address(), SIZE, rights)
                    : end.qp.sendQueue().start().bindMemoryWindow(77, SendFlags.SIGNALED, w,
                            MemoryWindow.incrementRkey(w.rkey()), r, r.address(), SIZE, rights).complete());
            assertDone(WcOpcode.BIND_MW, 77, end.awaitSend());
            return new Spot(r.lkey(), w.rkey(), r.address(), own, null);
        }
    }

    private static Spot spot(End end) {
        return (Spot) Objects.requireNonNull(end.later);
    }

    private EndOptions options(Random r, int type) {
        EndOptions o = EndOptions.defaults().type(type).maxSge(2 + r.nextInt(3))
                .memory(RandomInput.pick(r, EndOptions.Memory.values()))
                .access(ACCESS | RandomInput.pick(r, 0, AccessFlags.RELAXED_ORDERING, onDemand))
                .fields(r.nextInt() & (CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP
                        | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
                .cqFlags(r.nextInt() & (CompletionQueueAttributes.SINGLE_THREADED
                        | CompletionQueueAttributes.IGNORE_OVERRUN));
        if (type == QueuePairType.XRC_SEND) {
            o = o.xrc();
        } else if (r.nextBoolean()) {
            o = o.sharedReceives();
        }
        o = r.nextBoolean() ? o.oneCompletionQueue() : o;
        o = r.nextBoolean() ? o.channel() : o;
        o = r.nextBoolean() ? o.parentDomain() : o;
        return r.nextInt(3) == 0 ? o.sqSigAll() : o;
    }

    private static Place place(Random r, int type) {
        return switch (type) {
            case QueuePairType.UD -> RandomInput.pick(r, Place.REGION, Place.IOVA, Place.ZERO_BASED, Place.DEVICE);
            // a window of type 2 is for the peer of the queue pair that bound it, and that takes no requests
            case QueuePairType.XRC_SEND -> RandomInput.pick(r, Place.REGION, Place.IOVA, Place.ZERO_BASED, Place.DEVICE,
                    Place.WINDOW_1);
            default -> RandomInput.pick(r, Place.values());
        };
    }

    @Test
    void everyOperationOfEachTypeIsCarried() throws Exception {
        Seeds.each(DRAWS, r -> {
            int type = RandomInput.pick(r, QueuePairType.RC, QueuePairType.UC, QueuePairType.UD,
                    QueuePairType.XRC_SEND);
            boolean reliable = type == QueuePairType.RC || type == QueuePairType.XRC_SEND;
            EndOptions nearOptions = options(r, type);
            EndOptions farOptions = options(r, type);
            Place nearPlace = place(r, type);
            Place farPlace = place(r, type);
            String what = QueuePairType.toString(type) + ": " + text(nearOptions) + ", " + nearPlace + " to "
                    + text(farOptions) + ", " + farPlace;
            try {
                Pair p = connected(nearOptions, farOptions);
                Exchange x = new Exchange(r, p, Spot.make(p.near, nearPlace),
                        p.far.run(end -> Spot.make(end, farPlace)), nearOptions, farOptions);
                for (int length : new int[] {0, 1, 8, 48, 64, 65, 500, 4000}) {
                    x.message(length);
                    if (type != QueuePairType.UD) {
                        x.write(length);
                    }
                    if (reliable) {
                        x.read(length);
                    }
                }
                boolean atomics = fixture.atomicsOnRegisteredMemory() || farPlace == Place.DEVICE
                        || farOptions.memory == EndOptions.Memory.ALLOCATED;
                if (reliable && atomics) {
                    x.add();
                }
            } catch (VerbsException | AssertionError e) {
                throw new AssertionError(what + ": " + e.getMessage(), e);
            }
        });
    }

    private static String text(EndOptions o) {
        return o.memory + (o.sharedReceives ? " shared" : "") + (o.oneCompletionQueue ? " one CQ" : "")
                + (o.channel ? " channel" : "") + (o.parentDomain ? " parent" : "") + (o.sqSigAll ? " sqSigAll" : "")
                + " fields " + o.fields + " flags " + o.cqFlags + " access " + AccessFlags.toString(o.access);
    }

    /** The addresses that two ends exchange. */
    private static final class Exchange {
        private final Random random;
        private final Pair p;
        private final long[] near;
        private final long[] far;
        private final EndOptions nearOptions;
        private final EndOptions farOptions;
        private final int header;
        private int seed;

        Exchange(Random random, Pair p, long[] near, long[] far, EndOptions nearOptions, EndOptions farOptions) {
            this.random = random;
            this.p = p;
            this.near = near;
            this.far = far;
            this.nearOptions = nearOptions;
            this.farOptions = farOptions;
            header = p.near.isDatagram() ? GlobalRoutingHeader.BYTES : 0;
        }

        /** Creates new data at the near end and returns them. */
        private byte[] data(int length) throws VerbsException {
            byte[] b = Pattern.bytes(length, ++seed);
            spot(p.near).put(0, b);
            MemorySegment.copy(b, 0, p.near.region.segment(), ValueLayout.JAVA_BYTE, INLINE, length);
            return b;
        }

        /** The request with its buffers, and without a flag that the queue pair makes unnecessary. */
        private Op from(Op op, int length, boolean mayInline) {
            Op o = nearOptions.sqSigAll ? op.unsignaled() : op;
            if (mayInline && length <= p.near.device.maxInlineData() && random.nextInt(3) == 0) {
                return o.inlineFrom(INLINE, length);
            }
            int first = random.nextBoolean() ? length : length / 3;
            o = o.onKey((int) near[0], near[2], first);
            return first == length ? o : o.onKey((int) near[0], near[2] + first, length - first);
        }

        private Op toFar(Op op, long offset) {
            return op.at((int) far[1], far[2] + offset);
        }

        private Completion awaitReceive() throws VerbsException {
            boolean sleeps = farOptions.channel && !farOptions.oneCompletionQueue;
            Completion c = p.far.run(end -> {
                if (sleeps) {
                    assertThat(Objects.requireNonNull(end.channel).await(Await.LIMIT)).isSameAs(end.receiveCq);
                }
                return end.awaitReceive();
            });
            int fields = farOptions.fields;
            assertThat(c.timestamp() != 0).as("time stamp of %s", c)
                    .isEqualTo((fields & CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP) != 0);
            assertThat(c.wallClock() != 0).as("wall clock of %s", c)
                    .isEqualTo((fields & CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK) != 0);
            return c;
        }

        private void arm() throws VerbsException {
            if (farOptions.channel && !farOptions.oneCompletionQueue) {
                p.far.act(end -> assertPosted(end.receiveCq.requestNotify(false)));
            }
        }

        private byte[] atFar(long offset, int length) throws VerbsException {
            return p.far.run(end -> spot(end).get(offset, length));
        }

        void message(int length) throws VerbsException {
            byte[] data = data(length);
            int lkey = (int) far[0];
            int room = header + length / 2;
            assertPosted(p.far.postReceives(Op.receive(5).onKey(lkey, far[2], room)
                    .onKey(lkey, far[2] + room, length + 7L)));
            arm();
            boolean immediate = random.nextBoolean();
            sent(p, from(immediate ? Op.sendImmediate(1, -9) : Op.send(1), length, true));
            Completion c = awaitReceive();
            assertReceived(5, header + length, c);
            assertThat(c.flags() & WcFlags.WITH_IMM).isEqualTo(immediate ? WcFlags.WITH_IMM : 0);
            assertThat(c.immediate()).isEqualTo(immediate ? -9 : 0);
            assertThat(c.sourceQueuePair()).isEqualTo(header > 0 || p.near.fixture.namesSenders()
                    ? p.nearAddress.queuePairNumber()
                    : 0);
            assertThat(atFar(header, length)).isEqualTo(data);
        }

        void write(int length) throws VerbsException {
            byte[] data = data(length);
            Op op = toFar(from(Op.write(2, p.farAddress, 0), length, true), 5000);
            Await.until("the write", () -> { // the first of type UC may be lost while the memory is on its way
                sent(p, op);
                return Arrays.equals(atFar(5000, length), data);
            }, () -> "it is not there");
            byte[] other = data(length);
            assertPosted(p.far.postReceives(Op.receive(6)));
            arm();
            sent(p, toFar(from(Op.writeImmediate(3, p.farAddress, 0, 77), length, true), 9001));
            Completion c = awaitReceive();
            assertDone(WcOpcode.RECV_RDMA_WITH_IMM, 6, c);
            assertThat(c.byteLength()).isEqualTo(length);
            assertThat(c.immediate()).isEqualTo(77);
            assertThat(atFar(9001, length)).isEqualTo(other);
        }

        void read(int length) throws VerbsException {
            byte[] data = Pattern.bytes(length, ++seed);
            p.far.act(end -> spot(end).put(3000, data));
            sent(p, toFar(from(Op.read(4, p.farAddress, 0), length, false), 3000));
            assertThat(spot(p.near).get(0, length)).isEqualTo(data);
        }

        void add() throws VerbsException {
            p.far.act(end -> spot(end).put(64, new byte[] {3, 0, 0, 0, 0, 0, 0, 0}));
            Op add = Op.fetchAndAdd(8, p.farAddress, 0, 4).onKey((int) near[0], near[2] + 128, 8);
            sent(p, toFar(add, 64));
            assertThat(spot(p.near).get(128, 8)).containsExactly(3, 0, 0, 0, 0, 0, 0, 0);
            assertThat(atFar(64, 8)).containsExactly(7, 0, 0, 0, 0, 0, 0, 0);
            Op swap = Op.compareAndSwap(9, p.farAddress, 0, 7, 8).onKey((int) near[0], near[2] + 128, 8);
            assertPosted(p.near.post(toFar(swap, 64)));
            assertStatus(WcStatus.SUCCESS, 9, p.near.awaitSend());
            assertThat(atFar(64, 8)).containsExactly(8, 0, 0, 0, 0, 0, 0, 0);
        }
    }
}
