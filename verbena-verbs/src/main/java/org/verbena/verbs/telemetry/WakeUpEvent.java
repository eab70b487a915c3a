// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.telemetry;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/** {@link FlightEvents#sleeps}. */
@Name("org.verbena.WakeUp")
@Label("Wake-Up")
@Description("A thread that had slept until something happens was woken; the duration is that of its sleep")
@Category("Verbena")
@StackTrace(false)
@Threshold("1 ms")
final class WakeUpEvent extends Event implements FlightEvents.Sleep {
    @Label("Device") String device;
    @Label("By")
    @Description("What it slept on") String by = "";

    private WakeUpEvent(String device) {
        this.device = device;
    }

    static FlightEvents.@Nullable Sleep begin(String device) {
        WakeUpEvent e = new WakeUpEvent(device);
        if (!e.isEnabled()) {
            return null;
        }
        e.begin();
        return e;
    }

    @Override
    public void wokenBy(String what) {
        end();
        if (shouldCommit()) {
            by = what;
            commit();
        }
    }
}
