// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Mapping;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.linux.Xsk;

/**
 * Sends a packet through AF_XDP: between the two interfaces of a veth pair in a network namespace that is created for
 * it and disappears with it. The interfaces of the machine are not touched.
 */
final class DoctorXdp {
    private static final int CHUNK = 4096;
    private static final int CHUNKS = 8;
    private static final int RING = 8;
    private static final int PACKET = 64;
    private static final long PATIENCE_NANOS = 5_000_000_000L;
    private static final List<String> CAPABILITIES = List.of("NET_RAW", "NET_ADMIN", "BPF");

    private DoctorXdp() {}

    static DoctorFinding run() throws Exception {
        try {
            return DoctorFinding.ok(NetworkNamespace.callInNew(DoctorXdp::exchange));
        } catch (LinuxException e) {
            return isUnshare(e) ? withoutNamespace(e) : DoctorFinding.failed(e, remedy(e));
        }
    }

    /** In a second process, in a user namespace that was created for it: it creates no further one. */
    static DoctorFinding runInUserNamespace() throws Exception {
        try {
            return DoctorFinding.ok(NetworkNamespace.callInNew(DoctorXdp::exchange));
        } catch (LinuxException e) {
            return DoctorFinding.failed(e, remedy(e));
        }
    }

    private static boolean isUnshare(LinuxException e) {
        return DoctorHost.isForbidden(e) && e.call().startsWith("unshare");
    }

    private static String remedy(LinuxException e) {
        return switch (e.errno()) {
            case Errno.EPERM, Errno.EACCES -> DoctorHost.grant(CAPABILITIES);
            case Errno.EAFNOSUPPORT -> "use a kernel with CONFIG_XDP_SOCKETS";
            case Errno.ENOBUFS -> "ulimit -l unlimited, or CAP_IPC_LOCK: the memory of its packets is locked";
            default -> "use a newer kernel (5.9), with CONFIG_XDP_SOCKETS, CONFIG_BPF_SYSCALL and CONFIG_VETH";
        };
    }

    /** Where no namespace can be created: the checks that need no interface. */
    private static DoctorFinding withoutNamespace(LinuxException why) throws Exception {
        String tried = why.getMessage() + "; ";
        try (Xsk socket = socket(Mapping.anonymous((long) CHUNK * CHUNKS));
                BpfMap sockets = BpfMap.create(BpfMap.BPF_MAP_TYPE_XSKMAP, 4, 4, 1);
                Fd program = load(sockets)) {
            return DoctorFinding.limited(tried + "a socket, a map and a program were made (" + socket.fd() + ", "
                    + program + "), and no packet was sent", "only with CAP_SYS_ADMIN can it be tried wholly without"
                            + " touching the machine's interfaces");
        } catch (LinuxException e) {
            return DoctorFinding.no(tried + e.getMessage() + "; " + inUserNamespace(), remedy(e));
        }
    }

    /** Whether the kernel supports it, if the user were permitted: the same in a user namespace of a second process. */
    private static String inUserNamespace() throws InterruptedException {
        String begin = "in a user namespace of its own: ";
        try {
            return begin + DoctorChild.finding(DoctorChild.ask(List.of("unshare", "--user", "--map-root-user"), "xdp",
                    DoctorCommand.CHILD_LIMIT)).evidence();
        } catch (IOException e) {
            return begin + "not tried (" + DoctorFinding.sentence(e) + ")";
        }
    }

    private static Xsk socket(Mapping memory) throws LinuxException {
        return Xsk.open(memory, CHUNK, RING);
    }

    /** Hands every packet to the socket of its queue, if there is one: {@code redirect_map(sockets, queue, XDP_PASS)}. */
    private static Fd load(BpfMap sockets) throws LinuxException {
        return Bpf.load(Bpf.BPF_PROG_TYPE_XDP, new long[] {
            Bpf.instruction(0x61, 2, 1, 16, 0), // r2 = ctx->rx_queue_index
            Bpf.instruction(0x18, 1, 1, 0, sockets.fd().value()), // r1 = the map of that descriptor
            0,
            Bpf.instruction(0xb7, 3, 0, 0, Bpf.XDP_PASS),
            Bpf.instruction(0x85, 0, 0, 0, 51),
            Bpf.instruction(0x95, 0, 0, 0, 0)}, "Apache-2.0");
    }

