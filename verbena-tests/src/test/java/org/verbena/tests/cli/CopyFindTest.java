// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.UnixSocket;
import org.verbena.testkit.Thorough;
import org.verbena.tests.CommandLane;

/** Which listener {@code verbena copy} finds, which it refuses, and its message if there is none. */
@CommandLane
class CopyFindTest {
    private static final String WITHOUT_OTHERS = "whom a sender finds without an address";

    /** Of the user; each with a process of its own if there are none. */
    private static final HostedCommand.@Nullable Host SENDERS = Thorough.ON
            ? null
            : HostedCommand.Host.behind(TestUser.number(0).command());

    @TempDir private Path dir;
    private Path file;
    private Path second;
    private String modules;
    private TestUser user;

    @BeforeEach
    void makeFiles() throws Exception {
        file = CopyFiles.write(dir.resolve("file"), 3 << 20, 1);
        second = CopyFiles.write(dir.resolve("second"), 10, 2);
        user = TestUser.number(0);
    }

    private void copyModules() throws Exception {
        modules = CopyProcess.copyModules(Files.createDirectory(dir.resolve("modules")));
    }

    /** Starts a sender of the user, which does not have to have a process of its own. */
    private CopyProcess send(Object... arguments) throws Exception {
        return SENDERS == null ? as(user, arguments) : CopyProcess.hosted(SENDERS, arguments);
    }

    private CopyProcess as(TestUser who, Object... arguments) throws Exception {
        return CopyProcess.startQuickly(who.command(), modules, arguments);
    }

    private CopyProcess listener(Path to, Object... more) throws Exception {
        List<Object> all = new ArrayList<>(List.of("--listen", to, "--port", 0));
        all.addAll(List.of(more));
        CopyProcess p = as(user, all.toArray());
        int _ = p.awaitPort();
        return p;
    }

    @Test
    void onlyListenerOfTheUserIsFoundOnAnyPort() throws Exception {
        TestUser.needed(WITHOUT_OTHERS);
        copyModules();
        Path to = user.directory(dir, "to");
        Path its = user.directory(dir, "its");
        TestUser another = TestUser.number(1);
        Path theirs = another.directory(dir, "theirs");
        assertNobody(send(file));
        try (CopyProcess listener = listener(to);
                CopyProcess foreign = as(another, "--listen", theirs, "--port", 0)) {
            assertThat(foreign.awaitPort()).isNotEqualTo(18516);
            send(file).expect(0);
            CopyFiles.assertSame(to.resolve("file"), file);
            send("--quiet", second).expect(0); // looking does not use the listener up
            try (CopyProcess other = listener(its)) {
                String err = send(file).expect(1).err();
                assertThat(err).contains("several listeners of this user").contains(listener.address())
                        .contains(other.address()).contains("name one of them");
                send(file, other.address()).expect(0);
                send("--port", other.awaitPort(), second).expect(0);
                CopyFiles.assertSame(its.resolve("file"), file);
                assertThat(its.resolve("second")).exists();
                listener.kill(); // a dead listener is not found, however it died
                send(file).expect(0);
                other.signal("STOP"); // it cannot even publish its address
                listenAndCopyBeside(other);
            }
        }
        assertThat(theirs).isEmptyDirectory();
        assertNobody(send(file));
    }

    /** A stopped listener counts, since it may be the intended one. */
    private void listenAndCopyBeside(CopyProcess stopped) throws Exception {
        try (CopyProcess third = listener(user.directory(dir, "third"))) {
            assertThat(send(file).expect(1).err()).contains(stopped.address()).contains(third.address());
        }
    }

    /** A listener of another user may be at the default port. */
    private static void assertNobody(CopyProcess sender) {
        assertThat(sender.await()).as(sender.err()).isIn(3, 1);
        assertThat(sender.err()).containsAnyOf("no listener on 127.0.0.1:18516", "belongs to user");
    }

    @Test
    void listenerForOneSenderIsNotFoundByTheNext() throws Exception {
        TestUser.needed(WITHOUT_OTHERS);
        copyModules();
        Path big = CopyFiles.write(dir.resolve("big"), CopyFiles.LONG, 3);
        Path to = user.directory(dir, "to");
        Path its = user.directory(dir, "its");
        AtomicReference<CopyProcess> listens = new AtomicReference<>();
        CopyProcess copies = CopyProcess.inTheMiddle(to, 1 << 20, CopyFiles.LONG, null, () -> {
            Files.deleteIfExists(to.resolve("big"));
            listens.set(listener(to, "--once"));
            return CopyProcess.startSlowly(user.command(), modules, big);
        });
        try (CopyProcess once = listens.get(); CopyProcess sender = copies) {
            try (CopyProcess _ = listener(its)) {
                send(second).expect(0);
                assertThat(its.resolve("second")).exists();
            }
            sender.signal("CONT");
            sender.expect(0);
            once.expect(0);
        }
    }

    /** Each program has its own address there, whichever way the listener is named. */
    @Test
    void listenerOnRoceIsFound() throws Exception {
        TestUser.needed(WITHOUT_OTHERS);
        copyModules();
        Path to = user.directory(dir, "to");
        try (CopyProcess listener = listener(to, "--device", "roce_lo")) {
            int port = listener.awaitPort();
            send("--device", "roce_lo", file).expect(0);
            CopyFiles.assertSame(to.resolve("file"), file);
            send("--device", "roce_lo", second, "localhost:" + port).expect(0);
            CopyFiles.assertSame(to.resolve("second"), second);
            assertThat(send("--device", "roce_lo", "--port", port == 9 ? 10 : 9, file).expect(3).err())
                    .contains("no listener of this user is on port");
        }
    }

