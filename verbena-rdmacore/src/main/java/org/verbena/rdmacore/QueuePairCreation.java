// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.DeviceAttributes;
import org.verbena.verbs.DeviceCapabilityFlags;
import org.verbena.verbs.Feature;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairOpenAttributes;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.RxHashConfiguration;
import org.verbena.verbs.SendOperations;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.VerbsObject;

/** Creates and opens queue pairs, by the plain verb unless a property needs the extended one. */
final class QueuePairCreation {
    private static final int ATTR_PD = 1;
    private static final int ATTR_XRCD = 1 << 1;
    private static final int EXTENDED = QueuePairInitAttributes.CREATE_FLAGS | QueuePairInitAttributes.MAX_TSO_HEADER
            | QueuePairInitAttributes.IND_TABLE | QueuePairInitAttributes.RX_HASH
            | QueuePairInitAttributes.SEND_OPS_FLAGS;
    /** {@code IBV_QP_OPEN_ATTR_…}: number, XRC domain, type. */
    private static final int OPEN_MASK = 1 | 1 << 1 | 1 << 3;

    private static final long CHECKSUMS = DeviceCapabilityFlags.UD_IP_CSUM | DeviceCapabilityFlags.RC_IP_CSUM
            | DeviceCapabilityFlags.RAW_IP_CSUM;
    private static final Set<Integer> TYPES = Set.of(QueuePairType.RC, QueuePairType.UC, QueuePairType.UD,
            QueuePairType.RAW_PACKET, QueuePairType.XRC_SEND, QueuePairType.XRC_RECV);

    private QueuePairCreation() {}

