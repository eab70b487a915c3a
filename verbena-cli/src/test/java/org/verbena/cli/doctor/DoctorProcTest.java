// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Texts of the kernel, valid and malformed. */
class DoctorProcTest {
    private static final String STATUS = """
            Name:\tjava
            Uid:\t0\t0\t0\t0
            CapInh:\t0000000000000000
            CapEff:\t000001fffeffffff
            CapBnd:\tzz
            CapAmb:
            Seccomp:\t2
            """;
    private static final String LIMITS = """
            Limit                     Soft Limit           Hard Limit           Units    \s
            Max cpu time              unlimited            unlimited            seconds  \s
            Max open files            1024                 1048576              files    \s
            Max locked memory         8388608              unlimited            bytes    \s
            Max nice priority         0                    0                   \s
            Max processes             many                 63                   processes\s
            Max file size             18446744073709551615 99999999999999999999999 bytes \s
            Max stack size            18446744073709551615 9223372036854775807  bytes    \s
            """;

    @Test
    void statusFieldsAreParsed() {
        assertThat(DoctorProc.field(STATUS, "Name")).contains("java");
        assertThat(DoctorProc.field(STATUS, "Uid")).contains("0\t0\t0\t0");
        assertThat(DoctorProc.field(STATUS, "Seccomp")).contains("2");
        assertThat(DoctorProc.field(STATUS, "CapAmb")).contains("");
        assertThat(DoctorProc.field(STATUS, "Cap")).isEmpty();
        assertThat(DoctorProc.field("", "Name")).isEmpty();
    }

