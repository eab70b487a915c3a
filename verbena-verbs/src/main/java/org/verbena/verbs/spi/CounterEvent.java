// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

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

import org.verbena.verbs.ObjectType;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;

/** From time to time what has been counted: an event for each sample point of each object that is not zero. */
@Name("org.verbena.Counter")
@Label("Counter")
@Description("What has been counted at a sample point of an object since it was made")
@Category("Verbena")
@StackTrace(false)
@Period("5 s")
final class CounterEvent extends Event {
    private static final Logger LOG = System.getLogger("org.verbena.verbs");

    @Label("Device") String device = "";
    @Label("Object Type") String objectType = "";
    @Label("Number")
    @Description("That of the queue pair, the port and so on")
    @Unsigned int number;
    @Label("Context")
    @Description("Tells objects of the same number in different contexts apart") long context;
    @Label("Sample Point") String samplePoint = "";
    @Label("Value")
    @Unsigned long value;

    static void commitAll() {
        try (RemoteProcess process = RemoteProcess.current()) {
            for (RemoteObject o : process.objects(0)) {
                if (o.type() == ObjectType.CONNECTION) {
                    continue; // there may be thousands: SocketClosed says what each came to
                }
                for (int point : o.samplePoints()) {
                    long value = o.value(point);
                    if (value != 0) {
                        commit(o, point, value);
                    }
                }
            }
        } catch (VerbsException e) {
            LOG.log(Level.WARNING, "counters could not be recorded", e);
        }
    }

    private static void commit(RemoteObject o, int point, long value) {
        CounterEvent e = new CounterEvent();
        e.device = o.device();
        e.objectType = ObjectType.toString(o.type());
        e.number = o.number();
        e.context = o.context();
        e.samplePoint = SamplePoint.toString(point);
        e.value = value;
        e.commit();
    }
}
