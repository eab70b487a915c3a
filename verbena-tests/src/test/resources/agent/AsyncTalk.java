// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;

/** A program of asynchronous channels that knows nothing of Verbena: an echo server, or its client. For Java 8. */
public class AsyncTalk {
    /** After this many messages a connection waits until its transport is decided. */
    private static final int UNDECIDED = 2;
    private static final long LONGEST_NANOS = 60000000000L;

    public static void main(String[] words) throws Exception {
        if (words[0].equals("serve")) { // CONNECTIONS
            new Server(Integer.parseInt(words[1])).serve();
        } else if (words[0].equals("talk")) { // PORT CONNECTIONS MESSAGES BYTES
            talk(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]),
                    Integer.parseInt(words[4]));
        } else if (words[0].equals("provider")) {
            AsynchronousSocketChannel channel = AsynchronousSocketChannel.open();
            System.out.println(AsynchronousChannelProvider.provider().getClass().getName() + " "
                    + (channel.provider() == AsynchronousChannelProvider.provider()));
            channel.close();
        // the carrier of a word in a new group and in an old one, after each byte of input
        } else if (words[0].equals("attach")) {
            AsynchronousChannelGroup group = AsynchronousChannelGroup.withFixedThreadPool(1, new ThreadFactory() {
                @Override
                public Thread newThread(Runnable task) {
                    Thread t = new Thread(task);
                    t.setDaemon(true);
                    return t;
                }
            });
            System.out.println("ready");
            while (System.in.read() >= 0) {
                System.out.println("new " + echo(null));
                System.out.println("old " + echo(group));
            }
        }
    }

    /** Sends a byte, and prints its carrier. */
    private static String echo(AsynchronousChannelGroup group) throws Exception {
        try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open(group);
                AsynchronousSocketChannel client = AsynchronousSocketChannel.open(group)) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Future<AsynchronousSocketChannel> accepted = server.accept();
            client.connect(server.getLocalAddress()).get();
            try (AsynchronousSocketChannel peer = accepted.get()) {
                Future<Integer> read = peer.read(ByteBuffer.allocate(1));
                write(client, ByteBuffer.allocate(1));
                return read.get() + " through " + peer.provider().getClass().getSimpleName();
            }
        }
    }

    /** Completion handlers. */
    private static final class Server implements CompletionHandler<AsynchronousSocketChannel, Void> {
        private final AsynchronousServerSocketChannel listener = AsynchronousServerSocketChannel.open();
        private final CountDownLatch open;
        private int toAccept;

        Server(int connections) throws IOException {
            open = new CountDownLatch(connections);
            toAccept = connections;
        }

        void serve() throws IOException, InterruptedException {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            System.out.println(((InetSocketAddress) listener.getLocalAddress()).getPort());
            listener.accept(null, this);
            open.await();
            listener.close();
        }

        @Override
        public void completed(AsynchronousSocketChannel channel, Void nothing) {
            if (--toAccept > 0) {
                listener.accept(null, this);
            }
            new Echo(channel, open).read();
        }

        @Override
        public void failed(Throwable failure, Void nothing) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private static final class Echo implements CompletionHandler<Integer, Boolean> {
        private final AsynchronousSocketChannel channel;
        private final CountDownLatch open;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(20000);

        Echo(AsynchronousSocketChannel channel, CountDownLatch open) {
            this.channel = channel;
            this.open = open;
        }

        void read() {
            buffer.clear();
            channel.read(buffer, false, this);
        }

        @Override
        public void completed(Integer bytes, Boolean written) {
            try {
                if (bytes < 0) {
                    channel.close();
                    open.countDown();
                    return;
                }
            } catch (IOException e) {
                failed(e, written);
            }
            if (!written) {
                buffer.flip();
            }
            if (buffer.hasRemaining()) {
                channel.write(buffer, true, this);
            } else {
                read();
            }
        }

        @Override
        public void failed(Throwable failure, Boolean written) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    /** Futures: several connections, each with a message under way. */
    private static void talk(int port, int connections, int messages, int bytes) throws Exception {
        AsynchronousSocketChannel[] all = new AsynchronousSocketChannel[connections];
        for (int i = 0; i < connections; i++) {
            all[i] = AsynchronousSocketChannel.open();
            all[i].connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).get();
        }
        Random random = new Random(1);
        for (int m = 0; m < messages; m++) {
            byte[][] said = new byte[connections][bytes];
            for (int i = 0; i < connections; i++) {
                if (m == UNDECIDED) {
                    decide(all[i]);
                }
                random.nextBytes(said[i]);
                write(all[i], ByteBuffer.wrap(said[i]));
            }
            for (int i = 0; i < connections; i++) {
                ByteBuffer back = ByteBuffer.allocate(bytes);
                while (back.hasRemaining()) {
                    if (all[i].read(back).get() < 0) {
                        throw new IOException("the end, after " + back.position());
                    }
                }
                if (!ByteBuffer.wrap(said[i]).equals(back.flip())) {
                    throw new IOException("other bytes in message " + m);
                }
            }
        }
        for (int i = 0; i < connections; i++) {
            all[i].close();
        }
        System.out.println("ok");
    }

    private static void write(AsynchronousSocketChannel channel, ByteBuffer bytes)
            throws ExecutionException, InterruptedException {
        while (bytes.hasRemaining()) {
            channel.write(bytes).get();
        }
    }

    /** Until it is decided what carries a connection, if that is to be decided. */
    private static void decide(AsynchronousSocketChannel channel) throws IOException, InterruptedException {
        for (SocketOption<?> o : channel.supportedOptions()) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                long end = System.nanoTime() + LONGEST_NANOS;
                while ("undecided".equals(channel.getOption(o)) && System.nanoTime() - end < 0) {
                    Thread.sleep(1);
                }
            }
        }
    }
}
