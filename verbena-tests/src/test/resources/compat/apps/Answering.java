// SPDX-License-Identifier: Apache-2.0
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

import org.verbena.verbs.*;

/** Written for the first version: says on which port it waits, takes one message and sends one back. */
public final class Answering {
    private Answering() {}

    public static void main(String[] args) throws Exception {
        try (Context c = Verbs.open("shm0")) {
            ProtectionDomain pd = c.allocateProtectionDomain();
            CompletionQueue cq = c.createCompletionQueue(16);
            MemoryRegion mr = pd.allocate(4096, AccessFlags.ALL);
            QueuePair qp = Traffic.queuePair(pd, cq);
            ConnectionListener listener = c.connectionManager()
                    .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Say.line("port", listener.localAddress().getPort());
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL)
                    .build());
            Traffic.require(qp.receiveQueue().post(1, mr, 0, 64));
            Connection connection = listener.awaitRequest(Duration.ofSeconds(30))
                    .accept(qp, ConnectionParameters.defaults());
            Traffic.completions("asked", cq, 1);
            Traffic.require(qp.sendQueue().postSend(2, SendFlags.SIGNALED, mr, 0, 16));
            Traffic.completions("answered", cq, 1);
            // the other side goes first
            while (connection.awaitEvent(Duration.ofSeconds(30)).type() != ConnectionEvent.DISCONNECTED) {
            }
        }
    }
}
