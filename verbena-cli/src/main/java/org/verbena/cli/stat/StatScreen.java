// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOError;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jline.keymap.BindingReader;
import org.jline.keymap.KeyMap;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import org.jline.utils.Curses;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp;
import org.jline.utils.InfoCmp.Capability;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ScreenView} on a terminal's alternate screen. Three threads: one samples, one reads keys, and this one draws.
 * However it ends, by a key, an exception or a signal, the terminal is restored.
 *
 * @param <S> a sample
 */
final class StatScreen<S> {
    /** How often the size is queried; signals are left to the JVM. */
    private static final long LOOK_FOR_SIZE_MILLIS = 100;
    private static final long ESCAPE_MILLIS = 50;
    private static final int USUAL_COLUMNS = 80;
    private static final int USUAL_ROWS = 24;
    private static final int PRINTABLE = ' ';
    private static final int DELETE = 127;
    /** Nothing: the screen is closed. */
    private static final long NONE = Long.MIN_VALUE;

    /** The events that wake this thread. */
    private sealed interface Event {}

    private record Key(StatKey key) implements Event {}

    private record Look<S>(long of, Optional<S> sample, String problem) implements Event {}

    private record Failed(Throwable cause) implements Event {}

    private final ScreenView<S> view;
    private final ScreenView.Source<S> source;
    private final long intervalNanos;
    /** Samples have no type here: only {@link #look} makes them. */
    private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final Object target = new Object();
    // guarded by target
    private long wanted;
    private boolean paused;
    /** Samples are taken no faster than they are shown: on a busy machine the screen would never catch up with them. */
    private boolean shown;
    private boolean over;

    StatScreen(ScreenView<S> view, ScreenView.Source<S> source, long intervalNanos) {
        this.view = view;
        this.source = source;
        this.intervalNanos = intervalNanos;
        wanted = view.wanted();
    }

    /** Whether there is a suitable terminal for input and output. */
    static boolean isPossible() {
        String type = System.getenv("TERM");
        return type != null && !type.isEmpty() && !type.equals("dumb") && org.verbena.cli.support.Terminal.IN
                .isTerminal()
                && org.verbena.cli.support.Terminal.OUT.isTerminal() && canDraw(type);
    }

