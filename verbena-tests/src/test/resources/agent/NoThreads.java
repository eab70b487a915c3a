// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Opens its first sockets while it can start no thread, as at a limit of processes, and others when it can. */
public class NoThreads {
    /** Less than the stack of a thread, see the test; enough for the rest of a JVM. */
    private static final long FREE = 300L << 20;
    private static final long PAGE = 4096;

    public static void main(String[] words) throws Exception {
        boolean classic = words[0].equals("classic");
        String pages = new String(Files.readAllBytes(Paths.get("/proc/self/statm")), "US-ASCII").split(" ")[0];
        limit(Long.parseLong(pages) * PAGE + FREE + ":");
        try {
            new Thread(() -> {}).start();
            System.out.println("a thread");
        } catch (OutOfMemoryError e) {
            System.out.println("no thread");
        }
        System.out.println(classic ? classic() : channels());
        System.out.println(classic ? classic() : channels());
        limit("unlimited:");
        new Thread(() -> System.out.println("a thread again")).start();
        System.out.println(classic ? classic() : channels());
    }

    /** Of the address space, which a stack has to be in. */
    private static void limit(String bytes) throws Exception {
        String process = ManagementFactory.getRuntimeMXBean().getName().split("@")[0];
        int code = new ProcessBuilder("prlimit", "--pid", process, "--as=" + bytes).inheritIO().start().waitFor();
        if (code != 0) {
            throw new AssertionError("prlimit: " + code);
        }
    }

    private static String channels() throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                SocketChannel client = SocketChannel.open(server.getLocalAddress());
                SocketChannel peer = server.accept()) {
            client.write(ByteBuffer.wrap(new byte[] {'c'}));
            ByteBuffer in = ByteBuffer.allocate(1);
            peer.read(in);
            return "channels " + (char) in.get(0);
        }
    }

    private static String classic() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket peer = server.accept()) {
            client.getOutputStream().write('s');
            return "classic " + (char) peer.getInputStream().read();
        }
    }
}
