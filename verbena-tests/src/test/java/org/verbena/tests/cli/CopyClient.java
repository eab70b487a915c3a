// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Connection;
import org.verbena.verbs.ConnectionParameters;
import org.verbena.verbs.Context;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcStatus;

/**
 * A sender that can send arbitrary messages. It is written from the table in {@code CopyProtocol} and shares no code
 * with the command.
 */
final class CopyClient implements AutoCloseable {
    static final int FILE = 1;
    static final int DIRECTORY = 2;
    static final int END = 4;
    static final int CANCEL = 5;
    static final int BYE = 6;
    static final int GRANT = 17;
    static final int RESULT = 19;
    static final int GOODBYE = 20;

    private static final int SLOT = 8192;
    private static final int RECEIVES = 16;
    private static final int BUFFER = 1 << 20;

    private final Context context;
    private final CompletionQueue cq;
    private final QueuePair qp;
    private final MemoryRegion memory;
    private final Connection connection;
    private final ArrayDeque<Message> inbox = new ArrayDeque<>();
    private int ownStatus;

    /** A message of the listener, behind its header. */
    record Message(int type, ByteBuffer body) {
        int id() {
            return body.getInt(0);
        }

        /** Of a RESULT. */
        int status() {
            return body.get(4);
        }

        /** Of a RESULT. */
        String text() {
            byte[] b = new byte[body.getShort(13)];
            body.get(15, b);
            return new String(b, StandardCharsets.UTF_8);
        }
    }

    CopyClient(int port) throws VerbsException {
        this(port, "verbena-copy/1");
    }

    CopyClient(int port, String greeting) throws VerbsException {
        context = Verbs.open("shm0");
        try {
            ProtectionDomain pd = context.allocateProtectionDomain();
            memory = pd.allocate(BUFFER + (RECEIVES + 1L) * SLOT, AccessFlags.LOCAL_WRITE);
            cq = context.createCompletionQueue(64);
            qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).maxReceiveWr(RECEIVES).maxSendWr(16)
                    .build());
            qp.modify(QueuePairAttributes.to(QueuePairState.INIT).port(1).pkeyIndex(0).accessFlags(0).build());
            for (int i = 0; i < RECEIVES; i++) {
                post(i);
            }
            connection = context.connectionManager().connect(qp,
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), ConnectionParameters.builder()
                            .privateData(greeting.getBytes(StandardCharsets.US_ASCII)).build());
        } catch (VerbsException e) {
            context.close();
            throw e;
        }
    }

    private void post(int slot) {
        int _ = qp.receiveQueue().post(slot, memory, BUFFER + (long) slot * SLOT, SLOT);
    }

    /** A message with a correct header; more bytes than fit into a message are dropped. */
    static byte[] message(int type, ByteBuffer body) {
        byte[] b = new byte[body.flip().remaining()];
        body.get(b);
        return ByteBuffer.allocate(8 + b.length).putShort((short) 0x5643).put((byte) 1).put((byte) type).putInt(8
                + b.length)
                .put(b).array();
    }

    static byte[] file(int id, long size, String path) {
        byte[] p = path.getBytes(StandardCharsets.UTF_8);
        return message(FILE, ByteBuffer.allocate(SLOT).putInt(id).putShort((short) 0644).putLong(size).putLong(1)
                .putInt(0)
                .put(new byte[16]).putLong(0).putLong(0).putShort((short) p.length).put(p));
    }

    static byte[] directory(int id, String path) {
        byte[] p = path.getBytes(StandardCharsets.UTF_8);
        return message(DIRECTORY, ByteBuffer.allocate(SLOT).putInt(id).putShort((short) 0755).putLong(1).putInt(0)
                .putShort((short) p.length).put(p));
    }

    static byte[] end(int id, byte[] sha256) {
        return message(END, ByteBuffer.allocate(64).putInt(id).put(sha256));
    }

    static byte[] bye() {
        return message(BYE, ByteBuffer.allocate(0));
    }

    void send(byte[] message) {
        MemorySegment.copy(message, 0, memory.segment(), ValueLayout.JAVA_BYTE, BUFFER + (long) RECEIVES * SLOT,
                message.length);
        int _ = qp.sendQueue().start().send(1000, SendFlags.SIGNALED)
                .sge(memory, BUFFER + (long) RECEIVES * SLOT, message.length).complete();
        int status = awaitOwn();
        assertThat(status).isIn(WcStatus.SUCCESS, WcStatus.WR_FLUSH_ERR);
    }

    /** Writes bytes with an immediate value; answers the status of the completion. */
    int write(byte[] data, int rkey, long address, int chunk) {
        MemorySegment.copy(data, 0, memory.segment(), ValueLayout.JAVA_BYTE, 0, data.length);
        int _ = qp.sendQueue().start().writeImmediate(1000, SendFlags.SIGNALED, rkey, address, chunk)
                .sge(memory, 0, data.length).complete();
        return awaitOwn();
    }

    private int awaitOwn() {
        ownStatus = -1;
        long end = System.nanoTime() + 60_000_000_000L;
        while (ownStatus < 0) {
            poll();
            assertThat(System.nanoTime()).as("a completion of our own").isLessThan(end);
        }
        return ownStatus;
    }

    /** The next message but ALIVE; null if the listener has hung up. */
    @Nullable
    Message next() {
        long end = System.nanoTime() + 60_000_000_000L;
        while (true) {
            boolean connected = connection.isConnected();
            poll();
            if (!inbox.isEmpty()) {
                return inbox.remove();
            }
            if (!connected) {
                return null;
            }
            assertThat(System.nanoTime()).as("a message of the listener").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    private void poll() {
        if (cq.startPoll() != 0) {
            return;
        }
        do {
            long id = cq.wrId();
            if (id == 1000) {
                ownStatus = cq.status();
            } else if (cq.status() == WcStatus.SUCCESS) {
                byte[] b = new byte[(int) cq.byteLength()];
                MemorySegment.copy(memory.segment(), ValueLayout.JAVA_BYTE, BUFFER + id * SLOT, b, 0, b.length);
                post((int) id);
                if (b[3] != 7) {
                    inbox.add(new Message(b[3], ByteBuffer.wrap(b, 8, b.length - 8).slice()));
                }
            }
        } while (cq.nextPoll() == 0);
        cq.endPoll();
    }

    @Override
    public void close() throws VerbsException {
        context.close();
    }
}
