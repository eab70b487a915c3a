// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;

import org.verbena.testkit.Seeds;

/** Text to records: right for each form, for all scripts of the suite, and never anything but an error for garbage. */
final class ScriptParserTest {
    private static final Path SUITE = Path.of("src/test/packetdrill/freebsd");

    private static Script parse(String text) throws ParseException {
        return ScriptParser.parse("a.pkt", text, Set.of("STANDARD"));
    }

    private static Action action(String text) throws ParseException {
        Script s = parse(text);
        assertThat(s.events()).hasSize(1);
        return s.events().getFirst().action();
    }

    private static When when(String time) throws ParseException {
        return parse(time + " close(3) = 0").events().getFirst().when();
    }

    private static PacketBody.Tcp tcp(String text) throws ParseException {
        return (PacketBody.Tcp) ((Action.Packet) action("0 < " + text)).body();
    }

    private static PacketBody.Range range(long start, int length) {
        return new PacketBody.Range(start, start + length, length);
    }

    private static Expression number(long n) {
        return new Expression.Numeral(n, false);
    }

    @Test
    void times() throws ParseException {
        assertThat(when("1.5")).isEqualTo(When.at(1_500_000_000L));
        assertThat(when("+.1")).isEqualTo(When.after(100_000_000L));
        assertThat(when("+ 0.000001")).isEqualTo(When.after(1000));
        assertThat(when("*")).isEqualTo(When.any());
        assertThat(when("+ *")).isEqualTo(When.any());
        assertThat(when("0~+1")).isEqualTo(new When(When.Kind.ABSOLUTE, 0, 1_000_000_000, When.NONE));
        assertThat(when("+0.5~+1")).isEqualTo(new When(When.Kind.RELATIVE, 500_000_000, 1_000_000_000, When.NONE));
        assertThat(when("2.0...2.5")).isEqualTo(
                new When(When.Kind.ABSOLUTE, 2_000_000_000, When.NONE, 2_500_000_000L));
        assertThat(when("+0...0.2")).isEqualTo(new When(When.Kind.RELATIVE, 0, When.NONE, 200_000_000));
    }

    @Test
    void optionsCommentsAndCommands() throws ParseException {
        Script s = parse("""
                // --not=one
                --ip_version=ipv4
                --tcp_ts_ecr_scaled --mtu=72
                `first`
                0 `sysctl -w a=1` // a comment
                /* another
                   0 nothing */
                #ifdef STANDARD
                +1 %{ assert a == 1 }%
                #else
                +2 `not this`
                #endif
                #ifdef FreeBSD
                + nor this
                #endif
                `last`""");
        assertThat(s.options()).isEqualTo(Map.of("ip_version", "ipv4", "tcp_ts_ecr_scaled", "", "mtu", "72"));
        assertThat(s.before()).containsExactly("first");
        assertThat(s.after()).containsExactly("last");
        assertThat(s.events()).containsExactly(new Event(5, When.at(0), new Action.Command("sysctl -w a=1")),
                new Event(9, When.after(1_000_000_000), new Action.Code("assert a == 1")));
    }

