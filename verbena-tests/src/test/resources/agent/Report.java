// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * A program that knows nothing of Verbena: sends itself a word, and prints the provider that carried it. For Java 8 and
 * later.
 */
public class Report {
    public static void main(String[] words) throws Exception {
        for (String w : words) {
            if (w.equals("wait")) { // until the agent has said its line, if there is one
                provider();
                for (long end = System.nanoTime() + 50000000000L; isPending() && System.nanoTime() - end < 0;) {
                    Thread.sleep(20);
                }
            } else if (w.equals("domain")) {
                System.out.println("domain " + provider().getClass().getProtectionDomain().implies(
                        new java.security.AllPermission()));
            } else if (w.equals("provider")) {
                System.out.println("provider " + provider().getClass().getName());
            } else if (w.equals("same")) {
                try (SocketChannel s = SocketChannel.open(); DatagramChannel d = DatagramChannel.open()) {
                    System.out.println("same " + (s.provider() == provider()) + " " + (d.provider() == provider()));
                }
            } else if (w.equals("unnamed")) {
                Object module = Class.class.getMethod("getModule").invoke(provider().getClass());
                System.out.println("unnamed " + !(Boolean) module.getClass().getMethod("isNamed").invoke(module));
            } else if (w.equals("select")) {
                try (Selector s = Selector.open()) {
                    System.out.println("select " + s.selectNow());
                }
            } else if (w.equals("echo")) {
                System.out.println("echo " + echo());
            } else if (w.equals("classic")) {
                System.out.println("classic " + classic());
            } else if (w.equals("file")) {
                System.out.println("file " + file());
            } else if (w.equals("property")) {
                System.out.println("property " + System.getProperty("verbena.counters"));
            } else if (w.equals("attach")) { // and from now on all is asked again, after each line of input
                System.out.println("ready");
                while (System.in.read() >= 0) {
                    System.out.println("provider " + provider().getClass().getName());
                    System.out.println("echo " + echo());
                }
            } else if (w.equals("own")) {
                System.setProperty("java.nio.channels.spi.SelectorProvider", "sun.nio.ch.EPollSelectorProvider");
            } else if (w.startsWith("exit")) {
                System.exit(Integer.parseInt(w.substring(4)));
            } else if (w.equals("sleep")) {
                System.out.println("ready");
                Thread.sleep(60000);
            }
        }
    }

    /**
     * The agent's thread prints its line after it has set the property, and a daemon's output dies with the process.
     */
    private static boolean isPending() {
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().equals("verbena-start")) {
                return true;
            }
        }
        return System.getProperty("verbena.agent", "").startsWith("active when");
    }

    private static SelectorProvider provider() {
        return SelectorProvider.provider();
    }

    private static String classic() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket peer = server.accept()) {
            client.getOutputStream().write("hello".getBytes("US-ASCII"));
            byte[] in = new byte[5];
            for (int n = 0; n < in.length; n += peer.getInputStream().read(in, n, in.length - n)) {
            }
            return new String(in, "US-ASCII");
        }
    }

    /** Sends a file, larger than what is on the way holds; whether it arrived, and whether its sender mapped it. */
    private static String file() throws Exception {
        byte[] sent = new byte[32 << 20];
        for (int i = 0; i < sent.length; i++) {
            sent[i] = (byte) (i * 31 + (i >>> 8));
        }
        final File name = File.createTempFile("report", null);
        try (RandomAccessFile file = new RandomAccessFile(name, "rw");
                ServerSocketChannel server = ServerSocketChannel.open()) {
            file.write(sent);
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            try (final SocketChannel client = SocketChannel.open(server.getLocalAddress());
                    SocketChannel peer = server.accept()) {
                final FileChannel channel = file.getChannel();
                Thread sender = new Thread() {
                    @Override
                    public void run() {
                        try {
                            for (long at = 0; at < channel.size();) {
                                at += channel.transferTo(at, channel.size() - at, client);
                            }
                            client.shutdownOutput();
                        } catch (Exception e) {
                            e.printStackTrace();
                        }
                    }
                };
                sender.start();
                String by = by(sender);
                ByteBuffer in = ByteBuffer.allocate(sent.length + 1);
                while (peer.read(in) >= 0) {
                }
                in.flip();
                return in.equals(ByteBuffer.wrap(sent)) + " " + by;
            }
        } finally {
            name.delete();
        }
    }

    /** By what a thread sends that waits in Verbena's channel. */
    private static String by(Thread sender) {
        for (;;) {
            String by = "mapping";
            boolean waits = false;
            for (StackTraceElement frame : sender.getStackTrace()) {
                waits |= frame.getClassName().endsWith(".Output");
                by = frame.getMethodName().equals("sendFile") ? "sendFile" : by;
            }
            if (waits) {
                return by;
            }
        }
    }

    private static String echo() throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            try (SocketChannel client = SocketChannel.open(server.getLocalAddress());
                    SocketChannel peer = server.accept()) {
                client.write(ByteBuffer.wrap("hello".getBytes("US-ASCII")));
                ByteBuffer in = ByteBuffer.allocate(5);
                while (in.hasRemaining() && peer.read(in) >= 0) {
                }
                return new String(in.array(), "US-ASCII");
            }
        }
    }
}
