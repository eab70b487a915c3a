// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * A program that knows nothing of Verbena and records its own reads and writes of sockets. It says what each kind of socket
 * left in the recording: the same on the JDK's own sockets as on others.
 */
public class Recorder {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final int SIZE = 100;
    /** For how many ms a read waits at least. By the clock of the event it may be a little less. */
    private static final int WAIT = 20;
    private static final String READ = "jdk.SocketRead";
    private static final String WRITE = "jdk.SocketWrite";

    /** One end of a connection, by whichever methods. */
    interface End {
        int port() throws IOException;

        Set<SocketOption<?>> options();

        Object option(SocketOption<?> o) throws IOException;

        void write(byte[] bytes) throws Exception;

        int read(byte[] into) throws Exception;

        void close() throws IOException;
    }

    public static void main(String[] words) throws Exception {
        classic();
        channels("channel", false);
        channels("streams of a channel", true);
        selected();
        asynchronous();
        System.exit(0);
    }

    private static void classic() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 10, HERE)) {
            Socket client = new Socket(HERE, server.getLocalPort());
            Socket accepted = server.accept();
            accepted.setSoTimeout(60_000);
            talk("classic", socket(client), socket(accepted));
        }
    }

    private static void channels(String what, boolean streams) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(HERE, 0))) {
            SocketChannel client = SocketChannel.open(server.getLocalAddress());
            SocketChannel accepted = server.accept();
            if (streams) {
                accepted.socket().setSoTimeout(60_000);
            }
            talk(what, streams ? socket(client.socket()) : channel(client),
                    streams ? socket(accepted.socket()) : channel(accepted));
        }
    }

    private static End socket(Socket s) {
        return new End() {
            @Override
            public int port() {
                return s.getLocalPort();
            }

            @Override
            public Set<SocketOption<?>> options() {
                return s.getChannel() == null ? s.supportedOptions() : s.getChannel().supportedOptions();
            }

            @Override
            public Object option(SocketOption<?> o) throws IOException {
                return s.getChannel() == null ? s.getOption(o) : s.getChannel().getOption(o);
            }

            @Override
            public void write(byte[] bytes) throws IOException {
                s.getOutputStream().write(bytes);
            }

            @Override
            public int read(byte[] into) throws IOException {
                return s.getInputStream().read(into);
            }

            @Override
            public void close() throws IOException {
                s.close();
            }
        };
    }

    private static End channel(SocketChannel c) {
        return new End() {
            @Override
            public int port() throws IOException {
                return ((InetSocketAddress) c.getLocalAddress()).getPort();
            }

            @Override
            public Set<SocketOption<?>> options() {
                return c.supportedOptions();
            }

            @Override
            public Object option(SocketOption<?> o) throws IOException {
                return c.getOption(o);
            }

            @Override
            public void write(byte[] bytes) throws IOException {
                ByteBuffer all = ByteBuffer.wrap(bytes);
                if (bytes.length % 2 == 0) {
                    c.write(all);
                } else {
                    c.write(new ByteBuffer[] {all.slice(0, 1), all.slice(1, bytes.length - 1)});
                }
            }

            @Override
            public int read(byte[] into) throws IOException {
                ByteBuffer all = ByteBuffer.wrap(into);
                return into.length % 2 == 0
                        ? c.read(all)
                        : (int) c.read(new ByteBuffer[] {all.slice(0, 1), all.slice(1, into.length - 1)});
            }

            @Override
            public void close() throws IOException {
                c.close();
            }
        };
    }

    /** From the first byte, which TCP carries, until rings do; then one message in a buffer, one in two, and the end. */
    private static void talk(String what, End client, End accepted) throws Exception {
        try (Recording recording = new Recording()) {
            start(recording);
            int sent = agree(client, accepted);
            for (int n : new int[] {SIZE, SIZE + 1}) {
                client.write(new byte[n]);
                sent += n;
                for (int left = n; left > 0;) {
                    left -= accepted.read(new byte[n]);
                }
            }
            Thread reader = reading(accepted);
            Thread.sleep(WAIT);
            client.write(new byte[SIZE]);
            sent += SIZE;
            reader.join();
            int clients = client.port();
            int servers = accepted.port();
            client.close();
            int end = accepted.read(new byte[SIZE]);
            accepted.close();
            List<RecordedEvent> all = stop(recording);
            List<RecordedEvent> writes = of(all, WRITE, servers);
            List<RecordedEvent> reads = of(all, READ, clients);
            System.out.println(what + " written " + (sum(writes) - sent) + " read " + (sum(reads) - sent) + " end " + end
                    + " ends " + reads.stream().filter(e -> e.getBoolean("endOfStream")).count()
                    + " back " + (sum(of(all, WRITE, clients)) - sum(of(all, READ, servers)))
                    + " timeouts " + reads.stream().map(e -> e.getDuration("timeout").toMillis()).distinct().toList()
                    // its duration: the clock of events is not that of Instant.now(); the last read is of the end
                    + " waited " + (reads.get(reads.size() - 2).getDuration().toMillis() >= WAIT / 2)
                    + " of " + reads.getFirst().getString("address") + " " + reads.getFirst().getString("host").isEmpty()
                    + " writes " + writes.subList(writes.size() - 3, writes.size()).stream()
                            .map(e -> e.getLong("bytesWritten")).toList());
        }
    }

    /** Both ways until it is decided what carries them; answers how many bytes the client has sent. */
    private static int agree(End client, End accepted) throws Exception {
        int sent = 0;
        do {
            client.write(new byte[10]);
            sent += 10;
            for (int left = 10; left > 0;) {
                left -= accepted.read(new byte[left]);
            }
            accepted.write(new byte[10]);
            for (int left = 10; left > 0;) {
                left -= client.read(new byte[left]);
            }
            Thread.sleep(1);
        } while (isUndecided(client) || isUndecided(accepted));
        for (int i = 0; i < 20; i++) { // whichever direction is still to change, changes
            client.write(new byte[10]);
            sent += 10;
            accepted.read(new byte[10]);
            accepted.write(new byte[10]);
            client.read(new byte[10]);
        }
        return sent;
    }

    private static boolean isUndecided(End end) throws IOException {
        for (SocketOption<?> o : end.options()) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                return end.option(o).equals("undecided");
            }
        }
        return false;
    }

    /** A thread that reads and waits for what is not there yet: it is where the JDK's event has begun. */
    private static Thread reading(End end) {
        Thread t = new Thread(() -> {
            try {
                end.read(new byte[SIZE]);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        t.start();
        while (true) {
            for (StackTraceElement e : t.getStackTrace()) {
                if (e.getMethodName().matches("implRead|blockingRead|readUnrecorded|await")) {
                    return t;
                }
            }
            Thread.onSpinWait();
        }
    }

    /** Channels that do not block: what is there is read, and sendfile(2) or what stands for it has no events. */
    private static void selected() throws Exception {
        Path file = Files.createTempFile("recorder", "");
        Files.write(file, new byte[30_000]);
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(HERE, 0));
                Selector selector = Selector.open();
                FileChannel from = FileChannel.open(file, StandardOpenOption.READ);
                Recording recording = new Recording()) {
            SocketChannel client = SocketChannel.open(server.getLocalAddress());
            SocketChannel accepted = server.accept();
            agree(channel(client), channel(accepted));
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ);
            start(recording);
            int servers = ((InetSocketAddress) server.getLocalAddress()).getPort();
            int clients = ((InetSocketAddress) client.getLocalAddress()).getPort();
            for (int i = 0; i < 10; i++) {
                client.write(ByteBuffer.allocate(SIZE));
                receive(selector, accepted, SIZE);
            }
            long moved = 0;
            while (moved < 30_000) {
                moved += from.transferTo(moved, 30_000 - moved, client);
            }
            receive(selector, accepted, 30_000);
            client.close();
            accepted.close();
            List<RecordedEvent> all = stop(recording);
            System.out.println("selected written " + sum(of(all, WRITE, servers)) + " read "
                    + sum(of(all, READ, clients)) + " writes " + of(all, WRITE, servers).size());
        } finally {
            Files.delete(file);
        }
    }

    private static void receive(Selector selector, SocketChannel from, int bytes) throws IOException {
        for (int left = bytes; left > 0;) {
            selector.select();
            selector.selectedKeys().clear();
            left -= from.read(ByteBuffer.allocate(left));
        }
    }

    private static void asynchronous() throws Exception {
        try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open()
                .bind(new InetSocketAddress(HERE, 0));
                AsynchronousSocketChannel client = AsynchronousSocketChannel.open();
                Recording recording = new Recording()) {
            start(recording);
            client.connect(server.getLocalAddress()).get();
            try (AsynchronousSocketChannel accepted = server.accept().get()) {
                for (int i = 0; i < 50; i++) {
                    client.write(ByteBuffer.allocate(SIZE)).get();
                    for (int left = SIZE; left > 0;) {
                        left -= accepted.read(ByteBuffer.allocate(left)).get();
                    }
                    Thread.sleep(1);
                }
            }
            System.out.println("asynchronous " + stop(recording).size());
        }
    }

    private static void start(Recording recording) {
        for (String name : List.of(READ, WRITE)) {
            recording.enable(name).withoutThreshold().with("throttle", "off");
        }
        recording.start();
    }

    private static List<RecordedEvent> stop(Recording recording) throws IOException {
        recording.stop();
        Path file = Files.createTempFile("recorder", ".jfr");
        recording.dump(file);
        List<RecordedEvent> all = new ArrayList<>();
        for (RecordedEvent e : RecordingFile.readAllEvents(file)) {
            if (Set.of(READ, WRITE).contains(e.getEventType().getName())) {
                all.add(e);
            }
        }
        all.sort((a, b) -> a.getEndTime().compareTo(b.getEndTime()));
        Files.delete(file);
        return all;
    }

    private static List<RecordedEvent> of(List<RecordedEvent> all, String type, int remote) {
        return all.stream().filter(e -> e.getEventType().getName().equals(type) && e.getInt("port") == remote).toList();
    }

    private static long sum(List<RecordedEvent> events) {
        return events.stream().mapToLong(
                e -> e.getLong(e.getEventType().getName().equals(READ) ? "bytesRead" : "bytesWritten")).sum();
    }
}
