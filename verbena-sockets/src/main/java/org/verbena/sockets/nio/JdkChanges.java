// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketImpl;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongBinaryOperator;

import org.jspecify.annotations.Nullable;
import sun.net.PlatformSocketImpl;
import sun.nio.ch.SelChImpl;
import sun.nio.ch.SelectionKeyImpl;

import org.verbena.sockets.VerbenaAsynchronousChannelProvider;
import org.verbena.sockets.VerbenaSelectorProvider;
import org.verbena.sockets.stream.PublishedSockets;
import org.verbena.sockets.telemetry.SocketLayout;

/**
 * Which of the agent's changes to the JDK are in effect: another agent may have taken one back. Each is tried, by what
 * leads to it in the JDK and opens nothing. Thread-safe.
 */
public final class JdkChanges {
    private static final int CHANNELS = 0;
    private static final int SOCKETS = 1;
    private static final int LISTENERS = 2;
    private static final int ASYNCHRONOUS = 3;
    private static final int TRANSFER = 4;

    /** The thread that tries new sockets, and whether it was asked. */
    private static volatile @Nullable Thread tries;
    private static boolean asked;

    private static volatile Set<String> made = Set.of();
    private static volatile boolean asynchronous;
    private static @Nullable FileChannel file; // closed

    private JdkChanges() {}

    /**
     * Says what the agent has changed; may be called again.
     *
     * @param parts of {@link SocketLayout#PARTS}
     */
    public static void made(Set<String> parts) {
        made = Set.copyOf(parts);
        PublishedSockets.activeBy(JdkChanges::inEffect);
    }

    /** The JDK has asked for Verbena's provider of asynchronous channels. */
    public static void asynchronousAsked() {
        asynchronous = true;
    }

    /** Bits, in the order of {@link SocketLayout#PARTS}: what is in effect. */
    public static synchronized int inEffect() {
        int all = 0;
        for (int part = 0; part < SocketLayout.PARTS.size(); part++) {
            if (made.contains(SocketLayout.PARTS.get(part)) && isInEffect(part)) {
                all |= 1 << part;
            }
        }
        return all;
    }

    /** What was made and is not in effect, with commas between; empty if nothing. */
    public static String takenBack() {
        int active = inEffect();
        StringBuilder b = new StringBuilder();
        for (int part = 0; part < SocketLayout.PARTS.size(); part++) {
            String name = SocketLayout.PARTS.get(part);
            if (made.contains(name) && (active & 1 << part) == 0) {
                b.append(b.isEmpty() ? "" : ", ").append(name);
            }
        }
        return b.toString();
    }

    private static boolean isInEffect(int part) {
        if (CallerPolicy.hasRefused() && part != LISTENERS && part != TRANSFER) { // those serve what is open
            return false;
        }
        try {
            return switch (part) {
                case CHANNELS -> SelectorProvider.provider() instanceof VerbenaSelectorProvider;
                case SOCKETS -> areSocketsAsked();
                case LISTENERS -> areListenersAsked();
                case ASYNCHRONOUS -> !asynchronous // the JDK is not made to choose: the program may name its own yet
                        || AsynchronousChannelProvider.provider() instanceof VerbenaAsynchronousChannelProvider;
                case TRANSFER -> isTransferAsked();
                default -> false;
            };
        } catch (IOException e) {
            return false;
        }
    }

    // ---- new sockets: the method that makes them is called, for a Socket would have the JDK look for proxies

    /** Found when it is first asked for. */
    private static @Nullable MethodHandle makes;

    private static boolean areSocketsAsked() throws IOException {
        asked = false;
        tries = Thread.currentThread();
        try {
            MethodHandle made = makes;
            if (made == null) {
                made = PlainAcceptor.members().findStatic(SocketImpl.class, "createPlatformSocketImpl", MethodType
                        .methodType(SocketImpl.class, boolean.class));
                makes = made;
            }
            return (SocketImpl) made.invokeExact(false) != null && asked;
        } catch (IOException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException("new sockets cannot be tried: " + e, e);
        } finally {
            tries = null;
        }
    }

    /** Whether a new socket is such a trial: then it is to be the JDK's. */
    static boolean isTrial() {
        if (tries != Thread.currentThread()) {
            return false;
        }
        asked = true;
        return true;
    }

    // ---- what accepts

    private static boolean areListenersAsked() throws IOException {
        Listening impl = new Listening();
        try (Trial listener = new Trial(impl)) {
            listener.accept();
        } catch (SocketException tried) {
            return impl.asked;
        }
        return false;
    }

    /** Something that listens has asked, maybe such a trial. */
    static void tried(SocketImpl listener) {
        if (listener instanceof Listening l) {
            l.asked = true;
        }
    }

    private static final class Trial extends ServerSocket {
        Trial(SocketImpl impl) {
            super(impl);
        }

        @Override
        public Socket accept() throws IOException {
            Socket none = new Socket((SocketImpl) null) {};
            implAccept(none);
            return none;
        }
    }

    /** The JDK takes it for a platform's. */
    private static final class Listening extends NoSocketImpl implements PlatformSocketImpl {
        boolean asked;

        @Override
        protected void accept(SocketImpl s) throws SocketException {
            throw new Tried();
        }
    }

    /** What is thrown each time somebody looks at the process, and by none but {@link Listening} here. */
    private static final class Tried extends SocketException {
        private static final long serialVersionUID = 1L;

        Tried() {
            super("this was a trial");
        }

        @Override
        @SuppressWarnings("UnsynchronizedOverridesSynchronized")
        public Throwable fillInStackTrace() {
            return this;
        }
    }

    // ---- transferTo: of a file that is closed, to a channel that is closed

    private static boolean isTransferAsked() throws IOException {
        FileChannel f = file;
        if (f == null) {
            f = FileChannel.open(Path.of("/dev/null"));
            f.close();
            file = f;
        }
        try {
            return f.transferTo(0, 1, new Target()) == 1;
        } catch (java.nio.channels.ClosedChannelException e) {
            return false;
        }
    }

    private static final class Target
            implements
                SelChImpl,
                WritableByteChannel,
                Function<FileChannel, LongBinaryOperator> {
        @Override
        public LongBinaryOperator apply(FileChannel from) {
            return (position, count) -> count;
        }

        @Override
        public int write(ByteBuffer from) {
            return 0;
        }

        @Override
        public boolean isOpen() {
            return false;
        }

        @Override
        public void close() {}

        @Override
        public FileDescriptor getFD() {
            return new FileDescriptor();
        }

        @Override
        public int getFDVal() {
            return -1;
        }

        @Override
        public boolean translateAndUpdateReadyOps(int ops, SelectionKeyImpl key) {
            return false;
        }

        @Override
        public boolean translateAndSetReadyOps(int ops, SelectionKeyImpl key) {
            return false;
        }

        @Override
        public int translateInterestOps(int ops) {
            return 0;
        }

        @Override
        public void kill() {}
    }
}
