// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.limits;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.perf.run.PerfControl;
import org.verbena.cli.perf.run.PerfFields;
import org.verbena.cli.perf.run.PerfJob;
import org.verbena.cli.perf.run.PerfLoop;
import org.verbena.cli.perf.run.PerfPattern;
import org.verbena.cli.perf.run.PerfTest;
import org.verbena.cli.support.CommandException;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Memfd;
import org.verbena.linux.Sys;

/**
 * {@code limit-cacheline} and {@code limit-twoline}: the time that the machine itself needs to carry 8 bytes there and
 * back, or 64 bytes and a commit word. The memory is a memory file that both processes map:
 *
 * <pre>
 *   0  payload to the target, 64 bytes     64  its commit word
 * 512  payload to the initiator           576  its commit word
 * </pre>
 */
public final class PerfLimitLatency extends PerfLoop {
    private static final String NAME = "verbena-perf";
    private static final int BYTES = 4096;
    private static final long THERE = 0;
    private static final long BACK = 512;
    private static final long COMMIT = 64;
    private static final int PAYLOAD = 64;

    private final MemorySegment shared;
    private final @Nullable Fd file;
    private final boolean initiator;
    private final boolean payload;
    private final long mine;
    private final long other;
    private final MemorySegment local = Arena.ofAuto().allocate(2 * PAYLOAD, 64);
    private long number;

    private PerfLimitLatency(PerfJob job, PerfControl peer, MemorySegment shared, @Nullable Fd file) {
        super(peer);
        this.shared = shared;
        this.file = file;
        this.initiator = file == null;
        this.payload = job.test() == PerfTest.LIMIT_TWOLINE;
        this.mine = initiator ? THERE : BACK;
        this.other = initiator ? BACK : THERE;
    }

    /** The side that creates the memory. */
    public static PerfLimitLatency target(PerfJob job, PerfControl peer) throws LinuxException {
        Fd fd = Memfd.create(NAME, BYTES);
        Memfd.addSeals(fd, Memfd.SEAL_SHRINK | Memfd.SEAL_GROW);
        return new PerfLimitLatency(job, peer, Mapping.map(fd, 0, BYTES, true).segment(), fd);
    }

    /** The side that maps the memory of the peer, which {@link #describe()} described. */
    public static PerfLimitLatency initiator(PerfJob job, PerfControl peer, PerfFields told) throws IOException {
        Path path = Path.of("/proc/" + told.number("pid", 1, Integer.MAX_VALUE) + "/fd/"
                + told.number("fd", 0, Integer.MAX_VALUE));
        try {
            // Whatever the peer sent, only a file of this name is ever written.
            if (!Files.readSymbolicLink(path).toString().startsWith("/memfd:" + NAME + " ")) {
                throw new CommandException(path + " is not the peer's memory");
            }
            try (FileChannel c = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                if (c.size() != BYTES) {
                    throw new CommandException(path + " is not the peer's memory");
                }
                return new PerfLimitLatency(job, peer, c.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, Arena.ofAuto()),
                        null);
            }
        } catch (java.nio.file.FileSystemException e) {
            throw new CommandException(job.test().title() + " needs the peer's memory, but " + path
                    + " cannot be opened: both must run as the same user in the same container", e);
        }
    }

    public String describe() {
        return "pid=" + Sys.pid() + " fd=" + (file == null ? -1 : file.value());
    }

    @Override
    protected void burst(int n) throws IOException {
        if (payload) {
            twoLines(n);
        } else {
            oneLine(n);
        }
    }

    private void oneLine(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            long k = ++number;
            if (initiator) {
                PerfPattern.LONG.setRelease(shared, mine, k);
                await(other, k);
                roundTrip();
            } else {
                await(other, k);
                PerfPattern.LONG.setRelease(shared, mine, k);
            }
        }
    }

    private void twoLines(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            long k = ++number;
            if (initiator) {
                push(k);
                pull(k);
                roundTrip();
            } else {
                pull(k);
                push(k);
            }
        }
    }

    private void push(long k) {
        MemorySegment.copy(local, 0, shared, mine, PAYLOAD);
        PerfPattern.LONG.setRelease(shared, mine + COMMIT, k);
    }

    private void pull(long k) throws IOException {
        await(other + COMMIT, k);
        MemorySegment.copy(shared, other, local, PAYLOAD, PAYLOAD);
    }

    private void await(long at, long k) throws IOException {
        long turns = 0;
        while ((long) PerfPattern.LONG.getAcquire(shared, at) != k) {
            turns = peer.spin(turns);
        }
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
        }
    }
}
