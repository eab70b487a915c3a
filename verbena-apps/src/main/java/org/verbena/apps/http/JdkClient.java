// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.http;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.GeneralSecurityException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import org.verbena.apps.Tls;

/** {@link HttpClient}, by HTTP/1.1. */
final class JdkClient implements HttpLoad.Client {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpClient client;

    JdkClient(String keys) throws IOException, GeneralSecurityException {
        HttpClient.Builder b = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).executor(threads);
        if (!keys.isEmpty()) {
            b.sslContext(Tls.context(keys));
        }
        client = b.build();
    }

    private static void check(HttpResponse<?> response) throws IOException {
        if (response.statusCode() != 200) {
            throw new IOException(response + ": " + response.body());
        }
    }

    @Override
    public InputStream open(String url) throws Exception {
        HttpResponse<InputStream> r = client.send(HttpRequest.newBuilder(URI.create(url)).build(),
                BodyHandlers.ofInputStream());
        check(r);
        return r.body();
    }

    @Override
    public String post(String url, byte[] body) throws Exception {
        HttpResponse<String> r = client.send(HttpRequest.newBuilder(URI.create(url))
                .POST(BodyPublishers.ofByteArray(body)).build(), BodyHandlers.ofString());
        check(r);
        return r.body();
    }

    @Override
    public void close() {
        client.close();
        threads.close();
    }
}
