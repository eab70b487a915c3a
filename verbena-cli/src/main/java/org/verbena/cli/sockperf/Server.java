// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;

/** Answers the messages of clients, until it is stopped. */
final class Server {
    /**
     * What it is to do.
     *
     * @param answers whether it answers at all
     * @param answersOne whether what was sent to a group is answered to its sender alone
     * @param findsGaps whether it counts what has not arrived
     * @param threads how many share the sockets
     * @param cpus where they run; null: anywhere
     */
    record Settings(boolean answers, boolean answersOne, boolean findsGaps, int threads, @Nullable String cpus) {}

    private final Settings settings;
    private final PrintWriter out;
    private final List<ServerThread> parts = new ArrayList<>();
    private final List<Endpoint> bound = new ArrayList<>();
    private volatile @Nullable CommandException failure;

    Server(Settings settings, SocketOptions options, List<Endpoint> endpoints, PrintWriter out) throws IOException {
        this.settings = settings;
        this.out = out;
        Channels channels = new Channels(options);
        boolean simple = endpoints.size() == 1 && !endpoints.getFirst().tcp();
        SocketOptions.Wait wait = options.wait(simple || options.mux != null ? endpoints.size() : 2);
        if (wait == SocketOptions.Wait.BLOCK && !simple) {
            throw new CommandException(
                    "--iomux-type r waits for one socket of UDP; a server of TCP has one for each connection: take e, or --nonblocked");
        }
        try {
            for (int i = 0; i < settings.threads(); i++) {
                parts.add(new ServerThread(this, channels, wait, options.timeout));
            }
            for (int i = 0; i < endpoints.size(); i++) {
                ServerThread part = parts.get(i % parts.size());
                Endpoint e = endpoints.get(i);
                if (e.tcp()) {
                    ServerSocketChannel c = channels.listen(e);
                    part.add(c);
                    bound.add(e.at(c.getLocalAddress()));
                } else {
                    DatagramLink link = channels.listenDatagrams(e, settings.answersOne());
                    part.add(link);
                    bound.add(e.at(link.local()));
                }
            }
        } catch (IOException | RuntimeException e) {
            parts.forEach(ServerThread::stop);
            throw e;
        }
    }

    /** Where it listens, with the ports that were given to it. */
    List<Endpoint> bound() {
        return bound;
    }

    boolean answers() {
        return settings.answers();
    }

    boolean findsGaps() {
        return settings.findsGaps();
    }

    /** Tells what has gone wrong with one client; any thread. */
    void report(String what) {
        synchronized (out) {
            out.println("sockperf: " + what);
            out.flush();
        }
    }

    /** Ends it; any thread. */
    void stop() {
        parts.forEach(ServerThread::stop);
    }

    /** Serves until it is stopped. */
    void run() throws IOException {
        List<Thread> threads = new ArrayList<>();
        for (ServerThread p : parts) {
            threads.add(Thread.ofPlatform().daemon().name("verbena-sockperf-server-" + threads.size()).start(() -> {
                try {
                    Affinity.bind("--cpu-affinity", settings.cpus());
                    p.run();
                } catch (CommandException e) {
                    failure = e;
                    stop();
                }
            }));
        }
        boolean interrupted = false;
        for (Thread t : threads) {
            while (t.isAlive()) {
                try {
                    t.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                    stop();
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        CommandException f = failure;
        if (f != null) {
            throw f;
        }
        long received = parts.stream().mapToLong(ServerThread::received).sum();
        long answered = parts.stream().mapToLong(ServerThread::answered).sum();
        long malformed = parts.stream().mapToLong(ServerThread::malformed).sum();
        report("Total " + received + " messages received and handled, " + answered + " answered" + (malformed == 0
                ? ""
                : ", besides " + malformed + " that are none of sockperf's"));
        if (settings.findsGaps()) {
            parts.forEach(p -> p.gaps().print(out));
            out.flush();
        }
    }
}
