// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import static org.verbena.xdp.bpf.Condition.EQUAL;
import static org.verbena.xdp.bpf.Condition.LESS;
import static org.verbena.xdp.bpf.Condition.NOT_EQUAL;
import static org.verbena.xdp.bpf.Operation.ADD;
import static org.verbena.xdp.bpf.Operation.AND;
import static org.verbena.xdp.bpf.Operation.OR;
import static org.verbena.xdp.bpf.Operation.SHIFT_LEFT;
import static org.verbena.xdp.bpf.Operation.SHIFT_RIGHT;
import static org.verbena.xdp.bpf.Operation.SUBTRACT;
import static org.verbena.xdp.bpf.Register.R0;
import static org.verbena.xdp.bpf.Register.R1;
import static org.verbena.xdp.bpf.Register.R10;
import static org.verbena.xdp.bpf.Register.R2;
import static org.verbena.xdp.bpf.Register.R3;
import static org.verbena.xdp.bpf.Register.R4;
import static org.verbena.xdp.bpf.Register.R6;
import static org.verbena.xdp.bpf.Register.R7;
import static org.verbena.xdp.bpf.Register.R8;
import static org.verbena.xdp.bpf.Register.R9;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Bpf;
import org.verbena.linux.BpfMap;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.xdp.bpf.Assembler;
import org.verbena.xdp.bpf.Helper;
import org.verbena.xdp.bpf.Label;
import org.verbena.xdp.bpf.Register;
import org.verbena.xdp.bpf.Size;

/**
 * The program that learns flows: it makes the key of a packet ({@link Fields}), asks the filter, counts the packet under
 * its key and in the totals, and returns how many bytes of it the ring gets.
 *
 * <p>A header that is not whole, in the packet or by the lengths of IP, is not there, and neither is what follows it.
 * Fragments have no ports, and IPv6 extension headers are not skipped, as in the program of flows.
 *
 * <p>Registers: R6 the packet, R7 where the next header begins, later the packet's length, R8 the EtherType, then how many
 * bytes of payload IP says there are, later the totals, R9 the last word of the key.
 */
final class MonitorProgram {
    static final String LICENSE = "Apache-2.0";
    /** What others see of it. */
    static final String NAME = "verbena_monitor";

    // the totals: packets and bytes received, then those sent
    static final int TOTAL_SENT = 16;
    static final int TOTAL_LEARNED = 32;
    static final int TOTAL_NO_ROOM = 40;
    static final int TOTAL_BYTES = 48;

    // a flow
    static final int FLOW_PACKETS = 0;
    static final int FLOW_BYTES = 8;
    /** When it was learned, nanoseconds of CLOCK_MONOTONIC, on the processor that did. */
    static final int FLOW_LEARNED = 16;
    static final int FLOW_VALUE_BYTES = 24;

    // the stack
    private static final int KEY = -Fields.BYTES;
    private static final int BUFFER = KEY - 40;
    private static final int VALUE = BUFFER - FLOW_VALUE_BYTES;
    private static final int INDEX = VALUE - 8;

    // struct __sk_buff
    private static final int SKB_LEN = 0;
    private static final int SKB_PKT_TYPE = 4;
    private static final int SKB_VLAN_PRESENT = 20;
    private static final int SKB_VLAN_TCI = 24;
    private static final int PACKET_OUTGOING = 4;

    private static final int ETHER_TYPE_AT = 12;
    private static final int ETHERNET = 14;
    private static final int TAG = 4;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    private static final int TCP_HEADER = 20;
    private static final int UDP_HEADER = 8;
    // as two bytes in network order look to a little-endian processor
    private static final int TYPE_VLAN = 0x0081;
    private static final int TYPE_SERVICE_VLAN = 0xa888;
    private static final int TYPE_IPV4 = 0x0008;
    private static final int TYPE_IPV6 = 0xdd86;
    private static final int MORE_OR_OFFSET = 0xff3f;
    private static final int VLAN_NUMBER = 0xfff;
    private static final int KIND_SHIFT = 8;
    private static final int DIRECTION_SHIFT = 16;

