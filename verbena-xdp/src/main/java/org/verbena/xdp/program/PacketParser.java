// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import static org.verbena.xdp.bpf.Condition.EQUAL;
import static org.verbena.xdp.bpf.Condition.GREATER;
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
import static org.verbena.xdp.bpf.Register.R5;
import static org.verbena.xdp.bpf.Register.R7;
import static org.verbena.xdp.bpf.Register.R8;
import static org.verbena.xdp.bpf.Register.R9;

import org.verbena.xdp.bpf.Assembler;
import org.verbena.xdp.bpf.Label;
import org.verbena.xdp.bpf.Register;
import org.verbena.xdp.bpf.Size;

/**
 * The part of the program that makes a {@link FlowKey} of a packet, on the stack. For an ICMP error it makes a second one,
 * of the packet in the error.
 *
 * <p>A header that is not whole, in the packet's first buffer or by the lengths of IP, is not there, and neither is what
 * follows it. IPv6 extension headers are not skipped: what follows them is not looked at.
 *
 * <p>Registers: R2 where the next header begins, R3 the packet's end, R4 the EtherType, then the protocol, R5 how many
 * bytes of payload IP says there are, R7, R8 and R9 the words 0, 1 and 6 of the key; R6 is left alone.
 */
final class PacketParser {
    private static final int ETHERNET = 14;
    private static final int TAG = 4;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    private static final int TCP_HEADER = 20;
    private static final int UDP_HEADER = 8;
    private static final int ICMP_HEADER = 8;
    /** What an ICMP error has of the payload at least (RFC 792), and needs to have here. */
    private static final int QUOTED = 8;

    // as two bytes in network order look to a little-endian processor
    private static final int TYPE_VLAN = 0x0081;
    private static final int TYPE_SERVICE_VLAN = 0xa888;
    private static final int TYPE_IPV4 = 0x0008;
    private static final int TYPE_IPV6 = 0xdd86;
    private static final int MORE_OR_OFFSET = 0xff3f;
    private static final int OFFSET = 0xff1f;

    private static final int PROTOCOL_ICMP = 1;
    private static final int PROTOCOL_TCP = 6;
    private static final int PROTOCOL_UDP = 17;
    private static final int PROTOCOL_FRAGMENT = 44;
    private static final int PROTOCOL_ICMPV6 = 58;
    private static final int KIND_SHIFT = 8;
    private static final int PROTOCOL_SHIFT = 16;
    private static final int TOS_SHIFT = 24;
    private static final int PORTS_SHIFT = 32;

    private final Assembler a;
    private final Label linkOnly = new Label("only the link's header is known");
    private final Label done = new Label("the key is complete");
    private final Label tcp = new Label("TCP");
    private final Label udp = new Label("UDP");
    private final Label ports = new Label("ports");

    PacketParser(Assembler a) {
        this.a = a;
    }

    /** Behind it R2 and R3 are the packet, which is not empty; jumps where given if there is not even an Ethernet header. */
    void append(Label none) {
        a.move(R1, R2).calculate(ADD, R1, ETHERNET).jumpIf(GREATER, R1, R3, none);
        for (int word = 2; word < 6; word++) {
            a.store(Size.DOUBLE, R10, key(word), 0);
        }
        a.store(Size.DOUBLE, R10, FlowProgram.ERROR_STATE, FlowProgram.NO_ERROR);
        // the destination and two more bytes; the source and the type
        a.load(Size.DOUBLE, R7, R2, 0).calculate(SHIFT_LEFT, R7, 16).calculate(SHIFT_RIGHT, R7, 16);
        a.load(Size.DOUBLE, R8, R2, 6).move(R9, 0);
        a.move(R4, R8).calculate(SHIFT_RIGHT, R4, 48);
        tags();
        ipv4();
        ipv6();
        transport();
        a.place(linkOnly).place(done);
        a.store(Size.DOUBLE, R10, key(0), R7).store(Size.DOUBLE, R10, key(1), R8).store(Size.DOUBLE, R10, key(6), R9);
    }

    private static int key(int word) {
        return FlowProgram.KEY + 8 * word;
    }

    private static int error(int word) {
        return FlowProgram.ERROR_KEY + 8 * (word - 2);
    }

    /** Up to two VLAN tags (IEEE 802.1Q); R2 and R4 are then those of the header behind. */
    private void tags() {
        Label network = new Label("behind the tags");
        Label first = new Label("first tag");
        Label second = new Label("second tag");
        Label untagged = new Label("no tag");
        a.jumpIf(EQUAL, R4, TYPE_VLAN, first).jumpIf(NOT_EQUAL, R4, TYPE_SERVICE_VLAN, untagged);
        a.place(first);
        need(R2, ETHERNET + TAG, linkOnly);
        a.load(Size.HALF, R1, R2, ETHERNET).calculate(SHIFT_LEFT, R1, 48).calculate(OR, R7, R1);
        a.calculate(OR, R9, FlowKey.VLAN << KIND_SHIFT);
        type(ETHERNET + 2);
        a.jumpIf(EQUAL, R4, TYPE_VLAN, second).jumpIf(EQUAL, R4, TYPE_SERVICE_VLAN, second);
        a.calculate(ADD, R2, ETHERNET + TAG).jump(network);
        a.place(second);
        need(R2, ETHERNET + 2 * TAG, linkOnly);
        type(ETHERNET + TAG + 2);
        a.calculate(ADD, R2, ETHERNET + 2 * TAG).jump(network);
        a.place(untagged).calculate(ADD, R2, ETHERNET);
        a.place(network);
    }

