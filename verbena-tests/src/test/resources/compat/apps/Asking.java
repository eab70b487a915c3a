// SPDX-License-Identifier: Apache-2.0
import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.verbena.verbs.*;

/** Sends one message to {@link Answering} of another process and takes one; with the operation of the next version if told so. */
public final class Asking {
    private Asking() {}

    public static void main(String[] args) throws Exception {
        try (Context c = Verbs.open("shm0")) {
            ProtectionDomain pd = c.allocateProtectionDomain();
            CompletionQueue cq = c.createCompletionQueue(16);
            MemoryRegion mr = pd.allocate(4096, AccessFlags.ALL);
            QueuePair qp = Traffic.queuePair(pd, cq);
            Connection connection = c.connectionManager().connect(qp,
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])),
                    ConnectionParameters.defaults());
            Traffic.require(qp.receiveQueue().post(1, mr, 64, 64));
            SendQueue q = qp.sendQueue().start();
            if (args.length > 1) {
                q.beacon(2, SendFlags.SIGNALED);
            } else {
                q.sendImmediate(2, SendFlags.SIGNALED, 5);
            }
            Traffic.require(q.sge(mr, 0, 8).complete());
            Traffic.completions("heard", cq, 2);
            connection.disconnect();
        }
    }
}
