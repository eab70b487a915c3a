// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcUnixTest {
    private static final String HEADING = "Num       RefCount Protocol Flags    Type St Inode Path\n";

    @TempDir Path folder;

    private List<ProcUnix> of(String lines) throws Exception {
        Files.createDirectories(folder.resolve("net"));
        Files.writeString(folder.resolve("net/unix"), HEADING + lines, StandardCharsets.ISO_8859_1);
        return ProcUnix.all(folder);
    }

    @Test
    void ownListenerAndAcceptedSocketAreListedByTheirName() throws Exception {
        String name = "verbena-test/" + ProcessHandle.current().pid() + "/unix";
        try (UnixSocket listener = UnixSocket.listen(name, 1)) {
            assertThat(ProcUnix.abstractNames()).containsOnlyOnce(name);
            try (UnixSocket _ = UnixSocket.connect(name); UnixSocket _ = listener.accept()) {
                assertThat(ProcUnix.abstractNames()).filteredOn(name::equals).hasSize(2);
                assertThat(ProcUnix.all(Path.of("/proc/self"))).filteredOn(u -> u.path().equals("@" + name))
                        .extracting(ProcUnix::isListener).containsExactlyInAnyOrder(true, false);
            }
        }
        assertThat(ProcUnix.abstractNames()).doesNotContain(name);
    }

    @Test
    void recordedLinesAreRead() throws Exception {
        assertThat(of("""
                ffff8b0a4c5d6000: 00000002 00000000 00010000 0001 01 23456 @verbena-port/1000/4711
                0000000000000000: 00000003 00000000 00000000 0001 03 123456789 @verbena-port/1000/4711
                0000000000000000: 00000003 00000000 00000000 0001 02     0 @being accepted
                0000000000000000: 00000002 00000000 00010000 0005 01  9876 /run/a folder/sock\u00e9t
                """)).containsExactly(new ProcUnix(true, 23_456, "@verbena-port/1000/4711"),
                new ProcUnix(false, 123_456_789, "@verbena-port/1000/4711"),
                new ProcUnix(false, 0, "@being accepted"),
                new ProcUnix(true, 9876, "/run/a folder/sock\u00e9t"));
    }

    @Test
    void socketsWithoutANameAndOtherLinesAreLeftOut() throws Exception {
        assertThat(of("""
                0000000000000000: 00000003 00000000 00000000 0001 03 23456
                @rest of a name behind its line break

                0000000000000000: 00000003 00000000 00010000
                0000000000000000: 00000003 00000000 zz010000 0001 03 23456 @a
                0000000000000000: 00000003 00000000 000000000001 0001 03 23456 @b
                0000000000000000: 00000003 00000000 00000000 0001 03 99999999999999999999 @c
                0000000000000000 00000003 00000000 00000000 0001 03 23456 @d
                """)).isEmpty();
    }

    @Test
    void missingListIsAnError() {
        assertThatThrownBy(() -> ProcUnix.all(folder)).isInstanceOf(NoSuchFileException.class);
    }
}
