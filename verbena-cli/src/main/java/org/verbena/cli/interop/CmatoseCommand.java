// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import org.verbena.cli.support.PeerException;
import org.verbena.verbs.ConnectionListener;
import org.verbena.verbs.ConnectionRequest;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/**
 * {@code verbena ucmatose}: {@code ucmatose} of librdmacm, over the connection manager of any device. That program
 * sends the contents of its memory, and receives into the same memory: its replies are the messages that it received.
 */
@Command(name = "ucmatose", sortOptions = false,
        description = {"Connects by the connection manager, sends messages, gets them back, disconnects.",
            "Either end may be ucmatose of librdmacm, with the same options; what comes back is always compared."})
public final class CmatoseCommand implements Callable<Integer> {
    private static final int USUAL_PORT = 7471;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CmToolOptions options;

    @Override
    public Integer call() throws IOException {
        options.check();
        String device = options.device("");
        InetSocketAddress address = options.address(USUAL_PORT, device);
        try (Context context = Verbs.open(device)) {
            if (options.isServer()) {
                serve(context, address);
            } else {
                ask(context, address);
            }
        }
        return 0;
    }

    private void serve(Context context, InetSocketAddress at) throws IOException {
        List<CmatoseEndpoint> all = new ArrayList<>();
        try (ConnectionListener listener = context.connectionManager().listen(at)) {
            options.sayListening(listener.localAddress());
            while (all.size() < options.connections()) {
                ConnectionRequest request = listener.awaitRequest(options.timeout());
                if (request == null) {
                    throw new PeerException(all.size() + " of " + options.connections() + " clients came, the last "
                            + options.timeout().toSeconds() + " seconds ago or more");
                }
                all.add(CmatoseEndpoint.accept(context, request, options));
            }
        }
        long start = System.nanoTime();
        for (CmatoseEndpoint e : all) {
            e.send();
        }
        for (CmatoseEndpoint e : all) {
            e.awaitSends();
        }
        for (CmatoseEndpoint e : all) {
            e.awaitReplies();
        }
        long nanos = System.nanoTime() - start;
        for (CmatoseEndpoint e : all) {
            e.disconnect();
        }
        options.report(nanos);
    }

    private void ask(Context context, InetSocketAddress to) throws IOException {
        List<CmatoseEndpoint> all = new ArrayList<>();
        try {
            while (all.size() < options.connections()) {
                all.add(CmatoseEndpoint.connect(context, to, options));
            }
        } catch (VerbsException e) {
            throw PeerException.orNobody(e, to, "ucmatose");
        }
        long start = System.nanoTime();
        for (CmatoseEndpoint e : all) {
            e.awaitMessages();
        }
        for (CmatoseEndpoint e : all) {
            e.send();
        }
        for (CmatoseEndpoint e : all) {
            e.awaitSends();
        }
        long nanos = System.nanoTime() - start;
        for (CmatoseEndpoint e : all) {
            e.awaitDisconnected();
        }
        options.report(nanos);
    }
}