    /** Whether a terminal of this type is known, and supports drawing at any position. */
    private static boolean canDraw(String type) {
        try {
            Map<Capability, String> sequences = new EnumMap<>(Capability.class);
            InfoCmp.parseInfoCmp(InfoCmp.getInfoCmp(type), EnumSet.noneOf(Capability.class), new EnumMap<>(
                    Capability.class), sequences);
            return sequences.keySet().containsAll(List.of(Capability.cursor_address, Capability.clear_screen));
        } catch (IOException | RuntimeException unknown) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Shows it until a key ends it; returns the exit code. */
    int run() throws IOException, InterruptedException {
        try (Terminal terminal = TerminalBuilder.builder().system(true).providers("ffm,exec").dumb(false)
                .nativeSignals(false).graphemeCluster(false).build()) {
            view.drawsBlocks(System.out.charset().newEncoder().canEncode('█'));
            Restore restore = new Restore(terminal);
            Thread hook = new Thread(restore::now, "restore the terminal");
            Runtime.getRuntime().addShutdownHook(hook);
            try {
                enter(terminal);
                thread("keys", () -> readKeys(terminal));
                Thread looking = thread("looks", this::look);
                show(terminal, restore);
                synchronized (target) {
                    over = true;
                    target.notifyAll();
                }
                looking.interrupt();
                looking.join();
            } catch (RuntimeException | IOError e) {
                if (!isJvmEnding()) { // JLine closes the terminal concurrently then
                    throw e;
                }
            } finally {
                restore.now();
                remove(hook);
            }
        }
        return 0;
    }

    private static boolean isJvmEnding() {
        Thread probe = new Thread("never run");
        try {
            Runtime.getRuntime().addShutdownHook(probe);
            remove(probe);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private static void remove(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the JVM is about to end: the hook runs
        }
    }

    /**
     * Leaves the alternate screen, once. It writes directly: when the JVM ends, JLine's streams may already be closed.
     */
    private static final class Restore {
        private final Terminal terminal;
        private final Attributes before;
        private final byte[] sequence;
        private boolean done;

        Restore(Terminal terminal) {
            this.terminal = terminal;
            before = terminal.getAttributes();
            StringWriter w = new StringWriter();
            for (Capability c : List.of(Capability.exit_attribute_mode, Capability.cursor_normal,
                    Capability.keypad_local, Capability.exit_ca_mode)) {
                String s = terminal.getStringCapability(c);
                if (s != null) {
                    Curses.tputs(w, s);
                }
            }
            sequence = w.toString().getBytes(StandardCharsets.US_ASCII);
        }

        synchronized void now() {
            if (done) {
                return;
            }
            done = true;
            try {
                new FileOutputStream(FileDescriptor.out).write(sequence); // not closed: others write to it too
            } catch (IOException e) {
                // the terminal is gone
            }
            try {
                terminal.setAttributes(before);
            } catch (RuntimeException | java.io.IOError e) {
                // closed, which has restored the attributes already
            }
        }

        /** Draws, unless it is over. */
        synchronized void orDraw(Runnable draw) {
            if (!done) {
                draw.run();
            }
        }
    }

    private static void enter(Terminal terminal) {
        Attributes _ = terminal.enterRawMode();
        Attributes raw = terminal.getAttributes();
        raw.setLocalFlag(Attributes.LocalFlag.ISIG, false); // Ctrl-C is a key here
        terminal.setAttributes(raw);
        terminal.puts(Capability.enter_ca_mode);
        terminal.puts(Capability.keypad_xmit);
        terminal.puts(Capability.cursor_invisible);
        terminal.flush();
    }

    private Thread thread(String name, Runnable work) {
        return Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                work.run();
            } catch (RuntimeException | Error e) {
                events.add(new Failed(e));
            }
        });
    }

    // ---- drawing

    private void show(Terminal terminal, Restore restore) throws InterruptedException {
        Display display = new Display(terminal, true);
        Size size = Size.of(0, 0);
        boolean changed = true;
        while (!view.hasQuit()) {
            Size now = size(terminal.getSize());
            if (!now.equals(size)) {
                size = now;
                Size s = now;
                restore.orDraw(() -> {
                    display.clear();
                    display.resize(s);
                    terminal.puts(Capability.clear_screen);
                });
                changed = true;
            }
            if (changed) {
                int columns = size.getColumns();
                List<AttributedString> lines = view.lines(size.getRows(), columns).stream()
                        .map(l -> styled(l).columnSubSequence(0, columns)).toList(); // some characters take two
                restore.orDraw(() -> display.update(lines, 0));
            }
            changed = next(events.poll(LOOK_FOR_SIZE_MILLIS, TimeUnit.MILLISECONDS));
        }
    }

    /** A terminal that does not know its size, for instance over a serial line, reports 0. */
    private static Size size(Size said) {
        return said.getRows() > 0 && said.getColumns() > 0
                ? said
                : Size.of(number("COLUMNS", USUAL_COLUMNS), number("LINES", USUAL_ROWS));
    }

    private static int number(String variable, int usual) {
        String text = System.getenv(variable);
        return text != null && text.matches("[1-9][0-9]{0,3}") ? Integer.parseInt(text) : usual;
    }

    private static AttributedString styled(StatLine line) {
        AttributedStyle style = switch (line.style()) {
            case PLAIN -> AttributedStyle.DEFAULT;
            case TITLE, ALERT -> AttributedStyle.BOLD;
            case HEADER -> AttributedStyle.BOLD.underline();
            case SELECTED -> AttributedStyle.INVERSE;
            case FAINT -> AttributedStyle.DEFAULT.faint();
        };
        return new AttributedString(line.text(), style);
    }

    /** Handles an event and those behind it; true if there is something to draw. */
    private boolean next(@Nullable Event first) {
        if (first == null) {
            return false;
        }
        boolean looked = false;
        for (Event e = first; e != null; e = events.poll()) {
            switch (e) {
                case Key k -> view.press(k.key());
                case Look<?> l -> {
                    shown(l);
                    looked = true;
                }
                case Failed f -> throw new IllegalStateException(f.cause());
            }
        }
        synchronized (target) {
            wanted = view.wanted();
            paused = view.isPaused();
            shown |= looked;
            target.notifyAll();
        }
        return true;
    }

    @SuppressWarnings("unchecked") // of the type that the source has
    private void shown(Look<?> look) {
        Look<S> l = (Look<S>) look;
        l.sample().ifPresentOrElse(s -> view.show(l.of(), s), () -> view.lost(l.of(), l.problem()));
    }

    // ---- looking

    private void look() {
        try {
            long due = System.nanoTime();
            long of = target();
            while (of != NONE) {
                Look<S> look = look(of);
                synchronized (target) {
                    shown = false;
                }
                events.add(look);
                due = Math.max(due + intervalNanos, System.nanoTime());
                long next = await(of, due);
                if (next != of) {
                    due = System.nanoTime();
                    of = next;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // it is over
        }
    }

    private Look<S> look(long of) throws InterruptedException {
        try {
            return new Look<>(of, Optional.of(source.look(of)), "");
        } catch (IOException | StatFailure.Ended e) {
            source.forget();
            return new Look<>(of, Optional.empty(), String.valueOf(e.getMessage()));
        }
    }

    private long target() {
        synchronized (target) {
            return over ? NONE : wanted;
        }
    }

    /** Waits until the last sample is shown and the next one due, or another thing is to be sampled; returns which. */
    private long await(long of, long due) throws InterruptedException {
        synchronized (target) {
            while (!over && (!shown || wanted == of)) {
                long left = due - System.nanoTime();
                if (paused || !shown) {
                    target.wait();
                } else if (left <= 0) {
                    break;
                } else {
                    TimeUnit.NANOSECONDS.timedWait(target, left);
                }
            }
            return over ? NONE : wanted;
        }
    }

    // ---- keys

    private void readKeys(Terminal terminal) {
        KeyMap<StatKey.Name> map = keys(terminal);
        BindingReader in = new BindingReader(terminal.reader());
        while (true) {
            StatKey.Name name;
            try {
                name = in.readBinding(map);
            } catch (java.io.IOError e) {
                name = null; // closed
            }
            if (name == null) {
                events.add(new Key(StatKey.of(StatKey.Name.INTERRUPT))); // the terminal is gone
                return;
            }
            events.add(new Key(name == StatKey.Name.TEXT ? StatKey.text(in.getLastBinding()) : StatKey.of(name)));
        }
    }

    private static KeyMap<StatKey.Name> keys(Terminal terminal) {
        KeyMap<StatKey.Name> map = new KeyMap<>();
        map.setAmbiguousTimeout(ESCAPE_MILLIS);
        map.setUnicode(StatKey.Name.TEXT);
        map.setNomatch(StatKey.Name.OTHER);
        for (int c = PRINTABLE; c < DELETE; c++) {
            map.bind(StatKey.Name.TEXT, String.valueOf((char) c));
        }
        bind(map, terminal, StatKey.Name.UP, Capability.key_up, "\033[A", "\033OA");
        bind(map, terminal, StatKey.Name.DOWN, Capability.key_down, "\033[B", "\033OB");
        bind(map, terminal, StatKey.Name.RIGHT, Capability.key_right, "\033[C", "\033OC");
        bind(map, terminal, StatKey.Name.LEFT, Capability.key_left, "\033[D", "\033OD");
        bind(map, terminal, StatKey.Name.PAGE_UP, Capability.key_ppage, "\033[5~");
        bind(map, terminal, StatKey.Name.PAGE_DOWN, Capability.key_npage, "\033[6~");
        bind(map, terminal, StatKey.Name.HOME, Capability.key_home, "\033[H", "\033[1~");
        bind(map, terminal, StatKey.Name.END, Capability.key_end, "\033[F", "\033[4~");
        bind(map, terminal, StatKey.Name.BACKSPACE, Capability.key_backspace, "\177", "\b");
        map.bind(StatKey.Name.ENTER, "\r", "\n");
        map.bind(StatKey.Name.ESCAPE, "\033");
        map.bind(StatKey.Name.INTERRUPT, "\003");
        return map;
    }

    private static void bind(KeyMap<StatKey.Name> map, Terminal terminal, StatKey.Name name, Capability key,
            String... usual) {
        String sequence = KeyMap.key(terminal, key);
        if (sequence != null) {
            map.bind(name, sequence);
        }
        map.bind(name, usual);
    }
}
