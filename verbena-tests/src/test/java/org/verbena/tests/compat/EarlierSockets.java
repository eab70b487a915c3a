// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.compat;

import java.io.IOException;
import java.nio.file.Path;

/** An earlier version: its streams announce no features, like those before remote memory existed. */
public final class EarlierSockets {
    private EarlierSockets() {}

    /**
     * Compiles the classes in which it differs from this version.
     *
     * @param folder for them, which is empty
     * @return the folder to put before this version on a class path
     */
    public static Path make(Path folder) throws IOException {
        return new StreamPatch(folder).replace("Handshake",
                "HandshakeMessage\\.VERSION,\\s+HandshakeMessage\\.FEATURES,",
                "HandshakeMessage.VERSION, 0,").replace("RemoteSessions",
                        "HandshakeMessage\\.FEATURES, name\\.client\\(\\)",
                        "0, name.client()").compile("Handshake", "RemoteSessions");
    }
}
