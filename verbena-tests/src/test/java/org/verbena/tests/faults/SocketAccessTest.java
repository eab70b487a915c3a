// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.verbena.tests.ProgramLane;

/** Two programs, one of which may not call native code, belongs to another user, or may not be traced. */
@ProgramLane
class SocketAccessTest {
    @TempDir static Path dir;

    private final List<Child> started = new ArrayList<>();

    @AfterEach
    void endAll() throws Exception {
        for (Child c : started) {
            c.close();
        }
    }

    private Child start(Child.Builder b, Object... arguments) throws Exception {
        Child c = b.start(arguments);
        started.add(c);
        return c;
    }

    /** A program that requests channels of Verbena without the agent, which would have granted the access. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void missingNativeAccessMeansTcp(boolean reader) throws Exception {
        Child.Builder denied = Child.of(StreamPeer.class).withoutNativeAccess().option("--illegal-native-access=deny");
        Child.Builder other = Child.of(StreamPeer.class).option("-Dverbena.stream.patience=100");
        Child r = start(reader ? denied : other, "reader", 3_000_000);
        Child w = start((reader ? other : denied).option("-DuntilTold=true"), "writer", r.await("port"), 3_000_000);
        if (!reader) {
            r.await("decided"); // the writer knows from the start, the reader when its patience ends
        }
        w.tell("enough");
        String written = w.await("written");
        assertThat(r.await("end")).startsWith(written + " ").endsWith(" orderly");
        assertThat((reader ? r : w).await("by")).isEqualTo("TCP: not available in this process");
        assertThat((reader ? w : r).await("by")).isEqualTo("TCP: the other end does not use Verbena");
        String said = (reader ? r : w).errors();
        assertThat(said.lines().filter(l -> l.contains("Verbena") || l.contains("stay with TCP"))).hasSize(1);
        assertThat(said).startsWith("exit code 0").contains("native access");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void connectionsOfTwoUsersAreTcp(boolean server) throws Exception {
        Users.needsRoot("run one side as another user");
        SocketPrograms programs = new SocketPrograms(dir);
        Path rootsEnd = programs.summary();
        Path nobodysEnd = programs.summary();
        // A client waits this long for an end of its own user, too; the other one may be late.
        String patient = "quiet,stream.patience=6000,summary=";
        Child root = start(programs.with(patient + rootsEnd).option("-DfirstConnection=false"));
        Child nobody = start(programs.with(patient + nobodysEnd).option("-DfirstConnection=false").under("setpriv",
                "--reuid=" + Users.NOBODY, "--regid=" + Users.NOBODY, "--clear-groups", "--no-new-privs"));
        Child s = server ? root : nobody;
        Child c = server ? nobody : root;
        String[] to = s.await("PORTS").split(" ", -1);
        c.await("PORTS");
        s.tell("serve").await("SERVING");
        for (int i = 0; i < 2; i++) {
            c.tell("connect " + i + (i == 0 ? " nio " : " classic ") + to[i]).await("CONNECTED");
        }
        for (int i = 0; i < 2; i++) {
            assertThat(c.tell("agree " + i).await("AGREED")).isEqualTo("kernel");
        }
        for (JsonNode n : List.of(SocketPrograms.end(c, server ? nobodysEnd : rootsEnd),
                SocketPrograms.end(s, server ? rootsEnd : nobodysEnd))) {
            assertThat(n.get("fallbacks").toString()).isEqualTo("{\"other_user\":2}");
        }
    }

    /** Rings do not need ptrace access. */
    @Test
    void processesNotDumpableHaveRings() throws Exception {
        String[] options = {"-Dundumpable=true", "-Dverbena.stream.patience=60000"};
        Child r = start(Child.of(StreamPeer.class).option(options), "reader", 3_000_000);
        Child w = start(Child.of(StreamPeer.class).option(options), "writer", r.await("port"),
                3_000_000);
        String written = w.await("written");
        assertThat(r.await("end")).startsWith(written + " ").endsWith(" orderly");
        assertThat(r.await("by")).isEqualTo("ring");
        assertThat(w.await("by")).isEqualTo("ring");
    }
}
