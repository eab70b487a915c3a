// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.Feature;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairOpenAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.QueuePairType;
import org.verbena.verbs.SharedReceiveQueue;
import org.verbena.verbs.SharedReceiveQueueAttributes;
import org.verbena.verbs.SharedReceiveQueueType;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/**
 * The additional objects of an {@link End} whose queue pairs are of the XRC types: a domain with a shared receive
 * queue, and for each queue pair that sends one that is the target of its peer's.
 */
final class XrcEnd {
    final XrcDomain domain;
    final SharedReceiveQueue srq;
    /** Targets, and the queues that requests name, by the number of the queue pair that sends. */
    private final Map<Integer, QueuePair> targets = new HashMap<>();
    private final Map<Integer, Integer> named = new HashMap<>();
    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    XrcEnd(Context context, ProtectionDomain pd, CompletionQueue receiveCq, EndOptions o) throws VerbsException {
        String file = o.xrcFile;
        domain = context.openXrcDomain(file == null ? privateDomain() : shared(Path.of(file)));
        srq = pd.createSharedReceiveQueue(queue(domain, receiveCq).maxWr(o.maxReceiveWr).maxSge(o.maxSge).build());
    }

    /** The same over XRC; skips the test on a provider without XRC. */
    static EndOptions options(ConformanceFixture fixture, EndOptions options) {
        try (Context c = fixture.open()) {
            Conformance.needs(c, Feature.XRC);
            return options.xrc();
        } catch (VerbsException e) {
            throw new AssertionError(e);
        }
    }

    /** A private domain. */
    static XrcDomainAttributes privateDomain() {
        return XrcDomainAttributes.builder().fd(-1).openFlags(XrcDomainAttributes.CREATE).build();
    }

    /** The domain of a file, which is created if there is none. */
    static XrcDomainAttributes shared(Path file) {
        return XrcDomainAttributes.builder().file(file).openFlags(XrcDomainAttributes.CREATE).build();
    }

    /** A queue of the domain. */
    static SharedReceiveQueueAttributes.Builder queue(XrcDomain domain, CompletionQueue cq) {
        return SharedReceiveQueueAttributes.builder().type(SharedReceiveQueueType.XRC).xrcDomain(domain)
                .completionQueue(cq);
    }

    /** The target of the peer of {@code sender}. */
    QueuePair target(QueuePair sender) throws VerbsException {
        QueuePair t = targets.get(sender.number());
        if (t == null) {
            t = newTarget(domain);
            made.push(t);
            targets.put(sender.number(), t);
        }
        return t;
    }

    /** Sets the queue that requests of {@code sender} name from now on. */
    void name(QueuePair sender, int number) {
        named.put(sender.number(), number);
    }

    int named(QueuePair sender) {
        return Objects.requireNonNull(named.get(sender.number()), "no queue to name");
    }

    /** A queue pair of type XRC_RECV of the domain. */
    static QueuePair newTarget(XrcDomain domain) throws VerbsException {
        return domain.createQueuePair(QueuePairInitAttributes.builderXrcReceive().build());
    }

    /** How to open the queue pair of that number. */
    static QueuePairOpenAttributes numbered(int number) {
        return QueuePairOpenAttributes.builder().number(number).type(QueuePairType.XRC_RECV).build();
    }

    static QueuePairAttributes init(int access) {
        return QueuePairAttributes.to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(access).build();
    }

    /** Of a target, for requests of {@code sender}. */
    static QueuePairAttributes rtr(EndAddress sender, int mtu, int reads, int rnrTimer) {
        return QueuePairAttributes.to(QueuePairState.RTR).addressVector(sender.vector()).pathMtu(mtu)
                .destinationQueuePair(sender.queuePairNumber()).rqPsn(sender.psn()).maxDestReadAtomic(reads)
                .minRnrTimer(rnrTimer).build();
    }

    static QueuePairAttributes to(QueuePairState state) {
        return QueuePairAttributes.to(state).build();
    }

    void toInit(QueuePair sender, int access) throws VerbsException {
        target(sender).modify(init(access));
    }

    /** Connects the target with the queue pair that sends at the peer. */
    void toRtr(QueuePair sender, EndAddress peer, int mtu, int reads, int rnrTimer) throws VerbsException {
        target(sender).modify(rtr(peer, mtu, reads, rnrTimer));
        name(sender, Objects.requireNonNull(peer.xrc()).srq());
    }

    void toRts(QueuePair sender, int timeout, int psn) throws VerbsException {
        target(sender).modify(QueuePairAttributes.to(QueuePairState.RTS).timeout(timeout).sqPsn(psn).build());
    }

    /** The address that the peer of {@code sender} needs. */
    EndAddress.@Nullable Xrc address(QueuePair sender) throws VerbsException {
        return new EndAddress.Xrc(target(sender).number(), srq.number());
    }

    /** Closes the target of {@code sender}'s peer, which is created again on request. */
    void closeTarget(QueuePair sender) throws VerbsException {
        QueuePair t = targets.remove(sender.number());
        if (t != null) {
            made.remove(t);
            t.close();
        }
    }

    /** Closes targets; the end closes the queue, and then the domain. */
    void closeTargets() throws VerbsException {
        while (!made.isEmpty()) {
            try {
                made.pop().close();
            } catch (VerbsException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