    private void type(int at) {
        a.load(Size.HALF, R4, R2, at);
        a.calculate(SHIFT_LEFT, R8, 16).calculate(SHIFT_RIGHT, R8, 16);
        a.move(R1, R4).calculate(SHIFT_LEFT, R1, 48).calculate(OR, R8, R1);
    }

    /** Jumps if the packet ends before that many bytes. Changes R1. */
    private void need(Register from, int bytes, Label otherwise) {
        a.move(R1, from).calculate(ADD, R1, bytes).jumpIf(GREATER, R1, R3, otherwise);
    }

    /** R0 becomes the length of the IPv4 header at R2, which is at least 20 (RFC 791). Changes R1. */
    private void headerLength(Label otherwise) {
        a.load(Size.BYTE, R0, R2, 0).move(R1, R0).calculate(SHIFT_RIGHT, R1, 4).jumpIf(NOT_EQUAL, R1, 4, otherwise);
        a.calculate(AND, R0, 15).jumpIf(LESS, R0, 5, otherwise).calculate(SHIFT_LEFT, R0, 2);
    }

    /** Bits of R9 from R1. */
    private void part(int shift) {
        a.calculate(SHIFT_LEFT, R1, shift).calculate(OR, R9, R1);
    }

    private void ipv4() {
        Label other = new Label("not IPv4");
        Label whole = new Label("not a fragment");
        Label icmp = new Label("ICMP");
        a.jumpIf(NOT_EQUAL, R4, TYPE_IPV4, other);
        need(R2, IPV4_HEADER, linkOnly);
        headerLength(linkOnly);
        a.load(Size.HALF, R5, R2, 2).fromNetworkShort(R5).jumpIf(LESS, R5, R0, linkOnly).calculate(SUBTRACT, R5, R0);
        a.move(R1, R2).calculate(ADD, R1, R0).jumpIf(GREATER, R1, R3, linkOnly);
        a.load(Size.WORD, R1, R2, 12).store(Size.DOUBLE, R10, key(2), R1);
        a.load(Size.WORD, R1, R2, 16).store(Size.DOUBLE, R10, key(4), R1);
        a.calculate(OR, R9, FlowKey.IPV4 << KIND_SHIFT);
        a.load(Size.BYTE, R1, R2, 1);
        part(TOS_SHIFT);
        a.load(Size.BYTE, R4, R2, 9).move(R1, R4);
        part(PROTOCOL_SHIFT);
        a.load(Size.HALF, R1, R2, 6).calculate(AND, R1, MORE_OR_OFFSET).jumpIf(EQUAL, R1, 0, whole);
        a.calculate(OR, R9, FlowKey.FRAGMENT << KIND_SHIFT).jump(done);
        a.place(whole).calculate(ADD, R2, R0);
        a.jumpIf(EQUAL, R4, PROTOCOL_TCP, tcp).jumpIf(EQUAL, R4, PROTOCOL_UDP, udp);
        a.jumpIf(EQUAL, R4, PROTOCOL_ICMP, icmp).jump(done);
        a.place(icmp);
        quotedIpv4();
        a.place(other);
    }

    /** RFC 792: destination unreachable, time exceeded, parameter problem. */
    private void quotedIpv4() {
        Label error = new Label("ICMP error");
        a.jumpIf(LESS, R5, ICMP_HEADER + IPV4_HEADER + QUOTED, done);
        need(R2, ICMP_HEADER + IPV4_HEADER + QUOTED, done);
        a.load(Size.BYTE, R1, R2, 0).jumpIf(EQUAL, R1, 3, error).jumpIf(EQUAL, R1, 11, error);
        a.jumpIf(NOT_EQUAL, R1, 12, done).place(error);
        a.calculate(ADD, R2, ICMP_HEADER);
        headerLength(done);
        a.move(R1, R0).calculate(ADD, R1, ICMP_HEADER + QUOTED).jumpIf(LESS, R5, R1, done);
        a.load(Size.HALF, R1, R2, 6).calculate(AND, R1, OFFSET).jumpIf(NOT_EQUAL, R1, 0, done);
        a.load(Size.BYTE, R4, R2, 9);
        quotedProtocol();
        a.load(Size.WORD, R1, R2, 16).store(Size.DOUBLE, R10, error(2), R1).store(Size.DOUBLE, R10, error(3), 0);
        a.load(Size.WORD, R1, R2, 12).store(Size.DOUBLE, R10, error(4), R1).store(Size.DOUBLE, R10, error(5), 0);
        a.calculate(ADD, R2, R0);
        need(R2, QUOTED, done);
        quotedPorts(0, FlowKey.IPV4);
    }