    @Test
    void segments() throws ParseException {
        assertThat(action("0 > S 0:0(0) win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 0>")).isEqualTo(
                new Action.Packet(true, IpMarks.NONE,
                        new PacketBody.Tcp(TcpFlags.SYN, range(0, 0), false, null, 65535, null,
                                List.of(new TcpOption.Mss(1460), new TcpOption.Nop(), new TcpOption.WindowScale(6),
                                        new TcpOption.SackPermitted(), new TcpOption.Timestamps(100, 0)),
                                null)));
        assertThat(tcp("P. 1:1461(1460) ack 1 win 257 urg 3")).isEqualTo(
                new PacketBody.Tcp(TcpFlags.PSH | TcpFlags.ACK, range(1, 1460), false, 1L, 257, 3, List.of(), null));
        assertThat(tcp(". 1:1(0) ack 5 win 9 <nop, nop, sack 7:9 11:13>").options()).containsExactly(
                new TcpOption.Nop(), new TcpOption.Nop(),
                new TcpOption.Sack(List.of(new TcpOption.Block(7, 9), new TcpOption.Block(11, 13))));
        assertThat(tcp("S 0:0(0) <...>").options()).isNull();
        assertThat(tcp("S. ...(0) ack 65537").range()).isEqualTo(new PacketBody.Range(null, null, 0));
        assertThat(tcp("SEW 0:0(0)").flags()).isEqualTo(TcpFlags.SYN | TcpFlags.ECE | TcpFlags.CWR);
        assertThat(tcp("- 0:0(0)").flags()).isZero();
        assertThat(tcp("S5 0:0(0)").flags()).isEqualTo(TcpFlags.SYN | TcpFlags.AE | TcpFlags.ECE);
        assertThat(tcp("R. 0:0(0)! ack 2 win 0 <nop,nop,md5 valid>/udp(9811 > 1)")).isEqualTo(
                new PacketBody.Tcp(TcpFlags.RST | TcpFlags.ACK, range(0, 0), true, 2L, 0, null,
                        List.of(new TcpOption.Nop(), new TcpOption.Nop(), new TcpOption.Md5("valid")),
                        new PacketBody.UdpPorts(9811, 1)));
        assertThat(tcp("S 4294967295:2(3)<FO 0xABcd, FO, unknown(30, 0x01)>")).isEqualTo(
                new PacketBody.Tcp(TcpFlags.SYN, new PacketBody.Range(4294967295L, 2L, 3), false, null, null, null,
                        List.of(new TcpOption.FastOpen("abcd"), new TcpOption.FastOpen(null),
                                new TcpOption.Unknown(30, "01")),
                        null));
    }

    @Test
    void marksOfTheIpHeader() throws ParseException {
        assertThat(((Action.Packet) action("0 >[ect0] P. 1:11(10) ack 1")).ip()).isEqualTo(
                new IpMarks("ect0", null, null, null, List.of()));
        assertThat(((Action.Packet) action("0 < (tos 0xe0, ttl 5) . 1:1(0) ack 1")).ip()).isEqualTo(
                new IpMarks(null, 0xe0, 5, null, List.of()));
        assertThat(((Action.Packet) action("0 > ipv4 1.1.1.1 > 2.2.2.2: F. 1:1(0) ack 1")).ip().others())
                .containsExactly("ipv4 1.1.1.1 > 2.2.2.2:");
    }

    @Test
    void icmpAndUdp() throws ParseException {
        assertThat(((Action.Packet) action("0 <icmp unreachable frag_needed mtu 1234 [1:1461(1460)]")).body())
                .isEqualTo(new PacketBody.Icmp("unreachable", "frag_needed", 1234, range(1, 1460), null));
        assertThat(((Action.Packet) action("0 < icmp source_quench [0:0(0)]")).body()).isEqualTo(
                new PacketBody.Icmp("source_quench", null, null, range(0, 0), null));
        assertThat(((Action.Packet) action("0 < icmp unreachable port_unreachable [udp (8)]")).body()).isEqualTo(
                new PacketBody.Icmp("unreachable", "port_unreachable", null, null, 8));
        assertThat(((Action.Packet) action("0 > udp (1000)")).body()).isEqualTo(new PacketBody.Udp(1000));
    }

    @Test
    void calls() throws ParseException {
        assertThat(action("0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)")).isEqualTo(
                new Action.Call("connect", List.of(number(3), new Expression.Any(), new Expression.Any()), number(-1),
                        "EINPROGRESS"));
        assertThat(action("0 fcntl(3, F_GETFL) = 0x02 (flags O_RDWR)//")).isEqualTo(
                new Action.Call("fcntl", List.of(number(3), new Expression.Name("F_GETFL")),
                        new Expression.Numeral(2, true), null));
        assertThat(action("0 write (3, \"a b\", O_RDWR | O_NONBLOCK) = 3")).isEqualTo(
                new Action.Call("write",
                        List.of(number(3), new Expression.Text("a b"),
                                new Expression.Or(
                                        List.of(new Expression.Name("O_RDWR"), new Expression.Name("O_NONBLOCK")))),
                        number(3), null));
        assertThat(action("0 poll([{fd=4, events=POLLIN}], 1, 0) = 1")).isEqualTo(
                new Action.Call("poll",
                        List.of(new Expression.Array(
                                List.of(new Expression.Struct(
                                        List.of(new Expression.Member(new Expression.Name("fd"), number(4)),
                                                new Expression.Member(new Expression.Name("events"),
                                                        new Expression.Name("POLLIN")))))),
                                number(1), number(0)),
                        number(1), null));
        assertThat(action("0 bind(3, {sa_family = AF_INET, sin_port = htons(80)}, 16) = 0").toString()).isEqualTo(
                "bind(3, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0");
    }

