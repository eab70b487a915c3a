// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;

import org.junit.jupiter.api.Test;

import org.verbena.linux.Errno;

/** What the runner says of right and of wrong, against a stack that answers by a table. */
final class RunnerTest {
    private static final long WAITS = Target.Answer.WAITS;
    private static final String SYN = "S 0:0(0) win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 0>";
    private static final String CLIENT = """
            --tolerance_usecs=50000
            0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
            +0 fcntl(3, F_GETFL) = 0x02 (flags O_RDWR)
            +0 fcntl(3, F_SETFL, O_RDWR | O_NONBLOCK) = 0
            +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
            +0 > S 0:0(0) win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 0>
            +.1 < S. 0:0(0) ack 1 win 32767 <mss 1460,TS val 700 ecr 100>
            +0 > . 1:1(0) ack 1 win 1000 <nop,nop,TS val 200 ecr 700>
            +0 recv(3, ..., 10, 0) = -1 EWOULDBLOCK (Operation would block)
            +.5 < P. 1:11(10) ack 1 win 100
            +.2 > . 1:1(0) ack 11 win 990 <nop,nop,TS val 900 ecr 700>
            +0 recv(3, ..., 10, MSG_PEEK) = 10
            +0 recv(3, ..., 10, 0) = 10
            +0 send(3, ..., 5, 0) = 5
            +0 > P. 1:6(5) ack 11
            +1 > P. 1:6(5) ack 11
            +0 < R 11:11(0) win 0
            +0 getsockopt(3, SOL_SOCKET, SO_ERROR, [ECONNRESET], [4]) = 0
            +0 %{ assert tcpi_state == TCPI_ESTABLISHED }%
            +0 `sockstat -4 -P tcp -s -p 8080 | grep -c SYN_RCVD | grep 0`
            +0 close(3) = 0
            """;

    /** The table of a stack that does right. */
    private static FakeTarget right() {
        return right("P. 1:6(5) ack 11");
    }

    private static FakeTarget right(String sent) {
        return answers().sends("connect", 0, SYN).sends("packet 1", 0,
                ". 1:1(0) ack 1 win 1000 <nop,nop,TS val 200 ecr 700>")
                .sends("packet 2", .21, ". 1:1(0) ack 11 win 990 <nop,nop,TS val 912 ecr 700>")
                .sends("send", 0, sent).sends("send", 1.02, "P. 1:6(5) ack 11");
    }

    private static FakeTarget answers() {
        return new FakeTarget().returns("connect", -Errno.EINPROGRESS).returns("receive", -Errno.EAGAIN).returns(
                "getOption", Errno.ECONNRESET);
    }

    static Outcome run(String script, FakeTarget target, Profile profile) {
        try {
            return Runner.run(ScriptParser.parse("a.pkt", script, Set.of()), profile, (local, mtu) -> target);
        } catch (ParseException e) {
            throw new AssertionError(e);
        }
    }

    static void fails(String kind, String message, String script, FakeTarget target) {
        assertThat(run(script, target, Profile.strict())).isEqualTo(new Outcome.Failed(kind, message));
    }

    static void passes(String script, FakeTarget target) {
        assertThat(run(script, target, Profile.strict())).isEqualTo(new Outcome.Passed());
    }

    private static String connect(String packets) {
        return CLIENT.substring(0, CLIENT.indexOf("+0 > S")) + packets;
    }

    @Test
    void rightPasses() {
        FakeTarget t = right();
        passes(CLIENT, t);
        assertThat(t.injected).hasSize(3);
    }

    @Test
    void packetsToTheStackAreRight() throws Failure {
        FakeTarget t = right();
        passes(CLIENT, t);
        WirePacket p = WirePacket.read(t.injected.getFirst()); // which checks the lengths and the sums
        assertThat(p.ip()).isEqualTo(
                new Packets.Ip(Profile.strict().remote(), Profile.strict().local(), 0,
                        Packets.DEFAULT_TTL, 0));
        assertThat(p.sourcePort()).isEqualTo(8080);
        assertThat(p.destinationPort()).isEqualTo(FakeTarget.PORT);
        assertThat(p.sequence()).isEqualTo(Profile.strict().sequenceOffset());
        assertThat(p.ack()).isEqualTo(FakeTarget.FIRST + 1);
        assertThat(OptionBytes.read(p.options())).startsWith(new TcpOption.Mss(1460),
                new TcpOption.Timestamps(700, 7_000_100));
        assertThat(WirePacket.read(t.injected.get(1)).payload()).isEqualTo(Stream.bytes(1, 10));
    }

