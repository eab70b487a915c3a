// SPDX-License-Identifier: Apache-2.0
import java.net.InetSocketAddress;
import java.time.Duration;

import org.verbena.verbs.*;

/** A message and its answer. Start it with "server" in one terminal, then with "client" in another. */
public class HelloVerbs {
    static final InetSocketAddress ADDRESS = new InetSocketAddress("localhost", Integer.getInteger("port", 7471));

    public static void main(String[] args) throws VerbsException {
        if (args.length != 1) {
            System.err.println("usage: HelloVerbs server|client");
            System.exit(2);
        }
        boolean server = args[0].equals("server");
        try (Context context = Verbs.open("shm0")) { // closing it closes all that was made from it
            ProtectionDomain pd = context.allocateProtectionDomain();
            MemoryRegion region = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            CompletionQueue sent = context.createCompletionQueue(1);
            CompletionQueue received = context.createCompletionQueue(1);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(sent, received).build());
            ConnectionManager cm = context.connectionManager();
            if (server) {
                ConnectionListener listener = cm.listen(ADDRESS);
                System.out.println("listening on port " + listener.localAddress().getPort());
                listener.awaitRequest(Duration.ofDays(1)).accept(qp, ConnectionParameters.defaults());
            } else {
                cm.connect(qp, ADDRESS, ConnectionParameters.defaults());
            }
            check(qp.receiveQueue().post(1, region, 0, 2048)); // a send that comes earlier waits for it
            if (!server) {
                send(qp, region, "hello, this is process " + ProcessHandle.current().pid());
            }
            await(received);
            System.out.println("received: " + region.segment().getString(0));
            if (server) {
                send(qp, region, "hello from the server");
            }
        }
    }

    static void send(QueuePair qp, MemoryRegion region, String text) {
        region.segment().setString(2048, text);
        check(qp.sendQueue().postSend(2, SendFlags.SIGNALED, region, 2048, text.length() + 1));
        await(qp.initAttributes().sendCq());
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
