// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/** The text of objects that carry attributes, for people: {@code Name[attribute=value, …]}, without those that say nothing. */
final class AttributeText {
    private AttributeText() {}

    /** The text of an object whose attributes are its own fields. */
    static String of(Object o) {
        return of(o, o);
    }

    /**
     * The text of an object.
     *
     * @param holder whose fields are the attributes
     */
    static String of(Object o, Object holder) {
        List<String> all = new ArrayList<>();
        for (Field f : holder.getClass().getDeclaredFields()) {
            if (!Modifier.isStatic(f.getModifiers()) && !f.isSynthetic() && !f.getName().equals("compMask")) {
                try {
                    f.setAccessible(true);
                    String value = text(f.getName(), f.get(holder));
                    if (!value.isEmpty()) {
                        all.add(f.getName() + "=" + value);
                    }
                } catch (ReflectiveOperationException e) {
                    throw new LinkageError(e.getMessage(), e);
                }
            }
        }
        return o.getClass().getSimpleName() + all;
    }

    /** A value; empty if it is none, 0 or false. */
    private static String text(String name, @Nullable Object value) {
        return switch (value) {
            case null -> "";
            case Boolean b -> b ? "true" : "";
            case Number n when n.doubleValue() == 0 -> "";
            case Integer i when i < 0 && (name.equals("fd") || name.equals("descriptor")) -> "";
            case Integer i when name.equals("access") || name.equals("accessFlags") -> AccessFlags.toString(i);
            case Integer i when name.endsWith("lags") || name.endsWith("Cap") -> "0x" + Integer.toHexString(i);
            case Long l when name.endsWith("Flags") || name.endsWith("Guid") || name.endsWith("Cap") ->
                "0x" + Long.toHexString(l);
            case OptionalInt i -> i.isPresent() ? Integer.toString(i.getAsInt()) : "";
            case OptionalLong l -> l.isPresent() ? Long.toString(l.getAsLong()) : "";
            case Collection<?> c -> c.isEmpty() ? "" : c.toString();
            case Object a when a.getClass().isArray() -> Array.getLength(a) == 0
                    ? ""
                    : Array.getLength(a) + (a instanceof byte[] ? " bytes" : " elements");
            default -> value.toString();
        };
    }
}
