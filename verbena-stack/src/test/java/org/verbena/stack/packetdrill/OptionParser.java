// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/** Reads TCP options in angle brackets. */
final class OptionParser {
    private static final String HEX = "0123456789abcdefABCDEF";
    private static final long U32 = 0xffff_ffffL;

    private final Cursor in;

    OptionParser(Cursor in) {
        this.in = in;
    }

    /** What is behind {@code <}; null for {@code <...>}. */
    @Nullable
    List<TcpOption> read() throws ParseException {
        if (in.take("...")) {
            in.expect(">");
            return null;
        }
        List<TcpOption> options = new ArrayList<>();
        if (in.take(">")) {
            return options;
        }
        do {
            options.add(one());
        } while (in.take(","));
        in.expect(">");
        return List.copyOf(options);
    }

    private TcpOption one() throws ParseException {
        String name = in.peekWord();
        switch (name) {
            case "nop", "eol", "mss", "wscale", "sackOK", "sack", "TS", "md5", "FO", "FOEXP", "unknown" -> in.word("");
            default -> throw in.wrong("a TCP option");
        }
        return switch (name) {
            case "nop" -> new TcpOption.Nop();
            case "eol" -> new TcpOption.Eol();
            case "mss" -> new TcpOption.Mss((int) in.number("a segment size", 0xffff));
            case "wscale" -> new TcpOption.WindowScale((int) in.number("a shift", 255));
            case "sackOK" -> new TcpOption.SackPermitted();
            case "sack" -> sack();
            case "TS" -> timestamps();
            case "md5" -> new TcpOption.Md5(digest());
            case "FO" -> new TcpOption.FastOpen(cookie());
            case "FOEXP" -> new TcpOption.FastOpenExperiment(cookie());
            default -> unknown();
        };
    }

    private TcpOption sack() throws ParseException {
        List<TcpOption.Block> blocks = new ArrayList<>();
        do {
            long left = in.number("a sequence number", U32);
            in.expect(":");
            blocks.add(new TcpOption.Block(left, in.number("a sequence number", U32)));
        } while (in.atDigit());
        return new TcpOption.Sack(List.copyOf(blocks));
    }

    private TcpOption timestamps() throws ParseException {
        in.expect("val");
        long value = in.number("a time stamp", U32);
        in.expect("ecr");
        return new TcpOption.Timestamps(value, in.number("a time stamp", U32));
    }

    private String digest() throws ParseException {
        return in.takeWord("valid") ? "valid" : in.takeWord("invalid") ? "invalid" : hex();
    }

    @Nullable
    private String cookie() throws ParseException {
        if (in.takeWord("TFO_COOKIE")) { // what Linux makes of the key that its suites set
            return "00";
        }
        return HEX.indexOf(in.peek()) >= 0 ? hex() : null;
    }

    private TcpOption unknown() throws ParseException {
        in.expect("(");
        int kind = (int) in.number("a kind", 255);
        String data = in.take(",") ? hex() : "";
        in.expect(")");
        return new TcpOption.Unknown(kind, data);
    }

    private String hex() throws ParseException {
        in.take("0x");
        String s = in.run(HEX).toLowerCase(Locale.ROOT);
        if (s.isEmpty() || s.length() % 2 != 0 || s.length() > 2 * 40) {
            throw in.wrong("bytes in hexadecimal");
        }
        return HexFormat.of().formatHex(HexFormat.of().parseHex(s));
    }
}