    @Test
    void capabilitiesAreNamed() {
        long all = 0x1fffeffffffL;
        assertThat(DoctorProc.capabilities(STATUS, "CapEff")).hasValue(all);
        assertThat(DoctorProc.capabilities(STATUS, "CapInh")).hasValue(0);
        assertThat(DoctorProc.capabilities(STATUS, "CapBnd")).isEqualTo(OptionalLong.empty());
        assertThat(DoctorProc.capabilities(STATUS, "CapAmb")).isEmpty();
        assertThat(DoctorProc.capabilities(STATUS, "CapNone")).isEmpty();
        assertThat(DoctorProc.capabilities("CapEff:\tffffffffffffffff", "CapEff")).hasValue(-1L);
        assertThat(DoctorProc.capabilities("CapEff:\t11111111111111111", "CapEff")).as("17 digits").isEmpty();
        assertThat(DoctorProc.has(all, "SYS_RESOURCE")).isFalse();
        assertThat(DoctorProc.has(all, "BPF")).isTrue();
        assertThat(DoctorProc.has(1L << 13, "NET_RAW")).isTrue();
        assertThat(DoctorProc.has(1L << 12, "NET_RAW")).isFalse();
        assertThat(DoctorProc.namesOf(1L << 21 | 1L << 39 | 1L << 63)).containsExactly("SYS_ADMIN", "BPF", "63");
        assertThatThrownBy(() -> DoctorProc.has(all, "CAP_BPF")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void limitsAreParsed() {
        assertThat(DoctorProc.limit(LIMITS, "Max open files")).contains(new DoctorProc.Limit(1024, 1048576));
        assertThat(DoctorProc.limit(LIMITS, "Max locked memory")).contains(
                new DoctorProc.Limit(8388608, DoctorProc.UNLIMITED));
        assertThat(DoctorProc.limit(LIMITS, "Max nice priority")).contains(new DoctorProc.Limit(0, 0));
        assertThat(DoctorProc.limit(LIMITS, "Max stack size")).contains(
                new DoctorProc.Limit(DoctorProc.UNLIMITED, Long.MAX_VALUE));
        assertThat(DoctorProc.limit(LIMITS, "Max processes")).as("not a number").isEmpty();
        assertThat(DoctorProc.limit(LIMITS, "Max file size")).as("too long a number").isEmpty();
        assertThat(DoctorProc.limit(LIMITS, "Max open")).isEmpty();
        assertThat(DoctorProc.limit("", "Max open files")).isEmpty();
        assertThat(DoctorProc.limit("Max open files", "Max open files")).isEmpty();
        assertThat(DoctorProc.limit(DoctorProc.read(Path.of("/proc/self/limits")), "Max open files")).isPresent();
        assertThat(DoctorProc.number("-1")).isEmpty();
        assertThat(DoctorProc.number("")).isEmpty();
        assertThat(DoctorProc.number(" 7 ")).hasValue(7);
    }

    @Test
    void kernelVersionsAreCompared() {
        assertThat(DoctorProc.kernel("6.18.44-fc-v669")).contains(new DoctorProc.Kernel(6, 18));
        assertThat(DoctorProc.kernel("5.1\n")).contains(new DoctorProc.Kernel(5, 1));
        assertThat(DoctorProc.kernel("7.0-rc1")).contains(new DoctorProc.Kernel(7, 0));
        for (String odd : new String[] {"", "6", "six.1", "-6.1", "6.x", "99999999999.1"}) {
            assertThat(DoctorProc.kernel(odd)).as(odd).isEqualTo(Optional.empty());
        }
        DoctorProc.Kernel k = new DoctorProc.Kernel(5, 10);
        assertThat(k.isAtLeast(5, 10)).isTrue();
        assertThat(k.isAtLeast(5, 9)).isTrue();
        assertThat(k.isAtLeast(4, 20)).isTrue();
        assertThat(k.isAtLeast(5, 11)).isFalse();
        assertThat(k.isAtLeast(6, 1)).isFalse();
    }

    @Test
    void modulesAreFound(@TempDir Path root) throws Exception {
        Path folder = Files.createDirectories(root.resolve("lib/modules/6.1.0"));
        Files.writeString(folder.resolve("modules.builtin"), "kernel/net/ipv4/tcp_diag.ko\nkernel/lib/xsmc.ko\n");
        Files.writeString(folder.resolve("modules.dep"), """
                kernel/net/smc/smc.ko.zst: kernel/drivers/infiniband/core/ib_core.ko.zst
                kernel/drivers/infiniband/sw/rxe/rdma-rxe.ko.xz:
                """);
        Files.createDirectories(root.resolve("sys/module/loaded/holders"));
        Files.createDirectories(root.resolve("sys/module/inside/parameters"));
        assertThat(DoctorProc.module(root, "6.1.0", "tcp_diag")).isEqualTo(DoctorProc.Module.BUILT_IN);
        assertThat(DoctorProc.module(root, "6.1.0", "smc")).isEqualTo(DoctorProc.Module.AVAILABLE);
        assertThat(DoctorProc.module(root, "6.1.0", "rdma_rxe")).isEqualTo(DoctorProc.Module.AVAILABLE);
        assertThat(DoctorProc.module(root, "6.1.0", "loaded")).isEqualTo(DoctorProc.Module.LOADED);
        assertThat(DoctorProc.module(root, "6.1.0", "ib_core")).as("only what another one needs").isEqualTo(
                DoctorProc.Module.ABSENT);
        assertThat(DoctorProc.module(root, "9.9", "smc")).isEqualTo(DoctorProc.Module.UNKNOWN);
        assertThat(DoctorProc.module(root, "9.9", "inside")).isEqualTo(DoctorProc.Module.BUILT_IN);
        assertThat(DoctorProc.module(root, "../../etc", "smc")).isEqualTo(DoctorProc.Module.UNKNOWN);
    }

    @Test
    void missingFilesGiveUnknown(@TempDir Path dir) throws Exception {
        assertThat(DoctorProc.read(dir.resolve("none"))).isEmpty();
        assertThat(DoctorProc.read(dir)).isEmpty();
        assertThat(DoctorProc.names(dir.resolve("none"))).isEmpty();
        Files.createDirectory(dir.resolve("b"));
        Files.createDirectory(dir.resolve("a"));
        assertThat(DoctorProc.names(dir)).containsExactly("a", "b");
        assertThat(DoctorProc.names(Files.write(dir.resolve("file"), new byte[] {(byte) 0xff}))).isEmpty();
        assertThat(DoctorProc.read(dir.resolve("file"))).hasSize(1);
    }

    @Test
    void bytesAreFormattedInTheLargestUnit() {
        assertThat(DoctorHost.bytes(0)).isEqualTo("0 bytes");
        assertThat(DoctorHost.bytes(1023)).isEqualTo("1023 bytes");
        assertThat(DoctorHost.bytes(1024)).isEqualTo("1 KiB");
        assertThat(DoctorHost.bytes(8 << 20)).isEqualTo("8 MiB");
        assertThat(DoctorHost.bytes(1536L << 20)).isEqualTo("1.5 GiB");
        assertThat(DoctorHost.bytes(Long.MAX_VALUE)).isEqualTo("8 EiB");
    }
}
