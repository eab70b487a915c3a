// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Bpf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.linux.XdpAttachment;
import org.verbena.testkit.Await;
import org.verbena.testkit.Finished;
import org.verbena.testkit.Jvm;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowFlags;
import org.verbena.verbs.FlowSpec;

/** The program on an interface between two namespaces, beside the kernel's own traffic and other programs. */
class AttachmentTest {
    private static final int CHANGES = 10_000;
    private static final int BUFFER = 64 << 10;
    private static final String SERVER = "10.77.0.1";
    private static final String CLIENT = "10.77.0.2";

    @BeforeAll
    static void needsBpfAndNamespaces() throws Exception {
        Privileges.requireBpf();
        Privileges.requireNamespaces();
    }

    /** How many bytes, and their sum. */
    private record Sum(long bytes, long crc) {}

    @Test
    void kernelTrafficGoesOnWhileFlowsComeAndGo() throws Exception {
        NetworkNamespace.callInNew(() -> {
            traffic();
            return "";
        });
    }

    private static void address(Netlink netlink, String name, String address) throws IOException {
        int index = NetworkLinks.index(netlink, name);
        NetworkAddresses.add(netlink, index, InetAddress.getByName(address), 24);
        NetworkLinks.setUp(netlink, index);
    }

    private static void traffic() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        CompletableFuture<Fd> theirs = new CompletableFuture<>();
        CompletableFuture<Boolean> moved = new CompletableFuture<>();
        CompletableFuture<Sum> sent = new CompletableFuture<>();
        Thread sender = Thread.ofPlatform().daemon().start(() -> {
            try {
                sent.complete(NetworkNamespace.callInNew(() -> {
                    theirs.complete(NetworkNamespace.open());
                    moved.get(60, TimeUnit.SECONDS);
                    try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                        address(netlink, "other", CLIENT);
                    }
                    return send(enough);
                }));
            } catch (Exception e) {
                theirs.completeExceptionally(e);
                sent.completeExceptionally(e);
            }
        });
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
                FlowMaps maps = FlowMaps.create(FlowMaps.Capacity.USUAL, 1);
                Fd program = FlowProgram.load(maps);
                ServerSocketChannel server = ServerSocketChannel.open()) {
            NetworkLinks.createVeth(netlink, "one", "other");
            try (Fd namespace = theirs.get(60, TimeUnit.SECONDS)) {
                NetworkLinks.move(netlink, NetworkLinks.index(netlink, "other"), namespace);
            }
            address(netlink, "one", SERVER);
            server.bind(new InetSocketAddress(InetAddress.getByName(SERVER), 7777));
            moved.complete(true);
            CompletableFuture<Sum> received = new CompletableFuture<>();
            Thread receiver = Thread.ofPlatform().daemon().start(() -> receive(server, received));
            try (Fd link = FlowProgram.attach(program, netlink, NetworkLinks.index(netlink, "one"),
                    Bpf.XDP_FLAGS_SKB_MODE)) {
                assertThat(link.value()).isPositive();
                change(maps, enough);
            } finally {
                enough.set(true);
            }
            Sum all = sent.get(100, TimeUnit.SECONDS);
            assertThat(received.get(100, TimeUnit.SECONDS)).isEqualTo(all);
            assertThat(all.bytes).isPositive();
            sender.join();
            receiver.join();
            System.out.println(CHANGES + " flows beside " + (all.bytes >> 20) + " MiB of the kernel's TCP");
        }
    }

    /** Flows that take everything but this connection, and one that watches it, which must have seen it. */
    private static void change(FlowMaps maps, AtomicBoolean enough) throws Exception {
        FlowTable table = new FlowTable(maps);
        FlowAttributes watched = FlowAttributes.builder().flags(FlowFlags.DONT_TRAP).spec(FlowSpec.tcp().match(
                FlowField.DESTINATION_PORT, 7777)).build();
        try (FlowTable.Entry watch = table.add(FlowMatch.of(watched), new FlowEntry(FlowAction.COUNT, 0, 1, 0))) {
            Random random = new Random(1);
            for (int i = 0; i < CHANGES; i++) {
                FlowSpec ports = FlowSpec.tcp().match(FlowField.SOURCE_PORT, 1 + random.nextInt(1000)).match(
                        FlowField.DESTINATION_PORT, 1 + random.nextInt(7000));
                FlowMatch match = FlowMatch.of(FlowAttributes.builder().priority(i % 2000 == 0 ? 1 + i / 2000 : 0).spec(
                        FlowSpec.ipv4()).spec(ports).build());
                try (FlowTable.Entry flow = table.add(match, new FlowEntry(FlowAction.DROP, 0, 2, 0))) {
                    assertThat(flow).isNotNull();
                }
            }
            Await.until("the transfer goes on", () -> maps.read(1).packets() > 100);
            enough.set(true);
            assertThat(watch.toString()).startsWith("flow ");
        }
        assertThat(maps.read(2)).isEqualTo(new FlowCount(0, 0));
        assertThat(table.size()).isZero();
        assertThat(table.lookups()).isZero();
    }

    private static Sum send(AtomicBoolean enough) throws IOException {
        CRC32C crc = new CRC32C();
        long bytes = 0;
        try (SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getByName(SERVER), 7777))) {
            Random random = new Random(2);
            byte[] data = new byte[BUFFER];
            while (!enough.get()) {
                random.nextBytes(data);
                crc.update(data);
                ByteBuffer buffer = ByteBuffer.wrap(data);
                while (buffer.hasRemaining()) {
                    bytes += channel.write(buffer);
                }
            }
        }
        return new Sum(bytes, crc.getValue());
    }

    private static void receive(ServerSocketChannel server, CompletableFuture<Sum> result) {
        CRC32C crc = new CRC32C();
        long bytes = 0;
        try (SocketChannel channel = server.accept()) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
            while (channel.read(buffer) >= 0) {
                buffer.flip();
                bytes += buffer.remaining();
                crc.update(buffer);
                buffer.clear();
            }
            result.complete(new Sum(bytes, crc.getValue()));
        } catch (IOException e) {
            result.completeExceptionally(e);
        }
    }

    @Test
    void killedProcessTakesItsProgramAlongAndIsNamedBefore() throws Exception {
        NetworkNamespace.callInNew(() -> {
            try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
                NetworkLinks.createVeth(netlink, "one", "other");
                kill(netlink, NetworkLinks.index(netlink, "one"));
            }
            return "";
        });
    }

    /** The folder of the tests' classes, and those of the modules. */
    private static String classPath() throws URISyntaxException {
        URI here = Objects.requireNonNull(AttachmentTest.class.getResource("AttachmentTest.class")).toURI();
        Path folder = Path.of(here);
        for (int i = AttachmentTest.class.getName().split("\\.", -1).length; i > 0; i--) {
            folder = Objects.requireNonNull(folder.getParent());
        }
        return String.join(":", List.of(folder.toString(), Jvm.classesOf(FlowProgram.class).toString(), Jvm.classesOf(
                Bpf.class).toString(), Jvm.classesOf(FlowSpec.class).toString()));
    }

    @Test
    void processWithoutCapabilitiesIsToldWhichItNeeds() throws Exception {
        List<String> command = new ArrayList<>(List.of("setpriv", "--bounding-set", "-all", "--inh-caps", "-all"));
        command.addAll(other("lo"));
        assertThat(Finished.run(command).output()).contains("EPERM (Operation not permitted); ").contains("CAP_BPF");
    }

    private static List<String> other(String name) throws URISyntaxException {
        return Jvm.command(Jvm.NATIVE_ON_CLASS_PATH, "-cp", classPath(), AttachedProgram.class.getName(), name);
    }

    private static void kill(Netlink netlink, int one) throws Exception {
        List<String> command = other("one");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (BufferedReader out = process.inputReader();
                FlowMaps maps = FlowMaps.create(new FlowMaps.Capacity(1, 1, 1),
                        1);
                Fd program = FlowProgram.load(maps)) {
            assertThat(out.readLine()).startsWith("attached ");
            XdpAttachment attached = XdpAttachment.of(netlink, one).orElseThrow();
            assertThat(attached.name()).isEqualTo(FlowProgram.NAME);
            for (int mode : new int[] {Bpf.XDP_FLAGS_SKB_MODE, Bpf.XDP_FLAGS_DRV_MODE}) {
                assertThatThrownBy(() -> FlowProgram.attach(program, netlink, one, mode)).isInstanceOfSatisfying(
                        LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY)).hasMessageContaining(
                                "XDP program " + attached.program() + " \"verbena_flows\" (generic, loaded by user 0, "
                                        + "held by process " + process.pid() + ") already");
            }
            assertThat(XdpAttachment.of(netlink, one)).as("left alone").contains(attached);
            process.destroyForcibly(); // SIGKILL
            process.waitFor();
            Await.until("the program leaves with the process", () -> XdpAttachment.of(netlink, one).isEmpty());
            FlowProgram.attach(program, netlink, one, Bpf.XDP_FLAGS_SKB_MODE).close();
        } finally {
            process.destroyForcibly();
        }
    }
}
