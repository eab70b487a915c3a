// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.concurrent.Callable;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

/**
 * An agent beside Verbena's, and a program in one. The agent opens a listener before the program starts, and retransforms
 * classes of the JDK: {@code same} changes nothing, {@code own} returns the JDK's class file and thereby removes the patches of
 * earlier agents, as an agent does that caches the original. The program prints, after each, the implementation of its sockets.
 */
public class OtherAgent {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();

    private static Instrumentation instrumentation;
    private static ServerSocket early;

    public static void premain(String words, Instrumentation i) throws Exception {
        instrumentation = i;
        if ("early".equals(words)) {
            early = new ServerSocket(0, 10, HERE);
        } else if (words != null) {
            for (String name : words.split(";")) {
                transform(Class.forName(name), true);
            }
        }
    }

    /** Loaded into a running program. */
    public static void agentmain(String words, Instrumentation i) {
        instrumentation = i;
    }

    /**
     * Words: {@code attach}: waits for a byte; {@code same=CLASS,CLASS}, {@code own=CLASS,CLASS}; {@code timed=CLASS,CLASS}: by the
     * Flight Recorder; {@code stat}: prints that it is ready, and waits for a byte; {@code reopen}: reopens its early listener;
     * {@code said}: waits until Verbena's agent has reported the outcome.
     */
    public static void main(String[] words) throws Exception {
        if (early == null) {
            early = new ServerSocket(0, 10, HERE);
        }
        if (words.length > 0 && words[0].equals("attach")) {
            System.out.println("ready");
            System.in.read();
        }
        try (ServerSocket later = new ServerSocket(0, 10, HERE);
                ServerSocketChannel channel = ServerSocketChannel.open().bind(new InetSocketAddress(HERE, 0));
                Socket lasting = new Socket(HERE, later.getLocalPort());
                Socket accepted = later.accept()) {
            say(later, channel);
            for (String w : words) {
                if (w.equals("reopen")) {
                    early.close();
                    early = new ServerSocket(0, 10, HERE);
                }
                if (w.equals("stat")) {
                    System.out.println("ready");
                    System.in.read();
                }
                while (w.equals("said") && Thread.getAllStackTraces().keySet().stream()
                        .anyMatch(t -> t.getName().equals("verbena-start"))) {
                    Thread.sleep(1);
                }
                int equals = w.indexOf('=');
                if (equals > 0) {
                    Recording recording = null;
                    String types = w.substring(equals + 1);
                    if (w.startsWith("timed")) {
                        recording = new Recording();
                        recording.enable("jdk.MethodTiming").with("filter", types.replace(',', ';'));
                        recording.start();
                    } else {
                        for (String name : types.split(",")) {
                            transform(Class.forName(name), w.startsWith("own"));
                        }
                    }
                    say(later, channel);
                    lasting.getOutputStream().write(9);
                    accepted.getOutputStream().write(accepted.getInputStream().read());
                    System.out.println("lasting " + lasting.getInputStream().read());
                    if (recording != null) {
                        System.out.println("calls " + calls(recording));
                    }
                }
            }
            Socket[] waiting = {null};
            Thread t = new Thread(() -> waiting[0] = failing(later));
            t.start();
            while (t.getState() == Thread.State.NEW || !isIn(t, "accept")) {
                Thread.onSpinWait();
            }
            later.close();
            t.join();
        }
    }

    /** Whether the recorder has timed an accept. */
    private static boolean calls(Recording recording) throws IOException {
        recording.stop();
        Path file = Files.createTempFile("other-agent", ".jfr");
        recording.dump(file);
        recording.close();
        boolean found = RecordingFile.readAllEvents(file).stream().anyMatch(
                e -> e.getEventType().getName().equals("jdk.MethodTiming") && e.getLong("invocations") > 0);
        Files.delete(file);
        return found;
    }

    private static boolean isIn(Thread t, String method) {
        for (StackTraceElement e : t.getStackTrace()) {
            if (e.getMethodName().equals(method)) {
                return true;
            }
        }
        return false;
    }

    private static Socket failing(ServerSocket s) {
        try {
            return s.accept();
        } catch (IOException e) {
            System.out.println("closed: " + e.getMessage());
            return null;
        }
    }

    private static void say(ServerSocket later, ServerSocketChannel channel) throws Exception {
        System.out.println("early " + told(() -> echo(early)));
        System.out.println("later " + told(() -> echo(later)));
        System.out.println("new " + told(() -> {
            try (ServerSocket s = new ServerSocket(0, 10, HERE)) {
                return echo(s);
            }
        }));
        later.setSoTimeout(20);
        System.out.println("timed " + told(later::accept));
        later.setSoTimeout(0);
        System.out.println("channel " + told(() -> {
            try (SocketChannel c = SocketChannel.open(channel.getLocalAddress()); SocketChannel a = channel.accept()) {
                c.write(ByteBuffer.wrap(new byte[] {7}));
                return a.read(ByteBuffer.allocate(9)) + " " + kind(c.supportedOptions()) + " "
                        + kind(a.supportedOptions());
            }
        }));
        System.out.println("file " + told(() -> {
            try (FileChannel f = FileChannel.open(Path.of(System.getProperty("java.home"), "lib", "modules"));
                    SocketChannel c = SocketChannel.open(channel.getLocalAddress());
                    SocketChannel a = channel.accept()) {
                return f.transferTo(0, 20_000, c);
            }
        }));
    }

    private static Object told(Callable<Object> what) {
        try {
            return what.call();
        } catch (Exception e) {
            return e.toString();
        }
    }

    /** One byte there and back, and the implementations of the two ends. */
    private static String echo(ServerSocket s) throws IOException {
        try (Socket c = new Socket(HERE, s.getLocalPort()); Socket a = s.accept()) {
            c.getOutputStream().write(7);
            a.getOutputStream().write(a.getInputStream().read());
            String ports = a.getPort() == c.getLocalPort() && a.getInetAddress().equals(HERE) ? "" : " wrong address";
            return c.getInputStream().read() + " " + kind(c.supportedOptions()) + " " + kind(a.supportedOptions())
                    + ports;
        }
    }

    private static String kind(Iterable<SocketOption<?>> options) {
        for (SocketOption<?> o : options) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                return "verbena";
            }
        }
        return "jdk";
    }

    private static void transform(Class<?> type, boolean own) throws Exception {
        ClassFileTransformer t = new ClassFileTransformer() {
            @Override
            public byte[] transform(Module m, ClassLoader l, String name, Class<?> c, ProtectionDomain d, byte[] now) {
                return own && c == type ? jdks(type) : null;
            }
        };
        instrumentation.addTransformer(t, true);
        instrumentation.retransformClasses(type);
        if (!own) { // its changes stay removed as long as it is registered
            instrumentation.removeTransformer(t);
        }
    }

    private static byte[] jdks(Class<?> type) {
        try (InputStream in = Object.class.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
