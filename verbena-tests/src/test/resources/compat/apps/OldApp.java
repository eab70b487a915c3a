// SPDX-License-Identifier: Apache-2.0
import org.verbena.verbs.*;

/** Written for the first version: its output may never change. */
public final class OldApp {
    private OldApp() {}

    public static void main(String[] args) throws Exception {
        Verbs.require(1);
        Verbs.problems().forEach(p -> Say.line("problem", p));
        for (Device d : Verbs.devices()) {
            Say.line("device", d.name() + ", " + d.provider() + ", " + d.transport());
        }
        Say.attempt("open nothing", () -> Verbs.open("nothing"));
        try (Traffic t = new Traffic()) {
            DeviceAttributes d = t.a.queryDevice();
            Say.line("limits", d.maxQp() + " " + d.maxQpWr() + " " + d.maxSge() + " " + d.maxMrSize());
            Say.line("clock", d.coreClockKilohertz());
            PortAttributes p = t.a.queryPort(1);
            Say.line("port", p.stateName() + " " + p.activeMtu() + " " + p.linkLayer() + " " + p);
            for (String feature : new String[] {Feature.RC, Feature.ATOMICS, Feature.CONNECTION_MANAGER, "beacon.old",
                    "shm:beacon"}) {
                Say.line("supports " + feature, t.a.supports(feature));
            }
            Say.line("clock read", t.a.queryValues(Values.RAW_CLOCK).rawClock().isPresent());
            Say.attempt("values of an unknown kind", () -> t.a.queryValues(1 << 29));
            t.run();
        }
        Say.line("end", "closed");
    }
}
