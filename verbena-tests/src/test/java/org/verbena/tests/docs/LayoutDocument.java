// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;

/**
 * A document that draws structures, and the module whose constants it draws. Constants are found by the simple name of
 * their class, in any package of the module.
 */
final class LayoutDocument {
    /** Where a constant stands in a line; {@code log}: the number of the bit that it is, {@code bytes}: of a shift. */
    private static final Pattern CONSTANT = Pattern.compile("\\{(?:(log|Ki|Mi|hex|bytes) )?(\\w+)\\.(\\w+)}");

    private final String text;
    private final Path sources;

    LayoutDocument(String document, String module) {
        try {
            text = Files.readString(Markdown.root().resolve(document));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        sources = Markdown.root().resolve(module).resolve("src/main/java");
    }

    String text() {
        return text;
    }

    Class<?> type(String simpleName) throws IOException, ClassNotFoundException {
        try (Stream<Path> all = Files.walk(sources)) {
            Path source = all.filter(p -> p.endsWith(simpleName + ".java")).findFirst().orElseThrow(
                    () -> new AssertionError("no class " + simpleName + " below " + sources));
            String path = sources.relativize(source).toString();
            return Class.forName(path.substring(0, path.length() - ".java".length()).replace('/', '.'));
        }
    }

    long constant(String type, String name) {
        try {
            Field f = type(type).getDeclaredField(name);
            f.setAccessible(true);
            return ((Number) f.get(null)).longValue();
        } catch (ReflectiveOperationException | IOException e) {
            throw new AssertionError(type + "." + name, e);
        }
    }

    private String value(MatchResult m) {
        long v = constant(m.group(2), m.group(3));
        return switch (m.group(1)) {
            case null -> Long.toString(v);
            case "log" -> Integer.toString(Long.numberOfTrailingZeros(v));
            case "bytes" -> Long.toString(1L << v);
            case "Ki" -> Long.toString(v >> 10);
            case "Mi" -> Long.toString(v >> 20);
            default -> "0x" + Long.toHexString(v);
        };
    }

    private static String squeezed(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }

    /** A test for each line of the document that is given with constants in place of its numbers; white space does not count. */
    Stream<DynamicTest> hasLines(Collection<String> lines) {
        String document = squeezed(text);
        return lines.stream().map(l -> DynamicTest.dynamicTest(squeezed(l), () -> assertThat(document).contains(
                squeezed(
                        CONSTANT.matcher(l).replaceAll(this::value)))));
    }

    /**
     * Every constant of the layouts stands in a line.
     *
     * @param notDrawn by class, those that no reader of another process needs, or that follow from others
     */
    void hasAllConstants(Collection<String> lines, Map<String, List<String>> notDrawn) throws Exception {
        TreeSet<String> missing = new TreeSet<>();
        for (Map.Entry<String, List<String>> type : notDrawn.entrySet()) {
            Arrays.stream(type(type.getKey()).getDeclaredFields()).filter(f -> Modifier.isStatic(f.getModifiers())
                    && !Modifier.isPrivate(f.getModifiers()) && f.getType().isPrimitive()).map(Field::getName)
                    .filter(n -> !type.getValue().contains(n)).forEach(n -> missing.add(type.getKey() + "." + n));
        }
        for (String line : lines) {
            CONSTANT.matcher(line).results().forEach(m -> missing.remove(m.group(2) + "." + m.group(3)));
        }
        assertThat(missing).as("add a line for each to the document and to the test").isEmpty();
    }

    /** A part of a word, by the bits that it has. */
    record Bits(String name, long mask) {
        @Override
        public String toString() {
            return Long.bitCount(mask) == 1 && name.matches("[01]") ? name : name + ":" + Long.bitCount(mask);
        }
    }

    /** The parts make up a word of 64 bits, which is drawn so. */
    void hasWord(Bits... parts) {
        hasWord(-1, parts);
    }

    /** As {@link #hasWord}, of 32 bits. */
    void hasIntWord(Bits... parts) {
        hasWord(0xffff_ffffL, parts);
    }

    private void hasWord(long whole, Bits... parts) {
        assertThat(Arrays.stream(parts).mapToLong(Bits::mask).reduce(0, (a, b) -> {
            assertThat(a & b).as("two parts have a bit").isZero();
            return a | b;
        })).as("bits of %s", List.of(parts)).isEqualTo(whole);
        assertThat(text).contains("`" + Arrays.stream(parts).sorted((a, b) -> Long.compareUnsigned(b.mask, a.mask))
                .map(Bits::toString).collect(Collectors.joining(" │ ")) + "`");
    }
}
