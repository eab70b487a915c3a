// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.lab;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A virtual machine of QEMU, without KVM: so it runs wherever a program does. Commands go through a virtio port, which is
 * QEMU's standard input and output, to {@code lab/guest/agent}.
 *
 * <pre>
 * to the machine    run ID COMMAND                 COMMAND in base64, for sh
 *                   kill ID                        with all it has started
 * from the machine  ready RELEASE                  once, of the kernel
 *                   done ID EXITCODE OUTPUT        OUTPUT in base64, the last 60,000 bytes
 * </pre>
 */
final class VirtualMachine implements Place, Closeable {
    private static final Duration BOOT = Duration.ofMinutes(6);
    /** What the agent may take beyond the time limit of a command. */
    private static final Duration ANSWER = Duration.ofSeconds(10);
    /** Beyond the largest path MTU, 4096 bytes, the headers. */
    private static final int MTU = 4200;

    private final String name;
    private final int number;
    private final Process qemu;
    private final OutputStream port;
    private final Path console;
    private final Capture capture;
    private final AtomicInteger identifiers = new AtomicInteger();
    private final CompletableFuture<String> ready = new CompletableFuture<>();
    private final Map<Integer, Integer> gids = new ConcurrentHashMap<>();
    private final Map<String, CompletableFuture<Outcome>> tasks = new ConcurrentHashMap<>();

    /**
     * Starts it, on the tap device {@code tap-NAME}.
     *
     * @param number the last part of its addresses
     * @param cpus virtual processors, a thread of this host each
     * @param image folder with kernel and initramfs
     * @param share folder that it sees, read only, as {@code /share}
     * @param jre folder with a JVM, which it sees, read only, as {@code /jre}
     * @param logs folder for what its kernel and QEMU say, and for the capture
     */
    VirtualMachine(String name, int number, int cpus, Path image, Path share, Path jre, Path logs)
            throws IOException {
        this.name = name;
        this.number = number;
        console = logs.resolve(name + ".console");
        Path pcap = logs.resolve(name + ".pcap");
        List<String> command = List.of("qemu-system-x86_64", "-name", "verbena-lab-" + name, "-accel", "tcg", "-cpu",
                "max", "-m", "1024", "-smp", Integer.toString(cpus), "-nodefaults", "-no-user-config", "-display",
                "none", "-no-reboot",
                "-kernel", image.resolve("vmlinuz").toString(), "-initrd", image.resolve("initrd").toString(),
                "-append", "console=ttyS0 quiet panic=-1 oops=panic mitigations=off",
                "-serial", "file:" + console,
                "-netdev", "tap,id=net,ifname=tap-" + name + ",script=no,downscript=no,vhost=off,vnet_hdr=off",
                "-device", "virtio-net-pci,netdev=net,romfile=,mac=52:54:00:00:00:0" + number,
                "-object", "filter-dump,id=dump,netdev=net,file=" + pcap,
                "-device", "virtio-serial-pci", "-chardev", "stdio,id=port,signal=off", "-device",
                "virtserialport,chardev=port",
                "-virtfs", shared("share", share), "-virtfs", shared("jre", jre));
        qemu = new ProcessBuilder(command).redirectError(logs.resolve(name + ".qemu").toFile()).start();
        port = qemu.getOutputStream();
        capture = new Capture(pcap);
        Thread.ofPlatform().daemon().start(this::read);
    }

    private static String shared(String name, Path folder) {
        return "local,mount_tag=" + name + ",path=" + folder + ",security_model=none,readonly=on";
    }

    /** Waits until it runs commands, and gives it addresses and an RDMA device, {@code rxe0}. */
    void awaitReady() throws IOException, InterruptedException {
        try {
            ready.get(BOOT.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IOException("virtual machine " + name + " did not start: " + lastWords(), e);
        }
        must("sysctl -qw net.ipv6.conf.eth0.accept_dad=0 && ip link set lo up && ip link set eth0 mtu " + MTU
                + " up && ip addr add " + Row.address(4, number) + "/24 dev eth0 && ip addr add " + Row.address(6,
                        number)
                + "/64 dev eth0 && rdma link add rxe0 type rxe netdev eth0");
        String[] table = must("grep . /sys/class/infiniband/rxe0/ports/1/gids/* | grep -v :0000:0000:0000:0000:0000$")
                .split("\n", -1);
        gids.put(4, index(table, "0000:0000:0000:0000:0000:ffff:c000:020" + number));
        gids.put(6, index(table, "2001:0db8:0000:0000:0000:0000:0000:000" + number));
    }

    private int index(String[] table, String gid) throws IOException {
        for (String line : table) {
            if (line.endsWith(":" + gid)) {
                return Integer.parseInt(line.replaceFirst(":.*", "").replaceFirst(".*/", ""));
            }
        }
        throw new IOException("virtual machine " + name + " has no GID " + gid + ": " + String.join(", ", table));
    }

    @Override
    public int gid(int family) {
        return gids.get(family);
    }

    /** All that passed its network card, since it started. */
    Capture capture() {
        return capture;
    }

    boolean isAlive() {
        return qemu.isAlive();
    }

    /** What its kernel said last, for a person. */
    String lastWords() throws IOException {
        if (!Files.exists(console)) {
            return "its kernel said nothing";
        }
        List<String> lines = Files.readString(console, java.nio.charset.StandardCharsets.ISO_8859_1).lines().toList();
        return String.join(System.lineSeparator(), lines.subList(Math.max(0, lines.size() - 25), lines.size()));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public Task start(String command) throws IOException {
        String id = "c" + identifiers.incrementAndGet();
        CompletableFuture<Outcome> done = new CompletableFuture<>();
        tasks.put(id, done);
        tell("run " + id + " " + Base64.getEncoder().encodeToString(command.getBytes(UTF_8)));
        return new Task() {
            @Override
            public Outcome await(Duration limit) throws IOException, InterruptedException {
                try {
                    return done.get(limit.toMillis(), TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    tell("kill " + id);
                } catch (ExecutionException e) {
                    throw new IOException(e.getCause().getMessage(), e);
                }
                try {
                    Outcome o = done.get(ANSWER.toMillis(), TimeUnit.MILLISECONDS);
                    return new Outcome(o.code(), o.output(), true);
                } catch (TimeoutException | ExecutionException e) {
                    qemu.destroyForcibly();
                    throw new IOException("virtual machine " + name + " does not answer: " + lastWords(), e);
                }
            }

            @Override
            public String printed() throws IOException, InterruptedException {
                return done.isDone() ? done.join().output() : must("cat /run/" + id + ".out");
            }
        };
    }

    private synchronized void tell(String line) throws IOException {
        port.write((line + "\n").getBytes(UTF_8));
        port.flush();
    }

    private void read() {
        try (BufferedReader in = qemu.inputReader(UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ", -1);
                if (words[0].equals("ready")) {
                    ready.complete(words[1]);
                } else if (words[0].equals("done")) {
                    String output = new String(Base64.getDecoder().decode(words[3]), UTF_8);
                    tasks.remove(words[1]).complete(new Outcome(Integer.parseInt(words[2]), output, false));
                }
            }
        } catch (IOException | RuntimeException e) {
            ready.completeExceptionally(e);
        }
        IOException ended = new IOException("virtual machine " + name + " is gone");
        ready.completeExceptionally(ended);
        tasks.values().forEach(t -> t.completeExceptionally(ended));
    }

    @Override
    public void close() {
        qemu.destroyForcibly();
    }
}
