// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.verbena.stack.*;
import org.verbena.verbs.*;

/**
 * A host in user space that answers ping, and at port 7 of UDP and TCP sends back what comes. Its interface is made by root before: see
 * docs/stack.md.
 */
public class StackEcho {
    public static void main(String[] args) throws Exception {
        if (args.length != 2) {
            System.err.println("usage: StackEcho tap_DEVICE ADDRESS/BITS, such as tap_vrb0 10.9.0.2/24");
            System.exit(2);
        }
        try (Context context = Verbs.open(args[0]);
                Stack stack = Stack.open(context, StackConfig.of(args[1]));
                UdpSocket socket = stack.bindUdp(7);
                TcpServer server = stack.listenTcp(7, 128)) {
            System.out.println("listening at " + stack.address().getHostAddress());
            Thread.ofPlatform().daemon().start(() -> accept(server));
            ByteBuffer bytes = ByteBuffer.allocateDirect(65_536);
            UdpPeer from = new UdpPeer();
            while (socket.receive(bytes.clear(), from, Duration.ofDays(1))) {
                try {
                    socket.send(bytes.flip(), from);
                } catch (IOException e) { // not every sender can be answered: its port may be 0, its subnet one without a way
                    System.out.println("not answered: " + e.getMessage());
                }
            }
        }
    }

    private static void accept(TcpServer server) {
        try {
            while (true) {
                TcpSocket s = server.accept(Duration.ofDays(1));
                if (s != null) {
                    Thread.ofVirtual().start(() -> echo(s));
                }
            }
        } catch (IOException e) {
            System.out.println("no more connections: " + e.getMessage());
        }
    }

    private static void echo(TcpSocket socket) {
        try (socket) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(65_536);
            while (socket.read(bytes.clear()) >= 0) {
                socket.write(bytes.flip());
            }
        } catch (IOException e) {
            System.out.println(socket + ": " + e.getMessage());
        }
    }
}
