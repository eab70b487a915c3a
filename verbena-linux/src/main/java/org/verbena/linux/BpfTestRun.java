// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

/** What a program did with a packet in {@link Bpf#testRun(Fd, byte[], int)}. Immutable. */
public final class BpfTestRun {
    private final int result;
    private final long nanos;
    private final byte[] packet;

    BpfTestRun(int result, long nanos, byte[] packet) {
        this.result = result;
        this.nanos = nanos;
        this.packet = packet;
    }

    /** What the program returned, for instance {@link Bpf#XDP_PASS}. */
    public int result() {
        return result;
    }

    /** How long a run took, in nanoseconds, the average of all; some 30 of them are the test's own. */
    public long nanos() {
        return nanos;
    }

    /** The packet after the last run. */
    public byte[] packet() {
        return packet.clone();
    }

    @Override
    public String toString() {
        return "result " + result + " in " + nanos + " ns, " + packet.length + " bytes";
    }
}