    private final Assembler a = new Assembler();
    private final BpfMap flows;
    private final BpfMap totals;
    private final @Nullable PacketFilter filter;
    private final int snapshot;
    private final Label known = new Label("the key is complete");
    private final Label unwanted = new Label("unwanted");

    private MonitorProgram(BpfMap flows, BpfMap totals, @Nullable PacketFilter filter, int snapshot) {
        this.flows = flows;
        this.totals = totals;
        this.filter = filter;
        this.snapshot = snapshot;
    }

    /** The flows: 48 bytes to 24, on each processor. The one that was not used for longest makes room for a new one. */
    static BpfMap flows(int most) throws LinuxException {
        return BpfMap.create(BpfMap.BPF_MAP_TYPE_LRU_PERCPU_HASH, Fields.BYTES, FLOW_VALUE_BYTES, most, 0,
                "verbena_flows");
    }

    /** The totals, on each processor. */
    static BpfMap totals() throws LinuxException {
        return BpfMap.create(BpfMap.BPF_MAP_TYPE_PERCPU_ARRAY, 4, TOTAL_BYTES, 1, 0, "verbena_totals");
    }

    /**
     * Assembles it.
     *
     * @param filter null for all packets
     * @param snapshot how many bytes of a packet the ring gets
     */
    static long[] instructions(BpfMap flows, BpfMap totals, @Nullable PacketFilter filter, int snapshot) {
        MonitorProgram p = new MonitorProgram(flows, totals, filter, snapshot);
        p.key();
        p.choose();
        p.count();
        return p.a.assemble();
    }

    /** Loads it as {@link Bpf#BPF_PROG_TYPE_SOCKET_FILTER} or, for tests, another type with the same context. */
    static Fd load(int type, long[] instructions) throws LinuxException {
        return Bpf.load(type, instructions, LICENSE, NAME, 0);
    }

    /** Bytes of the packet from R7 on, into the buffer. Changes R0 to R5. */
    private void bytes(int count, int buffer, Label otherwise) {
        a.move(R1, R6).move(R2, R7).move(R3, R10).calculate(ADD, R3, buffer).move(R4, count);
        a.call(Helper.SKB_LOAD_BYTES).jumpIf(NOT_EQUAL, R0, 0, otherwise);
    }

    private void kind(int bits) {
        a.calculate(OR, R9, bits << KIND_SHIFT);
    }

    private void key() {
        Label received = new Label("received");
        a.move(R6, R1).move(R9, 0);
        for (int word = 0; word < Fields.WORDS; word++) {
            a.store(Size.DOUBLE, R10, KEY + 8 * word, 0);
        }
        a.load(Size.WORD, R1, R6, SKB_PKT_TYPE).jumpIf(NOT_EQUAL, R1, PACKET_OUTGOING, received);
        a.calculate(OR, R9, 1 << DIRECTION_SHIFT).place(received);
        a.move(R7, ETHER_TYPE_AT);
        bytes(2, BUFFER, unwanted);
        a.load(Size.HALF, R8, R10, BUFFER).move(R7, ETHERNET);
        tags();
        a.store(Size.HALF, R10, KEY + Fields.ETHER_TYPE, R8);
        ipv4();
        a.place(known).store(Size.DOUBLE, R10, KEY + Fields.PROTOCOL, R9);
    }

