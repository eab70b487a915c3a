// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The lines to show, and their order. Immutable.
 *
 * @param types of objects; empty for all
 * @param filter a text that a line must contain
 * @param sort name of a column; empty for the original order
 * @param reverse whether to reverse the order
 */
record StatSelection(Set<Integer> types, String filter, String sort, boolean reverse) {

    /** The rest of a table; its types were selected before. */
    StatTable of(StatTable table) {
        return table.filtered(filter).sorted(table.column(sort), reverse);
    }

    /** The objects of the lines of such a table, in their order. */
    List<StatObject> objects(StatDelta d, StatTable table) {
        Map<Object, StatObject> byKey = new HashMap<>();
        d.process().objects().forEach(o -> byKey.put(o.key(), o));
        return table.rows().stream().map(r -> byKey.get(r.key())).filter(java.util.Objects::nonNull).toList();
    }
}
