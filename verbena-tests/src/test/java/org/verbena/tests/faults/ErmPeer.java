// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.verbena.erm.CopyFlags;
import org.verbena.erm.CopyQueue;
import org.verbena.erm.EventType;
import org.verbena.erm.LocalRegion;
import org.verbena.erm.RemoteMemory;
import org.verbena.erm.Trespass;
import org.verbena.linux.Errno;
import org.verbena.sockets.VerbenaServerSocketChannel;
import org.verbena.sockets.VerbenaSocketChannel;
import org.verbena.sockets.VerbenaSocketOptions;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;

/** One end of remote memory, which executes commands of a test: one command per line, and one line for each answer. */
final class ErmPeer {
    /** The program opens channels normally, and the agent makes them use Verbena. */
    static final String UNCHANGED = "erm.unchanged";
    /** How long to wait for remote memory, in milliseconds. */
    static final String TIMEOUT = "erm.timeout";

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int ALL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

    private final Map<Integer, LocalRegion> regions = new HashMap<>();
    private final List<SocketChannel> more = new ArrayList<>();
    private final ErmChurn churn = new ErmChurn();
    private @Nullable ServerSocketChannel server;
    private @Nullable SocketChannel channel;
    private @Nullable RemoteMemory memory;
    private @Nullable CompletableFuture<String> flood;
    private @Nullable ErmSpin spin;

    public static void main(String[] none) throws Exception {
        Peer.begin();
        ErmPeer p = new ErmPeer();
        while (true) {
            String[] words = Peer.hear().split(" ", -1);
            if (words[0].equals("exit")) {
                System.exit(0);
            }
            try {
                Peer.say(p.obey(words));
            } catch (IOException e) {
                Peer.say("FAILED " + e.getMessage());
            }
        }
    }

    private static boolean unchanged() {
        return Boolean.getBoolean(UNCHANGED);
    }

    String obey(String... w) throws Exception {
        return switch (w[0]) {
            case "listen" -> listen(w[1]);
            case "connect" -> connected("CONNECTED", connect(w[1], Integer.parseInt(w[2])));
            case "accept" -> connected("ACCEPTED", accept());
            case "open" -> open(Integer.parseInt(w[1]), () -> connect(w[2], Integer.parseInt(w[3])));
            case "take" -> open(Integer.parseInt(w[1]), this::accept);
            case "drop" -> drop();
            case "keep" -> keep();
            case "back" -> connected("BACK", more.removeLast());
            case "allocate" -> region(memory().allocate(Long.parseLong(w[1]), ALL, 0));
            case "register" -> region(memory().register(Arena.ofAuto().allocate(Long.parseLong(w[1])), ALL));
            case "fill" -> fill(regions.get(Integer.parseInt(w[1])), Long.parseLong(w[2]));
            case "check" -> check(regions.get(Integer.parseInt(w[1])), Long.parseLong(w[2]));
            case "remote" -> "REMOTE " + event(EventType.REGION_ADDED);
            case "copied" -> "COPIED " + event(w.length == 1 ? EventType.COPIED : EventType.COPIED_FROM);
            case "removed" -> "REMOVED " + event(EventType.REGION_REMOVED);
            case "update" -> update(Integer.parseInt(w[1]), w[2], Long.parseLong(w[3]));
            case "updated" -> "UPDATED " + event(EventType.REGION_UPDATED) + " " + memory().events().userData();
            case "closed" -> closed();
            case "copy" -> copy(Integer.parseInt(w[1]), Integer.parseInt(w[2]), Long.parseLong(w[3]));
            case "flood" -> flood(Integer.parseInt(w[1]), Integer.parseInt(w[2]), Integer.parseInt(w[3]));
            case "flooded" -> flooded();
            case "deregister" -> deregister(Integer.parseInt(w[1]));
            case "close" -> close();
            case "writes" -> "WRITTEN " + new ErmOrder(memory()).writeBytes(channel(), mine(w[1]), Integer.parseInt(
                    w[2]),
                    Integer.parseInt(w[3]));
            case "reads" -> "READ " + new ErmOrder(memory()).readBytes(channel(), mine(w[1]), Integer.parseInt(w[2]));
            case "fence" -> "FENCED " + new ErmOrder(memory()).fence(mine(w[1]), Integer.parseInt(w[2]), Integer
                    .parseInt(
                            w[3]));
            case "clear" -> {
                mine(w[1]).segment().fill((byte) 0);
                yield "CLEARED";
            }
            case "polls" -> "POLLED " + new ErmOrder(memory()).lastBytes(mine(w[1]), Integer.parseInt(w[2]), w[3]
                    .equals(
                            "first"));
            case "churn" -> churn(w[1], Integer.parseInt(w[2]));
            case "answer" -> answer();
            case "ended" -> churn.ended();
            case "updates" -> "UPDATES " + churn.updates();
            case "spin" -> spin(Integer.parseInt(w[1]), Integer.parseInt(w[2]), w[3].equals("sleeps"), w[4].equals(
                    "first"));
            case "rounds" -> "ROUNDS " + Objects.requireNonNull(spin).rounds();
            case "place" -> place(Integer.parseInt(w[1]));
            case "trespass" -> trespass(w[1].equals("write"), mine(w[2]), new Trespass.Place(Integer.parseInt(w[3]),
                    Long.parseLong(w[4])));
            case "echo" -> echo(Integer.parseInt(w[1]));
            case "why" -> "WHY " + RemoteMemory.whyNot(channel());
            default -> throw new IllegalArgumentException(w[0]);
        };
    }

