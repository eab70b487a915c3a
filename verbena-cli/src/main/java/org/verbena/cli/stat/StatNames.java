// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.verbena.sockets.SocketObjectType;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;

/**
 * Names of objects and sample points for people: {@code qp:0x11}, {@code port:1}, {@code shm0}; {@code tx_bytes}. If a
 * process has several objects that would have the same name, for instance of two contexts, {@code @} and the id of the
 * object distinguish them.
 */
final class StatNames {
    private static final Pattern NAME = Pattern.compile("([a-z_]+):(0x)?([0-9a-f]+)(@0x[0-9a-f]+)?");
    private static final int MANY = 12;

    private StatNames() {}

    /** The name of an object, provided that no other object has it. */
    static String plain(int type, int number, String device) {
        String kind = ObjectType.toString(type).toLowerCase(Locale.ROOT);
        return switch (type) {
            case ObjectType.DEVICE, SocketObjectType.SOCKETS -> device;
            case ObjectType.PORT -> kind + ":" + number;
            default -> kind + ":0x" + Integer.toHexString(number);
        };
    }

    /** The objects by the name that each would have if it were unique. */
    static List<String> distinct(List<String> plain, List<Long> ids) {
        Map<String, Integer> count = new HashMap<>();
        plain.forEach(n -> count.merge(n, 1, Integer::sum));
        List<String> names = new ArrayList<>();
        for (int i = 0; i < plain.size(); i++) {
            String n = plain.get(i);
            names.add(count.getOrDefault(n, 0) == 1 ? n : n + "@0x" + Long.toHexString(ids.get(i)));
        }
        return names;
    }

    /**
     * The object that a text names.
     *
     * @throws StatFailure if there is none, or more than one
     */
    static StatObject object(StatProcess in, String text) throws StatFailure {
        String wanted = canonical(text);
        List<StatObject> found = in.objects().stream()
                .filter(o -> o.name().equals(wanted) || o.name().startsWith(wanted + "@")).toList();
        if (found.size() == 1) {
            return found.getFirst();
        }
        String process = "process " + in.pid();
        if (found.isEmpty()) {
            throw new StatFailure(process + " has no object " + text + ": it has " + list(in.objects().stream()
                    .sorted(StatProcess.ORDER).map(StatObject::name).toList()));
        }
        throw new StatFailure(process + " has several objects " + text + ": say which, " + list(found.stream().map(
                StatObject::name).toList()));
    }

    private static String list(List<String> names) {
        return names.size() <= MANY
                ? names.isEmpty() ? "none" : String.join(", ", names)
                : String.join(", ", names.subList(0, MANY)) + ", and " + (names.size() - MANY)
                        + " more ('verbena stat' shows them)";
    }

    /** The canonical form of a name: lower case, numbers in hexadecimal except those of ports. */
    static String canonical(String text) {
        String t = text.strip().toLowerCase(Locale.ROOT);
        Matcher m = NAME.matcher(t);
        if (!m.matches()) {
            return t;
        }
        try {
            long n = Long.parseLong(m.group(3), m.group(2) == null ? 10 : 16);
            String number = m.group(1).equals("port") ? Long.toString(n) : "0x" + Long.toHexString(n);
            return m.group(1) + ":" + number + (m.group(4) == null ? "" : m.group(4));
        } catch (NumberFormatException e) {
            return t;
        }
    }

    /**
     * The sample points that a text names: one, by its name with or without the kind of object before it or by its number,
     * or those of a {@link StatFigure}.
     *
     * @throws StatFailure if the object has no such point
     */
    static int[] points(StatObject of, String text) throws StatFailure {
        String wanted = text.strip().toUpperCase(Locale.ROOT).replace('-', '_');
        String prefix = ObjectType.toString(of.type()) + "_";
        for (int p : of.points()) {
            String name = SamplePoint.toString(p).toUpperCase(Locale.ROOT);
            if (name.equals(wanted) || name.equals(prefix + wanted)) {
                return new int[] {p};
            }
        }
        for (StatFigure f : StatFigure.values()) {
            if (f.name().equals(wanted) && of.has(f)) {
                return f.points(of.type());
            }
        }
        List<String> all = Arrays.stream(of.points()).mapToObj(p -> shortName(of.type(), p)).toList();
        throw new StatFailure(of.name() + " has no sample point " + text + ": " + (all.isEmpty()
                ? "nothing is counted of it"
                : "it has " + String.join(", ", all)));
    }

    /** A sample point without the kind of object before it, in lower case. */
    static String shortName(int type, int point) {
        String name = SamplePoint.toString(point);
        String prefix = ObjectType.toString(type) + "_";
        return (name.startsWith(prefix) ? name.substring(prefix.length()) : name).toLowerCase(Locale.ROOT);
    }
}
