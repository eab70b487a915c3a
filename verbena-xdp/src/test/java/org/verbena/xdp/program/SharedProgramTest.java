// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfFileSystem;
import org.verbena.linux.BpfLink;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.NetworkNamespace;
import org.verbena.linux.PosixFile;
import org.verbena.linux.XdpAttachment;
import org.verbena.testkit.Await;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;

/** A program that several users of an interface share: what they see of each other, and what is left of those that end. */
class SharedProgramTest {
    @BeforeAll
    static void needsBpfAndNamespaces() throws Exception {
        Privileges.requireBpf();
        Privileges.requireNamespaces();
    }

    /** An interface in a namespace of its own. */
    private static final class Place implements AutoCloseable {
        final Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE);
        final int one;
        final Path bpf = BpfFileSystem.mounted();
        final SharedProgram.Interface i;
        final Path folder;

        Place() throws Exception {
            NetworkLinks.createVeth(netlink, "one", "other");
            one = NetworkLinks.index(netlink, "one");
            String namespace = Files.readSymbolicLink(Path.of("/proc/thread-self/ns/net")).toString().replaceAll(
                    "[^0-9]", "");
            i = new SharedProgram.Interface(namespace, one, 1, Bpf.XDP_FLAGS_SKB_MODE);
            folder = bpf.resolve("verbena").resolve(namespace + "-" + one);
        }

        SharedProgram join() throws LinuxException {
            return SharedProgram.join(i);
        }

        boolean isAttached() throws LinuxException {
            return XdpAttachment.of(netlink, one).isPresent();
        }

        void assertNothingIsLeft() throws LinuxException {
            assertThat(isAttached()).isFalse();
            assertThat(folder).doesNotExist();
        }

