// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.sockets.spi.PeerRendezvous;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.VerbsException;

/**
 * A target of {@code config/fuzz}: an end of remote memory whose other end sends arbitrary messages, in any order,
 * while its program registers, updates and deregisters memory, copies and polls events. It throws nothing, copies only
 * to and from memory for which the other end has granted the right at that moment, reports no impossible event to its
 * program, sends each due reply, and in the end no future is pending.
 */
public final class MessagesFuzz implements ScriptedVerbs.OtherEnd {
    private static final int ALL = AccessFlags.LOCAL_WRITE | Regions.REMOTE_ACCESS;
    private static final int SIZE = 256;
    private static final int MAX_REGIONS = 8;
    /** Counted in naps, not by the clock: the machine may be paused. */
    private static final int MAX_NAPS = 20_000;
    private static final int SPINS = 10_000;
    private static final int[] LENGTHS = {48, 40, 0, 1, 47, 49, 64, 65};

    /** The other end's announcement of a region. */
    private record Given(int key, long address, long length, int access, int name) {}

    private final byte[] input;
    private int position;
    private final int side;
    private final ScriptedVerbs verbs;
    private final PeerLink link;
    private final Regions regions;
    private final CopyQueue copies;
    private final EventQueue events;
    private final Control control;
    private final Engine engine;
    private final Map<Integer, Given> given = new HashMap<>();
    private final List<LocalRegion> locals = new ArrayList<>();
    /** Ids that may be valid. */
    private final List<Integer> ids = new ArrayList<>();
    private final List<CompletableFuture<?>> waiting = new ArrayList<>();
    private final Map<Integer, Integer> sent = new HashMap<>();
    private int lastErrno;
    private boolean due;

    private MessagesFuzz(byte[] input) throws VerbsException, LinuxException {
        this.input = input;
        side = next(2);
        Handshake peer = new Handshake(1, Handshake.CONTROL, Handshake.UPDATES, 1, 1, 1 + next(8), 1 + next(8), 1000);
        verbs = new ScriptedVerbs(this);
        link = new PeerLink(verbs, verbs.createCompletionChannel(), CreditLimit.DEFAULT);
        regions = new Regions(side, Math.min(Limits.REGIONS, peer.regions()), () -> 1);
        copies = new CopyQueue(regions, link, peer.credits());
        events = new EventQueue(regions, link, () -> due = true);
        engine = Engine.get();
        control = new Control(regions, link, copies, events, peer, engine);
        copies.events(events);
        events.copies(copies);
        link.start(control.sends()::progress, control::receive, reason -> {});
        ids.add(RegionId.of(1, 0, 1 - side));
        ids.add(RegionId.of(1, 0, side));
    }

    /** Runs the steps that the input encodes. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        MessagesFuzz fuzz = new MessagesFuzz(input);
        try {
            while (fuzz.position < input.length && fuzz.link.failure() == null) {
                fuzz.step();
            }
        } finally {
            fuzz.end();
        }
    }

    // ---- the input

    private int next(int bound) {
        return (position < input.length ? input[position++] & 0xff : 0) % bound;
    }

    private long number() {
        long value = 0;
        for (int n = next(9); n > 0; n--) {
            value = value << 8 | next(256);
        }
        return value;
    }

    private int id() {
        int which = next(ids.size() + 2);
        if (which < ids.size()) {
            return ids.get(which);
        }
        int id = which == ids.size() ? RegionId.of(1 + next(4), next(4), next(2)) : (int) number();
        ids.add(id);
        return id;
    }

    private byte[] bytes(int count) {
        byte[] all = new byte[count];
        for (int i = 0; i < count; i++) {
            all[i] = (byte) next(256);
        }
        return all;
    }

    // ---- steps

    private void step() throws VerbsException {
        switch (next(14)) {
            case 0, 1, 2, 3 -> deliver(message());
            case 4 -> arrive(bytes(LENGTHS[next(LENGTHS.length)]));
            case 5 -> notice();
            case 6 -> takeEvents();
            case 7 -> copy();
            case 8 -> copies.poll();
            case 9 -> waiting.add(control.sends().copy(id(), next(SIZE), id(), next(SIZE), next(SIZE), next(8), 2));
            case 10 -> register();
            case 11 -> revoke();
            case 12 -> update();
            default -> {
                handshake();
                batch();
                if (due) {
                    due = false;
                    control.run();
                }
            }
        }
        if (regions.remoteCount() != given.size() && link.failure() == null) {
            throw new AssertionError("has " + regions.remotes() + " instead of " + given);
        }
    }

    private Messages.Message message() {
        int type = next(12);
        int id = id();
        Given known = given.getOrDefault(id, new Given(next(4), 4096L * next(4), 1 + next(SIZE), 1 + next(8), 0));
        boolean odd = next(8) == 0;
        return new Messages.Message(type, id, odd ? number() : known.address(), odd ? number() : known.length(), odd
                ? (int) number()
                : known.key(), next(4) == 0 ? next(256) : rights(), number(), next(4));
    }

    private int rights() {
        return (next(2) == 0 ? 0 : AccessFlags.REMOTE_READ) | (next(2) == 0 ? 0 : AccessFlags.REMOTE_WRITE);
    }

    private static byte[] encode(Messages.Message m) {
        byte[] bytes = new byte[ControlLayout.BYTES];
        MemorySegment into = Arena.ofAuto().allocate(bytes.length, 8);
        Messages.put(into, 0, m);
        MemorySegment.copy(into, ValueLayout.JAVA_BYTE, 0, bytes, 0, bytes.length);
        return bytes;
    }

    /** The effect is checked if the link has survived the message: an invalid one ends it. */
    private void deliver(Messages.Message m) {
        Given before = given.get(m.id());
        int answers = count(m.type() + 1);
        switch (m.type()) {
            case Messages.ADD -> given.put(m.id(), new Given(m.key(), m.address(), m.length(), m.access(), m.errno()));
            case Messages.UPDATE -> given.put(m.id(), new Given(m.key(), m.address(), m.length(), m.access(),
                    before == null
                            ? 0
                            : before.name()));
            case Messages.HOLD -> {
                if (before != null) {
                    given.put(m.id(), new Given(before.key(), before.address(), before.length(), 0, before.name()));
                }
            }
            case Messages.REVOKE -> given.remove(m.id());
            default -> {}
        }
        arrive(encode(m));
        boolean asks = m.type() == Messages.ADD || m.type() == Messages.REVOKE || m.type() == Messages.HOLD || m
                .type() == Messages.UPDATE;
        if (asks) {
            awaitAnswer(m.type() + 1, answers);
            if (m.type() == Messages.ADD && lastErrno != 0) {
                given.remove(m.id());
            }
        }
    }

