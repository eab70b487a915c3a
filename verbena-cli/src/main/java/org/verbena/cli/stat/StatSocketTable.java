// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.verbena.sockets.SocketObjectType;
import org.verbena.sockets.SocketSamplePoint;

/** The sockets of processes as a table, one line each: connections and those that listen. */
final class StatSocketTable {
    /** The object types of sockets. */
    static final Set<Integer> TYPES = Stream.concat(StatStackText.TYPES.stream(), Stream.of(SocketObjectType.SOCKETS,
            SocketObjectType.CONNECTION, SocketObjectType.LISTENER, SocketObjectType.RULE,
            SocketObjectType.RULE_COUNTER)).collect(Collectors.toUnmodifiableSet());

    private static final int WIDTH = 8;
    private static final int QUEUE_WIDTH = 16;
    private static final int NAME_WIDTH = 16;
    private static final int ADDRESS_WIDTH = 22;
    private static final int LONGEST_ADDRESS = 47;

    /** The key that distinguishes a socket of one process from those of others. */
    record Key(StatProcess.Key process, StatObject.Key socket) {}

    private record Socket(StatDelta delta, StatObject object) {
        String attribute(String name) {
            return object.attributes().getOrDefault(name, "") instanceof String s ? s : "";
        }
    }

    private final StatSocketView view;
    private final boolean rates;
    private final List<StatTable.Column> columns = new ArrayList<>();

    private StatSocketTable(StatSocketView view, boolean rates) {
        this.view = view;
        this.rates = rates;
    }

    /** Whether an object is one of those with a line of their own. */
    static boolean isSocket(StatObject o) {
        return o.type() == SocketObjectType.CONNECTION || o.type() == SocketObjectType.LISTENER || StatStackText
                .isSocket(o);
    }

    /** A line for each socket of these processes. */
    static StatTable of(StatSocketView view, List<StatDelta> processes, boolean rates) {
        if (view == StatSocketView.SOCKETS) {
            return StatConnectionTable.of(processes, true, rates, null);
        }
        StatSocketTable t = new StatSocketTable(view, rates);
        List<Socket> sockets = processes.stream().flatMap(d -> d.process().objects().stream()
                .filter(StatSocketTable::isSocket).map(o -> new Socket(d, o))).toList();
        int address = Math.clamp(sockets.stream().mapToInt(s -> Math.max(s.attribute("local").length(), s.attribute(
                "remote").length())).max().orElse(0), ADDRESS_WIDTH, LONGEST_ADDRESS);
        t.columns(address);
        return new StatTable(List.copyOf(t.columns), sockets.stream().map(t::row).toList());
    }

    private void columns(int address) {
        if (view == StatSocketView.NETSTAT) {
            text("by", "BY", WIDTH + 1);
            number("recv-q", "RECV-Q", WIDTH);
            number("send-q", "SEND-Q", WIDTH);
            text("local", "LOCAL", address);
            text("remote", "REMOTE", address);
            text("state", "STATE", WIDTH + 4);
            text("why", "WHY", WIDTH + 5);
            number("pid", "PID", WIDTH);
            text("command", "COMMAND", 0);
            return;
        }
        number("pid", "PID", WIDTH);
        text("socket", "SOCKET", NAME_WIDTH);
        text("by", "BY", WIDTH + 1);
        String second = rates ? "/s" : "";
        number("rx-ring", "RX-RING" + second, WIDTH + 2);
        number("rx-tcp", "RX-TCP" + second, WIDTH + 1);
        number("tx-ring", "TX-RING" + second, WIDTH + 2);
        number("tx-tcp", "TX-TCP" + second, WIDTH + 1);
        number("wakes", "WAKES" + second, WIDTH);
        number("bells", "BELLS" + second, WIDTH);
        number("stalls", "STALLS" + second, WIDTH + 1);
        if (view == StatSocketView.QUEUE) {
            number("rx-queue", "RX-QUEUE", QUEUE_WIDTH);
            number("tx-queue", "TX-QUEUE", QUEUE_WIDTH);
            number("growths", "GROWTHS", WIDTH);
        }
        text("about", "ABOUT", 0);
    }

