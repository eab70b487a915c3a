// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;

import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.ContentResponse;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.InputStreamResponseListener;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.util.ssl.SslContextFactory;

import org.verbena.apps.Tls;

/** Jetty's client. */
final class JettyClient implements HttpLoad.Client {
    private static final long LIMIT_SECONDS = 60;

    private final HttpClient client;

    JettyClient(String keys, int parallel) throws Exception {
        ClientConnector connector = new ClientConnector();
        if (!keys.isEmpty()) {
            SslContextFactory.Client tls = new SslContextFactory.Client();
            tls.setSslContext(Tls.context(keys));
            connector.setSslContextFactory(tls);
        }
        client = new HttpClient(new HttpClientTransportOverHTTP(connector));
        client.setMaxConnectionsPerDestination(parallel);
        client.start();
    }

    @Override
    public InputStream open(String url) throws Exception {
        InputStreamResponseListener listener = new InputStreamResponseListener();
        client.newRequest(url).send(listener);
        Response r = listener.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        if (r.getStatus() != 200) {
            throw new IOException(url + ": " + r);
        }
        return listener.getInputStream();
    }

    @Override
    public String post(String url, byte[] body) throws Exception {
        ContentResponse r = client.POST(url).body(new BytesRequestContent(body)).send();
        if (r.getStatus() != 200) {
            throw new IOException(url + ": " + r);
        }
        return r.getContentAsString();
    }

    @Override
    public void close() throws IOException {
        try {
            client.stop();
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}
