// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.PeerException;
import org.verbena.linux.Errno;
import org.verbena.verbs.Context;
import org.verbena.verbs.DatagramPeer;
import org.verbena.verbs.DatagramService;
import org.verbena.verbs.Feature;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/**
 * {@code verbena udaddy}: {@code udaddy} of librdmacm. Its server sends back the beginning of the receive buffer, which
 * starts with the header that precedes a datagram; so does this one.
 */
@Command(name = "udaddy", sortOptions = false,
        description = {"Finds a datagram service by the connection manager, sends datagrams, gets them back.",
            "Either end may be udaddy of librdmacm (of which -p is the port space); what comes back is compared."})
public final class UdaddyCommand implements Callable<Integer> {
    private static final int USUAL_PORT = 7174;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CmToolOptions options;

    @Override
    public Integer call() throws IOException {
        options.check();
        String device = options.device(Feature.DATAGRAM_SERVICE);
        InetSocketAddress address = options.address(USUAL_PORT, device);
        try (Context context = Verbs.open(device)) {
            if (!context.supports(Feature.DATAGRAM_SERVICE)) {
                throw new PeerException(device
                        + " has no datagram services: leave --device out, or name another one ('verbena"
                        + " devices' lists them)");
            }
            long start = System.nanoTime();
            if (options.isServer()) {
                UdaddyEndpoint end = new UdaddyEndpoint(context, options, options.connections());
                try (DatagramService service = end.provide(context, address)) {
                    options.sayListening(service.localAddress());
                    end.serve();
                }
            } else {
                ask(context, address);
            }
            options.report(System.nanoTime() - start);
        }
        return 0;
    }

    private void ask(Context context, InetSocketAddress to) throws IOException {
        List<UdaddyEndpoint> all = new ArrayList<>();
        for (int i = 0; i < options.connections(); i++) {
            UdaddyEndpoint end = new UdaddyEndpoint(context, options, 1);
            all.add(end);
            end.ask(resolve(context, to));
        }
        for (UdaddyEndpoint end : all) {
            end.awaitReplies();
        }
    }

    private DatagramPeer resolve(Context context, InetSocketAddress to) throws IOException {
        try {
            return context.connectionManager().resolve(to, options.timeout());
        } catch (VerbsException e) {
            throw e.errno() == Errno.ECONNREFUSED
                    ? new PeerException("no datagram service at " + HostPort.text(to)
                            + ": start 'verbena udaddy' or udaddy there first", e)
                    : e;
        }
    }
}
