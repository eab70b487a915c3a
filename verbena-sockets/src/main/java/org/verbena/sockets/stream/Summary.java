// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * What the sockets of this process have come to, written when it ends: a line of JSON to standard error, or to the end
 * of a file, as the system property {@value #PROPERTY} sets. The line is one write, so that many processes can share a
 * file.
 */
public final class Summary {
    private static final String PROPERTY = "verbena.summary";
    private static final String STDERR = "stderr";
    private static final int LONGEST_COMMAND = 2048;
    /** What {@code java} puts before the name of a source file that it starts. */
    private static final String SOURCE_LAUNCHER = "jdk.compiler/com.sun.tools.javac.launcher.SourceLauncher ";

    private static final AtomicBoolean TAKEN = new AtomicBoolean();

    private Summary() {}

    private static String where() {
        return System.getProperty(PROPERTY, "");
    }

    /**
     * Checks where it is to be written.
     *
     * @throws IllegalArgumentException if that is a file which cannot be written to
     */
    public static void check() {
        if (where().isEmpty() || where().equals(STDERR)) {
            return;
        }
        try (FileOutputStream _ = new FileOutputStream(Path.of(where()).toFile(), true)) {
            return;
        } catch (IOException | InvalidPathException e) {
            throw new IllegalArgumentException("the summary cannot be written (" + e.getMessage() + "): see -D"
                    + PROPERTY, e);
        }
    }

    /** Its writer, for the first caller; null if nothing is to be written. */
    public static @Nullable Runnable take() {
        return where().isEmpty() || TAKEN.getAndSet(true) ? null : Summary::write;
    }

    /** Has it written when the process ends, beside the other hooks of the program, unless that is seen to. */
    public static void atExit() {
        Runnable write = take();
        if (write != null) {
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(write, "verbena-summary"));
            } catch (IllegalStateException e) {
                // the first channel of a process that is ending: there is nothing to sum up
            }
        }
    }

    private static void write() {
        String command = System.getProperty("sun.java.command", "");
        StreamTotals totals = StreamTotals.now();
        if (command.isEmpty() && totals.opened() == 0) {
            return; // java -version, of which scripts read the output, and not a JVM that another program embeds
        }
        byte[] line = (line(ProcessHandle.current().pid(), command, totals) + "\n").getBytes(StandardCharsets.UTF_8);
        try {
            if (where().equals(STDERR)) {
                new FileOutputStream(FileDescriptor.err).write(line); // the program may have closed System.err
            } else {
                try (FileOutputStream out = new FileOutputStream(Path.of(where()).toFile(), true)) {
                    out.write(line);
                }
            }
        } catch (IOException e) {
            System.err.println("verbena: the summary cannot be written: " + e.getMessage());
        }
    }

    /** The line, without its end. */
    static String line(long pid, String command, StreamTotals t) {
        String program = command.startsWith(SOURCE_LAUNCHER) ? command.substring(SOURCE_LAUNCHER.length()) : command;
        String whole = program.substring(0, Math.min(program.length(), LONGEST_COMMAND));
        int blank = whole.indexOf(' ');
        StreamFigures f = t.figures();
        StringBuilder b = new StringBuilder("{\"pid\":").append(pid);
        text(b.append(",\"main\":"), blank < 0 ? whole : whole.substring(0, blank));
        text(b.append(",\"command\":"), whole);
        b.append(",\"connections\":{\"opened\":").append(t.opened()).append(",\"open\":").append(t.open())
                .append(",\"stream\":").append(t.handshakes()).append(",\"kernel\":").append(t.byKernel())
                .append(",\"undecided\":").append(t.undecided()).append("},\"fallbacks\":{");
        String comma = "";
        for (var e : t.fallbacks().entrySet()) {
            text(b.append(comma), e.getKey().key());
            b.append(':').append(e.getValue());
            comma = ",";
        }
        return b.append("},\"bytes\":{\"sent_by_ring\":").append(f.sentByRing()).append(",\"sent_by_tcp\":")
                .append(f.sentByTcp()).append(",\"received_by_ring\":").append(f.receivedByRing())
                .append(",\"received_by_tcp\":").append(f.receivedByTcp()).append("},\"doorbells\":")
                .append(f.doorbells()).append(",\"wake_ups\":").append(f.wakeUps()).append(",\"stalls\":")
                .append(f.stalls()).append('}').toString();
    }

    /** A text of JSON, RFC 8259 section 7. */
    private static void text(StringBuilder b, String s) {
        b.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                b.append("\\u").append(String.format("%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        b.append('"');
    }
}
