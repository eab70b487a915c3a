// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.netcat;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.HostPort;
import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.PeerException;
import org.verbena.cli.support.StopHook;
import org.verbena.stack.Stack;
import org.verbena.stack.StackCapture;
import org.verbena.stack.StackConfig;
import org.verbena.stack.TcpServer;
import org.verbena.stack.TcpSocket;
import org.verbena.stack.UdpPeer;
import org.verbena.stack.UdpSocket;
import org.verbena.stack.model.CaptureStatistics;
import org.verbena.stack.model.TcpSettings;
import org.verbena.verbs.Context;
import org.verbena.verbs.Verbs;

/** {@code verbena netcat}: OpenBSD's nc, by TCP and UDP in user space. */
@Command(name = "netcat", sortOptions = false, description = {
    "Connects standard input and output to a port of another host, or to who connects, by TCP or UDP in user space.",
    "The stack is a host of its own on a device for raw packets, with the address that is given."})
public final class NetcatCommand implements Callable<Integer> {
    /** In place of an address. */
    private static final String SHARED = "shared";
    private static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);
    /** So long a refusal of a datagram is waited for. */
    private static final Duration REFUSAL = Duration.ofSeconds(2);
    private static final int LONGEST_WAIT = 86_400;
    private static final int STOP_SECONDS = 4;
    private static final int MOST_WORDS = 2;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DEVICE",
            description = "tap_<name> or xdp_<netdev>.") private String device = "";

    @Parameters(index = "1", paramLabel = "ADDRESS/BITS",
            description = {"What the stack has on it, such as 10.9.0.2/24: no other host may have the address.",
                "Or 'shared', on a device xdp_: all that the kernel has there."}) private String address = "";

    @Parameters(index = "2..*", arity = "1..*", paramLabel = "[HOST] PORT", hideParamSyntax = true,
            description = "The port to connect to; with --listen the own port alone; with --check ports, such as 20-25, too.") private List<String> words = List
                    .of();

    @Option(names = {"-g", "--gateway"}, paramLabel = "ADDRESS",
            description = "The host that forwards to other subnets.") private @Nullable String gateway;

    @Option(names = {"-l", "--listen"}, description = "Wait for one who connects, or sends.") private boolean listen;

    @Option(names = {"-u", "--udp"}, description = "UDP: each read of the input is a datagram.") private boolean udp;

    @Option(names = {"-z", "--check"}, description = "Only look whether somebody listens.") private boolean check;

    @Option(names = {"-w", "--timeout"}, paramLabel = "SECONDS",
            description = "Give up if the peer does not answer for so long; end if nothing moves for so long.") private @Nullable Integer timeout;

    @Option(names = {"-p", "--source-port"}, paramLabel = "PORT", defaultValue = "0",
            description = "The own port to connect from (default: any).") private int sourcePort;

    @Option(names = "--capture", paramLabel = "FILE",
            description = "Write the frames that come and go to a file for Wireshark.") private @Nullable Path capture;

    @Option(names = {"-v", "--verbose"}, description = "Say on standard error what is done.") private boolean verbose;

    private volatile boolean stopped;
    private @Nullable StackCapture captured;

    @Override
    public Integer call() throws IOException {
        NetcatPorts ports = ports();
        StackConfig config = config();
        Thread self = Thread.currentThread();
        try (StopHook _ = new StopHook("netcat", STOP_SECONDS, () -> {
            stopped = true;
            self.interrupt();
        }); Context context = Verbs.open(device); Stack stack = Stack.open(context, config)) {
            Path file = capture;
            captured = file == null ? null : stack.capture(file);
            return run(stack, ports);
        } catch (StandardStreams.ReaderGone e) {
            return 0;
        } catch (InterruptedIOException | InterruptedException e) {
            if (stopped) {
                return ExitCode.INTERRUPTED;
            }
            throw new IOException("interrupted", e);
        } finally {
            tellCaptured();
        }
    }

    /** What has gone wrong with the file, which is whole now. */
    private void tellCaptured() {
        StackCapture c = captured;
        if (c != null) {
            CaptureStatistics s = c.statistics();
            if (!s.problem().isEmpty()) {
                tell(s.problem() + ": " + s.frames() + " frames are there, " + s.lost() + " later ones are not");
            } else {
                say(HumanText.count(s.frames(), "frame") + " in " + capture);
            }
        }
    }

    private NetcatPorts ports() {
        if (listen && check) {
            throw wrong("--check looks at the ports of others, and --listen has an own one");
        }
        if (listen && sourcePort != 0) {
            throw wrong("--source-port is for connecting; with --listen the port is the last argument");
        }
        if (sourcePort < 0 || sourcePort > 65_535) {
            throw wrong("--source-port " + sourcePort + " is not 0 to 65535");
        }
        Integer t = timeout;
        if (t != null && (t < 1 || t > LONGEST_WAIT)) {
            throw wrong("--timeout " + t + " is not 1 to " + LONGEST_WAIT + " seconds");
        }
        int most = listen ? 1 : MOST_WORDS;
        if (words.size() > most) {
            throw wrong("the argument '" + words.get(most) + "' is one too many" + (listen
                    ? ": --listen takes a port alone"
                    : ""));
        }
        if (words.size() < most) {
            throw wrong("HOST and PORT are needed to connect, or --listen and a PORT");
        }
        NetcatPorts ports = NetcatPorts.parse(words.getLast(), this::wrong);
        if (!check && !ports.isOne()) {
            throw wrong("several ports are for --check only");
        }
        return ports;
    }

    private StackConfig config() {
        try {
            StackConfig c = address.equals(SHARED) ? StackConfig.shared() : StackConfig.of(address);
            String g = gateway;
            return g == null ? c : c.withGateway(g);
        } catch (IllegalArgumentException e) {
            throw wrong(String.valueOf(e.getMessage()));
        }
    }

    private ParameterException wrong(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }

    private Duration patience() {
        Integer t = timeout;
        return t == null ? FOREVER : Duration.ofSeconds(t);
    }

    private void say(String line) {
        if (verbose) {
            tell(line);
        }
    }

    private void tell(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("verbena: " + line);
        err.flush();
    }

    private int run(Stack stack, NetcatPorts ports) throws IOException, InterruptedException {
        if (listen) {
            listen(stack, ports.first());
            return 0;
        }
        InetAddress host = resolve(words.getFirst(), stack.address());
        if (check) {
            return check(stack, host, ports);
        }
        InetSocketAddress to = new InetSocketAddress(host, ports.first());
        if (udp) {
            try (UdpSocket s = stack.bindUdp(sourcePort)) {
                new NetcatDatagrams(s, new StandardStreams(), patience()).connect(to);
            } catch (PortUnreachableException e) {
                throw refused(to, e);
            }
            return 0;
        }
        try (TcpSocket s = connect(stack, to)) {
            say("connected to " + HostPort.text(to) + " from port " + s.port());
            talk(s);
        }
        return 0;
    }

    /** The first address that is of the stack's version of IP. */
    private static InetAddress resolve(String host, InetAddress own) throws IOException {
        InetAddress[] all;
        try {
            all = InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw new PeerException("there is no host '" + HumanText.printable(host) + "'", e);
        }
        return Arrays.stream(all).filter(a -> a.getClass() == own.getClass()).findFirst().orElse(all[0]);
    }

    private TcpSocket connect(Stack stack, InetSocketAddress to) throws IOException {
        try {
            return stack.connectTcp(sourcePort, to, patience(), TcpSettings.DEFAULT);
        } catch (SocketTimeoutException e) {
            throw new PeerException(HostPort.text(to) + " has not answered for " + HumanText.count(patience()
                    .toSeconds(), "second"), e);
        } catch (ConnectException e) {
            throw refused(to, e);
        }
    }

    private static PeerException refused(InetSocketAddress to, IOException e) {
        return new PeerException(HostPort.text(to) + " refuses: nobody listens there", e);
    }

    /** Ends with a reset if it is not the peer that has ended it. */
    private void talk(TcpSocket s) throws IOException, InterruptedException {
        try {
            new NetcatStream(s, new StandardStreams(), patience()).run();
        } catch (IOException | InterruptedException e) {
            s.abort();
            throw e;
        }
    }

    private void listen(Stack stack, int port) throws IOException, InterruptedException {
        String at = stack.address().getHostAddress();
        if (udp) {
            try (UdpSocket s = stack.bindUdp(port)) {
                say("listening at " + at + " port " + port);
                new NetcatDatagrams(s, new StandardStreams(), patience()).listen(from -> say("datagrams from "
                        + HostPort
                                .text(from)));
            }
            return;
        }
        TcpSocket accepted = null;
        try (TcpServer server = stack.listenTcp(port, 1)) {
            say("listening at " + at + " port " + port);
            while (accepted == null) {
                accepted = server.accept(FOREVER);
            }
        }
        try (TcpSocket s = accepted) {
            say("connection from " + HostPort.text(s.remoteAddress()));
            talk(s);
        }
    }

    /** Prints the ports that are open; 0 if one is. */
    private int check(Stack stack, InetAddress host, NetcatPorts ports) throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        int code = ExitCode.FAILURE;
        for (int p = ports.first(); p <= ports.last(); p++) {
            InetSocketAddress to = new InetSocketAddress(host, p);
            try {
                if (udp) {
                    probe(stack, to);
                } else {
                    connect(stack, to).close();
                }
                out.println(HostPort.text(to) + (udp ? " does not refuse" : " is open"));
                out.flush();
                code = 0;
            } catch (PeerException e) {
                if (ports.isOne()) {
                    throw e;
                }
                say(String.valueOf(e.getMessage()));
            }
        }
        if (code != 0) {
            tell("none of the ports " + ports + " of " + host.getHostAddress() + " is open");
        }
        return code;
    }

    /** Sends an empty datagram, and waits for a refusal. */
    private void probe(Stack stack, InetSocketAddress to) throws IOException, InterruptedException {
        try (UdpSocket s = stack.bindUdp(sourcePort)) {
            UdpPeer peer = UdpPeer.of(to);
            s.connect(peer);
            s.send(ByteBuffer.allocate(0), peer);
            boolean _ = s.receive(ByteBuffer.allocateDirect(1), new UdpPeer(), timeout == null
                    ? REFUSAL
                    : patience());
        } catch (PortUnreachableException e) {
            throw refused(to, e);
        }
    }
}
