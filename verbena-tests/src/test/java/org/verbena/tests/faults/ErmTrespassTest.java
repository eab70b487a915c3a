package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.tests.agent.AgentJar;
import org.verbena.tests.cli.RoceNamespaces;

/**
 * By roce the other end may be hostile: what it posts without asking its own checks is refused by this end, which keeps its
 * memory as it is; the remote memory of that connection ends, and that of others does not.
 */
@Timeout(300)
class ErmTrespassTest {
    private static final int LENGTH = 4096;
    private static final String BEYOND = (LENGTH - 32) + " 0";
    private static final String BEFORE = "-32 0";
    private static final String OTHER_KEY = "0 " + 0x10000;
    private static final String INSIDE = "0 0";

    @TempDir Path dir;

    private static void connect(Child hostile, Child victim, int port) throws Exception {
        victim.tell("accept");
        hostile.tell("connect " + RoceNamespaces.ADDRESS_B + " " + port);
        assertThat(hostile.await("CONNECTED")).isEqualTo("ok");
        assertThat(victim.await("ACCEPTED")).isEqualTo("ok");
    }

    private static void assertRefused(Child hostile, Child victim, int port, String where, boolean readOnly)
            throws Exception {
        connect(hostile, victim, port);
        int own = hostile.tell("allocate " + LENGTH).awaitInt("REGION");
        victim.tell("remote").await("REMOTE");
        int theirs = ErmEnds.region(victim, hostile, readOnly ? "register" : "allocate", LENGTH, 2);
        if (readOnly) {
            victim.tell("update " + theirs + " r 0").await("CHANGED");
            hostile.tell("updated").await("UPDATED");
        }
        assertThat(hostile.tell("trespass " + own + " " + theirs + " " + where).await("TRESPASSED")).as(where).isIn(
                "REM_ACCESS_ERR", "ended"); // which is noticed first
        assertThat(victim.tell("closed").await("CLOSED")).isNotEmpty();
        victim.tell("check " + theirs + " 2").await("SAME");
        victim.tell("close").await("CLOSED");
        hostile.tell("close").await("CLOSED");
    }

    @Test
    void whatIsNotGivenIsRefused() throws Exception {
        String[] common = {"-D" + ErmPeer.UNCHANGED + "=true", "-Dverbena.stream.delay=0"};
        String agent = "-javaagent:" + AgentJar.in(dir) + "=quiet,stream.patience=60000,rules=use stream tcp_";
        RoceNamespaces.with(() -> ErmEnds.process().option(common).option(agent + "server *:* device "
                + RoceNamespaces.DEVICE_B).start(), victim -> {
                    try (Child hostile = ErmEnds.process().option(common).option(agent + "client *:* device "
                            + RoceNamespaces.DEVICE_A).start()) {
                        int port = victim.tell("listen " + RoceNamespaces.ADDRESS_B).awaitInt("PORT");
                        for (String where : new String[] {BEYOND, BEFORE, OTHER_KEY}) {
                            assertRefused(hostile, victim, port, where, false);
                        }
                        assertRefused(hostile, victim, port, INSIDE, true);
                        connect(hostile, victim, port); // the way is open to who keeps to the rules
                        int own = ErmEnds.region(hostile, victim, "allocate", LENGTH, 3);
                        int theirs = ErmEnds.region(victim, hostile, "allocate", LENGTH, 4);
                        assertThat(hostile.tell("trespass " + own + " " + theirs + " " + INSIDE).await("TRESPASSED"))
                                .isEqualTo("SUCCESS");
                        victim.tell("check " + theirs + " 4").await("DIFFERENT");
                    }
                });
    }
}