    @Test
    void wrongFields() {
        String expected = "a.pkt:6: expected > " + SYN + "; sent > ";
        String sent = SYN.replace("65535", "1000");
        fails("WINDOW", expected + sent + "; win: 65535 expected, 1000 sent", CLIENT, answers().sends("connect", 0,
                sent));
        sent = SYN.replace("S 0", "SEW 0");
        fails("FLAGS", expected + sent + "; flags: S expected, SEW sent", CLIENT, answers().sends("connect", 0, sent));
        sent = SYN.replace(",sackOK", "");
        fails("OPTIONS",
                expected + sent.replace(">", ",eol,eol>")
                        + "; options: [mss 1460, nop, wscale 6, sackOK, TS val 100 ecr 0] expected, "
                        + "[mss 1460, nop, wscale 6, TS val 100 ecr 0, eol, eol] sent",
                CLIENT, answers().sends("connect", 0, sent));
        String ack = ". 1:1(0) ack 1 win 1000 <nop,nop,TS val 200 ecr 700>";
        expected = "a.pkt:8: expected > " + ack + "; sent > ";
        sent = ack.replace("1:1(0)", "2:2(0)");
        fails("SEQUENCE", expected + sent + "; sequence number: 1 expected, 2 sent", CLIENT, ack(sent));
        sent = ack.replace("ack 1", "ack 3");
        fails("ACK", expected + sent + "; ack: 1 expected, 3 sent", CLIENT, ack(sent));
        sent = ack.replace("1:1(0)", "1:3(2)");
        fails("LENGTH", expected + sent + "; length: 0 expected, 2 sent", CLIENT, ack(sent));
        sent = ack.replace("val 200", "val 300");
        fails("TIMESTAMP",
                expected + sent + "; time stamp: TS val 200 ecr 700 expected, TS val 300 ecr 700 sent", CLIENT,
                ack(sent));
    }

    private static FakeTarget ack(String sent) {
        return answers().sends("connect", 0, SYN).sends("packet 1", 0, sent);
    }

    @Test
    void wrongHeaderOfIp() {
        FakeTarget ect = answers().sends("connect", 0, "[ect0] " + SYN);
        fails("IP", "a.pkt:6: expected > [noecn] S 0:0(0) <...>; sent > [ect0] (tos 0x2) (ttl 64) "
                + SYN.replace("val 100", "val 7000100") + "; ECN: noecn expected, ect0 sent", connect(
                        "+0 > [noecn] S 0:0(0) <...>"), ect);
        fails("IP",
                "a.pkt:6: expected > (tos 0x20) (ttl 5) S 0:0(0) <...>; sent > [noecn] (tos 0x0) (ttl 64) "
                        + SYN.replace("val 100", "val 7000100")
                        + "; tos: 32 expected, 0 sent; ttl: 5 expected, 64 sent",
                connect("+0 > (tos 0x20, ttl 5) S 0:0(0) <...>"), answers().sends("connect", 0, SYN));
        passes(connect("+0 > [ect01] (ttl 64) S 0:0(0) <...>"), answers().sends("connect", 0, "[ect0] " + SYN));
    }

    @Test
    void brokenPackets() {
        for (int byteOfTcp : new int[] {21, 33, 37, 59}) {
            assertThat(run(CLIENT, right().damages(byteOfTcp), Profile.strict())).isInstanceOfSatisfying(
                    Outcome.Failed.class, f -> assertThat(f.message()).contains("a wrong checksum of protocol 6"));
        }
        for (int byteOfIp : new int[] {5, 10, 15}) {
            assertThat(run(CLIENT, right().damages(byteOfIp), Profile.strict())).isInstanceOfSatisfying(
                    Outcome.Failed.class, f -> assertThat(f.message()).contains("a wrong checksum of the IPv4 header"));
        }
    }

    @Test
    void wrongTimes() {
        String syn = "+0 > " + SYN;
        fails("TIME", "a.pkt:6: expected > " + SYN + " at 0.300000 s; it was sent at 0.200000 s",
                connect("+.3 > " + SYN), answers().sends("connect", .2, SYN));
        fails("MISSING_PACKET", "a.pkt:6: expected > " + SYN + "; nothing was sent up to 0.050000 s", connect(syn),
                answers().sends("connect", .06, SYN));
        passes(connect("+.1 > " + SYN), answers().sends("connect", .14, SYN));
        passes(connect("+.1~+.3 > " + SYN), answers().sends("connect", .34, SYN));
        passes(connect("* > " + SYN + "\n+.1 > S 0:0(0) <...>"),
                answers().sends("connect", 5, SYN).sends("connect", 5.1, SYN));
    }

