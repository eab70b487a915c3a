// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.util.Set;

import org.verbena.shm.control.ContextParts;
import org.verbena.shm.control.Control;
import org.verbena.shm.counts.RegionCounts;
import org.verbena.shm.datagram.Multicast;
import org.verbena.shm.layout.Adapter;
import org.verbena.shm.memory.KeyTable;
import org.verbena.shm.memory.Memories;
import org.verbena.shm.xrc.XrcDirectory;
import org.verbena.shm.xrc.XrcDomains;
import org.verbena.verbs.Context;
import org.verbena.verbs.spi.Engine;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.Slots;

/**
 * What the objects that are opened on a context use of it: made once with it, before any of them, and knows none of their types
 * but {@link QueuePairBase}.
 *
 * @param context where they are adopted, and raise their events
 * @param pds the numbers of protection domains
 * @param regionCounts updated when counters are read
 */
record ContextInternals(Context context, ContextParts own, Control control, KeyTable keys, Multicast multicast,
        XrcDomains domains, XrcDirectory xrc, Slots pds, QueuePairs queuePairs, PublishedObjects published,
        Set<RegionCounts> regionCounts) {
    Adapter adapter() {
        return own.adapter();
    }

    Engine engine() {
        return own.engine();
    }

    Memories memories() {
        return own.memories();
    }

    /** Counts something of the device, see {@link org.verbena.verbs.SamplePoint}. */
    void count(int point) {
        published.device().add(PublishedObjects.cell(point), 1);
    }
}
