// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

import com.sun.management.OperatingSystemMXBean;

/**
 * Opens a connection on a thread that has a group, a priority and a context class loader of its own; then interrupts all threads of
 * Verbena's, and goes on. Prints what Verbena's threads took over from that thread, what carries the connections, and how many
 * milliseconds of processor time the process has used in a second of rest.
 */
public class Interrupts {
    public static void main(String[] words) throws Exception {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        ClassLoader loader = new URLClassLoader(new URL[0]);
        ThreadGroup group = new ThreadGroup("theirs");
        List<SocketChannel[]> first = new ArrayList<SocketChannel[]>();
        Thread opener = new Thread(group, () -> {
            try {
                first.add(talked(server));
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
        opener.setContextClassLoader(loader);
        opener.setPriority(Thread.MIN_PRIORITY);
        opener.start();
        opener.join();
        awaitThread("verbena-counters"); // the last to begin
        List<String> heirs = new ArrayList<String>();
        int interrupted = 0;
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().startsWith("verbena-")) {
                if (t.getThreadGroup() == group || t.getPriority() == Thread.MIN_PRIORITY
                        || t.getContextClassLoader() == loader) {
                    heirs.add(t.getName());
                }
                t.interrupt();
                interrupted++;
            }
        }
        group.interrupt();
        System.out.println(interrupted > 2 ? "interrupted" : "found " + interrupted);
        System.out.println("heirs " + heirs);
        talk(first.get(0));
        System.out.println(transport(first.get(0)));
        System.out.println(transport(talked(server)));
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 20 && least > 200; i++) { // compilers work for a while
            long before = system.getProcessCpuTime();
            Thread.sleep(1000);
            least = Math.min(least, (system.getProcessCpuTime() - before) / 1_000_000);
        }
        System.out.println(least);
    }

    private static void awaitThread(String name) throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        while (Thread.getAllStackTraces().keySet().stream().noneMatch(t -> t.getName().equals(name))) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("there is no thread " + name);
            }
            Thread.sleep(10);
        }
    }

    private static String transport(SocketChannel[] ends) throws Exception {
        for (SocketOption<?> o : ends[0].supportedOptions()) {
            if (o.name().equals("VERBENA_TRANSPORT")) {
                return (String) ends[0].getOption(o);
            }
        }
        return "none";
    }

    private static SocketChannel[] talked(ServerSocketChannel server) throws Exception {
        SocketChannel client = SocketChannel.open(server.getLocalAddress());
        SocketChannel[] ends = {client, server.accept()};
        for (int i = 0; i < 10_000 && !transport(ends).equals("stream"); i++) {
            talk(ends);
            Thread.sleep(1);
        }
        return ends;
    }

    private static void talk(SocketChannel[] ends) throws Exception {
        for (int i = 0; i < 2; i++) {
            ends[i].write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            ByteBuffer in = ByteBuffer.allocate(3);
            while (in.hasRemaining()) {
                if (ends[1 - i].read(in) < 0) {
                    throw new IllegalStateException("end");
                }
            }
        }
    }
}