    private LocalRegion mine(String id) {
        return Objects.requireNonNull(regions.get(Integer.parseInt(id)));
    }

    private String churn(String host, int port) {
        for (int i = 0; i < 2; i++) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    churn.connect(host, port);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        return "CHURNING";
    }

    private String spin(int from, int to, boolean sleeps, boolean begins) throws IOException {
        SystemCalls.allow();
        ErmSpin made = new ErmSpin(memory(), from, to, sleeps);
        spin = made;
        made.start(begins);
        return "SPINNING";
    }

    private String answer() {
        ServerSocketChannel from = Objects.requireNonNull(server);
        Thread.ofPlatform().daemon().start(() -> churn.accept(from));
        return "ANSWERING";
    }

    private RemoteMemory memory() {
        return Objects.requireNonNull(memory);
    }

    private SocketChannel channel() {
        return Objects.requireNonNull(channel);
    }

    private String listen(String host) throws IOException {
        server = (unchanged() ? ServerSocketChannel.open() : VerbenaServerSocketChannel.open()).bind(
                new InetSocketAddress(host, 0));
        return "PORT " + server.socket().getLocalPort();
    }

    private SocketChannel accept() throws IOException {
        return Objects.requireNonNull(server).accept();
    }

    private static SocketChannel connect(String host, int port) throws IOException {
        SocketChannel made = unchanged() ? SocketChannel.open() : VerbenaSocketChannel.open();
        made.connect(new InetSocketAddress(host, port));
        return made;
    }

    private String connected(String word, SocketChannel made) throws InterruptedException {
        channel = made;
        Optional<RemoteMemory> found = RemoteMemory.of(made, Duration.ofMillis(Long.getLong(TIMEOUT, LONG.toMillis())));
        memory = found.orElse(null);
        return word + " " + (found.isPresent() ? "ok" : RemoteMemory.whyNot(made));
    }

    /** Opens a channel. */
    @FunctionalInterface
    private interface Making {
        SocketChannel make() throws IOException;
    }

    /** Many connections, each with a region. */
    private String open(int count, Making making) throws IOException, InterruptedException {
        for (int i = 0; i < count; i++) {
            SocketChannel made = making.make();
            more.add(made);
            RemoteMemory.of(made);
        }
        for (SocketChannel made : more) {
            Optional<RemoteMemory> found = RemoteMemory.of(made, LONG);
            if (found.isEmpty()) {
                return "OPEN " + RemoteMemory.whyNot(made);
            }
            found.get().allocate(4096, ALL, 0);
        }
        return "OPEN ok";
    }

    /** The connection stays; others may be opened beside it. */
    private String keep() {
        more.add(channel());
        return "KEPT";
    }

    private String drop() throws IOException {
        for (SocketChannel made : more) {
            made.close();
        }
        more.clear();
        return "DROPPED";
    }

    private String region(LocalRegion region) {
        regions.put(region.id(), region);
        return "REGION " + region.id();
    }

    private static String fill(LocalRegion region, long seed) {
        region.segment().copyFrom(MemorySegment.ofArray(bytes(region, seed)));
        return "FILLED";
    }

    private static String check(LocalRegion region, long seed) {
        return region.segment().mismatch(MemorySegment.ofArray(bytes(region, seed))) < 0 ? "SAME" : "DIFFERENT";
    }