    /** Anybody can take any abstract name. */
    @Test
    void nameTakenByAnotherUserIsNoListener() throws Exception {
        TestUser.needed("a name of one user taken by another");
        copyModules();
        Path to = user.directory(dir, "to");
        String name = "verbena-copy/" + user.uid() + "/shm0/127.0.0.1:";
        try (UnixSocket _ = UnixSocket.listen(name + 7777, 1); CopyProcess listener = listener(to)) {
            assertThat(listener.awaitPort()).isNotEqualTo(7777);
            send(file).expect(0);
            CopyFiles.assertSame(to.resolve("file"), file);
        }
        try (UnixSocket _ = UnixSocket.listen(name + 18599, 1);
                CopyProcess listener = as(user, "--listen", to, "--port", 18599)) {
            listener.awaitError("senders have to name this address");
            send(second, listener.address()).expect(0);
        }
    }

    @Test
    void listenerOfAnotherUserIsRefusedNamingBothUsers() throws Exception {
        TestUser.needed("a listener of one user, a sender of another");
        copyModules();
        TestUser another = TestUser.number(1);
        try (CopyProcess listener = listener(user.directory(dir, "to"))) {
            for (CopyProcess sender : List.of(as(another, "--json", file, listener.address()),
                    CopyProcess.sender("--json", file, listener.address()))) {
                String sentence = sender.expect(1).err();
                assertThat(sentence).contains("belongs to user " + user.uid())
                        .containsAnyOf("to user " + another.uid(), "to user 0").contains("trusted-uids");
                JsonNode row = rows(sender, 1).get(0);
                assertThat(row.get("status").asText()).isEqualTo("FAILED");
                assertThat(row.get("error").asText()).contains("belongs to user " + user.uid());
            }
            assertThat(listener.isAlive()).isTrue();
            send(file, listener.address()).expect(0);
        }
    }

    @Test
    void missingPtraceRightIsReported() throws Exception {
        TestUser.needed("a process without the ptrace right");
        String classes = CopyProcess.copyClassPath(Files.createDirectory(dir.resolve("modules")));
        Path to = user.directory(dir, "to");
        try (CopyProcess listener = CopyProcess.startMain(user.command(), classes, UndumpableCommand.class, "--listen",
                to, "--port", 0);
                CopyProcess sender = SENDERS == null
                        ? CopyProcess.startMain(user.command(), classes, org.verbena.cli.Main.class, "--json", file,
                                listener.address())
                        : send("--json", file, listener.address())) {
            assertThat(sender.expect(1).err()).contains("may not write into the listener's memory").contains("EPERM")
                    .contains("ptrace");
            JsonNode row = rows(sender, 1).get(0);
            assertThat(row.get("status").asText()).isEqualTo("NOT_PERMITTED");
            assertThat(row.get("error").asText()).contains("ptrace");
            assertThat(to.resolve("file")).doesNotExist();
            listener.awaitError("the peer died or closed|gave up");
            assertThat(listener.isAlive()).isTrue();
        }
    }

    // ---- JSON

    private static JsonNode rows(CopyProcess p, int count) throws Exception {
        JsonNode rows = new ObjectMapper().readTree(p.out());
        assertThat(rows.isArray()).isTrue();
        assertThat(rows).as(p.out()).hasSize(count);
        return rows;
    }

    @Test
    void missingListenerReportsEveryFileAsNotCopied() throws Exception {
        Path tree = Files.createDirectory(dir.resolve("tree"));
        Path deep = CopyFiles.write(tree.resolve("deep"), 5, 1);
        for (String address : List.of("127.0.0.1:18599", "nowhere.invalid:18599")) {
            CopyProcess sender = CopyProcess.sender("--json", file, tree, address).expect(3);
            List<String> names = new ArrayList<>();
            for (JsonNode row : rows(sender, 3)) {
                names.add(row.get("file").asText());
                assertThat(row.get("status").asText()).isEqualTo("NO_LISTENER");
                assertThat(row.get("exit_code").asInt()).isEqualTo(3);
                assertThat(row.get("error").asText()).containsAnyOf("no listener on " + address,
                        "unknown host \"nowhere.invalid\"");
                assertThat(row.has("sha256")).isFalse();
            }
            assertThat(names).containsExactly(file.toString(), tree.toString(), deep.toString());
            assertThat(sender.err()).containsAnyOf("no listener on", "unknown host");
        }
        CopyProcess wrong = CopyProcess.sender("--json", file, "127.0.0.1:99999").expect(2);
        assertThat(wrong.out()).isEmpty();
        assertThat(wrong.err()).contains("the port is \"99999\"");
    }

    @Test
    void listenerReportsADeadSender() throws Exception {
        Path to = Files.createDirectory(dir.resolve("to"));
        Path big = CopyFiles.write(dir.resolve("big"), CopyFiles.LONG, 3);
        AtomicReference<CopyProcess> listens = new AtomicReference<>();
        CopyProcess copies = CopyProcess.inTheMiddle(to, 1 << 20, CopyFiles.LONG, null, () -> {
            Files.deleteIfExists(to.resolve("big"));
            listens.set(CopyProcess.listener(to, "--once", "--json"));
            return CopyProcess.startSlowly(List.of(), CopyProcess.modulePath(), big, listens.get().address());
        });
        try (CopyProcess listener = listens.get(); CopyProcess sender = copies) {
            sender.kill();
            listener.expect(4);
            JsonNode row = rows(listener, 1).get(0);
            assertThat(row.has("file")).isFalse();
            assertThat(row.get("status").asText()).isEqualTo("PEER_DIED");
            assertThat(row.get("exit_code").asInt()).isEqualTo(4);
            assertThat(row.get("error").asText()).contains("the peer died");
        }
    }
}
