// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** Runs one script against one stack. */
public final class Runner {
    private static final long NANOS_OF_MICRO = 1000;
    private static final int DEFAULT_MTU = 1500;
    /** How long a packet at {@code *} is waited for. */
    private static final long LONGEST_WAIT = 600_000_000_000L;
    private static final int MOST_STEPS = 1_000_000;
    private static final int LONGER_HEADER = 20;
    private static final Set<String> OPTIONS = Set.of("ip_version", "tolerance_usecs", "mtu", "non_fatal");
    /** Of Linux's dialect: addresses, which may be any; segments of that dialect; what is said of memory of the system. */
    private static final Set<String> LINUX_OPTIONS = Set.of("local_ip", "remote_ip", "mss", "strict_segments",
            "tcp_ts_tick_usecs", "send_omit_free");

    /** A packet that was sent, and the event at which it was. */
    private record Queued(Target.Sent packet, int event) {}

    /** A call that may still wait. */
    private record Pending(Event event, Calls.Begun call, long earliest, long latest) {}

    private final Script script;
    private final Profile profile;
    private final Target target;
    private final Wire wire;
    private final Calls calls;
    private final long tolerance;
    private final long start;
    private final Deque<Queued> sent = new ArrayDeque<>();
    private @Nullable Pending pending;
    private Event event;
    private int index;
    private long last;

    private Runner(Script script, Profile profile, Target target, long tolerance) {
        this.script = script;
        this.profile = profile;
        this.target = target;
        this.tolerance = tolerance;
        calls = new Calls(target, profile, this::flow);
        wire = new Wire(profile, tolerance, calls.sent());
        start = target.now();
        event = new Event(1, When.at(0), new Action.Command(""));
    }

    private @Nullable Flow flow() {
        return wire.current();
    }

    /** Runs a script. */
    public static Outcome run(Script script, Profile profile, TargetFactory factory) {
        long tolerance;
        int mtu;
        IpVersion version;
        try {
            supported(script, profile);
            version = version(script, profile);
            tolerance = option(script, "tolerance_usecs", profile.tolerance()) * NANOS_OF_MICRO;
            mtu = (int) option(script, "mtu", DEFAULT_MTU + (profile.linux() && version == IpVersion.IPV6
                    ? LONGER_HEADER
                    : 0));
        } catch (Failure e) {
            return new Outcome.Unsupported(Objects.requireNonNull(e.getMessage()));
        }
        try (Target target = factory.open(version.local(), mtu)) {
            return new Runner(script, profile.over(version), target, tolerance).run();
        }
    }

