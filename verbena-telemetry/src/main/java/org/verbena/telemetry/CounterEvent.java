// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Unsigned;

/** From time to time what has been counted: an event for each sample point of each object that is not zero. */
@Name("org.verbena.Counter")
@Label("Counter")
@Description("What has been counted at a sample point of an object since it was made")
@Category("Verbena")
@StackTrace(false)
@Period("5 s")
final class CounterEvent extends Event {
    private static final Logger LOG = System.getLogger("org.verbena.telemetry");

    @Label("Device") String device = "";
    @Label("Object Type") String objectType = "";
    @Label("Number")
    @Description("The object's number among those of its type")
    @Unsigned int number;
    @Label("Context")
    @Description("Tells objects of the same number in different contexts apart") long context;
    @Label("Sample Point") String samplePoint = "";
    @Label("Value")
    @Unsigned long value;

    static void commitAll() {
        try (ProcessCounters process = ProcessCounters.own()) {
            process.refresh();
            for (EntryView o : process.entries()) {
                if (!o.kind().isRecorded()) {
                    continue;
                }
                for (int point : SamplePoints.points(o.type(), o.counted())) {
                    long value = EntryView.sum(o.cells(), SamplePoints.cells(point, o.counted()));
                    if (value != 0) {
                        commit(o, point, value);
                    }
                }
            }
        } catch (CounterFileException e) {
            LOG.log(Level.WARNING, "counters could not be recorded", e);
        }
    }

    private static void commit(EntryView o, int point, long value) {
        CounterEvent e = new CounterEvent();
        e.device = o.kind().device(o.name());
        e.objectType = o.kind().name();
        e.number = o.number();
        e.context = o.context();
        e.samplePoint = SamplePoints.toString(point);
        e.value = value;
        e.commit();
    }
}