    @Test
    void missingAndExtraPackets() {
        fails("MISSING_PACKET", "a.pkt:6: expected > " + SYN + "; nothing was sent up to 0.050000 s", CLIENT,
                answers());
        fails("EXTRA_PACKET",
                "a.pkt:17: sent > . 1:1(0) ack 11 win 100 at 1.830000 s, which the script does not have", CLIENT,
                right().sends("packet 3", 0, ". 1:1(0) ack 11"));
        assertThat(run(CLIENT, right().sends("packet 3", 0, ". 1:1(0) ack 11"), Profile.freebsd())).isEqualTo(
                new Outcome.Passed());
        // what the last call causes is left alone
        passes(CLIENT, right().sends("close", 0, "F. 6:6(0) ack 11"));
        // one in between stands where another is expected
        fails("FLAGS",
                "a.pkt:15: expected > P. 1:6(5) ack 11; sent > . 1:1(0) ack 11 win 100; flags: P. expected, . sent; "
                        + "length: 5 expected, 0 sent",
                CLIENT, right(". 1:1(0) ack 11"));
    }

    @Test
    void wrongResults() {
        fails("RETURN", "a.pkt:2: bind(3, ..., ...) = 0: returned 5", "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
                + "+0 bind(3, ..., ...) = 0", new FakeTarget().returns("bind", 5));
        fails("ERRNO", "a.pkt:1: listen(3, 1) = 0: returned -1 EINVAL", "0 listen(3, 1) = 0",
                new FakeTarget().returns("listen", -Errno.EINVAL));
        fails("ERRNO", "a.pkt:1: recv(3, ..., 9, 0) = -1 EAGAIN: returned 9",
                "0 recv(3, ..., 9, 0) = -1 EAGAIN", new FakeTarget());
        fails("VALUE", "a.pkt:1: getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4]) = 0: SO_ERROR is ECONNREFUSED",
                "0 getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4]) = 0",
                new FakeTarget().returns("getOption", Errno.ECONNREFUSED));
        fails("ASSERTION", "a.pkt:1: tcpi_state: TCPI_LISTEN (1) expected, it is 4",
                "0 %{ assert tcpi_state == TCPI_LISTEN }%", new FakeTarget());
        fails("COMMAND", "a.pkt:1: 1 connections in TIME_WAIT expected, there are 0",
                "0 `sockstat -4 -P tcp -s | grep packetdril | grep -c TIME_WAIT | grep 1`", new FakeTarget());
        passes("--non_fatal=syscall\n0 listen(3, 1) = 0", new FakeTarget().returns("listen", -Errno.EINVAL));
        passes("0 setsockopt(3, SOL_SOCKET, SO_LINGER, {onoff=1, linger=5}, 8) = 0",
                new FakeTarget().returns("setLinger true 5", 0));
    }

    @Test
    void callsThatWait() {
        String script = """
                0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
                1.0...1.1 connect(3, ..., ...) = 0
                +0 > S 0:0(0)
                +.1 < S. 0:0(0) ack 1 win 1000
                +0 > . 1:1(0) ack 1
                +1 close(3) = 0
                """;
        FakeTarget t = new FakeTarget().sends("connect", 0, "S 0:0(0)").sends("packet 1", 0, ". 1:1(0) ack 1");
        passes(script, t.returns("connect", WAITS, WAITS, WAITS));
        t = new FakeTarget().sends("connect", 0, "S 0:0(0)").sends("packet 1", 0, ". 1:1(0) ack 1");
        fails("TIME",
                "a.pkt:2: connect(3, ..., ...) = 0: it was back at 1.000000 s, and should be at 1.100000 s", script,
                t.returns("connect", WAITS));
        t = new FakeTarget().sends("connect", 0, "S 0:0(0)").sends("packet 1", 0, ". 1:1(0) ack 1");
        for (int i = 0; i < 20; i++) {
            t.returns("connect", WAITS);
        }
        fails("TIME", "a.pkt:2: connect(3, ..., ...) = 0: still waits at 1.104000 s",
                script.replace("+1 close(3)", "+0 shutdown(3, SHUT_WR)"), t);
        passes("0 poll([{fd=3, events=POLLIN, revents=POLLIN}], 1, 1000) = 1",
                new FakeTarget().returns("ready", 1, 1));
        passes("0...1 poll([{fd=3, events=POLLIN}], 1, 1000) = 0", new FakeTarget());
    }

