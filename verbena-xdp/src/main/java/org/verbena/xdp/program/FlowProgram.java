// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.verbena.xdp.bpf.Condition.EQUAL;
import static org.verbena.xdp.bpf.Condition.LESS;
import static org.verbena.xdp.bpf.Condition.NOT_EQUAL;
import static org.verbena.xdp.bpf.Condition.NOT_LESS;
import static org.verbena.xdp.bpf.Operation.ADD;
import static org.verbena.xdp.bpf.Operation.AND;
import static org.verbena.xdp.bpf.Operation.MULTIPLY;
import static org.verbena.xdp.bpf.Operation.OR;
import static org.verbena.xdp.bpf.Operation.SHIFT_LEFT;
import static org.verbena.xdp.bpf.Operation.SHIFT_RIGHT;
import static org.verbena.xdp.bpf.Register.R0;
import static org.verbena.xdp.bpf.Register.R1;
import static org.verbena.xdp.bpf.Register.R10;
import static org.verbena.xdp.bpf.Register.R2;
import static org.verbena.xdp.bpf.Register.R3;
import static org.verbena.xdp.bpf.Register.R6;
import static org.verbena.xdp.bpf.Register.R7;
import static org.verbena.xdp.bpf.Register.R8;
import static org.verbena.xdp.bpf.Register.R9;

import java.util.Optional;

import org.verbena.linux.Bpf;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.XdpAttachment;
import org.verbena.xdp.bpf.Assembler;
import org.verbena.xdp.bpf.Helper;
import org.verbena.xdp.bpf.Label;
import org.verbena.xdp.bpf.Register;
import org.verbena.xdp.bpf.Size;

/**
 * The XDP program of an interface.
 *
 * <p>Without flows it passes each packet on after six instructions. Otherwise it makes the packet's key, and looks it up
 * under one mask of the list after the other, until a flow takes the packet; flows that only watch count it before. If
 * none takes it and it is an ICMP error, the same is done with the key of the packet in the error, so that the error
 * goes where the answers to that packet go; flows that watch do not count it a second time. What no flow takes goes to
 * the kernel untouched.
 *
 * <p>Stateless.
 */
public final class FlowProgram {
    /** The program's name in the kernel. */
    public static final String NAME = "verbena_flows";
    /** None of the functions that the program calls is for programs under the GPL only. */
    static final String LICENSE = "Apache-2.0";

    // on the stack: the packet's key, words 2 to 6 of the key of the packet in an ICMP error, the key under a mask
    static final int KEY = -FlowKey.BYTES;
    static final int ERROR_KEY = KEY - 40;
    static final int MASKED = ERROR_KEY - FlowKey.BYTES;
    static final int ERROR_STATE = MASKED - 8;
    private static final int ACTIVE = ERROR_STATE - 8;
    private static final int LENGTH = ACTIVE - 8;
    private static final int COUNTER = LENGTH - 8;

    /** {@link #ERROR_STATE}: not an ICMP error, or not one of TCP or UDP. */
    static final int NO_ERROR = 0;
    /** {@link #ERROR_STATE}: an ICMP error, looked up as it is. */
    static final int ERROR_PENDING = 1;
    /** {@link #ERROR_STATE}: an ICMP error, looked up as the packet in it. */
    private static final int ERROR_LOOKED_UP = 2;

    // struct xdp_md
    private static final int DATA = 0;
    private static final int DATA_END = 4;
    private static final int RX_QUEUE_INDEX = 16;

    private FlowProgram() {}

    /**
     * Loads the program, which handles packets of several buffers.
     *
     * @return the program, to be attached by {@link Bpf#attach}
     * @throws LinuxException {@code EPERM} (CAP_BPF or CAP_NET_ADMIN is missing), {@code EINVAL} (Linux 5.18 is needed)
     */
    public static Fd load(FlowMaps maps) throws LinuxException {
        return Bpf.load(Bpf.BPF_PROG_TYPE_XDP, instructions(maps), LICENSE, NAME, Bpf.BPF_F_XDP_HAS_FRAGS);
    }

