// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.FileDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.FileChannel;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.FileChannelImpl;
import sun.nio.ch.IOUtil;

import org.verbena.sockets.jdk.JdkMembers;
import org.verbena.sockets.stream.memory.StreamLog;

/**
 * The descriptor of a file of the JDK, which stays open as long as it is held: the holder is among the threads that the JDK
 * waits for before it closes the descriptor, as one that reads or writes. So it is held for moments only.
 *
 * <p>These are private members of the JDK. Where they are not accessible, or with another JDK, no file can be held. Thread-safe.
 */
public final class FileHold {
    /** No hold; {@link #release} takes it, too. */
    static final int NONE = -1;

    private static final @Nullable Jdk JDK = find();

    private FileHold() {}

    /** The members, all of {@link FileChannelImpl}. */
    private record Jdk(MethodHandle descriptor, MethodHandle direct, MethodHandle writable, MethodHandle threads,
            MethodHandle add, MethodHandle remove) {
        static Jdk find() throws ReflectiveOperationException {
            MethodHandles.Lookup lookup = JdkMembers.lookup(FileChannelImpl.class);
            Class<?> set = lookup.findClass("sun.nio.ch.NativeThreadSet");
            return new Jdk(lookup.findGetter(FileChannelImpl.class, "fd", FileDescriptor.class),
                    lookup.findGetter(FileChannelImpl.class, "direct", boolean.class),
                    lookup.findGetter(FileChannelImpl.class, "writable", boolean.class),
                    lookup.findGetter(FileChannelImpl.class, "threads", set).asType(MethodType.methodType(Object.class,
                            FileChannelImpl.class)),
                    lookup.findVirtual(set, "add", MethodType.methodType(int.class)).asType(MethodType.methodType(
                            int.class, Object.class)),
                    lookup.findVirtual(set, "remove", MethodType.methodType(void.class, int.class)).asType(MethodType
                            .methodType(void.class, Object.class, int.class)));
        }
    }

    private static @Nullable Jdk find() {
        if (!JdkMembers.areAccessible()) {
            return null;
        }
        try {
            return Jdk.find();
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            StreamLog.debug("files are read into buffers: " + e);
            return null;
        }
    }

    /** Whether files of the JDK can be held. */
    static boolean isPossible() {
        return JDK != null;
    }

    /** Whether a file is open for writing, as far as that can be told without writing to it. */
    public static boolean isWritable(FileChannel file) {
        Jdk jdk = JDK;
        if (jdk == null || file.getClass() != FileChannelImpl.class) {
            return true;
        }
        try {
            return (boolean) jdk.writable.invokeExact((FileChannelImpl) file);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Holds a file.
     *
     * @return what to {@link #release}; {@link #NONE} if it cannot be held, is closed, or is one of {@code O_DIRECT}, which
     *     waits for the disk and wants aligned memory
     */
    static int take(FileChannel file) {
        Jdk jdk = JDK;
        if (jdk == null || file.getClass() != FileChannelImpl.class) {
            return NONE;
        }
        try {
            FileChannelImpl f = (FileChannelImpl) file;
            if ((boolean) jdk.direct.invokeExact(f)) {
                return NONE;
            }
            Object threads = (Object) jdk.threads.invokeExact(f);
            int held = (int) jdk.add.invokeExact(threads);
            if (!f.isOpen()) {
                jdk.remove.invokeExact(threads, held);
                return NONE;
            }
            return held;
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** The descriptor of a file that is held. */
    static int descriptor(FileChannel file) {
        try {
            return IOUtil.fdVal((FileDescriptor) jdk().descriptor.invokeExact((FileChannelImpl) file));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Lets go of what {@link #take} has taken. */
    static void release(FileChannel file, int held) {
        try {
            Jdk jdk = jdk();
            Object threads = (Object) jdk.threads.invokeExact((FileChannelImpl) file);
            jdk.remove.invokeExact(threads, held);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** For one that holds a file. */
    private static Jdk jdk() {
        return Objects.requireNonNull(JDK);
    }

    private static RuntimeException unexpected(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return e instanceof RuntimeException r ? r : new IllegalStateException(e);
    }
}
