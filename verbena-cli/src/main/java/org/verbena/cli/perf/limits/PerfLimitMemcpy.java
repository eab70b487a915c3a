// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.limits;

import java.lang.foreign.MemorySegment;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;

/**
 * {@code limit-memcpy}: one core copies between buffers of the same kind, number and distance as the bandwidth tests
 * use.
 */
public final class PerfLimitMemcpy extends PerfLoop {
    private final MemorySegment memory;
    private final long size;
    private final long stride;
    private final long second;
    private final int slots;
    private int slot;

    public PerfLimitMemcpy(PerfJob job, PerfControl peer) throws LinuxException {
        super(peer);
        size = job.size();
        stride = job.stride();
        slots = job.slots();
        second = slots * stride;
        long bytes = 2 * second;
        try (Fd fd = Memfd.create("verbena-memcpy", bytes)) {
            memory = Mapping.map(fd, 0, bytes, true).segment();
        }
        memory.fill((byte) 1);
    }

    @Override
    protected void burst(int n) {
        for (int i = 0; i < n; i++) {
            long offset = slot * stride;
            MemorySegment.copy(memory, offset, memory, second + offset, size);
            slot = slot + 1 == slots ? 0 : slot + 1;
        }
    }
}
