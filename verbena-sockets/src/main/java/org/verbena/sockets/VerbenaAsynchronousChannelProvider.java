package org.verbena.sockets;

import java.nio.channels.spi.AsynchronousChannelProvider;

import sun.nio.ch.LinuxAsynchronousChannelProvider;

/**
 * The provider of asynchronous channels beside {@link VerbenaSelectorProvider}, by the system property {@code
 * java.nio.channels.spi.AsynchronousChannelProvider}. Its channels are carried by the kernel's TCP: they are the JDK's own,
 * in groups of this provider, and reach any peer, Verbena's too.
 */
@SuppressWarnings("exports") // the JDK's own provider, which does the work
public final class VerbenaAsynchronousChannelProvider extends LinuxAsynchronousChannelProvider {
    /** For {@link AsynchronousChannelProvider#provider()}, which finds it by the system property. */
    public VerbenaAsynchronousChannelProvider() {}
}
