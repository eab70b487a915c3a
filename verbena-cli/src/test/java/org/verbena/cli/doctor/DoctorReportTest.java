// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Help.Ansi;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.verbs.VerbsException;

/** How checks are run and shown. */
class DoctorReportTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private static DoctorCheck check(String name, boolean required, Duration limit, Callable<DoctorFinding> probe) {
        return new DoctorCheck(name, required ? "main" : "more", "tests", required, limit, probe);
    }

    private static DoctorFinding of(Callable<DoctorFinding> probe) {
        return DoctorRunner.run(List.of(check("x", true, LONG, probe)), "main"::equals, line -> {}).getFirst()
                .finding();
    }

    @Test
    void exceptionOfAProbeBecomesItsFinding() {
        DoctorFinding full = of(() -> {
            throw new VerbsException("open shm0", new LinuxException("memfd_create(\"x\")", Errno.EMFILE));
        });
        assertThat(full.verdict()).isEqualTo(DoctorVerdict.NO);
        assertThat(full.evidence()).contains("open shm0: memfd_create(\"x\"): EMFILE (Too many open files)");
        assertThat(full.remedy()).contains("ulimit -n");
        assertThat(of(() -> {
            throw new NoSuchMethodError("a.b()");
        }).evidence()).isEqualTo("NoSuchMethodError: a.b()");
        assertThat(of(() -> {
            throw new IllegalStateException("one\n  two\r\nthree");
        }).evidence()).isEqualTo("IllegalStateException: one; two; three");
        assertThat(of(() -> {
            throw new NullPointerException();
        })).isEqualTo(DoctorFinding.no("NullPointerException",
                "run it again with VERBENA_DEBUG=1 and report what it prints"));
        assertThat(of(() -> {
            throw new IllegalCallerException("any text");
        })).isEqualTo(DoctorFinding.no("not tried: native access is denied", "see native"));
    }

    /** Also one that ignores interruption: it is abandoned. */
    @Test
    void hangingProbeIsReportedAndOthersStillRun() {
        CountDownLatch never = new CountDownLatch(1);
        Callable<DoctorFinding> hangs = () -> {
            while (true) {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    // goes on
                }
            }
        };
        List<String> seen = new ArrayList<>();
        List<DoctorCheck.Line> lines = DoctorRunner.run(List.of(
                check("hangs", true, Duration.ofMillis(50), hangs),
                check("other", false, Duration.ofMillis(50), hangs),
                check("third", false, LONG, () -> DoctorFinding.ok("well"))), "main"::equals,
                l -> seen.add(l.check().name()));
        assertThat(seen).containsExactly("hangs", "other", "third");
        assertThat(lines).extracting(l -> l.finding().verdict()).containsExactly(DoctorVerdict.NO, DoctorVerdict.NO,
                DoctorVerdict.OK);
        assertThat(lines.getFirst().finding().evidence()).startsWith("no answer within");
        assertThat(lines).extracting(DoctorCheck.Line::isFit).containsExactly(false, true, true);
    }

    @Test
    void limitedFeatureCountsAsUsable() {
        assertThat(new DoctorCheck.Line(check("x", true, LONG, () -> DoctorFinding.ok("")), DoctorFinding.limited("a",
                "b")).isFit()).isTrue();
    }

    @Test
    void linesFitEightyColumns() {
        StringWriter text = new StringWriter();
        DoctorReport report = new DoctorReport(new PrintWriter(text, true), Ansi.OFF);
        String path = "/very/long".repeat(20);
        List<DoctorCheck.Line> lines = List.of(
                new DoctorCheck.Line(check("one", true, LONG, () -> DoctorFinding.ok("")), DoctorFinding.ok("fine")),
                new DoctorCheck.Line(check("two", false, LONG, () -> DoctorFinding.ok("")), DoctorFinding.limited(
                        "word ".repeat(40) + path, "do \033[31m this " + "word ".repeat(30))),
                new DoctorCheck.Line(check("three", true, LONG, () -> DoctorFinding.ok("")), DoctorFinding.no("", "")));
        lines.forEach(report::print);
        report.summary(lines);
        assertThat(text.toString().lines()).allSatisfy(l -> assertThat(l).hasSizeLessThanOrEqualTo(80)
                .doesNotEndWith(" "));
        assertThat(text.toString().lines()).contains("ok       one           fine", "1 ok, 1 limited, 1 no",
                "Verbs over shm0 do not work on this machine; see three.");
        assertThat(text.toString()).contains("→ do ?[31m this word").doesNotContain("\033");
        assertThat(text.toString().replaceAll("\\s+", "")).contains(path);
    }

    /** A machine without it is complete. */
    @Test
    void unusedFeatureIsListedLastAndIsNoFailure() {
        StringWriter text = new StringWriter();
        DoctorReport report = new DoctorReport(new PrintWriter(text, true), Ansi.OFF);
        DoctorCheck unused = new DoctorCheck("future", DoctorCheck.UNUSED, "tests", false, LONG, () -> DoctorFinding.ok(
                ""));
        List<DoctorCheck.Line> lines = List.of(new DoctorCheck.Line(unused, DoctorFinding.no("EPERM", "run as root")),
                new DoctorCheck.Line(check("x", false, LONG, () -> DoctorFinding.ok("")), DoctorFinding.ok("fine")));
        lines.forEach(report::print);
        report.summary(lines);
        assertThat(text.toString().lines()).containsSubsequence("ok       x             fine", DoctorCheck.UNUSED,
                "absent   future        EPERM", "1 ok, 0 limited, 0 no");
        assertThat(text.toString()).doesNotContain("run as root");
    }

    @Test
    void terminalVerdictsAreColouredAndAligned() {
        StringWriter plain = new StringWriter();
        StringWriter coloured = new StringWriter();
        DoctorCheck.Line line = new DoctorCheck.Line(check("x", true, LONG, () -> DoctorFinding.ok("")), DoctorFinding
                .no("@|red evidence|@", "remedy"));
        new DoctorReport(new PrintWriter(plain, true), Ansi.OFF).print(line);
        new DoctorReport(new PrintWriter(coloured, true), Ansi.ON).print(line);
        assertThat(coloured.toString()).contains("\033[31mno").as("what was found is no markup").contains(
                "@|red evidence|@");
        assertThat(coloured.toString().replaceAll("\033\\[[0-9;]*m", "")).isEqualTo(plain.toString());
    }

    @Test
    void jsonObjectsHaveEveryKey() throws Exception {
        JsonNode all = new ObjectMapper().readTree(DoctorReport.json(List.of(
                new DoctorCheck.Line(check("x", true, LONG, () -> DoctorFinding.ok("")), DoctorFinding.ok("e")),
                new DoctorCheck.Line(check("y", false, LONG, () -> DoctorFinding.ok("")), DoctorFinding.no("\"",
                        "r")))));
        assertThat(all).hasSize(2);
        all.forEach(n -> assertThat(n.properties()).extracting(Map.Entry::getKey).containsExactly("check",
                "needed_for", "required", "verdict", "evidence", "remedy"));
        assertThat(DoctorChild.answer("[0.003s][info][gc] x\n{\"a\": 1}\n{\"a\": 2}\n[9s] y\n")).isEqualTo(
                new ObjectMapper().readTree("{\"a\": 2}"));
        assertThat(DoctorChild.answer("[0.003s][info][gc] x\n")).isNull();
        assertThat(DoctorHost.sealed(false).verdict()).isEqualTo(DoctorVerdict.OK);
        assertThat(DoctorHost.sealed(true).verdict()).isEqualTo(DoctorVerdict.LIMITED);
        assertThat(DoctorHost.sealed(true).remedy()).contains("F_SEAL_FUTURE_WRITE");
        assertThat(DoctorChild.finding(all.get(1))).isEqualTo(DoctorFinding.no("\"", "r"));
    }
}
