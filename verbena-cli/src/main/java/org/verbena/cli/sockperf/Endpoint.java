// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.PeerException;

/**
 * One line of a file of connections: {@code [U|T]:address:port[:source]}; an IPv6 address stands in brackets.
 *
 * @param tcp whether by TCP
 * @param address where a server listens, or a client sends to
 * @param source the only sender that a member of the group receives from; null: any
 */
record Endpoint(boolean tcp, InetSocketAddress address, @Nullable InetAddress source) {
    boolean isGroup() {
        return address.getAddress().isMulticastAddress();
    }

    /** The same at the address that a socket was bound to. */
    Endpoint at(SocketAddress local) {
        return new Endpoint(tcp, new InetSocketAddress(address.getAddress(), ((InetSocketAddress) local).getPort()),
                source);
    }

    @Override
    public String toString() {
        return String.format("IP = %-15s PORT = %5d # %s", address.getAddress().getHostAddress(), address.getPort(), tcp
                ? "TCP"
                : "UDP");
    }

    static InetAddress host(String name) throws PeerException {
        try {
            return InetAddress.getByName(name);
        } catch (UnknownHostException e) {
            throw new PeerException("there is no host '" + HumanText.printable(name) + "'", e);
        }
    }

    /** All that a file names, in its order. */
    static List<Endpoint> read(Path file) throws IOException, CommandException {
        List<Endpoint> all = new ArrayList<>();
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                try {
                    all.add(parse(line));
                } catch (IllegalArgumentException e) {
                    throw new CommandException("line " + (i + 1) + " of " + file + ", '" + HumanText.printable(line)
                            + "', is not T:ADDRESS:PORT or U:ADDRESS:PORT[:SOURCE]: " + e.getMessage(), e);
                }
            }
        }
        if (all.isEmpty()) {
            throw new CommandException(file
                    + " names no connection: a line is T:ADDRESS:PORT or U:ADDRESS:PORT[:SOURCE]");
        }
        return all;
    }

    private static Endpoint parse(String line) throws PeerException {
        boolean tcp = line.startsWith("T:") || line.startsWith("t:");
        boolean named = tcp || line.startsWith("U:") || line.startsWith("u:");
        String rest = named ? line.substring(2) : line;
        int host = rest.startsWith("[") ? rest.indexOf(']') + 1 : rest.indexOf(':');
        int source = rest.indexOf(':', host + 1);
        HostPort at = HostPort.parse(source < 0 ? rest : rest.substring(0, source));
        String name = at.host().replaceAll("[\\[\\]]", "");
        return new Endpoint(tcp, new InetSocketAddress(host(name), at.port()), source < 0
                ? null
                : host(rest.substring(source + 1).replaceAll("[\\[\\]]", "")));
    }
}
