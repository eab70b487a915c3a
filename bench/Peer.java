// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import sun.nio.ch.DefaultSelectorProvider;

/** The other process of a measurement: the same program with a word, which listens plainly and by Verbena. */
record Peer(Process process, int plain, int ours) implements AutoCloseable {
    /** What it does with a listener, in a thread of its own. */
    interface Serving {
        void serve(ServerSocketChannel listener) throws IOException;
    }

    /** Starts it, with the options of this JVM. */
    static Peer start(Class<?> program, String word) throws IOException {
        List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow()));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName(), word));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader said = new BufferedReader(new InputStreamReader(process.getInputStream()));
        return new Peer(process, Integer.parseInt(said.readLine()), Integer.parseInt(said.readLine()));
    }

    /** What that process does. */
    static void listen(Serving serving) throws IOException {
        for (SelectorProvider provider : List.of(DefaultSelectorProvider.get(), SelectorProvider.provider())) {
            ServerSocketChannel listener = provider.openServerSocketChannel();
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
            System.out.println(((InetSocketAddress) listener.getLocalAddress()).getPort());
            Thread.ofPlatform().start(() -> {
                try {
                    for (;;) {
                        serving.serve(listener);
                    }
                } catch (IOException e) {
                    e.printStackTrace();
                }
            });
        }
    }

    @Override
    public void close() {
        process.destroy();
    }
}
