// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The dialect of Linux's scripts: scripts of our own in it, against the stack. */
final class LinuxDialectTest {
    /** A server with segments of 1000 bytes. */
    private static final String ACCEPTED = """
            `../../common/defaults.sh
            sysctl -q net.ipv4.tcp_wmem="4096 $((256*1024)) 4194304" net.ipv4.tcp_tso_win_divisor=3  # not seen
            ./set_sysctls.py /proc/sys/net/ipv4/tcp_timestamps=0 \\
              /proc/sys/net/ipv4/tcp_ecn=2
            ip tcp_metrics flush all > /dev/null 2>&1; tc qdisc add dev tun0 root pfifo`
            0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3
            +0 bind(3, ..., ...) = 0
            +0 listen(3, 1) = 0
            +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,wscale 7>
            +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
            +.1 < . 1:1(0) ack 1 win 257
            +0 accept(3, ..., ...) = 4
            """;
    private static final String SENDS = """
            +0 write(4, ..., 4500) = 4500
            +0 > P. 1:3001(3000) ack 1
            +0 > . 3001:4501(1500) ack 1
            +0 %{ assert tcpi_unacked == 5, 'not %d' % tcpi_unacked; \\
                  assert 9 < tcpi_snd_cwnd <= 10 and not tcpi_lost
                  assert (tcpi_options & TCPI_OPT_SACK) != 0 or tcpi_state == 7
                  # of no consequence
                  assert abs(tcpi_rtt - 100 * 1000) < 5000 and tcpi_ca_state == TCP_CA_Open }%
            `/tmp/sysctl_restore_${PPID}.sh`
            """;

    private static Outcome run(String text, IpVersion version) throws ParseException {
        return Runner.run(ScriptParser.parse("own.pkt", text, Set.of()), Profile.forLinux().over(version),
                StackTarget::openForLinux);
    }

    private static String kind(String text) throws ParseException {
        return switch (run(text, IpVersion.IPV4)) {
            case Outcome.Passed p -> "PASSED";
            case Outcome.Failed f -> f.kind();
            case Outcome.Unsupported u -> u.reason();
        };
    }

    @ParameterizedTest
    @EnumSource
    void aPacketMayComeAsSeveral(IpVersion version) throws Exception {
        assertThat(run("--mss=1000\n" + ACCEPTED + SENDS, version)).isEqualTo(new Outcome.Passed());
        assertThat(run("--strict_segments\n" + ACCEPTED + SENDS, version)).isInstanceOf(Outcome.Failed.class);
    }

    @Test
    void whatDoesNotFollowIsNotTakenForAPart() throws Exception {
        assertThat(kind(ACCEPTED + SENDS.replace("1:3001(3000)", "1:4001(4000)"))).isEqualTo("SEQUENCE");
        assertThat(kind(ACCEPTED + SENDS.replace("1:3001(3000)", "1:3501(3500)"))).isEqualTo("LENGTH");
        assertThat(kind(ACCEPTED + SENDS.replace("3001:4501(1500)", "3001:5501(2500)"))).isEqualTo("LENGTH");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcpi_unacked == 5", "tcpi_snd_cwnd <= 10", "9 < tcpi_snd_cwnd", "!= 0 or tcpi_state",
        "< 5000 and", "tcpi_ca_state == TCP_CA_Open"})
    void anAssertionThatIsWrongFails(String part) throws Exception {
        String wrong = part.replace("== 5", "== 4").replace("<= 10", "<= 9").replace("9 <", "10 <").replace("!= 0",
                "== 0").replace("< 5000", "> 5000").replace("_Open", "_Loss");
        assertThat(wrong).isNotEqualTo(part);
        assertThat(kind(ACCEPTED + SENDS.replace(part, wrong))).isEqualTo("ASSERTION");
    }

    @Test
    void whatIsNotThereIsNamed() throws Exception {
        assertThat(kind(ACCEPTED + "+0 `tc qdisc replace dev tun0 root fq`")).isEqualTo(
                "command tc qdisc replace dev tun0 root fq");
        assertThat(kind(ACCEPTED + "+0 `sysctl -q net.ipv4.tcp_mtu_probing=2`")).isEqualTo(
                "needs option net.ipv4.tcp_mtu_probing=2");
        assertThat(kind(ACCEPTED + "+0 %{ assert tcpi_reordering == 3 }%")).isEqualTo(
                "needs TCP_INFO's tcpi_reordering");
        assertThat(kind(ACCEPTED + "+0 %{ print(1) }%")).isEqualTo("Python print(1)");
        assertThat(kind(ACCEPTED + "+0 %{ assert 1 == 1 if 2 }%")).isEqualTo("Python assert 1 == 1 if 2");
        assertThat(kind("--unheard=1\n" + ACCEPTED)).isEqualTo("--unheard");
    }

    @Test
    void messagesAndQueuesAreLookedAt() throws Exception {
        String queues = """
                +0 < P. 1:501(500) ack 1 win 257
                +0 > . 1:1(0) ack 501
                +0 ioctl(4, SIOCINQ, [500]) = 0
                +0 recvmsg(4, {msg_name(...)=..., msg_iov(2)=[{..., 100}, {..., 300}], msg_flags=0}, 0) = 400
                +0 ioctl(4, SIOCINQ, [100]) = 0
                +0 sendmsg(4, {msg_name(...)=..., msg_iov(2)=[{..., 30}, {..., 10}], msg_flags=0}, MSG_MORE) = 40
                +.01 write(4, ..., 20) = 20
                +0 > P. 1:61(60) ack 501
                +0 ioctl(4, SIOCOUTQ, [60]) = 0
                """;
        assertThat(kind(ACCEPTED + queues)).isEqualTo("PASSED");
        assertThat(kind(ACCEPTED + queues.replace("[500]", "[501]"))).isEqualTo("VALUE");
        assertThat(kind(ACCEPTED + queues.replace("= 400", "= 399"))).isEqualTo("RETURN");
        assertThat(kind(ACCEPTED + queues.replace("MSG_MORE", "0"))).isEqualTo("LENGTH");
    }

    @Test
    void eachListenersPeerHasAnotherPort() throws Exception {
        assertThat(kind(ACCEPTED + "+0 close(4) = 0\n+0 close(3) = 0\n" + ACCEPTED.substring(ACCEPTED.indexOf(
                "tun0 root pfifo`") + "tun0 root pfifo`".length()).replace(" 0 socket", "+0 socket").replace("\n0 ",
                        "\n+0 "))).isEqualTo("PASSED");
    }

    @Test
    void theSumHasWhatDoesNotApplyForItself() {
        Outcome failed = new Outcome.Failed("ACK", "a.pkt:1: wrong");
        Outcome passed = new Outcome.Passed();
        List<Suite.Result> results = List.of(new Suite.Result("a.pkt", failed, failed), new Suite.Result("b.pkt",
                failed,
                failed), new Suite.Result("c.pkt", passed, passed));
        Expectations e = new Expectations(List.of("a.pkt\tn/a: of the kernel", "b.pkt\tRFC 1", "d.pkt\tRFC 2"));
        assertThat(e.sum(results)).isEqualTo("3 scripts; 1 do not apply; of the other 2, 1 hold and 1 do not");
        assertThat(e.surprises(results, p -> !p.startsWith("d"))).isEmpty();
        assertThat(e.surprises(results)).containsExactly("d.pkt is listed, and not there");
    }
}