    private static byte[] bytes(LocalRegion region, long seed) {
        byte[] bytes = new byte[(int) region.length()];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** The region of the next event, which must have a given type. */
    private int event(int type) throws InterruptedException {
        while (!memory().events().poll()) {
            memory().await(RemoteMemory.EVENTS, LONG);
        }
        if (memory().events().type() != type) {
            throw new IllegalStateException("event " + EventType.toString(memory().events().type()) + ": " + memory()
                    .endReason());
        }
        return memory().events().region();
    }

    private String closed() throws InterruptedException {
        do {
            while (!memory().events().poll()) {
                memory().await(RemoteMemory.EVENTS, LONG);
            }
        } while (memory().events().type() != EventType.CLOSED);
        return "CLOSED " + memory().endReason();
    }

    private int completion() throws InterruptedException {
        while (!memory().copies().poll()) {
            memory().await(RemoteMemory.COMPLETIONS, LONG);
        }
        return memory().copies().status();
    }

    private String copy(int from, int to, long length) throws InterruptedException {
        int error = memory().copies().copy(from, 0, to, 0, length, CopyFlags.REMOTE_COMPLETION, 0);
        return error != 0 ? "REFUSED " + Errno.name(error) : "STATUS " + completion();
    }

    private String place(int theirs) {
        Trespass.Place there = Trespass.place(memory(), theirs);
        return "PLACE " + there.rkey() + " " + there.address();
    }

    private String trespass(boolean write, LocalRegion own, Trespass.Place there) throws InterruptedException {
        Trespass.post(memory(), write, own, there);
        while (!memory().copies().poll()) {
            if (!memory().isOpen()) {
                return "TRESPASSED ended";
            }
            memory().await(RemoteMemory.COMPLETIONS, LONG);
        }
        return "TRESPASSED " + WcStatus.toString(memory().copies().status());
    }

    /** Copies repeatedly, in all ways, until a copy is refused or fails. */
    private String flood(int from, int to, int length) {
        CopyQueue copies = memory().copies();
        CompletableFuture<String> done = new CompletableFuture<>();
        flood = done;
        Thread.ofPlatform().daemon().start(() -> {
            CompletableFuture<Void> async = CompletableFuture.completedFuture(null);
            int status = 0;
            int error = 0;
            while (status == 0 && (error == 0 || error == Errno.EAGAIN)) {
                error = copies.copy(from, 0, to, 0, length, CopyFlags.NONE, 0);
                while (copies.poll()) {
                    status |= copies.status();
                }
                if (async.isDone() && !async.isCompletedExceptionally()) {
                    async = memory().copyAsync(from, 0, to, 0, length, 0, 0);
                }
            }
            String last = error == 0 ? "" : Errno.name(error);
            try {
                async.get(LONG.toSeconds(), TimeUnit.SECONDS);
            } catch (Exception e) {
                last += " async " + e.getCause();
            }
            done.complete("FLOODED " + status + " " + last);
        });
        return "FLOODING";
    }

    private String flooded() throws Exception {
        return Objects.requireNonNull(flood).get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    private String deregister(int id) throws IOException {
        LocalRegion region = regions.get(id);
        long began = System.nanoTime();
        region.close();
        return "GONE " + (System.nanoTime() - began) / 1_000_000 + " " + (memory().isOpen()
                ? "open"
                : memory()
                        .endReason());
    }

    private String update(int id, String rights, long tag) throws IOException {
        memory().update(id, AccessFlags.LOCAL_WRITE | (rights.contains("r") ? AccessFlags.REMOTE_READ : 0) | (rights
                .contains("w") ? AccessFlags.REMOTE_WRITE : 0), tag);
        return "CHANGED " + AccessFlags.toString(memory().localRegion(id).access());
    }

    /** Writes, and reads the echo of an {@link EchoPeer}. */
    private String echo(int bytes) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(bytes);
        new Random(bytes).nextBytes(out.array());
        ByteBuffer in = ByteBuffer.allocate(bytes);
        while (out.hasRemaining()) {
            channel().write(out);
        }
        while (in.hasRemaining() && channel().read(in) >= 0) {
            // the rest
        }
        return "ECHOED " + (in.flip().equals(out.flip()) ? "same" : "different") + " by " + channel().getOption(
                VerbenaSocketOptions.TRANSPORT);
    }

    private String close() throws IOException {
        channel().close();
        return "CLOSED channel";
    }
}