    /**
     * Attaches the program to an interface that has none.
     *
     * @param program what {@link #load} returned
     * @param netlink the interface's namespace, which is that of the calling thread
     * @param ifindex the interface
     * @param mode {@link Bpf#XDP_FLAGS_SKB_MODE}, {@link Bpf#XDP_FLAGS_DRV_MODE}, or 0 for the kernel's choice
     * @return the attachment, which ends when its last descriptor is closed, also by the end of the process
     * @throws LinuxException {@code EBUSY} (another program is attached, which is left alone and named), and as
     *         {@link Bpf#attach} has them
     */
    public static Fd attach(Fd program, Netlink netlink, int ifindex, int mode) throws LinuxException {
        try {
            return Bpf.attach(program, ifindex, mode);
        } catch (LinuxException e) {
            if (e.errno() != Errno.EBUSY && e.errno() != Errno.EEXIST) {
                throw e;
            }
            Optional<XdpAttachment> other = XdpAttachment.of(netlink, ifindex);
            throw new LinuxException(e.call(), Errno.EBUSY, other.isEmpty()
                    ? "another XDP program was attached, and is gone now: try again"
                    : "there is an " + other.get().describe() + " already, and an interface has one: end what has"
                            + " attached it, or remove it with: ip link set dev NAME xdpgeneric off, or xdpdrv off");
        }
    }

    /** The instructions for these maps. */
    static long[] instructions(FlowMaps maps) {
        Assembler a = new Assembler();
        Label pass = new Label("pass");
        Label lookUp = new Label("look up the key");
        a.load(Size.WORD, R2, R1, DATA).load(Size.WORD, R3, R1, DATA_END).move(R6, R1);
        a.moveMapValue(R1, maps.masks(), MaskList.ACTIVE_AT).load(Size.WORD, R0, R1, 0);
        a.jumpIf(LESS, R0, 1 << MaskList.COUNT_SHIFT, pass).store(Size.DOUBLE, R10, ACTIVE, R0);
        new PacketParser(a).append(pass);
        a.place(lookUp);
        lookUp(a, maps, lookUp, pass);
        a.place(pass).move(R0, Bpf.XDP_PASS).exit();
        return a.assemble();
    }

    /** R8 counts masks, R9 is the mask's address. */
    private static void lookUp(Assembler a, FlowMaps maps, Label again, Label pass) {
        Label loop = new Label("next mask");
        Label next = new Label("no flow under this mask");
        Label count = new Label("count");
        Label miss = new Label("no flow");
        a.load(Size.DOUBLE, R0, R10, ACTIVE).calculate(AND, R0, 1).calculate(MULTIPLY, R0, MaskList.LIST_BYTES);
        a.moveMapValue(R9, maps.masks(), MaskList.LISTS_AT).calculate(ADD, R9, R0).move(R8, 0);
        a.place(loop).jumpIf(NOT_LESS, R8, MaskList.MAX, miss); // the verifier wants to see an end
        a.load(Size.DOUBLE, R0, R10, ACTIVE).calculate(SHIFT_RIGHT, R0, MaskList.COUNT_SHIFT);
        a.jumpIf(NOT_LESS, R8, R0, miss);
        for (int word = 0; word < FlowKey.WORDS; word++) {
            a.load(Size.DOUBLE, R1, R10, KEY + 8 * word).load(Size.DOUBLE, R2, R9, 8 * word).calculate(AND, R1, R2);
            if (8 * word == FlowKey.MASK) { // the number is the lowest byte of this word
                a.load(Size.BYTE, R2, R9, MaskList.NUMBER_AT).calculate(OR, R1, R2);
            }
            a.store(Size.DOUBLE, R10, MASKED + 8 * word, R1);
        }
        a.moveMap(R1, maps.flows());
        onStack(a, R2, MASKED);
        a.call(Helper.MAP_LOOKUP_ELEM).jumpIf(EQUAL, R0, 0, next).load(Size.DOUBLE, R7, R0, 0);
        owner(a, maps, next);
        // what watches has seen an ICMP error already
        a.load(Size.DOUBLE, R1, R10, ERROR_STATE).jumpIf(NOT_EQUAL, R1, ERROR_LOOKED_UP, count);
        action(a);
        a.jumpIf(EQUAL, R1, FlowAction.COUNT.number, next);
        a.place(count);
        count(a, maps);
        act(a, maps, next, pass);
        a.place(next).calculate(ADD, R8, 1).calculate(ADD, R9, MaskList.MASK_BYTES).jump(loop);
        a.place(miss).load(Size.DOUBLE, R1, R10, ERROR_STATE).jumpIf(NOT_EQUAL, R1, ERROR_PENDING, pass);
        a.store(Size.DOUBLE, R10, ERROR_STATE, ERROR_LOOKED_UP);
        for (int word = 2; word < FlowKey.WORDS; word++) {
            a.load(Size.DOUBLE, R1, R10, ERROR_KEY + 8 * (word - 2)).store(Size.DOUBLE, R10, KEY + 8 * word, R1);
        }
        a.jump(again);
    }

