// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

/** The screen of a terminal of type xterm: as much of it as is needed to see the output of a full-screen command. */
final class Screen {
    private enum State {
        TEXT, ESCAPE, CHARSET, SEQUENCE
    }

    private final CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder().onMalformedInput(
            CodingErrorAction.REPLACE);
    private ByteBuffer undecoded = ByteBuffer.allocate(0);
    private final int rows;
    private final int columns;
    private char[][] cells;
    private char[][] saved;
    private int row;
    private int column;
    private boolean alternate;
    private boolean cursor = true;
    private boolean wrap;
    private State state = State.TEXT;
    private final StringBuilder sequence = new StringBuilder();

    Screen(int rows, int columns) {
        this.rows = rows;
        this.columns = columns;
        cells = blank();
        saved = blank();
    }

    private char[][] blank() {
        char[][] all = new char[rows][columns];
        for (char[] line : all) {
            Arrays.fill(line, ' ');
        }
        return all;
    }

    /** Draws what a program wrote. */
    synchronized void write(byte[] bytes, int length) {
        ByteBuffer in = ByteBuffer.allocate(undecoded.remaining() + length).put(undecoded).put(bytes, 0, length)
                .flip();
        CharBuffer out = CharBuffer.allocate(in.remaining());
        decoder.decode(in, out, false);
        undecoded = in; // the beginning of a character
        out.flip().chars().forEach(c -> put((char) c));
        notifyAll();
    }

    synchronized String text() {
        return Arrays.stream(cells).map(l -> new String(l).stripTrailing()).collect(Collectors.joining("\n"));
    }

    synchronized boolean isAlternate() {
        return alternate;
    }

    synchronized boolean hasCursor() {
        return cursor;
    }

    private void put(char c) {
        switch (state) {
            case TEXT -> text(c);
            case ESCAPE -> {
                sequence.setLength(0);
                state = c == '[' ? State.SEQUENCE : c == '(' ? State.CHARSET : State.TEXT; // ESC = and > do not matter
            }
            case CHARSET -> state = State.TEXT;
            case SEQUENCE -> {
                if (c >= '@') {
                    state = State.TEXT;
                    control(c, sequence.toString());
                } else {
                    sequence.append(c);
                }
            }
        }
    }

    private void text(char c) {
        switch (c) {
            case '\033' -> state = State.ESCAPE;
            case '\r' -> move(row, 0);
            case '\n' -> lineFeed();
            case '\b' -> move(row, column - 1);
            default -> {
                if (c < ' ') {
                    return;
                }
                if (wrap) {
                    column = 0;
                    wrap = false;
                    lineFeed();
                }
                cells[row][column] = c;
                wrap = column == columns - 1;
                column = Math.min(column + 1, columns - 1);
            }
        }
    }

    private void lineFeed() {
        wrap = false;
        if (row < rows - 1) {
            row++;
            return;
        }
        System.arraycopy(cells, 1, cells, 0, rows - 1);
        cells[rows - 1] = blank()[0];
    }

    private void move(int r, int c) {
        row = Math.clamp(r, 0, rows - 1);
        column = Math.clamp(c, 0, columns - 1);
        wrap = false;
    }

    private static int number(String parameters, int index, int otherwise) {
        String[] all = parameters.split(";", -1);
        return index < all.length && !all[index].isEmpty() ? Integer.parseInt(all[index]) : otherwise;
    }

    private void control(char c, String p) {
        if (p.startsWith("?")) {
            mode(p, c == 'h');
            return;
        }
        switch (c) {
            case 'm', 't', 'c', 'l', 'h', 'p' -> {
                // colours, titles and questions
            }
            case 'H', 'f' -> move(number(p, 0, 1) - 1, number(p, 1, 1) - 1);
            case 'A' -> move(row - number(p, 0, 1), column);
            case 'B' -> move(row + number(p, 0, 1), column);
            case 'C' -> move(row, column + number(p, 0, 1));
            case 'D' -> move(row, column - number(p, 0, 1));
            case 'G' -> move(row, number(p, 0, 1) - 1);
            case 'd' -> move(number(p, 0, 1) - 1, column);
            case 'J' -> erase(number(p, 0, 0));
            case 'K' -> Arrays.fill(cells[row], number(p, 0, 0) == 0 ? column : 0, number(p, 0, 0) == 1
                    ? column + 1
                    : columns, ' ');
            case 'X' -> Arrays.fill(cells[row], column, Math.min(columns, column + number(p, 0, 1)), ' ');
            case '@' -> shift(Math.min(number(p, 0, 1), columns - column));
            case 'P' -> shift(-Math.min(number(p, 0, 1), columns - column));
            case 'L' -> lines(Math.min(number(p, 0, 1), rows - row));
            case 'M' -> lines(-Math.min(number(p, 0, 1), rows - row));
            default -> throw new IllegalStateException("unknown sequence " + p + c);
        }
    }

    private void mode(String p, boolean on) {
        if (p.equals("?25")) {
            cursor = on;
        } else if (p.equals("?1049") && on != alternate) {
            alternate = on;
            char[][] other = saved;
            saved = cells;
            cells = on ? blank() : other;
        }
    }

    private void erase(int what) {
        if (what == 0) {
            Arrays.fill(cells[row], column, columns, ' ');
        }
        for (int i = what == 0 ? row + 1 : 0; i < rows; i++) {
            Arrays.fill(cells[i], ' ');
        }
    }

    /** Moves characters from the cursor on right, or left. */
    private void shift(int by) {
        char[] line = cells[row];
        if (by >= 0) {
            System.arraycopy(line, column, line, column + by, columns - column - by);
            Arrays.fill(line, column, column + by, ' ');
        } else {
            System.arraycopy(line, column - by, line, column, columns - column + by);
            Arrays.fill(line, columns + by, columns, ' ');
        }
    }

    /** Moves lines from the cursor on down, or up. */
    private void lines(int by) {
        char[][] fresh = blank();
        for (int i = row; i < rows; i++) {
            int from = i - by;
            fresh[i] = from >= row && from < rows ? cells[from] : fresh[i];
        }
        System.arraycopy(cells, 0, fresh, 0, row);
        cells = fresh;
    }
}
