// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.session;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.verbena.cli.perf.datagrams.PerfUdp;
import org.verbena.cli.perf.datagrams.PerfVeth;
import org.verbena.cli.perf.run.PerfEnds;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.OpenDevices;

/**
 * What to measure, and how.
 *
 * @param device name of the verbs device, or empty for the first one
 * @param iterations operations of each test, or 0 to go by time
 * @param nanos time of each test
 * @param warmUpNanos time to warm up before each test
 * @param budgetNanos time for all together, or {@link PerfBudget#NONE}
 * @param cpus processors of the measuring side and of its peer; empty to choose them
 * @param rates messages per second in ascending order, each a test of its own; empty to send one after the other
 */
public record PerfOptions(List<PerfTest> tests, List<Long> sizes, String device, long iterations, long nanos,
        long warmUpNanos,
        long budgetNanos, int inline, int qps, boolean events, boolean consume, boolean verify, boolean pin,
        List<Integer> cpus, List<Integer> connections, List<Long> rates) {
    public static final List<Long> DEFAULT_SIZES = List.of(8L, 32L, 64L, 4096L, 65536L, 1048576L);
    /** The default sizes of channel tests in a run of everything, for round trips and for bandwidth. */
    private static final long NIO_LATENCY_SIZE = 64;
    private static final long NIO_BANDWIDTH_SIZE = 65536;
    private static final long RAW_SIZE = 64;
    private static final long RAW_BANDWIDTH_SIZE = 32768;
    private static final long STACK_BANDWIDTH_SIZE = 65536;

    /** The jobs in the order in which they run. An option that a test does not know is left out for that test. */
    List<PerfJob> jobs() throws CommandException {
        List<PerfJob> jobs = new ArrayList<>();
        String name = PerfJob.NO_DEVICE;
        for (PerfTest t : tests) {
            if (t.takesDevice()) {
                name = !device.isEmpty()
                        ? device
                        : t.isRaw()
                                ? PerfVeth.device(t)
                                : name.equals(PerfJob.NO_DEVICE) ? OpenDevices.first() : name;
            }
            for (long size : sizes(t)) {
                if ((t.isUdp() || t.isRaw() && !t.isStackTcp()) && size > PerfUdp.MAX_SIZE && tests.size() > 1) {
                    continue; // other tests are compared at this size
                }
                if (t.isNio() && isEverything() && t.fixedSize == 0
                        && size != (t.isBandwidth() ? NIO_BANDWIDTH_SIZE : NIO_LATENCY_SIZE)) {
                    continue;
                }
                for (PerfEnds ends : t.ends()) {
                    for (int n : t.takesConnections() ? connections : List.of(1)) {
                        PerfJob job = new PerfJob(t, size, t.takesDevice() ? name : PerfJob.NO_DEVICE, t.takesInline()
                                ? inline
                                : 0, t.takesQps() ? qps : 1, events && t.takesEvents(), consume && t.takesConsume(),
                                verify && t.takesVerify(), n, ends);
                        if (rates.isEmpty()) {
                            jobs.add(job);
                        }
                        rates.forEach(r -> jobs.add(job.at(r)));
                    }
                }
            }
        }
        return jobs;
    }

    /** What raw packets are measured with by default has to fit into frames. */
    private List<Long> sizes(PerfTest t) {
        if (t.fixedSize != 0) {
            return List.of(t.fixedSize);
        }
        return isRaw() && sizes.equals(DEFAULT_SIZES)
                ? List.of(t == PerfTest.STACK_BW
                        ? STACK_BANDWIDTH_SIZE
                        : t == PerfTest.RAW_BW || t == PerfTest.TCP_BW ? RAW_BANDWIDTH_SIZE : RAW_SIZE)
                : sizes;
    }

    /** Whether there are tests of raw packets. */
    public boolean isRaw() {
        return tests.stream().anyMatch(PerfTest::isRaw);
    }

    private boolean isEverything() {
        return tests.containsAll(PerfTest.everything(false)) && sizes.equals(DEFAULT_SIZES);
    }

    /** The same options for the command line of another process. */
    public List<String> arguments() {
        List<String> a = new ArrayList<>();
        tests.forEach(t -> a.add(t.title()));
        a.add("--size=" + commas(sizes));
        if (!device.isEmpty()) {
            a.add("--device=" + device);
        }
        a.add(iterations > 0 ? "--iterations=" + iterations : "--duration=" + nanos + "ns");
        a.add("--warm-up=" + warmUpNanos + "ns");
        if (budgetNanos != PerfBudget.NONE) {
            a.add("--budget=" + budgetNanos + "ns");
        }
        a.add("--inline=" + inline);
        a.add("--qps=" + qps);
        a.add("--connections=" + commas(connections));
        if (!rates.isEmpty()) {
            a.add("--rates=" + commas(rates));
        }
        if (!cpus.isEmpty()) {
            a.add("--cpus=" + commas(cpus));
        }
        flag(a, events, "--events");
        flag(a, consume, "--consume");
        flag(a, verify, "--verify");
        flag(a, !pin, "--no-pin");
        return a;
    }

    /** What figures depend on beside the test and the machine, the same for all rows. */
    public ObjectNode toJson(int runs) {
        ObjectNode o = JsonNodeFactory.instance.objectNode();
        o.put("duration_ns", iterations > 0 ? null : nanos).put("iterations", iterations > 0 ? iterations : null);
        return o.put("warm_up_ns", warmUpNanos).put("inline", inline).put("qps", qps).put("events", events)
                .put("consume", consume).put("verify", verify).put("runs", runs);
    }

    private static String commas(List<? extends Number> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static void flag(List<String> arguments, boolean on, String name) {
        if (on) {
            arguments.add(name);
        }
    }
}
