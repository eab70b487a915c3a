// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import java.time.Instant;

import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;

import org.verbena.telemetry.ObjectKinds;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.RemoteObject;

/**
 * The subject of a set of meters: a device or a port, in whichever contexts, all sockets, or one object.
 *
 * @param id of the object, 0 for a device, a port or all sockets
 * @param created of the object: a later object may have the same number and place
 */
record Series(int type, Tags tags, long id, Instant created) {
    static Series of(RemoteObject o) {
        if (ObjectKinds.of(o.type()).isOfProcess()) {
            return new Series(o.type(), Tags.empty(), 0, Instant.EPOCH);
        }
        Tags tags = Tags.of("device", o.device());
        return switch (o.type()) {
            case ObjectType.DEVICE -> new Series(o.type(), tags, 0, Instant.EPOCH);
            case ObjectType.PORT -> new Series(o.type(), tags.and("port", Integer.toString(o.number())), 0,
                    Instant.EPOCH);
            default -> new Series(o.type(), tags.and(Tag.of("context", Long.toString(o.context())),
                    Tag.of("number", "0x" + Integer.toHexString(o.number()))).and(type(o)), o.id(), o.created());
        };
    }

    /** A queue pair's type, RC or UD; other objects have one type only, or it does not affect their counts. */
    private static Tags type(RemoteObject o) {
        return o.type() == ObjectType.QP
                ? Tags.of("type", String.valueOf(o.attributes().getOrDefault("type", "")))
                : Tags.empty();
    }
}
