// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.jdk;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.nio.channels.Selector;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.DefaultSelectorProvider;

/** The descriptor of a selector of the JDK, that of its epoll set: readable while one of its channels is ready, or it was woken. */
public final class SelectorDescriptor {
    /** There is none, or it is not accessible. */
    public static final int NONE = -1;

    private static final @Nullable MethodHandle EPFD = find();

    private SelectorDescriptor() {}

    private static @Nullable MethodHandle find() {
        if (!JdkMembers.areAccessible()) {
            return null;
        }
        try {
            Class<?> selector = Class.forName("sun.nio.ch.EPollSelectorImpl", false, Object.class.getClassLoader());
            return JdkMembers.lookup(selector).findGetter(selector, "epfd", int.class).asType(MethodType.methodType(
                    int.class, Selector.class));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return null;
        }
    }

    /**
     * The descriptor of a selector of {@link DefaultSelectorProvider}, which closes it with the selector.
     *
     * @return the descriptor; {@link #NONE}
     */
    public static int of(Selector selector) {
        MethodHandle epfd = EPFD;
        if (epfd == null) {
            return NONE;
        }
        try {
            return (int) epfd.invokeExact(selector);
        } catch (ClassCastException e) {
            return NONE; // of another kind
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // a getter throws nothing else
        }
    }
}
