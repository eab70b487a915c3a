// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Capabilities;
import org.verbena.testkit.Finished;
import org.verbena.testkit.TapInterface;
import org.verbena.tests.NetworkLane;
import org.verbena.tests.faults.Users;

/** {@code verbena netcat} as a process of its own, and the kernel's sockets at the other end of a TAP interface. */
@NetworkLane
class NetcatCommandTest {
    private static final String KERNEL = "10.83.0.1";
    private static final String OURS = "10.83.0.2";
    /** An address that no host of the link has. */
    private static final String NOBODY = "10.83.0.77";
    private static final String DEVICE = "tap_vrb0";
    private static final int PATIENCE = 60_000;
    private static final int THERE = 5_000_000;
    private static final int BACK = 4_000_000;

    @TempDir Path dir;

    private interface Action {
        void run() throws Exception;
    }

    private static void inNamespace(Action action) throws Exception {
        Users.needsRoot("make network interfaces");
        TapInterface.require();
        CommandProcess.prepare();
        NetworkNamespace.callInNew(() -> {
            TapInterface.addUp("vrb0", KERNEL + "/24");
            action.run();
            return true;
        });
    }

    /** Starts it without input, waits for its end, and answers what it has said and written. */
    private static String run(int code, String... arguments) throws Exception {
        try (NetcatProcess n = NetcatProcess.start(Redirect.from(new File("/dev/null")), Redirect.PIPE, arguments)) {
            String said = n.end(code);
            return n.output() + said;
        }
    }

    private static <T> FutureTask<T> inParallel(Callable<T> c) {
        FutureTask<T> t = new FutureTask<>(c);
        Thread.ofPlatform().daemon().start(t);
        return t;
    }

    private static ServerSocket listen() throws IOException {
        ServerSocket s = new ServerSocket();
        s.setSoTimeout(PATIENCE);
        s.bind(new InetSocketAddress(KERNEL, 0));
        return s;
    }

    private static String port(ServerSocket s) {
        return Integer.toString(s.getLocalPort());
    }

    /** Files go both ways at once. */
    private void exchange(Socket s, Path back, Path received) throws Exception {
        s.setSoTimeout(PATIENCE);
        FutureTask<Long> reading = inParallel(() -> Files.copy(s.getInputStream(), received));
        Files.copy(back, s.getOutputStream());
        s.shutdownOutput();
        assertThat(reading.get()).isEqualTo(THERE);
    }

    private void bytesGoBothWays(boolean listens) throws Exception {
        Path there = CopyFiles.write(dir.resolve("there"), THERE, 1);
        Path back = CopyFiles.write(dir.resolve("back"), BACK, 2);
        Path out = dir.resolve("out");
        Path received = dir.resolve("received");
        inNamespace(() -> {
            Redirect in = Redirect.from(there.toFile());
            if (listens) {
                try (NetcatProcess n = NetcatProcess.start(in, Redirect.to(out.toFile()), "-l", "-v", DEVICE, OURS
                        + "/24", "77")) {
                    n.awaitListening(OURS, "vrb0");
                    try (Socket s = new Socket(OURS, 77)) {
                        exchange(s, back, received);
                    }
                    assertThat(n.end(0)).startsWith("verbena: connection from " + KERNEL + ":");
                }
            } else {
                try (ServerSocket server = listen();
                        NetcatProcess n = NetcatProcess.start(in, Redirect.to(out.toFile()), DEVICE, OURS
                                + "/24", KERNEL, port(server));
                        Socket s = server.accept()) {
                    exchange(s, back, received);
                    assertThat(n.end(0)).isEmpty();
                }
            }
        });
        assertThat(CopyFiles.sha256(received)).isEqualTo(CopyFiles.sha256(there));
        assertThat(CopyFiles.sha256(out)).isEqualTo(CopyFiles.sha256(back));
    }

    @Test
    void connectsAndCarriesBytesBothWays() throws Exception {
        bytesGoBothWays(false);
    }

    @Test
    void listensAndCarriesBytesBothWays() throws Exception {
        bytesGoBothWays(true);
    }

