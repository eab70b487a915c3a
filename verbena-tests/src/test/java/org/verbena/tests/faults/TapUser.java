// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.faults;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.FlowAttributes;
import org.verbena.verbs.FlowField;
import org.verbena.verbs.FlowSpec;
import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.XdpProvider;

/** A program of an ordinary user: answers each datagram to port 7 on the device {@code tap_vrb0}, until it is told. */
final class TapUser {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int RECEIVES = 64;

    private TapUser() {}

    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("Uid:") || line.startsWith("CapEff:")) {
                System.out.println(line.replaceAll("[:\\s]+", " "));
            }
        }
        List<String> names = new ArrayList<>();
        new XdpProvider().devices().forEach(d -> names.add(d.name()));
        System.out.println("devices " + names.stream().filter(n -> n.startsWith("tap_")).toList());
        try (Context c = new XdpProvider().devices().stream().filter(d -> d.name().equals("tap_vrb0")).findFirst()
                .orElseThrow().open()) {
            answer(c);
        } catch (VerbsException e) {
            System.out.println("refused " + e.getMessage());
        }
    }

    private static void answer(Context c) throws Exception {
        int chunk = c.queryDevice().rawReceiveBuffer().orElseThrow();
        int offset = c.queryDevice().rawReceiveOffset().orElseThrow();
        ProtectionDomain pd = c.allocateProtectionDomain();
        CompletionChannel channel = c.createCompletionChannel();
        CompletionQueue cq = c.createCompletionQueue(CompletionQueueAttributes.builder().cqe(2 * RECEIVES).channel(
                channel).build());
        MemoryRegion region = pd.allocate((long) RECEIVES * chunk, AccessFlags.LOCAL_WRITE);
        QueuePair qp = pd.createQueuePair(QueuePairInitAttributes.builder(cq, cq).type(QueuePairType.RAW_PACKET)
                .maxReceiveWr(RECEIVES).maxSendWr(RECEIVES).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.INIT).port(1).build());
        for (int i = 0; i < RECEIVES; i++) {
            qp.receiveQueue().post(i, region, (long) i * chunk, chunk);
        }
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTR).build());
        qp.modify(QueuePairAttributes.builder().state(QueuePairState.RTS).build());
        qp.createFlow(FlowAttributes.builder().spec(FlowSpec.udp().match(FlowField.DESTINATION_PORT, 7)).build());
        System.out.println("ready now");
        Thread waiter = Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                try {
                    cq.requestNotify(false);
                    while (cq.startPoll() == 0) {
                        int i = (int) cq.wrId();
                        long length = cq.byteLength();
                        cq.endPoll();
                        long at = (long) i * chunk + offset;
                        turnRound(region.segment(), at);
                        qp.sendQueue().postSend(i, SendFlags.IP_CSUM, region, at, length);
                        qp.receiveQueue().post(i, region, (long) i * chunk, chunk);
                    }
                    channel.await(Duration.ofMinutes(5));
                } catch (VerbsException e) {
                    return; // the context is closed
                }
            }
        });
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        System.out.println("state " + qp.state() + " " + waiter.isAlive());
    }

    /** Exchanges the addresses and ports of a datagram. */
    private static void turnRound(MemorySegment m, long at) {
        for (int i = 0; i < 6; i += 2) {
            short to = m.get(SHORT, at + i);
            m.set(SHORT, at + i, m.get(SHORT, at + 6 + i));
            m.set(SHORT, at + 6 + i, to);
        }
        int source = m.get(INT, at + 26);
        m.set(INT, at + 26, m.get(INT, at + 30));
        m.set(INT, at + 30, source);
        short port = m.get(SHORT, at + 34);
        m.set(SHORT, at + 34, m.get(SHORT, at + 36));
        m.set(SHORT, at + 36, port);
    }
}