    private static void onStack(Assembler a, Register to, int at) {
        a.move(to, R10).calculate(ADD, to, at);
    }

    /** R1 becomes the action of the entry in R7. */
    private static void action(Assembler a) {
        a.move(R1, R7).calculate(AND, R1, 0xFF);
    }

    /** Jumps if the process of the entry in R7 has ended: a flow that it left behind is not there. */
    private static void owner(Assembler a, FlowMaps maps, Label ended) {
        Label alive = new Label("the flow is there");
        a.move(R1, R7).calculate(SHIFT_RIGHT, R1, FlowEntry.OWNER_SHIFT).calculate(AND, R1, FlowEntry.MAX_OWNER);
        a.jumpIf(EQUAL, R1, 0, alive).store(Size.WORD, R10, COUNTER, R1).moveMap(R1, maps.owners());
        onStack(a, R2, COUNTER);
        a.call(Helper.MAP_LOOKUP_ELEM).jumpIf(EQUAL, R0, 0, ended).place(alive);
    }

    /** Counts for the entry in R7, if it has a counter. */
    private static void count(Assembler a, FlowMaps maps) {
        Label counted = new Label("counted");
        a.move(R1, R7).calculate(SHIFT_RIGHT, R1, FlowEntry.COUNTER_SHIFT).jumpIf(EQUAL, R1, 0, counted);
        a.store(Size.WORD, R10, COUNTER, R1).move(R1, R6).call(Helper.XDP_GET_BUFF_LEN);
        a.store(Size.DOUBLE, R10, LENGTH, R0).moveMap(R1, maps.counters());
        onStack(a, R2, COUNTER);
        a.call(Helper.MAP_LOOKUP_ELEM).jumpIf(EQUAL, R0, 0, counted);
        a.load(Size.DOUBLE, R1, R0, FlowCount.PACKETS_AT).calculate(ADD, R1, 1);
        a.store(Size.DOUBLE, R0, FlowCount.PACKETS_AT, R1);
        a.load(Size.DOUBLE, R1, R0, FlowCount.BYTES_AT).load(Size.DOUBLE, R2, R10, LENGTH).calculate(ADD, R1, R2);
        a.store(Size.DOUBLE, R0, FlowCount.BYTES_AT, R1).place(counted);
    }

    /** Does what the entry in R7 says. */
    private static void act(Assembler a, FlowMaps maps, Label next, Label pass) {
        Label redirect = new Label("redirect");
        Label spread = new Label("spread");
        Label toSocket = new Label("to the socket");
        action(a);
        a.jumpIf(EQUAL, R1, FlowAction.COUNT.number, next);
        a.jumpIf(EQUAL, R1, FlowAction.REDIRECT.number, redirect);
        a.jumpIf(EQUAL, R1, FlowAction.SPREAD.number, spread);
        a.jumpIf(NOT_EQUAL, R1, FlowAction.DROP.number, pass).move(R0, Bpf.XDP_DROP).exit();
        a.place(spread);
        target(a);
        a.store(Size.WORD, R10, COUNTER, R2).moveMap(R1, maps.spreads());
        onStack(a, R2, COUNTER);
        a.call(Helper.MAP_LOOKUP_ELEM).jumpIf(EQUAL, R0, 0, pass);
        SpreadStep.append(a);
        a.jump(toSocket).place(redirect);
        target(a);
        a.place(toSocket).load(Size.WORD, R1, R6, RX_QUEUE_INDEX).jumpIf(NOT_LESS, R1, maps.queues(), pass);
        a.calculate(MULTIPLY, R2, maps.queues()).calculate(ADD, R2, R1);
        a.moveMap(R1, maps.sockets()).move(R3, Bpf.XDP_PASS).call(Helper.REDIRECT_MAP).exit();
    }

    /** R2 becomes the target of the entry in R7. */
    private static void target(Assembler a) {
        a.move(R2, R7).calculate(SHIFT_LEFT, R2, 32).calculate(SHIFT_RIGHT, R2, 32 + FlowEntry.TARGET_SHIFT);
    }
}
