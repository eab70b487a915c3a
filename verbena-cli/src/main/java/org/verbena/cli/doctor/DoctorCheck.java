// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * One check.
 *
 * @param name one word, the same in all versions
 * @param group the heading it stands under
 * @param neededFor what needs it
 * @param required whether the main job cannot run without it
 * @param limit how long it may take
 * @param probe runs the check; may throw, block and take long
 */
record DoctorCheck(String name, String group, String neededFor, boolean required, Duration limit,
        Callable<DoctorFinding> probe) {
    /** The heading of features that no code of Verbena needs yet; their absence is no reason to worry. */
    static final String UNUSED = "Not used by Verbena yet: nothing has to be done for these";

    /** Whether some code of Verbena needs it. */
    boolean isUsed() {
        return !group.equals(UNUSED);
    }

    /** A check with its finding. */
    record Line(DoctorCheck check, DoctorFinding finding) {
        /** True if this finding does not prevent the main job. */
        boolean isFit() {
            return !check.required || finding.verdict() != DoctorVerdict.NO;
        }
    }
}
