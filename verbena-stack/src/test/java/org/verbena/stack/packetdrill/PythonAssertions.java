// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * The Python that scripts for Linux have: {@code assert}, with chains of comparisons, {@code and}, {@code or}, {@code not},
 * {@code |}, {@code +}, {@code -}, {@code *}, {@code abs} and brackets, of numbers and fields of TCP_INFO.
 */
final class PythonAssertions {
    private static final String[] COMPARISONS = {"==", "!=", "<=", ">=", "<", ">"};

    private final Cursor in;
    private final int socket;
    private final Target target;
    private final StringBuilder fields = new StringBuilder();

    private PythonAssertions(String statement, int socket, Target target) {
        in = new Cursor("", statement);
        this.socket = socket;
        this.target = target;
    }

    static void check(String code, int socket, Target target) throws Failure {
        for (String line : code.replaceAll("\\\\\\s*\\n", " ").split("[\\n;]", -1)) {
            String statement = line.replaceFirst("#.*", "").strip();
            if (!statement.isEmpty()) {
                new PythonAssertions(statement, socket, target).statement(statement);
            }
        }
    }

    private void statement(String text) throws Failure {
        try {
            if (!in.takeWord("assert")) {
                throw in.wrong("assert");
            }
            boolean holds = or() != 0;
            if (!in.atEnd() && in.peek() != ',') {
                throw in.wrong("the end of an assertion");
            }
            if (!holds) {
                throw new Failure(Failure.Kind.ASSERTION, text + ": it is" + fields);
            }
        } catch (ParseException e) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "Python " + text);
        }
    }

    private long or() throws ParseException, Failure {
        long v = and();
        while (in.takeWord("or")) {
            long right = and();
            v = v != 0 ? v : right;
        }
        return v;
    }

    private long and() throws ParseException, Failure {
        long v = not();
        while (in.takeWord("and")) {
            long right = not();
            v = v == 0 ? v : right;
        }
        return v;
    }

    private long not() throws ParseException, Failure {
        return in.takeWord("not") ? not() == 0 ? 1 : 0 : comparison();
    }

    /** A chain such as {@code 1 <= x < 3}, or a value. */
    private long comparison() throws ParseException, Failure {
        long left = bits();
        String operator = operator();
        if (operator == null) {
            return left;
        }
        boolean holds = true;
        for (; operator != null; operator = operator()) {
            long right = bits();
            int order = Long.compare(left, right);
            holds &= switch (operator) {
                case "==" -> order == 0;
                case "!=" -> order != 0;
                case "<=" -> order <= 0;
                case ">=" -> order >= 0;
                case "<" -> order < 0;
                default -> order > 0;
            };
            left = right;
        }
        return holds ? 1 : 0;
    }

    private @Nullable String operator() {
        for (String c : COMPARISONS) {
            if (in.take(c)) {
                return c;
            }
        }
        return null;
    }

    private long bits() throws ParseException, Failure {
        long v = sum();
        while (true) {
            if (in.take("|")) {
                v |= sum();
            } else if (in.take("&")) {
                v &= sum();
            } else {
                return v;
            }
        }
    }

    private long sum() throws ParseException, Failure {
        long v = product();
        while (true) {
            if (in.take("+")) {
                v += product();
            } else if (in.take("-")) {
                v -= product();
            } else {
                return v;
            }
        }
    }

    private long product() throws ParseException, Failure {
        long v = one();
        while (in.take("*")) {
            v *= one();
        }
        return v;
    }

    private long one() throws ParseException, Failure {
        if (in.take("-")) {
            return -one();
        }
        if (in.take("(")) {
            long v = or();
            in.expect(")");
            return v;
        }
        if (in.atDigit()) {
            return in.anyNumber("a number", Long.MAX_VALUE);
        }
        String name = in.word("a name");
        if (name.equals("abs")) {
            in.expect("(");
            long v = or();
            in.expect(")");
            return Math.abs(v);
        }
        return name.startsWith("tcpi_") ? field(name) : Constants.named(name);
    }

    private long field(String name) throws Failure {
        OptionalLong v = target.info(socket, name);
        if (v.isEmpty()) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "needs TCP_INFO's " + name);
        }
        fields.append(' ').append(name).append('=').append(v.getAsLong());
        return v.getAsLong();
    }
}