    @Test
    void serverAndWrongBytes() {
        String script = """
                0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
                +0 bind(3, ..., ...) = 0
                +0 listen(3, 1) = 0
                +0 < S 0:0(0) win 1000
                +0 > S. 0:0(0) ack 1
                +0 < P. 1:11(10) ack 1 win 1000
                +0 accept(3, ..., ...) = 4
                +0 recv(4, ..., 4, 0) = 4
                """;
        passes(script, new FakeTarget().server().sends("packet 1", 0, "S. 0:0(0) ack 1"));
        fails("DATA", "a.pkt:9: recv(4, ..., 4, 0) = 4: the byte at sequence number 5 is another",
                script + "+0 recv(4, ..., 4, 0) = 4", // the table always has the first ones
                new FakeTarget().server().sends("packet 1", 0, "S. 0:0(0) ack 1"));
        fails("PACKET",
                "a.pkt:5: a packet was sent with ports of no connection of the script (50000 to 8080): "
                        + "> S. 4294967280:4294967280(0) ack 1 win 100",
                script, new FakeTarget().sends("packet 1", 0, "S. 0:0(0) ack 1"));
    }

    @Test
    void aNewFirstNumberIsWrongUnlessTheConnectionMayBeOver() {
        String script = """
                0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
                +0 < S 0:0(0) win 1000
                +0 > S. 0:0(0) ack 1
                +0 < R 1:1(0) win 1000
                +0 < S 0:0(0) win 1000
                +0 > S. 0:0(0) ack 1
                +0 < . 1:1(0) ack 1 win 1000
                +0 > . 1:1(0) ack 1
                """;
        FakeTarget t = new FakeTarget().server().sends("packet 1", 0, "S. 0:0(0) ack 1");
        passes(script, t.sends("packet 3", 0, "S. 100:100(0) ack 1").sends("packet 4", 0, ". 101:101(0) ack 1"));
        t = new FakeTarget().server().sends("packet 1", 0, "S. 0:0(0) ack 1");
        fails("SEQUENCE", "a.pkt:6: expected > S. 0:0(0) ack 1; sent > S. 100:100(0) ack 1 win 100; "
                + "sequence number: 0 expected, 100 sent", script.replace("< R", "< ."), t.sends("packet 3", 0,
                        "S. 100:100(0) ack 1"));
    }

    @Test
    void normalisations() {
        FakeTarget other = answers().sends("connect", 0,
                "S 0:0(0) win 1000 <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 6>");
        assertThat(run(connect("+0 > " + SYN), other, Profile.freebsd().withWindowSlack(64_535))).isEqualTo(
                new Outcome.Passed());
        other = answers().sends("connect", 0, "S 0:0(0) win 1000 <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 6>");
        assertThat(run(connect("+0 > " + SYN), other, Profile.freebsd())).isInstanceOfSatisfying(
                Outcome.Failed.class, f -> assertThat(f.kind()).isEqualTo("WINDOW"));
        other = answers().sends("connect", 0, "S 0:0(0) win 65535 <mss 1460,sackOK,TS val 100 ecr 0>");
        assertThat(run(connect("+0 > " + SYN), other, Profile.freebsd())).isInstanceOfSatisfying(
                Outcome.Failed.class, f -> assertThat(f.kind()).isEqualTo("OPTIONS"));
        String buffer = "0 getsockopt(3, SOL_SOCKET, SO_RCVBUF, [65700], [4]) = 0";
        assertThat(run(buffer, new FakeTarget(), Profile.freebsd())).isEqualTo(new Outcome.Passed());
        fails("VALUE", "a.pkt:1: getsockopt(3, SOL_SOCKET, SO_RCVBUF, [65700], [4]) = 0: SO_RCVBUF is 0", buffer,
                new FakeTarget());
    }

    @Test
    void whatIsNotThere() {
        unsupported("needs option net.unknown=1", "0 `sysctl -w net.unknown=1`");
        unsupported("command ls", "0 `ls`");
        unsupported("Python print(1)", "0 %{ print(1) }%");
        unsupported("--ip_version=ipv7", "--ip_version=ipv7\n0 close(3) = 0");
        unsupported("--udp_encapsulation", "--udp_encapsulation=tcp\n0 close(3) = 0");
        unsupported("signatures of RFC 2385", "0 < S 0:0(0) win 1 <md5 valid>");
        unsupported("call fork", "0 fork() = 0");
        assertThat(run("0 setsockopt(3, IPPROTO_TCP, TCP_NOOPT, [1], 4) = 0",
                new FakeTarget().returns("setOption", -Errno.ENOPROTOOPT), Profile.strict())).isEqualTo(
                        new Outcome.Unsupported("needs socket option TCP_NOOPT"));
    }

    private static void unsupported(String reason, String script) {
        assertThat(run(script, new FakeTarget(), Profile.strict())).isEqualTo(new Outcome.Unsupported(reason));
    }
}
