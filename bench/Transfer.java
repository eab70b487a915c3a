// SPDX-License-Identifier: Apache-2.0
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import org.verbena.sockets.VerbenaSocketChannel;
import sun.nio.ch.DefaultSelectorProvider;

/**
 * What {@code FileChannel.transferTo} a connection costs, or {@code transferFrom} it: the JDK's, Verbena's whose peer is plain,
 * and one by rings. Prints bytes per second and the processor time of each end per call, which a busy machine changes less.
 * The three take turns.
 */
final class Transfer {
    private enum By { KERNEL, PLAIN_PEER, RINGS }

    private static final int FILE = 64 << 20;
    private static final int ROUNDS = 5;
    private static final int WARM_UP_ROUNDS = 2;
    private static final int BUFFER = 1 << 20;
    private static final long[] SIZES = {4096, 16384, 65536, 1 << 20, 64 << 20};

    private Transfer() {}

    public static void main(String[] args) throws Exception {
        if (args.length == 1 && args[0].equals("--receive")) {
            receive();
            return;
        }
        boolean from = args.length > 0 && args[0].equals("--from");
        long[] sizes = Arrays.stream(args).skip(from ? 1 : 0).mapToLong(Long::parseLong).toArray();
        try (FileChannel file = file(); Peer peer = Peer.start(Transfer.class, "--receive")) {
            measure(file, from, sizes.length == 0 ? SIZES : sizes, new SocketChannel[] {
                connect(DefaultSelectorProvider.get().openSocketChannel(), peer.plain()),
                awaitTcp(connect(SocketChannel.open(), peer.plain())), awaitRing(connect(SocketChannel.open(), peer.ours()))});
        }
    }

    private static FileChannel file() throws IOException {
        Path path = Files.createTempFile("verbena", null);
        try {
            byte[] bytes = new byte[FILE];
            new Random(1).nextBytes(bytes);
            Files.write(path, bytes);
            return FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } finally {
            Files.delete(path);
        }
    }

    private static SocketChannel connect(SocketChannel channel, int port) throws IOException {
        channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return channel;
    }

    private static SocketChannel awaitRing(SocketChannel channel) throws InterruptedException {
        while (!((VerbenaSocketChannel) channel).isOutputByRing()) {
            Thread.sleep(1);
        }
        return channel;
    }

    private static SocketChannel awaitTcp(SocketChannel channel) throws InterruptedException {
        while (((VerbenaSocketChannel) channel).fallbackReason().isEmpty()) {
            Thread.sleep(1);
        }
        return channel;
    }

    private static void measure(FileChannel file, boolean from, long[] sizes, SocketChannel[] channels)
            throws IOException {
        System.out.printf("%10s  %-12s %8s %14s %14s %8s %8s%n", "bytes", "by", "GB/s", "sender us", "receiver us",
                "GB/s x", "CPU x");
        for (long size : sizes) {
            double[][][] all = new double[channels.length][3][ROUNDS];
            for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
                for (int i = 0; i < channels.length; i++) {
                    long calls = Math.max(1, size < 65536 ? round < 0 ? 40_000 : 20_000 : (64 << 20) / size);
                    double[] one = transfer(channels[i], file, from, size, calls);
                    for (int k = 0; k < one.length && round >= 0; k++) {
                        all[i][k][round] = one[k];
                    }
                }
            }
            for (By by : By.values()) {
                double[] m = medians(all[by.ordinal()]);
                double[] base = medians(all[By.KERNEL.ordinal()]);
                System.out.printf("%10d  %-12s %8.3f %14.1f %14.1f %8.2f %8.2f%n", size,
                        by.name().toLowerCase().replace('_', ' '), m[0], m[1], m[2], m[0] / base[0],
                        (m[1] + m[2]) / (base[1] + base[2]));
            }
        }
    }

    private static double[] medians(double[][] figures) {
        return Arrays.stream(figures).mapToDouble(f -> Arrays.stream(f).sorted().toArray()[ROUNDS / 2]).toArray();
    }

    /** GB/s, and microseconds of processor time per call of the sending and of the receiving thread. */
    private static double[] transfer(SocketChannel channel, FileChannel file, boolean from, long size, long calls)
            throws IOException {
        ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
        channel.write(number.putLong(0, from ? -calls * size : calls * size).clear());
        long cpu = cpu();
        long start = System.nanoTime();
        long next = 0;
        for (long i = 0; i < calls; i++) {
            long at = next + size > FILE ? 0 : next;
            next = at + size;
            while (at < next) {
                at += from ? file.transferFrom(channel, at, next - at) : file.transferTo(at, next - at, channel);
            }
        }
        double mine = (cpu() - cpu) / 1e3 / calls;
        fill(channel, number.clear());
        double peers = number.getLong(0) / 1e3 / calls;
        return new double[] {(double) calls * size / (System.nanoTime() - start), from ? peers : mine,
            from ? mine : peers};
    }

    private static long cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static void fill(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException();
            }
        }
    }

    private static void send(SocketChannel channel, ByteBuffer buffer, long bytes) throws IOException {
        for (long left = bytes; left > 0; left -= buffer.position()) {
            buffer.clear().limit((int) Math.min(left, BUFFER));
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }
    }

    private static void receive() throws IOException {
        Peer.listen(listener -> {
            SocketChannel channel = listener.accept();
            Thread.ofPlatform().daemon().start(() -> receive(channel));
        });
    }

    private static void receive(SocketChannel channel) {
        ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
        try (channel) {
            for (;;) {
                fill(channel, number.clear());
                long cpu = cpu();
                send(channel, buffer, -number.getLong(0)); // nothing if it is to receive
                for (long left = number.getLong(0); left > 0; left -= buffer.position()) {
                    if (channel.read(buffer.clear().limit((int) Math.min(left, BUFFER))) < 0) {
                        return;
                    }
                }
                channel.write(number.clear().putLong(0, cpu() - cpu));
            }
        } catch (EOFException end) {
            // the sender has ended
        } catch (IOException e) {
            e.printStackTrace();
        }
    }
}
