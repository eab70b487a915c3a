// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.Memfd;
import org.verbena.testkit.Seeds;
import org.verbena.testkit.Thorough;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Gid;
import org.verbena.verbs.MemoryAdvice;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.MemoryRegionAttributes;
import org.verbena.verbs.MemoryWindow;
import org.verbena.verbs.ParentDomainAttributes;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairCreateFlags;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.ScatterGatherElement;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.SharedReceiveQueueType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/**
 * Attributes of chance: what the C API refuses is refused with one of the errnos that the predicates here name, and all
 * else is made as asked for.
 */
abstract class AttributeTableConformance extends Conformance {
    private static final int ROUNDS = Thorough.ON ? 1500 : 500;
    private static final int PAGE = 4096;

    private End own;
    private End foreign;
    private DeviceAttributes device;
    private ProtectionDomain otherPd;
    private ProtectionDomain closedPd;

    AttributeTableConformance(ConformanceFixture fixture) {
        super(fixture);
    }

    @BeforeEach
    void openEnds() throws Exception {
        own = end(EndOptions.defaults());
        foreign = end(EndOptions.defaults());
        device = own.device;
        otherPd = own.keep(own.context.allocateProtectionDomain());
        closedPd = closed(own.context.allocateProtectionDomain());
    }

    private boolean has(String feature) {
        return own.context.supports(feature);
    }

    private static boolean outside(int value, int min, int max) {
        return value < min || value > max;
    }

    /** The good one as a rule, else one of the others. */
    @SafeVarargs
    private static <T> T mostly(Random r, T good, T... bad) {
        return r.nextInt(8) > 0 ? good : bad[r.nextInt(bad.length)];
    }

    private static <T extends AutoCloseable> T closed(T object) throws Exception {
        object.close();
        return object;
    }

    // ---- queue pairs

    private int operations(int type) {
        int messages = SendOperations.SEND | SendOperations.SEND_IMMEDIATE;
        int writes = SendOperations.WRITE | SendOperations.WRITE_IMMEDIATE
                | (has(Feature.SEND_INVALIDATE) ? SendOperations.SEND_INVALIDATE : 0)
                | (has(Feature.MEMORY_WINDOW_TYPE_2)
                        ? SendOperations.LOCAL_INVALIDATE | SendOperations.BIND_WINDOW
                        : 0);
        int rest = SendOperations.READ
                | (has(Feature.ATOMICS) ? SendOperations.COMPARE_AND_SWAP | SendOperations.FETCH_AND_ADD : 0)
                | (has(Feature.FLUSH) ? SendOperations.FLUSH : 0)
                | (has(Feature.ATOMIC_WRITE) ? SendOperations.ATOMIC_WRITE : 0);
        return switch (type) {
            case QueuePairType.UD -> messages;
            case QueuePairType.UC -> (messages | writes) & ~fixture.lacks(type);
            default -> messages | writes | rest;
        };
    }

    private static final int CREATE_FLAGS = QueuePairCreateFlags.BLOCK_SELF_MCAST_LB | QueuePairCreateFlags.SCATTER_FCS
            | QueuePairCreateFlags.CVLAN_STRIPPING | QueuePairCreateFlags.SOURCE_QPN
            | QueuePairCreateFlags.PCI_WRITE_END_PADDING;
    /** What no provider of this API may take silently. */
    private static final int[] TYPES = {QueuePairType.RC, QueuePairType.RC, QueuePairType.UC, QueuePairType.UD,
        QueuePairType.XRC_SEND, QueuePairType.XRC_RECV, QueuePairType.RAW_PACKET, 0, 1, 77, -1};

