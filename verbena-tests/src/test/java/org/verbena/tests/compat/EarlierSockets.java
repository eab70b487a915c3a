// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import java.io.IOException;
import java.nio.file.Path;

/** What an earlier version has: its streams name no features, as those before there was remote memory. */
public final class EarlierSockets {
    private EarlierSockets() {}

    /**
     * Makes the classes in which it differs from this version.
     *
     * @param folder for them, where nothing else is
     * @return what stands before this version on a class path
     */
    public static Path make(Path folder) throws IOException {
        return new StreamPatch(folder).replace("Handshake",
                "HandshakeMessage\\.VERSION,\\s+HandshakeMessage\\.FEATURES,",
                "HandshakeMessage.VERSION, 0,").replace("RemoteSessions",
                        "HandshakeMessage\\.FEATURES, name\\.client\\(\\)",
                        "0, name.client()").compile("Handshake", "RemoteSessions");
    }
}
