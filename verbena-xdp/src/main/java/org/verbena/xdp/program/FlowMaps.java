// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;

/**
 * The maps that the program and processes share. Thread-safe.
 *
 * <pre>
 * masks     ARRAY         1 value of {@link MaskList}
 * flows     HASH          {@link FlowKey} to {@link FlowEntry}; takes memory for the flows that exist
 * counters  PERCPU_ARRAY  number of a counter to {@link FlowCount}; 0 is none
 * sockets   XSKMAP        target · queues + queue to an AF_XDP socket
 * owners    XSKMAP        number of a process to a socket that it has as long as it lives
 * spreads   HASH          a target to a {@link Spread}; takes memory for those that exist
 * claims    ARRAY         targets, then blocks of {@link CounterPool#BLOCK} counters: who has it, 4 bytes; 0 is nobody
 * </pre>
 */
public final class FlowMaps implements AutoCloseable {
    private static final int MAX_COUNTERS = 1 << 20;
    private static final int MAX_FLOWS = 1 << 24;
    private static final int MAX_SOCKETS = 1 << 16;
    private static final String MASKS = "masks";
    private static final String FLOWS = "flows";
    private static final String COUNTERS = "counters";
    private static final String SOCKETS = "sockets";
    private static final String OWNERS = "owners";
    private static final String CLAIMS = "claims";
    private static final String SPREADS = "spreads";

    private final BpfMap masks;
    private final BpfMap flows;
    private final BpfMap counters;
    private final BpfMap sockets;
    private final BpfMap owners;
    private final BpfMap claims;
    private final BpfMap spreads;
    private final int queues;
    /** Of this process: an update waits until no processor runs a program that has begun before. */
    private final BpfMap waiting;
    private final BpfMap waitingFor;