    @Test
    void queuePairs() throws Exception {
        SharedReceiveQueue srq = own.keep(own.pd
                .createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(8).build()));
        SharedReceiveQueue foreignSrq = foreign.keep(foreign.pd
                .createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(8).build()));
        SharedReceiveQueue closedSrq = closed(own.pd
                .createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().maxWr(8).build()));
        CompletionQueue closedCq = closed(own.context.createCompletionQueue(8));
        Seeds.each(ROUNDS, r -> {
            int type = TYPES[r.nextInt(TYPES.length)];
            CompletionQueue sends = mostly(r, own.sendCq, foreign.sendCq, closedCq);
            CompletionQueue receives = mostly(r, own.receiveCq, foreign.receiveCq, closedCq);
            int sendWr = size(r, device.maxQpWr());
            int receiveWr = size(r, device.maxQpWr());
            int sendSge = size(r, device.maxSge());
            int receiveSge = size(r, device.maxSge());
            int inline = size(r, device.maxInlineData());
            QueuePairInitAttributes.Builder b = QueuePairInitAttributes.builder(sends, receives).type(type)
                    .maxSendWr(sendWr).maxReceiveWr(receiveWr).maxSendSge(sendSge).maxReceiveSge(receiveSge)
                    .maxInlineData(inline).sqSigAll(r.nextBoolean());
            int flags = r.nextInt(4) > 0 ? 0 : RandomInput.bits(r, CREATE_FLAGS, ~CREATE_FLAGS);
            int operations = r.nextInt(4) > 0 ? 0 : RandomInput.bits(r, operations(type), 0x1fff);
            SharedReceiveQueue shared = r.nextInt(4) > 0 ? null : mostly(r, srq, foreignSrq, closedSrq);
            if (flags != 0 || r.nextInt(8) == 0) {
                b.createFlags(flags);
            }
            if (operations != 0) {
                b.sendOperations(operations);
            }
            if (shared != null) {
                b.sharedReceiveQueue(shared);
            }
            Refusals no = new Refusals(fixture);
            no.add(Errno.EINVAL, type == QueuePairType.XRC_RECV);
            boolean known = switch (type) {
                case QueuePairType.RC -> has(Feature.RC);
                case QueuePairType.UC -> has(Feature.UC);
                case QueuePairType.UD -> has(Feature.UD);
                case QueuePairType.XRC_SEND -> has(Feature.XRC);
                case QueuePairType.RAW_PACKET -> has(Feature.RAW_PACKET);
                default -> false;
            };
            no.add(Errno.EOPNOTSUPP, !known);
            no.add(Errno.EINVAL, sends != own.sendCq || receives == foreign.receiveCq);
            no.add(Errno.EINVAL, receives == closedCq && type != QueuePairType.XRC_SEND); // which does not use it
            no.add(Errno.EINVAL, outside(sendWr, 0, device.maxQpWr()) || outside(sendSge, 0, device.maxSge())
                    || outside(inline, 0, device.maxInlineData()));
            no.add(Errno.EINVAL, type != QueuePairType.XRC_SEND && shared == null && (outside(receiveWr, 0, device
                    .maxQpWr())
                    || outside(receiveSge, 0, device.maxSge())));
            no.add(Errno.EINVAL, (flags & ~CREATE_FLAGS) != 0);
            no.add(Errno.EINVAL, (flags & QueuePairCreateFlags.BLOCK_SELF_MCAST_LB) != 0 && type != QueuePairType.UD);
            no.add(Errno.EOPNOTSUPP, (flags & CREATE_FLAGS & ~(has(Feature.BLOCK_SELF_MULTICAST)
                    ? QueuePairCreateFlags.BLOCK_SELF_MCAST_LB
                    : 0)) != 0);
            no.add(Errno.EOPNOTSUPP, (operations & ~operations(type)) != 0);
            no.add(Errno.EINVAL, shared != null && (shared != srq || type == QueuePairType.XRC_SEND));
            String what = "type " + QueuePairType.toString(type) + ", sends " + sendWr + "x" + sendSge + ", receives "
                    + receiveWr + "x" + receiveSge + ", inline " + inline + ", flags " + Integer.toHexString(flags)
                    + ", operations " + SendOperations.toString(operations) + (shared == null ? "" : ", SRQ");
            QueuePair made = no.expect(() -> own.pd.createQueuePair(b.build()), what);
            if (made != null) {
                QueuePairInitAttributes i = made.initAttributes();
                assertThat(i.maxSendWr()).isGreaterThanOrEqualTo(sendWr);
                assertThat(i.maxSendSge()).isGreaterThanOrEqualTo(sendSge);
                assertThat(i.maxInlineData()).isGreaterThanOrEqualTo(inline);
                assertThat(made.type()).isEqualTo(type);
                made.close();
            }
        });
    }

    private static int size(Random r, int max) {
        return r.nextInt(3) == 0 ? RandomInput.size(r, max) : r.nextInt(Math.min(max, 16) + 1);
    }

    // ---- shared receive queues

    @Test
    void sharedReceiveQueues() throws Exception {
        XrcDomain domain = has(Feature.XRC) ? xrcDomain(own) : null;
        XrcDomain foreignDomain = has(Feature.XRC) ? xrcDomain(foreign) : null;
        Seeds.each(ROUNDS / 2, r -> {
            int maxWr = size(r, device.maxSrqWr());
            int maxSge = size(r, device.maxSrqSge());
            int type = r.nextBoolean()
                    ? SharedReceiveQueueType.BASIC
                    : RandomInput.pick(r, SharedReceiveQueueType.XRC, SharedReceiveQueueType.XRC, 2, -1);
            boolean xrc = type == SharedReceiveQueueType.XRC ? r.nextInt(4) > 0 : r.nextInt(8) == 0;
            XrcDomain d = xrc && domain != null ? mostly(r, domain, foreignDomain) : null;
            CompletionQueue cq = xrc != (r.nextInt(8) == 0) ? mostly(r, own.receiveCq, foreign.receiveCq) : null;
            var b = SharedReceiveQueueAttributes.builder().maxWr(maxWr).maxSge(maxSge);
            if (type != SharedReceiveQueueType.BASIC || r.nextInt(8) == 0) {
                b.type(type);
            }
            if (d != null) {
                b.xrcDomain(d);
            }
            if (cq != null) {
                b.completionQueue(cq);
            }
            Refusals no = new Refusals(fixture);
            no.add(Errno.EINVAL, outside(maxWr, 1, device.maxSrqWr()) || outside(maxSge, 0, device.maxSrqSge()));
            no.add(Errno.EINVAL, d == foreignDomain && d != null || cq == foreign.receiveCq);
            switch (type) {
                case SharedReceiveQueueType.BASIC -> no.add(Errno.EINVAL, d != null || cq != null);
                case SharedReceiveQueueType.XRC -> no.add(Errno.EINVAL, d == null || cq == null);
                default -> no.add(Errno.EOPNOTSUPP, true);
            }
            boolean extended = d != null || cq != null || type == SharedReceiveQueueType.XRC;
            no.add(Errno.EOPNOTSUPP, extended && !has(Feature.XRC));
            SharedReceiveQueue made = no.expect(() -> own.pd.createSharedReceiveQueue(b.build()), "type " + type + ", "
                    + maxWr + "x" + maxSge + (d == null ? "" : ", domain") + (cq == null ? "" : ", CQ"));
            if (made != null) {
                modify(r, made);
                made.close();
            }
        });
    }

    private static XrcDomain xrcDomain(End e) throws VerbsException {
        return e.keep(e.context.openXrcDomain(XrcDomainAttributes.builder().fd(-1)
                .openFlags(XrcDomainAttributes.CREATE).build()));
    }

    private void modify(Random r, SharedReceiveQueue q) throws VerbsException {
        SharedReceiveQueueAttributes before = q.query();
        boolean setsWr = r.nextBoolean();
        boolean setsLimit = r.nextBoolean();
        int maxWr = size(r, device.maxSrqWr());
        int limit = size(r, before.maxWr());
        SharedReceiveQueueAttributes.Builder b = SharedReceiveQueueAttributes.builder();
        if (setsWr) {
            b.maxWr(maxWr);
        }
        if (setsLimit) {
            b.limit(limit);
        }
        Refusals no = new Refusals(fixture);
        no.add(Errno.EINVAL, !setsWr && !setsLimit || setsWr && outside(maxWr, 1, device.maxSrqWr()));
        no.add(Errno.EINVAL, setsLimit && outside(limit, 0, setsWr ? maxWr : before.maxWr()));
        no.add(Errno.EINVAL, setsWr && !setsLimit && before.limit() > maxWr);
        no.add(Errno.EINVAL, setsWr && setsLimit && limit > before.maxWr() && !fixture.limitsWhatGrows());
        no.add(Errno.EOPNOTSUPP, setsWr && !has(Feature.SHARED_RECEIVE_QUEUE_RESIZE));
        Integer done = no.expect(() -> {
            q.modify(b.build());
            return 1;
        }, "modify to " + (setsWr ? maxWr + " receives " : "") + (setsLimit ? "limit " + limit : ""));
        SharedReceiveQueueAttributes after = q.query();
        if (done == null) {
            assertThat(after.maxWr()).isEqualTo(before.maxWr());
            assertThat(after.limit()).isEqualTo(before.limit());
        } else {
            assertThat(after.maxWr()).isGreaterThanOrEqualTo(setsWr ? maxWr : before.maxWr());
        }
    }

    // ---- completion queues

    private static final int FIELDS = CompletionQueueAttributes.STANDARD_FIELDS
            | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP
            | CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK | CompletionQueueAttributes.WITH_CVLAN
            | CompletionQueueAttributes.WITH_FLOW_TAG | CompletionQueueAttributes.WITH_TM_INFO;
    private static final int FLAGS = CompletionQueueAttributes.SINGLE_THREADED
            | CompletionQueueAttributes.IGNORE_OVERRUN;

    @Test
    void completionQueues() throws Exception {
        CompletionChannel channel = own.keep(own.context.createCompletionChannel());
        CompletionChannel closedChannel = closed(own.context.createCompletionChannel());
        CompletionChannel foreignChannel = foreign.keep(foreign.context.createCompletionChannel());
        ProtectionDomain parent = has(Feature.PARENT_DOMAIN) ? parent(own) : own.pd;
        ProtectionDomain closedParent = closed(has(Feature.PARENT_DOMAIN)
                ? own.context.allocateParentDomain(ParentDomainAttributes.builder().protectionDomain(own.pd).build())
                : own.context.allocateProtectionDomain());
        ProtectionDomain foreignParent = has(Feature.PARENT_DOMAIN) ? parent(foreign) : foreign.pd;
        int fieldsThere = CompletionQueueAttributes.STANDARD_FIELDS
                | (has(Feature.COMPLETION_TIMESTAMP) ? CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP : 0)
                | (has(Feature.COMPLETION_TIMESTAMP_WALLCLOCK)
                        ? CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP_WALLCLOCK
                        : 0)
                | (has(Feature.CVLAN_STRIPPING) ? CompletionQueueAttributes.WITH_CVLAN : 0)
                | (has(Feature.FLOW_TAG) ? CompletionQueueAttributes.WITH_FLOW_TAG : 0)
                | (has(Feature.TAG_MATCHING) ? CompletionQueueAttributes.WITH_TM_INFO : 0);
        Seeds.each(ROUNDS / 2, r -> {
            int cqe = size(r, device.maxCqe());
            int vector = r.nextInt(5) > 0 ? 0 : RandomInput.size(r, own.context.completionVectors());
            int fields = r.nextInt(3) > 0 ? fieldsThere & r.nextInt() : RandomInput.bits(r, FIELDS, ~FIELDS);
            int flags = RandomInput.bits(r, FLAGS, ~FLAGS);
            CompletionChannel ch = r.nextBoolean() ? null : mostly(r, channel, foreignChannel, closedChannel);
            ProtectionDomain pd = r.nextBoolean() ? null : mostly(r, parent, own.pd, foreignParent, closedParent);
            var b = CompletionQueueAttributes.builder().cqe(cqe).completionVector(vector).fields(fields);
            if (flags != 0) {
                b.flags(flags);
            }
            if (ch != null) {
                b.channel(ch);
            }
            if (pd != null) {
                b.parentDomain(pd);
            }
            Refusals no = new Refusals(fixture);
            no.add(Errno.EINVAL, outside(cqe, 1, device.maxCqe()));
            no.add(Errno.EINVAL, outside(vector, 0, own.context.completionVectors() - 1));
            no.add(Errno.EINVAL, ch != null && ch != channel || pd != null && (pd != parent || !has(
                    Feature.PARENT_DOMAIN)));
            no.add(Errno.EOPNOTSUPP, (fields & ~fieldsThere) != 0 || (flags & ~FLAGS) != 0);
            CompletionQueue made = no.expect(() -> own.context.createCompletionQueue(b.build()), "cqe " + cqe
                    + ", vector " + vector + ", fields " + Integer.toHexString(fields) + ", flags "
                    + Integer.toHexString(flags) + (ch == null ? "" : ", channel") + (pd == null ? "" : ", PD"));
            if (made != null) {
                assertThat(made.cqe()).isGreaterThanOrEqualTo(cqe);
                assertThat(made.channel()).isSameAs(ch);
                made.close();
            }
        });
    }

    private static ProtectionDomain parent(End e) throws VerbsException {
        return e.keep(e.context.allocateParentDomain(ParentDomainAttributes.builder().protectionDomain(e.pd).build()));
    }

    // ---- memory

    private static final int ACCESS = AccessFlags.ALL | AccessFlags.MW_BIND | AccessFlags.ZERO_BASED
            | AccessFlags.ON_DEMAND | AccessFlags.FLUSH_GLOBAL | AccessFlags.FLUSH_PERSISTENT;

    private void addAccess(Refusals no, int access) {
        int there = AccessFlags.ALL | AccessFlags.OPTIONAL_RANGE
                | (has(Feature.MEMORY_WINDOW_TYPE_1) ? AccessFlags.MW_BIND : 0)
                | (has(Feature.ZERO_BASED) ? AccessFlags.ZERO_BASED : 0)
                | (has(Feature.ON_DEMAND) ? AccessFlags.ON_DEMAND : 0)
                | (has(Feature.FLUSH) ? AccessFlags.FLUSH_GLOBAL : 0)
                | (has(Feature.FLUSH_PERSISTENT) ? AccessFlags.FLUSH_PERSISTENT : 0);
        no.add(Errno.EOPNOTSUPP, (access & ~there) != 0);
        no.add(Errno.EINVAL, (access & AccessFlags.LOCAL_WRITE) == 0
                && (access & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) != 0);
    }

    private static int access(Random r) {
        int hints = r.nextInt(4) == 0 ? r.nextInt() & AccessFlags.OPTIONAL_RANGE : 0;
        return hints | (r.nextBoolean()
                ? RandomInput.pick(r, AccessFlags.ALL, 0, AccessFlags.LOCAL_WRITE)
                : RandomInput.bits(r, ACCESS, ~(ACCESS | AccessFlags.HUGETLB | AccessFlags.OPTIONAL_RANGE)));
    }

    /** What can be given as memory. */
    private enum Memory {
        NATIVE, HEAP, READ_ONLY, CLOSED, EMPTY, NONE
    }

    @Test
    void memoryRegions() throws Exception {
        try (Arena arena = Arena.ofShared(); Fd plain = Memfd.create("no-dmabuf", 4 * PAGE)) {
            MemorySegment segment = arena.allocate(4 * PAGE, PAGE);
            Arena gone = Arena.ofShared();
            MemorySegment dead = gone.allocate(PAGE, PAGE);
            gone.close();
            Seeds.each(ROUNDS, r -> {
                Memory kind = r.nextInt(3) > 0 ? Memory.NATIVE : RandomInput.pick(r, Memory.values());
                int offset = r.nextBoolean() ? 0 : r.nextInt(PAGE);
                MemorySegment part = segment.asSlice(offset, 1 + r.nextInt(2 * PAGE));
                MemorySegment memory = switch (kind) {
                    case NATIVE -> part;
                    case HEAP -> MemorySegment.ofArray(new byte[100]);
                    case READ_ONLY -> part.asReadOnly();
                    case CLOSED -> dead;
                    case EMPTY -> part.asSlice(0, 0);
                    case NONE -> null;
                };
                int access = access(r);
                Refusals no = new Refusals(fixture);
                addAccess(no, access);
                no.add(Errno.EINVAL, Set.of(Memory.HEAP, Memory.CLOSED, Memory.EMPTY).contains(kind));
                no.add(Errno.EINVAL, kind == Memory.READ_ONLY && (access & AccessFlags.LOCAL_WRITE) != 0);
                MemoryRegionAttributes.Builder b = MemoryRegionAttributes.builder(access);
                String what = kind + " at +" + offset + " access " + AccessFlags.toString(access);
                if (memory != null) {
                    b.memory(memory);
                }
                boolean shared = kind == Memory.NONE ? r.nextInt(4) > 0 : r.nextInt(12) == 0;
                long offsetInBuffer = r.nextInt(3) > 0 ? 0 : RandomInput.pick(r, (long) PAGE, 1L, -1L, Long.MAX_VALUE);
                if (shared) {
                    int fd = RandomInput.pick(r, plain.value(), plain.value(), -1, 1_000_000);
                    long bytes = RandomInput.pick(r, (long) PAGE, 0L, -1L, Long.MAX_VALUE);
                    b.descriptor(fd, bytes);
                    no.add(Errno.EINVAL, true); // no shared buffer, whatever else
                    no.add(Errno.EBADF, fd != plain.value());
                    no.add(Errno.EOPNOTSUPP, !has(Feature.DMABUF));
                    what += " descriptor " + fd + " of " + bytes;
                }
                if (offsetInBuffer != 0) {
                    b.descriptorOffset(offsetInBuffer);
                    no.add(Errno.EINVAL, !shared);
                    no.add(Errno.EOPNOTSUPP, !has(Feature.DMABUF));
                }
                no.add(Errno.EINVAL, shared == (memory != null));
                if (r.nextInt(3) == 0) {
                    long iova = RandomInput.pick(r, 0L, (1L << 40) + offset, (1L << 40) + offset + 1, Long.MAX_VALUE
                            - 10,
                            -(1L << 40) + offset);
                    b.iova(iova);
                    what += " iova " + Long.toHexString(iova);
                    boolean zeroBased = (access & AccessFlags.ZERO_BASED) != 0;
                    no.add(Errno.EINVAL, zeroBased && iova != 0);
                    no.add(Errno.EINVAL, !zeroBased && memory != null && (iova - memory.address()) % PAGE != 0);
                    no.add(Errno.EINVAL, iova > Long.MAX_VALUE - (shared ? 0 : length(memory)));
                    no.add(Errno.EOPNOTSUPP, !has(Feature.IOVA));
                }
                MemoryRegion made = no.expect(() -> own.pd.register(b.build()), what);
                if (made != null) {
                    assertThat(made.length()).isEqualTo(length(memory));
                    assertThat(made.access() & ACCESS).isEqualTo(access & ACCESS);
                    reregister(r, made, segment, dead);
                    made.close();
                }
            });
        }
    }

    private void reregister(Random r, MemoryRegion region, MemorySegment segment, MemorySegment dead) throws Exception {
        int flags = r.nextInt(8) > 0 ? r.nextInt(8) : RandomInput.pick(r, 8, 9, -1, Integer.MIN_VALUE);
        boolean changesPd = (flags & MemoryRegion.CHANGE_PD) != 0;
        boolean changesMemory = (flags & MemoryRegion.CHANGE_TRANSLATION) != 0;
        boolean changesAccess = (flags & MemoryRegion.CHANGE_ACCESS) != 0;
        ProtectionDomain pd = mostly(r, otherPd, foreign.pd, closedPd, null);
        MemorySegment part = segment.asSlice(0, 1 + r.nextInt(PAGE));
        MemorySegment memory = mostly(r, part, part.asReadOnly(), MemorySegment.ofArray(new byte[10]), dead, null);
        int access = changesAccess ? access(r) : region.access();
        int before = region.access();
        long length = region.length();
        boolean readOnly = changesMemory ? memory != null && memory.isReadOnly() : region.segment().isReadOnly();
        Refusals no = new Refusals(fixture);
        no.add(Errno.EINVAL, flags < 1 || flags > 7);
        no.add(Errno.EINVAL, changesPd && pd != otherPd);
        no.add(Errno.EINVAL, changesMemory && (memory == null || !memory.scope().isAlive() || !memory.isNative()));
        no.add(Errno.EINVAL, readOnly && (access & AccessFlags.LOCAL_WRITE) != 0);
        addAccess(no, access);
        no.add(Errno.EOPNOTSUPP, !has(Feature.REREGISTER));
        Integer done = no.expect(() -> {
            region.reregister(flags, pd, memory, access);
            return 1;
        }, "reregister " + flags + " access " + AccessFlags.toString(access));
        assertThat(region.access()).isEqualTo(done != null && changesAccess ? access : before);
        assertThat(region.length()).isEqualTo(done != null && changesMemory ? length(memory) : length);
        assertThat(region.protectionDomain()).isSameAs(done != null && changesPd ? otherPd : own.pd);
    }

    @Test
    void advice() throws Exception {
        needs(own.context, Feature.ADVISE);
        MemoryRegion good = own.keep(own.pd.allocate(PAGE, AccessFlags.LOCAL_WRITE | AccessFlags.ON_DEMAND));
        MemoryRegion readOnly = own.keep(own.pd.allocate(PAGE, AccessFlags.REMOTE_READ | AccessFlags.ON_DEMAND));
        MemoryRegion pinned = own.keep(own.pd.allocate(PAGE, AccessFlags.LOCAL_WRITE));
        MemoryRegion other = own.keep(otherPd.allocate(PAGE, AccessFlags.LOCAL_WRITE | AccessFlags.ON_DEMAND));
        MemoryRegion gone = closed(own.pd.allocate(PAGE, AccessFlags.LOCAL_WRITE | AccessFlags.ON_DEMAND));
        Seeds.each(ROUNDS / 2, r -> {
            int advice = mostly(r, r.nextInt(3), 3, -1, Integer.MAX_VALUE);
            int flags = mostly(r, r.nextInt(2), 2, -1);
            boolean known = advice >= MemoryAdvice.PREFETCH && advice <= MemoryAdvice.PREFETCH_NO_FAULT;
            Refusals no = new Refusals(fixture);
            no.add(Errno.EINVAL, (flags & ~MemoryAdvice.FLUSH) != 0);
            no.add(Errno.EOPNOTSUPP, !known);
            List<ScatterGatherElement> ranges = new ArrayList<>();
            for (int n = r.nextInt(8) == 0 ? 0 : 1 + r.nextInt(3); n > 0; n--) {
                MemoryRegion m = mostly(r, good, readOnly, pinned, other, gone);
                long offset = mostly(r, (long) r.nextInt(PAGE), -1L, PAGE + 1L, 1L << 50);
                long length = mostly(r, (long) r.nextInt((int) Math.max(1, Math.min(PAGE, PAGE - offset))), PAGE + 1L,
                        Long.MAX_VALUE, -1L);
                ranges.add(ScatterGatherElement.of(m.lkey(), m.address() + offset, length));
                boolean inside = offset >= 0 && length >= 0 && offset <= PAGE && length <= PAGE - offset;
                no.add(Errno.EFAULT, !inside || m == gone);
                no.add(Errno.EPERM, m == other || m == readOnly && advice == MemoryAdvice.PREFETCH_WRITE);
                no.add(Errno.ENOENT, m == pinned);
            }
            no.add(Errno.EINVAL, ranges.isEmpty());
            no.expect(() -> {
                own.pd.advise(advice, flags, ranges);
                return 1;
            }, "advice " + advice + " flags " + flags + " for " + ranges);
        });
    }

    private static long length(@Nullable MemorySegment memory) {
        return memory == null ? 0 : memory.byteSize();
    }

    @Test
    void allocations() throws Exception {
        long deviceBytes = device.maxDeviceMemory().orElse(0);
        Seeds.each(ROUNDS / 2, r -> {
            long bytes = RandomInput.pick(r, 1L, (long) PAGE, (long) r.nextInt(3 * PAGE), 0L, -1L, Long.MIN_VALUE,
                    device.maxMrSize() + 1, Long.MAX_VALUE);
            int access = access(r);
            Refusals no = new Refusals(fixture);
            addAccess(no, access);
            no.add(Errno.EINVAL, bytes < 1 || bytes > device.maxMrSize());
            no.add(Errno.ENOMEM, bytes == Long.MAX_VALUE); // more than any machine has, for devices without a limit
            no.add(Errno.EOPNOTSUPP, !has(Feature.ALLOCATE));
            MemoryRegion made = no.expect(() -> own.pd.allocate(bytes, access), bytes + " with "
                    + AccessFlags.toString(access));
            if (made != null) {
                assertThat(made.segment().byteSize()).isEqualTo(bytes);
                made.close();
            }
            int logAlign = RandomInput.pick(r, 0, 3, 6, -1, Integer.MIN_VALUE, 64);
            Refusals onDevice = new Refusals(fixture);
            onDevice.add(Errno.EINVAL, bytes < 1 || logAlign < 0 || logAlign > 63);
            onDevice.add(Errno.ENOMEM, bytes > deviceBytes);
            onDevice.add(Errno.EOPNOTSUPP, !has(Feature.DEVICE_MEMORY));
            AutoCloseable memory = onDevice.expect(() -> own.context.allocateDeviceMemory(bytes, logAlign), bytes
                    + " of the device, aligned to 2^" + logAlign);
            if (memory != null) {
                memory.close();
            }
            int type = RandomInput.pick(r, MemoryWindow.TYPE_1, MemoryWindow.TYPE_2, 0, 3, -1, Integer.MAX_VALUE);
            Refusals window = new Refusals(fixture);
            window.add(Errno.EINVAL, type != MemoryWindow.TYPE_1 && type != MemoryWindow.TYPE_2);
            window.add(Errno.EOPNOTSUPP, !has(type == MemoryWindow.TYPE_1
                    ? Feature.MEMORY_WINDOW_TYPE_1
                    : Feature.MEMORY_WINDOW_TYPE_2));
            MemoryWindow w = window.expect(() -> own.pd.allocateMemoryWindow(type), "window of type " + type);
            if (w != null) {
                w.close();
            }
        });
    }

    // ---- paths

    @Test
    void paths() throws Exception {
        Context c = own.context;
        Gid there = c.queryGid(1, 0);
        int gids = c.queryPort(1).gidTableLength();
        needs(c, Feature.UD);
        Seeds.each(ROUNDS / 2, r -> {
            Gid gid = RandomInput.pick(r, there, there, new Gid(0, 0), fixture.group(r.nextLong()));
            int port = RandomInput.pick(r, 1, 1, 1, 0, -1, device.physicalPortCount() + 1, Integer.MAX_VALUE);
            int index = RandomInput.pick(r, 0, 0, 0, -1, gids, Integer.MAX_VALUE);
            AddressVector v = AddressVector.builder(gid).port(port).sourceGidIndex(index).trafficClass(r.nextInt(256))
                    .hopLimit(r.nextInt(256)).flowLabel(r.nextInt(1 << 20)).build();
            Refusals no = new Refusals(fixture);
            no.add(Errno.EINVAL, port < 1 || port > device.physicalPortCount() || index < 0 || index >= gids);
            no.add(Errno.EINVAL, gid.equals(new Gid(0, 0)));
            AutoCloseable made = no.expect(() -> own.pd.createAddressHandle(v), gid + " port " + port + " index "
                    + index);
            if (made != null) {
                made.close();
            }
        });
        assertThat(Objects.requireNonNull(there).isMulticast()).isFalse();
    }
}
