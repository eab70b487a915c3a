// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.List;
import java.util.stream.Collectors;

/** An argument of a call, or its result. */
public sealed interface Expression {
    /** A number; what was hexadecimal is printed so. */
    record Numeral(long value, boolean hex) implements Expression {
        @Override
        public String toString() {
            return hex ? "0x" + Long.toHexString(value) : Long.toString(value);
        }
    }

    /** A name, such as {@code SOCK_STREAM}. */
    record Name(String name) implements Expression {
        @Override
        public String toString() {
            return name;
        }
    }

    /** Flags, {@code A | B}. */
    record Or(List<Expression> of) implements Expression {
        @Override
        public String toString() {
            return of.stream().map(Object::toString).collect(Collectors.joining(" | "));
        }
    }

    /** A string in quotes. */
    record Text(String value) implements Expression {
        @Override
        public String toString() {
            return '"' + value + '"';
        }
    }

    /** {@code ...}: left to the interpreter. */
    record Any() implements Expression {
        @Override
        public String toString() {
            return "...";
        }
    }

    /** {@code [a, b]}. */
    record Array(List<Expression> of) implements Expression {
        @Override
        public String toString() {
            return of.toString();
        }
    }

    /** <code>{a, b}</code>. */
    record Struct(List<Expression> of) implements Expression {
        @Override
        public String toString() {
            return of.stream().map(Object::toString).collect(Collectors.joining(", ", "{", "}"));
        }
    }

    /** A member of a struct, {@code name=value}. */
    record Member(Expression name, Expression value) implements Expression {
        @Override
        public String toString() {
            return name + "=" + value;
        }
    }

    /** A function in an argument, {@code htons(8080)}. */
    record Apply(String function, List<Expression> arguments) implements Expression {
        @Override
        public String toString() {
            return function + arguments.stream().map(Object::toString).collect(Collectors.joining(", ", "(", ")"));
        }
    }
}
