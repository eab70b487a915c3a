// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.nio.charset.StandardCharsets;

/** A program that knows nothing of Verbena: it sends itself words by classic sockets, and says what carried the last one. */
public class PlainSockets {
    private static final byte[] WORD = "hello".getBytes(StandardCharsets.UTF_8);

    public static void main(String[] args) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
                Socket accepted = listener.accept()) {
            String word;
            do {
                client.getOutputStream().write(WORD);
                word = new String(accepted.getInputStream().readNBytes(WORD.length), StandardCharsets.UTF_8);
                accepted.getOutputStream().write(WORD);
                client.getInputStream().readNBytes(WORD.length);
            } while (transport(client).equals("undecided"));
            System.out.println(word + ", carried by " + transport(client));
        }
    }

    /** Verbena's sockets say it by an option, which others do not have. */
    private static String transport(Socket socket) throws IOException {
        for (SocketOption<?> option : socket.supportedOptions()) {
            if (option.name().equals("VERBENA_TRANSPORT")) {
                return String.valueOf(socket.getOption(option));
            }
        }
        return "the JDK's own socket";
    }
}
