package org.verbena.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.verbena.linux.spi.SyscallNumber;

/** Compares every number in the Java code that the kernel decides with what gcc says about the C headers. */
class LayoutProbeTest {
    private final Map<String, Long> expected = new LinkedHashMap<>();

    @Test
    void javaAgreesWithTheHeaders(@TempDir Path dir) throws Exception {
        layouts();
        constants();
        for (Field field : SyscallNumber.class.getDeclaredFields()) {
            if (field.getType() == int.class && Modifier.isPublic(field.getModifiers())) {
                expect("SYS_" + field.getName().toLowerCase(Locale.ROOT), field.getInt(null));
            }
        }
        StringBuilder program = new StringBuilder("""
                #define _GNU_SOURCE
                #include <errno.h>
                #include <fcntl.h>
                #include <linux/dma-buf.h>
                #include <linux/futex.h>
                #include <linux/membarrier.h>
                #include <poll.h>
                #include <stddef.h>
                #include <stdio.h>
                #include <string.h>
                #include <sys/epoll.h>
                #include <sys/eventfd.h>
                #include <sys/mman.h>
                #include <sys/prctl.h>
                #include <sys/socket.h>
                #include <sys/stat.h>
                #include <sys/syscall.h>
                #include <sys/uio.h>
                #include <sys/un.h>
                #include <time.h>
                #include <unistd.h>
                #ifndef MFD_NOEXEC_SEAL
                #define MFD_NOEXEC_SEAL 0x0008U
                #endif
                static void number(const char *name, long long value) {
                    fputs(name, stdout);
                    printf("\\t" NUMBER "\\n", value);
                }
                static void error(int i) {
                    char name[32];
                    sprintf(name, "text " INT, i);
                    fputs(name, stdout);
                    fputs("\\t", stdout);
                    puts(strerror(i));
                }
                int main(void) {
                    for (int i = 1; i < 140; i++) error(i);
                """);
        expected.keySet().forEach(expression -> program.append("    number(\"").append(expression).append(
                "\", (long long) (").append(expression)
                .append("));\n"));
        program.append("}\n");
        Map<String, String> actual = run(dir, program.toString());
        if (actual.isEmpty()) {
            return;
        }
        expected.forEach((expression, value) -> assertThat(actual.get(expression)).as(expression).isEqualTo(Long
                .toString(value)));
        assertThat(expected).hasSizeGreaterThan(250);
        for (int i = 1; i < 140; i++) {
            assertThat(Errno.text(i)).isEqualTo(actual.get("text " + i));
        }
    }

    private void expect(String expression, long value) {
        expected.put(expression, value);
    }

    private void layouts() {
        expect("sizeof(struct epoll_event)", Epoll.EVENT_BYTES);
        expect("offsetof(struct epoll_event, events)", 0);
        expect("offsetof(struct epoll_event, data)", Epoll.DATA_OFFSET);
        expect("sizeof(struct msghdr)", UnixMessage.MSGHDR_BYTES);
        expect("offsetof(struct msghdr, msg_name)", 0);
        expect("offsetof(struct msghdr, msg_namelen)", 8);
        expect("offsetof(struct msghdr, msg_iov)", UnixMessage.MSGHDR_IOV);
        expect("offsetof(struct msghdr, msg_iovlen)", UnixMessage.MSGHDR_IOVLEN);
        expect("offsetof(struct msghdr, msg_control)", UnixMessage.MSGHDR_CONTROL);
        expect("offsetof(struct msghdr, msg_controllen)", UnixMessage.MSGHDR_CONTROLLEN);
        expect("offsetof(struct msghdr, msg_flags)", UnixMessage.MSGHDR_FLAGS);
        expect("sizeof(struct cmsghdr)", UnixMessage.CMSG_DATA);
        expect("CMSG_LEN(0)", UnixMessage.CMSG_DATA);
        expect("CMSG_SPACE(4)", UnixMessage.CMSG_DATA + 8);
        expect("offsetof(struct cmsghdr, cmsg_len)", 0);
        expect("sizeof(((struct cmsghdr *) 0)->cmsg_len)", 8);
        expect("offsetof(struct cmsghdr, cmsg_level)", UnixMessage.CMSG_LEVEL);
        expect("offsetof(struct cmsghdr, cmsg_type)", UnixMessage.CMSG_TYPE);
        expect("sizeof(struct iovec)", 16);
        expect("offsetof(struct iovec, iov_base)", 0);
        expect("offsetof(struct iovec, iov_len)", 8);
        expect("sizeof(struct sockaddr_un)", 3 + UnixSocket.MAX_NAME);
        expect("offsetof(struct sockaddr_un, sun_path)", 2);
        expect("sizeof(struct ucred)", 12);
        expect("offsetof(struct ucred, pid)", 0);
        expect("offsetof(struct ucred, uid)", 4);
        expect("offsetof(struct ucred, gid)", 8);
        expect("sizeof(struct pollfd)", 8);
        expect("offsetof(struct pollfd, events)", 4);
        expect("offsetof(struct pollfd, revents)", 6);
        expect("sizeof(struct timespec)", 16);
        expect("offsetof(struct timespec, tv_nsec)", 8);
        expect("sizeof(struct statx)", 256);
        expect("offsetof(struct statx, stx_mode)", Statx.MODE_OFFSET);
        expect("offsetof(struct statx, stx_ino)", Statx.INO_OFFSET);
        expect("offsetof(struct statx, stx_size)", Statx.SIZE_OFFSET);
        expect("offsetof(struct statx, stx_blocks)", Statx.BLOCKS_OFFSET);
        expect("offsetof(struct statx, stx_dev_major)", Statx.DEV_MAJOR_OFFSET);
        expect("offsetof(struct statx, stx_dev_minor)", Statx.DEV_MINOR_OFFSET);
        expect("sizeof(long)", 8);
        expect("sizeof(socklen_t)", 4);
    }