    private void ipv6() {
        Label whole = new Label("not a fragment");
        Label icmp = new Label("ICMPv6");
        a.jumpIf(NOT_EQUAL, R4, TYPE_IPV6, linkOnly);
        need(R2, IPV6_HEADER, linkOnly);
        a.load(Size.BYTE, R1, R2, 0).calculate(SHIFT_RIGHT, R1, 4).jumpIf(NOT_EQUAL, R1, 6, linkOnly);
        a.load(Size.HALF, R5, R2, 4).fromNetworkShort(R5);
        for (int i = 0; i < 4; i++) {
            a.load(Size.DOUBLE, R1, R2, 8 + 8 * i).store(Size.DOUBLE, R10, key(2 + i), R1);
        }
        a.calculate(OR, R9, FlowKey.IPV6 << KIND_SHIFT);
        a.load(Size.HALF, R1, R2, 0).fromNetworkShort(R1).calculate(SHIFT_RIGHT, R1, 4).calculate(AND, R1, 0xFF);
        part(TOS_SHIFT);
        a.load(Size.BYTE, R4, R2, 6).move(R1, R4);
        part(PROTOCOL_SHIFT);
        a.jumpIf(NOT_EQUAL, R4, PROTOCOL_FRAGMENT, whole);
        a.calculate(OR, R9, FlowKey.FRAGMENT << KIND_SHIFT).jump(done);
        a.place(whole).calculate(ADD, R2, IPV6_HEADER);
        a.jumpIf(EQUAL, R4, PROTOCOL_TCP, tcp).jumpIf(EQUAL, R4, PROTOCOL_UDP, udp);
        a.jumpIf(EQUAL, R4, PROTOCOL_ICMPV6, icmp).jump(done);
        a.place(icmp);
        quotedIpv6();
    }

    /** RFC 4443: destination unreachable, packet too big, time exceeded, parameter problem: 1 to 4. */
    private void quotedIpv6() {
        int whole = ICMP_HEADER + IPV6_HEADER + QUOTED;
        a.jumpIf(LESS, R5, whole, done);
        need(R2, whole, done);
        a.load(Size.BYTE, R1, R2, 0).jumpIf(EQUAL, R1, 0, done).jumpIf(GREATER, R1, 4, done);
        a.load(Size.BYTE, R1, R2, ICMP_HEADER).calculate(SHIFT_RIGHT, R1, 4).jumpIf(NOT_EQUAL, R1, 6, done);
        a.load(Size.BYTE, R4, R2, ICMP_HEADER + 6);
        quotedProtocol();
        for (int i = 0; i < 4; i++) { // the destination first
            a.load(Size.DOUBLE, R1, R2, ICMP_HEADER + 8 + 8 * ((i + 2) % 4)).store(Size.DOUBLE, R10, error(2 + i), R1);
        }
        quotedPorts(ICMP_HEADER + IPV6_HEADER, FlowKey.IPV6);
    }

    private void quotedProtocol() {
        Label known = new Label("TCP or UDP in an ICMP error");
        a.jumpIf(EQUAL, R4, PROTOCOL_TCP, known).jumpIf(NOT_EQUAL, R4, PROTOCOL_UDP, done).place(known);
    }

    /** Word 6 of the second key: TOS and VLAN tag of the packet itself, the quoted protocol R4 and the ports at R2. */
    private void quotedPorts(int at, int family) {
        a.move(R0, R9).calculate(AND, R0, 0xFF << TOS_SHIFT | FlowKey.VLAN << KIND_SHIFT); // R9 has no ports
        a.calculate(OR, R0, (family | FlowKey.PORTS | FlowKey.ICMP_ERROR) << KIND_SHIFT);
        a.calculate(SHIFT_LEFT, R4, PROTOCOL_SHIFT).calculate(OR, R0, R4);
        a.load(Size.HALF, R1, R2, at + 2).calculate(SHIFT_LEFT, R1, PORTS_SHIFT).calculate(OR, R0, R1);
        a.load(Size.HALF, R1, R2, at).calculate(SHIFT_LEFT, R1, PORTS_SHIFT + 16).calculate(OR, R0, R1);
        a.store(Size.DOUBLE, R10, error(6), R0);
        a.store(Size.DOUBLE, R10, FlowProgram.ERROR_STATE, FlowProgram.ERROR_PENDING).jump(done);
    }

    private void transport() {
        a.place(tcp).jumpIf(LESS, R5, TCP_HEADER, done);
        need(R2, TCP_HEADER, done);
        a.jump(ports).place(udp).jumpIf(LESS, R5, UDP_HEADER, done);
        need(R2, UDP_HEADER, done);
        a.place(ports).load(Size.WORD, R1, R2, 0);
        part(PORTS_SHIFT);
        a.calculate(OR, R9, FlowKey.PORTS << KIND_SHIFT);
    }
}
