// SPDX-License-Identifier: Apache-2.0
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.verbs.*;

/** What is there for providers of raw packets, and how a program goes on where it is not. */
public class Packets {
    public static void main(String[] args) throws VerbsException {
        try (Context context = Verbs.open("shm0")) {
            ProtectionDomain pd = context.allocateProtectionDomain();
            CompletionQueue cq = context.createCompletionQueue(64);
            when(context, Feature.FLOW, () -> steer(pd, cq));
            when(context, Feature.RSS, () -> spread(context, pd, cq));
        }
    }

    /** Packets to UDP port 4791 of that address come to a queue pair. */
    static void steer(ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.UD).build());
        Flow flow = qp.createFlow(FlowAttributes.builder()
                .spec(FlowSpec.ipv4().match(FlowField.IPV4_DESTINATION, 0x0a00_0001))
                .spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, 4791))
                .build());
        flow.close();
    }

    /** Packets are spread over two work queues by a hash of their addresses. */
    static void spread(Context context, ProtectionDomain pd, CompletionQueue cq) throws VerbsException {
        WorkQueue first = context.createWorkQueue(WorkQueueInitAttributes.builder(pd, cq).maxWr(64).build());
        WorkQueue second = context.createWorkQueue(WorkQueueInitAttributes.builder(pd, cq).maxWr(64).build());
        RwqIndirectionTable table = context.createRwqIndirectionTable(1, List.of(first, second));
        byte[] key = new byte[RxHashConfiguration.TOEPLITZ_KEY_BYTES];
        pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET)
                .receiveSideScaling(table, RxHashConfiguration.of(RxHashConfiguration.TOEPLITZ, key,
                        RxHashFields.SRC_IPV4 | RxHashFields.DST_IPV4))
                .build());
    }

    interface Action {
        void run() throws VerbsException;
    }

    static void when(Context context, String feature, Action action) {
        try {
            action.run();
            System.out.println(feature + ": done");
        } catch (VerbsException e) {
            System.out.println(feature + ": supported " + context.supports(feature) + ", " + Errno.name(e.errno()));
        }
    }
}
