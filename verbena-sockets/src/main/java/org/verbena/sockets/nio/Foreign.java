package org.verbena.sockets.nio;

import java.nio.channels.Channel;

/** The answer to a selector of another provider. */
final class Foreign {
    private Foreign() {}

    static IllegalStateException selector(Channel channel) {
        return new IllegalStateException(channel
                + " is registered with a selector of another provider, which cannot know"
                + " when it is ready; open the selector with provider().openSelector() of the channel");
    }
}
