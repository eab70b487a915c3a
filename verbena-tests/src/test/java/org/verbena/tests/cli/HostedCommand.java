// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import org.verbena.testkit.Jvm;

/** A command in a {@link CommandHost}. */
final class HostedCommand implements CommandProcess.Running {
    /**
     * Two of them for the ends of a connection, so that these are in different processes, two for those of a copy, whose JVMs
     * compile the hash of each byte as well as they can, and one for commands that look at others. Each is started by its first
     * command.
     */
    static final class Host {
        static final Host SERVERS = new Host();
        static final Host CLIENTS = new Host();
        static final Host LISTENERS = new Host("-XX:TieredStopAtLevel=4");
        static final Host SENDERS = new Host("-XX:TieredStopAtLevel=4");
        static final Host STATISTICS = new Host();

        private final List<String> before;
        private final List<String> options;
        private int port;

        private Host(String... options) {
            this(List.of(), List.of(options));
        }

        private Host(List<String> before, List<String> options) {
            this.before = before;
            this.options = options;
        }

        /** One behind a command, which makes another user of it; null if that user could not read the classes. */
        static @Nullable Host behind(List<String> before) {
            return CommandArchive.isReadableByAll() && CommandArchive.isReadableByAll(Jvm.classesOf(CommandHost.class))
                    ? new Host(before, List.of())
                    : null;
        }

        private synchronized int port() throws IOException {
            if (port == 0) {
                List<String> command = new ArrayList<>(before);
                command.addAll(CommandProcess.java(CommandProcess.modulePath()));
                command.addAll(CommandArchive.options(CommandProcess.modulePath()));
                command.addAll(options);
                command.addAll(List.of("--add-modules", "org.verbena.cli"));
                for (String name : List.of("", ".support")) {
                    command.add("--add-exports=org.verbena.cli/org.verbena.cli" + name + "=ALL-UNNAMED");
                }
                command.addAll(List.of("--class-path", Jvm.classesOf(CommandHost.class).toString(), CommandHost.class
                        .getName()));
                // ends when this JVM does, for that closes its standard input
                Process host = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
                String line = host.inputReader().readLine();
                if (line == null) {
                    throw new IOException("no port from " + command);
                }
                port = Integer.parseInt(line);
            }
            return port;
        }
    }

    private static final int BUFFER = 1 << 20;

    private final Socket socket;
    private final PipedInputStream out = new PipedInputStream(BUFFER);
    private final PipedInputStream err = new PipedInputStream(BUFFER);
    private final CompletableFuture<Integer> code = new CompletableFuture<>();

    /** @param property the name of a system property of the host and its value, or nothing: all commands that run there have it */
    HostedCommand(Host host, List<String> property, String... arguments) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), host.port());
        DataOutputStream to = new DataOutputStream(socket.getOutputStream());
        write(to, property);
        write(to, List.of(arguments));
        to.flush();
        OutputStream toOut = new PipedOutputStream(out);
        OutputStream toErr = new PipedOutputStream(err);
        Thread.ofPlatform().daemon().name("output of " + List.of(arguments)).start(() -> read(toOut, toErr));
    }

    private static void write(DataOutputStream to, List<String> words) throws IOException {
        to.writeInt(words.size());
        for (String word : words) {
            to.writeUTF(word);
        }
    }

    private void read(OutputStream toOut, OutputStream toErr) {
        try (toOut; toErr) {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                byte kind = in.readByte();
                int length = in.readInt();
                if (kind == CommandHost.EXIT) {
                    int exit = in.readInt();
                    toOut.close();
                    toErr.close();
                    code.complete(exit);
                    return;
                }
                OutputStream to = kind == CommandHost.OUT ? toOut : toErr;
                to.write(in.readNBytes(length));
                to.flush();
            }
        } catch (IOException e) {
            code.completeExceptionally(e);
        }
    }

    @Override
    public InputStream out() {
        return out;
    }

    @Override
    public InputStream err() {
        return err;
    }

    @Override
    public int await(int seconds) throws InterruptedException, ExecutionException, TimeoutException {
        return code.get(seconds, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
