// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.HumanText;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/** {@code verbena copy --listen}: serves senders, each on a thread of its own, until it is stopped. */
final class CopyListener {
    private static final int MAX_SENDERS = 64;
    private static final int DISK_THREADS = 8;
    private static final Duration LONG = Duration.ofHours(1);

    private final Context context;
    private final CopyTree tree;
    private final Duration patience;
    private final boolean json;
    private final PrintWriter out;
    private final CopyProgress progress;
    private final Set<CopyChannel> channels = ConcurrentHashMap.newKeySet();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final ExecutorService disk = Executors.newFixedThreadPool(DISK_THREADS, Thread.ofPlatform().daemon().name(
            "verbena-copy-disk-", 1).factory());
    private volatile boolean stopped;
    private volatile @Nullable ConnectionListener listener;
    private volatile @Nullable CopyBeacon beacon;

    CopyListener(Context context, CopyTree tree, Duration patience, boolean json, PrintWriter out,
            CopyProgress progress) {
        this.context = context;
        this.tree = tree;
        this.patience = patience;
        this.json = json;
        this.out = out;
        this.progress = progress;
    }

    /**
     * Serves until {@link #stop()}, an interrupt, or one sender.
     *
     * @return the exit code
     */
    int run(InetSocketAddress at, boolean once) throws IOException {
        try (ConnectionListener l = listen(at)) {
            listener = l;
            lightBeacon(l.localAddress());
            progress.line("listening on " + context.device().name() + " " + HostPort.text(l.localAddress())
                    + ", writing to " + HumanText.printable(tree.root().toString()));
            while (!stopped && !Thread.currentThread().isInterrupted()) {
                ConnectionRequest request = awaitRequest(l);
                if (request == null || !isWelcome(request)) {
                    continue;
                }
                if (once) {
                    closeListener(); // a later sender learns at once that there is no listener
                    return serve(request);
                }
                Thread t = Thread.ofPlatform().daemon().name("verbena-copy-", 1).unstarted(() -> {
                    int _ = serve(request);
                    threads.remove(Thread.currentThread());
                });
                threads.add(t);
                t.start();
            }
            return CopyStatus.INTERRUPTED.exitCode();
        } finally {
            closeBeacon();
            awaitThreads();
            disk.shutdown();
        }
    }

    private ConnectionListener listen(InetSocketAddress at) throws IOException {
        try {
            return context.connectionManager().listen(at);
        } catch (VerbsException e) {
            if (e.errno() == Errno.EADDRINUSE) {
                throw new CopyFailure(CopyStatus.FAILED, "another program listens on " + HostPort.text(at) + " of "
                        + context.device().name() + " already: stop it, or choose another port with --port", e);
            }
            throw e;
        }
    }

    private void lightBeacon(InetSocketAddress at) {
        try {
            beacon = CopyBeacon.light(context.device().name(), at);
        } catch (LinuxException e) {
            progress.line("senders have to name this address, they cannot find it by themselves: " + e.getMessage());
        }
    }

    private @Nullable ConnectionRequest awaitRequest(ConnectionListener l) throws VerbsException {
        try {
            return l.awaitRequest(LONG);
        } catch (VerbsException e) {
            if (stopped) {
                return null;
            }
            throw e;
        }
    }

    private boolean isWelcome(ConnectionRequest request) {
        String why;
        if (!Arrays.equals(request.privateData(), CopyProtocol.greeting())) {
            why = "this is verbena copy, protocol " + CopyProtocol.VERSION;
        } else if (channels.size() >= MAX_SENDERS) {
            why = MAX_SENDERS + " senders are served already";
        } else {
            return true;
        }
        progress.failed("refused " + HumanText.printable(request.peer()) + ": " + why);
        try {
            request.reject(why.getBytes(StandardCharsets.UTF_8));
        } catch (VerbsException e) {
            progress.failed(CopyFailure.of("refusing a sender", e).sentence());
        }
        return false;
    }

    /** Serves one sender; returns the exit code of a listener that serves only this one. */
    private int serve(ConnectionRequest request) {
        String peer = HumanText.printable(request.peer());
        CopyReport report = new CopyReport();
        try (CopyChannel channel = new CopyChannel(CopyEndpoint.accept(context, request), patience)) {
            channels.add(channel);
            try {
                if (stopped) {
                    channel.stop();
                }
                new CopyReceiver(channel, tree, disk, o -> {
                    report.add(o);
                    progress.ended(o);
                }).run();
            } finally {
                channels.remove(channel);
            }
            progress.line(peer + ": " + report.summary());
        } catch (IOException e) {
            CopyFailure f = CopyFailure.of("cannot serve", e);
            report.fail(f);
            progress.failed(peer + ": " + f.sentence());
        } catch (RuntimeException e) {
            // One sender's failure must not end the others.
            report.fail(new CopyFailure(CopyStatus.FAILED, e.toString(), e));
            progress.failed(peer + ": " + e);
        }
        if (json) {
            synchronized (out) {
                report.printJson(out);
            }
        }
        return report.exitCode();
    }

    private void awaitThreads() {
        for (Thread t : threads) {
            try {
                t.join(Duration.ofSeconds(4));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Ends {@link #run} soon. May be called from any thread. */
    void stop() {
        stopped = true;
        channels.forEach(CopyChannel::stop);
        closeListener();
    }

    private void closeBeacon() {
        CopyBeacon b = beacon;
        if (b != null) {
            b.close();
        }
    }

    private void closeListener() {
        closeBeacon();
        ConnectionListener l = listener;
        if (l != null) {
            try {
                l.close();
            } catch (VerbsException e) {
                progress.failed(CopyFailure.of("closing the listener", e).sentence());
            }
        }
    }
}
