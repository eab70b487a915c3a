// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A program that knows nothing of Verbena and has ends of connections that send and receive continuously, until the
 * process at their other ends is gone. One more connection between the same processes, at another address, which rules
 * may leave to the kernel, shows when TCP reports that.
 */
final class FlowPeer {
    /** The address of the connection that others are compared with. */
    static final String CONTROL_ADDRESS = "127.0.0.2";
    /** More than TCP and a small ring hold, so that later bytes use the agreed transport. */
    private static final long ENOUGH = 8L << 20;
    private static final long LONGEST_NANOS = 60_000_000_000L;
    private static final int BACKLOG = 50;

    private final List<Flow> flows = new ArrayList<>();
    private final ServerSocketChannel channels;
    private final ServerSocket sockets;
    private final ServerSocket controls;
    private CompletableFuture<Flow.Ended> control = new CompletableFuture<>();
    private Socket controlled = new Socket();

    private FlowPeer() throws IOException {
        channels = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        sockets = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        controls = new ServerSocket(0, BACKLOG, InetAddress.getByName(CONTROL_ADDRESS));
    }

    public static void main(String[] none) throws Exception {
        Peer.begin();
        FlowPeer p = new FlowPeer();
        Peer.say("PORTS " + p.channels.socket().getLocalPort() + " " + p.sockets.getLocalPort() + " " + p.controls
                .getLocalPort());
        while (true) {
            String[] words = Peer.hear().split(" ", -1);
            if (words[0].equals("exit")) { // in order, so that shutdown hooks run
                System.exit(0);
            }
            try {
                Peer.say(p.obey(words));
            } catch (IOException e) {
                Peer.say("FAILED " + e.getClass().getName() + ": " + e.getMessage());
            }
        }
    }

    private String obey(String[] words) throws Exception {
        switch (words[0]) {
            case "control" -> { // [PORT]
                Socket s = words.length == 1
                        ? controls.accept()
                        : new Socket(CONTROL_ADDRESS, Integer.parseInt(words[1]));
                controlled = s;
                control = started(() -> Flow.awaitEnd(s));
                return "CONTROLLED";
            }
            case "connect" -> { // KIND DOES PORT
                SocketAddress to = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[3]));
                Flow f = words[1].equals("classic")
                        ? Flow.of(connected(to), words[2])
                        : Flow.of(SocketChannel.open(to), words[1], words[2]);
                begin(f);
                return "CONNECTED " + f.localPort();
            }
            case "accept" -> { // KIND DOES
                begin(words[1].equals("classic")
                        ? Flow.of(sockets.accept(), words[2])
                        : Flow.of(channels.accept(), words[1], words[2]));
                return "ACCEPTED";
            }
            case "decide" -> {
                return "DECIDED " + await(() -> !transports().contains("undecided"));
            }
            case "flow" -> { // what it says of the carriers is from before
                String by = transports();
                List<Long> from = moved();
                await(() -> {
                    List<Long> now = moved();
                    for (int i = 0; i < now.size(); i++) {
                        if (now.get(i) - from.get(i) < ENOUGH) {
                            return false;
                        }
                    }
                    return true;
                });
                return "FLOWING " + by;
            }
            case "idle" -> { // when each end has had a message
                for (Flow f : flows) {
                    f.ping();
                }
                await(() -> flows.stream().allMatch(f -> f.read() > 0));
                return "IDLE " + transports();
            }
            case "threads" -> {
                return "THREADS " + flows.stream().flatMap(f -> f.threads().stream()).collect(Collectors.joining(" "));
            }
            case "transports" -> {
                return "BY " + transports();
            }
            case "end" -> {
                return "END " + awaitEnds();
            }
            default -> throw new IllegalArgumentException(Arrays.toString(words));
        }
    }

    private static Socket connected(SocketAddress to) throws IOException {
        Socket s = new Socket();
        s.connect(to);
        return s;
    }

    private void begin(Flow f) {
        flows.add(f);
        f.directions().forEach(d -> f.ends().add(started(d)));
    }

    private static CompletableFuture<Flow.Ended> started(Supplier<Flow.Ended> job) {
        return CompletableFuture.supplyAsync(job, run -> Thread.ofPlatform().daemon().start(run));
    }

    private String transports() throws IOException {
        List<String> all = new ArrayList<>();
        for (Flow f : flows) {
            all.add(f.transport());
        }
        return String.join(" ", all);
    }

    /** Bytes of each direction so far. */
    private List<Long> moved() {
        return flows.stream().flatMap(f -> f.moved().stream()).toList();
    }

    private String await(Callable<Boolean> condition) throws Exception {
        for (long end = System.nanoTime() + LONGEST_NANOS; !condition.call();) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("it does not come about: " + transports() + ", moved " + moved());
            }
            Thread.sleep(1);
        }
        return transports();
    }

    /** The end of each direction, and how many milliseconds after the one that the kernel carries. */
    private String awaitEnds() throws Exception {
        List<Flow.Ended> all = new ArrayList<>();
        for (Flow f : flows) {
            for (CompletableFuture<Flow.Ended> e : f.ends()) {
                all.add(e.get(2 * LONGEST_NANOS, TimeUnit.NANOSECONDS));
            }
            f.close();
        }
        flows.clear();
        long told = control.get(LONGEST_NANOS, TimeUnit.NANOSECONDS).nanos();
        controlled.close();
        return all.stream().map(e -> e.what() + "=" + (e.nanos() - told) / 1_000_000 + "=" + e.how()).collect(Collectors
                .joining(";"));
    }
}
