// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.verbena.sockets.*;

/** Decides at run time which connections stay with TCP: by a rule, and by the thread that makes them. */
public class SocketRules {
    public static void main(String[] args) throws Exception {
        try (VerbenaServerSocketChannel server = VerbenaServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            InetSocketAddress address = (InetSocketAddress) server.getLocalAddress();
            System.out.println("no rule: " + carrier(address));

            Verbena.addRule("use os tcp_client 127.0.0.0/8:" + address.getPort() + " counter local");
            System.out.println("a rule: " + carrier(address));
            System.out.println("counted: " + Verbena.ruleCounters());

            Verbena.addRule("use stream tcp_client *:*"); // before the other one
            System.out.println("another: " + carrier(address));

            Verbena.offload(Thread.currentThread(), false); // whatever the rules say
            System.out.println("this thread: " + carrier(address));
            Thread.ofVirtual().start(() -> System.out.println("another thread: " + carrier(address))).join();
        }
    }

    /** What is to carry a connection that this thread makes. */
    static String carrier(InetSocketAddress address) {
        try (VerbenaSocketChannel channel = VerbenaSocketChannel.open()) {
            channel.connect(address);
            return (channel.getOption(VerbenaSocketOptions.TRANSPORT) + " " + channel.fallbackReason()).strip();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
