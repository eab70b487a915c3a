// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Rounds in which one of two {@link FlowPeer}s is killed. The other one notices at each of its connections, as soon as
 * with TCP: the reference is a connection between the same two processes that the kernel carries, so that the time that
 * a process takes to die, and other load, matter little.
 */
final class KillRounds {
    static final List<String> KINDS = List.of("classic", "channel", "selector");

    /** Limit after TCP. Most of several rounds meet it: sometimes a thread waits that long for a processor. */
    private static final long PROMPT_MILLIS = 1000;
    private static final long LONGEST_MILLIS = 60_000;

    private final String victim;
    private final Callable<Child> starter;

    /** @param victim the end that dies: {@code client} or {@code server} */
    KillRounds(String victim, Callable<Child> starter) {
        this.victim = victim;
        this.starter = starter;
    }

    /** The actions before one is killed. */
    @FunctionalInterface
    interface Round {
        void play(Ends ends, int number) throws Exception;
    }

    /** A process and its ports: for channels, for classic sockets, and for the one that is compared with. */
    record Program(Child child, List<String> ports) {
        static Program of(Child child) throws InterruptedException {
            return new Program(child, List.of(child.await("PORTS").split(" ", -1)));
        }
    }

    /** The two processes; one of them is to die. */
    record Ends(Program client, Program server, Child survivor, Child victim) {
        /** Returns the port of the client. */
        int connect(String kind, String does) throws Exception {
            client.child.tell("connect " + kind + " " + does + " " + port(kind));
            return client.child.awaitInt("CONNECTED");
        }

        void accept(String kind, String does) throws Exception {
            server.child.tell("accept " + kind + " " + does).await("ACCEPTED");
        }

        int port(String kind) {
            return Integer.parseInt(server.ports.get(kind.equals("classic") ? 1 : 0));
        }

        private void control() throws Exception {
            server.child.tell("control");
            client.child.tell("control " + server.ports.get(2)).await("CONTROLLED");
            server.child.await("CONTROLLED");
        }
    }

    /** Kills this often, and returns the survivor, which has to be closed. */
    Child run(int rounds, Round round) throws Exception {
        Child survivor = starter.call();
        try {
            Program left = Program.of(survivor);
            List<Long> times = new ArrayList<>();
            for (int i = 0; i < rounds; i++) {
                try (Child dying = starter.call()) {
                    Program other = Program.of(dying);
                    Ends ends = victim.equals("client")
                            ? new Ends(other, left, survivor, dying)
                            : new Ends(left, other, survivor, dying);
                    ends.control();
                    round.play(ends, i);
                    dying.kill();
                    times.add(told(survivor.tell("end").await("END")));
                }
            }
            List<Long> sorted = times.stream().sorted().toList();
            assertThat(sorted.get(rounds / 2)).as("the median of %s milliseconds after TCP", times).isLessThan(
                    PROMPT_MILLIS);
            return survivor;
        } catch (Throwable t) {
            survivor.close();
            throw t;
        }
    }

    /** When the last direction of all connections has ended, in milliseconds after the kernel's connection. */
    private static long told(String ends) {
        long last = Long.MIN_VALUE;
        for (String end : ends.split(";", -1)) {
            String[] parts = end.split("=", 3);
            long millis = Long.parseLong(parts[1]);
            assertThat(parts[2]).as(ends).isIn("-1", "Connection reset", "Connection reset by peer", "Broken pipe");
            assertThat(millis).as(ends).isLessThan(LONGEST_MILLIS);
            last = Math.max(last, millis);
        }
        return last;
    }
}
