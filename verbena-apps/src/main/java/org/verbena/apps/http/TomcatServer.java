// SPDX-License-Identifier: Apache-2.0
package org.verbena.apps.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

import org.verbena.apps.Data;
import org.verbena.apps.Lines;

/** Tomcat with its NIO connector and a servlet that behaves like {@link JdkServer}: {@code TomcatServer FOLDER}. */
public final class TomcatServer {
    private TomcatServer() {}

    /** Runs until its input ends. */
    public static void main(String[] args) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[0]);
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxKeepAliveRequests", "-1"); // connections last as long as their clients keep them
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", args[0]);
        Tomcat.addServlet(context, "files", new Servlet(Path.of(args[0])));
        context.addServletMapping("/", "files");
        tomcat.start();
        Lines.say("port", connector.getLocalPort());
        Lines.awaitEnd();
        tomcat.stop();
        tomcat.destroy();
    }

    private static final class Servlet extends HttpServlet {
        private static final long serialVersionUID = 1;

        private final transient Path folder;

        Servlet(Path folder) {
            this.folder = folder;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            Path file = folder.resolve(request.getServletPath().substring(1));
            response.setContentLengthLong(Files.size(file));
            Files.copy(file, response.getOutputStream());
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            byte[] hash = Data.hash(request.getInputStream()).getBytes(StandardCharsets.US_ASCII);
            response.setContentLength(hash.length);
            response.getOutputStream().write(hash);
        }
    }
}