    /**
     * Makes the maps for an interface.
     *
     * @param capacity how many flows, counters and targets there can be
     * @param queues how many receive queues the interface has; packets of others go to the kernel
     * @throws LinuxException {@code EPERM} (CAP_BPF is missing), {@code ENOMEM}, {@code EMFILE}
     */
    public static FlowMaps create(Capacity capacity, int queues) throws LinuxException {
        Opened opened = new Opened();
        try {
            return new FlowMaps(opened, capacity, queues);
        } catch (LinuxException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    /**
     * How much the maps hold.
     *
     * @param flows 1 to 16777216; a flow takes some 130 bytes while it exists
     * @param counters 1 to 1048575; each takes 16 bytes for each processor, always
     * @param targets 1 to 65536 divided by the queues
     */
    public record Capacity(int flows, int counters, int targets) {
        /** 131072 flows, 8191 counters, 256 targets. */
        public static final Capacity USUAL = new Capacity(1 << 17, (1 << 13) - 1, 256);
    }

    /** Maps of which those that were made are closed if another one cannot be. */
    private static final class Opened {
        private final List<BpfMap> all = new ArrayList<>();

        BpfMap add(BpfMap map) {
            all.add(map);
            return map;
        }

        void close() {
            all.forEach(BpfMap::close);
        }
    }

    private FlowMaps(Opened opened, Capacity capacity, int queues) throws LinuxException {
        if (capacity.flows < 1 || capacity.flows > MAX_FLOWS || capacity.counters < 1
                || capacity.counters >= MAX_COUNTERS || capacity.targets < 1 || queues < 1
                || (long) capacity.targets * queues > MAX_SOCKETS) {
            throw new IllegalArgumentException("maps cannot have " + capacity + " with " + queues + " queues");
        }
        this.queues = queues;
        masks = opened.add(BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, MaskList.BYTES, 1, 0, "verbena_masks"));
        flows = opened.add(BpfMap.create(BpfMap.BPF_MAP_TYPE_HASH, FlowKey.BYTES, FlowEntry.BYTES, capacity.flows,
                BpfMap.BPF_F_NO_PREALLOC, "verbena_flows"));
        counters = opened.add(BpfMap.create(BpfMap.BPF_MAP_TYPE_PERCPU_ARRAY, 4, FlowCount.BYTES, capacity.counters + 1,
                0, "verbena_counts"));
        sockets = opened.add(BpfMap.create(BpfMap.BPF_MAP_TYPE_XSKMAP, 4, 4, capacity.targets * queues, 0,
                "verbena_sockets"));
        owners = opened.add(BpfMap.create(BpfMap.BPF_MAP_TYPE_XSKMAP, 4, 4, FlowEntry.MAX_OWNER + 1, 0,
                "verbena_owners"));
        claims = opened.add(BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 4, capacity.targets + counterBlocks(), 0,
                "verbena_claims"));
        spreads = opened.add(BpfMap.create(BpfMap.BPF_MAP_TYPE_HASH, 4, Spread.BYTES, capacity.targets,
                BpfMap.BPF_F_NO_PREALLOC, "verbena_spreads"));
        waitingFor = opened.add(BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 4, 1));
        waiting = opened.add(BpfMap.createOfMaps(waitingFor, 1, ""));
        masks.update(index(0), MaskList.empty(queues).bytes());
    }

    /** Maps of another process, by their files. */
    private FlowMaps(Opened opened, Path folder) throws LinuxException {
        masks = opened.add(pinned(folder, MASKS, BpfMap.BPF_MAP_TYPE_ARRAY, 4, MaskList.BYTES));
        flows = opened.add(pinned(folder, FLOWS, BpfMap.BPF_MAP_TYPE_HASH, FlowKey.BYTES, FlowEntry.BYTES));
        counters = opened.add(pinned(folder, COUNTERS, BpfMap.BPF_MAP_TYPE_PERCPU_ARRAY, 4, FlowCount.BYTES
                * BpfMap.possibleCpus()));
        sockets = opened.add(pinned(folder, SOCKETS, BpfMap.BPF_MAP_TYPE_XSKMAP, 4, 4));
        owners = opened.add(pinned(folder, OWNERS, BpfMap.BPF_MAP_TYPE_XSKMAP, 4, 4));
        claims = opened.add(pinned(folder, CLAIMS, BpfMap.BPF_MAP_TYPE_ARRAY, 4, 4));
        spreads = opened.add(pinned(folder, SPREADS, BpfMap.BPF_MAP_TYPE_HASH, 4, Spread.BYTES));
        waitingFor = opened.add(BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 4, 1));
        waiting = opened.add(BpfMap.createOfMaps(waitingFor, 1, ""));
        queues = readMasks().queues();
        if (sockets.maxEntries() % queues != 0 || owners.maxEntries() != FlowEntry.MAX_OWNER + 1
                || claims.maxEntries() != targets() + counterBlocks()) {
            throw new LinuxException("open the maps of " + folder, Errno.EBADMSG, "their sizes do not fit together");
        }
    }

    private static BpfMap pinned(Path folder, String name, int type, int keyBytes, int valueBytes)
            throws LinuxException {
        Path path = folder.resolve(name);
        Fd fd = Bpf.open(path);
        try {
            BpfMap map = BpfMap.of(fd);
            if (map.type() == type && map.keyBytes() == keyBytes && map.valueBytes() == valueBytes) {
                return map;
            }
        } catch (LinuxException e) {
            fd.close();
            throw e;
        }
        fd.close();
        throw new LinuxException("open " + path, Errno.EBADMSG, "somebody else's table is there");
    }

    /**
     * The maps that another process has pinned.
     *
     * @throws LinuxException {@code EBADMSG}, {@code EINVAL} (something else is there), {@code ENOENT}, {@code EACCES}
     */
    static FlowMaps open(Path folder) throws LinuxException {
        Opened opened = new Opened();
        try {
            return new FlowMaps(opened, folder);
        } catch (LinuxException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    /** Gives the maps names in a folder of a file system of type bpf. */
    void pin(Path folder) throws LinuxException {
        Bpf.pin(masks.fd(), folder.resolve(MASKS));
        Bpf.pin(flows.fd(), folder.resolve(FLOWS));
        Bpf.pin(counters.fd(), folder.resolve(COUNTERS));
        Bpf.pin(sockets.fd(), folder.resolve(SOCKETS));
        Bpf.pin(owners.fd(), folder.resolve(OWNERS));
        Bpf.pin(claims.fd(), folder.resolve(CLAIMS));
        Bpf.pin(spreads.fd(), folder.resolve(SPREADS));
    }

    /** How many queue pairs packets can go to. */
    int targets() {
        return sockets.maxEntries() / queues;
    }

    int counterBlocks() {
        return (counters.maxEntries() + CounterPool.BLOCK - 1) / CounterPool.BLOCK;
    }

    static byte[] index(int number) {
        return ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(number).array();
    }

    BpfMap masks() {
        return masks;
    }

    BpfMap flows() {
        return flows;
    }

    BpfMap counters() {
        return counters;
    }

    BpfMap sockets() {
        return sockets;
    }

    BpfMap owners() {
        return owners;
    }

    BpfMap claims() {
        return claims;
    }

    BpfMap spreads() {
        return spreads;
    }

    /** How many receive queues the interface had when the maps were made. */
    public int queues() {
        return queues;
    }

    MaskList readMasks() throws LinuxException {
        try {
            return MaskList.of(masks.lookup(index(0)).orElseThrow());
        } catch (IllegalArgumentException e) {
            throw new LinuxException("read the map of masks", Errno.EBADMSG, String.valueOf(e.getMessage()));
        }
    }

    void writeMasks(MaskList list) throws LinuxException {
        masks.update(index(0), list.bytes());
    }

    /**
     * Waits until every run of a program that had begun is over, some 10 ms: the kernel does so when a map of maps is
     * updated.
     */
    void awaitPrograms() throws LinuxException {
        waiting.update(index(0), index(waitingFor.fd().value()));
    }

    /**
     * What a counter has counted on all processors since it was set to 0; each number is exact, and both together are not
     * a snapshot while packets arrive.
     *
     * @param counter 1 or more
     * @throws LinuxException {@code ENOENT} (no such counter)
     */
    public FlowCount read(int counter) throws LinuxException {
        return FlowCount.sum(counters.lookup(index(counter)).orElseThrow(() -> new LinuxException("read(counter "
                + counter + ")", Errno.ENOENT)));
    }

    /**
     * Sets a counter to 0, which no flow may use meanwhile.
     *
     * @param counter 1 or more
     * @throws LinuxException {@code E2BIG} (no such counter)
     */
    public void reset(int counter) throws LinuxException {
        counters.update(index(counter), new byte[counters.valueBytes()]);
    }

    /**
     * Sets where packets go.
     *
     * @param target 0 or more
     * @param queue 0 to one less than {@link #queues}
     * @param socket an AF_XDP socket that is bound to the queue; it leaves the map when it is closed
     * @throws LinuxException {@code E2BIG} (no such target), {@code EBADF}, {@code EOPNOTSUPP} (not such a socket)
     */
    public void redirect(int target, int queue, Fd socket) throws LinuxException {
        if (target < 0 || queue < 0 || queue >= queues) {
            throw new IllegalArgumentException("there is no target " + target + " with a queue " + queue + " of "
                    + queues);
        }
        sockets.update(index(Math.addExact(Math.multiplyExact(target, queues), queue)), index(socket.value()));
    }

    /**
     * Takes a socket out again, if it is still there.
     *
     * @param target as in {@link #redirect}
     * @param queue as there
     */
    public void unredirect(int target, int queue) throws LinuxException {
        sockets.delete(index(target * queues + queue));
    }

    /**
     * Sets how the packets of {@link FlowAction#SPREAD} are spread.
     *
     * @param target of their flows
     * @throws LinuxException {@code ENOMEM}
     */
    public void spread(int target, Spread way) throws LinuxException {
        spreads.update(index(target), way.bytes());
    }

    /** Removes what {@link #spread} has set; no flow has the target any more. */
    public void unspread(int target) throws LinuxException {
        spreads.delete(index(target));
    }

    /** Closes the descriptors; the maps exist for as long as the program does. */
    @Override
    public void close() {
        masks.close();
        flows.close();
        counters.close();
        sockets.close();
        owners.close();
        claims.close();
        spreads.close();
        waiting.close();
        waitingFor.close();
    }
}