        @Override
        public void close() {
            netlink.close();
        }
    }

    private interface Action {
        void run(Place place) throws Exception;
    }

    private static void inNamespace(Action action) throws Exception {
        NetworkNamespace.callInNew(() -> {
            try (Place place = new Place()) {
                action.run(place);
            }
            return "";
        });
    }

    private static FlowMatch toPort(int port) throws IOException {
        return FlowMatch.of(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, port))
                .build());
    }

    private static FlowTable.Entry drop(SharedProgram p, int port) throws IOException {
        return p.table().add(toPort(port), new FlowEntry(FlowAction.DROP, 0, 0, p.owner()));
    }

    private static void expect(int errno, Call call, String... words) {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(LinuxException.class, e -> assertThat(Errno.name(e
                .errno()))
                .isEqualTo(Errno.name(errno))).hasMessageContainingAll(words);
    }

    private interface Call {
        void run() throws Exception;
    }

    @Test
    void usersHaveTheirOwnFlowsTargetsAndCounters() throws Exception {
        inNamespace(place -> {
            SharedProgram a = place.join();
            SharedProgram b = place.join();
            assertThat(a.owner()).isEqualTo(1);
            assertThat(b.owner()).isEqualTo(2);
            assertThat(a.takeTarget()).isZero();
            assertThat(b.takeTarget()).isOne();
            assertThat(a.counters().take(true)).isNotEqualTo(b.counters().take(true));
            FlowTable.Entry flow = drop(a, 4000);
            drop(b, 4001);
            expect(Errno.EEXIST, () -> drop(b, 4000), "there is a flow of process " + ProcessHandle.current().pid());
            assertThat(b.table().size()).isEqualTo(2);
            assertThat(a.table().lookups()).isEqualTo(1);
            flow.close();
            drop(b, 4000);
            a.close();
            assertThat(place.isAttached()).isTrue();
            assertThat(b.table().size()).isEqualTo(2);
            SharedProgram c = place.join();
            assertThat(c.owner()).isEqualTo(1);
            assertThat(c.takeTarget()).as("free again").isZero();
            b.close();
            assertThat(c.table().size()).isZero();
            assertThat(place.isAttached()).isTrue();
            c.close();
            place.assertNothingIsLeft();
        });
    }

    @Test
    void maskStaysAsLongAsAUserHasFlowsUnderIt() throws Exception {
        inNamespace(place -> {
            try (SharedProgram a = place.join(); SharedProgram b = place.join()) {
                FlowTable.Entry first = drop(a, 4000);
                FlowTable.Entry second = drop(b, 4001);
                FlowTable.Entry third = drop(b, 4002); // without the lock
                first.close();
                second.close();
                assertThat(a.table().lookups()).isEqualTo(1);
                FlowTable.Entry again = drop(a, 4000);
                third.close();
                assertThat(b.table().lookups()).isEqualTo(1);
                again.close();
                assertThat(b.table().lookups()).isZero();
                assertThat(b.table().size()).isZero();
                drop(b, 4002).close();
                assertThat(a.table().lookups()).isZero();
            }
        });
    }

    @Test
    void whatAnEndedUserHasLeftIsRemoved() throws Exception {
        inNamespace(place -> {
            SharedProgram a = place.join();
            Path left = place.folder.resolve("owner-9-1");
            Files.createDirectory(left); // of a process that was killed
            Claims claims = new Claims(a.maps());
            int target = claims.claimTarget(9);
            int block = claims.claimBlock(9);
            a.table().add(toPort(4000), new FlowEntry(FlowAction.DROP, 0, 0, 9));
            a.table().add(toPort(4001), new FlowEntry(FlowAction.DROP, 0, 0, a.owner()));
            try (Fd held = PosixFile.open(left, PosixFile.O_RDONLY, 0)) {
                assertThat(PosixFile.tryLock(held)).isTrue(); // it is still alive
                expect(Errno.EEXIST, () -> drop(a, 4000), "of process 1 ");
            }
            drop(a, 4000);
            assertThat(left).doesNotExist();
            assertThat(a.table().size()).isEqualTo(2);
            assertThat(claims.claimTarget(9)).isEqualTo(target);
            assertThat(claims.claimBlock(9)).isEqualTo(block);
            Files.createDirectory(left);
            SharedProgram b = place.join();
            assertThat(left).doesNotExist();
            b.close();
            a.close();
            place.assertNothingIsLeft();
        });
    }

    @Test
    void foldersOfEndedUsersAndGarbageAreMadeAnew() throws Exception {
        inNamespace(place -> {
            Files.createDirectories(place.folder.resolve("owner-1-1"));
            Files.createDirectory(place.folder.resolve("layout-99"));
            Files.createDirectory(place.folder.resolve("whatever"));
            try (BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 4, 1)) {
                Bpf.pin(map.fd(), place.folder.resolve("flows"));
                Bpf.pin(map.fd(), place.folder.resolve("link"));
            }
            SharedProgram a = place.join();
            drop(a, 4000);
            a.close();
            place.assertNothingIsLeft();
        });
    }

    @Test
    void garbageAmongThoseThatAreAliveIsNamed() throws Exception {
        inNamespace(place -> {
            SharedProgram a = place.join();
            Path flows = place.folder.resolve("flows");
            Files.delete(flows);
            expect(Errno.EBADMSG, place::join, "are damaged", "flows", "process " + ProcessHandle.current().pid());
            try (BpfMap map = BpfMap.create(BpfMap.BPF_MAP_TYPE_ARRAY, 4, 4, 1)) {
                Bpf.pin(map.fd(), flows);
            }
            expect(Errno.EBADMSG, place::join, "are damaged", "somebody else's table");
            Files.delete(flows);
            Bpf.pin(a.maps().flows().fd(), flows);
            a.maps().masks().update(FlowMaps.index(0), new byte[MaskList.BYTES]);
            expect(Errno.EBADMSG, place::join, "are damaged", "layout");
            assertThat(place.isAttached()).isTrue();
            assertThat(place.folder).isDirectoryContaining(p -> p.endsWith("masks"));
            a.close();
            place.assertNothingIsLeft();
        });
    }

    @Test
    void anotherVersionIsNamedAndStays() throws Exception {
        inNamespace(place -> {
            Path owner = place.folder.resolve("owner-1-4711");
            Files.createDirectories(owner);
            Files.createDirectory(place.folder.resolve("layout-99"));
            try (Fd held = PosixFile.open(owner, PosixFile.O_RDONLY, 0)) {
                assertThat(PosixFile.tryLock(held)).isTrue();
                expect(Errno.EBUSY, place::join, "process 4711 with another version of Verbena uses it", "layout 99");
                assertThat(place.folder.resolve("layout-99")).exists();
                assertThat(owner).exists();
                assertThat(place.isAttached()).isFalse();
            }
            place.join().close(); // it has ended
            place.assertNothingIsLeft();
        });
    }

    @Test
    void foreignProgramIsNamedAndStays() throws Exception {
        inNamespace(place -> {
            long[] pass = {Bpf.instruction(0xb7, 0, 0, 0, Bpf.XDP_PASS), Bpf.instruction(0x95, 0, 0, 0, 0)};
            try (Fd program = Bpf.load(Bpf.BPF_PROG_TYPE_XDP, pass, "Apache-2.0", "foreign", 0);
                    Fd link = Bpf.attach(program, place.one, Bpf.XDP_FLAGS_SKB_MODE)) {
                expect(Errno.EBUSY, place::join, "foreign", "generic");
                assertThat(XdpAttachment.of(place.netlink, place.one).orElseThrow().name()).isEqualTo("foreign");
                assertThat(place.folder).doesNotExist();
                assertThat(link.value()).isPositive();
            }
            place.join().close();
            place.assertNothingIsLeft();
        });
    }

    /** Where attachments cannot be opened by number, a file keeps it. */
    @Test
    void attachmentIsFoundByItsFile() throws Exception {
        inNamespace(place -> {
            SharedProgram a = place.join();
            MaskList list = a.maps().readMasks();
            Fd link = BpfLink.open(list.link());
            Bpf.pin(link, place.folder.resolve("link"));
            a.maps().writeMasks(list.withLink(0));
            SharedProgram b = place.join();
            a.close();
            link.close();
            assertThat(place.isAttached()).isTrue();
            b.close();
            Await.until("the kernel lets it go", () -> !place.isAttached());
            place.assertNothingIsLeft();
        });
    }

    /** In a file system that everybody may write to, the folder of another user is not used. */
    @Test
    void folderOfAnotherUserIsLeftAlone() throws Exception {
        inNamespace(place -> {
            Path bpf = place.bpf.resolve("test-" + place.i.namespace());
            Path folder = bpf.resolve("verbena");
            Files.createDirectories(folder);
            try {
                for (boolean writable : new boolean[] {true, false}) {
                    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(writable
                            ? "rwxrwxrwx"
                            : "rwx------"));
                    Files.setAttribute(folder, "unix:uid", writable ? 0 : 4711);
                    SharedProgram a = SharedProgram.join(place.i, bpf);
                    assertThat(a.owner()).as("it has the program for itself").isZero();
                    assertThat(folder).isEmptyDirectory();
                    drop(a, 4000);
                    assertThat(a.takeTarget()).isZero();
                    assertThat(a.counters().take(true)).isOne();
                    expect(Errno.EBUSY, () -> SharedProgram.join(place.i, bpf), "cannot be shared", "remove it");
                    a.close();
                    place.assertNothingIsLeft();
                }
            } finally {
                Files.delete(folder);
                Files.delete(bpf);
            }
        });
    }

    @Test
    void namespacesDoNotMeet() throws Exception {
        inNamespace(place -> {
            SharedProgram a = place.join();
            inNamespace(second -> {
                assertThat(second.one).isEqualTo(place.one);
                SharedProgram b = second.join();
                assertThat(b.owner()).isEqualTo(1);
                drop(b, 4000);
                assertThat(a.table().size()).isZero();
                b.close();
                second.assertNothingIsLeft();
            });
            a.close();
            place.assertNothingIsLeft();
        });
    }

    @Test
    void stoppedUserIsNotWaitedForForever() throws Exception {
        inNamespace(place -> {
            SharedProgram a = place.join();
            try (SharedFolder stopped = SharedFolder.lockedAt(place.folder)) {
                try (Fd fd = PosixFile.open(place.folder, PosixFile.O_RDONLY, 0)) {
                    assertThat(PosixFile.tryLock(fd)).isFalse();
                }
                expect(Errno.ETIMEDOUT, () -> SharedFolder.lockedAt(place.folder, 50_000_000).close(), "fuser "
                        + place.folder);
                stopped.unlock();
            }
            drop(a, 1);
            a.close();
            place.assertNothingIsLeft();
        });
    }

    /** All at once, many times: nobody is refused, nobody's flows are lost, and nothing is left. */
    @Test
    void manyComeAndGoAtOnce() throws Exception {
        inNamespace(place -> {
            List<FutureTask<Integer>> all = new ArrayList<>();
            for (int user = 0; user < 4; user++) {
                int port = 1000 * (user + 1);
                FutureTask<Integer> task = new FutureTask<>(() -> {
                    for (int round = 0; round < 10; round++) {
                        try (Shared s = new Shared(place)) {
                            List<FlowTable.Entry> flows = new ArrayList<>();
                            for (int i = 0; i < 5; i++) {
                                flows.add(drop(s.program, port + i));
                            }
                            assertThat(s.program.maps().flows().lookup(flows.getFirst().key().bytes())).isPresent();
                            flows.getLast().close();
                        }
                    }
                    return port;
                });
                all.add(task);
            }
            // threads have the namespace of the one that starts them
            all.forEach(t -> Thread.ofPlatform().start(t));
            for (FutureTask<Integer> task : all) {
                assertThat(task.get()).isPositive();
            }
            place.assertNothingIsLeft();
        });
    }

    private static final class Shared implements AutoCloseable {
        final SharedProgram program;

        Shared(Place place) throws LinuxException {
            program = place.join();
        }

        @Override
        public void close() throws LinuxException {
            program.close();
        }
    }
}
