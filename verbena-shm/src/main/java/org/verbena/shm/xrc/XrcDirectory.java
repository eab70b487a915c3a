// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.shm.control.Acceptor;
import org.verbena.shm.control.ContextParts;
import org.verbena.shm.control.Control;
import org.verbena.shm.control.InstanceQuery;
import org.verbena.shm.control.Session;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.Slots;

/**
 * Numbers that name their context of this user: those of shared receive queues of type XRC, and of queue
 * pairs of type XRC_RECV. The upper 12 bits are an abstract Unix name that the context takes when it needs its first such
 * number, so a number suffices to find the context. Safe for use by several threads.
 */
public final class XrcDirectory {
    /** Contexts of one user that can have such numbers, and numbers of each. */
    private static final int CONTEXTS = 1 << 12;
    private static final int NUMBERS = 1 << 12;

    private final Control control;
    private final ContextParts own;
    private final XrcDomains domains;
    private final Slots numbers = new Slots(NUMBERS);
    private final Map<Integer, XrcQueue> queues = new ConcurrentHashMap<>();
    private final Map<Integer, OwnXrcReceiver> receivers = new ConcurrentHashMap<>();
    /** Pending queries, by the part of the number that names the context. */
    private final Map<Integer, CompletableFuture<Session>> asked = new ConcurrentHashMap<>();
    private final Set<UnixSocket> questions = ConcurrentHashMap.newKeySet();
    private @Nullable Acceptor name;
    private volatile int id;

    public XrcDirectory(Control control, XrcDomains domains) {
        this.control = control;
        this.own = control.own();
        this.domains = domains;
    }

    private static String name(int id) {
        return "verbena-xrc/" + Sys.uid() + "/" + id;
    }

    /** A number of this context, from one of its own of 12 bits. */
    int number(String verb, int index) throws VerbsException {
        return id(verb) << 12 | index;
    }

    private synchronized int id(String verb) throws VerbsException {
        if (id != 0) {
            return id;
        }
        int first = ThreadLocalRandom.current().nextInt(CONTEXTS);
        for (int i = 0; i < CONTEXTS; i++) {
            int candidate = first + i & CONTEXTS - 1;
            try {
                if (candidate != 0) {
                    name = InstanceQuery.answer(own.engine(), own.instance(), name(candidate));
                    id = candidate;
                    return candidate;
                }
            } catch (LinuxException e) {
                if (e.errno() != Errno.EADDRINUSE) {
                    throw new VerbsException(verb, e);
                }
            }
        }
        throw new VerbsException(verb, Errno.ENOMEM, "there are " + (CONTEXTS - 1)
                + " contexts with XRC already, the most there can be");
    }

    /** Makes the sessions. */
    Control control() {
        return control;
    }

    /** The domains that the context has open. */
    XrcDomains domains() {
        return domains;
    }

    // ---- shared receive queues of this context

    /** Gives a queue a number by which it is found from now on. */
    public int add(String verb, XrcQueue queue) throws VerbsException {
        int index = numbers.take(verb, "shared receive queues of type XRC");
        try {
            int number = number(verb, index);
            queues.put(number, queue);
            return number;
        } catch (VerbsException e) {
            numbers.give(index);
            throw e;
        }
    }

    public void remove(int number) {
        queues.remove(number);
        numbers.give(number & NUMBERS - 1);
    }

    /** The queue of this context that has a number; null if there is none any more. */
    @Nullable
    XrcQueue queue(int number) {
        return queues.get(number);
    }

    // ---- queue pairs of type XRC_RECV of this context

    void add(OwnXrcReceiver receiver) {
        receivers.put(receiver.number(), receiver);
    }

    void remove(OwnXrcReceiver receiver) {
        receivers.remove(receiver.number(), receiver);
    }

    /** The queue pair of this context that has a number; null if there is none any more. */
    @Nullable
    public OwnXrcReceiver receiver(int number) {
        return receivers.get(number);
    }

    // ---- owners of numbers

    /** True if this context has assigned the number. */
    public boolean isOwn(int number) {
        return id != 0 && number >>> 12 == id;
    }

    /** The future session with the context that has assigned a number, made if there is none yet; for callers that do not block. */
    public CompletableFuture<Session> owner(int number) {
        int context = number >>> 12;
        if (isOwn(number)) {
            return control.ask(own.instance());
        }
        CompletableFuture<Session> f = asked.computeIfAbsent(context, this::ask);
        return f.whenComplete((s, e) -> asked.remove(context, f));
    }

    private CompletableFuture<Session> ask(int context) {
        String verb = "find the context of numbers 0x" + Integer.toHexString(context << 12);
        try {
            UnixSocket s = UnixSocket.connect(name(context));
            questions.add(s);
            return InstanceQuery.ask(own.engine(), s, verb, "their owner").whenComplete((i, e) -> questions.remove(s))
                    .thenCompose(instance -> control.ask(instance));
        } catch (VerbsException e) {
            return CompletableFuture.failedFuture(e);
        } catch (LinuxException e) {
            return CompletableFuture.failedFuture(e.errno() == Errno.ECONNREFUSED
                    ? new VerbsException(verb, Errno.EINVAL, "no context of this user has them, or no more")
                    : new VerbsException(verb, e));
        }
    }

    /** The context closes. */
    public synchronized void close() {
        Acceptor a = name;
        if (a != null) {
            a.close();
        }
        questions.forEach(s -> InstanceQuery.giveUp(own.engine(), s));
    }
}
