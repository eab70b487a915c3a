// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PacketCapture;

/**
 * Learns the flows of an interface, in both directions, and counts them exactly; optionally captures their packets. The
 * traffic is not touched: the program, {@link MonitorProgram}, sees copies at a packet socket of this process and goes
 * with it, however the process ends. Used by one thread.
 */
public final class FlowMonitor implements AutoCloseable {
    /** As much of a packet as there can be. */
    public static final int WHOLE = 1 << 18;

    private static final byte[] ONLY = new byte[4];

    private final BpfMap flows;
    private final BpfMap totals;
    private final PacketCapture socket;

    private FlowMonitor(BpfMap flows, BpfMap totals, PacketCapture socket) {
        this.flows = flows;
        this.totals = totals;
        this.socket = socket;
    }

    /**
     * Begins.
     *
     * @param ifindex the interface, in the calling thread's network namespace
     * @param filter the packets that are wanted; all if empty
     * @param most flows at once
     * @param ringBytes room for captured packets, of {@link PacketCapture}; 0 to capture none
     * @throws LinuxException {@code EPERM} (CAP_BPF or CAP_NET_RAW is missing), {@code ENODEV}, {@code ENOMEM}
     * @throws IllegalArgumentException if the filter is too long for a program
     */
    public static FlowMonitor open(int ifindex, Optional<PacketFilter> filter, int most, int ringBytes)
            throws LinuxException {
        BpfMap flows = MonitorProgram.flows(most);
        BpfMap totals = null;
        try {
            totals = MonitorProgram.totals();
            try (Fd program = MonitorProgram.load(Bpf.BPF_PROG_TYPE_SOCKET_FILTER, MonitorProgram.instructions(flows,
                    totals, filter.orElse(null), ringBytes == 0 ? 0 : WHOLE))) {
                return new FlowMonitor(flows, totals, PacketCapture.open(ifindex, program, ringBytes));
            }
        } catch (LinuxException | RuntimeException e) {
            flows.close();
            if (totals != null) {
                totals.close();
            }
            throw e;
        }
    }

    /** Looks at all counters. */
    public MonitorSample read() throws LinuxException {
        return sample(flows, totals, socket.lost());
    }

    /** Looks at the maps. */
    static MonitorSample sample(BpfMap flows, BpfMap totals, long lost) throws LinuxException {
        // the totals first: what is counted meanwhile must not look like packets that no flow has
        int cpus = totals.valueBytes() / MonitorProgram.TOTAL_BYTES;
        long[] t = new long[MonitorProgram.TOTAL_BYTES / Long.BYTES];
        sum(MemorySegment.ofArray(totals.lookup(ONLY).orElseThrow()), 0, cpus, t);
        Map<MonitoredFlow, MonitorSample.Count> all = new HashMap<>();
        byte[] key = new byte[flows.keyBytes()];
        long[] v = new long[MonitorProgram.FLOW_VALUE_BYTES / Long.BYTES];
        long[] inFlows = new long[2];
        flows.forEachInPlace((memory, keyAt, valueAt) -> {
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, keyAt, key, 0, key.length);
            sum(memory, valueAt, cpus, v);
            MonitorSample.Count count = new MonitorSample.Count(v[MonitorProgram.FLOW_PACKETS / Long.BYTES],
                    v[MonitorProgram.FLOW_BYTES / Long.BYTES], v[MonitorProgram.FLOW_LEARNED / Long.BYTES]);
            all.put(MonitoredFlow.of(key), count);
            inFlows[0] += count.packets();
            inFlows[1] += count.bytes();
        });
        MonitorSample.Count received = new MonitorSample.Count(t[0], t[1]);
        int s = MonitorProgram.TOTAL_SENT / Long.BYTES;
        MonitorSample.Count sent = new MonitorSample.Count(t[s], t[s + 1]);
        MonitorSample.Count total = received.plus(sent);
        return new MonitorSample(System.nanoTime(), all, received, sent, Math.max(0, t[MonitorProgram.TOTAL_LEARNED
                / Long.BYTES]
                - all.size()), new MonitorSample.Count(Math.max(0, total.packets() - inFlows[0]), Math.max(0,
                        total.bytes() - inFlows[1])), lost);
    }

    /** The sums of all processors' values, which lie one behind the other. */
    private static void sum(MemorySegment memory, long at, int cpus, long[] sums) {
        Arrays.fill(sums, 0);
        for (int i = 0; i < cpus * sums.length; i++) {
            sums[i % sums.length] += memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at + (long) i * Long.BYTES);
        }
    }

    /**
     * Takes the captured packets.
     *
     * @return how many
     * @throws IOException the visitor's
     */
    public long capture(PacketCapture.Visitor visitor) throws IOException {
        return socket.read(visitor);
    }

    /** Counts no more; the last packets are captured {@link PacketCapture#BLOCK_MILLIS} later. */
    public void stop() throws LinuxException {
        socket.stop();
    }

    /**
     * Waits until packets are captured.
     *
     * @param millis the longest wait
     */
    public void await(int millis) throws LinuxException {
        socket.await(millis);
    }

    /** Idempotent. */
    @Override
    public void close() {
        socket.close();
        totals.close();
        flows.close();
    }
}
