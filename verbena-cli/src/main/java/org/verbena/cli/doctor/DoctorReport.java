// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import picocli.CommandLine.Help.Ansi;

import org.verbena.cli.support.Paragraph;

/**
 * Lines for a person, in three columns within 80: verdict, name, and the finding with its remedy. Control characters of
 * a finding are shown as question marks.
 */
final class DoctorReport {
    private static final int WIDTH = 80;
    private static final int VERDICT = 9;
    private static final int NAME = 14;
    private static final int TEXT = WIDTH - VERDICT - NAME;
    /** One column more where that character is missing. */
    private static final String ARROW = "→ ";
    private static final String ABSENT = "absent";

    private final PrintWriter out;
    private final Ansi ansi;
    private String group = "";
    /** Lines of unused features, which are printed last. */
    private final List<DoctorCheck.Line> unused = new ArrayList<>();

    DoctorReport(PrintWriter out, Ansi ansi) {
        this.out = out;
        this.ansi = ansi;
    }

    /** Prints a line below its heading; lines of unused features are printed with the summary. */
    void print(DoctorCheck.Line line) {
        if (line.check().isUsed()) {
            show(line);
        } else {
            unused.add(line);
        }
    }

    private void show(DoctorCheck.Line line) {
        if (!line.check().group().equals(group)) {
            if (!group.isEmpty()) {
                out.println();
            }
            group = line.check().group();
            out.println(style("bold", group));
        }
        DoctorFinding f = line.finding();
        DoctorVerdict v = f.verdict();
        boolean used = line.check().isUsed();
        String word = !used && v == DoctorVerdict.NO ? ABSENT : v.word();
        String start = (used ? style(v.style(), word) : word) + " ".repeat(VERDICT - word.length())
                + pad(line.check().name());
        for (String text : wrap(f.evidence(), TEXT)) {
            out.println((start + text).stripTrailing());
            start = " ".repeat(VERDICT + NAME);
        }
        String mark = ARROW;
        for (String text : f.remedy().isEmpty() || !used
                ? List.<String>of()
                : wrap(f.remedy(), TEXT - ARROW.length() - 1)) {
            out.println(" ".repeat(VERDICT + NAME) + mark + text);
            mark = " ".repeat(ARROW.length());
        }
        out.flush();
    }

    /** One sentence about the whole report. */
    void summary(List<DoctorCheck.Line> lines) {
        unused.forEach(this::show);
        Map<DoctorVerdict, Integer> counts = new LinkedHashMap<>();
        for (DoctorVerdict v : DoctorVerdict.values()) {
            counts.put(v, (int) lines.stream().filter(l -> l.check().isUsed() && l.finding().verdict() == v).count());
        }
        List<String> missing = lines.stream().filter(l -> !l.isFit()).map(l -> l.check().name()).toList();
        out.println();
        String sentence = missing.isEmpty()
                ? "Verbs over shm0 work on this machine."
                : "Verbs over shm0 do not work on this machine; see " + String.join(", ", missing) + ".";
        out.println(style(missing.isEmpty() ? "bold,green" : "bold,red", sentence));
        out.println(counts.get(DoctorVerdict.OK) + " ok, " + counts.get(DoctorVerdict.LIMITED) + " limited, "
                + counts.get(DoctorVerdict.NO) + " no");
        out.flush();
    }

    private String style(String style, String text) {
        return ansi.string("@|" + style + " " + text + "|@");
    }

    private static String pad(String name) {
        return name + " ".repeat(Math.max(1, NAME - name.length()));
    }

    static List<String> wrap(String text, int width) {
        return Paragraph.wrap(text, width);
    }

    /** All lines as an array of objects, each of which has all keys. */
    static String json(List<DoctorCheck.Line> lines) throws JsonProcessingException {
        List<Map<String, Object>> all = new ArrayList<>();
        for (DoctorCheck.Line l : lines) {
            Map<String, Object> m = new LinkedHashMap<>();
            m.put("check", l.check().name());
            m.put("needed_for", l.check().neededFor());
            m.put("required", l.check().required());
            m.putAll(json(l.finding()));
            all.add(m);
        }
        return new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(all);
    }

    static Map<String, Object> json(DoctorFinding f) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("verdict", f.verdict().word());
        m.put("evidence", f.evidence());
        m.put("remedy", f.remedy());
        return m;
    }
}
