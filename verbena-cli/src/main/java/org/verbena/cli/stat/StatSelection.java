// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which lines are shown, and in which order. Immutable.
 *
 * @param types of objects; empty for all
 * @param filter a text that a line has to have in it
 * @param sort name of a column; empty for the order as it is
 * @param reverse the other way round
 */
record StatSelection(Set<Integer> types, String filter, String sort, boolean reverse) {

    /** What is left of a table; its types were chosen before. */
    StatTable of(StatTable table) {
        return table.filtered(filter).sorted(table.column(sort), reverse);
    }

    /** The objects that the lines of such a table stand for, in their order. */
    List<StatObject> objects(StatDelta d, StatTable table) {
        Map<Object, StatObject> byKey = new HashMap<>();
        d.process().objects().forEach(o -> byKey.put(o.key(), o));
        return table.rows().stream().map(r -> byKey.get(r.key())).filter(java.util.Objects::nonNull).toList();
    }
}
