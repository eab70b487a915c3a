// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.cli.support.HumanText;

/**
 * A part of a server's sockets, for one thread: answers what asks for it. A selector has them all; a single socket of UDP is
 * waited for in the call that receives, and with {@link SocketOptions.Wait#SPIN} all are polled.
 */
final class ServerThread implements Runnable {
    private final Server server;
    private final Channels channels;
    private final SocketOptions.Wait wait;
    private final int timeout;
    private final List<Link> links = new ArrayList<>();
    private final List<ServerSocketChannel> listeners = new ArrayList<>();
    /** All that {@link #stop} closes. */
    private final Set<AutoCloseable> open = ConcurrentHashMap.newKeySet();
    private final Gaps gaps = new Gaps();
    private final Consumer<SelectionKey> ready = this::ready;
    private final @Nullable Selector selector;
    private volatile boolean over;
    private long received;
    private long answered;
    private long malformed;

    ServerThread(Server server, Channels channels, SocketOptions.Wait wait, int timeoutMillis) throws IOException {
        this.server = server;
        this.channels = channels;
        this.wait = wait;
        timeout = timeoutMillis;
        selector = wait == SocketOptions.Wait.SELECT ? channels.provider().openSelector() : null;
    }

    void add(Link link) throws IOException {
        open.add(link);
        links.add(link);
        watch(link.channel(), SelectionKey.OP_READ, link);
    }

    void add(ServerSocketChannel listener) throws IOException {
        open.add(listener);
        listeners.add(listener);
        watch(listener, SelectionKey.OP_ACCEPT, listener);
    }

    private void watch(SelectableChannel channel, int events, Object attachment) throws IOException {
        channel.configureBlocking(wait == SocketOptions.Wait.BLOCK);
        Selector s = selector;
        if (s != null) {
            channel.register(s, events, attachment);
        }
    }

    /** Ends it; any thread. */
    void stop() {
        over = true;
        Selector s = selector;
        if (s != null) {
            s.wakeup();
        }
        for (AutoCloseable c : open) {
            try {
                c.close();
            } catch (Exception e) {
                // it is closed then
            }
        }
    }

    // after it has ended

    long received() {
        return received;
    }

    long answered() {
        return answered;
    }

    long malformed() {
        return malformed + links.stream().mapToLong(Link::malformed).sum();
    }

    Gaps gaps() {
        return gaps;
    }

    // ---- its thread

    @Override
    public void run() {
        try (Selector s = selector) { // null is none
            serveAll(s);
        } catch (IOException e) {
            server.report("waiting failed: " + e.getMessage());
        }
    }

    private void serveAll(@Nullable Selector s) throws IOException {
        while (!over) {
            switch (wait) {
                case BLOCK -> serve(links.getFirst(), false);
                case SPIN -> poll();
                case SELECT -> {
                    if (s != null && timeout == 0) {
                        s.selectNow(ready);
                    } else if (s != null) {
                        s.select(ready, Math.max(0, timeout)); // 0 is for ever here
                    }
                }
            }
        }
    }

    private void poll() {
        boolean any = false;
        for (ServerSocketChannel l : listeners) {
            any |= accept(l);
        }
        for (int i = 0; i < links.size(); i++) {
            any |= serve(links.get(i), true);
        }
        if (!any) {
            Thread.onSpinWait();
        }
    }

    private void ready(SelectionKey key) {
        if (key.attachment() instanceof Link l) {
            boolean _ = serve(l, true);
        } else {
            boolean _ = accept((ServerSocketChannel) key.channel());
        }
    }

    private boolean accept(ServerSocketChannel listener) {
        SocketChannel c = null;
        try {
            c = listener.accept();
            if (c == null) {
                return false;
            }
            Link link = channels.accepted(c);
            add(link);
            if (over) { // meanwhile
                link.close();
            }
        } catch (IOException e) {
            if (c != null) {
                Channels.close(c);
            }
            if (!over) {
                server.report("a connection was not accepted: " + e.getMessage());
            }
        }
        return true;
    }

    /** Takes all that is there, or waits for one message; whether there was any. */
    private boolean serve(Link link, boolean all) {
        boolean any = false;
        try {
            int n = 0;
            while (answerRest(link)) {
                ByteBuffer m = (n < (all ? Receiver.MOST : 1) || link.hasMore()) && !over ? link.receive() : null;
                if (m == null) {
                    return any;
                }
                n++;
                any = true;
                take(link, m);
            }
        } catch (EOFException e) {
            end(link);
        } catch (ClosedChannelException e) {
            end(link);
        } catch (IOException e) {
            if (link instanceof StreamLink) {
                server.report(link.peer() + ": " + HumanText.printable(String.valueOf(e.getMessage())));
                end(link);
            } // of a socket of UDP it tells of one of many clients
        }
        return any;
    }

    private void end(Link link) {
        link.close();
        if (link instanceof StreamLink) {
            malformed += link.malformed();
            links.remove(link);
            open.remove(link);
        }
    }

    private void take(Link link, ByteBuffer m) throws IOException {
        if (!Message.has(m, Message.CLIENT) || Message.has(m, Message.WARM_UP)) {
            return;
        }
        received += Message.sequence(m) == 0 ? 0 : 1; // a client asks whether somebody is there
        if (server.findsGaps()) {
            gaps.received(link.sender(), Message.sequence(m));
        }
        if (Message.has(m, Message.PONG) && server.answers()) {
            Message.answer(m);
            answered += Message.sequence(m) == 0 ? 0 : 1;
            if (!link.answer(m)) {
                link.rest(m);
            }
        }
    }

    /** Sends what is left of an answer, of a client that does not read: nothing is received from it before. Whether all is sent. */
    private boolean answerRest(Link link) throws IOException {
        ByteBuffer rest = link.rest();
        if (rest == null) {
            return true;
        }
        boolean sent = link.answer(rest);
        SelectionKey key = selector == null ? null : link.channel().keyFor(selector);
        if (sent) {
            link.rest(null);
        }
        if (key != null) {
            key.interestOps(sent ? SelectionKey.OP_READ : SelectionKey.OP_WRITE);
        }
        return sent;
    }
}
