// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import static java.net.StandardProtocolFamily.UNIX;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.DefaultSelectorProvider;
import sun.nio.ch.SelectorProviderImpl;

import org.verbena.sockets.nio.CallerPolicy;
import org.verbena.sockets.nio.NioChannels;
import org.verbena.sockets.nio.VerbenaSelector;
import org.verbena.sockets.stream.Summary;

/**
 * The selector provider whose TCP channels use the transport {@code stream} where both ends can. Datagram channels,
 * pipes and Unix-domain channels are the JDK's own, with this as their provider; so are all, where {@link CallerPolicy
 * a policy} leaves Verbena none.
 */
@SuppressWarnings("exports") // the JDK's own provider, for the channels that stay the kernel's
public final class VerbenaSelectorProvider extends SelectorProviderImpl {
    private static volatile @Nullable VerbenaSelectorProvider instance;

    /**
     * For {@link SelectorProvider#provider()}, which finds it by the system property.
     *
     * @throws IllegalArgumentException if a system property of the channels, or a rule, is invalid
     */
    public VerbenaSelectorProvider() {
        DropIn.check();
        String unknown = DropInProperty.unknown();
        if (unknown != null) { // the agent refuses it; here it may belong to another library
            System.getLogger("org.verbena.sockets").log(System.Logger.Level.WARNING, unknown);
        }
        Summary.atExit();
        CarriedProcess.made();
    }

    /**
     * The provider of the process if it is Verbena's, else one beside it. Made at the first use: the creation of the
     * process's provider must not ask for it.
     */
    public static VerbenaSelectorProvider instance() {
        VerbenaSelectorProvider i = instance;
        return i == null ? find() : i;
    }

    private static synchronized VerbenaSelectorProvider find() {
        VerbenaSelectorProvider i = instance;
        if (i == null) {
            i = SelectorProvider.provider() instanceof VerbenaSelectorProvider p ? p : new VerbenaSelectorProvider();
            instance = i;
        }
        return i;
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        return CallerPolicy.refuses(false) ? DefaultSelectorProvider.get().openSelector() : new VerbenaSelector(this);
    }

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        SocketChannel inner = super.openSocketChannel();
        return CallerPolicy.refuses(inner) ? inner : NioChannels.over(this, inner);
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        SocketChannel inner = super.openSocketChannel(family);
        return family == UNIX || CallerPolicy.refuses(inner) ? inner : NioChannels.over(this, inner);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        ServerSocketChannel inner = super.openServerSocketChannel();
        return CallerPolicy.refuses(inner) ? inner : NioChannels.over(this, inner);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        ServerSocketChannel inner = super.openServerSocketChannel(family);
        return family == UNIX || CallerPolicy.refuses(inner) ? inner : NioChannels.over(this, inner);
    }

    // ---- for programs that ask for Verbena's channels by name

    SocketChannel openOwn() throws IOException {
        return NioChannels.over(this, super.openSocketChannel());
    }

    SocketChannel openOwn(ProtocolFamily internet) throws IOException {
        return NioChannels.over(this, super.openSocketChannel(internet));
    }

    ServerSocketChannel openOwnServer() throws IOException {
        return NioChannels.over(this, super.openServerSocketChannel());
    }

    ServerSocketChannel openOwnServer(ProtocolFamily internet) throws IOException {
        return NioChannels.over(this, super.openServerSocketChannel(internet));
    }

    /** As the JDK's: a channel that another process made is the kernel's. */
    @Override
    public @Nullable Channel inheritedChannel() throws IOException {
        return DefaultSelectorProvider.get().inheritedChannel();
    }
}
