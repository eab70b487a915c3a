// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** {@link HttpURLConnection}, which uses classic sockets. It keeps up to five connections for the next requests. */
final class UrlClient implements HttpLoad.Client {
    private static HttpURLConnection connection(String url) throws IOException {
        return (HttpURLConnection) URI.create(url).toURL().openConnection();
    }

    private static InputStream answer(HttpURLConnection c) throws IOException {
        if (c.getResponseCode() != HttpURLConnection.HTTP_OK) {
            throw new IOException(c.getURL() + ": " + c.getResponseCode());
        }
        return c.getInputStream();
    }

    @Override
    public InputStream open(String url) throws IOException {
        return answer(connection(url));
    }

    @Override
    public String post(String url, byte[] body) throws IOException {
        HttpURLConnection c = connection(url);
        c.setRequestMethod("POST");
        c.setDoOutput(true);
        c.setFixedLengthStreamingMode(body.length);
        try (OutputStream out = c.getOutputStream()) {
            out.write(body);
        }
        try (InputStream in = answer(c)) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    @Override
    public void close() {
        // its connections belong to the process
    }
}
