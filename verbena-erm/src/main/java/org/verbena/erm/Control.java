// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.WcStatus;

/**
 * The control path of a connection: announces, updates and revokes regions, and awaits the other end's replies.
 * Messages are received by the engine's thread.
 */
final class Control extends Engine.CoalescedTask {
    /**
     * One for each region that is revoked, and one for each that was held before: the other end sends no further
     * request for a region before its reply.
     */
    static final int MAX_REPLIES_DUE = 2 * Limits.REGIONS;

    private final Regions regions;
    private final PeerLink link;
    private final CopyQueue copies;
    private final EventQueue events;
    private final ControlSender sends;
    private final CompletionQueue receiveCompletions;
    private final int peerAsyncCredits;
    private final ProgressExecutor executor;
    /** Pending replies, by id. */
    private final Map<Integer, CompletableFuture<Integer>> announcing = new ConcurrentHashMap<>();
    private final Map<Integer, CompletableFuture<Integer>> revoking = new ConcurrentHashMap<>();
    /** By id and number. */
    private final Map<Long, CompletableFuture<Integer>> holding = new ConcurrentHashMap<>();
    private final Map<Long, CompletableFuture<Integer>> updating = new ConcurrentHashMap<>();
    /** Held regions of the other end that outstanding copies of this end still use. */
    private final Set<Integer> draining = ConcurrentHashMap.newKeySet();
    /** Replies to REVOKE and HOLD that wait for copies. */
    private final AtomicInteger repliesDue = new AtomicInteger();
    private final boolean peerSupportsUpdates;
    private int asyncConsumedByPeer;

    Control(Regions regions, PeerLink link, CopyQueue copies, EventQueue events, Handshake peer,
            ProgressExecutor executor) {
        this.regions = regions;
        this.link = link;
        this.copies = copies;
        this.events = events;
        this.executor = executor;
        peerAsyncCredits = peer.asyncCredits();
        peerSupportsUpdates = peer.supportsUpdates();
        sends = new ControlSender(regions, link, peerAsyncCredits, executor);
        receiveCompletions = link.controlReceiveCompletions();
    }

    ControlSender sends() {
        return sends;
    }

    /** Announces a region to the other end; the future has 0, or the errno of its refusal. */
    CompletableFuture<Integer> announce(LocalRegion region) {
        return request(announcing, region.id(), regionMessage(Messages.ADD, region, region.name()));
    }

    /** Revokes a region at the other end; the future has 0 when the other end does not use it any more. */
    CompletableFuture<Integer> revoke(int id) {
        CompletableFuture<Integer> announced = announcing.remove(id);
        if (announced != null) {
            announced.complete(Errno.ENOENT); // after a timeout
        }
        return request(revoking, id, Messages.Message.of(Messages.REVOKE, id));
    }

    /** Whether the other end supports {@link #hold} and {@link #update}. */
    boolean peerSupportsUpdates() {
        return peerSupportsUpdates;
    }

    /**
     * Holds a region at the other end before a change; the future has 0 when the other end does not use it until then.
     */
    CompletableFuture<Integer> hold(LocalRegion region) {
        int number = region.nextChange();
        return request(holding, replyKey(region.id(), number), new Messages.Message(Messages.HOLD, region.id(), 0, 0, 0,
                0,
                0, number));
    }

    /** Sends the new state of a region to the other end; the future has 0 when it is acknowledged. */
    CompletableFuture<Integer> update(LocalRegion region) {
        int number = region.nextChange();
        return request(updating, replyKey(region.id(), number), regionMessage(Messages.UPDATE, region, number));
    }

    /** A message with the state of a region. */
    private static Messages.Message regionMessage(int type, LocalRegion region, int numberOrName) {
        return new Messages.Message(type, region.id(), region.memory().address(), region.length(), region.memory()
                .rkey(), region.access() & Regions.REMOTE_ACCESS, region.tag(), numberOrName);
    }

    private <K> CompletableFuture<Integer> request(Map<K, CompletableFuture<Integer>> waiting, K key,
            Messages.Message m) {
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        waiting.put(key, answer);
        if (!sends.send(m)) {
            answer.complete(Errno.ENOTCONN);
        }
        return answer;
    }

    private static long replyKey(int id, int number) {
        return (long) id << Integer.SIZE | number & 0xffffffffL;
    }

    /** Forgets pending replies of a region. */
    void forget(int id) {
        announcing.remove(id);
        revoking.remove(id);
    }

    /** Returns credits to the other end; on the engine's thread. */
    @Override
    void run() {
        sends.returnCredits(events.creditReturn().returnByControl(), events.asyncCreditReturn().returnByControl());
    }

    /** Receives messages of the other end; on the engine's thread. */
    void receive() {
        receiveCompletions.requestNotify(false); // before polling: a message that arrives later raises an event
        while (link.failure() == null && receiveCompletions.startPoll() == 0) {
            int status = receiveCompletions.status();
            int slot = (int) receiveCompletions.wrId();
            long length = status == WcStatus.SUCCESS ? receiveCompletions.byteLength() : 0;
            receiveCompletions.endPoll();
            if (status != WcStatus.SUCCESS) {
                link.fail("the other end is gone");
                return;
            }
            long at = (long) slot * Messages.RECEIVE_BYTES;
            if (length == ControlLayout.BYTES && Messages.type(link.controlBuffer(), at) == Messages.CREDIT) {
                int consumed = Messages.creditConsumed(link.controlBuffer(), at);
                int asyncConsumed = Messages.creditAsyncConsumed(link.controlBuffer(), at);
                repost(slot, at);
                if (!copies.credit().returnedByControl(consumed) || !onAsyncCredits(asyncConsumed)) {
                    link.fail("the other end breaks the protocol: it returned more credits than were used");
                }
                continue;
            }
            Messages.Message m = Messages.message(link.controlBuffer(), at);
            repost(slot, at);
            if (length != ControlLayout.BYTES || !handle(m)) {
                link.fail("the other end breaks the protocol: " + m);
            }
        }
    }

