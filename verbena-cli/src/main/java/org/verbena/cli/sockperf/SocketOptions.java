// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.List;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

import org.verbena.cli.support.CommandException;
import org.verbena.sockets.VerbenaSockets;

/** The options of all modes that say which sockets there are, and how they are waited for. */
final class SocketOptions {
    private static final int DEFAULT_PORT = 11_111;
    private static final int LAST_PORT = 65_535;
    private static final int MOST_TOS = 255;
    private static final int MOST_HOPS = 255;

    /** How a thread learns that a message has come. */
    enum Wait {
        /** By a selector. */
        SELECT,
        /** In the call that receives it. */
        BLOCK,
        /** By trying again and again. */
        SPIN
    }

    @Option(names = "--tcp", description = "By TCP, not UDP.") boolean tcp;

    @Option(names = {"-i", "--ip"}, paramLabel = "ADDRESS",
            description = "Listen on, or send to, this address (default: a server all of this machine, a client 127.0.0.1).")
    @Nullable String address;

    @Option(names = {"-p", "--port"}, paramLabel = "PORT", defaultValue = "11111",
            description = "Listen on, or connect to, this port (default: ${DEFAULT-VALUE}; of a server 0: any that is free).") int port = DEFAULT_PORT;

    @Option(names = {"-f", "--file"}, paramLabel = "FILE",
            description = "Listen on, or send in turn to, what a file has: lines T:ADDRESS:PORT and U:ADDRESS:PORT[:SOURCE].")
    @Nullable Path file;

    @Option(names = {"-F", "--iomux-type"}, paramLabel = "TYPE",
            description = "Wait with a selector: s, select, p, poll, e, epoll are one; or in the receiving call: r, recvfrom (default: for one socket r, else e).")
    @Nullable String mux;

    @Option(names = "--timeout", paramLabel = "MSEC", defaultValue = "10",
            description = "The longest wait of a selector, -1 for no end (default: ${DEFAULT-VALUE}).") int timeout = 10;

    @Option(names = "--nonblocked", description = "Poll the sockets, and never sleep.") boolean nonblocked;

    @Option(names = "--tcp-avoid-nodelay",
            description = "Turn Nagle's algorithm on, and for throughput off.") boolean avoidNoDelay;

    @Option(names = "--tos", paramLabel = "TOS", description = "Type of service, 0 to 255.")
    @Nullable Integer tos;

    @Option(names = "--buffer-size", paramLabel = "BYTES",
            description = "Of a socket, for receiving and for sending.")
    @Nullable Integer bufferSize;

    @Option(names = "--mc-rx-if", paramLabel = "ADDRESS",
            description = "The interface on which groups are received, by its address.")
    @Nullable String groupReceive;

    @Option(names = "--mc-tx-if", paramLabel = "ADDRESS",
            description = "The interface by which is sent to groups, by its address.")
    @Nullable String groupSend;

    @Option(names = "--mc-loopback-enable",
            description = "What is sent to groups is received on this machine, too.") boolean groupLoopback;

    @Option(names = "--mc-ttl", paramLabel = "HOPS", defaultValue = "2",
            description = "How far messages to groups go (default: ${DEFAULT-VALUE}).") int groupHops = 2;

    @Option(names = "--mc-source-filter", paramLabel = "ADDRESS",
            description = "Of a group, receive from this sender only.")
    @Nullable String groupSource;

    @Option(names = "--uc-reuseaddr", description = "Let several servers have one address.") boolean reuse;

    @Option(names = {"--verbena", "--load-vma"},
            description = "Sockets of Verbena by its rules, as with its agent (default: the JDK's).") boolean verbena;

    /**
     * The connections, at least one.
     *
     * @param otherwise the address if none is given
     * @param anyPort whether port 0 is any that is free
     */
    List<Endpoint> endpoints(String otherwise, boolean anyPort) throws IOException {
        int first = anyPort ? 0 : 1;
        if (port < first || port > LAST_PORT) {
            throw new CommandException("--port " + port + " is not " + first + " to " + LAST_PORT);
        }
        Path f = file;
        if (f != null) {
            if (address != null) {
                throw new CommandException("--file has the addresses, --ip another one: give one of the two");
            }
            return Endpoint.read(f);
        }
        String a = address;
        String s = groupSource;
        return List.of(new Endpoint(tcp, new InetSocketAddress(Endpoint.host(a == null ? otherwise : a), port),
                s == null
                        ? null
                        : Endpoint.host(s)));
    }

    void check() throws CommandException {
        require(tos == null || tos >= 0 && tos <= MOST_TOS, "--tos " + tos + " is not 0 to " + MOST_TOS);
        require(bufferSize == null || bufferSize > 0, "--buffer-size " + bufferSize + " is not a number of bytes");
        require(groupHops >= 0 && groupHops <= MOST_HOPS, "--mc-ttl " + groupHops + " is not 0 to " + MOST_HOPS);
        require(timeout >= -1, "--timeout " + timeout + " is not a number of milliseconds, or -1 for no end");
        require(groupSource == null || file == null,
                "--mc-source-filter is for --ip; in --file a line has its source at its end");
    }

    private static void require(boolean right, String message) throws CommandException {
        if (!right) {
            throw new CommandException(message);
        }
    }

    @Nullable
    InetAddress receiveInterface() throws IOException {
        String a = groupReceive;
        return a == null ? null : Endpoint.host(a);
    }

    @Nullable
    InetAddress sendInterface() throws IOException {
        String a = groupSend;
        return a == null ? null : Endpoint.host(a);
    }

    Wait wait(int sockets) throws CommandException {
        String m = mux == null ? sockets == 1 ? "r" : "e" : mux;
        Wait w = switch (m) {
            case "s", "select", "p", "poll", "e", "epoll" -> Wait.SELECT;
            case "r", "recvfrom" -> Wait.BLOCK;
            default -> throw new CommandException("--iomux-type " + m + " is none of s, p, e and r");
        };
        if (w == Wait.BLOCK && sockets > 1 && !nonblocked) {
            throw new CommandException("--iomux-type " + m + " waits for one socket, and there are " + sockets
                    + ": take e, or --nonblocked");
        }
        return nonblocked ? Wait.SPIN : w;
    }

    SelectorProvider provider() throws CommandException {
        if (!verbena) {
            return SelectorProvider.provider();
        }
        try {
            return VerbenaSockets.selectorProvider();
        } catch (UnsupportedOperationException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }
}
