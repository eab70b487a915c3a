// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Something to look at.
 *
 * @param name one word, the same in all versions
 * @param group the heading it stands under
 * @param neededFor what needs it
 * @param required whether the main job cannot run without it
 * @param limit how long it may take
 * @param probe looks; may throw, block and take long
 */
record DoctorCheck(String name, String group, String neededFor, boolean required, Duration limit,
        Callable<DoctorFinding> probe) {
    /** The heading of what no code of Verbena's needs yet; whether it is there is nothing to worry about. */
    static final String UNUSED = "Not used by Verbena yet: nothing has to be done for these";

    /** Whether something of Verbena's needs it. */
    boolean isUsed() {
        return !group.equals(UNUSED);
    }

    /** A check with what it has found. */
    record Line(DoctorCheck check, DoctorFinding finding) {
        /** True if the main job can run as far as this is concerned. */
        boolean isFit() {
            return !check.required || finding.verdict() != DoctorVerdict.NO;
        }
    }
}
