// SPDX-License-Identifier: Apache-2.0
import java.net.InetSocketAddress;
import java.time.Duration;

import org.verbena.verbs.*;

/** Sleeps until there is a completion, on a virtual thread; then hears that the peer has gone. */
public class Events {
    static final Duration LONG = Duration.ofSeconds(10);

    public static void main(String[] args) throws Exception {
        try (Context context = Verbs.open("shm0");
                ConnectionListener listener = context.connectionManager()
                        .listen(new InetSocketAddress("localhost", 0))) {
            Thread receiver = Thread.ofVirtual().start(() -> receive(context, listener));
            send(listener.localAddress());
            receiver.join();
        }
    }

    static void receive(Context context, ConnectionListener listener) {
        try {
            CompletionChannel channel = context.createCompletionChannel();
            CompletionQueue cq = context.createCompletionQueue(
                    CompletionQueueAttributes.builder().cqe(16).channel(channel).build());
            ProtectionDomain pd = context.allocateProtectionDomain();
            MemoryRegion region = pd.allocate(4096, AccessFlags.LOCAL_WRITE);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxReceiveWr(4).build());
            Connection connection = listener.awaitRequest(LONG).accept(qp, ConnectionParameters.defaults());
            for (int i = 0; i < 4; i++) {
                qp.receiveQueue().post(i, region, i * 64, 64);
            }

            int left = 4;
            while (left > 0) {
                cq.requestNotify(false);
                if (cq.startPoll() == 0) { // what came before the arming makes no event
                    do {
                        String text = cq.status() == WcStatus.SUCCESS ? region.segment().getString(cq.wrId() * 64) : "-";
                        System.out.println(WcStatus.toString(cq.status()) + " " + text);
                        left--;
                    } while (cq.nextPoll() == 0);
                    cq.endPoll();
                } else {
                    channel.await(LONG);
                }
            }

            ConnectionEvent event;
            do {
                event = connection.awaitEvent(LONG);
                System.out.println("connection: " + event.typeName());
            } while (event.type() != ConnectionEvent.DISCONNECTED);
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Sends two messages, then leaves: the two receives that are left over are flushed. */
    static void send(InetSocketAddress address) throws Exception {
        try (Context context = Verbs.open("shm0")) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            MemoryRegion region = pd.allocate(4096, 0);
            CompletionQueue cq = context.createCompletionQueue(1);
            QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).build());
            context.connectionManager().connect(qp, address, ConnectionParameters.defaults());
            for (String text : new String[] {"one", "two"}) {
                Thread.sleep(100);
                region.segment().setString(0, text);
                qp.sendQueue().postSend(1, SendFlags.SIGNALED, region, 0, text.length() + 1);
                while (cq.startPoll() != 0) {
                    Thread.onSpinWait();
                }
                cq.endPoll();
            }
        }
    }
}
