// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;

import org.verbena.verbs.Gid;

/** A network of agents in virtual time that loses, duplicates, delays and damages messages by a seed. */
final class FaultyTransports {
    private record Flight(long at, long order, Gid from, Gid to, PrivateData mad) {}

    private static final long DELAY = 10_000_000;

    private final Random random;
    private final Map<Gid, CmAgent> agents = new HashMap<>();
    private final PriorityQueue<Flight> flights = new PriorityQueue<>((a, b) -> a.at() != b.at()
            ? Long.compare(a.at(), b.at())
            : Long.compare(a.order(), b.order()));
    private long sent;
    long now = 1_000_000_000_000L;
    /** Per hundred messages. */
    int lost;
    int repeated;
    int damaged;
    int delayed;
    /** Loses the messages of one attribute. */
    int losing;

    FaultyTransports(long seed) {
        random = new Random(seed);
    }

    CmAgent agent(String gid, int mtuCode) {
        Gid own = Gid.parse(gid);
        CmAgent agent = new CmAgent(new CmTransport() {
            @Override
            public long nanoTime() {
                return now;
            }

            @Override
            public void send(Gid from, Gid to, byte[] mad) {
                fly(from, to, mad);
            }
        }, own.low(), mtuCode, new Random(random.nextLong()));
        agents.put(own, agent);
        return agent;
    }

    void fly(Gid from, Gid to, byte[] mad) {
        if (random.nextInt(100) < lost || mad.length > 17 && mad[17] == losing && losing != 0) {
            return;
        }
        for (int copies = random.nextInt(100) < repeated ? 2 : 1; copies > 0; copies--) {
            byte[] copy = mad.clone();
            if (random.nextInt(100) < damaged && copy.length > 0) {
                copy[random.nextInt(copy.length)] ^= (byte) (1 << random.nextInt(8));
            }
            long delay = random.nextInt(100) < delayed ? random.nextLong(400 * DELAY) : random.nextLong(DELAY);
            flights.add(new Flight(now + delay, sent++, from, to, PrivateData.of(copy)));
        }
    }

    /** Runs for a number of seconds of virtual time. */
    void run(double seconds) {
        long end = now + (long) (seconds * 1e9);
        while (true) {
            long next = flights.isEmpty() ? Long.MAX_VALUE : flights.peek().at();
            for (CmAgent agent : agents.values()) {
                next = Math.min(next, agent.nextDeadline());
            }
            if (next > end) {
                now = end;
                return;
            }
            now = Math.max(now, next);
            while (!flights.isEmpty() && flights.peek().at() <= now) {
                Flight f = flights.remove();
                CmAgent agent = agents.get(f.to());
                if (agent != null) {
                    agent.received(f.to(), f.from(), f.mad().bytes());
                }
            }
            agents.values().forEach(CmAgent::progress);
        }
    }
}
