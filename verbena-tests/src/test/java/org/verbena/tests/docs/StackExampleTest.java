// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;

import org.verbena.linux.NetworkNamespace;
import org.verbena.testkit.Await;
import org.verbena.testkit.Finished;
import org.verbena.testkit.LinkState;
import org.verbena.testkit.TapInterface;
import org.verbena.tests.faults.Users;

/** The commands of docs/stack.md, in a network namespace. */
class StackExampleTest {
    private static void done(String... command) throws Exception {
        Finished f = Finished.run(command);
        assertThat(f.code()).as(String.join(" ", command) + ": " + f.output()).isZero();
    }

    @Test
    void stackAnswersPingAndEchoes() throws Exception {
        Users.needsRoot("make network interfaces");
        TapInterface.require();
        NetworkNamespace.callInNew(() -> {
            TapInterface.addUp("vrb0", "10.9.0.1/24", "user", "root");
            try (ExampleProcess p = ExampleProcess.withStack(ExampleProcess.FOLDER.resolve("StackEcho.java"),
                    "tap_vrb0",
                    "10.9.0.2/24"); DatagramChannel c = DatagramChannel.open()) {
                assertThat(p.line()).isEqualTo("listening at 10.9.0.2");
                LinkState.awaitUp("vrb0");
                done("ping", "-c", "3", "-s", "8000", "-i", "0.01", "-w", "20", "10.9.0.2");
                c.configureBlocking(false);
                ByteBuffer sent = ByteBuffer.wrap(new byte[] {1, 2, 3});
                ByteBuffer got = ByteBuffer.allocate(100);
                c.send(sent.duplicate(), new InetSocketAddress("10.9.0.2", 7));
                Await.until("the datagram is back", () -> c.receive(got) != null);
                assertThat(got.flip()).isEqualTo(sent);
                try (Socket s = new Socket("10.9.0.2", 7)) {
                    s.getOutputStream().write("hello".getBytes(StandardCharsets.US_ASCII));
                    s.shutdownOutput();
                    assertThat(s.getInputStream().readAllBytes()).asString(StandardCharsets.US_ASCII).isEqualTo(
                            "hello");
                }
            }
            return true;
        });
    }
}
