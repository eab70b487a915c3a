// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

import org.verbena.telemetry.CounterFile;
import org.verbena.testkit.Await;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkCompletion;

/**
 * A child that has objects, sends between two of its queue pairs, and prints what it can see of itself and of others.
 */
final class CounterPeer {
    private CounterPeer() {}

    public static void main(String[] args) throws Exception {
        Peer.begin();
        try (Logged log = new Logged("org.verbena.telemetry"); Node node = Node.open()) {
            QueuePair a = node.queuePair();
            QueuePair b = node.queuePair();
            MemoryRegion m = node.allocate(4096);
            for (QueuePair qp : List.of(a, b)) {
                Node.toRtr(qp, node.gid(), (qp == a ? b : a).number());
                Node.toRts(qp);
            }
            Peer.say("READY " + a.number());
            List<AutoCloseable> more = new ArrayList<>();
            CountDownLatch released = new CountDownLatch(1);
            while (true) {
                String[] words = Peer.hear().split(" ", -1);
                Peer.say(switch (words[0]) {
                    case "send" -> send(node, a, b, m, Integer.parseInt(words[1]));
                    case "regions" -> {
                        for (int i = Integer.parseInt(words[1]); i > 0; i--) {
                            more.add(node.allocate(4096));
                        }
                        yield "REGIONS " + more.size();
                    }
                    case "sends" -> "SENDS " + sends(a);
                    case "objects" -> "OBJECTS " + objects();
                    case "warnings" -> "WARNINGS " + log.records().size() + " " + log.messages();
                    case "hold" -> {
                        Runnable _ = CounterFile.own().onGather(() -> hold(released));
                        yield "HOLDS";
                    }
                    case "release" -> {
                        released.countDown();
                        yield "RELEASED";
                    }
                    case "open" -> open(Long.parseLong(words[1]));
                    case "list" -> list();
                    default -> throw new IllegalArgumentException(words[0]);
                });
            }
        }
    }

    /** Gathers nothing until it is told to. */
    private static void hold(CountDownLatch released) {
        Peer.say("HELD");
        try {
            released.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String send(Node node, QueuePair a, QueuePair b, MemoryRegion m, int n) {
        WorkCompletion[] one = WorkCompletion.array(1);
        for (int i = 0; i < n; i++) {
            b.receiveQueue().post(i, m, 1024, 64);
            a.sendQueue().postSend(i, SendFlags.SIGNALED, m, 0, 8);
            for (int k = 0; k < 2; k++) {
                Await.until(Child.LIMIT, () -> node.cq.poll(one) == 1, () -> "no completion");
                if (one[0].status() != 0) {
                    throw new IllegalStateException(one[0].toString());
                }
            }
        }
        return "SENT " + n;
    }

    private static long sends(QueuePair a) throws VerbsException {
        return RemoteProcess.current().objects(0).stream()
                .filter(o -> o.type() == ObjectType.QP && o.number() == a.number()).findFirst().orElseThrow()
                .value(SamplePoint.QP_TX_SENDS);
    }

    private static String objects() throws VerbsException {
        return RemoteProcess.current().objects(0).stream()
                .collect(Collectors.groupingBy(o -> ObjectType.toString(o.type()), java.util.TreeMap::new,
                        Collectors.counting()))
                .toString();
    }

    private static String open(long pid) {
        try (RemoteProcess p = RemoteProcess.open(pid)) {
            List<RemoteObject> all = p.objects(0);
            return "OPENED " + all.size();
        } catch (VerbsException e) {
            return "ERROR " + e.errno() + " " + e.getMessage();
        }
    }

    private static String list() throws VerbsException {
        List<RemoteProcess> all = RemoteProcess.list();
        String pids = all.stream().map(p -> String.valueOf(p.pid())).collect(Collectors.joining(" "));
        all.forEach(RemoteProcess::close);
        return "LIST " + pids;
    }
}
