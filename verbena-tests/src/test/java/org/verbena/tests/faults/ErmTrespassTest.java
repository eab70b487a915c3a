// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.erm.Trespass;
import org.verbena.tests.agent.AgentJar;
import org.verbena.tests.cli.RoceNamespaces;

/**
 * Over roce the other end may be hostile: requests that bypass its own checks are refused by this end, whose memory is
 * unchanged; the remote memory of that connection ends, and that of others does not.
 */
@Timeout(300)
class ErmTrespassTest {
    private static final int LENGTH = 4096;
    /** Half of the last tested bytes are inside. */
    private static final int ACROSS = Trespass.BYTES / 2;

    @TempDir Path dir;

    private static Child.Builder process(String... options) {
        return ErmEnds.process().option("-D" + ErmPeer.UNCHANGED + "=true", "-Dverbena.stream.delay=0").option(options);
    }

    private static void connect(Child client, Child victim, int port) throws Exception {
        victim.tell("accept");
        client.tell("connect " + RoceNamespaces.ADDRESS_B + " " + port);
        assertThat(client.await("CONNECTED")).isEqualTo("ok");
        assertThat(victim.await("ACCEPTED")).isEqualTo("ok");
    }

    private static Trespass.Place place(Child knows, int region) throws Exception {
        String[] words = knows.tell("place " + region).await("PLACE").split(" ", -1);
        return new Trespass.Place(Integer.parseInt(words[0]), Long.parseLong(words[1]));
    }

    private static String trespass(Child hostile, String how, int own, Trespass.Place there) throws Exception {
        return hostile.tell("trespass " + how + " " + own + " " + there.rkey() + " " + there.address()).await(
                "TRESPASSED");
    }

    /** The requests of a hostile end on the location that it knows. */
    @FunctionalInterface
    private interface Wish {
        Trespass.Place of(Trespass.Place given);
    }

    /** Over a separate connection, with a region that grants the other end some rights. */
    private static void assertRefused(Child hostile, Child victim, int port, String how, String rights, Wish wish)
            throws Exception {
        connect(hostile, victim, port);
        int own = ErmEnds.region(hostile, victim, "allocate", LENGTH, 7);
        int theirs = ErmEnds.region(victim, hostile, rights.equals("rw") ? "allocate" : "register", LENGTH, 2);
        if (!rights.equals("rw")) {
            victim.tell("update " + theirs + " " + rights + " 0").await("CHANGED");
            hostile.tell("updated").await("UPDATED");
        }
        assertThat(trespass(hostile, how, own, wish.of(place(hostile, theirs)))).as(how).isIn("REM_ACCESS_ERR",
                "ended"); // which is noticed first
        assertThat(victim.tell("closed").await("CLOSED")).isNotEmpty();
        victim.tell("check " + theirs + " 2").await("SAME");
        hostile.tell("check " + own + " 7").await("SAME");
        victim.tell("close").await("CLOSED");
        hostile.tell("close").await("CLOSED");
    }

    @Test
    void accessNotGrantedIsRefused() throws Exception {
        String agent = "-javaagent:" + AgentJar.in(dir)
                + "=quiet,stream.earn=0,stream.patience=60000,rules=use stream tcp_";
        RoceNamespaces.with(() -> process(agent + "server *:* device " + RoceNamespaces.DEVICE_B).start(), victim -> {
            try (Child hostile = process(agent + "client *:* device " + RoceNamespaces.DEVICE_A).start()) {
                tryAll(hostile, victim, victim.tell("listen " + RoceNamespaces.ADDRESS_B).awaitInt("PORT"));
            }
        });
    }

    private static void tryAll(Child hostile, Child victim, int port) throws Exception {
        connect(hostile, victim, port);
        int others = ErmEnds.region(victim, hostile, "allocate", LENGTH, 9);
        Trespass.Place ofOthers = place(hostile, others);
        hostile.tell("keep").await("KEPT");
        victim.tell("keep").await("KEPT");
        for (String how : new String[] {"write", "read"}) {
            assertRefused(hostile, victim, port, how, "rw", p -> new Trespass.Place(p.rkey(), p.address() + LENGTH
                    - ACROSS));
            assertRefused(hostile, victim, port, how, "rw", p -> new Trespass.Place(p.rkey(), p.address() - ACROSS));
            assertRefused(hostile, victim, port, how, "rw", p -> new Trespass.Place(p.rkey() ^ 0x10000, p.address()));
            assertRefused(hostile, victim, port, how, how.equals("write") ? "r" : "w", p -> p);
            assertRefused(hostile, victim, port, how, "rw", p -> ofOthers); // granted, but to another connection
            victim.tell("check " + others + " 9").await("SAME");
        }
        hostile.tell("back");
        assertThat(victim.tell("back").await("BACK")).isEqualTo("ok");
        assertThat(hostile.await("BACK")).isEqualTo("ok");
        assertAllowed(hostile, victim, "read", others); // the connection that it was granted to is unchanged
        connect(hostile, victim, port);
        assertAllowed(hostile, victim, "write", ErmEnds.region(victim, hostile, "allocate", LENGTH, 9));
    }

    /** The same request in a valid form. */
    private static void assertAllowed(Child hostile, Child victim, String how, int theirs) throws Exception {
        int own = ErmEnds.region(hostile, victim, "allocate", LENGTH, 7);
        assertThat(trespass(hostile, how, own, place(hostile, theirs))).isEqualTo("SUCCESS");
        victim.tell("check " + theirs + " 9").await(how.equals("write") ? "DIFFERENT" : "SAME");
        hostile.tell("check " + own + " 7").await(how.equals("write") ? "SAME" : "DIFFERENT");
    }
}
