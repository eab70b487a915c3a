// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.verbena.linux.Sys;

/** The checks of {@code verbena doctor} on which it depends whether sockets get rings. */
public final class SocketConditions {
    private static final String FILES = "files";
    private static final Set<String> QUICK = Set.of("native", "kernel", "memory", "memfd", "verbs", "sock_diag");
    private static final Set<String> PAIRS = Set.of("processes", "ptrace");

    private SocketConditions() {}

    /**
     * A finding.
     *
     * @param check its name
     * @param verdict {@code ok}, {@code limited} or {@code no}
     * @param evidence what was tried, and what it answered
     * @param remedy what to do; empty if it is ok
     */
    public record Condition(String check, String verdict, String evidence, String remedy) {
        /** Whether nothing has to be done. */
        public boolean isOk() {
            return verdict.equals(DoctorVerdict.OK.word());
        }
    }

    /**
     * Tries them.
     *
     * @param processes whose descriptors are to be counted
     * @param pairs whether to start a second process for checks that need one
     */
    public static List<Condition> of(List<Path> processes, boolean pairs) {
        boolean granted = Sys.class.getModule().isNativeAccessEnabled();
        List<DoctorCheck> checks = new ArrayList<>();
        for (DoctorCheck c : DoctorCommand.checks(granted)) {
            if (QUICK.contains(c.name()) || pairs && PAIRS.contains(c.name())) {
                checks.add(c);
            } else if (c.name().equals(FILES)) {
                processes.forEach(p -> checks.add(new DoctorCheck(FILES + " " + p.getFileName(), c.group(), c
                        .neededFor(), false, c.limit(), () -> DoctorHost.files(p))));
            }
        }
        return DoctorRunner.run(checks, group -> true, line -> {}).stream().map(l -> new Condition(l.check().name(), l
                .finding().verdict().word(), l.finding().evidence(), l.finding().remedy())).toList();
    }
}
