// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayList;
import java.util.List;

/** Reads arguments of calls, and results. */
final class ExpressionParser {
    private static final int DEEPEST = 20;

    private final Cursor in;
    private int depth;

    ExpressionParser(Cursor in) {
        this.in = in;
    }

    /** An expression, with {@code |} and {@code =} in it. */
    Expression read() throws ParseException {
        if (++depth > DEEPEST) {
            throw in.wrong("an expression that is less nested");
        }
        Expression first = one();
        if (in.peek() == '|') {
            List<Expression> of = new ArrayList<>(List.of(first));
            while (in.take("|")) {
                of.add(one());
            }
            first = new Expression.Or(List.copyOf(of));
        }
        depth--;
        return first;
    }

    /** Expressions up to a closing bracket, which is taken. */
    List<Expression> list(String close) throws ParseException {
        List<Expression> of = new ArrayList<>();
        if (in.take(close)) {
            return List.of();
        }
        do {
            Expression e = read();
            of.add(in.take("=") ? new Expression.Member(e, read()) : e);
        } while (in.take(","));
        in.expect(close);
        return List.copyOf(of);
    }

    private Expression one() throws ParseException {
        char c = in.peek();
        if (in.take("...")) {
            return new Expression.Any();
        }
        if (in.take("[")) {
            return new Expression.Array(list("]"));
        }
        if (in.take("{")) {
            return new Expression.Struct(list("}"));
        }
        if (in.take("\"")) {
            return new Expression.Text(in.until("\""));
        }
        if (in.take("-")) {
            return new Expression.Numeral(-in.number("a number", Long.MAX_VALUE), false);
        }
        if (c >= '0' && c <= '9') {
            boolean hex = in.looksAt("0x");
            return new Expression.Numeral(in.anyNumber("a number", Long.MAX_VALUE), hex);
        }
        in.take("&"); // of what a function writes
        String name = in.word("an argument");
        return in.take("(") ? new Expression.Apply(name, list(")")) : new Expression.Name(name);
    }
}
