// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import java.io.IOException;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.IllegalChannelGroupException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.LinuxAsynchronousChannelProvider;

import org.verbena.sockets.async.ChannelGroup;
import org.verbena.sockets.async.StreamAsynchronousChannel;
import org.verbena.sockets.async.StreamAsynchronousServerChannel;
import org.verbena.sockets.nio.CallerPolicy;

/**
 * The provider of asynchronous channels beside {@link VerbenaSelectorProvider}: theirs use the transport {@code stream}
 * where both ends can, as its channels do. By the agent, or by the system property {@code
 * java.nio.channels.spi.AsynchronousChannelProvider}. Thread-safe.
 */
public final class VerbenaAsynchronousChannelProvider extends AsynchronousChannelProvider {
    private @Nullable ChannelGroup defaultGroup; // guarded by this

    /** For {@link AsynchronousChannelProvider#provider()}, which finds it by the system property. */
    public VerbenaAsynchronousChannelProvider() {}

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(int threads, ThreadFactory factory)
            throws IOException {
        JdkAccess.check();
        if (CallerPolicy.refuses(false)) {
            return Jdk.PROVIDER.openAsynchronousChannelGroup(threads, factory);
        }
        return ChannelGroup.fixed(this, threads, factory);
    }

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(ExecutorService executor, int initialSize)
            throws IOException {
        JdkAccess.check();
        if (CallerPolicy.refuses(false)) {
            return Jdk.PROVIDER.openAsynchronousChannelGroup(executor, initialSize);
        }
        return ChannelGroup.over(this, executor, initialSize);
    }

    @Override
    public AsynchronousServerSocketChannel openAsynchronousServerSocketChannel(
            @Nullable AsynchronousChannelGroup group) throws IOException {
        if (!(group instanceof ChannelGroup) && CallerPolicy.refuses(true)) {
            return Jdk.PROVIDER.openAsynchronousServerSocketChannel(group);
        }
        return new StreamAsynchronousServerChannel(own(group), VerbenaServerSocketChannel.open());
    }

    @Override
    public AsynchronousSocketChannel openAsynchronousSocketChannel(@Nullable AsynchronousChannelGroup group)
            throws IOException {
        if (!(group instanceof ChannelGroup) && CallerPolicy.refuses(false)) {
            return Jdk.PROVIDER.openAsynchronousSocketChannel(group);
        }
        return new StreamAsynchronousChannel(own(group), VerbenaSocketChannel.open());
    }

    /**
     * Where {@link CallerPolicy a policy} leaves Verbena no channels. By its class: the JDK's factory would return
     * Verbena's.
     */
    private static final class Jdk {
        static final AsynchronousChannelProvider PROVIDER = new LinuxAsynchronousChannelProvider();
    }

    private synchronized ChannelGroup own(@Nullable AsynchronousChannelGroup group) throws IOException {
        JdkAccess.check();
        if (group == null) {
            if (defaultGroup == null || defaultGroup.isShutdown()) { // an error may have ended it
                defaultGroup = ChannelGroup.ofDefault(this);
            }
            return defaultGroup;
        }
        if (!(group instanceof ChannelGroup own) || own.provider() != this) {
            throw new IllegalChannelGroupException();
        }
        return own;
    }
}