    /** The engine's thread receives it. */
    private void arrive(byte[] message) {
        if (ScriptedVerbs.arrive(link.control(), message)) {
            control.receive();
        }
    }

    private void awaitAnswer(int type, int before) {
        if (!awaitTrue(() -> link.failure() != null || count(type) != before)) {
            throw new AssertionError("no answer of type " + type);
        }
    }

    private int count(int type) {
        synchronized (sent) {
            return sent.getOrDefault(type, 0);
        }
    }

    private void notice() {
        MemorySegment bytes = Arena.ofAuto().allocate(CompletionLayout.BYTES, 8);
        boolean odd = next(8) == 0;
        int id = id();
        int kind = odd ? next(256) : 1 + next(2);
        long offset = odd ? number() : next(SIZE);
        long length = odd ? number() : next(SIZE);
        int taken = odd ? (int) number() : next(4);
        if (length % 8 == 7) { // the same number of draws, so that the corpus keeps its meaning
            ScriptedVerbs.arrive(link.data(), odd
                    ? (int) offset
                    : ImmediateCompletion.of(1 + (int) (offset % MAX_REGIONS), 64
                            * (length % 5)), length & 0xffff_ffffL);
            return;
        }
        RemoteCompletion.put(bytes.address(), id, kind, offset, length, 3, taken);
        ScriptedVerbs.arrive(link.data(), bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Checks the next event; false if there is none. */
    private boolean takeEvents() {
        if (!events.poll()) {
            return false;
        }
        switch (events.type()) {
            case EventType.COPIED, EventType.COPIED_FROM -> {
                LocalRegion region = locals.stream().filter(r -> r.id() == events.region()).findFirst().orElseThrow();
                int right = events.type() == EventType.COPIED ? AccessFlags.REMOTE_WRITE : AccessFlags.REMOTE_READ;
                if (events.offset() < 0 || events.length() < 0 || events.offset() > region.length() - events.length()
                        || (region.registered() & right) == 0) {
                    throw new AssertionError("an event of " + events.length() + " bytes at " + events.offset() + " of "
                            + region);
                }
            }
            case EventType.REGION_ADDED, EventType.REGION_UPDATED -> {
                if (events.length() <= 0 || RegionId.side(events.region()) == side) {
                    throw new AssertionError("an event of region " + events.region());
                }
            }
            case EventType.REGION_REMOVED, EventType.CLOSED -> {}
            default -> throw new AssertionError("event " + events.type());
        }
        return true;
    }

    // ---- this end's program

    private void register() throws VerbsException {
        if (locals.size() < MAX_REGIONS) {
            int access = AccessFlags.LOCAL_WRITE | rights();
            regions.reserve("register", SIZE);
            LocalRegion region = regions.add(null, RegionMemory.allocate(link.pd(), SIZE, access), access, 5);
            locals.add(region);
            ids.add(region.id());
            if ((access & Regions.REMOTE_ACCESS) != 0) {
                waiting.add(control.announce(region));
            }
        }
    }

    private void revoke() throws VerbsException {
        if (!locals.isEmpty()) {
            LocalRegion region = locals.get(next(locals.size()));
            if (!region.isRevoked()) {
                region.revoke();
                waiting.add(control.revoke(region.id()));
                regions.remove(region);
            }
        }
    }

    private void update() throws VerbsException {
        if (!locals.isEmpty()) {
            LocalRegion region = locals.get(next(locals.size()));
            switch (next(4)) {
                case 0 -> {
                    region.hold();
                    waiting.add(control.hold(region));
                }
                case 1 -> {
                    region.change(ALL & ~AccessFlags.REMOTE_WRITE);
                    waiting.add(control.update(region));
                }
                case 2 -> {
                    region.release();
                    control.sends().progress();
                }
                default -> waiting.add(control.update(region));
            }
        }
    }

    /** A copy from the input, which may be invalid. */
    private record Drawn(int from, long fromOffset, int to, long toOffset, long length, int flags) {
        /** 0 for some, which can then have an immediate completion. */
        long userData() {
            return (flags & CopyFlags.FENCE) != 0 ? 0 : 1;
        }
    }

    private Drawn draw() {
        return new Drawn(id(), next(SIZE), id(), next(SIZE), next(SIZE), next(8));
    }

    private void copy() {
        Drawn d = draw();
        copies.copy(d.from(), d.fromOffset(), d.to(), d.toOffset(), d.length(), d.flags(), 0, d.userData());
    }

    private void batch() {
        CopyQueue open = copies.start();
        for (int n = next(4); n > 0; n--) {
            Drawn d = draw();
            open.add(d.from(), d.fromOffset(), d.to(), d.toOffset(), d.length(), d.flags(), 0, d.userData());
        }
        open.commit();
    }

    private void handshake() {
        byte[] bytes = bytes(HandshakeLayout.BYTES);
        for (int i = 0; i < Integer.BYTES; i++) {
            bytes[i] = (byte) (PeerRendezvous.MAGIC >> 24 - 8 * i);
        }
        Handshake read = Handshake.parse(bytes);
        if (read != null && (read.credits() <= 0 || read.asyncCredits() <= 0 || read.regions() <= 0)) {
            throw new AssertionError(read.toString());
        }
    }

    // ---- what it sends and copies

    @Override
    public void message(MemorySegment bytes) {
        if (bytes.byteSize() == ControlLayout.BYTES) {
            Messages.Message m = Messages.message(bytes, 0);
            synchronized (sent) {
                lastErrno = m.type() == Messages.ADDED ? m.errno() : lastErrno;
                sent.merge(m.type(), 1, Integer::sum);
            }
        } else if (bytes.byteSize() != CompletionLayout.BYTES) {
            throw new AssertionError("a message of " + bytes.byteSize() + " bytes");
        }
    }

    @Override
    public void copy(boolean write, int rkey, long address, long length) {
        int right = write ? AccessFlags.REMOTE_WRITE : AccessFlags.REMOTE_READ;
        if (length != 0 && given.values().stream().noneMatch(g -> g.key() == rkey && (g.access() & right) != 0
                && address >= g.address()
                && length <= g.length() && address - g.address() <= g.length() - length)) {
            throw new AssertionError("a copy of " + length + " bytes at " + address + " by key " + rkey + ": given is "
                    + given);
        }
    }

    @Override
    public void immediate(int immediate, int rkey, long address, long length) {
        if (given.values().stream().noneMatch(g -> g.key() == rkey && g.name() == ImmediateCompletion.name(immediate)
                && address
                        - g.address() == ImmediateCompletion.offset(immediate) && ImmediateCompletion.offset(immediate)
                                + length <= g
                                        .length())) {
            throw new AssertionError("an immediate completion of region " + ImmediateCompletion.name(immediate) + " at "
                    + ImmediateCompletion
                            .offset(immediate) + ": given is " + given);
        }
    }

    private void end() throws VerbsException {
        link.fail("the end of the input");
        String why = String.valueOf(link.failure());
        copies.end();
        events.end(engine);
        control.end(why);
        boolean more;
        do {
            more = copies.poll();
            more |= takeEvents();
        } while (more);
        if (copies.outstanding() != 0 || copies.copy(1, 0, 2, 0, 1, 0, 0) != Errno.ENOTCONN) {
            throw new AssertionError(copies.outstanding() + " copies are under way behind the end");
        }
        for (CompletableFuture<?> future : waiting) {
            if (!awaitTrue(future::isDone)) { // its own completion runs in the common pool
                throw new AssertionError("a thread waits after the end, which is: " + why);
            }
        }
        verbs.close();
    }

    /** Waits for another thread's effect; false if there is none. */
    private static boolean awaitTrue(BooleanSupplier what) {
        for (int i = 0; i < SPINS && !what.getAsBoolean(); i++) {
            Thread.onSpinWait();
        }
        for (int i = 0; i < MAX_NAPS && !what.getAsBoolean(); i++) {
            LockSupport.parkNanos(1_000_000);
        }
        return what.getAsBoolean();
    }
}