    private void repost(int slot, long at) {
        link.control().receiveQueue().post(slot, link.controlBufferRegion(), at, Messages.RECEIVE_BYTES);
    }

    /** False if it is invalid. */
    private boolean handle(Messages.Message m) {
        return switch (m.type()) {
            case Messages.ADD -> onAdd(m);
            case Messages.ADDED -> onReply(announcing, m.id(), m.id(), m.errno());
            case Messages.REVOKE -> onRevoke(m.id());
            case Messages.REVOKED -> onReply(revoking, m.id(), m.id(), 0);
            case Messages.HOLD -> onHold(m.id(), m.errno());
            case Messages.HELD -> onReply(holding, replyKey(m.id(), m.errno()), m.id(), 0);
            case Messages.UPDATE -> onUpdate(m);
            case Messages.UPDATED -> onReply(updating, replyKey(m.id(), m.errno()), m.id(), 0);
            case Messages.REMOTE_COMPLETION -> events.asyncCompletion(m.id(), m.access(), m.address(), m.length(), m
                    .tag());
            default -> false;
        };
    }

    private boolean onAdd(Messages.Message m) {
        int error = regions.addRemote(new RemoteRegion(m.id(), m.errno(), m.key(), m.address(), m.length(), m.access(),
                m.tag()));
        if (error == Errno.EPROTO) {
            return false;
        }
        if (error == 0) {
            events.regionChanged(RegionId.index(m.id())); // before the reply, which implies that the event is queued
        }
        sends.send(new Messages.Message(Messages.ADDED, m.id(), 0, 0, 0, 0, 0, error));
        return true;
    }

    /** A reply without a waiter is late after a timeout, or names a region that never existed. */
    private <K> boolean onReply(Map<K, CompletableFuture<Integer>> waiting, K key, int id, int error) {
        CompletableFuture<Integer> answer = waiting.remove(key);
        if (answer != null) {
            answer.complete(error);
        }
        return answer != null || regions.everAssigned(id);
    }

    private boolean onHold(int id, int number) {
        if (!regions.holdRemote(id) || !draining.add(id)) {
            return false;
        }
        return replyAfterCopies(() -> {
            draining.remove(id);
            sends.send(new Messages.Message(Messages.HELD, id, 0, 0, 0, 0, 0, number));
        });
    }

    private boolean onUpdate(Messages.Message m) {
        if (draining.contains(m.id()) || !regions.changeRemote(m)) {
            return false;
        }
        events.regionChanged(RegionId.index(m.id())); // before the reply, as in onAdd
        sends.send(new Messages.Message(Messages.UPDATED, m.id(), 0, 0, 0, 0, 0, m.errno())); // this also posts copies that waited
        return true;
    }

    private boolean onRevoke(int id) {
        if (!RegionId.isValid(id) || RegionId.side(id) == regions.side()) {
            return false;
        }
        RemoteRegion region = regions.removeRemote(id);
        if (region == null) { // one that was not accepted
            return sends.send(Messages.Message.of(Messages.REVOKED, id)) || link.failure() == null;
        }
        events.regionChanged(RegionId.index(id));
        return replyAfterCopies(() -> sends.send(Messages.Message.of(Messages.REVOKED, id)));
    }

    /**
     * Replies when all copies of this end that were started are done. False if more replies are due than there can be
     * regions.
     */
    private boolean replyAfterCopies(Runnable answer) {
        if (repliesDue.incrementAndGet() > MAX_REPLIES_DUE) {
            return false;
        }
        executor.executeLong(() -> {
            if (awaitCopies(Long.MAX_VALUE)) {
                repliesDue.decrementAndGet(); // before the other end receives the reply and may send another request
                answer.run();
            }
        });
        return true;
    }

    /**
     * Waits until all copies that this end has started by now are done.
     *
     * @return false if the link fails before, or after the timeout
     */
    boolean awaitCopies(long nanos) {
        long began = System.nanoTime();
        long mark = copies.mark();
        long sent = sends.mark();
        long pause = 1_000;
        while (!copies.isDone(mark) || !sends.isDone(sent)) {
            if (link.failure() != null || System.nanoTime() - began > nanos) {
                return false;
            }
            executor.pause(pause);
            pause = Math.min(2 * pause, 1_000_000);
        }
        return true;
    }

    private boolean onAsyncCredits(int consumed) {
        int more = consumed - asyncConsumedByPeer;
        if (more < 0 || more > peerAsyncCredits) {
            return false;
        }
        asyncConsumedByPeer = consumed;
        if (more > 0) {
            sends.addCredits(more);
        }
        return true;
    }

    /** Ends it: all pending replies fail. */
    void end(String reason) {
        sends.end(reason);
        announcing.values().forEach(answer -> answer.complete(Errno.ENOTCONN));
        revoking.values().forEach(answer -> answer.complete(Errno.ENOTCONN));
        holding.values().forEach(answer -> answer.complete(Errno.ENOTCONN));
        updating.values().forEach(answer -> answer.complete(Errno.ENOTCONN));
    }
}
