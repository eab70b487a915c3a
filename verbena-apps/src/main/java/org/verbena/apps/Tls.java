// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A key and its own certificate, in a file that both ends read. */
public final class Tls {
    /** Of the file and of the key. */
    private static final char[] PASSWORD = "changeit".toCharArray();

    private Tls() {}

    private static KeyStore load(String file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(Path.of(file))) {
            store.load(in, PASSWORD);
        }
        return store;
    }

    /** The key manager of a server. */
    public static KeyManagerFactory keys(String file) throws IOException, GeneralSecurityException {
        KeyManagerFactory f = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        f.init(load(file), PASSWORD);
        return f;
    }

    /** The trust manager of a client. */
    public static TrustManagerFactory trust(String file) throws IOException, GeneralSecurityException {
        TrustManagerFactory f = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        f.init(load(file));
        return f;
    }

    /** Both. */
    public static SSLContext context(String file) throws IOException, GeneralSecurityException {
        SSLContext c = SSLContext.getInstance("TLS");
        c.init(keys(file).getKeyManagers(), trust(file).getTrustManagers(), null);
        return c;
    }
}