    /** The tag beside the packet, and up to two in it; R8 is then the type behind. */
    private void tags() {
        Label inside = new Label("tags in the packet");
        Label behind = new Label("behind the tags");
        a.load(Size.WORD, R1, R6, SKB_VLAN_PRESENT).jumpIf(EQUAL, R1, 0, inside);
        a.load(Size.WORD, R1, R6, SKB_VLAN_TCI).calculate(AND, R1, VLAN_NUMBER);
        a.store(Size.HALF, R10, KEY + Fields.VLAN, R1);
        kind(Fields.TAGGED);
        a.place(inside);
        for (int i = 0; i < 2; i++) {
            Label tag = new Label("tag " + i);
            Label inner = new Label("not the outermost tag " + i);
            a.jumpIf(EQUAL, R8, TYPE_VLAN, tag).jumpIf(NOT_EQUAL, R8, TYPE_SERVICE_VLAN, behind).place(tag);
            bytes(TAG, BUFFER, behind);
            a.load(Size.HALF, R8, R10, BUFFER + 2).calculate(ADD, R7, TAG);
            a.move(R1, R9).calculate(AND, R1, Fields.TAGGED << KIND_SHIFT).jumpIf(NOT_EQUAL, R1, 0, inner);
            a.load(Size.HALF, R1, R10, BUFFER).fromNetworkShort(R1).calculate(AND, R1, VLAN_NUMBER);
            a.store(Size.HALF, R10, KEY + Fields.VLAN, R1);
            kind(Fields.TAGGED);
            a.place(inner);
        }
        a.place(behind);
    }

    private void ipv4() {
        Label other = new Label("not IPv4");
        Label transport = new Label("TCP or UDP");
        Label noOptions = new Label("the header is whole");
        a.jumpIf(NOT_EQUAL, R8, TYPE_IPV4, other);
        bytes(IPV4_HEADER, BUFFER, known);
        a.load(Size.BYTE, R0, R10, BUFFER).move(R1, R0).calculate(SHIFT_RIGHT, R1, 4).jumpIf(NOT_EQUAL, R1, 4, known);
        a.calculate(AND, R0, 15).jumpIf(LESS, R0, 5, known).calculate(SHIFT_LEFT, R0, 2);
        a.load(Size.HALF, R8, R10, BUFFER + 2).fromNetworkShort(R8).jumpIf(LESS, R8, R0, known);
        a.calculate(SUBTRACT, R8, R0).calculate(ADD, R7, R0).jumpIf(EQUAL, R0, IPV4_HEADER, noOptions);
        a.calculate(SUBTRACT, R7, 1); // the last byte of the options
        bytes(1, VALUE, known);
        a.calculate(ADD, R7, 1).place(noOptions);
        kind(Fields.IPV4);
        a.load(Size.WORD, R1, R10, BUFFER + 12).store(Size.WORD, R10, KEY + Fields.SOURCE, R1);
        a.load(Size.WORD, R1, R10, BUFFER + 16).store(Size.WORD, R10, KEY + Fields.DESTINATION, R1);
        a.load(Size.BYTE, R1, R10, BUFFER + 9).calculate(OR, R9, R1);
        a.load(Size.HALF, R1, R10, BUFFER + 6).calculate(AND, R1, MORE_OR_OFFSET).jumpIf(EQUAL, R1, 0, transport);
        kind(Fields.FRAGMENT);
        a.jump(known).place(other);
        ipv6(transport);
        a.place(transport);
        transport();
    }

    private void ipv6(Label transport) {
        a.jumpIf(NOT_EQUAL, R8, TYPE_IPV6, known);
        bytes(IPV6_HEADER, BUFFER, known);
        a.load(Size.BYTE, R1, R10, BUFFER).calculate(SHIFT_RIGHT, R1, 4).jumpIf(NOT_EQUAL, R1, 6, known);
        kind(Fields.IPV6);
        for (int word = 0; word < 4; word++) {
            a.load(Size.DOUBLE, R1, R10, BUFFER + 8 + 8 * word).store(Size.DOUBLE, R10, KEY + 8 * word, R1);
        }
        a.load(Size.HALF, R8, R10, BUFFER + 4).fromNetworkShort(R8).calculate(ADD, R7, IPV6_HEADER);
        a.load(Size.BYTE, R1, R10, BUFFER + 6).calculate(OR, R9, R1);
        a.jumpIf(NOT_EQUAL, R1, Fields.PROTOCOL_FRAGMENT, transport);
        kind(Fields.FRAGMENT);
        a.jump(known);
    }

