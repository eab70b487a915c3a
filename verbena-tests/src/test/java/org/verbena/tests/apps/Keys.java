// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.apps;

import java.io.IOException;
import java.nio.file.Path;

import org.verbena.testkit.Jvm;

/** A key with its own certificate for 127.0.0.1, made by the JDK's keytool. */
record Keys(Path store, Path certificate) {
    static Keys make(Path folder) throws IOException, InterruptedException {
        Path store = folder.resolve("keys.p12");
        Path certificate = folder.resolve("certificate.pem");
        String tool = Jvm.tool("keytool");
        try (App made = App.command(folder, tool, "-genkeypair", "-alias", "own", "-keyalg", "EC", "-dname",
                "CN=localhost", "-ext", "SAN=ip:127.0.0.1,dns:localhost", "-storetype", "PKCS12", "-storepass",
                "changeit", "-keystore", store.toString())) {
            made.awaitExit(0);
        }
        try (App shown = App.command(folder, tool, "-exportcert", "-rfc", "-alias", "own", "-storepass", "changeit",
                "-keystore", store.toString(), "-file", certificate.toString())) {
            shown.awaitExit(0);
        }
        return new Keys(store, certificate);
    }
}
