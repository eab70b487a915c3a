// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;
import org.verbena.tests.CommandLane;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueAttributes;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.WorkQueueState;

/** {@code verbena stat} of a process with work queues; {@code WorkQueueCountersTest} shows that they count. */
@CommandLane
class StatWorkQueuesTest {
    @Test
    void workQueuesAreShown() throws Exception {
        Capabilities.requireNetworkAndBpf();
        CommandProcess.prepare();
        NetworkNamespace.callInNew(() -> {
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.createVeth(netlink, "wqa", "wqb");
            }
            try (Context context = Verbs.devices().stream().filter(d -> d.name().equals("xdp_wqa")).findFirst()
                    .orElseThrow().open()) {
                ProtectionDomain pd = context.allocateProtectionDomain();
                CompletionQueue cq = context.createCompletionQueue(8);
                WorkQueue wq = context.createWorkQueue(WorkQueueInitAttributes.builder(pd, cq).maxWr(24).build());
                wq.modify(WorkQueueAttributes.to(WorkQueueState.RDY));
                String pid = String.valueOf(ProcessHandle.current().pid());
                String name = "wq:0x" + Integer.toHexString(wq.number());
                try (CommandProcess text = CommandProcess.start("stat", pid, "--once", "-t", "wq", "-f", "24 receives");
                        CommandProcess json = CommandProcess.start("stat", pid, "--once", "-t", "wq", "--json")) {
                    List<String> lines = text.end().out().lines().filter(l -> l.contains("24 receives")).toList();
                    assertThat(lines).hasSize(1).first().asString().contains(name, "RDY");
                    JsonNode all = new ObjectMapper().readTree(json.end().out());
                    assertThat(all.toString()).contains("\"WQ_RX_PACKETS\"", "\"RDY\"");
                }
            }
            return "";
        });
    }
}
