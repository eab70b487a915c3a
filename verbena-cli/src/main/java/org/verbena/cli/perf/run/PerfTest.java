// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.run;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.Nearest;

/** The tests of {@code verbena perf}, in the order of the table. */
public enum PerfTest {
    LIMIT_CACHELINE(8), LIMIT_TWOLINE(64), LIMIT_MEMCPY(0),
    WRITE_LAT(0), WRITE_IMM_LAT(0), SEND_LAT(0), READ_LAT(0), ATOMIC_LAT(8), ERM_LAT(0), ERM_REG(0), ERM_DEREG(0),
    WRITE_BW(0), SEND_BW(0), READ_BW(0), ERM_BW(0),
    RAW_LAT(0), RAW_RATE(0), RAW_BW(0), STACK_LAT(0), STACK_UDP_LAT(0), STACK_BW(0), STACK_CONNECT(1),
    UDP_LAT_SPIN(0), UDP_RATE(0), TCP_LAT_SPIN(0), TCP_LAT_BLOCK(0), TCP_BW(0),
    NIO_LAT_SPIN(0), NIO_LAT_SELECTNOW(0), NIO_LAT_SELECT(0), NIO_LAT_BLOCK(0), NIO_LAT_SLEEP(0),
    NIO_BW(0), NIO_TRANSFER(0), NIO_TRANSFER_FROM(0), NIO_CONNECT(1);

    /** The only size in bytes, or 0 if any is accepted. */
    public final long fixedSize;

    PerfTest(long fixedSize) {
        this.fixedSize = fixedSize;
    }

