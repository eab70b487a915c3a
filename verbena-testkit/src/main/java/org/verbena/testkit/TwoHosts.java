// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Two hosts, each a network namespace of its own, connected by a veth pair; the interface of the first host is {@code vrb1}. */
public final class TwoHosts {
    /** The other host, whose interface is {@code vrb0}. */
    public static final String PEER = "10.79.0.1";
    public static final String PEER_6 = "fd00:79::1";
    public static final String OURS = "10.79.0.2";
    public static final String OURS_6 = "fd00:79::2";

    private TwoHosts() {}

    /** The body of a test; it runs on a thread in the namespace of the first host. */
    public interface Action {
        void run(Peer peer) throws Exception;
    }

    /** The other host. */
    public static final class Peer implements AutoCloseable {
        private final ExecutorService starter = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon()
                .factory());

        /** The namespace of the calling thread, which its child processes inherit. */
        public Peer() throws Exception {
            starter.submit(() -> {}).get(10, TimeUnit.SECONDS);
        }

        /** Runs an action in that namespace, on a thread of its own. */
        public <T> Future<T> start(Callable<T> action) throws Exception {
            FutureTask<T> task = new FutureTask<>(action);
            starter.submit(() -> Thread.ofPlatform().daemon().start(task)).get(10, TimeUnit.SECONDS);
            return task;
        }

        /** Runs an action in that namespace, and waits until it ends. */
        public <T> T call(Callable<T> action) throws Exception {
            try {
                return start(action).get(60, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception x ? x : e;
            }
        }

        /** Runs ip(8) in that namespace. */
        public String ip(String... words) throws Exception {
            return call(() -> TapInterface.ip(words));
        }

        @Override
        public void close() {
            starter.shutdown();
        }
    }

    /** Runs an action on a thread in a new network namespace, as {@code NetworkNamespace.callInNew} does. */
    public interface Namespaces {
        /** With its answer. */
        Object callInNew(Callable<Object> action) throws Exception;
    }

    /** Runs an action on the first host. */
    public static void run(Namespaces namespaces, Action action) throws Exception {
        run(namespaces, 1, action);
    }

    /** The same, with interfaces of {@code queues} queues. */
    public static void run(Namespaces namespaces, int queues, Action action) throws Exception {
        String n = Integer.toString(queues);
        Capabilities.requireNetworkAndBpf();
        namespaces.callInNew(() -> {
            try (Peer peer = new Peer()) {
                TapInterface.ip("link", "add", "vrb0", "numtxqueues", n, "numrxqueues", n, "type", "veth", "peer",
                        "name",
                        "vrb1", "numtxqueues", n, "numrxqueues", n);
                TapInterface.ip("address", "add", PEER + "/24", "dev", "vrb0");
                TapInterface.ip("address", "add", PEER_6 + "/64", "dev", "vrb0", "nodad");
                TapInterface.ip("link", "set", "lo", "up");
                TapInterface.ip("link", "set", "vrb0", "up");
                // The interfaces are removed with the namespaces.
                namespaces.callInNew(() -> {
                    peer.ip("link", "set", "vrb1", "netns", "/proc/" + Files.readSymbolicLink(Path.of(
                            "/proc/thread-self")) + "/ns/net");
                    TapInterface.ip("address", "add", OURS + "/24", "dev", "vrb1");
                    TapInterface.ip("address", "add", OURS_6 + "/64", "dev", "vrb1", "nodad");
                    TapInterface.ip("link", "set", "lo", "up");
                    TapInterface.ip("link", "set", "vrb1", "up");
                    LinkState.awaitUp("vrb1");
                    action.run(peer);
                    return 0;
                });
            }
            return 0;
        });
    }
}
