// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.http;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ResourceHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.resource.ResourceFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;
import org.verbena.apps.Tls;

/** Jetty, which behaves like {@link JdkServer}: {@code JettyServer FOLDER [KEYSTORE]}. */
public final class JettyServer {
    private JettyServer() {}

    /** Runs until its input ends. */
    public static void main(String[] args) throws Exception {
        Server server = new Server();
        ServerConnector connector;
        if (args.length > 1) {
            SslContextFactory.Server tls = new SslContextFactory.Server();
            tls.setSslContext(Tls.context(args[1]));
            connector = new ServerConnector(server, tls, new HttpConnectionFactory());
        } else {
            connector = new ServerConnector(server);
        }
        connector.setHost("127.0.0.1");
        connector.setAcceptQueueSize(1024);
        server.addConnector(connector);
        ResourceHandler files = new ResourceHandler();
        files.setBaseResource(ResourceFactory.of(server).newResource(Path.of(args[0])));
        server.setHandler(new Handler.Sequence(new Hashes(), files));
        server.start();
        Lines.say("port", connector.getLocalPort());
        Lines.awaitEnd();
        server.stop();
    }

    private static final class Hashes extends Handler.Abstract {
        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            if (!request.getMethod().equals("POST")) {
                return false;
            }
            String hash = Data.hash(Content.Source.asInputStream(request));
            response.write(true, StandardCharsets.US_ASCII.encode(hash), callback);
            return true;
        }
    }
}