    private void number(String name, String title, int width) {
        columns.add(new StatTable.Column(name, title, width, false));
    }

    private void text(String name, String title, int width) {
        columns.add(new StatTable.Column(name, title, width, true));
    }

    private StatRow row(Socket s) {
        StatProcess p = s.delta.process();
        StatObject o = s.object;
        List<StatRow.Cell> cells = new ArrayList<>();
        StatRow.Cell pid = StatRow.Cell.of(Long.toString(p.pid()), (double) p.pid());
        if (view == StatSocketView.NETSTAT) {
            cells.add(StatRow.Cell.of(by(s)));
            cells.add(gauge(o, "inOccupied"));
            cells.add(gauge(o, "outOccupied"));
            cells.add(StatRow.Cell.of(s.attribute("local")));
            cells.add(StatRow.Cell.of(s.attribute("remote")));
            cells.add(StatRow.Cell.of(o.state()));
            cells.add(StatRow.Cell.of(s.attribute("byTcpFor")));
            cells.add(pid);
            cells.add(StatRow.Cell.of(StatText.command(p.command())));
            return row(s, cells);
        }
        cells.add(pid);
        cells.add(StatRow.Cell.of(o.name()));
        cells.add(StatRow.Cell.of(by(s)));
        for (int point : new int[] {SocketSamplePoint.CONNECTION_RX_RING_BYTES,
            SocketSamplePoint.CONNECTION_RX_TCP_BYTES,
            SocketSamplePoint.CONNECTION_TX_RING_BYTES, SocketSamplePoint.CONNECTION_TX_TCP_BYTES,
            SocketSamplePoint.CONNECTION_WAKE_UPS, SocketSamplePoint.CONNECTION_DOORBELLS,
            SocketSamplePoint.CONNECTION_STALLS}) {
            cells.add(figure(s, point));
        }
        if (view == StatSocketView.QUEUE) {
            cells.add(queue(o, "in"));
            cells.add(queue(o, "out"));
            cells.add(!o.has(SocketSamplePoint.CONNECTION_GROWTHS)
                    ? none()
                    : total(o.value(SocketSamplePoint.CONNECTION_GROWTHS)));
        }
        cells.add(StatRow.Cell.of(about(o) + " " + o.state()));
        return row(s, cells);
    }

    private static StatRow row(Socket s, List<StatRow.Cell> cells) {
        return new StatRow(new Key(s.delta.process().key(), s.object.key()), cells);
    }

    /** The transport of each direction; one word if both are the same. */
    private static String by(Socket s) {
        String in = s.attribute("inBy");
        String out = s.attribute("outBy");
        return in.equals(out) ? in : in + "/" + out;
    }

    /** The addresses of both ends, and the role. */
    static String about(StatObject o) {
        if (StatStackText.isSocket(o)) {
            return StatStackText.about(o);
        }
        Object remote = o.attributes().get("remote");
        return o.attributes().get("local") + (remote == null ? "" : " > " + remote) + " "
                + o.attributes().getOrDefault("role", "") + (o.attributes().get("byTcpFor") instanceof String why
                        ? " (" + why + ")"
                        : "");
    }

    private StatRow.Cell figure(Socket s, int point) {
        if (!s.object.has(point)) {
            return none();
        }
        if (!rates) {
            return total(s.object.value(point));
        }
        double rate = s.delta.rate(s.object, point);
        return StatRow.Cell.of(StatText.rate(rate), Double.isNaN(rate) ? 0 : rate);
    }

    private static StatRow.Cell total(long n) {
        return StatRow.Cell.of(StatText.total(n), StatText.unsigned(n));
    }

    private static StatRow.Cell none() {
        return StatRow.Cell.of("", -1);
    }

    private static StatRow.Cell gauge(StatObject o, String name) {
        return o.attributes().get(name) instanceof Long n ? total(n) : StatRow.Cell.of("-", -1);
    }

    private static StatRow.Cell queue(StatObject o, String direction) {
        return o.attributes().get(direction + "Ring") instanceof Long size
                && o.attributes().get(direction + "Occupied") instanceof Long occupied
                        ? StatRow.Cell.of(occupied + "/" + size, occupied)
                        : StatRow.Cell.of("-", -1);
    }
}