    private static void supported(Script script, Profile profile) throws Failure {
        for (String option : script.options().keySet()) {
            if (!OPTIONS.contains(option) && !(profile.linux() && LINUX_OPTIONS.contains(option))) {
                throw new Failure(Failure.Kind.UNSUPPORTED, "--" + option);
            }
        }
        if (!profile.linux() && (!script.before().isEmpty() || !script.after().isEmpty())) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "commands before or behind the events");
        }
    }

    private static IpVersion version(Script script, Profile profile) throws Failure {
        String name = script.options().get("ip_version");
        IpVersion version = name == null ? profile.version() : IpVersion.named(name);
        if (version == null) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "--ip_version=" + name);
        }
        return version;
    }

    private static long option(Script script, String name, long otherwise) throws Failure {
        String value = script.options().get(name);
        if (value != null && !value.matches("\\d{1,12}")) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "--" + name + "=" + value);
        }
        return value == null ? otherwise : Long.parseLong(value);
    }

    private Outcome run() {
        try {
            for (String command : script.before()) {
                LinuxCommands.run(command, target);
            }
            for (Event e : script.events()) {
                event = e;
                run(e);
                index++;
            }
            finishPending();
            nothingExtra();
            for (String command : script.after()) {
                LinuxCommands.run(command, target);
            }
            return new Outcome.Passed();
        } catch (Failure e) {
            String message = Objects.requireNonNull(e.getMessage());
            return e.kind() == Failure.Kind.UNSUPPORTED
                    ? new Outcome.Unsupported(message)
                    : new Outcome.Failed(e.kind().name(), script.name() + ":" + event.line() + ": " + message);
        }
    }

    private void run(Event e) throws Failure {
        long base = e.when().kind() == When.Kind.RELATIVE ? last : 0;
        long time = e.when().kind() == When.Kind.ANY ? last : base + e.when().nanos();
        if (e.action() instanceof Action.Packet p && p.outgoing()) {
            expect(e, p, base, time);
            return;
        }
        pass(time);
        last = time;
        switch (e.action()) {
            case Action.Packet p -> target.inject(wire.make(p));
            case Action.Call c -> begin(e, c, base, time);
            case Action.Command c when profile.linux() -> LinuxCommands.run(c.text(), target);
            case Action.Command c -> {
                Commands.run(c.text(), target);
                if (c.text().startsWith("tcpdrop")) {
                    wire.mayBeOver();
                }
            }
            case Action.Code c when profile.linux() -> PythonAssertions.check(c.text(), calls.last(), target);
            case Action.Code c -> Assertions.check(c.text(), calls.last(), target);
        }
        step(0);
    }

    /** The time of the script. */
    private long now() {
        return target.now() - start;
    }

    private void pass(long until) throws Failure {
        for (int i = 0; now() < until; i++) {
            step(until - now());
            if (i == MOST_STEPS) {
                throw new Failure(Failure.Kind.TIME, "timers of the stack run on without an end");
            }
        }
    }

    /** Lets time pass, up to the next timer, and looks what came of it. */
    private void step(long nanos) throws Failure {
        target.advance(nanos);
        for (Target.Sent s = target.poll(); s != null; s = target.poll()) {
            sent.add(new Queued(s, index));
        }
        Pending p = pending;
        if (p == null) {
            return;
        }
        long result = p.call().answer().poll();
        if (result != Target.Answer.WAITS) {
            pending = null;
            finish(p, result);
        } else if (now() > p.latest()) {
            event = p.event();
            throw new Failure(Failure.Kind.TIME, p.event().action() + ": still waits at " + seconds(now()));
        }
    }

    private void expect(Event e, Action.Packet p, long base, long time) throws Failure {
        boolean any = e.when().kind() == When.Kind.ANY;
        long latest = any
                ? now() + LONGEST_WAIT
                : (e.when().latest() == When.NONE ? time : base + e.when().latest()) + tolerance;
        Queued q = await(latest);
        while (profile.linux() && q != null && wire.isPast(WirePacket.read(q.packet().packet()))) {
            q = await(latest);
        }
        if (q == null) {
            throw new Failure(Failure.Kind.MISSING_PACKET, "expected " + p + "; nothing was sent up to "
                    + seconds(now()));
        }
        wire.match(p, whole(p, WirePacket.read(q.packet().packet()), latest));
        long at = q.packet().nanos() - start;
        if (!any && (at < time - tolerance || at > latest)) {
            throw new Failure(Failure.Kind.TIME, "expected " + p + " at " + seconds(time) + "; it was sent at "
                    + seconds(at));
        }
        last = any || e.when().latest() != When.NONE ? at : time;
    }

    /** The next packet that is sent up to a time; null if there is none. */
    private @Nullable Queued await(long latest) throws Failure {
        for (int i = 0; sent.isEmpty() && now() < latest && i < MOST_STEPS; i++) {
            step(latest - now());
        }
        return sent.poll();
    }

    /** A segment with those that follow it, as long as all are no longer than what is expected. */
    private WirePacket whole(Action.Packet expected, WirePacket first, long latest) throws Failure {
        WirePacket whole = first;
        boolean parts = profile.linux() && !script.options().containsKey("strict_segments");
        while (parts && expected.body() instanceof PacketBody.Tcp t && whole.protocol() == Packets.TCP
                && whole.payload().length > 0 && whole.payload().length < t.range().length()) {
            Queued next = await(latest);
            if (next == null) {
                return whole;
            }
            WirePacket p = WirePacket.read(next.packet().packet());
            if (!whole.isFollowedBy(p)) {
                sent.addFirst(next);
                return whole;
            }
            whole = whole.joined(p);
        }
        return whole;
    }

    private void begin(Event e, Action.Call c, long base, long time) throws Failure {
        finishPending();
        if (c.name().equals("connect")) {
            wire.connecting();
        }
        if (c.name().equals("listen") && profile.linux()) {
            wire.listening();
        }
        Calls.Begun call;
        try {
            call = calls.begin(c);
        } catch (Failure f) {
            notFatal(c, f);
            return;
        }
        long until = e.when().until();
        long back = until == When.NONE ? time : base + until;
        // an early answer is only wrong if the script says how long the call waits
        long earliest = until == When.NONE ? 0 : back - tolerance;
        Pending p = new Pending(e, call, earliest, Math.max(back, now()) + tolerance);
        long result = call.answer().poll();
        if (result == Target.Answer.WAITS) {
            pending = p;
        } else {
            finish(p, result);
        }
    }

    private void finishPending() throws Failure {
        while (pending != null) {
            step(pending.latest() + 1 - now());
        }
    }

    private void finish(Pending p, long result) throws Failure {
        Action.Call c = (Action.Call) p.event().action();
        Event before = event;
        event = p.event();
        try {
            p.call().check().result(result);
            if (now() < p.earliest()) {
                throw new Failure(Failure.Kind.TIME, "it was back at " + seconds(now()) + ", and should be at "
                        + seconds(p.earliest() + tolerance));
            }
        } catch (Failure f) {
            notFatal(c, f);
        }
        event = before;
    }

    /** Throws the failure of a call, unless the script says that such are not fatal. */
    private void notFatal(Action.Call c, Failure f) throws Failure {
        String option = script.options().getOrDefault("non_fatal", "");
        if (!List.of(option.split(",")).contains("syscall")) {
            throw f.kind() == Failure.Kind.UNSUPPORTED ? f : new Failure(f.kind(), c + ": " + f.getMessage());
        }
    }

    /** Fails if packets were sent that the script does not have, before the calls that end it. */
    private void nothingExtra() throws Failure {
        if (profile.anyEnd()) {
            return;
        }
        int end = script.events().size();
        while (end > 0 && ends(script.events().get(end - 1).action())) {
            end--;
        }
        Queued first = sent.peek();
        if (first != null && first.event() < end) {
            event = script.events().get(first.event());
            throw new Failure(Failure.Kind.EXTRA_PACKET, "sent > " + wire.text(first.packet().packet()) + " at "
                    + seconds(first.packet().nanos() - start) + ", which the script does not have");
        }
    }

    private static boolean ends(Action a) {
        return a instanceof Action.Command || a instanceof Action.Code
                || a instanceof Action.Call c && c.name().equals("close");
    }

    private static String seconds(long nanos) {
        return String.format("%.6f s", nanos / 1e9);
    }
}
