// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodTransform;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.security.ProtectionDomain;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;

/**
 * An agent that holds a policy against the immediate caller of methods of the JDK, as Elasticsearch's entitlements do, and a
 * program in one. The methods begin with a call of {@code judge.Gate}, which lies in java.base.
 */
public class Judged {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final String CHANNELS = "sun.nio.ch.";
    private static final Map<String, Set<String>> METHODS = new HashMap<>(Map.of(
            CHANNELS + "SocketChannelImpl", Set.of("bind", "connect"),
            CHANNELS + "ServerSocketChannelImpl", Set.of("bind", "accept"),
            CHANNELS + "AsynchronousSocketChannelImpl", Set.of("bind", "connect"),
            CHANNELS + "AsynchronousServerSocketChannelImpl", Set.of("bind", "accept"),
            "java.nio.channels.spi.AbstractSelectableChannel", Set.of("register"),
            "java.net.Socket", Set.of("bind", "connect"),
            "java.net.ServerSocket", Set.of("bind", "accept"),
            "java.lang.System", Set.of("setProperty"),
            "java.net.URLClassLoader", Set.of("<init>"),
            "jdk.internal.foreign.abi.AbstractLinker", Set.of("downcallHandle")));

    private static Instrumentation instrumentation;

    /** {@code now}: judges from the start. */
    public static void premain(String words, Instrumentation i) throws Exception {
        instrumentation = i;
        METHODS.put("java.nio.channels.spi.AsynchronousChannelProvider", Set.of("<init>"));
        if ("now".equals(words)) {
            judge();
        }
    }

    /** In a JVM that runs: after {@link #premain}, so that it is known here. */
    private static void judge() throws Exception {
        METHODS.put(SelectorProvider.provider().getClass().getName(),
                Set.of("openSocketChannel", "openServerSocketChannel"));
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(Module m, ClassLoader l, String name, Class<?> c, ProtectionDomain d, byte[] now) {
                Set<String> methods = name == null ? null : METHODS.get(name.replace('/', '.'));
                return methods == null ? null : asking(now, methods);
            }
        }, true);
        for (Class<?> c : instrumentation.getAllLoadedClasses()) {
            if (METHODS.containsKey(c.getName())) {
                instrumentation.retransformClasses(c);
            }
        }
    }

    private static byte[] asking(byte[] now, Set<String> methods) {
        CodeTransform first = new CodeTransform() {
            @Override
            public void atStart(CodeBuilder code) {
                code.invokestatic(ClassDesc.of("judge.Gate"), "check", MethodTypeDesc.of(ConstantDescs.CD_void));
            }

            @Override
            public void accept(CodeBuilder code, CodeElement e) {
                code.with(e);
            }
        };
        ClassFile file = ClassFile.of();
        return file.transformClass(file.parse(now), ClassTransform.transformingMethods(
                m -> methods.contains(m.methodName().stringValue()) && m.code().isPresent(),
                MethodTransform.transformingCode(first)));
    }

    /** Words: {@code judge}; {@code talk}: says what carries new sockets of each kind, or whose call was refused. */
    public static void main(String[] words) throws Exception {
        for (String w : words) {
            if (w.equals("judge")) {
                judge();
            } else {
                System.out.println("channel " + told(Judged::channel));
                System.out.println("selector " + told(Judged::selector));
                System.out.println("socket " + told(Judged::socket));
                System.out.println("asynchronous " + told(Judged::asynchronous));
            }
        }
    }

    private static Object told(Callable<Object> what) {
        try {
            return what.call();
        } catch (Throwable e) {
            return e instanceof SecurityException ? e.getMessage() : e.toString();
        }
    }

    private static String channel() throws IOException {
        try (ServerSocketChannel s = ServerSocketChannel.open().bind(new InetSocketAddress(HERE, 0));
                SocketChannel c = SocketChannel.open(s.getLocalAddress());
                SocketChannel a = s.accept()) {
            c.write(ByteBuffer.wrap(new byte[7]));
            return a.read(ByteBuffer.allocate(9)) + " " + kind(c.supportedOptions()) + " "
                    + kind(a.supportedOptions());
        }
    }

    private static String selector() throws IOException {
        try (Selector selector = Selector.open();
                ServerSocketChannel s = ServerSocketChannel.open().bind(new InetSocketAddress(HERE, 0))) {
            s.configureBlocking(false);
            s.register(selector, SelectionKey.OP_ACCEPT);
            try (SocketChannel c = SocketChannel.open(s.getLocalAddress())) {
                selector.select();
                try (SocketChannel a = s.accept()) {
                    return "accepts " + kind(a.supportedOptions()) + " " + kind(c.supportedOptions());
                }
            }
        }
    }

    private static String socket() throws IOException {
        try (ServerSocket s = new ServerSocket(0, 10, HERE);
                Socket c = new Socket(HERE, s.getLocalPort());
                Socket a = s.accept()) {
            c.getOutputStream().write(7);
            return a.getInputStream().read() + " " + kind(c.supportedOptions()) + " " + kind(a.supportedOptions());
        }
    }

    private static String asynchronous() throws Exception {
        try (AsynchronousServerSocketChannel s = AsynchronousServerSocketChannel.open()
                .bind(new InetSocketAddress(HERE, 0));
                AsynchronousSocketChannel c = AsynchronousSocketChannel.open()) {
            Future<AsynchronousSocketChannel> accepted = s.accept();
            c.connect(s.getLocalAddress()).get();
            try (AsynchronousSocketChannel a = accepted.get()) {
                c.write(ByteBuffer.wrap(new byte[7])).get();
                return a.read(ByteBuffer.allocate(9)).get() + " " + kind(c.supportedOptions()) + " "
                        + kind(a.supportedOptions());
            }
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
}