    /** The names on the command line, for what completes it. */
    public static final class Titles implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arrays.stream(values()).map(PerfTest::title).iterator();
        }
    }

    /** The name on the command line. */
    public String title() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static PerfTest of(String title) throws CommandException {
        for (PerfTest t : values()) {
            if (t.title().equals(title)) {
                return t;
            }
        }
        List<String> titles = Arrays.stream(values()).map(PerfTest::title).toList();
        String question = Nearest.question(title, titles);
        throw new CommandException("unknown test '" + title + "': " + (question.isEmpty()
                ? "the tests are " + String.join(", ", titles)
                : question));
    }

    public boolean isLimit() {
        return this == LIMIT_CACHELINE || this == LIMIT_TWOLINE || this == LIMIT_MEMCPY;
    }

    /** The tests that run by default, within a minute: tests of remote memory and their references must be named. */
    public static List<PerfTest> everything(boolean udp) {
        return Arrays.stream(values()).filter(t -> !t.isErm() && !t.isRaw() && t != WRITE_IMM_LAT && t != UDP_RATE
                && (udp || !t.isUdp())).toList();
    }

    /** The base of RoCE in Java, and its reference; that of raw packets, too. */
    public boolean isUdp() {
        return this == UDP_LAT_SPIN || this == UDP_RATE;
    }

    /** Raw packets, of a device for these. */
    public boolean isRaw() {
        return this == RAW_LAT || this == RAW_RATE || this == RAW_BW || isStack();
    }

    /** IP in user space over them, which takes all packets of the device. */
    public boolean isStack() {
        return this == STACK_UDP_LAT || isStackTcp();
    }

    /** TCP in user space, which runs once for each of its {@link #ends}. */
    public boolean isStackTcp() {
        return this == STACK_LAT || this == STACK_BW || this == STACK_CONNECT;
    }

    /** Messages may be longer than a frame, and are cut into frames by the device. */
    public boolean isSegmented() {
        return this == RAW_BW;
    }

    /** What the same pair of processes can measure as the tests of raw packets, between the same addresses. */
    public boolean goesWithRaw() {
        return isRaw() || isUdp() || isTcp() || isLimit();
    }

    public boolean isTcp() {
        return this == TCP_LAT_SPIN || this == TCP_LAT_BLOCK || this == TCP_BW;
    }

    /** Remote memory of a connected channel. */
    public boolean isErm() {
        return isErmCopy() || isErmRegistration();
    }

    /** Copies to remote memory, which are compared with writes and streams. */
    public boolean isErmCopy() {
        return this == ERM_LAT || this == ERM_BW;
    }

    /** Registration and deregistration of memory. */
    public boolean isErmRegistration() {
        return this == ERM_REG || this == ERM_DEREG;
    }

    /** Channels: each of these runs once for each of its {@link #ends}. */
    public boolean isNio() {
        return this == NIO_LAT_SPIN || isSelect() || this == NIO_LAT_BLOCK || this == NIO_LAT_SLEEP || this == NIO_BW
                || isTransfer() || this == NIO_CONNECT;
    }

    /** Round trips of channels whose reads and writes wait. */
    public boolean blocks() {
        return this == TCP_LAT_BLOCK || this == NIO_LAT_BLOCK || this == NIO_LAT_SLEEP;
    }

    /** Ping-pong through a selector. */
    boolean isSelect() {
        return this == NIO_LAT_SELECTNOW || this == NIO_LAT_SELECT;
    }

    /** The implementations of channels at the two ends, in the order of the table. */
    public List<PerfEnds> ends() {
        if (isErm()) {
            return List.of(PerfEnds.VERBENA);
        }
        if (this == STACK_BW) {
            return List.of(PerfEnds.STACK, PerfEnds.STACK_TO_PLAIN, PerfEnds.PLAIN_TO_STACK, PerfEnds.PLAIN);
        }
        if (isStackTcp()) {
            return List.of(PerfEnds.STACK, PerfEnds.STACK_TO_PLAIN, PerfEnds.PLAIN);
        }
        if (!isNio()) {
            return List.of(PerfEnds.NONE);
        }
        return this == NIO_CONNECT || this == NIO_TRANSFER
                ? List.of(PerfEnds.VERBENA, PerfEnds.VERBENA_TO_PLAIN, PerfEnds.PLAIN)
                : List.of(PerfEnds.VERBENA, PerfEnds.PLAIN);
    }

    /** Transfer between a channel and a file. */
    boolean isTransfer() {
        return this == NIO_TRANSFER || this == NIO_TRANSFER_FROM;
    }

    public boolean isVerbs() {
        return !isLimit() && !isRaw() && !isUdp() && !isTcp() && !isErm() && !isNio();
    }

    /** Whether a device carries what is measured. */
    public boolean takesDevice() {
        return isVerbs() || isErm() || isRaw();
    }

    /** Whether messages of verbs consume posted receives: at the target, and in ping-pong at both ends. */
    public boolean takesReceives(boolean initiator) {
        return this == SEND_LAT || this == WRITE_IMM_LAT || this == SEND_BW && !initiator;
    }

    /** Whether it involves counters: for channels only those with rings. */
    public boolean isCounted() {
        return isVerbs() || isErmCopy() || isNio();
    }

    public boolean isBandwidth() {
        return this == LIMIT_MEMCPY || this == WRITE_BW || this == SEND_BW || this == READ_BW || this == ERM_BW
                || this == RAW_RATE || this == RAW_BW || this == STACK_BW || this == UDP_RATE || this == TCP_BW
                || this == NIO_BW
                || isTransfer();
    }

    /** Both sides spin at the same time, which needs two processors. */
    public boolean spins(boolean events) {
        boolean yields = isNio() && this != NIO_LAT_SPIN && this != NIO_LAT_SELECTNOW;
        return !(this == LIMIT_MEMCPY || isErmRegistration() || this == TCP_LAT_BLOCK || this == TCP_BW || yields
                || (events && takesEvents()));
    }

    /** The whole test runs on the memory of one machine. */
    public boolean needsSameHost() {
        return this == LIMIT_CACHELINE || this == LIMIT_TWOLINE;
    }

    public boolean takesEvents() {
        return isVerbs() && this != WRITE_LAT;
    }

    public boolean takesConsume() {
        return isBandwidth() && !isLimit() && !isRaw() && !isUdp() && this != NIO_TRANSFER_FROM;
    }

    public boolean takesQps() {
        return isBandwidth() && isVerbs();
    }

    public boolean takesInline() {
        return this == WRITE_LAT || this == WRITE_IMM_LAT || this == SEND_LAT || this == WRITE_BW || this == SEND_BW;
    }

    public boolean takesConnections() {
        return isNio() && !isTransfer();
    }

    /** Whether messages can be sent at fixed times: round trips that one message after the other makes. */
    public boolean takesRate() {
        return isVerbs() && !isBandwidth() || this == ERM_LAT || this == RAW_LAT || this == STACK_LAT
                || this == STACK_UDP_LAT || this == UDP_LAT_SPIN
                || this == TCP_LAT_SPIN || blocks()
                || this == NIO_LAT_SPIN || isSelect();
    }

    public boolean takesVerify() {
        return isVerbs() || isErmCopy();
    }

    @Override
    public String toString() {
        return title();
    }
}