    /** The same over IPv6, with the kernel as its neighbour. */
    @Test
    void ipv6CarriesBytesBothWays() throws Exception {
        Path there = CopyFiles.write(dir.resolve("there"), THERE, 5);
        Path back = CopyFiles.write(dir.resolve("back"), BACK, 6);
        Path out = dir.resolve("out");
        Path received = dir.resolve("received");
        inNamespace(() -> {
            TapInterface.ip("address", "add", "fd00:83::1/64", "dev", "vrb0", "nodad");
            try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getByName("fd00:83::1"));
                    NetcatProcess n = NetcatProcess.start(Redirect.from(there.toFile()), Redirect.to(out.toFile()),
                            DEVICE,
                            "fd00:83::2/64", "fd00:83::1", port(server));
                    Socket s = server.accept()) {
                exchange(s, back, received);
                assertThat(n.end(0)).isEmpty();
            }
        });
        assertThat(CopyFiles.sha256(received)).isEqualTo(CopyFiles.sha256(there));
        assertThat(CopyFiles.sha256(out)).isEqualTo(CopyFiles.sha256(back));
    }

    /** A peer that has sent all still gets the input up to its end. */
    @Test
    void inputGoesOnAfterThePeersEnd() throws Exception {
        Path there = CopyFiles.write(dir.resolve("there"), THERE, 3);
        inNamespace(() -> {
            try (ServerSocket server = listen();
                    NetcatProcess n = NetcatProcess.start(Redirect.from(there.toFile()), Redirect.PIPE,
                            DEVICE, OURS + "/24", KERNEL, port(server));
                    Socket s = server.accept()) {
                s.shutdownOutput();
                assertThat(s.getInputStream().readAllBytes()).isEqualTo(Files.readAllBytes(there));
                n.end(0);
                assertThat(n.output()).isEmpty();
            }
        });
    }

    @Test
    void endsWhenThePeerCloses() throws Exception {
        inNamespace(() -> {
            try (ServerSocket server = listen();
                    NetcatProcess n = NetcatProcess.start(DEVICE, OURS + "/24", KERNEL, port(server))) {
                try (Socket s = server.accept()) {
                    n.write("a question\n");
                    assertThat(s.getInputStream().readNBytes(11)).asString(StandardCharsets.UTF_8).isEqualTo(
                            "a question\n");
                    s.getOutputStream().write("an answer".getBytes(StandardCharsets.UTF_8));
                }
                n.end(0); // its input is still open
                assertThat(n.output()).isEqualTo("an answer");
            }
        });
    }

    /** What has come before the reset is written. */
    @Test
    void aResetIsSaid() throws Exception {
        inNamespace(() -> {
            try (ServerSocket server = listen();
                    NetcatProcess n = NetcatProcess.start(DEVICE, OURS + "/24", KERNEL, port(server))) {
                try (Socket s = server.accept(); InputStream in = n.process().getInputStream()) {
                    s.getOutputStream().write('x');
                    assertThat(in.read()).isEqualTo('x');
                    s.setSoLinger(true, 0);
                }
                assertThat(n.end(1)).startsWith("verbena: ").contains(KERNEL, "reset by the peer");
            }
        });
    }

    @Test
    void aStoppedOneResetsItsConnection() throws Exception {
        inNamespace(() -> {
            try (ServerSocket server = listen();
                    NetcatProcess n = NetcatProcess.start(DEVICE, OURS + "/24", KERNEL, port(server));
                    Socket s = server.accept()) {
                s.setSoTimeout(PATIENCE);
                n.process().toHandle().destroy(); // that of the process closes its input before
                assertThatThrownBy(() -> s.getInputStream().read()).isInstanceOf(SocketException.class)
                        .hasMessageContaining("reset");
                assertThat(n.end(128 + 15)).isEmpty();
            }
        });
    }

    private static String receive(DatagramSocket s, DatagramPacket p) throws IOException {
        s.receive(p);
        return new String(p.getData(), 0, p.getLength(), StandardCharsets.UTF_8);
    }

    private static DatagramPacket packet() {
        return new DatagramPacket(new byte[20_000], 20_000);
    }

    private static DatagramPacket packet(String text, InetSocketAddress to) {
        byte[] b = text.getBytes(StandardCharsets.UTF_8);
        return new DatagramPacket(b, b.length, to);
    }

    @Test
    void datagramsGoBothWays() throws Exception {
        inNamespace(() -> {
            try (DatagramSocket kernel = new DatagramSocket(new InetSocketAddress(KERNEL, 0));
                    NetcatProcess n = NetcatProcess.start("-u", "-w", "2", DEVICE, OURS + "/24", KERNEL, Integer
                            .toString(kernel
                                    .getLocalPort()))) {
                kernel.setSoTimeout(PATIENCE);
                DatagramPacket p = packet();
                n.write("one");
                assertThat(receive(kernel, p)).isEqualTo("one");
                assertThat(p.getAddress()).isEqualTo(InetAddress.getByName(OURS));
                kernel.send(packet("first ", (InetSocketAddress) p.getSocketAddress()));
                kernel.send(packet("second", (InetSocketAddress) p.getSocketAddress()));
                String large = "x".repeat(10_000);
                n.write(large);
                assertThat(receive(kernel, packet())).isEqualTo(large);
                n.end(0);
                assertThat(n.output()).isEqualTo("first second");
            }
        });
    }

    @Test
    void listensForDatagramsOfOnePeer() throws Exception {
        inNamespace(() -> {
            try (DatagramSocket kernel = new DatagramSocket(new InetSocketAddress(KERNEL, 0));
                    DatagramSocket other = new DatagramSocket(new InetSocketAddress(KERNEL, 0));
                    NetcatProcess n = NetcatProcess.start("-u", "-l", "-v", "-w", "2", DEVICE, OURS + "/24", "9")) {
                n.awaitListening(OURS, "vrb0");
                kernel.setSoTimeout(PATIENCE);
                InetSocketAddress to = new InetSocketAddress(OURS, 9);
                kernel.send(packet("one", to));
                assertThat(n.err().readLine()).isEqualTo("verbena: datagrams from " + KERNEL + ":" + kernel
                        .getLocalPort());
                other.send(packet("not this", to));
                kernel.send(packet(" two", to));
                n.write("answer");
                assertThat(receive(kernel, packet())).isEqualTo("answer");
                n.end(0);
                assertThat(n.output()).isEqualTo("one two");
            }
        });
    }

    @Test
    void silenceEndsAConnection() throws Exception {
        inNamespace(() -> {
            try (ServerSocket server = listen();
                    NetcatProcess n = NetcatProcess.start("-w", "1", DEVICE, OURS + "/24", KERNEL, port(
                            server));
                    Socket s = server.accept()) {
                assertThat(s.isConnected()).isTrue();
                assertThat(n.end(0)).isEmpty();
            }
        });
    }

    @Test
    void portsAreChecked() throws Exception {
        inNamespace(() -> {
            try (ServerSocket server = listen();
                    DatagramSocket udp = new DatagramSocket(new InetSocketAddress(KERNEL,
                            0))) {
                assertThat(run(0, "-z", DEVICE, OURS + "/24", KERNEL, port(server))).isEqualTo(KERNEL + ":" + port(
                        server) + " is open\n");
                int first = server.getLocalPort();
                assertThat(run(0, "-z", DEVICE, OURS + "/24", KERNEL, first + "-" + Math.min(first + 2, 65_535)))
                        .startsWith(KERNEL + ":" + first + " is open\n");
                assertThat(run(0, "-z", "-u", "-w", "1", DEVICE, OURS + "/24", KERNEL, Integer.toString(udp
                        .getLocalPort()))).isEqualTo(KERNEL + ":" + udp.getLocalPort() + " does not refuse\n");
            }
            assertThat(run(1, "-z", DEVICE, OURS + "/24", KERNEL, "1")).isEqualTo("verbena: " + KERNEL
                    + ":1 refuses: nobody listens there");
            assertThat(run(1, "-z", DEVICE, OURS + "/24", KERNEL, "1-3")).isEqualTo("verbena: none of the ports 1-3 of "
                    + KERNEL + " is open");
            assertThat(run(1, "-z", "-u", DEVICE, OURS + "/24", KERNEL, "1")).isEqualTo("verbena: " + KERNEL
                    + ":1 refuses: nobody listens there");
        });
    }

    @Test
    void whatCannotBeDoneIsSaid() throws Exception {
        inNamespace(() -> {
            assertThat(run(1, DEVICE, OURS + "/24", KERNEL, "1")).isEqualTo("verbena: " + KERNEL
                    + ":1 refuses: nobody listens there");
            assertThat(run(1, "-w", "1", DEVICE, OURS + "/24", NOBODY, "1")).isEqualTo("verbena: " + NOBODY
                    + ":1 has not answered for 1 second");
            assertThat(run(1, DEVICE, OURS + "/24", "192.0.2.1", "1")).startsWith("verbena: no way to").contains(
                    "no gateway");
            assertThat(run(1, "tap_nothing", OURS + "/24", KERNEL, "1")).startsWith("verbena: ").contains(
                    "tap_nothing", "the devices are");
            assertThat(run(1, "shm0", OURS + "/24", KERNEL, "1")).startsWith("verbena: ").contains("raw packets");
        });
    }

    /** Lines of what tshark says about the frames of a file that a filter lets pass. */
    private static List<String> tshark(Path file, String filter, String field) throws Exception {
        Finished f = Finished.run(new ProcessBuilder("tshark", "-n", "-r", file.toString(), "-Y", filter, "-T",
                "fields", "-e", field).redirectErrorStream(false));
        assertThat(f.code()).as(f.output()).isZero();
        return f.output().lines().filter(l -> l.matches("[0-9]+")).toList();
    }

    /** Nothing in a file is malformed, and it has frames of a protocol. */
    private static void assertIntact(Path file, String protocol) throws Exception {
        Capabilities.requireProgram("tshark", "tshark");
        assertThat(tshark(file, "_ws.malformed || _ws.expert.severity == error", "frame.number")).isEmpty();
        assertThat(tshark(file, protocol, "frame.number")).isNotEmpty();
    }

    @Test
    void framesOfAConnectionAreCaptured() throws Exception {
        Path there = CopyFiles.write(dir.resolve("there"), THERE, 1);
        Path back = CopyFiles.write(dir.resolve("back"), BACK, 2);
        Path received = dir.resolve("received");
        Path frames = dir.resolve("frames.pcap");
        inNamespace(() -> {
            try (ServerSocket server = listen();
                    NetcatProcess n = NetcatProcess.start(Redirect.from(there.toFile()), Redirect.to(
                            new File("/dev/null")), "-v", "--capture", frames.toString(), DEVICE, OURS + "/24", KERNEL,
                            port(
                                    server));
                    Socket s = server.accept()) {
                exchange(s, back, received);
                assertThat(n.end(0)).contains(" frames in " + frames);
            }
        });
        assertIntact(frames, "tcp");
        assertThat(bytes(frames, OURS)).isEqualTo(THERE);
        assertThat(bytes(frames, KERNEL)).isEqualTo(BACK);
        assertThat(tshark(frames, "tcp.flags.fin == 1", "frame.number")).hasSizeGreaterThanOrEqualTo(2);
        assertThat(tshark(frames, "frame.len != frame.cap_len || ip.len + 14 > frame.len", "frame.number")).isEmpty();
    }

    /** Payload of TCP that an end has sent, without what came again. */
    private static long bytes(Path frames, String from) throws Exception {
        return tshark(frames, "ip.src == " + from + " && !tcp.analysis.retransmission", "tcp.len").stream().mapToLong(
                Long::parseLong).sum();
    }

    @Test
    void datagramsAreCapturedUpToARefusal() throws Exception {
        Path frames = dir.resolve("frames.pcap");
        inNamespace(() -> run(1, "-z", "-u", "--capture", frames.toString(), DEVICE, OURS + "/24", KERNEL, "1"));
        assertIntact(frames, "udp");
        assertThat(tshark(frames, "icmp.type == 3 && icmp.code == 3", "frame.number")).hasSize(1);
        assertThat(tshark(frames, "arp", "frame.number")).isNotEmpty();
    }

    /** A limit of the file's size in place of a full disk. The connection goes on, and what is there is whole. */
    @Test
    void aFullDiskEndsTheCaptureAlone() throws Exception {
        Path there = CopyFiles.write(dir.resolve("there"), 6L * THERE, 1);
        Path frames = dir.resolve("frames.pcap");
        inNamespace(() -> {
            try (ServerSocket server = listen();
                    NetcatProcess n = NetcatProcess.start(List.of("prlimit", "--fsize=8388608"), Redirect
                            .from(there.toFile()), Redirect.PIPE, "--capture", frames.toString(), DEVICE, OURS + "/24",
                            KERNEL,
                            port(server));
                    Socket s = server.accept()) {
                s.setSoTimeout(PATIENCE);
                assertThat(s.getInputStream().readAllBytes()).isEqualTo(Files.readAllBytes(there));
                s.close();
                assertThat(n.end(0)).startsWith("verbena: packets cannot be written to " + frames).contains(
                        "later ones are not");
            }
        });
        assertThat(Files.size(frames)).isBetween(6_000_000L, 8_388_608L);
        assertIntact(frames, "tcp");
    }

    @Test
    void wrongUsageIsRefused() {
        List<List<String>> wrong = new ArrayList<>();
        wrong.add(List.of(DEVICE));
        wrong.add(List.of(DEVICE, OURS + "/24", "80"));
        wrong.add(List.of(DEVICE, OURS, KERNEL, "80"));
        wrong.add(List.of(DEVICE, OURS + "/24", KERNEL, "0"));
        wrong.add(List.of(DEVICE, OURS + "/24", KERNEL, "65536"));
        wrong.add(List.of(DEVICE, OURS + "/24", KERNEL, "1-3"));
        wrong.add(List.of("-l", "-z", DEVICE, OURS + "/24", "80"));
        wrong.add(List.of("-l", DEVICE, OURS + "/24", KERNEL, "80"));
        wrong.add(List.of("-l", "-p", "5", DEVICE, OURS + "/24", "80"));
        wrong.add(List.of("-w", "0", DEVICE, OURS + "/24", KERNEL, "80"));
        wrong.add(List.of("-p", "65536", DEVICE, OURS + "/24", KERNEL, "80"));
        wrong.add(List.of("-g", "10.0.0.1", DEVICE, OURS + "/24", KERNEL, "80"));
        for (List<String> words : wrong) {
            List<String> all = new ArrayList<>(words);
            all.addFirst("netcat");
            CommandProcess.Result r = CommandProcess.refuse(all.toArray(String[]::new));
            assertThat(r.code()).as(String.join(" ", all)).isEqualTo(2);
            assertThat(r.err()).startsWith("verbena: ").doesNotContain("Exception");
        }
    }
}
