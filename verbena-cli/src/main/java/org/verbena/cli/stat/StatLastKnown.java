// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What sums count of processes that do not answer: what was last known of them, so that a sum does not fall since a look was
 * missed. Not safe for use by several threads.
 */
final class StatLastKnown {
    private Map<StatProcess.Key, StatDelta> last = Map.of();

    /** The same processes in the same order, of the next sample; a silent one as it was known last. */
    List<StatDelta> of(List<StatDelta> now) {
        Map<StatProcess.Key, StatDelta> known = new HashMap<>();
        List<StatDelta> counted = now.stream().map(d -> {
            StatDelta before = d.process().silent() ? last.get(d.process().key()) : null;
            StatDelta used = before == null ? d : before.standIn();
            known.put(d.process().key(), used);
            return used;
        }).toList();
        last = known;
        return counted;
    }
}
