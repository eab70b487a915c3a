// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** Memory by other names than its place: an address of one's own choice, a device's memory, and a window. */
public class Memory {
    static final int PAGE = 4096;
    static final int DEPTH = 4;

    public static void main(String[] args) throws VerbsException {
        try (Context a = Verbs.open("shm0"); Context b = Verbs.open("shm0")) {
            CompletionQueue cqA = a.createCompletionQueue(DEPTH);
            CompletionQueue cqB = b.createCompletionQueue(DEPTH);
            ProtectionDomain pdA = a.allocateProtectionDomain();
            ProtectionDomain pdB = b.allocateProtectionDomain();
            QueuePair qpA = ByHand.create(pdA, cqA);
            QueuePair qpB = ByHand.create(pdB, cqB);
            ByHand.toInit(qpA);
            ByHand.toInit(qpB);
            ByHand.toReady(qpA, b.queryGid(1, 0), qpB.number());
            ByHand.toReady(qpB, a.queryGid(1, 0), qpA.number());
            MemoryRegion from = pdA.allocate(PAGE, AccessFlags.LOCAL_WRITE);
            from.segment().setAtIndex(ValueLayout.JAVA_LONG, 0, 42);

            address(pdB, qpA, cqA, from);
            device(b, pdB, qpA, cqA, from);
            window(pdB, qpA, cqA, qpB, cqB, from);
            advice(pdB);
        }
    }

    static void address(ProtectionDomain pd, QueuePair peer, CompletionQueue done, MemoryRegion from)
            throws VerbsException {
        try (MemoryRegion memory = pd.allocate(PAGE, AccessFlags.LOCAL_WRITE);
                MemoryRegion named = pd.register(MemoryRegionAttributes.builder(AccessFlags.ALL)
                        .memory(memory.segment()).iova(0x10000).build())) {
            ByHand.require(peer.sendQueue().start()
                    .write(1, SendFlags.SIGNALED, named.rkey(), 0x10008).sge(from, 0, 8).complete());
            ByHand.print(done, 1);
            System.out.println("at 8: " + memory.segment().get(ValueLayout.JAVA_LONG, 8));
        }
    }

    static void device(Context context, ProtectionDomain pd, QueuePair peer, CompletionQueue done, MemoryRegion from)
            throws VerbsException {
        try (DeviceMemory memory = context.allocateDeviceMemory(PAGE, 3);
                MemoryRegion region = pd.registerDeviceMemory(memory, 0, PAGE,
                        AccessFlags.ALL | AccessFlags.ZERO_BASED)) {
            ByHand.require(peer.sendQueue().start()
                    .write(2, SendFlags.NONE, region.rkey(), 16).sge(from, 0, 8)
                    .atomicWrite(3, SendFlags.SIGNALED, region.rkey(), 24, 43).complete());
            ByHand.print(done, 1);
            long[] words = new long[2];
            memory.copyTo(MemorySegment.ofArray(words), 16);
            System.out.println("on the device: " + words[0] + ", " + words[1]);
        }
    }

    static void window(ProtectionDomain pd, QueuePair peer, CompletionQueue done, QueuePair own, CompletionQueue cq,
            MemoryRegion from) throws VerbsException {
        try (MemoryRegion region = pd.allocate(PAGE, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
                MemoryWindow window = pd.allocateMemoryWindow(MemoryWindow.TYPE_2)) {
            int rkey = MemoryWindow.incrementRkey(window.rkey());
            ByHand.require(own.receiveQueue().post(4, region, 0, 8));
            ByHand.require(own.sendQueue().start().bindMemoryWindow(5, SendFlags.SIGNALED, window, rkey, region,
                    region.address() + 64, 64, AccessFlags.REMOTE_WRITE).complete());
            ByHand.print(cq, 1);
            ByHand.require(peer.sendQueue().start()
                    .write(6, SendFlags.NONE, rkey, region.address() + 64).sge(from, 0, 8)
                    .sendInvalidate(7, SendFlags.SIGNALED, rkey).sge(from, 0, 8)
                    .complete());
            ByHand.print(done, 1);
            while (cq.startPoll() != 0) {
                Thread.onSpinWait();
            }
            System.out.println(WcFlags.toString(cq.flags()) + " " + (cq.invalidatedRkey() == rkey));
            cq.endPoll();
            ByHand.require(peer.sendQueue().start()
                    .write(8, SendFlags.SIGNALED, rkey, region.address() + 64).sge(from, 0, 8).complete());
            ByHand.print(done, 1);
        }
    }

    static void advice(ProtectionDomain pd) throws VerbsException {
        try (MemoryRegion region = pd.allocate(PAGE, AccessFlags.LOCAL_WRITE | AccessFlags.ON_DEMAND)) {
            pd.advise(MemoryAdvice.PREFETCH_WRITE, MemoryAdvice.FLUSH,
                    List.of(ScatterGatherElement.in(region, 0, PAGE)));
            region.reregister(MemoryRegion.CHANGE_ACCESS, null, null, AccessFlags.REMOTE_READ);
            pd.advise(MemoryAdvice.PREFETCH, 0, List.of(ScatterGatherElement.in(region, 0, PAGE)));
        } catch (VerbsException e) {
            System.out.println(Errno.name(e.errno()));
        }
    }
}
