// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Xsk;
import org.verbena.telemetry.CounterFile;
import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.Flow;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.VerbsException;

/** A process without a privilege is told which one, in one sentence, and may look at the devices. */
class XdpPrivilegesTest {
    /** The process: opens {@code xdp_other}, and says how far it came. */
    static final class Attempt {
        private Attempt() {}

        public static void main(String[] args) throws Exception {
            try (Context c = RawDevice.all().stream().filter(d -> d.name().equals("xdp_other")).findFirst()
                    .orElseThrow().open()) {
                System.out.println("port " + c.queryPort(1).stateName());
                ProtectionDomain pd = c.allocateProtectionDomain();
                pd.allocate(1 << 20, AccessFlags.LOCAL_WRITE);
                CompletionQueue cq = c.createCompletionQueue(8);
                QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(
                        QueuePairType.RAW_PACKET).build());
                qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
                qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
                System.out.println("ready to receive");
                qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp()).build());
                System.out.println("flow");
            } catch (VerbsException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    private static String attempt(String... wrapper) throws Exception {
        List<String> command = new ArrayList<>(List.of(wrapper));
        command.addAll(Jvm.command(Jvm.NATIVE_ON_CLASS_PATH, "-cp", Stream.of(Xsk.class, CounterFile.class,
                Context.class, XdpDevice.class, XdpPrivilegesTest.class).map(Jvm::classesOf).map(Path::toString)
                .collect(
                        Collectors.joining(File.pathSeparator)), Attempt.class.getName()));
        Finished done = Finished.run(command);
        assertThat(done.code()).as(done.output()).isZero();
        return done.output();
    }

    @Test
    void missingPrivilegesAreNamed() throws Exception {
        RawLink.run(1500, link -> {
            assertThat(attempt()).contains("ready to receive", "flow");
            assertThat(attempt("setpriv", "--bounding-set=-net_raw")).contains("port ", "EPERM", "CAP_NET_RAW")
                    .doesNotContain("ready to receive");
            assertThat(attempt("setpriv", "--bounding-set=-bpf,-sys_admin")).contains("ready to receive", "EPERM",
                    "CAP_BPF").doesNotContain("\nflow");
            assertThat(attempt("setpriv", "--bounding-set=-ipc_lock", "prlimit", "--memlock=65536:65536")).contains(
                    "ulimit -l").doesNotContain("ready to receive");
        });
    }

    /** The kernel lets only CAP_SYS_ADMIN open an attachment by its number; who attaches without leaves a file for the others. */
    @Test
    void programOfAProcessWithMorePrivilegesIsNotShared() throws Exception {
        String[] without = {"setpriv", "--bounding-set=-sys_admin"};
        RawLink.run(1500, 4, link -> {
            try (RawEnd end = RawEnd.ready("other")) {
                Flow flow = end.qp.createFlow(udp(4000));
                assertThat(attempt()).contains("\nflow");
                assertThat(attempt(without)).contains("ready to receive", "EPERM",
                        "the program was attached by a process with CAP_SYS_ADMIN, and only such can share it")
                        .doesNotContain("\nflow");
                flow.close();
                try (SharedMember member = SharedMember.start("other", without)) {
                    assertThat(member.ask("take 4001")).isEqualTo("done");
                    assertThat(attempt(without)).contains("\nflow");
                    end.qp.createFlow(udp(4000)).close();
                }
            }
        });
    }

    private static FlowAttributes udp(int port) {
        return FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port)).build();
    }
}
