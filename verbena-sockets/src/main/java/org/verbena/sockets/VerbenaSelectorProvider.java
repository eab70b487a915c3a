package org.verbena.sockets;

import java.io.IOException;
import java.nio.channels.spi.AbstractSelector;

import sun.nio.ch.DefaultSelectorProvider;
import sun.nio.ch.SelectorProviderImpl;

/** The selector provider whose TCP channels use the transport {@code stream} where both ends can. */
@SuppressWarnings("exports") // the JDK's own provider, for the channels that stay the kernel's
public final class VerbenaSelectorProvider extends SelectorProviderImpl {
    /** For {@link java.nio.channels.spi.SelectorProvider#provider()}, which finds it by the system property. */
    public VerbenaSelectorProvider() {}

    @Override
    public AbstractSelector openSelector() throws IOException {
        return DefaultSelectorProvider.get().openSelector();
    }
}
