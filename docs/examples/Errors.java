// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** What fails, and how one hears of it. */
public class Errors {
    public static void main(String[] args) throws VerbsException {
        try (Context a = Verbs.open("shm0"); Context b = Verbs.open("shm0")) {
            controlPath(a);
            dataPath(a, b);
        }
    }

    /** Calls of the control path throw: verb and object, errno, what to do. */
    static void controlPath(Context context) throws VerbsException {
        ProtectionDomain pd = context.allocateProtectionDomain();
        MemoryRegion region = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
        try {
            pd.close();
        } catch (VerbsException e) {
            System.out.println(Errno.name(e.errno()) + " | " + e.getMessage());
        }
        region.close();
        pd.close();
        pd.close(); // twice is no error
        try {
            Verbs.open("mlx5_0");
        } catch (VerbsException e) {
            System.out.println(Errno.name(e.errno()) + " | " + e.getMessage());
        }
    }

    /** Calls of the data path answer codes; what happens later is in the completion, the state and an event. */
    static void dataPath(Context a, Context b) throws VerbsException {
        ProtectionDomain pdA = a.allocateProtectionDomain();
        ProtectionDomain pdB = b.allocateProtectionDomain();
        MemoryRegion from = pdA.allocate(4096, AccessFlags.LOCAL_WRITE);
        MemoryRegion to = pdB.allocate(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
        CompletionQueue cq = a.createCompletionQueue(16);
        CompletionQueue other = b.createCompletionQueue(16);
        QueuePair qp = ByHand.create(pdA, cq);
        QueuePair peer = ByHand.create(pdB, other);

        int error = qp.sendQueue().postSend(1, SendFlags.SIGNALED, from, 0, 8);
        System.out.println("in RESET: " + Errno.name(error));

        ByHand.toInit(qp);
        ByHand.toInit(peer);
        ByHand.toReady(qp, b.queryGid(1, 0), peer.number());
        ByHand.toReady(peer, a.queryGid(1, 0), qp.number());
        error = qp.sendQueue().start()
                .write(2, SendFlags.SIGNALED, to.rkey(), to.address()).sge(from, 0, 8) // REMOTE_WRITE is missing
                .write(3, SendFlags.SIGNALED, to.rkey(), to.address()).sge(from, 0, 8)
                .complete();
        System.out.println("posted: " + error);
        ByHand.print(cq, 2);
        System.out.println(qp.state() + ": " + qp.errorReason());
        System.out.println(b.awaitAsyncEvent(Duration.ofSeconds(5)));
        System.out.println(peer.state() + ": " + peer.errorReason());
    }
}
