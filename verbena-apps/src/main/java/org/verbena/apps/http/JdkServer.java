// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.http;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;
import org.verbena.apps.Tls;

/**
 * The JDK's server: {@code JdkServer FOLDER [KEYSTORE]}. GET answers with a file of the folder, POST with the hash of
 * the request body. Prints {@code port}.
 */
public final class JdkServer {
    private JdkServer() {}

    /** Runs until its input ends. */
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        HttpServer server;
        if (args.length > 1) {
            HttpsServer secure = HttpsServer.create(any, 1024);
            secure.setHttpsConfigurator(new HttpsConfigurator(Tls.context(args[1])));
            server = secure;
        } else {
            server = HttpServer.create(any, 1024);
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            server.setExecutor(threads);
            server.createContext("/", exchange -> answer(exchange, folder));
            server.start();
            Lines.say("port", server.getAddress().getPort());
            Lines.awaitEnd();
            server.stop(0);
        }
    }

    private static void answer(HttpExchange exchange, Path folder) throws IOException {
        try (exchange) {
            if (exchange.getRequestMethod().equals("POST")) {
                byte[] hash = Data.hash(exchange.getRequestBody()).getBytes(StandardCharsets.US_ASCII);
                exchange.sendResponseHeaders(200, hash.length);
                exchange.getResponseBody().write(hash);
                return;
            }
            Path file = folder.resolve(exchange.getRequestURI().getPath().substring(1));
            long size = Files.size(file);
            exchange.sendResponseHeaders(200, size == 0 ? -1 : size);
            try (OutputStream out = exchange.getResponseBody()) {
                Files.copy(file, out);
            }
        }
    }
}
