// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A program that knows nothing of Verbena: receives a file from another process, which has the same options, and prints
 * whether it arrived and by what it was received in the end. For Java 8 and later.
 */
public class Receive {
    private static final int SIZE = 48 << 20;
    private static final int PIECE = 1 << 20;
    private static final int HASH = 32;

    public static void main(String[] words) throws Exception {
        if (words.length > 0) {
            send(Integer.parseInt(words[0]));
            return;
        }
        final File name = File.createTempFile("receive", null);
        try (RandomAccessFile file = new RandomAccessFile(name, "rw");
                ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Process sender = sender(((InetSocketAddress) server.getLocalAddress()).getPort());
            try (SocketChannel from = server.accept()) {
                System.out.println(receive(from, file.getChannel(), name));
            }
            System.exit(sender.waitFor());
        } finally {
            name.delete();
        }
    }

    private static Process sender(int port) throws IOException {
        List<String> command = new ArrayList<String>();
        command.add(new File(System.getProperty("java.home"), "bin/java").getPath());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(Arrays.asList("-cp", System.getProperty("java.class.path"), "Receive", "" + port));
        return new ProcessBuilder(command).inheritIO().start();
    }

    private static void send(int port) throws Exception {
        MessageDigest hash = MessageDigest.getInstance("SHA-256");
        byte[] bytes = new byte[PIECE];
        Random random = new Random(5);
        try (SocketChannel to = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
            for (int sent = 0; sent < SIZE; sent += PIECE) {
                random.nextBytes(bytes);
                hash.update(bytes);
                write(to, bytes);
                if (sent == SIZE / 2) { // the rest of what the other end receives is then carried as it was decided
                    awaitDecision(to);
                }
            }
            write(to, hash.digest());
            to.shutdownOutput();
            to.read(ByteBuffer.allocate(1));
        }
    }

    private static void awaitDecision(SocketChannel channel) throws Exception {
        for (SocketOption<?> o : channel.supportedOptions()) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                for (int i = 0; i < 6000 && "undecided".equals(channel.getOption(o)); i++) {
                    Thread.sleep(5);
                }
            }
        }
    }

    private static void write(SocketChannel to, byte[] bytes) throws IOException {
        for (ByteBuffer b = ByteBuffer.wrap(bytes); b.hasRemaining();) {
            to.write(b);
        }
    }

    private static String receive(final SocketChannel from, final FileChannel file, File name) throws Exception {
        final Thread receiver = Thread.currentThread();
        final String[] by = {"the JDK"};
        Thread watch = new Thread() {
            @Override
            public void run() {
                while (!isInterrupted()) {
                    for (StackTraceElement frame : receiver.getStackTrace()) {
                        if (frame.getMethodName().equals("receivePieces")) {
                            by[0] = "Verbena";
                        }
                    }
                }
            }
        };
        watch.setDaemon(true);
        watch.start();
        long at = 0;
        for (long n = 1; n > 0; at += n) {
            n = file.transferFrom(from, at, SIZE / 3);
        }
        watch.interrupt();
        watch.join();
        byte[] all = Files.readAllBytes(name.toPath());
        MessageDigest hash = MessageDigest.getInstance("SHA-256");
        hash.update(all, 0, SIZE);
        return at + " bytes, intact " + Arrays.equals(hash.digest(), Arrays.copyOfRange(all, SIZE, SIZE + HASH))
                + ", by " + by[0];
    }
}
