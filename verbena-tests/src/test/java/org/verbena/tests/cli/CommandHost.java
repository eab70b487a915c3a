// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

import org.verbena.cli.Main;
import org.verbena.cli.support.Typography;

/**
 * A process that runs one command of {@code verbena} after the other, or several at a time, each as if it were alone:
 * the start of a JVM takes ten times as much of the processor as a short command. The tests' end is {@link HostedCommand}.
 */
final class CommandHost {
    static final byte OUT = 1;
    static final byte ERR = 2;
    static final byte EXIT = 3;

    private CommandHost() {}

    /** Prints its port, and ends with its standard input. */
    public static void main(String[] none) throws IOException {
        // processes that a command starts are to have its modules alone, and so an archive of classes
        System.setProperty("java.class.path", "");
        ServerSocket server = new ServerSocket();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        System.out.println(server.getLocalPort());
        Thread.ofPlatform().daemon().start(() -> serve(server));
        while (System.in.read() >= 0) {
            // nothing is told this way
        }
        System.exit(0);
    }

    private static void serve(ServerSocket server) {
        while (true) {
            try {
                Socket test = server.accept();
                Thread.ofPlatform().daemon().name("command").start(() -> run(test));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static void run(Socket test) {
        try (test) {
            DataInputStream in = new DataInputStream(test.getInputStream());
            String[] property = words(in);
            if (property.length != 0) {
                System.setProperty(property[0], property[1]);
            }
            String[] words = words(in);
            DataOutputStream frames = new DataOutputStream(new BufferedOutputStream(test.getOutputStream()));
            int code = Main.commandLine(words).setOut(Typography.writer(new Frames(frames, OUT),
                    StandardCharsets.UTF_8))
                    .setErr(Typography.writer(new Frames(frames, ERR), StandardCharsets.UTF_8)).execute(words);
            synchronized (frames) {
                frames.writeByte(EXIT);
                frames.writeInt(Integer.BYTES);
                frames.writeInt(code);
                frames.flush();
            }
        } catch (IOException gone) {
            // the test has ended
        }
    }

    private static String[] words(DataInputStream in) throws IOException {
        String[] words = new String[in.readInt()];
        for (int i = 0; i < words.length; i++) {
            words[i] = in.readUTF();
        }
        return words;
    }

    /** One of the two outputs of a command. */
    private static final class Frames extends OutputStream {
        private final DataOutputStream frames;
        private final byte kind;

        Frames(DataOutputStream frames, byte kind) {
            this.frames = frames;
            this.kind = kind;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            synchronized (frames) {
                frames.writeByte(kind);
                frames.writeInt(length);
                frames.write(from, offset, length);
            }
        }

        @Override
        public void flush() throws IOException {
            synchronized (frames) {
                frames.flush();
            }
        }
    }
}