    private void transport() {
        Label udp = new Label("not TCP");
        Label ports = new Label("ports");
        a.move(R1, R9).calculate(AND, R1, 0xFF).jumpIf(NOT_EQUAL, R1, Fields.PROTOCOL_TCP, udp);
        a.jumpIf(LESS, R8, TCP_HEADER, known);
        bytes(TCP_HEADER, BUFFER, known);
        a.jump(ports).place(udp).jumpIf(NOT_EQUAL, R1, Fields.PROTOCOL_UDP, known);
        a.jumpIf(LESS, R8, UDP_HEADER, known);
        bytes(UDP_HEADER, BUFFER, known);
        a.place(ports).load(Size.WORD, R1, R10, BUFFER).store(Size.WORD, R10, KEY + Fields.SOURCE_PORT, R1);
        kind(Fields.PORTS);
    }

    private void choose() {
        PacketFilter f = filter;
        if (f != null) {
            Label wanted = new Label("wanted");
            f.append(a, KEY, wanted, unwanted);
            a.place(wanted);
        }
    }

    private void add(Register to, int offset, Register by) {
        a.load(Size.DOUBLE, R1, to, offset).calculate(ADD, R1, by).store(Size.DOUBLE, to, offset, R1);
    }

    private void increment(Register to, int offset) {
        a.load(Size.DOUBLE, R1, to, offset).calculate(ADD, R1, 1).store(Size.DOUBLE, to, offset, R1);
    }

    private void find() {
        a.moveMap(R1, flows).move(R2, R10).calculate(ADD, R2, KEY).call(Helper.MAP_LOOKUP_ELEM);
    }

    private void count() {
        Label untagged = new Label("no tag beside the packet");
        Label old = new Label("a known flow");
        Label taken = new Label("another processor was faster, or there is no room");
        Label end = new Label("counted");
        a.load(Size.WORD, R7, R6, SKB_LEN).load(Size.WORD, R1, R6, SKB_VLAN_PRESENT).jumpIf(EQUAL, R1, 0, untagged);
        a.calculate(ADD, R7, TAG).place(untagged);
        a.store(Size.DOUBLE, R10, INDEX, 0).moveMap(R1, totals).move(R2, R10).calculate(ADD, R2, INDEX);
        a.call(Helper.MAP_LOOKUP_ELEM).jumpIf(EQUAL, R0, 0, unwanted).move(R8, R0);
        // the direction is bit 16, which becomes the offset 16
        a.calculate(SHIFT_RIGHT, R9, DIRECTION_SHIFT).calculate(AND, R9, 1).calculate(SHIFT_LEFT, R9, 4);
        a.calculate(ADD, R9, R8);
        increment(R9, 0);
        add(R9, 8, R7);
        find();
        a.jumpIf(NOT_EQUAL, R0, 0, old);
        a.call(Helper.KTIME_GET_NS).store(Size.DOUBLE, R10, VALUE + FLOW_LEARNED, R0);
        a.store(Size.DOUBLE, R10, VALUE + FLOW_PACKETS, 1).store(Size.DOUBLE, R10, VALUE + FLOW_BYTES, R7);
        a.moveMap(R1, flows).move(R2, R10).calculate(ADD, R2, KEY).move(R3, R10).calculate(ADD, R3, VALUE);
        a.move(R4, BpfMap.BPF_NOEXIST).call(Helper.MAP_UPDATE_ELEM).jumpIf(NOT_EQUAL, R0, 0, taken);
        increment(R8, TOTAL_LEARNED);
        a.jump(end).place(taken);
        find();
        a.jumpIf(NOT_EQUAL, R0, 0, old);
        increment(R8, TOTAL_NO_ROOM);
        a.jump(end).place(old);
        increment(R0, FLOW_PACKETS);
        add(R0, FLOW_BYTES, R7);
        a.place(end).move(R0, snapshot).exit();
        a.place(unwanted).move(R0, 0).exit();
    }
}
