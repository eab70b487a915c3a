// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/** Compares a segment that was sent with that of a script. */
final class Matcher {
    private static final long MILLI = 1_000_000;

    /** One field that differs. */
    record Difference(Failure.Kind kind, String text) {}

    private final Profile profile;
    private final long tolerance;
    private final List<Difference> found = new ArrayList<>();

    private Matcher(Profile profile, long tolerance) {
        this.profile = profile;
        this.tolerance = tolerance;
    }

    /** What differs, the weightiest first. */
    static List<Difference> compare(PacketBody.Tcp expected, PacketBody.Tcp sent, Profile profile, long tolerance) {
        Matcher m = new Matcher(profile, tolerance);
        int compared = profile.linux() ? ~TcpFlags.PSH : ~0;
        m.differs(Failure.Kind.FLAGS, "flags", TcpFlags.text(expected.flags() & compared), TcpFlags.text(sent.flags()
                & compared));
        m.differs(Failure.Kind.SEQUENCE, "sequence number", expected.range().start(), sent.range().start());
        m.differs(Failure.Kind.LENGTH, "length", expected.range().length(), sent.range().length());
        boolean none = (expected.flags() & TcpFlags.ACK) == 0 && Objects.equals(expected.ack(), 0L);
        m.differs(Failure.Kind.ACK, "ack", none ? null : expected.ack(), sent.ack());
        if (expected.window() != null && Math.abs(expected.window() - sent.window()) > profile.windowSlack()) {
            m.differs(Failure.Kind.WINDOW, "win", expected.window(), sent.window());
        }
        m.differs(Failure.Kind.URGENT, "urg", expected.urgent(), sent.urgent());
        m.options(expected.options(), Objects.requireNonNull(sent.options()));
        return m.found;
    }

    /** What differs in the IP header. */
    static List<Difference> compare(IpMarks expected, Packets.Ip sent) {
        Matcher m = new Matcher(Profile.strict(), 0);
        if (!expected.allowsEcn(sent.tos() & 3)) {
            m.differs(Failure.Kind.IP, "ECN", expected.ecn(), IpMarks.ecnName(sent.tos() & 3));
        }
        m.differs(Failure.Kind.IP, "tos", expected.tos(), sent.tos());
        m.differs(Failure.Kind.IP, "ttl", expected.ttl(), sent.ttl());
        m.differs(Failure.Kind.IP, "flow label", expected.flowLabel(), sent.flowLabel());
        return m.found;
    }

    private void differs(Failure.Kind kind, String field, @Nullable Object expected, @Nullable Object sent) {
        if (expected != null && !expected.equals(sent)) {
            found.add(new Difference(kind, field + ": " + expected + " expected, "
                    + (sent == null ? "none" : sent) + " sent"));
        }
    }

    private void options(@Nullable List<TcpOption> expected, List<TcpOption> sent) {
        if (expected == null) {
            return;
        }
        List<TcpOption> missing = counting(expected);
        List<TcpOption> extra = counting(sent);
        if (profile.anyOptionOrder()) {
            List<TcpOption> all = List.copyOf(missing);
            missing.removeIf(o -> removeLike(extra, o));
            if (missing.size() == 1 && extra.size() == 1 && stampsDiffer(missing.getFirst(), extra.getFirst())) {
                return;
            }
            if (!missing.isEmpty() || !extra.isEmpty()) {
                differs(Failure.Kind.OPTIONS, "options", all, counting(sent));
            }
            return;
        }
        if (missing.size() != extra.size()) {
            differs(Failure.Kind.OPTIONS, "options", missing, extra);
            return;
        }
        for (int i = 0; i < missing.size(); i++) {
            if (!like(missing.get(i), extra.get(i)) && !stampsDiffer(missing.get(i), extra.get(i))) {
                differs(Failure.Kind.OPTIONS, "options", missing, extra);
                return;
            }
        }
    }

    private List<TcpOption> counting(List<TcpOption> options) {
        List<TcpOption> counting = new ArrayList<>(options);
        counting.removeIf(o -> profile.anyOptionOrder() && o.filler());
        return counting;
    }

    private boolean removeLike(List<TcpOption> from, TcpOption o) {
        for (int i = 0; i < from.size(); i++) {
            if (like(o, from.get(i))) {
                from.remove(i);
                return true;
            }
        }
        return false;
    }

    private boolean like(TcpOption expected, TcpOption sent) {
        if (expected instanceof TcpOption.Timestamps e && sent instanceof TcpOption.Timestamps s) {
            return e.echo() == s.echo() && profile.linux() || e.echo() == s.echo() && Math.abs((int) (e.value() - s
                    .value())) <= tolerance / MILLI + 1;
        }
        return expected.equals(sent) || profile.anyWindowScale() && expected instanceof TcpOption.WindowScale
                && sent instanceof TcpOption.WindowScale;
    }

    /** Says how two time stamps differ, if that is what the two options are. */
    private boolean stampsDiffer(TcpOption expected, TcpOption sent) {
        if (expected instanceof TcpOption.Timestamps && sent instanceof TcpOption.Timestamps) {
            differs(Failure.Kind.TIMESTAMP, "time stamp", expected, sent);
            return true;
        }
        return false;
    }
}
