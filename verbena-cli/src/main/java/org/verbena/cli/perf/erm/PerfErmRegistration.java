// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.erm;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.erm.LocalRegion;
import org.verbena.erm.RemoteMemory;
import org.verbena.verbs.AccessFlags;

/**
 * The initiator of {@code erm-reg} and {@code erm-dereg}: memory that Verbena has allocated is registered with all
 * rights, until the other end knows of it, and deregistered, until no copy of either end can access it. One of the two
 * is timed.
 */
final class PerfErmRegistration extends PerfLoop {
    private static final int ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

    private final SocketChannel channel;
    private final RemoteMemory memory;
    private final MemorySegment allocated;
    private final boolean registers;

    PerfErmRegistration(PerfJob job, PerfControl peer, SocketChannel channel, RemoteMemory memory) throws IOException {
        super(peer);
        this.channel = channel;
        this.memory = memory;
        allocated = memory.allocate(job.size(), AccessFlags.LOCAL_WRITE, 0).segment();
        registers = job.test() == PerfTest.ERM_REG;
    }

    @Override
    protected void burst(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            long began = System.nanoTime();
            LocalRegion region = memory.register(allocated, ACCESS);
            if (registers) {
                roundTrip(began);
            }
            began = System.nanoTime();
            region.close();
            if (!registers) {
                roundTrip(began);
            }
        }
    }

    @Override
    public void close() throws IOException {
        memory.close();
        channel.close();
    }

    /** The other end, which has its own thread that answers. */
    static final class Target extends Idle {
        private final SocketChannel channel;
        private final RemoteMemory memory;

        Target(PerfControl peer, SocketChannel channel, RemoteMemory memory) {
            super(peer);
            this.channel = channel;
            this.memory = memory;
        }

        @Override
        public void close() throws IOException {
            memory.close();
            channel.close();
        }
    }
}