    @Test
    void errorsSayWhereAndWhatWasExpected() {
        wrong("0 > S 0:0(0)\n0 > S 0-0(0)\n", "a.pkt:2: expected ':', found '-0(0)'");
        wrong("0 > S 0:5(4)", "a.pkt:1: expected an end that is 4 instead of 5 before, found the end");
        wrong("0 > S 0:0(0) <mss 1, huh>", "a.pkt:1: expected a TCP option, found 'huh>'");
        wrong("0 close(3)", "a.pkt:1: expected '=', found the end");
        wrong("x close(3) = 0", "a.pkt:1: expected the time of an event, found 'x close(3) = 0'");
        wrong("0 `ls", "a.pkt:1: expected '`' somewhere behind, found 'ls'");
        wrong("0 > SS 0:0(0)", "a.pkt:1: expected flags, icmp or udp, found 'SS 0:0(0)'");
        wrong("0 > S 4294967296:0(0)",
                "a.pkt:1: expected a sequence number of at most 4294967295, found '4294967296:0(0)'");
        wrong("#ifdef A\n0 close(3) = 0", "a.pkt:2: expected #endif, found the end");
    }

    private static void wrong(String text, String message) {
        assertThatThrownBy(() -> parse(text)).isInstanceOf(ParseException.class).hasMessage(message);
    }

    @Test
    void printedPacketsAreReadAsTheSame() throws IOException {
        for (Path file : Suite.scripts(SUITE)) {
            try {
                for (Event e : ScriptParser.read(file, Set.of()).events()) {
                    if (e.action() instanceof Action.Packet p) {
                        assertThat(action("0 " + p)).isEqualTo(p);
                    }
                }
            } catch (ParseException e) {
                fail(e.getMessage());
            }
        }
    }

    @Test
    void allScriptsOfTheSuiteParse() throws IOException {
        List<String> wrong = new ArrayList<>();
        List<Path> files = Suite.scripts(SUITE);
        for (Path file : files) {
            try {
                ScriptParser.read(file, Set.of("STANDARD"));
                ScriptParser.read(file, Set.of("FreeBSD"));
            } catch (ParseException e) {
                wrong.add(e.getMessage());
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(files).hasSize(931);
    }

    @Test
    void garbageIsNothingButAnError() throws IOException {
        List<Path> files = Suite.scripts(SUITE);
        Seeds.each(300, r -> {
            String text = Files.readString(files.get(r.nextInt(files.size())));
            byte[] b = text.substring(text.lastIndexOf("--ip_version")).getBytes(StandardCharsets.ISO_8859_1);
            mutate(b, r);
            try {
                parse(new String(b, 0, b.length - r.nextInt(50), StandardCharsets.ISO_8859_1));
            } catch (ParseException e) {
                assertThat(e).hasMessageMatching("(?s)a\\.pkt:\\d+: expected .*, found .*");
            }
        });
    }

    private static void mutate(byte[] b, Random r) {
        for (int i = 1 + r.nextInt(4); i > 0; i--) {
            if (r.nextBoolean()) {
                b[r.nextInt(b.length)] = (byte) r.nextInt(256);
            } else {
                int length = r.nextInt(20);
                System.arraycopy(b, r.nextInt(b.length - length), b, r.nextInt(b.length - length), length);
            }
        }
    }
}
