// SPDX-License-Identifier: Apache-2.0
import static org.verbena.erm.smc.SmcErm.*;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Locale;

import org.verbena.erm.RemoteMemory;
import org.verbena.erm.smc.SmcErm;
import org.verbena.sockets.*;

/**
 * The calls of SMC-ERM, in two processes: the receiver registers a buffer, the sender learns of it and copies a message
 * there; the receiver answers where the message lies, and the sender copies that back.
 */
public class SmcErmCalls {
    static final Duration LONG = Duration.ofSeconds(60);
    static final int PORT = Integer.getInteger("port", 0);
    static final int AT = 64;

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: SmcErmCalls receiver|sender, with -Dport=PORT");
            System.exit(2);
        }
        if (args[0].equals("receiver")) {
            try (VerbenaServerSocketChannel server = VerbenaServerSocketChannel.open()) {
                server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT));
                System.out.println("listening on port " + server.socket().getLocalPort());
                try (SocketChannel channel = server.accept(); Arena arena = Arena.ofShared()) {
                    receive(SmcErm.of(channel, LONG).orElseThrow(() -> new IOException(RemoteMemory.whyNot(channel))),
                            arena.allocate(4096));
                }
            }
        } else {
            try (SocketChannel channel = VerbenaSocketChannel.open(); Arena arena = Arena.ofShared()) {
                channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT));
                send(SmcErm.of(channel, LONG).orElseThrow(() -> new IOException(RemoteMemory.whyNot(channel))),
                        arena.allocate(4096));
            }
        }
    }

    static void receive(SmcErm sock, MemorySegment buff) throws Exception {
        RegMr regmr = new RegMr(buff, SMC_ACCESS_LOCAL_WRITE | SMC_ACCESS_REMOTE_READ | SMC_ACCESS_REMOTE_WRITE);
        int memid = sock.setsockopt(regmr);

        Completion ev = recvmsg(sock);
        switch (ev.event()) {
            case SMC_ERM_CMD_COPY -> {
                MemorySegment data = ev.addr();
                String text = data.getString(0);
                System.out.println("SMC_ERM_CMD_COPY: " + ev.len() + " bytes at "
                        + (data.address() - buff.address()) + ": " + text);
                data.setString(0, text.toUpperCase(Locale.ROOT));
            }
            default -> throw new IllegalStateException("an uninteresting event: " + ev.event());
        }
        sock.memory().channel().write(ByteBuffer.allocate(1)); // the socket is one as before: "it is answered"

        expect(SMC_ERM_CMD_COPY, recvmsg(sock)); // the sender has read it, and said so
        sock.setsockopt(new DeregMr(memid)); // from here on the buffer is this program's alone
    }

    static void send(SmcErm sock, MemorySegment message) throws Exception {
        Completion theirs = expect(MR_ADDED, recvmsg(sock)); // what the receiver has registered
        System.out.println("memory of " + theirs.len() + " bytes, memid " + theirs.memid());

        int mine = sock.setsockopt(new RegMr(message, SMC_ACCESS_LOCAL_WRITE)); // the receiver does not see it
        message.setString(0, "hello, this is process " + ProcessHandle.current().pid());
        long length = message.getString(0).length() + 1;
        Copy copycmd = new Copy(SMC_ERM_CMD_FLAG_REMOTE_COMPL, length, mine, 0, theirs.memid(), AT);
        check(sock.sendmsg(copycmd));
        expect(COPY_DONE, recvmsg(sock));
        System.out.println("SMC_ERM_CMD_COPY: done");

        sock.memory().channel().read(ByteBuffer.allocate(1));
        check(sock.sendmsg(new Copy(SMC_ERM_CMD_FLAG_REMOTE_COMPL, length, theirs.memid(), AT, mine, 0))); // the other way
        expect(COPY_DONE, recvmsg(sock));
        System.out.println("copied back: " + message.getString(0));

        expect(MR_REMOVED, recvmsg(sock));
        System.out.println("no memory any more");
        sock.setsockopt(new DeregMr(mine)); // before the arena is closed
    }

    /** The next completion: polled from memory, which costs no system call. */
    static Completion recvmsg(SmcErm sock) {
        Completion next = sock.recvmsg();
        while (next == null) {
            Thread.onSpinWait();
            next = sock.recvmsg();
        }
        return next;
    }

    static Completion expect(int event, Completion is) {
        if (is.event() != event || is.status() != 0) {
            throw new IllegalStateException(is + " instead of event " + event);
        }
        return is;
    }

    /** As system calls do, {@code sendmsg} answers 0 or minus an errno. */
    static void check(int answer) {
        if (answer != 0) {
            throw new IllegalStateException("sendmsg: errno " + -answer);
        }
    }
}