    private void constants() throws IllegalAccessException {
        constantsOf(Errno.class, "");
        constantsOf(Epoll.class, "EPOLL", "IN", "OUT", "ERR", "HUP", "RDHUP", "ONESHOT", "EPOLL_CLOEXEC");
        expect("(int) EPOLLET", Epoll.ET);
        constantsOf(Epoll.class, "EPOLL_", "CTL_ADD", "CTL_DEL", "CTL_MOD");
        constantsOf(Poll.class, "POLL", "IN", "OUT", "ERR", "HUP", "NVAL", "RDHUP");
        constantsOf(Memfd.class, "F_", "SEAL_SEAL", "SEAL_SHRINK", "SEAL_GROW", "SEAL_WRITE", "SEAL_FUTURE_WRITE");
        constantsOf(Memfd.class, "", "MFD_CLOEXEC", "MFD_ALLOW_SEALING", "MFD_NOEXEC_SEAL", "F_ADD_SEALS",
                "F_GET_SEALS");
        constantsOf(Mapping.class, "", "PROT_READ", "PROT_WRITE", "MAP_SHARED", "MAP_PRIVATE", "MAP_FIXED",
                "MAP_ANONYMOUS", "MAP_NORESERVE");
        constantsOf(Eventfd.class, "", "EFD_CLOEXEC", "EFD_NONBLOCK");
        constantsOf(Futex.class, "", "FUTEX_WAIT", "FUTEX_WAKE");
        constantsOf(Membarrier.class, "MEMBARRIER_", "CMD_QUERY", "CMD_GLOBAL_EXPEDITED",
                "CMD_REGISTER_GLOBAL_EXPEDITED");
        constantsOf(UnixSocket.class, "", "AF_UNIX", "SOCK_SEQPACKET", "SOCK_CLOEXEC", "SOCK_NONBLOCK", "SOL_SOCKET",
                "SO_PEERCRED", "SHUT_RDWR", "F_GETFL", "F_SETFL", "O_NONBLOCK");
        constantsOf(UnixMessage.class, "", "MSG_CTRUNC", "MSG_TRUNC", "MSG_NOSIGNAL", "MSG_CMSG_CLOEXEC", "SCM_RIGHTS");
        constantsOf(Statx.class, "", "AT_EMPTY_PATH", "STATX_TYPE", "STATX_INO", "STATX_SIZE", "STATX_BLOCKS",
                "S_IFMT", "S_IFREG");
        constantsOf(Madvise.class, "", "MADV_WILLNEED", "MADV_HUGEPAGE");
        constantsOf(DmaBuf.class, "", "DMA_BUF_SYNC_READ", "DMA_BUF_SYNC_WRITE", "DMA_BUF_SYNC_RW",
                "DMA_BUF_SYNC_START", "DMA_BUF_SYNC_END", "SEEK_END");
        expect("DMA_BUF_IOCTL_SYNC", DmaBuf.DMA_BUF_IOCTL_SYNC);
        expect("sizeof(struct dma_buf_sync)", 8);
        expect("F_DUPFD_CLOEXEC", Fd.F_DUPFD_CLOEXEC);
        expect("PR_SET_PTRACER", Prctl.PR_SET_PTRACER);
        expect("(int) PR_SET_PTRACER_ANY", Prctl.PTRACER_ANY);
        expect("CLOCK_MONOTONIC", 1);
    }

    /** Expects constants of a class under their names with a prefix; all public ones if none is named. */
    private void constantsOf(Class<?> type, String prefix, String... names) throws IllegalAccessException {
        for (Field field : type.getDeclaredFields()) {
            boolean wanted = names.length == 0
                    ? Modifier.isPublic(field.getModifiers())
                    : List.of(names).contains(field.getName());
            if (wanted && field.getType() == int.class) {
                String name = field.getName();
                expect(name.startsWith("EPOLL_") ? name : prefix + name, field.getInt(null));
            }
        }
    }

    private static Map<String, String> run(Path dir, String program) throws Exception {
        Path source = Files.writeString(dir.resolve("probe.c"), program);
        Path binary = dir.resolve("probe");
        Process gcc;
        try {
            gcc = new ProcessBuilder("gcc", "-DNUMBER=\"%lld\"", "-DINT=\"%d\"", "-o", binary.toString(), source
                    .toString()).redirectErrorStream(true).start();
        } catch (IOException absent) {
            System.out.println("LayoutProbeTest skipped: gcc is not installed (" + absent.getMessage() + ")");
            return Map.of();
        }
        String messages = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(gcc.waitFor()).as(messages).isZero();
        ProcessBuilder builder = new ProcessBuilder(binary.toString());
        builder.environment().put("LC_ALL", "C");
        Process probe = builder.start();
        Map<String, String> values = new LinkedHashMap<>();
        new String(probe.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().forEach(line -> {
            String[] parts = line.split("\t", 2);
            values.put(parts[0], parts[1]);
        });
        assertThat(probe.waitFor()).isZero();
        return values;
    }
}
