// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** A listening TCP channel; what it accepts is a {@link VerbenaSocketChannel}. */
public abstract class VerbenaServerSocketChannel extends ServerSocketChannel {
    /** For the channels of this module. */
    protected VerbenaServerSocketChannel(SelectorProvider provider) {
        super(provider);
    }

    /**
     * Opens a channel, whatever selector provider the process has.
     *
     * @throws UnsupportedOperationException if the JDK's channels are not exported to this module
     */
    public static VerbenaServerSocketChannel open() throws IOException {
        JdkAccess.check();
        return (VerbenaServerSocketChannel) VerbenaSelectorProvider.instance().openOwnServer();
    }

    /**
     * Opens a channel of an address family, whatever selector provider the process has.
     *
     * @param family {@link java.net.StandardProtocolFamily#INET} or INET6
     * @throws UnsupportedOperationException if the JDK's channels are not exported to this module, or for another family
     */
    public static VerbenaServerSocketChannel open(ProtocolFamily family) throws IOException {
        JdkAccess.check();
        return (VerbenaServerSocketChannel) VerbenaSelectorProvider.instance().openOwnServer(JdkAccess
                .internet(family));
    }
}
