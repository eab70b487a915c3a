// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.util.List;

import org.verbena.verbs.*;

/** The result of each extended verb with the library that it runs with: a line each, "name: ok" or the errno. */
final class OldProgram {
    private interface Verb {
        Object call() throws VerbsException;
    }

    private OldProgram() {}

    public static void main(String[] args) throws Exception {
        try (Context c = Verbs.open("mock0")) {
            ProtectionDomain pd = c.allocateProtectionDomain();
            CompletionQueue cq = c.createCompletionQueue(10);
            MemoryRegion r = pd.allocate(4096, 7 | AccessFlags.RELAXED_ORDERING);
            QueuePair qp = Ends.ready(pd, cq, QueuePairInitAttributes.builder(cq, cq).build());
            QueuePair raw = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET)
                    .build());
            say("query_device", () -> c.queryDevice().maxQp() == 64);
            say("query_port", () -> c.queryPort(1).activeMtu() == 1024);
            say("query_gid", () -> c.queryGidTable().size() == 1);
            say("post", () -> qp.sendQueue().postWrite(1, SendFlags.SIGNALED, r, 0, 8, r.rkey(), r.address()) == 0);
            say("poll", () -> cq.poll(WorkCompletion.array(2)) == 1);
            say("create_srq", () -> pd.createSharedReceiveQueue(SharedReceiveQueueAttributes.builder().build()));
            say("query_rt_values", () -> c.queryValues(Values.RAW_CLOCK).rawClock().isPresent());
            say("create_cq_ex", () -> c.createCompletionQueue(CompletionQueueAttributes.builder().fields(
                    CompletionQueueAttributes.WITH_FLOW_TAG).build()));
            say("modify_cq", () -> {
                cq.modify(CompletionQueueModification.moderate(0, 0));
                return true;
            });
            say("create_qp_ex", () -> pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).sendOperations(
                    SendOperations.SEND).build()));
            say("open_xrcd", () -> c.openXrcDomain(XrcDomainAttributes.builder().fd(-1).openFlags(0100).build()));
            say("create_flow", () -> raw.createFlow(FlowAttributes.builder().spec(FlowSpec.ethernet()).build()));
            say("create_wq", () -> c.createWorkQueue(WorkQueueInitAttributes.builder(pd, cq).build()));
            say("alloc_td", c::allocateThreadDomain);
            say("alloc_parent_domain", () -> c.allocateParentDomain(ParentDomainAttributes.builder().protectionDomain(
                    pd)
                    .build()));
            say("modify_qp_rate_limit", () -> {
                qp.modifyRateLimit(RateLimit.of(1, 1, 1));
                return true;
            });
            say("alloc_dm", () -> c.allocateDeviceMemory(8, 0));
            say("create_counters", c::createCounters);
            say("alloc_null_mr", pd::allocateNullRegion);
            say("advise_mr", () -> {
                pd.advise(MemoryAdvice.PREFETCH, 0, List.of(ScatterGatherElement.in(r, 0, 8)));
                return true;
            });
            say("reg_mr_iova", () -> pd.register(MemoryRegionAttributes.builder(1).memory(r.segment()).iova(0x10000)
                    .build()));
            say("reg_dmabuf_mr", () -> pd.register(MemoryRegionAttributes.builder(1).descriptor(3, 4096).iova(0)
                    .build()));
            say("rereg_mr", () -> {
                r.reregister(MemoryRegion.CHANGE_ACCESS, null, null, 1);
                return true;
            });
            say("query_ece", qp::queryEnhancedConnection);
            say("data_in_order", () -> qp.queryDataInOrder(SendOperations.WRITE) == 1);
        }
        System.out.println("left: " + Mock.alive());
    }

    private static void say(String name, Verb verb) {
        String answer;
        try {
            answer = Boolean.FALSE.equals(verb.call()) ? "false" : "ok";
        } catch (VerbsException e) {
            answer = org.verbena.linux.Errno.name(e.errno());
        }
        System.out.println(name + ": " + answer);
    }
}
