// SPDX-License-Identifier: Apache-2.0
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.verbena.verbs.*;

/**
 * RDMA WRITE: the target learns of the data by polling its own memory, and posts nothing. Two threads with a context
 * each stand for two processes.
 */
public class WriteAndPoll {
    static final int MESSAGES = 5;
    static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    public static void main(String[] args) throws Exception {
        try (Context context = Verbs.open("shm0");
                ConnectionListener listener = context.connectionManager()
                        .listen(new InetSocketAddress("localhost", 0))) {
            Thread initiator = Thread.ofPlatform().start(() -> initiator(listener.localAddress()));
            target(context, listener, initiator);
        }
    }

    /** Says where it may be written to, then watches its memory, which stays until the initiator has read the last answer. */
    static void target(Context context, ConnectionListener listener, Thread initiator) throws Exception {
        try (ProtectionDomain pd = context.allocateProtectionDomain();
                MemoryRegion region = pd.allocate(4096,
                        AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ);
                CompletionQueue cq = context.createCompletionQueue(1);
                QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build())) {
            byte[] where = ByteBuffer.allocate(12).putLong(region.address()).putInt(region.rkey()).array();
            try (Connection connection = listener.awaitRequest(Duration.ofSeconds(10))
                    .accept(qp, ConnectionParameters.builder().privateData(where).build())) {
                for (long k = 1; k <= MESSAGES; k++) {
                    while ((long) LONG.getAcquire(region.segment(), 8L) != k) { // the last word arrives last
                        Thread.onSpinWait();
                    }
                    System.out.println("message " + k + " carries " + region.segment().get(ValueLayout.JAVA_LONG, 0));
                    LONG.setRelease(region.segment(), 16L, k); // not sent anywhere: the initiator reads it
                }
                initiator.join();
            }
        }
    }

    /** Writes messages of two words; reads the target's memory to see when the next one may go. */
    static void initiator(InetSocketAddress address) {
        try (Context context = Verbs.open("shm0")) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            MemoryRegion region = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            CompletionQueue cq = context.createCompletionQueue(2);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxSendWr(2).build());
            Connection connection = context.connectionManager()
                    .connect(qp, address, ConnectionParameters.defaults());
            ByteBuffer where = ByteBuffer.wrap(connection.privateData());
            long remoteAddress = where.getLong();
            int rkey = where.getInt();
            MemorySegment memory = region.segment();
            for (long k = 1; k <= MESSAGES; k++) {
                memory.set(ValueLayout.JAVA_LONG, 0, k * k);
                memory.set(ValueLayout.JAVA_LONG, 8, k);
                check(qp.sendQueue().postWrite(k, SendFlags.SIGNALED, region, 0, 16, rkey, remoteAddress));
                await(cq);
                do {
                    check(qp.sendQueue().postRead(k, SendFlags.SIGNALED, region, 16, 8, rkey, remoteAddress + 16));
                    await(cq);
                } while (memory.get(ValueLayout.JAVA_LONG, 16) != k);
            }
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    static void await(CompletionQueue cq) {
        while (cq.startPoll() != 0) {
            Thread.onSpinWait();
        }
        check(cq.status());
        cq.endPoll();
    }

    static void check(int code) {
        if (code != 0) {
            throw new IllegalStateException("error " + code);
        }
    }
}