    static QueuePair create(RdmaProtectionDomain pd, QueuePairInitAttributes a) throws VerbsException {
        RdmaContext context = pd.rdmaContext();
        NativeContext verbs = context.verbs();
        String verb = "create QP on " + pd.describe();
        List<VerbsObject> used = new ArrayList<>(List.of(pd));
        if (!TYPES.contains(a.type())) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "there are no queue pairs of type "
                    + QueuePairType.toString(a.type()));
        }
        int extended = a.compMask() & EXTENDED;
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.QP_INIT_BYTES);
            s.putLong(Layout.QP_INIT_SEND_CQ, queue(a.sendCq(), used));
            s.putLong(Layout.QP_INIT_RECV_CQ, a.type() == QueuePairType.XRC_SEND ? 0 : queue(a.receiveCq(), used));
            if (a.sharedReceiveQueue() instanceof RdmaSharedReceiveQueue srq) {
                used.add(srq);
                s.putLong(Layout.QP_INIT_SRQ, srq.address());
            }
            Struct cap = s.at(Layout.QP_INIT_CAP);
            cap.putInt(Layout.CAP_SEND_WR, a.maxSendWr());
            cap.putInt(Layout.CAP_RECV_WR, a.maxReceiveWr());
            cap.putInt(Layout.CAP_SEND_SGE, a.maxSendSge());
            cap.putInt(Layout.CAP_RECV_SGE, a.maxReceiveSge());
            cap.putInt(Layout.CAP_INLINE, a.maxInlineData());
            s.putInt(Layout.QP_INIT_TYPE, a.type());
            s.putInt(Layout.QP_INIT_SQ_SIG_ALL, a.sqSigAll() ? 1 : 0);
            if (extended != 0) {
                s.putInt(Layout.QP_INIT_COMP_MASK, ATTR_PD | extended);
                s.putLong(Layout.QP_INIT_PD, pd.address());
                extended(verb, context, s, a, arena, used);
            }
            Handle.Creator creator = extended != 0
                    ? () -> createExtended(verb, verbs, s, a)
                    : () -> Calls.pointer(verb, verbs.function(verb, IbvFunction.CREATE_QP), pd.address(), s.address());
            return Handle.create(verb, context, used, Handle.by(context, IbvFunction.DESTROY_QP), creator,
                    h -> make(verb, h, pd, a, cap));
        }
    }

    /**
     * A driver that does not support a requested property does not report which one; the operations are what types
     * differ in.
     */
    private static long createExtended(String verb, NativeContext verbs, Struct s, QueuePairInitAttributes a)
            throws VerbsException {
        try {
            return Calls.pointer(verb, verbs.slot(verb, Slot.CREATE_QP_EX), verbs.address, s.address());
        } catch (VerbsException e) {
            if (e.errno() == Errno.EOPNOTSUPP && a.has(QueuePairInitAttributes.SEND_OPS_FLAGS)) {
                throw new VerbsException(verb, e.errno(), "the device or its driver has no queue pairs of type "
                        + QueuePairType.toString(a.type())
                        + " with all of these, or does not support another requested property: "
                        + SendOperations.toString(a.sendOperations()));
            }
            throw e;
        }
    }

    private static long queue(CompletionQueue cq, List<VerbsObject> used) {
        if (cq instanceof RdmaCompletionQueue c) {
            used.add(c);
            return c.address();
        }
        return 0;
    }

    private static int lacking(RdmaContext context) {
        return (context.supports(Feature.ATOMIC_WRITE) ? 0 : SendOperations.ATOMIC_WRITE) | (context.supports(
                Feature.FLUSH) ? 0 : SendOperations.FLUSH);
    }

    private static void extended(String verb, RdmaContext context, Struct s, QueuePairInitAttributes a, Arena arena,
            List<VerbsObject> used) throws VerbsException {
        if (a.has(QueuePairInitAttributes.CREATE_FLAGS)) {
            s.putInt(Layout.QP_INIT_CREATE_FLAGS, a.createFlags());
        }
        s.putShort(Layout.QP_INIT_MAX_TSO_HEADER, a.maxTsoHeader());
        if (a.rwqIndirectionTable() instanceof RdmaIndirectionTable t) {
            used.add(t);
            s.putLong(Layout.QP_INIT_RWQ_IND_TBL, t.address());
        }
        RxHashConfiguration hash = a.rxHash();
        if (hash != null) {
            byte[] key = hash.key();
            s.putByte(Layout.QP_INIT_RX_HASH_FUNCTION, hash.function());
            s.putByte(Layout.QP_INIT_RX_HASH_KEY_LEN, key.length);
            s.putLong(Layout.QP_INIT_RX_HASH_KEY, arena.allocateFrom(ValueLayout.JAVA_BYTE, key).address());
            s.putLong(Layout.QP_INIT_RX_HASH_FIELDS, hash.fields() & 0xffffffffL);
        }
        if (a.has(QueuePairInitAttributes.SEND_OPS_FLAGS)) {
            if (a.sendOperations() >>> SendOperationBit.ATOMIC_WRITE + 1 != 0) {
                throw new VerbsException(verb, Errno.EOPNOTSUPP,
                        "sendOperations has bits that are not supported here: 0x"
                                + Integer.toHexString(a.sendOperations()));
            }
            int lacking = a.sendOperations() & lacking(context);
            if (lacking != 0) { // the library may know them on a kernel that does not
                throw new VerbsException(verb, Errno.EOPNOTSUPP, context.describe()
                        + " or its kernel's driver does not support " + SendOperations.toString(lacking));
            }
            s.putLong(Layout.QP_INIT_SEND_OPS, a.sendOperations());
        }
    }

    /** Makes the object of a new queue pair; destroys that again after an error. */
    private static QueuePair make(String verb, Handle h, RdmaProtectionDomain pd, QueuePairInitAttributes a, Struct cap)
            throws VerbsException {
        NativeContext verbs = h.verbs();
        QueuePairInitAttributes made = a.toBuilder().maxSendWr(larger(a.maxSendWr(), cap, Layout.CAP_SEND_WR))
                .maxReceiveWr(larger(a.maxReceiveWr(), cap, Layout.CAP_RECV_WR)).maxSendSge(larger(a.maxSendSge(), cap,
                        Layout.CAP_SEND_SGE)).maxReceiveSge(larger(a.maxReceiveSge(), cap, Layout.CAP_RECV_SGE))
                .maxInlineData(larger(a.maxInlineData(), cap, Layout.CAP_INLINE)).build();
        DeviceAttributes device = pd.rdmaContext().queryDevice();
        boolean checksums = a.type() == QueuePairType.RAW_PACKET || (device.capabilityFlags() & CHECKSUMS) != 0;
        boolean segments = a.maxTsoHeader() > 0 || device.segmentationCapabilities() != null;
        RdmaSendQueue.Sizes sizes = new RdmaSendQueue.Sizes(pd, made.maxSendWr(), made.maxSendSge(), made
                .maxInlineData(), a.maxTsoHeader(), checksums, segments);
        RdmaSendQueue sends;
        if (a.has(QueuePairInitAttributes.SEND_OPS_FLAGS)) {
            MemorySegment convert = verbs.function(verb, IbvFunction.QP_TO_QP_EX);
            sends = new ExtendedSendQueue(verb, Calls.pointer(verb, convert, h.address), a.type(), a.sendOperations(),
                    sizes);
        } else {
            sends = new PlainSendQueue(verbs.inline(verb, Layout.CONTEXT_POST_SEND), h.address, a.type(), sizes);
        }
        boolean own = a.sharedReceiveQueue() == null && a.type() != QueuePairType.XRC_SEND && a
                .rwqIndirectionTable() == null;
        RdmaReceiveQueue receives = own
                ? new RdmaReceiveQueue(verbs.inline(verb, Layout.CONTEXT_POST_RECV), h.address, made.maxReceiveWr(),
                        made.maxReceiveSge())
                : RdmaReceiveQueue.none();
        return new RdmaQueuePair(h, pd, made, sends, receives);
    }

    private static int larger(int asked, Struct cap, int offset) {
        return Math.max(asked, cap.getInt(offset));
    }

    /** A target: it has no queues. */
    static QueuePair createTarget(RdmaXrcDomain domain, QueuePairInitAttributes a) throws VerbsException {
        RdmaContext context = domain.rdmaContext();
        NativeContext verbs = context.verbs();
        String verb = "create QP on " + domain.describe();
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.QP_INIT_BYTES);
            s.putInt(Layout.QP_INIT_TYPE, QueuePairType.XRC_RECV);
            s.putInt(Layout.QP_INIT_COMP_MASK, ATTR_XRCD | a.compMask() & QueuePairInitAttributes.CREATE_FLAGS);
            s.putLong(Layout.QP_INIT_XRCD, domain.address());
            if (a.has(QueuePairInitAttributes.CREATE_FLAGS)) {
                s.putInt(Layout.QP_INIT_CREATE_FLAGS, a.createFlags());
            }
            return Handle.create(verb, context, List.of(domain), Handle.by(context, IbvFunction.DESTROY_QP),
                    () -> Calls.pointer(verb, verbs.slot(verb, Slot.CREATE_QP_EX), verbs.address, s.address()),
                    h -> new RdmaQueuePair(h, domain, a));
        }
    }

    /** Opens a target that another process, or this one, has created. */
    static QueuePair openTarget(RdmaXrcDomain domain, QueuePairOpenAttributes a) throws VerbsException {
        RdmaContext context = domain.rdmaContext();
        NativeContext verbs = context.verbs();
        String verb = "open QP 0x" + Integer.toHexString(a.number()) + " of " + domain.describe();
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.QP_OPEN_BYTES);
            s.putInt(0, OPEN_MASK);
            s.putInt(Layout.QP_OPEN_NUM, a.number());
            s.putLong(Layout.QP_OPEN_XRCD, domain.address());
            s.putInt(Layout.QP_OPEN_TYPE, a.type());
            QueuePairInitAttributes.Builder init = QueuePairInitAttributes.builderXrcReceive();
            Object user = a.userContext();
            if (user != null) {
                init.userContext(user);
            }
            return Handle.create(verb, context, List.of(domain), Handle.by(context, IbvFunction.DESTROY_QP),
                    () -> Calls.pointer(verb, verbs.slot(verb, Slot.OPEN_QP), verbs.address, s.address()),
                    h -> new RdmaQueuePair(h, domain, init.build()));
        }
    }
}