    /** In the new namespace. Everything in it disappears with its last descriptor, whatever happens here. */
    private static String exchange() throws Exception {
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            NetworkLinks.createVeth(netlink, "doctor0", "doctor1");
            int from = NetworkLinks.index(netlink, "doctor0");
            int to = NetworkLinks.index(netlink, "doctor1");
            NetworkLinks.setUp(netlink, from);
            NetworkLinks.setUp(netlink, to);
            Mapping memoryFrom = Mapping.anonymous((long) CHUNK * CHUNKS);
            Mapping memoryTo = Mapping.anonymous((long) CHUNK * CHUNKS);
            try (Xsk sender = socket(memoryFrom); Xsk receiver = socket(memoryTo)) {
                sender.bind(from, 0, Xsk.XDP_COPY);
                receiver.bind(to, 0, Xsk.XDP_COPY);
                for (int i = 0; i < CHUNKS; i++) {
                    receiver.fill((long) i * CHUNK);
                }
                return exchange(sender, memoryFrom.segment(), receiver, to);
            } finally {
                NetworkLinks.delete(netlink, from);
            }
        }
    }

    private static String exchange(Xsk sender, MemorySegment memory, Xsk receiver, int to) throws IOException {
        try (BpfMap sockets = BpfMap.create(BpfMap.BPF_MAP_TYPE_XSKMAP, 4, 4, 1); Fd program = load(sockets)) {
            sockets.update(new byte[4], ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(receiver.fd()
                    .value()).array());
            try (Attachment a = attach(program, to)) {
                exchange(sender, memory, receiver);
                return "a packet of " + PACKET + " bytes went through two sockets on a pair of veth in a private"
                        + " namespace; XDP program in " + a.mode() + " mode, copying";
            }
        } catch (LinuxException e) {
            throw new LinuxException("two sockets were bound to a pair of veth; " + e.call(), e.errno());
        }
    }

    private record Attachment(Fd link, String mode) implements AutoCloseable {
        @Override
        public void close() {
            link.close();
        }
    }

    private static Attachment attach(Fd program, int ifindex) throws LinuxException {
        try {
            return new Attachment(Bpf.attach(program, ifindex, Bpf.XDP_FLAGS_DRV_MODE), "native");
        } catch (LinuxException e) {
            if (DoctorHost.isForbidden(e)) {
                throw e;
            }
            return new Attachment(Bpf.attach(program, ifindex, Bpf.XDP_FLAGS_SKB_MODE), "generic");
        }
    }

    private static void exchange(Xsk sender, MemorySegment memory, Xsk receiver) throws IOException {
        byte[] packet = packet();
        MemorySegment.copy(packet, 0, memory, ValueLayout.JAVA_BYTE, 0, packet.length);
        if (!sender.transmit(0, packet.length)) {
            throw new DoctorChild.Failed("an empty transmit ring is full");
        }
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        int error = sender.kick();
        while (System.nanoTime() < deadline) {
            MemorySegment received = receiver.receive();
            if (received == null) {
                if (error == Errno.EAGAIN || error == Errno.ENETDOWN) { // the interfaces have just been switched on
                    error = sender.kick();
                }
                LockSupport.parkNanos(100_000);
            } else if (received.asByteBuffer().equals(ByteBuffer.wrap(packet))) {
                return;
            }
        }
        throw new LinuxException("a packet sent through AF_XDP", error == 0 ? Errno.ETIMEDOUT : error);
    }

    /** An Ethernet broadcast frame of an experimental type. */
    private static byte[] packet() {
        ByteBuffer p = ByteBuffer.allocate(PACKET);
        p.putShort((short) 0xffff).putInt(0xffffffff).putShort((short) 0x0200).putInt(1).putShort((short) 0x88b5);
        p.put("verbena doctor".getBytes(StandardCharsets.US_ASCII));
        return p.array();
    }
}
