// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.verbena.linux.spi.Native;
import org.verbena.linux.spi.SyscallNumber;

/**
 * A new network namespace, with no interface except a loopback that is down: network_namespaces(7), unshare(2). It
 * ends, with all interfaces in it, when its last thread has ended and its last socket is closed. Stateless and
 * thread-safe.
 */
public final class NetworkNamespace {
    static final int CLONE_NEWNET = 0x40000000;
    private static final Path DISABLE_IPV6 = Path.of("/proc/sys/net/ipv6/conf/default/disable_ipv6");

    private NetworkNamespace() {}

    /**
     * The namespace of the calling thread, which exists at least as long as the descriptor is open.
     *
     * @return a descriptor that refers to it
     * @throws LinuxException {@code EMFILE}, {@code ENFILE}, {@code ENOENT} (no proc(5))
     */
    public static Fd open() throws LinuxException {
        return PosixFile.open(Path.of("/proc/thread-self/ns/net"), PosixFile.O_RDONLY, 0);
    }

    /**
     * Switches IPv6 off, as far as proc(5) can be written, for the interfaces that are made afterwards in the calling
     * thread's namespace: so that the kernel sends no packets of its own on them (router solicitations, multicast
     * reports). The {@code disable_ipv6} of the kernel's ip-sysctl.
     *
     * @throws IOException if the setting is refused
     */
    public static void disableIpv6() throws IOException {
        if (Files.isWritable(DISABLE_IPV6)) {
            Files.writeString(DISABLE_IPV6, "1");
        }
    }

    /**
     * Runs an action on a new platform thread in a new namespace. The thread ends afterwards, so that nothing else ever
     * runs there; other threads of the process keep their namespace.
     *
     * @param <T> the action's result
     * @param action opens its own sockets: existing ones belong to other namespaces
     * @return the action's result
     * @throws LinuxException {@code EPERM} (CAP_SYS_ADMIN is missing), {@code ENOSPC} (too many namespaces),
     *         {@code EINVAL} (the kernel has none)
     * @throws InterruptedException if the calling thread was interrupted; so is the action then
     * @throws Exception of the action
     */
    public static <T> T callInNew(Callable<T> action) throws Exception {
        FutureTask<T> task = new FutureTask<>(() -> {
            Args.check(Native.call(SyscallNumber.UNSHARE, CLONE_NEWNET), "unshare(CLONE_NEWNET)");
            return action.call();
        });
        Thread thread = Thread.ofPlatform().daemon().name("verbena-netns").start(task);
        try {
            T answer = task.get();
            thread.join();
            return answer;
        } catch (InterruptedException e) {
            task.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            thread.join();
            switch (e.getCause()) {
                case Exception thrown -> throw thrown;
                case Error thrown -> throw thrown;
                case null, default -> throw e;
            }
        }
    }
}
